// Formulas are set in parts, from the top, and between two parts the page answers its reader: of a long chapter all at
// once would take a quarter of a second. It runs after the page's settings for MathJax, and before MathJax itself.
(() => {
  const PART = 25;  // formulas; some thirty milliseconds
  if (!window.MathJax || location.hash) return;  // a page without any; or a place is asked for, which would move
  window.MathJax.startup = {
    async pageReady() {
      const parts = [[]];
      let count = 0;
      for (const block of document.querySelectorAll('article section > :not(section)')) {
        const here = block.querySelectorAll('.math').length + Number(block.matches('.math'));
        if (!here) continue;
        if (count >= PART) [count] = [0, parts.push([])];
        parts.at(-1).push(block);
        count += here;
      }
      for (const part of parts.filter(each => each.length)) {
        await new Promise(done => { setTimeout(done); });
        await window.MathJax.typesetPromise(part);
      }
      await window.MathJax.typesetPromise();  // what is elsewhere: in the table of contents
    },
  };
})();
