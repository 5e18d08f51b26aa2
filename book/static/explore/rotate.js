// Chapter 08: turn the code of a trained VAE, and its decoder with it. What notices?
(() => {
  const { maths: { sum, mean, range }, network, map } = globalThis.Explore;
  const PLACES = 8, SIDE = 8, BINS = 20, REACH = 4, KNOTS = 80;  // the score's bins; a grid of latents for the likelihood

  const turned = ([x, y], degrees) => {
    const [cos, sin] = [Math.cos, Math.sin].map(of => of(degrees * Math.PI / 180));
    return [cos * x - sin * y, sin * x + cos * y];
  };
  // The second model: its code is the first one's, turned, and its decoder turns it back.
  const decode = (model, degrees) => z => model.decode(turned(z, -degrees));
  const codes = (model, degrees) => map.codes(model, SIDE, 0).map(({ mean: at }) => turned(at, degrees));

  // log p(x) in nats, averaged over the 64 pictures: ∫ p(x|z) p(z) dz as a sum over a grid, which is not turned along.
  // It takes a while: after each line of the grid there is room for other things.
  function* summing(model, degrees) {
    const draw = decode(model, degrees), step = 2 * REACH / KNOTS, line = range(KNOTS + 1, n => n * step - REACH);
    const white = range(PLACES ** 2, n => map.picture(n, SIDE, 0).flatMap((value, pixel) => (value ? [pixel] : [])));
    const [most, total] = [white.map(() => -Infinity), white.map(() => 0)];
    for (const x of line) {
      for (const y of line) {
        const square = x ** 2 + y ** 2;
        if (square > REACH ** 2) continue;
        const logits = draw([x, y]);
        let base = 2 * Math.log(step) - Math.log(2 * Math.PI) - square / 2;
        for (let pixel = 0; pixel < logits.length; pixel += 1) base -= network.softplus(logits[pixel]);
        for (let n = 0; n < white.length; n += 1) {
          let value = base;
          for (const pixel of white[n]) value += logits[pixel];
          if (value > most[n]) [total[n], most[n]] = [total[n] * Math.exp(most[n] - value), value];
          total[n] += Math.exp(value - most[n]);
        }
      }
      yield;
    }
    return mean(most.map((value, n) => value + Math.log(total[n])));
  }
  const evidence = (model, degrees) => {
    const lines = summing(model, degrees);
    let line = lines.next();
    while (!line.done) line = lines.next();
    return line.value;
  };

  // Column and row of each place, and two scores that are told them, over all 64 pictures.
  const factors = range(PLACES ** 2, n => [Math.floor(n / PLACES), n % PLACES]);
  const entropy = values => {
    const counts = new Map();
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
    return -sum([...counts.values()].map(count => count / values.length * Math.log(count / values.length)));
  };
  const mig = all => {
    const binned = [0, 1].map(j => {
      const values = all.map(code => code[j]), low = Math.min(...values), width = Math.max(...values) - low;
      return values.map(value => Math.min(BINS - 1, Math.floor((value - low) / width * BINS)));
    });
    return mean([0, 1].map(k => {
      const factor = factors.map(place => place[k]);
      const known = binned.map(code => entropy(code) + entropy(factor) - entropy(code.map((bin, n) => BINS * factor[n] + bin)));
      return Math.abs(known[0] - known[1]) / entropy(factor);
    }));
  };
  // The axis-alignment ratio: of what moves when one factor moves, how much moves along one latent; 0 to 1.
  const alignment = all => {
    const ratio = k => mean(range(PLACES, rest => {
      const way = range(PLACES, i => all[k ? PLACES * rest + i : PLACES * i + rest]);
      const spread = [0, 1].map(j => {
        const middle = mean(way.map(code => code[j]));
        return sum(way.map(code => (code[j] - middle) ** 2));
      });
      return 2 * Math.max(...spread) / sum(spread) - 1;
    }));
    return Math.sqrt(ratio(0) * ratio(1));
  };

  globalThis.Explore.rotate = { turned, codes, evidence, mig, alignment };
  globalThis.Explore.define('rotate', place => {
    const { Panel, shape, element, paint } = globalThis.Explore;
    const SCALE = 16, SIZE = 16, model = network.model('square'), known = new Map();
    const panel = new Panel(place, 'Turn a code', draw);
    const angle = panel.range('Turned by', { min: 0, max: 90, step: 5, value: 0, format: value => `${value}°` });
    const scene = panel.picture('The codes of the 64 pictures, neighbours joined: blue where the row changes, orange where the '
      + 'column does. Drag z.', 100, 100, 'small');
    const ways = ['line', 'way'].map(name => shape('path', { class: name }));
    scene.svg.append(shape('path', { d: 'M0 50H100M50 0V100', class: 'grid' }), ...ways);
    const decoded = panel.picture('What the decoder draws at z.', SIZE, SIZE, 'small');
    const canvas = element('canvas', { width: SIZE, height: SIZE, 'aria-hidden': 'true' });
    decoded.stage.prepend(canvas);
    let z = [1, 0];
    const handle = panel.handle(scene, 'z', { step: 2, kind: 'small', move(x, y) { z = [(x - 50) / SCALE, (50 - y) / SCALE]; } });
    const to = code => [50 + SCALE * code[0], 50 - SCALE * code[1]], words = value => value.toFixed(2).replace('-', '−');
    const judged = degrees => {  // once for each angle
      if (!known.has(degrees)) {
        const all = codes(model, degrees);
        known.set(degrees, { all, mig: mig(all), alignment: alignment(all) });
      }
      return known.get(degrees);
    };
    let timer, summed;
    const start = degrees => {  // the sum, a sixtieth of a second at a time
      const lines = summing(model, degrees);
      const go = () => {
        const end = performance.now() + 16;
        let line;
        do line = lines.next(); while (!line.done && performance.now() < end);
        if (!line.done) timer = setTimeout(go);
        else {
          judged(degrees).evidence = line.value;
          panel.change();
        }
      };
      clearTimeout(timer);
      [summed, timer] = [degrees, setTimeout(go)];
    };

    function draw() {
      const degrees = angle.value, found = judged(degrees), logits = decode(model, degrees)(z);
      ways.forEach((way, along) => way.setAttribute('d', map.lines(found.all, along, to)));
      handle(...to(z), z.map(words).join(' and '));
      paint(canvas, (x, y) => network.sigmoid(logits[SIZE * y + x]));
      if (found.evidence === undefined && summed !== degrees) start(degrees);
      const share = Array.from(logits, network.sigmoid), total = sum(share);
      const middle = [pixel => pixel % SIZE, pixel => Math.floor(pixel / SIZE)].map(of =>
        sum(share.map((value, pixel) => value * of(pixel))) / total - (SIDE - 1) / 2);
      const known = found.evidence === undefined ? 'being summed' : `${words(found.evidence)} nats a picture`;
      return `Turned by ${degrees}°: log p(x) is ${known}, the MIG ${words(found.mig)}, the axis `
        + `alignment ${words(found.alignment)}. At z = (${z.map(words).join(', ')}) the decoder draws a square at about column `
        + `${words(middle[0])}, row ${words(middle[1])}.`;
    }
    return panel;
  });
})();
