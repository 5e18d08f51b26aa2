// Chapter 02: place four posteriors on a line. What does the code cost, whom is a sample mistaken for, and what does it matter?
(() => {
  const { maths: { sum, mean, range } } = globalThis.Explore;
  const COUNT = 4, SIDE = 4, COLUMNS = 16, KNOTS = 1500, STEPS = 60;  // pictures of a square of 4 × 4 pixels
  const START = { means: [-1.2, -.4, .4, 1.2], stds: [.5, .5, .5, .5] };

  const white = (picture, column, spacing) => column >= spacing * picture && column < spacing * picture + SIDE;
  const price = (at, std) => .5 * (at ** 2 + std ** 2 - 1 - Math.log(std ** 2));  // KL to the prior, in nats
  const density = (z, at, std) => Math.exp(-.5 * ((z - at) / std) ** 2) / (Math.sqrt(2 * Math.PI) * std);
  const log = share => (share > 0 ? Math.log(share) : 0);

  // What the best decoder draws at z: the mixture of the pictures by how probable z is under each, column by column.
  const drawn = (z, means, stds, spacing) => {
    const all = means.map((at, i) => density(z, at, stds[i])), total = sum(all) || 1;
    return range(COLUMNS, column => sum(all.map((value, i) => (white(i, column, spacing) ? value / total : 0))));
  };

  // The negative ELBO's parts, averaged over the pictures, in nats, under the best decoder, and the share of samples that
  // are more probable under another picture's posterior: sums over a fine grid.
  const judge = ({ means, stds, spacing, beta }) => {
    const low = Math.min(...means.map((at, i) => at - 7 * stds[i])), high = Math.max(...means.map((at, i) => at + 7 * stds[i]));
    const step = (high - low) / KNOTS;
    let [reconstruction, right] = [0, 0];
    for (let knot = 0; knot <= KNOTS; knot += 1) {
      const z = low + step * knot, all = means.map((at, i) => density(z, at, stds[i])), total = sum(all);
      if (!total) continue;
      right += Math.max(...all);
      for (let column = 0; column < COLUMNS; column += 1) {
        let share = 0;
        for (let i = 0; i < COUNT; i += 1) if (white(i, column, spacing)) share += all[i] / total;
        reconstruction -= SIDE * total * (share * log(share) + (1 - share) * log(1 - share));
      }
    }
    const prices = means.map((at, i) => price(at, stds[i])), kl = mean(prices);
    reconstruction *= step / COUNT;
    const mistaken = Math.max(0, 1 - right * step / COUNT);
    return { prices, kl, reconstruction, mistaken, elbo: -reconstruction - kl, loss: reconstruction + beta * kl };
  };

  // A step down the loss; slopes are differences of nearby points. Widths move by their logarithms.
  const descend = given => {
    const at = [...given.means, ...given.stds.map(Math.log)];
    const loss = place => judge({ ...given, means: place.slice(0, COUNT), stds: place.slice(COUNT).map(Math.exp) }).loss;
    const slopes = at.map((_, j) => {
      const [up, down] = [1e-4, -1e-4].map(by => loss(at.map((value, i) => value + (i === j ? by : 0))));
      return (up - down) / 2e-4;
    });
    const next = at.map((value, j) => value - Math.max(-.1, Math.min(.1, .25 * slopes[j])));
    return { means: next.slice(0, COUNT), stds: next.slice(COUNT).map(Math.exp) };
  };

  const exchanged = ({ means, stds }) => {
    const swap = values => [0, 3, 2, 1].map(i => values[i]);
    return { means: swap(means), stds: swap(stds) };
  };
  // What is left of a start after the steps of a descent.
  const descended = (start, spacing, beta, steps = STEPS) =>
    range(steps).reduce(now => descend({ ...now, spacing, beta }), start);

  globalThis.Explore.posteriors = { START, STEPS, drawn, judge, descend, descended, exchanged };
  globalThis.Explore.define('posteriors', place => {
    const { Panel, shape, element, paint, still } = globalThis.Explore;
    const WIDE = 120, TALL = 60, REACH = 3, [LEAST, MOST] = [.1, 2].map(Math.log);
    const to = { x: z => WIDE * (z + REACH) / (2 * REACH), y: std => TALL * (MOST - Math.log(std)) / (MOST - LEAST) };
    const within = (value, least, most) => Math.max(least, Math.min(most, value));
    const points = structuredClone(START);
    const panel = new Panel(place, 'Four posteriors on a line', draw);
    const spacing = panel.radios('Squares', { 1: 'one pixel apart', 4: 'sharing none' }, '1');
    const beta = panel.range('β', { min: 0, max: 10, step: .5, value: 1, format: value => value.toFixed(1) });
    const keep = ({ means, stds }) => {
      points.means = means.map(value => within(value, -REACH, REACH));
      points.stds = stds.map(value => within(value, Math.exp(LEAST), Math.exp(MOST)));
    };
    const given = () => ({ ...points, spacing: Number(spacing.value), beta: beta.value });
    let descending;
    const stop = () => clearTimeout(descending);
    panel.button('Exchange 1 and 3', () => { stop(); keep(exchanged(points)); });
    panel.button('Descend', () => {  // a step at a time, so that the page stays free
      const go = left => {
        keep(descend(given()));
        if (!still() || left === 1) panel.change();
        if (left > 1) descending = setTimeout(go, 10, left - 1);
      };
      stop();
      go(STEPS);
    });
    panel.button('Put back', () => { stop(); keep(structuredClone(START)); });

    const scene = panel.picture('Mean μ across, σ upwards on a logarithmic scale: place the posteriors of pictures 0 to 3. '
      + 'Lines: where one costs ½, 1, 2 and 3 nats.', WIDE, TALL);
    const contour = nats => [1, -1].map(side => {
      const ends = range(121, n => Math.exp(LEAST + (MOST - LEAST) * n / 120))
        .map(std => [2 * nats + 1 - std ** 2 + 2 * Math.log(std), std]).filter(([square]) => square >= 0);
      return ends.map(([square, std], n) => `${n ? 'L' : 'M'}${to.x(side * Math.sqrt(square))} ${to.y(std)}`).join('');
    }).join('');
    scene.svg.append(shape('path', { d: `M${WIDE / 2} 0V${TALL}M0 ${to.y(1)}H${WIDE}`, class: 'grid' }),
      shape('path', { d: [.5, 1, 2, 3].map(contour).join(''), class: 'way faint' }));
    const handles = range(COUNT, i => panel.handle(scene, `Posterior of picture ${i}`, {
      step: 2, letter: String(i),
      move(x, y) {
        stop();
        points.means[i] = Math.round(100 * (x / WIDE * 2 - 1) * REACH) / 100;
        points.stds[i] = Math.exp(MOST - y / TALL * (MOST - LEAST));
      },
    }));

    const bells = panel.picture('The four densities q(z|x); below, what the best decoder draws at each z: the columns of the '
      + 'picture from top to bottom, white where the square is.', WIDE, TALL);
    const curves = range(COUNT, () => shape('path', { class: 'line' }));
    const names = range(COUNT, i => Object.assign(shape('text', { class: 'small', 'text-anchor': 'middle' }), { textContent: i }));
    bells.svg.append(...curves, ...names);
    const canvas = element('canvas', { width: 2 * WIDE, height: COLUMNS, 'aria-hidden': 'true', class: 'below' });
    bells.stage.append(canvas);

    function draw() {
      const { means, stds } = points, now = given(), found = judge(now);
      const scale = 30 / Math.max(1, ...stds.map(std => density(0, 0, std)));
      means.forEach((at, i) => {
        handles[i](to.x(at), to.y(stds[i]), `μ ${at.toFixed(2)}, σ ${stds[i].toFixed(2)}`);
        const height = z => 38 - scale * density(z, at, stds[i]);
        curves[i].setAttribute('d', range(241, n => {
          const z = at + stds[i] * (n - 120) / 30;
          return `${n ? 'L' : 'M'}${to.x(z).toFixed(2)} ${height(z).toFixed(2)}`;
        }).join(''));
        names[i].setAttribute('x', to.x(at));
        names[i].setAttribute('y', height(at) - 1);
      });
      const lines = range(2 * WIDE, n => drawn((n / WIDE - 1) * REACH, means, stds, now.spacing));
      paint(canvas, (x, y) => lines[x][y]);
      return `The codes cost ${found.prices.map(value => value.toFixed(2)).join(', ')} nats, on average ${found.kl.toFixed(3)}. `
        + `The best decoder loses ${found.reconstruction.toFixed(3)}: the ELBO is ${found.elbo.toFixed(3).replace('-', '−')} nats, `
        + `the loss with β = ${beta.value.toFixed(1)} is ${found.loss.toFixed(3)}. `
        + `Of 100 samples ${(100 * found.mistaken).toFixed(1)} are mistaken for another picture’s.`;
    }
    return panel;
  });
})();
