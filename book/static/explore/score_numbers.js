// The scores of a table of latents and factors, as course_lib.metrics has them from samples, to a millionth. A program by
// itself, given that of score_distances.js. A table: columns of latents and of factors, names, and whether latents are single precision.
globalThis.Explore ??= {};
globalThis.Explore.scoreNumbers = distances => {
  const BINS = 20, ROUNDING = 16, DISTINCT = 1000, FLAT = 10;
  const sum = values => values.reduce((all, value) => all + value, 0), mean = values => sum(values) / values.length;
  const range = (count, of = place => place) => Array.from({ length: count }, (_, place) => of(place));
  const largest = column => column.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const varies = column => column.some(value => value !== column[0]);
  const pick = (columns, rows) => columns.map(column => Float64Array.from(rows, row => column[row]));

  // The Mersenne Twister, seeded and used as torch.Generator is: what `seed` shuffles here, it shuffles there.
  const twister = seed => {
    const state = new Uint32Array(624);
    state[0] = seed;
    for (let j = 1; j < 624; j += 1) state[j] = Math.imul(1812433253, state[j - 1] ^ (state[j - 1] >>> 30)) + j;
    let place = 624;
    const turn = () => {
      for (let j = 0; j < 624; j += 1) {
        const mixed = (state[j] & 0x80000000) | (state[(j + 1) % 624] & 0x7fffffff);
        state[j] = state[(j + 397) % 624] ^ (mixed >>> 1) ^ (mixed & 1 ? 0x9908b0df : 0);
      }
      place = 0;
    };
    return () => {
      if (place === 624) turn();
      let value = state[place];
      place += 1;
      value ^= value >>> 11;
      value ^= (value << 7) & 0x9d2c5680;
      value ^= (value << 15) & 0xefc60000;
      return (value ^ (value >>> 18)) >>> 0;
    };
  };
  const permutation = (n, seed) => {  // torch.randperm
    const draw = twister(seed), order = Uint32Array.from({ length: n }, (_, place) => place);
    for (let i = 0; i < n - 1; i += 1) {
      const other = i + draw() % (n - i);
      [order[i], order[other]] = [order[other], order[i]];
    }
    return order;
  };

  const noise = (column, single) => ROUNDING * (single ? 2 ** -23 : 2 ** -52) * largest(column);
  // Of at most 1,000 different values those that differ by rounding only are one.
  const settled = ({ latents, single }) => latents.map(column => {
    const values = [...new Set(column)].sort((a, b) => a - b), unit = noise(column, single), equal = new Map();
    const widest = 2 * Math.max(unit, 2 ** -1022);
    values.reduce(([first, last], value) => {
      const start = value - last > unit ? value : first;
      equal.set(value, start + Math.floor((value - start) / widest) * widest);
      return [start, value];
    }, [0, -Infinity]);
    return new Set(equal.values()).size > DISTINCT ? column : column.map(value => equal.get(value));
  });

  // Each value's place among the different ones, in order, and how often each occurs.
  const ranked = column => {
    const values = [...new Set(column)].sort((a, b) => a - b), at = new Map(values.map((value, place) => [value, place]));
    const places = Uint32Array.from(column, value => at.get(value)), counts = new Float64Array(values.length);
    places.forEach(place => { counts[place] += 1; });
    return { places, counts, values };
  };
  const entropy = counts => {
    const all = sum(counts);
    return -sum(Array.from(counts).filter(Boolean).map(count => count / all * Math.log(count / all)));
  };
  const binned = column => {
    const [low, high] = column.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
    return column.map(value => Math.min(Math.trunc((value - low) / (high > low ? high - low : 1) * BINS), BINS - 1));
  };
  const information = (latents, factors) => {
    const values = factors.map(ranked);
    return latents.map(column => {
      const code = ranked(binned(column));
      return values.map(factor => {
        const both = new Float64Array(code.counts.length * factor.counts.length);
        code.places.forEach((place, i) => { both[place * factor.counts.length + factor.places[i]] += 1; });
        return Math.max(entropy(code.counts) + entropy(factor.counts) - entropy(both), 0);
      });
    });
  };
  // Best less second best of each column, with `nothing` for latents that are missing.
  const gaps = (matrix, nothing) => nothing.map((missing, k) => {
    const rest = matrix.map(row => row[k]).concat(range(Math.max(2 - matrix.length, 0), () => missing));
    const [first, second] = rest.sort((a, b) => b - a);
    return first - second;
  });

  const mig = ({ factors, names, matrix }) => {
    const found = gaps(matrix, factors.map(() => 0)).map((gap, k) => gap / entropy(ranked(factors[k]).counts));
    const kept = range(factors.length).filter(k => varies(factors[k]));
    return { own: { mig: mean(kept.map(k => found[k])) }, factors: kept.map(k => [names[k], found[k]]) };
  };

  // The rows in the order of `seed`, of what varies: two thirds to learn from, a third to test on.
  const split = ({ latents, factors, names }, seed) => {
    const n = factors[0].length, test = Math.floor(n / 3), order = permutation(n, seed);
    if (n < 3) throw new RangeError(`latents: got ${n} points; to learn from some and test on others, 3 are needed.`);
    const [live, used] = [latents.filter(varies), factors.filter(varies)];
    const part = rows => ({ latents: pick(live, rows), factors: pick(used, rows) });
    const known = names.filter((_, k) => varies(factors[k]));
    return { train: part(order.subarray(0, n - test)), test: part(order.subarray(n - test)), names: known };
  };

  const modularity = ({ train }) => {
    const rows = information(train.latents, train.factors).map(row => {
      const most = Math.max(...row), others = sum(row.map(x => x * x)) - most * most;
      return most > 0 ? 1 - others / (most * most * Math.max(row.length - 1, 1)) : 0;
    });
    return { own: { modularity: rows.length ? mean(rows) : 0 }, factors: [] };
  };

  // A linear machine with squared hinge on one latent, offset penalised: minimises |w|²/2 + Σ cᵢ max(0, 1 − yᵢ(w·xᵢ + b))²
  // by trust-region Newton steps, with the constants and the stopping rule of LIBLINEAR, whose optimum is not exact either
  // (Lin, Weng and Keerthi, Trust region Newton method for logistic regression, 2008).
  const machine = (x, positive, cost, otherCost) => {
    const at = (w, b) => {
      const here = { f: (w * w + b * b) / 2, g: [w, b], H: [1, 0, 1] };
      for (let i = 0; i < x.length; i += 1) {
        const y = positive[i] ? 1 : -1, c = positive[i] ? cost : otherCost, short = 1 - y * (w * x[i] + b);
        if (short <= 0) continue;
        here.f += c * short * short;
        here.g[0] -= 2 * c * y * short * x[i];
        here.g[1] -= 2 * c * y * short;
        here.H[0] += 2 * c * x[i] * x[i];
        here.H[1] += 2 * c * x[i];
        here.H[2] += 2 * c;
      }
      return here;
    };
    const dot = (a, b) => a[0] * b[0] + a[1] * b[1], plus = (a, by, b) => [a[0] + by * b[0], a[1] + by * b[1]];
    const step = ({ g, H }, delta) => {  // conjugate gradients within the region; s, and the residual r = −g − Hs
      let [s, r] = [[0, 0], [-g[0], -g[1]]], d = r, rr = dot(r, r);
      const enough = .1 * Math.sqrt(dot(g, g));
      while (Math.sqrt(dot(r, r)) > enough) {
        const Hd = [H[0] * d[0] + H[1] * d[1], H[1] * d[0] + H[2] * d[1]], by = rr / dot(d, Hd), next = plus(s, by, d);
        if (Math.sqrt(dot(next, next)) > delta) {
          const [sd, dd, room] = [dot(s, d), dot(d, d), delta * delta - dot(s, s)], root = Math.sqrt(sd * sd + dd * room);
          const out = sd >= 0 ? room / (sd + root) : (root - sd) / dd;
          return { s: plus(s, out, d), r: plus(r, -out, Hd) };
        }
        s = next;
        r = plus(r, -by, Hd);
        const after = dot(r, r);
        d = plus(r, after / rr, d);
        rr = after;
      }
      return { s, r };
    };
    const count = positive.reduce((all, one) => all + one, 0), rest = x.length - count;
    const tolerance = 1e-4 * Math.max(Math.min(count, rest), 1) / x.length;
    let point = [0, 0], now = at(0, 0), delta = Math.sqrt(dot(now.g, now.g)), first = true;
    const start = delta;
    for (let turn = 0; turn < 1000 && Math.sqrt(dot(now.g, now.g)) > tolerance * start; turn += 1) {
      const { s, r } = step(now, delta), slope = dot(now.g, s), hoped = -.5 * (slope - dot(s, r));
      const next = plus(point, 1, s), then = at(...next), gained = now.f - then.f, length = Math.sqrt(dot(s, s));
      if (first) delta = Math.min(delta, length);
      const bend = then.f - now.f - slope, alpha = bend <= 0 ? 4 : Math.max(.25, -.5 * slope / bend), far = alpha * length;
      if (gained < 1e-4 * hoped) delta = Math.min(Math.max(alpha, .25) * length, .5 * delta);
      else if (gained < .25 * hoped) delta = Math.max(.25 * delta, Math.min(far, .5 * delta));
      else if (gained < .75 * hoped) delta = Math.max(.25 * delta, Math.min(far, 4 * delta));
      else delta = Math.max(delta, Math.min(far, 4 * delta));
      const still = Math.max(Math.abs(gained), Math.abs(hoped)) <= 1e-12 * Math.abs(now.f);
      if (gained > 1e-4 * hoped) [point, now, first] = [next, then, false];
      if (still || (gained === 0 && hoped <= 0)) break;
    }
    return point;
  };

  // The share of test points whose value machines, one for each value against the rest, guess from one latent.
  const accuracy = (x, labels, testX, testLabels) => {
    const { places, counts, values } = ranked(labels), k = values.length;
    const usual = values[counts.indexOf(Math.max(...counts))], share = guess => mean(Array.from(testLabels, (label, i) => Number(guess(i) === label)));
    if (!varies(x) || k === 1) return share(() => usual);
    const cost = v => .01 * x.length / (k * counts[v]), is = v => Uint8Array.from(places, place => place === v);
    if (k === 2) {
      const [w, b] = machine(x, is(1), cost(1), cost(0));
      return share(i => values[Number(w * testX[i] + b > 0)]);
    }
    const machines = range(k, v => machine(x, is(v), cost(v), .01));
    return share(i => {
      let best = 0;
      const says = v => machines[v][0] * testX[i] + machines[v][1];
      for (let v = 1; v < k; v += 1) if (says(v) > says(best)) best = v;
      return values[best];
    });
  };
  const powerAbove = value => {  // the smallest power of two above
    let power = value > 0 ? Math.floor(Math.log2(value)) + 1 : 0;
    if (value > 0 && 2 ** power <= value) power += 1;
    if (value > 0 && 2 ** (power - 1) > value) power -= 1;
    return power;
  };
  const squared = (first, second) => {
    const scale = 2 ** -powerAbove(largest(first)), low = second.reduce((a, b) => Math.min(a, b));
    const [a, b] = [first.map(x => x * scale), second.map(y => y - low)].map(side => {
      const middle = mean(side);
      return side.map(value => value - middle);
    });
    const across = (p, q) => p.reduce((all, value, i) => all + value * q[i], 0);
    return across(a, b) ** 2 / (across(a, a) * across(b, b));
  };
  const sap = ({ train, test, names }, { latents, factors }) => {
    const scales = train.latents.map(column => 2 ** -Math.max(powerAbove(largest(column)) - FLAT, 0));
    const scaled = side => side.latents.map((column, j) => column.map(value => value * scales[j]));
    const [x, testX] = [scaled(train), scaled(test)], kept = factors.filter(varies);
    const right = x.map((column, j) => train.factors.map((factor, k) => accuracy(column, factor, testX[j], test.factors[k])));
    const chance = train.factors.map((factor, k) => accuracy(factor.map(() => 0), factor, test.factors[k], test.factors[k]));
    const discrete = gaps(right, chance);
    const continuous = gaps(latents.filter(varies).map(column => kept.map(factor => squared(column, factor))), kept.map(() => 0));
    return { own: { discrete: mean(discrete), continuous: mean(continuous) }, factors: names.map((name, k) => [name, discrete[k]]) };
  };

  const apart = distances({ sum, mean, range, largest, varies, pick, noise, powerAbove, twister });

  // A score's own values and its factors' in one; a factor that is called like a value, "global", has "global (factor)".
  const joined = ({ own, factors }) => {
    const values = { ...own };
    for (let [name, value] of factors) {
      while (name in values) name += ' (factor)';
      values[name] = value;
    }
    return values;
  };

  // The scores of a table: name → values; the headline; the values of the factors in their order, undefined where there
  // is none; those scores that the table is not made for: name → why.
  const scores = (given, seed) => {
    const table = { ...given, latents: settled(given) }, parts = () => split(table, seed), rows = apart.gridRows(given);
    const [found, headlines, byFactor, leftOut] = [{}, {}, {}, {}];
    const matrix = information(table.latents, table.factors);
    Object.entries({
      mig: () => mig({ ...table, matrix }), sap: () => sap(parts(), table), modularity: () => modularity(parts()),
      distance_correlation: () => apart.distance_correlation(rows, seed),
      linearity_ratio: () => apart.linearity_ratio(rows), axis_alignment_ratio: () => apart.axis_alignment_ratio(rows),
    }).forEach(([name, of]) => {
      try {
        const values = of(), each = new Map(values.factors);
        [found[name], headlines[name]] = [joined(values), Object.values(values.own)[0]];
        if (each.size) byFactor[name] = table.names.map(factor => each.get(factor));
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        leftOut[name] = error.message;
      }
    });
    return { scores: found, headlines, byFactor, leftOut, matrix };
  };
  const evaluate = (table, seed = 0) => {
    const shuffledRows = permutation(table.factors[0].length, seed), shuffled = { ...table, latents: pick(table.latents, shuffledRows) };
    const { scores: found, headlines, byFactor, leftOut, matrix } = scores(table, seed), chance = scores(shuffled, seed);
    return {
      n: table.factors[0].length, names: table.names, levels: table.factors.map(column => new Set(column).size),
      constant: settled(table).flatMap((column, j) => (varies(column) ? [] : [`z${j}`])),
      scores: found, headlines, byFactor, leftOut, matrix,
      shuffled: chance.scores, shuffledHeadlines: chance.headlines, shuffledByFactor: chance.byFactor,
    };
  };
  return { evaluate, permutation, twister };
};
