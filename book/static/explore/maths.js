// What explorers compute with. No page is needed: tests call these functions under node.
(() => {
  const Explore = globalThis.Explore ??= {};

  const sum = values => values.reduce((total, value) => total + value, 0);
  const mean = values => sum(values) / values.length;
  const range = (count, of = place => place) => Array.from({ length: count }, (_, place) => of(place));

  // The ranks of values, 1 for the lowest; equal ones share the middle of their places.
  const ranks = values => {
    const order = range(values.length).sort((a, b) => values[a] - values[b]), found = new Array(values.length);
    for (let from = 0, to; from < order.length; from = to) {
      for (to = from; to < order.length && values[order[to]] === values[order[from]];) to += 1;
      for (let place = from; place < to; place += 1) found[order[place]] = (from + to + 1) / 2;
    }
    return found;
  };

  // Pearson's correlation; 0 when a side is constant.
  const linear = (first, second) => {
    const [a, b] = [first, second].map(side => {
      const middle = mean(side);
      return side.every(value => value === side[0]) ? side.map(() => 0) : side.map(value => value - middle);
    });
    const scale = Math.sqrt(sum(a.map(x => x * x)) * sum(b.map(x => x * x)));
    return scale ? sum(a.map((x, place) => x * b[place])) / scale : 0;
  };
  const rank = (first, second) => linear(ranks(first), ranks(second));  // Spearman's

  // The largest eigenvalue of a symmetric matrix without negative ones, by powers: the quotient has twice the digits.
  const largestEigenvalue = matrix => {
    const size = matrix.length, entries = Float64Array.from(matrix.flat());
    let vector = Float64Array.from(matrix, (_, place) => Math.cos(1 + place * place)), value = 0;
    for (let step = 0; step < 3000; step += 1) {
      const next = new Float64Array(size);
      let [inner, before, after] = [0, 0, 0];
      for (let row = 0; row < size; row += 1) {
        for (let column = 0; column < size; column += 1) next[row] += entries[row * size + column] * vector[column];
        inner += next[row] * vector[row];
        before += vector[row] ** 2;
        after += next[row] ** 2;
      }
      if (!after) return 0;
      if (step > 20 && Math.abs(inner / before - value) < 1e-12 * value) return inner / before;
      [value, vector] = [inner / before, next.map(entry => entry / Math.sqrt(after))];
    }
    return value;
  };

  // Numbers in [0, 1) that are the same on every computer: mulberry32.
  const uniforms = seed => () => {
    seed = (seed + 0x6D2B79F5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const normals = draw => () => Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
  const shuffled = (values, draw) => {
    const found = [...values];
    for (let last = found.length - 1; last > 0; last -= 1) {
      const other = Math.floor(draw() * (last + 1));
      [found[last], found[other]] = [found[other], found[last]];
    }
    return found;
  };

  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const along = (a, by, b) => a.map((value, place) => value + by * b[place]);  // a + by · b
  const unit = a => a.map(value => value / Math.hypot(...a));

  Explore.maths = {
    sum, mean, range, ranks, linear, rank, largestEigenvalue, uniforms, normals, shuffled, dot, cross, along, unit,
  };
})();
