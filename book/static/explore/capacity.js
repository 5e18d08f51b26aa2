// Chapter 03: twelve small VAEs, four strengths and three seeds. What does β fix, and what does it leave to chance?
(() => {
  const { maths: { sum, mean, range, linear }, network } = globalThis.Explore;
  const STRENGTHS = [1, 4, 16, 48], SEEDS = [0, 1, 2], SIZE = 12, LATENTS = 6, USED = .1;  // nats
  const NAMES = ['column', 'row', 'side'];

  // The chapter's 180 pictures: column and row of 6, sides of 2 to 6 pixels.
  const places = range(180, n => [Math.floor(n / 30), Math.floor(n / 5) % 6, n % 5]);
  const picture = ([column, row, shape]) => range(SIZE ** 2, pixel => {
    const side = shape + 2, [x, y] = [pixel % SIZE + .5, Math.floor(pixel / SIZE) + .5];
    const [left, top] = [column, row].map(at => 3.5 + at - side / 2);
    return Number(x > left && x < left + side && y > top && y < top + side);
  });
  const pictures = places.map(picture), average = range(SIZE ** 2, pixel => mean(pictures.map(each => each[pixel])));
  const squares = sum(pictures.flatMap(each => each.map((value, pixel) => (value - average[pixel]) ** 2)));

  // What a model does with all pictures: nats of each latent, the share of variance that is left after decoding the mean
  // code, and how closely each latent follows each factor (Pearson's correlation, without its sign).
  const judge = model => {
    const posteriors = pictures.map(each => model.encode(each));
    const nats = range(LATENTS, j => mean(posteriors.map(({ mean: at, logVariance }) =>
      .5 * (at[j] ** 2 + Math.exp(logVariance[j]) - 1 - logVariance[j]))));
    const [offset, scale] = [model.mean[0], model.std[0]];
    const error = sum(pictures.map((each, n) => {
      const back = model.decode(posteriors[n].mean);
      return sum(each.map((value, pixel) => (value - offset - scale * back[pixel]) ** 2));
    }));
    const follows = range(LATENTS, j => range(3, k =>
      Math.abs(linear(posteriors.map(({ mean: at }) => at[j]), places.map(place => place[k])))));
    return { nats, left: error / squares, follows };
  };

  globalThis.Explore.capacity = { picture, judge };
  globalThis.Explore.define('capacity', place => {
    const { Panel, shape, set, element, paint } = globalThis.Explore;
    const panel = new Panel(place, 'Twelve networks', draw), known = {};
    const beta = panel.range('β', { min: 0, max: 3, value: 1, format: value => String(STRENGTHS[value]) });
    const rank = panel.range('Latent, dearest first', { min: 1, max: LATENTS, value: 1 });
    const value = panel.range('Its value', { min: -2.5, max: 2.5, step: .25, value: 0, format: number => number.toFixed(2).replace('-', '−') });
    const drawn = SEEDS.map(seed => {
      const scene = panel.picture(`Seed ${seed}: that code, decoded; below, what each latent costs.`, 60, 90, 'third');
      const canvas = element('canvas', { width: SIZE, height: SIZE, 'aria-hidden': 'true', class: 'above' });
      scene.stage.append(canvas);
      const bars = range(LATENTS, j => shape('rect', { x: 2 + 9.6 * j, width: 8 }));
      scene.svg.append(shape('path', { d: 'M0 89.8H60', class: 'axis' }), ...bars);
      return { canvas, bars };
    });
    const judged = name => {
      if (!known[name]) {
        const found = judge(network.model(name));
        known[name] = { ...found, order: range(LATENTS).sort((i, j) => found.nats[j] - found.nats[i]) };
      }
      return known[name];
    };

    function draw() {
      const names = SEEDS.map(seed => `capacity-${STRENGTHS[beta.value]}-${seed}`), next = names.find(name => !known[name]);
      if (next) {  // one network at a time, so that the page stays free
        setTimeout(() => { judged(next); panel.change(); });
        return panel.words.textContent || 'The pictures are being encoded.';
      }
      const all = names.map(judged);
      names.forEach((name, n) => {
        const model = network.model(name), { order, nats } = all[n], { canvas, bars } = drawn[n];
        const code = model.encode(picture([2, 3, 2])).mean;
        code[order[rank.value - 1]] = value.value;
        const raw = model.decode(code);
        paint(canvas, (x, y) => model.mean[0] + model.std[0] * raw[SIZE * y + x]);
        bars.forEach((bar, j) => {
          const tall = Math.min(26, 6 * nats[order[j]]);
          set(bar, { y: 90 - tall, height: tall, class: j === rank.value - 1 ? 'bar first' : 'bar' });
        });
      });
      const list = of => all.map(of).join(', ');
      const follows = all.map(({ order, nats, follows: each }) => {
        const latent = order[rank.value - 1], row = each[latent], best = row.indexOf(Math.max(...row));
        return nats[latent] > USED ? `the ${NAMES[best]} (${row[best].toFixed(2)})` : `none (it costs ${nats[latent].toFixed(2)} nats)`;
      });
      return `β = ${STRENGTHS[beta.value]}. Seeds 0, 1 and 2 send ${list(({ nats }) => sum(nats).toFixed(2))} nats in `
        + `${list(({ nats }) => nats.filter(each => each > USED).length)} latents and leave `
        + `${list(({ left }) => (100 * left).toFixed(0))} % of the variance. Of column, row and side, latent ${rank.value} follows most `
        + `${follows.join(', ')}: correlations, without sign.`;
    }
    return panel;
  });
})();
