// Chapter 15: a shape that steps along a row. Which sizes, spacings and shapes have all distances equal?
(() => {
  const { maths: { mean, range, largestEigenvalue } } = globalThis.Explore;
  const PLACES = 8, CANVAS = 64, STRIP = 20;  // of the image only a strip is shown
  const LIT = {  // whether the pixel (x, y) of a shape of `size` pixels is white
    square: () => true,
    frame: (x, y, size) => Math.min(x, y) === 0 || Math.max(x, y) === size - 1,
    comb: x => x % 2 === 0,
  };

  // How many pixels a shape shares with itself when it has moved: (across, down) → pixels.
  const overlaps = (kind, size) => {
    const lit = (x, y) => x >= 0 && y >= 0 && x < size && y < size && LIT[kind](x, y, size);
    const all = range(size * size).map(place => [place % size, Math.floor(place / size)]).filter(([x, y]) => lit(x, y));
    const known = new Map();
    return (across, down = 0) => {
      const key = `${Math.abs(across)},${Math.abs(down)}`;
      if (!known.has(key)) known.set(key, all.filter(([x, y]) => lit(x + Math.abs(across), y + Math.abs(down))).length);
      return known.get(key);
    };
  };

  // Pixels that differ between the places i and j of a row, (8, 8): 2 |A| − 2 |A ∩ B|.
  const distances = (kind, size, spacing) => {
    const shared = overlaps(kind, size);
    return range(PLACES, i => range(PLACES, j => 2 * (shared(0) - shared(spacing * (i - j)))));
  };

  // Twice the largest eigenvalue of the covariance of the 64 images of one shape, standardised: chapter 15's price.
  const startingPrice = (kind, size, spacing) => {
    const shared = overlaps(kind, size), count = PLACES * PLACES, pixels = CANVAS * CANVAS;
    const share = shared(0) / pixels, variance = share * (1 - share) * pixels / (pixels - 1);
    const steps = range(count, a => range(count, b => [a % PLACES - b % PLACES, (a - a % PLACES - b + b % PLACES) / 8]));
    const gram = steps.map(row => row.map(([x, y]) => shared(spacing * x, spacing * y)));
    const rows = gram.map(mean), all = mean(rows);
    const centred = gram.map((row, a) => row.map((value, b) => value - rows[a] - rows[b] + all));
    return 2 * largestEigenvalue(centred) / count / variance;
  };

  // What the explorer says of a design: the distances along a row, whether they are all equal, and both prices.
  const design = (kind, size, spacing) => {
    const matrix = distances(kind, size, spacing);
    const between = matrix.flatMap((row, i) => row.filter((_, j) => j > i));
    const [least, most] = [Math.min(...between), Math.max(...between)];
    return { matrix, least, most, spread: (most - least) / mean(between), price: startingPrice(kind, size, spacing) };
  };

  globalThis.Explore.adversary = { overlaps, distances, startingPrice, design };
  globalThis.Explore.define('adversary', place => {
    const { Panel, shape, set, element, paint } = globalThis.Explore;
    const room = size => Math.floor((CANVAS - size) / (PLACES - 1));
    const panel = new Panel(place, 'Design your own adversary', draw);
    const kind = panel.radios('Shape', { square: 'square', frame: 'frame', comb: 'comb' }, 'square');
    const size = panel.range('Size', { min: 1, max: 16, value: 8, format: value => `${value} px` });
    const spacing = panel.range('Spacing', { min: 1, max: 8, value: 5, format: value => `${value} px` });
    const first = panel.range('One place', { min: 0, max: 7, value: 2 });
    const second = panel.range('Another', { min: 0, max: 7, value: 3 });
    const scene = panel.picture('Both images in one: grey where one of them is white, white where both are.', CANVAS, STRIP);
    const canvas = element('canvas', { width: CANVAS, height: STRIP, 'aria-hidden': 'true' });
    scene.stage.prepend(canvas);
    const table = panel.picture('Distances of all pairs of places in the row: the fuller the colour, the farther. Framed: your '
      + 'two; press another to choose it.', 9, 9);
    const at = place => place + 1;
    const cells = range(64, n => shape('rect', { x: at(n % 8), y: at(Math.floor(n / 8)), width: 1, height: 1, class: 'cell' }));
    const names = range(16, n => {
      const [x, y] = n < 8 ? [at(n) + .5, .75] : [.6, at(n - 8) + .68], name = shape('text', { x, y, class: 'tiny' });
      name.textContent = n % 8;
      return name;
    });
    const mark = shape('rect', { width: 1, height: 1, class: 'mark' });
    table.svg.append(...names, ...cells, mark);
    cells.forEach((cell, n) => cell.addEventListener('click', () => {
      [first.value, second.value] = [Math.floor(n / 8), n % 8];
      panel.change();
    }));
    let last = '', found;

    function draw() {
      spacing.limit(room(size.value));
      const [a, s, i, j] = [size, spacing, first, second].map(control => control.value);
      const name = `${kind.value} ${a} ${s}`;
      if (name !== last) found = design(kind.value, a, s);
      last = name;
      const start = Math.floor((CANVAS - a - 7 * s) / 2);
      const lit = (x, y, where) => {
        const [u, v] = [x - start - s * where, y - Math.floor((STRIP - a) / 2)];
        return u >= 0 && v >= 0 && u < a && v < a && LIT[kind.value](u, v, a);
      };
      paint(canvas, (x, y) => .55 * (lit(x, y, i) + lit(x, y, j)) - (lit(x, y, i) && lit(x, y, j) ? .1 : 0));
      const top = Math.max(found.most, 1);
      cells.forEach((cell, n) => cell.setAttribute('fill-opacity', found.matrix[Math.floor(n / 8)][n % 8] / top));
      set(mark, { x: at(j), y: at(i) });
      return words(a, s, i, j);
    }

    function words(a, s, i, j) {
      const area = found.matrix[i][j], shared = overlaps(kind.value, a), white = shared(0);
      const column = range(PLACES - 1, step => 2 * (white - shared(0, s * (step + 1))));
      const ends = (least, most) => (least === most ? `all ${most}` : `${least} to ${most}`);
      const flat = 2 * white / 64 / (white / 4096 * (1 - white / 4096) * 4096 / 4095);
      return `Along the row ${found.least === found.most ? 'an adversary' : `it leaks (spread ${found.spread.toFixed(2)})`}: distances `
        + `are ${ends(found.least, found.most)} pixels; down a column ${ends(Math.min(...column), Math.max(...column))}. `
        + `2λ, of all 64 places, is ${found.price.toFixed(1)}; constant distances would give ${flat.toFixed(1)}. `
        + `At places ${i} and ${j} the images differ in ${area} pixels, and the shapes share ${white - area / 2} of ${white}.`
        + (s === room(a) ? ` No larger spacing has room for ${a} px.` : '');
    }
    return panel;
  });
})();
