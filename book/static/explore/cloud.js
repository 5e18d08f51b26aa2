// Chapter 05: turn a cloud of codes. What is its total correlation, and what do a score and a batch say of it?
(() => {
  const { maths: { sum, mean, range, uniforms, normals, shuffled } } = globalThis.Explore;
  const COUNT = 400, BATCH = 64;

  // Two independent sources with deviations √ratio and 1/√ratio, `count` of each: the same points for every angle.
  const sources = (law, ratio, count = COUNT, seed = 1) => {
    const draw = uniforms(seed), normal = normals(draw);
    const one = law === 'gaussian' ? normal : () => Math.sqrt(12) * (draw() - .5);
    return range(count, () => [Math.sqrt(ratio) * one(), one() / Math.sqrt(ratio)]);
  };
  const turned = (points, degrees) => {
    const [cos, sin] = [Math.cos, Math.sin].map(of => of(degrees * Math.PI / 180));
    return points.map(([x, y]) => [cos * x - sin * y, sin * x + cos * y]);
  };
  // permute_dims: each latent in an order of its own.
  const permuted = (points, seed = 2) => {
    const draw = uniforms(seed), columns = [0, 1].map(j => shuffled(points.map(point => point[j]), draw));
    return columns[0].map((x, place) => [x, columns[1][place]]);
  };

  // The total correlation of the law itself, in nats. Gaussian: −½ ln(1 − ρ²). Box: a turn leaves its entropy alone, and
  // a latent is the sum of two uniform numbers of widths A ≥ B, with entropy ln A + B / 2A.
  const exact = (law, ratio, degrees) => {
    const [cos, sin] = [Math.cos, Math.sin].map(of => Math.abs(of(degrees * Math.PI / 180)));
    if (law === 'gaussian') {
      const [a, b] = [(ratio * cos) ** 2 + sin ** 2, (ratio * sin) ** 2 + cos ** 2];
      return .5 * Math.log(a * b / ratio ** 2);
    }
    const entropy = (p, q) => Math.log(Math.max(p, q)) + Math.min(p, q) / (2 * Math.max(p, q));
    return entropy(ratio * cos, sin) + entropy(ratio * sin, cos) - Math.log(ratio);
  };

  // The score: −½ ln(1 − ρ²) of the points' own correlation.
  const gaussianScore = points => {
    const middle = [0, 1].map(j => mean(points.map(point => point[j])));
    const moment = (i, j) => sum(points.map(point => (point[i] - middle[i]) * (point[j] - middle[j])));
    return -.5 * Math.log(1 - moment(0, 1) ** 2 / (moment(0, 0) * moment(1, 1)));
  };

  // Mean log q(z) − Σ log q(z_j), where q is the mixture of posteriors (means, one width), and latents[i] is a code of
  // means[i]. estimator: "mws", "mss" or "batch"; size: of the whole dataset. All of it, with its own size: "batch".
  const estimate = (latents, means, width, estimator, size) => {
    const count = means.length, rest = (1 - 1 / size) / (count - 1);
    const [own, other] = { batch: [1 / count, 1 / count], mws: [1 / size / count, 1 / size / count], mss: [1 / size, rest] }[estimator];
    const norm = 1 / (Math.sqrt(2 * Math.PI) * width), half = -.5 / width ** 2;
    return mean(latents.map(([x, y], i) => {
      let [both, first, second] = [0, 0, 0];
      for (let j = 0; j < count; j += 1) {
        const p = norm * Math.exp(half * (x - means[j][0]) ** 2), q = norm * Math.exp(half * (y - means[j][1]) ** 2);
        const weight = i === j ? own : other;
        both += weight * p * q;
        first += weight * p;
        second += weight * q;
      }
      return Math.log(both) - Math.log(first) - Math.log(second);
    }));
  };

  // A code of each posterior, with noise that stays the same.
  const codes = (means, width, seed = 3) => {
    const normal = normals(uniforms(seed));
    return means.map(([x, y]) => [x + width * normal(), y + width * normal()]);
  };
  // What is said of the codes: by all posteriors, and by each estimator from the first of them.
  const estimates = (means, width) => {
    const latents = codes(means, width), [some, theirs] = [latents, means].map(all => all.slice(0, BATCH));
    const of = name => estimate(some, theirs, width, name, means.length);
    return { all: estimate(latents, means, width, 'batch', means.length), batch: of('batch'), mss: of('mss'), mws: of('mws') };
  };

  globalThis.Explore.cloud = { sources, turned, permuted, exact, gaussianScore, estimate, codes, estimates };
  globalThis.Explore.define('cloud', place => {
    const { Panel, shape, set } = globalThis.Explore;
    const panel = new Panel(place, 'Turn a cloud', draw);
    const law = panel.radios('Cloud', { gaussian: 'Gaussian', box: 'box' }, 'gaussian');
    const angle = panel.range('Turned by', { min: 0, max: 90, value: 30, format: value => `${value}°` });
    const ratio = panel.range('Length to breadth', { min: 1, max: 4, step: .5, value: 3 });
    const width = panel.range('Width of a posterior', { min: .05, max: .5, step: .05, value: .2, format: v => v.toFixed(2) });
    const BINS = 24, REACH = 5, SCALE = 36;  // of a picture: bins of a marginal, where an axis ends, a nat's length: the longest bar
    const scene = caption => {
      const picture = panel.picture(caption, 100, 100, 'small');
      const dots = shape('path', { class: 'cloud' }), sides = [0, 1].map(() => shape('path', { class: 'margin' }));
      picture.svg.append(shape('path', { d: 'M18 82H98M18 82V2', class: 'axis' }), dots, ...sides);
      return { dots, sides };
    };
    const pictures = [scene('The codes; at the sides how each latent by itself is spread, its marginal.'),
      scene('The same codes after permute_dims: the marginals stay, who stands beside whom is chance.')];
    const bars = panel.picture('Total correlation in nats: exact, by the score, and by estimates, which may fall below 0. Bars are cut at 1.', 106, 66);
    const rows = ['exact', 'Gaussian score', 'all posteriors', 'batch', 'MSS', 'MWS'].map((name, row) => {
      const y = 3 + 11 * row;
      const label = shape('text', { x: 41, y: y + 5.4, 'text-anchor': 'end', class: 'small' });
      const value = shape('text', { y: y + 5.4, class: 'small' });
      const bar = shape('rect', { x: 43, y, height: 7, class: row < 2 ? 'bar first' : 'bar' });
      label.textContent = name;
      bars.svg.append(label, bar, value);
      return { bar, value };
    });

    const outline = (points, j) => {
      const heights = new Array(BINS).fill(0);
      for (const point of points) {
        const bin = Math.floor((point[j] + REACH) / (2 * REACH) * BINS);
        heights[Math.min(BINS - 1, Math.max(0, bin))] += 1;
      }
      const steps = heights.map((height, bin) => [18 + 80 * bin / BINS, 80 / BINS, Math.min(16, 60 * height / points.length)]);
      return steps.map(([at, wide, tall]) => (j ? `M${18 - tall} ${100 - at}h${tall}v${-wide}h${-tall}z`
        : `M${at} ${82 + tall}v${-tall}h${wide}v${tall}z`)).join('');
    };
    const show = ({ dots, sides }, points) => {
      const to = value => (40 + 40 * value / REACH).toFixed(2);
      dots.setAttribute('d', points.map(([x, y]) => `M${18 + Number(to(x))} ${82 - to(y)}h0`).join(''));
      sides.forEach((side, j) => side.setAttribute('d', outline(points, j)));
    };
    let last = '', base;

    function draw() {
      const key = `${law.value} ${ratio.value}`;
      if (key !== last) base = sources(law.value, ratio.value);
      last = key;
      const points = turned(base, angle.value);
      show(pictures[0], points);
      show(pictures[1], permuted(points));
      const truth = exact(law.value, ratio.value, angle.value), score = gaussianScore(points);
      const { all, batch, mss, mws } = estimates(points, width.value);
      [truth, score, all, batch, mss, mws].forEach((value, row) => {
        const wide = SCALE * Math.min(1, Math.max(0, value));
        set(rows[row].bar, { width: wide });
        set(rows[row].value, { x: 44.5 + wide });
        rows[row].value.textContent = value.toFixed(3).replace('-', '−');
      });
      const long = ratio.value === 1 ? 'as long as broad' : `${ratio.value} times as long as broad`;
      return `${law.value === 'gaussian' ? 'A Gaussian' : 'A box'}, ${long}, turned by ${angle.value}°: its total correlation `
        + `is ${truth.toFixed(3)} nats. The Gaussian score says ${score.toFixed(3)} from ${COUNT} codes. Estimates by the posteriors: `
        + `all ${COUNT} ${all.toFixed(3)}, a batch of ${BATCH} ${batch.toFixed(3)}, MSS ${mss.toFixed(3)}, MWS ${mws.toFixed(3)}.`;
    }
    return panel;
  });
})();
