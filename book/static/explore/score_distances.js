// The three distance scores of a table, as course_lib.metrics has them from samples: of whole traversals, which are rows
// that agree in all factors but one and take each of its values. A program by itself, given that of score_numbers.js.
globalThis.Explore ??= {};
globalThis.Explore.scoreDistances = kit => {
  const { sum, mean, range, largest, varies, pick, noise, powerAbove, twister } = kit;
  const WHOLE = 2 ** 20, ANYWHERE = 10000;
  const geometric = values => (Math.min(...values) <= 0 ? 0 : Math.exp(mean(values.map(Math.log))));

  // Rows in the order of their factors, each combination once: of rows with the same factors the first counts.
  const order = (rows, columns) => rows.sort((a, b) => {
    const one = columns.find(column => column[a] !== column[b]);
    return one ? one[a] - one[b] : a - b;
  });
  const gridRows = ({ latents, factors, names, single }) => {
    const rows = order(range(factors[0].length), factors);
    const first = rows.filter((row, i) => i === 0 || factors.some(column => column[row] !== column[rows[i - 1]]));
    return { latents: pick(latents, first), factors: pick(factors, first), names, single };
  };
  // The rows of each whole traversal of factor k, in the factor's order.
  const traversals = ({ factors, names }, k, score) => {
    const f = new Set(factors[k]).size, others = factors.filter((_, place) => place !== k), found = [];
    const rows = order(range(factors[0].length), [...others, factors[k]]);
    for (let from = 0, to; from < rows.length; from = to) {
      for (to = from; to < rows.length && others.every(column => column[rows[to]] === column[rows[from]]);) to += 1;
      if (to - from === f) found.push(rows.slice(from, to));
    }
    if (!found.length) throw new RangeError(`factors: no rows agree in all factors but ${names[k]} and take each of its ${f} values; the ${score} needs such rows.`);
    return found;
  };

  const largestEigenvalue = matrix => {  // by Jacobi's rotations
    const size = matrix.length;
    for (let sweep = 0; sweep < 30; sweep += 1) {
      let off = 0;
      for (let p = 0; p < size; p += 1)
        for (let q = p + 1; q < size; q += 1) {
          off += matrix[p][q] ** 2;
          if (!matrix[p][q]) continue;
          const theta = (matrix[q][q] - matrix[p][p]) / (2 * matrix[p][q]);
          const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1)), c = 1 / Math.sqrt(t * t + 1), s = t * c;
          for (let i = 0; i < size; i += 1) [matrix[i][p], matrix[i][q]] = [c * matrix[i][p] - s * matrix[i][q], s * matrix[i][p] + c * matrix[i][q]];
          for (let i = 0; i < size; i += 1) [matrix[p][i], matrix[q][i]] = [c * matrix[p][i] - s * matrix[q][i], s * matrix[p][i] + c * matrix[q][i]];
        }
      if (off < 1e-30) break;
    }
    return Math.max(...range(size, p => matrix[p][p]));
  };
  const across = points => Math.max(...range(points.length, j => sum(points[j].map(x => x * x))));
  const along = points => {  // the largest variance in any direction, from the smaller of the two Gram matrices
    const f = points[0].length, wide = points.length > f;
    const sides = wide ? range(f, i => points.map(column => column[i])) : points;
    return largestEigenvalue(sides.map(a => sides.map(b => a.reduce((all, value, i) => all + value * b[i], 0))));
  };
  const ratio = (rows, largestOf, score) => {
    const { latents, factors, names, single } = rows, dims = latents.length, found = [];
    factors.forEach((factor, k) => {
      if (!varies(factor)) return;
      const every = traversals(rows, k, score), quiet = latents.map(column => noise(pick([column], every.flat())[0], single));
      found.push([names[k], mean(every.map(places => {
        const points = latents.map((column, j) => {
          const steps = places.map(place => column[place] - column[places[0]]);
          const still = Math.max(...steps) - Math.min(...steps) <= quiet[j], middle = still ? 0 : mean(steps);
          return still ? steps.map(() => 0) : steps.map(value => value - middle);
        });
        const reach = 2 ** -powerAbove(Math.max(...points.map(largest)));
        const scaled = points.map(column => column.map(value => value * reach)), total = sum(scaled.flat().map(x => x * x));
        if (!total) return 0;
        return dims > 1 ? (largestOf(scaled) / total - 1 / dims) / (1 - 1 / dims) : 1;
      }))]);
    });
    return { own: { factors: geometric(found.map(([, value]) => value)) }, factors: found };
  };

  const ranks = values => {
    const counts = new Map();
    values.forEach(value => counts.set(value, (counts.get(value) ?? 0) + 1));
    let before = 0;
    for (const value of Float64Array.from(counts.keys()).sort()) {
      const count = counts.get(value);
      counts.set(value, before + (count + 1) / 2);
      before += count;
    }
    return values.map(value => counts.get(value));
  };
  const spearman = (first, second) => {
    if (first.length < 2 || !varies(first) || !varies(second)) return 0;
    const middle = (first.length + 1) / 2, [a, b] = [first, second].map(ranks);
    let [ab, aa, bb] = [0, 0, 0];
    a.forEach((value, i) => {
      const [x, y] = [value - middle, b[i] - middle];
      [ab, aa, bb] = [ab + x * y, aa + x * x, bb + y * y];
    });
    return ab / Math.sqrt(aa * bb);
  };
  const follow = ({ latents, factors, single }, first, second) => {
    const quiet = latents.map(column => noise(pick([column], [...new Set([...first, ...second])])[0], single));
    const apart = (columns, i, least) => columns.reduce((all, column, j) => {
      const step = Math.abs(column[first[i]] - column[second[i]]);
      return all + (step <= least(j) ? 0 : step);
    }, 0);
    const raw = Float64Array.from(first, (_, i) => apart(latents, i, j => quiet[j])), most = largest(raw);
    const latent = most > 0 ? raw.map(value => Math.round(value / most * 1e6 + .31)) : raw;
    const truth = Float64Array.from(first, (_, i) => apart(factors, i, () => 0)), distinct = range(first.length).filter(i => first[i] !== second[i]);
    return [spearman(truth, latent), spearman(...pick([truth, latent], distinct))];
  };
  const distance = (rows, seed) => {
    const values = [], several = [], draw = twister(seed), n = rows.factors[0].length;
    rows.factors.forEach((factor, k) => {
      if (!varies(factor)) return;
      const every = traversals(rows, k, 'distance correlation'), f = every[0].length;
      const count = Math.min(every.length, Math.max(Math.floor(WHOLE / (f * f)), 1)), [first, second] = [[], []];
      for (let i = 0; i < count; i += 1)
        for (const a of every[Math.floor(i * every.length / count)])
          for (const b of every[Math.floor(i * every.length / count)]) [first[first.length], second[second.length]] = [a, b];
      const [published, distinct] = follow(rows, first, second);
      values.push([rows.names[k], published]);
      if (f > 2) several.push(distinct);
    });
    const [first, second] = [0, 1].map(() => Uint32Array.from({ length: ANYWHERE }, () => draw() % n));
    const own = {
      factors: geometric(values.map(([, value]) => value)), global: follow(rows, first, second)[0],
      distinct_factors: several.length ? geometric(several) : 0,
    };
    return { own, factors: values };
  };
  return {
    distance_correlation: (rows, seed) => distance(rows, seed),
    linearity_ratio: rows => ratio(rows, along, 'linearity ratio'),
    axis_alignment_ratio: rows => ratio(rows, across, 'axis-alignment ratio'),
    gridRows, largestEigenvalue,
  };
};
