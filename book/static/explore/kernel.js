// Chapter 16: draw a kernel. Eight places of a square, blurred with it: do their distances fall into order?
(() => {
  const { maths: { sum, range, linear, rank } } = globalThis.Explore;
  const PLACES = 8, SIDE = 8, CANVAS = 64, KNOTS = 9;
  const BARS = range(PLACES, at => range(CANVAS, pixel => Number(Math.floor(pixel / SIDE) === at)));
  const normalised = weights => {
    const total = sum(weights);
    return total ? weights.map(weight => weight / total) : weights;
  };

  // One-dimensional kernels, 2 · radius + 1 weights that sum to 1.
  const box = radius => normalised(range(2 * radius + 1, () => 1));
  const gaussian = radius => {
    const sigma = Math.max(radius, 1) / 4;
    return normalised(range(2 * radius + 1, place => Math.exp(-.5 * ((place - radius) / sigma) ** 2)));
  };
  // Heights at evenly spaced distances from the centre, the last at the radius, joined by straight lines.
  const drawn = (radius, heights) => normalised(range(2 * radius + 1, place => {
    const at = radius ? Math.abs(place - radius) / radius * (heights.length - 1) : 0, left = Math.floor(at);
    return heights[left] + (at - left) * ((heights[left + 1] ?? 0) - heights[left]);
  }));

  // The bars blurred, zeros outside, the same length: (8, 64).
  const profiles = kernel => {
    const radius = (kernel.length - 1) / 2;
    return BARS.map((_, at) => range(CANVAS, pixel => {
      let total = 0;
      for (let x = SIDE * at; x < SIDE * (at + 1); x += 1) total += kernel[x - pixel + radius] ?? 0;
      return total;
    }));
  };

  // Squared error plus the blurred one times (2 · radius + 1)², summed over pixels, of two places in a row: (8, 8) for
  // each of the rows, rounded, so that rounding makes no order.
  const distances = kernel => {
    const blurred = profiles(kernel), weight = kernel.length ** 2;
    const apart = blurred.map(a => blurred.map(b => sum(a.map((value, pixel) => (value - b[pixel]) ** 2))));
    return blurred.map(row => {
      const height = sum(row.map(value => value * value));
      return apart.map((line, a) => line.map((value, b) =>
        Math.round((SIDE * 2 * SIDE * (a !== b) + weight * value * height) * 1e6) / 1e6));
    });
  };

  // Linear and rank correlation of |a − b| with the distance, over all pairs of different places in all rows.
  const follow = matrices => {
    const steps = [], found = [];
    for (const matrix of matrices) matrix.forEach((line, a) => line.forEach((value, b) => {
      if (a !== b) { steps.push(Math.abs(a - b)); found.push(value); }
    }));
    return { linear: linear(steps, found), rank: rank(steps, found) };
  };

  globalThis.Explore.kernel = { box, gaussian, drawn, profiles, distances, follow };
  globalThis.Explore.define('kernel', place => {
    const { Panel, shape, set, element, paint } = globalThis.Explore;
    const panel = new Panel(place, 'Draw a kernel', draw);
    const kind = panel.radios('Kernel', { box: 'box', gaussian: 'Gaussian', drawn: 'drawn' }, 'box');
    const radius = panel.range('Radius', { min: 0, max: 63, value: 4, format: value => `${value} px` });
    const at = panel.range('Square at place', { min: 0, max: 7, value: 3 });
    const heights = range(KNOTS, () => 1);

    const plot = panel.picture('Half of the kernel, from its centre (left) to its radius. Drag the points to draw another.', 100, 60);
    const line = shape('path', { class: 'line' });
    const ends = [6, 94].map((x, end) => shape('text', { x, y: 59.5, class: 'small', 'text-anchor': ['middle', 'end'][end] }));
    plot.svg.append(shape('path', { d: 'M4 54H96', class: 'axis' }), line, ...ends);
    const [left, right, bottom, tall] = [6, 94, 54, 46];
    const handles = heights.map((_, knot) => panel.handle(plot, `Height at ${knot} eighths of the radius`, {
      step: tall / 20, kind: 'small',
      move: (x, y) => {
        kind.value = 'drawn';
        heights[knot] = Math.min(1, Math.max(0, Math.round((bottom - y) / tall * 20) / 20));
      },
    }));
    const seen = panel.picture('The square, blurred.', 64, 64, 'small');
    const canvas = element('canvas', { width: CANVAS, height: CANVAS, 'aria-hidden': 'true' });
    seen.stage.prepend(canvas);
    const curve = panel.picture('Distance of each place in the row from the square’s, as a share of the farthest there is.', 100, 80, 'small');
    const trace = shape('path', { class: 'line' });
    const dots = range(PLACES, () => shape('circle', { r: 2, class: 'dot' }));
    const names = range(PLACES, p => {
      const name = shape('text', { x: 8 + 12 * p, y: 79.5, 'text-anchor': 'middle', class: 'label' });
      name.textContent = p;
      return name;
    });
    curve.svg.append(shape('path', { d: 'M4 73H96', class: 'axis' }), trace, ...dots, ...names);

    function draw() {
      const r = radius.value, here = at.value;
      if (kind.value === 'box') heights.fill(1);
      if (kind.value === 'gaussian') heights.forEach((_, k) => { heights[k] = Math.exp(-.5 * (k / 2) ** 2); });
      const kernel = { box, gaussian, drawn: () => drawn(r, heights) }[kind.value](r);
      const [spots, rows] = [profiles(kernel), distances(kernel)];
      const found = follow(rows), matrix = rows[3], most = Math.max(...rows.flat(2), 1e-9);
      const points = heights.map((height, knot) => [left + (right - left) * knot / (KNOTS - 1), bottom - tall * height]);
      line.setAttribute('d', `M${points.join('L')}`);
      ends.forEach((end, n) => { end.textContent = n ? `${r} px` : '0'; });
      points.forEach(([x, y], knot) => handles[knot](x, y, `${Math.round(100 * heights[knot])} per cent`));
      const white = Math.max(...spots[here]) * Math.max(...spots[3]) || 1;
      paint(canvas, (x, y) => spots[here][x] * spots[3][y] / white);
      const marks = matrix[here].map((value, p) => [8 + 12 * p, 73 - 66 * value / most]);
      trace.setAttribute('d', `M${marks.join('L')}`);
      dots.forEach((dot, p) => set(dot, { cx: marks[p][0], cy: marks[p][1], class: p === here ? 'dot here' : 'dot' }));
      return words(r, here, matrix[here], found, kernel);
    }

    function words(r, here, row, found, kernel) {
      const name = { box: 'A box', gaussian: 'A Gaussian', drawn: 'Your kernel' }[kind.value];
      const near = row[here < 7 ? here + 1 : here - 1], far = row[here < 4 ? 7 : 0];
      if (!sum(kernel)) return 'Your kernel is 0 everywhere: nothing is left but the sharp term, 128 for every pair.';
      const plain = kind.value !== 'box' && follow(distances(box(r))).rank;
      return `${name} of radius ${r}: rank correlation ${found.rank.toFixed(3)}, linear ${found.linear.toFixed(3)}, over different `
        + `places${plain === false ? '' : ` (a box has ${plain.toFixed(3)})`}. From place ${here}, the place next to it is at distance `
        + `${near.toFixed(0)} and the farthest at ${far.toFixed(0)}: 128, as in the sharp images, and what blurring adds.`;
    }
    return panel;
  });
})();
