// The scorecard's filter, and the claim that a link names. Without this file every claim is shown, and opens by itself.
(() => {
  const form = document.querySelector('.claim-filter');
  if (!form) return;
  const choices = [...form.querySelectorAll('select')];
  const said = form.querySelector('output');
  const unfold = form.querySelector('.claim-unfold');
  const claims = [...document.querySelectorAll('article [data-verdict]')].map(mark => ({
    marks: mark.dataset, place: mark.closest('details.claim, li'),
  }));
  const folded = claims.map(claim => claim.place).filter(place => place.matches('details'));
  const sections = [...document.querySelectorAll('article section')].filter(
    section => !section.contains(form) && section.querySelector('[data-verdict]'));

  const tell = () => {  // headings without claims go, and the number of claims is told
    for (const section of sections)
      section.hidden = !claims.some(claim => !claim.place.hidden && section.contains(claim.place));
    const shown = claims.filter(claim => !claim.place.hidden).length;
    const text = `${shown} of ${claims.length} claims are shown.`;
    if (said.textContent !== text) said.textContent = text;
    unfold.hidden = !folded.length;
    unfold.textContent = folded.some(place => !place.hidden && place.open) ? 'Close all' : 'Open those shown';
  };
  const choose = () => {
    for (const { marks, place } of claims)
      place.hidden = choices.some(choice => choice.value && choice.value !== marks[choice.name]);
    tell();
  };
  const follow = () => {  // a link to what is filtered out shows it
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const claim = target && target.closest('details.claim, li');
    if (claim && claim.hidden) {
      claim.hidden = false;
      tell();
    } else if (target && target.closest('section[hidden]')) {
      form.reset();
    }
    if (claim && claim.matches('details')) {
      claim.open = true;
      claim.scrollIntoView({ behavior: 'instant' });
    } else if (target) {
      target.scrollIntoView({ behavior: 'instant' });
    }
  };

  const asked = new URLSearchParams(location.search);
  for (const choice of choices) {
    const value = asked.get(choice.name);
    if ([...choice.options].some(option => option.value === value)) choice.value = value;
  }
  form.hidden = false;
  form.addEventListener('change', choose);
  form.addEventListener('reset', () => setTimeout(choose));  // after it has been emptied
  form.addEventListener('submit', event => event.preventDefault());
  unfold.addEventListener('click', () => {
    const close = folded.some(place => !place.hidden && place.open);
    for (const place of folded) if (!place.hidden) place.open = !close;
    tell();
  });
  for (const place of folded) place.addEventListener('toggle', tell);
  addEventListener('hashchange', follow);
  choose();
  follow();
})();
