// Chapter 15: train a VAE in the page, on the 64 pictures of a square at 16 × 16 pixels. When does its map come into order?
(() => {
  const { maths: { range, rank, uniforms, normals } } = globalThis.Explore;
  const PLACES = 8, SIZE = 16, MOST = 1000;  // steps, then it has ended

  // The square's place in every picture as in XYSquares: the largest spacing that fits, and pixels 0 or 1, (64, 256).
  const room = side => Math.floor((SIZE - side) / (PLACES - 1));
  const pictures = (side, spacing) => range(PLACES ** 2, n => {
    const start = Math.floor((SIZE - side - (PLACES - 1) * spacing) / 2);
    const [left, top] = [start + spacing * Math.floor(n / PLACES), start + spacing * (n % PLACES)];
    return range(SIZE ** 2, pixel => {
      const [x, y] = [pixel % SIZE - left, Math.floor(pixel / SIZE) - top];
      return Number(x >= 0 && y >= 0 && x < side && y < side);
    });
  });

  // A VAE of fully connected layers, one hidden one on each side, with Adam and all pictures in every step; standardised
  // inputs, cross-entropy, sums over pixels and latents. A worker runs the source of this function: it sees nothing else.
  const trainer = (draws, { images, hidden = 64, latents = 2, beta, seed = 0, rate = .004, weights }) => {
    const count = images.length, pixels = images[0].length;
    const target = Float64Array.from(images.flat()), white = target.reduce((total, value) => total + value) / target.length;
    const spread = Math.sqrt(target.reduce((total, value) => total + (value - white) ** 2, 0) / (count * (pixels - 1)));
    const inputs = target.map(value => (value - white) / spread);
    const uniform = draws.uniforms(seed), normal = draws.normals(draws.uniforms(seed + 1e6));
    const sizes = [[pixels, hidden], [hidden, 2 * latents], [latents, hidden], [hidden, pixels]];
    const layers = sizes.map(([wide, narrow], n) => {  // PyTorch's first weights: uniform up to 1 / √(inputs)
      const fresh = size => Float64Array.from({ length: size }, () => (2 * uniform() - 1) / Math.sqrt(wide));
      const [weight, bias] = weights ? weights[n].map(each => Float64Array.from(each)) : [fresh(wide * narrow), fresh(narrow)];
      return [weight, bias].map(values => ({ values, slope: new Float64Array(values.length),
        first: new Float64Array(values.length), second: new Float64Array(values.length) }));
    });

    const through = (x, n) => {  // a dense layer, of all pictures
      const [wide, narrow] = sizes[n], [{ values: weight }, { values: bias }] = layers[n], found = new Float64Array(count * narrow);
      for (let row = 0; row < count; row += 1)
        for (let out = 0; out < narrow; out += 1) {
          let total = bias[out];
          for (let i = 0, a = row * wide, b = out * wide; i < wide; i += 1) total += x[a + i] * weight[b + i];
          found[row * narrow + out] = total;
        }
      return found;
    };
    const back = (x, slope, n, further = true) => {  // its slopes, and those of what came in
      const [wide, narrow] = sizes[n], [weight, bias] = layers[n], found = new Float64Array(further ? x.length : 0);
      weight.slope.fill(0);
      bias.slope.fill(0);
      for (let row = 0; row < count; row += 1)
        for (let out = 0; out < narrow; out += 1) {
          const by = slope[row * narrow + out];
          if (!by) continue;
          bias.slope[out] += by;
          for (let i = 0, a = row * wide, b = out * wide; i < wide; i += 1) {
            weight.slope[b + i] += by * x[a + i];
            if (further) found[a + i] += by * weight.values[b + i];
          }
        }
      return found;
    };
    const relu = x => x.map(value => Math.max(value, 0));
    const gate = (slope, x) => slope.map((value, i) => (x[i] > 0 ? value : 0));
    const parts = x => [0, 1].map(half => Float64Array.from({ length: count * latents },
      (_, i) => x[2 * latents * Math.floor(i / latents) + half * latents + i % latents]));

    // The loss of one draw of the noise, (count · latents), and the slopes of all weights, which are kept.
    const slopes = noise => {
      const h = relu(through(inputs, 0)), [mean, logVariance] = parts(through(h, 1));
      const z = mean.map((value, i) => value + Math.exp(logVariance[i] / 2) * noise[i]);
      const g = relu(through(z, 2)), logits = through(g, 3), share = logits.map(value => 1 / (1 + Math.exp(-value)));
      let [reconstruction, kl] = [0, 0];
      logits.forEach((logit, i) => {
        reconstruction += Math.max(logit, 0) + Math.log1p(Math.exp(-Math.abs(logit))) - target[i] * logit;
      });
      mean.forEach((value, i) => { kl += .5 * (value ** 2 + Math.exp(logVariance[i]) - 1 - logVariance[i]); });
      const toG = back(g, share.map((value, i) => (value - target[i]) / count), 3), toZ = back(z, gate(toG, g), 2);
      const toCode = new Float64Array(2 * count * latents);
      toZ.forEach((by, i) => {
        const place = 2 * latents * Math.floor(i / latents) + i % latents, width = Math.exp(logVariance[i] / 2);
        toCode[place] = by + beta * mean[i] / count;
        toCode[place + latents] = by * noise[i] * width / 2 + beta * (width ** 2 - 1) / 2 / count;
      });
      back(inputs, gate(back(h, toCode, 1), h), 0, false);
      return { reconstruction: reconstruction / count, kl: kl / count };
    };
    let steps = 0;
    const step = (noise = Float64Array.from({ length: count * latents }, normal)) => {  // of Adam
      const found = slopes(noise);
      steps += 1;
      const [one, two] = [.9, .999].map(decay => 1 - decay ** steps);
      for (const { values, slope, first, second } of layers.flat())
        for (let i = 0; i < values.length; i += 1) {
          first[i] += .1 * (slope[i] - first[i]);
          second[i] += .001 * (slope[i] ** 2 - second[i]);
          values[i] -= rate * first[i] / one / (Math.sqrt(second[i] / two) + 1e-8);
        }
      return { ...found, steps };
    };
    const codes = () => {
      const [mean] = parts(through(relu(through(inputs, 0)), 1));
      return images.map((_, n) => [...mean.slice(n * latents, (n + 1) * latents)]);
    };
    return { step, slopes, codes, layers };
  };

  // Do codes lie apart as their places do? Spearman's correlation over all pairs of two pictures, of the distance of the
  // codes and the steps from place to place, across and down.
  const order = means => {
    const [steps, apart] = [[], []];
    for (let i = 0; i < means.length; i += 1)
      for (let j = 0; j < i; j += 1) {
        steps.push(Math.abs(Math.floor(i / PLACES) - Math.floor(j / PLACES)) + Math.abs(i % PLACES - j % PLACES));
        apart.push(Math.hypot(...means[i].map((value, k) => value - means[j][k])));
      }
    return rank(steps, apart);
  };

  // What a worker runs: it is told what to train, and then, again and again, for how many milliseconds. Functions of
  // maths and the trainer travel as their sources, since a page read from a folder may not load a worker's file.
  const work = (draws, build) => {
    let model;
    globalThis.onmessage = ({ data: { given, until, milliseconds } }) => {
      if (given) model = build(draws, given);
      const end = performance.now() + milliseconds;
      let found = { steps: 0 };
      do found = model.step(); while (found.steps < until && performance.now() < end);
      postMessage({ ...found, means: model.codes() });
    };
  };
  const source = `const uniforms = ${uniforms}, normals = ${normals};(${work})({ uniforms, normals }, ${trainer});`;

  globalThis.Explore.train = { room, pictures, trainer, order, source, MOST };
  globalThis.Explore.define('train', place => {
    const { Panel, shape, element, paint, still, map } = globalThis.Explore;
    const panel = new Panel(place, 'Train a VAE', draw);
    const side = panel.range('Size', { min: 1, max: 9, value: 4, format: value => `${value} px` });
    const spacing = panel.range('Spacing', { min: 1, max: 2, value: 1, format: value => `${value} px` });
    const beta = panel.range('β', { min: .5, max: 8, step: .5, value: 2, format: value => value.toFixed(1) });
    const seed = panel.range('Seed', { min: 0, max: 9, value: 0 });
    const button = panel.button('Start', () => (running ? pause() : begin()));
    panel.button('Reset', reset);
    const scene = panel.picture('The codes of the 64 pictures as they are now, neighbours joined; shaded: where 95 of 100 '
      + 'codes of the prior lie.', 100, 100);
    const SCALE = 14, to = code => [50 + SCALE * code[0], 50 - SCALE * code[1]];
    const ways = ['line', 'way'].map(name => shape('path', { class: name }));
    scene.svg.append(shape('circle', { cx: 50, cy: 50, r: SCALE * Math.sqrt(2 * Math.log(20)), class: 'band' }), ...ways);
    const pair = panel.picture('Two neighbours in one picture: grey where one is white, white where both are.', SIZE, SIZE, 'small');
    const canvas = element('canvas', { width: SIZE, height: SIZE, 'aria-hidden': 'true' });
    pair.stage.prepend(canvas);
    const curve = panel.picture('The loss, step by step, on a logarithmic scale from 1 to 200 nats.', 100, 100, 'small');
    const loss = shape('path', { class: 'line' });
    curve.svg.append(shape('path', { d: 'M0 99.6H100M.4 100V0', class: 'axis' }), loss);
    let worker, running = false, waiting = false, last, losses = [], chosen = '';

    const settings = () => ({ images: pictures(side.value, spacing.value), beta: beta.value, seed: seed.value });
    function reset() {
      worker?.terminate();
      [worker, waiting, last, losses] = [undefined, false, undefined, []];
      pause();
    }
    function pause() {
      [running, button.textContent] = [false, !last ? 'Start' : last.steps < MOST ? 'Go on' : 'Again'];
      panel.words.setAttribute('aria-live', 'polite');
    }
    function begin() {
      if (last?.steps >= MOST) reset();
      [running, button.textContent] = [true, 'Pause'];
      panel.words.setAttribute('aria-live', 'off');  // it would be read out without end
      if (!waiting) ask();
    }
    // One round: a tenth of a second of training, or where a reader wants less motion, three seconds.
    function ask() {
      const given = worker ? undefined : settings();
      if (!worker) {
        const address = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
        worker = new Worker(address);
        URL.revokeObjectURL(address);
        worker.onmessage = ({ data }) => {
          [waiting, last] = [false, data];
          losses.push([data.steps, data.reconstruction + beta.value * data.kl]);
          if (running && data.steps < MOST) ask();
          else pause();
          panel.change();
        };
      }
      waiting = true;
      worker.postMessage({ given, until: MOST, milliseconds: still() ? 3000 : 100 });
    }

    function draw() {
      spacing.limit(room(side.value));
      const [a, s] = [side.value, spacing.value], now = [a, s, beta.value, seed.value].join(' ');
      if (now !== chosen) {  // other settings: a new network
        chosen = now;
        reset();
        const all = pictures(a, s);
        paint(canvas, (x, y) => .5 * (all[28][SIZE * y + x] + all[36][SIZE * y + x]));
      }
      const means = last?.means ?? trainer({ uniforms, normals }, settings()).codes();
      ways.forEach((way, along) => way.setAttribute('d', map.lines(means, along, to)));
      loss.setAttribute('d', losses.map(([step, value], n) =>
        `${n ? 'L' : 'M'}${100 * step / MOST} ${Math.max(0, Math.min(100, 100 - 100 * Math.log(value) / Math.log(200)))}`).join(''));
      const shared = Math.max(0, a - s) / a;
      return `Squares of ${a} px, ${s} px apart: neighbours share ${(100 * shared).toFixed(0)} % of their white. `
        + (last ? `Step ${last.steps} of ${MOST}: reconstruction ${last.reconstruction.toFixed(2)} nats, KL ${last.kl.toFixed(2)}. `
          : 'Not trained yet. ')
        + `The rank correlation of places and codes, over all pairs, is ${order(means).toFixed(2).replace('-', '−')}.`;
    }
    return panel;
  });
})();
