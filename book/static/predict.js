// Predictions and quizzes: a choice is committed by a click, then the answer is shown. What was chosen stays in this
// browser. Without this file the options are a list, and the answers open by themselves.
const whenRead = work => document.readyState === 'loading' ? addEventListener('DOMContentLoaded', work) : work();

whenRead(() => {
  const stored = key => { try { return localStorage.getItem(key); } catch { return null; } };
  const store = (key, value) => { try { localStorage.setItem(key, value); } catch { /* a private window */ } };
  const page = location.pathname.split('/').pop().replace(/\.html$/, '');
  const named = (text, place) => `course/${page}/${place}/${text}`;

  const say = (block, words, kind) => {  // told to a reader who listens, too
    let said = block.querySelector(':scope > .said');
    if (!said) {
      said = document.createElement('p');
      said.className = 'said';
      said.setAttribute('role', 'status');
      block.append(said);
    }
    said.textContent = words;
    block.dataset.result = kind;
  };

  // ---- predictions: “> **Predict before you read on.**”, a list of options, and an answer that begins with its letter
  const predict = (block, place) => {
    const list = block.querySelector('ul'), answer = block.querySelector('details');
    const right = answer && /\(([a-e])\)/.exec(answer.querySelector('strong')?.textContent ?? '')?.[1];
    if (!list || !right) return;
    const key = named('prediction', place);
    const options = [...list.children].map(item => {
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'option';
      const inner = item.children.length === 1 && item.firstElementChild.matches('p') ? item.firstElementChild : item;
      button.append(...inner.childNodes);
      item.replaceChildren(button);
      return { button, letter: /\(([a-e])\)/.exec(button.textContent)?.[1] };
    });
    list.classList.add('options');
    for (const paragraph of block.querySelectorAll('p'))  // here a click writes it down
      if (/^Write your choice down(\.|, then\b)/.test(paragraph.textContent))
        paragraph.firstChild.data = paragraph.firstChild.data.replace('Write your choice down', 'Choose one');
    answer.hidden = true;
    const reveal = () => {
      const { chosen } = block.dataset;
      for (const { button, letter } of options) {
        if (letter === right) button.classList.add('right');
        else if (letter === chosen) button.classList.add('wrong');
      }
      if (chosen === right) say(block, `✓ You chose (${chosen}): right.`, 'right');
      else if (chosen) say(block, `✗ You chose (${chosen}); it is (${right}).`, 'wrong');
    };
    const commit = letter => {
      block.dataset.chosen = letter;
      for (const each of options) {
        each.button.setAttribute('aria-pressed', each.letter === letter);
        each.button.setAttribute('aria-disabled', 'true');
      }
      answer.hidden = false;
      say(block, `You chose (${letter}). Read on, or open the answer.`, 'chosen');
    };
    for (const { button, letter } of options) {
      button.setAttribute('aria-pressed', 'false');
      button.addEventListener('click', () => {
        if (block.dataset.chosen) return;
        store(key, letter);
        commit(letter);
      });
    }
    answer.addEventListener('toggle', () => answer.open && reveal());
    const before = stored(key);
    if (options.some(each => each.letter === before)) commit(before);
  };

  // ---- quizzes: options that open; the one whose text begins with “Yes” is right, and the first one opened is kept
  const quiz = (details, place) => {
    const key = named('quiz', place);
    const marks = details.map(each => {
      const words = [...each.children].slice(1).map(child => child.textContent).join(' ').trim();
      return { each, right: /^Yes\b/.test(words) };
    });
    const show = () => {
      for (const { each, right } of marks) if (each.open) each.classList.add(right ? 'right' : 'wrong');
      const first = stored(key);
      marks.forEach(({ each }, number) => each.classList.toggle('first', String(number) === first));
    };
    marks.forEach(({ each }, number) => each.addEventListener('toggle', () => {
      if (each.open && stored(key) === null) store(key, String(number));
      show();
    }));
    show();
  };

  const article = document.querySelector('article');
  if (!article) return;
  [...article.querySelectorAll('blockquote')]
    .filter(block => /^Predict before/.test(block.textContent.trim()))
    .forEach((block, place) => predict(block, place + 1));
  const groups = [];
  for (const details of article.querySelectorAll('section#quiz > details')) {
    const follows = details.previousElementSibling?.matches('details');
    if (follows) groups.at(-1).push(details);
    else groups.push([details]);
  }
  groups.forEach((group, place) => quiz(group, place + 1));
  addEventListener('beforeprint', () => article.querySelectorAll('blockquote details').forEach(each => {
    each.hidden = false;
  }));
});

// What is wider than the window scrolls in a box of its own: the box can be reached with the keyboard, and says that it
// scrolls. A page without this file scrolls, too, and does not say so.
whenRead(() => {
  const scrolling = 'article :is(.text_html, .pst-scrollable-table-container, pre, .claim-numbers, figure.align-default, ' +
    'mjx-container[display="true"])';
  const cues = new Map();
  const look = () => {
    for (const box of document.querySelectorAll(scrolling)) {
      const wide = box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX !== 'visible';
      let cue = cues.get(box);
      if (wide && !cue) {
        cue = document.createElement('span');
        cue.className = 'scroll-cue';
        cue.textContent = 'scrolls sideways →';
        cue.setAttribute('aria-hidden', 'true');
        if (box.matches('pre')) box.after(cue);
        else box.before(cue);  // the end of a long table is far away
        cues.set(box, cue);
        if (box.tabIndex < 0) box.tabIndex = 0;
      }
      if (cue) cue.hidden = !wide;
    }
  };
  look();
  addEventListener('load', () => Promise.resolve(window.MathJax?.startup?.promise).then(look));  // formulas come late
  addEventListener('resize', look);
  addEventListener('toggle', look, true);
});

// A link to a place within something folded opens it: browsers of today do so themselves, older ones go nowhere.
whenRead(() => {
  const follow = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const folded = target && target.closest('article details:not(.claim)');  // claims.js opens those
    if (!folded || folded.open) return;
    folded.open = true;
    target.scrollIntoView({ behavior: 'instant' });
  };
  addEventListener('hashchange', follow);
  follow();
});
