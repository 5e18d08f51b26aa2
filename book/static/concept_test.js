// The concept test: one form at a time, nothing shown before it is finished, then the result by objective. Answers stay
// in this browser. Without this file the page is a list of questions with closed answers.
(() => {
  const tools = document.querySelector('.concept-tools'), table = document.querySelector('.concept-result');
  if (!tools || !table) return;
  const key = form => `course/concept_test/${form}`;
  const read = form => {
    try { return JSON.parse(localStorage.getItem(key(form))) || {}; } catch { return {}; }
  };
  const write = (form, state) => {
    try { localStorage.setItem(key(form), JSON.stringify(state)); } catch { /* a private window */ }
  };
  const make = (tag, text, marks = {}) => Object.assign(document.createElement(tag), { textContent: text, ...marks });
  const result = table.closest('section') ?? table;
  const forms = [...document.querySelectorAll('.concept-form')].map(element => ({
    element,
    name: element.dataset.form,
    section: element.closest('section') ?? element,
    items: [...element.querySelectorAll('fieldset')],
    said: element.querySelector('.said'),
    state: { answers: {}, done: false, ...read(element.dataset.form) },
  }));
  const answerOf = (form, item) => form.state.answers[item.id];
  const isRight = (form, item) => answerOf(form, item) === item.dataset.right;
  const rightIn = form => form.items.filter(item => isRight(form, item)).length;

  // ---- above the forms: which one is shown, what is known of both, and a way to erase it
  const status = make('p', '', { className: 'said' });
  status.setAttribute('role', 'status');
  const choices = forms.map(form => make('button', `Form ${form.name}`, { type: 'button' }));
  const erase = make('button', '', { type: 'button', className: 'erase' });
  const row = make('div', '', { className: 'concept-buttons' });
  row.append(...choices, erase);
  tools.append(row, status);
  tools.hidden = false;
  tools.after(result);
  result.tabIndex = -1;

  // ---- the table of objectives gets a column for each form
  const cells = forms.map(form => {
    const head = make('th', form.name);
    head.scope = 'col';
    table.tHead.rows[0].append(head);
    return { head, marks: [...table.tBodies[0].rows].map(line => line.insertCell()) };
  });
  const mark = (form, item) => {
    if (!form.state.done) return ['', ''];
    if (!answerOf(form, item)) return ['open', '– open'];
    return isRight(form, item) ? ['right', '✓ right'] : ['wrong', '✗ wrong'];
  };

  const summary = () => {
    const done = forms.filter(form => form.state.done);
    if (!done.length) return '';
    const said = done.map(form => `Form ${form.name}: ${rightIn(form)} of ${form.items.length} right.`);
    if (done.length === forms.length) {
      const [before, after] = forms.map(rightIn), gain = after - before, open = forms[0].items.length - before;
      said.push(`Gain from A to B: ${gain > 0 ? '+' : gain < 0 ? '−' : ''}${Math.abs(gain)}.`);
      if (gain > 0) said.push(`That is ${Math.round(100 * gain / open)} % of the ${open} that were not right before.`);
    }
    return said.join(' ');
  };
  const shown = () => forms.find(form => !form.section.hidden);
  const draw = () => {
    forms.forEach((form, place) => {
      const { done, answers } = form.state;
      choices[place].setAttribute('aria-pressed', String(!form.section.hidden));
      form.element.querySelector('.concept-buttons').hidden = done;
      cells[place].head.hidden = !done;
      for (const [number, item] of form.items.entries()) {
        const [kind, words] = mark(form, item);
        Object.assign(cells[place].marks[number], { className: kind, textContent: words, hidden: !done });
        item.dataset.result = kind;
        const answer = item.querySelector('details');
        answer.hidden = !done;
        if (!done) answer.open = false;
        for (const label of item.querySelectorAll('label')) {
          const button = label.querySelector('input'), { letter } = label.dataset;
          button.checked = answers[item.id] === letter;
          button.disabled = done;
          label.classList.toggle('right', done && letter === item.dataset.right);
          label.classList.toggle('wrong', done && button.checked && letter !== item.dataset.right);
        }
      }
    });
    result.hidden = !forms.some(form => form.state.done);
    erase.hidden = !forms.some(form => form.state.done || Object.keys(form.state.answers).length);
    erase.textContent = 'Erase all answers';
    delete erase.dataset.asked;
    status.textContent = summary();
  };
  const show = form => {
    forms.forEach(each => { each.section.hidden = each !== form; });
    draw();
  };

  const finish = form => {
    form.state.done = true;
    write(form.name, form.state);
    form.said.textContent = '';
    draw();
    result.focus({ preventScroll: true });
    tools.scrollIntoView({ behavior: 'instant' });
  };
  for (const form of forms) {
    form.element.addEventListener('change', event => {
      form.state.answers[event.target.name] = event.target.value;
      write(form.name, form.state);
      form.said.textContent = '';
      erase.hidden = false;
    });
    form.element.addEventListener('submit', event => {
      event.preventDefault();
      const open = form.items.filter(item => !answerOf(form, item));
      if (!open.length) return finish(form);
      open[0].before(form.said);  // in sight, where one is led
      form.said.textContent = `Still open: ${open.map(item => item.id).join(', ')}. Nothing is shown before.`;
      open[0].querySelector('input').focus();
      form.said.scrollIntoView({ behavior: 'instant', block: 'center' });
    });
    form.element.querySelector('.give-up').addEventListener('click', () => finish(form));
  }
  choices.forEach((button, place) => button.addEventListener('click', () => show(forms[place])));
  erase.addEventListener('click', () => {
    if (!erase.dataset.asked) {
      erase.dataset.asked = 'yes';
      erase.textContent = 'Really erase the answers to both forms?';
      return;
    }
    for (const form of forms) {
      try { localStorage.removeItem(key(form.name)); } catch { /* a private window */ }
      form.state = { answers: {}, done: false };
    }
    show(forms[0]);
    status.textContent = 'All answers are erased.';
    choices[0].focus();
  });

  // ---- a link to a question or to a form shows the form that it is in
  const follow = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const form = target && forms.find(each => each.section.contains(target));
    if (!form || form === shown()) return;
    show(form);
    target.scrollIntoView({ behavior: 'instant' });
  };
  show(forms.find(form => !form.state.done) ?? forms[0]);
  follow();
  addEventListener('hashchange', follow);
})();
