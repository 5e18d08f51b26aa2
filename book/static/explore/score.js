// Score your own representation: a file is read and scored in a worker of this page, and goes nowhere else.
(() => {
  const Explore = globalThis.Explore;
  const CHAPTERS = { '04': '04_measuring_disentanglement', 17: '17_three_scores' };
  const ABOUT = {  // the questions of the functions' docstrings; tests/explore/test_scripts.py compares them
    mig: ['MIG', 'Is each factor in one latent only?', '04'],
    sap: ['SAP', 'How much better does the best single latent predict a factor than the second best?', '04'],
    modularity: ['Modularity', 'Does each latent carry one factor only?', '04'],
    distance_correlation: ['Distance correlation', 'Do distances between latents follow the distances between factors?', '17'],
    linearity_ratio: ['Linearity ratio', "Do the representations of a factor's traversal lie on a straight line?", '17'],
    axis_alignment_ratio: ['Axis-alignment ratio', "Does a factor's traversal move one latent only?", '17'],
  };

  // A code of three factors, 10 × 10 × 10 values, in a CSV: two latents turned by so many degrees, one as it is, one idle.
  const example = degrees => {
    const [cos, sin] = [Math.cos, Math.sin].map(of => of(degrees * Math.PI / 180)), lines = ['z0,z1,z2,z3,height,hue,size'];
    for (let height = 0; height < 10; height += 1)
      for (let hue = 0; hue < 10; hue += 1)
        for (let size = 0; size < 10; size += 1) {
          const [x, y] = [height / 3 - 1.5, hue / 3 - 1.5], idle = 43758.5453 * Math.sin(12.9898 * height + 78.233 * hue + 37.719 * size);
          const codes = [cos * x - sin * y, sin * x + cos * y, size / 3 - 1.5, .2 * (idle - Math.floor(idle))];
          lines.push([...codes.map(code => code.toFixed(4)), height, hue, size].join(','));
        }
    return `${lines.join('\n')}\n`;
  };

  const PROGRAM = () => {  // in the worker: `files` and `numbers` are the two programs
    globalThis.onmessage = async ({ data: { name, bytes, chosen } }) => {
      try {
        const table = await globalThis.files.read(name, new Uint8Array(bytes), chosen);
        globalThis.postMessage({ found: globalThis.numbers.evaluate(table) });
      } catch (error) {
        globalThis.postMessage({ fault: error.kind ? error.message : `it cannot be read (${error.message}).` });
      }
    };
  };
  const worker = () => {
    const { scoreFiles, scoreNumbers, scoreDistances } = Explore;
    const text = `globalThis.Explore = {}; globalThis.files = (${scoreFiles})(); `
      + `globalThis.numbers = (${scoreNumbers})(${scoreDistances}); (${PROGRAM})();`;
    const address = URL.createObjectURL(new Blob([text], { type: 'text/javascript' })), made = new Worker(address);
    made.addEventListener('message', () => URL.revokeObjectURL(address), { once: true });  // by then it is loaded
    return made;
  };

  const warnings = ({ n, names, levels, constant }) => {
    const single = names.filter((_, k) => levels[k] === 1);
    const many = names.flatMap((name, k) => (levels[k] > 1 && n < 20 * levels[k] ? [`${name} (${levels[k]})`] : []));
    return [
      constant.length && `Constant latents, which most scores leave out: ${constant.join(', ')}.`,
      single.length && `Constant factors, which scores leave out: ${single.join(', ')}.`,
      many.length && `Fewer than 20 rows for each value: ${many.join(', ')}. Is it a class, or a measurement to be binned?`,
    ].filter(Boolean);
  };

  Explore.score = { example, warnings, ABOUT };
  Explore.define('score', place => {
    const { Panel, element } = Explore;
    const panel = new Panel(place, 'Score your own representation', draw);
    const state = { name: '', found: null, fault: '', busy: null, again: null };
    const input = element('input', { type: 'file', accept: '.csv,.npz' });
    panel.controls.append(element('label', { class: 'file' }, element('span', {}, 'Your file'), input));
    const choice = (label, placeholder) => {  // as at the command line: names, separated by commas
      const text = element('input', { type: 'text', placeholder, autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' });
      text.addEventListener('change', () => state.again?.());
      panel.controls.append(element('label', {}, element('span', {}, label), text));
      return () => (text.value.trim() ? text.value.split(',').map(name => name.trim()) : undefined);
    };
    const latents = choice('Latents', 'of a CSV: z0, z1, …'), factors = choice('Factors', 'all that are left');
    const angle = panel.range('Example turned by', { min: 0, max: 90, step: 5, value: 30, format: value => `${value}°` });
    panel.button('Score the example', () => tryExample());
    panel.button('Save it', () => {
      const link = element('a', { download: 'example.csv', href: URL.createObjectURL(new Blob([example(angle.value)], { type: 'text/csv' })) });
      link.click();
      URL.revokeObjectURL(link.href);
    });
    const results = element('div', { class: 'results' });
    panel.pictures.append(results);

    const score = async (name, bytes) => {
      state.busy?.terminate();
      Object.assign(state, { name, found: null, fault: '', busy: worker() });
      state.busy.onmessage = ({ data }) => {
        state.busy.terminate();
        Object.assign(state, { busy: null, ...data });
        panel.change();
      };
      state.busy.onerror = event => {
        event.preventDefault();
        Object.assign(state, { busy: null, fault: 'it cannot be scored in this browser.' });
        panel.change();
      };
      state.busy.postMessage({ name, bytes, chosen: { latents: latents(), factors: factors() } }, [bytes]);
      panel.change();
    };
    const tryExample = () => {
      input.value = '';
      state.again = tryExample;
      score(`example at ${angle.value}°.csv`, new TextEncoder().encode(example(angle.value)).buffer);
    };
    const take = async file => {
      if (!file) return;
      state.again = () => take(file);
      score(file.name, await file.arrayBuffer());
    };
    input.addEventListener('change', () => take(input.files[0]));
    angle.input.addEventListener('change', tryExample);
    for (const kind of ['dragenter', 'dragover', 'dragleave', 'drop'])
      place.addEventListener(kind, event => {
        event.preventDefault();
        place.classList.toggle('over', kind === 'dragenter' || kind === 'dragover');
        if (kind === 'drop') take(event.dataTransfer.files[0]);
      });

    const cell = (words, kind = 'td', marks = {}) => element(kind, marks, words);
    const shown = value => (value === undefined ? '—' : value.toFixed(3).replace('-', '−'));
    const line = ([name, [title, asks, chapter]]) => {
      const [value, chance] = [state.found.headlines, state.found.shuffledHeadlines].map(side => side[name]);
      const link = element('a', { href: `../chapters/${CHAPTERS[chapter]}.html` }, `chapter ${chapter}`);
      const about = element('th', { scope: 'row' }, title, element('small', {}, `${asks} `, link));
      return element('tr', {}, about, cell(shown(value)), cell(shown(chance)));
    };
    const table = (label, head, rows) => element('div', { class: 'box', tabindex: 0, role: 'region', 'aria-label': label },
      element('table', {}, element('thead', {}, element('tr', {}, ...head.map(words => cell(words, 'th', { scope: 'col' })))),
        element('tbody', {}, ...rows)));
    const matrix = ({ matrix: rows, names }) => {
      const most = Math.max(...rows.flat(), 1e-12);
      const entry = value => cell(shown(value), 'td', { style: `--share: ${Math.round(45 * value / most)}%` });
      return table('Mutual information', ['nats', ...names], rows.map((row, j) =>
        element('tr', {}, cell(`z${j}`, 'th', { scope: 'row' }), ...row.map(entry))));
    };
    const byFactor = ({ names, byFactor: found, shuffledByFactor: chance }) => table('Scores by factor', ['score', ...names],
      Object.keys(ABOUT).filter(name => found[name]).flatMap(name => [[ABOUT[name][0], found], ['shuffled', chance]].map(([title, side]) =>
        element('tr', side === chance ? { class: 'chance' } : {}, cell(title, 'th', { scope: 'row' }), ...side[name].map(value => cell(shown(value)))))));
    const part = (title, ...inside) => element('section', {}, element('p', { class: 'title' }, title), ...inside);

    function draw() {
      const { name, found, fault, busy } = state;
      results.replaceChildren();
      if (busy) return `Scoring ${name} …`;
      if (fault) return `${name}: ${fault}`;
      if (!found) return 'Choose a file, or drop it here; or score the example. The file stays in this page.';
      const missing = Object.entries(found.leftOut).map(([key, why]) => `${ABOUT[key][0]}: ${why}`);
      const said = [...warnings(found), ...missing].map(words => element('li', {}, words));
      results.append(part('Scores', table('Scores', ['score', 'value', 'shuffled'], Object.entries(ABOUT).map(line))),
        part('Mutual information, in nats', matrix(found)), part('By factor', byFactor(found)), ...said.length ? [part('Mind', element('ul', {}, ...said))] : []);
      return `${name}: ${found.n.toLocaleString('en')} rows, ${found.matrix.length} latents, factors ${found.names.join(', ')}. `
        + `MIG ${shown(found.headlines.mig)}, shuffled ${shown(found.shuffledHeadlines.mig)}.`;
    }
    return panel;
  });
})();
