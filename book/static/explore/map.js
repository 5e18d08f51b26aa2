// Chapter 02: walk through the latents of an auto-encoder and of a VAE. Where does the decoder draw a square?
(() => {
  const { maths: { sum, range, uniforms, normals }, network } = globalThis.Explore;
  const PLACES = 8, SIDE = 4, SIZE = 16, START = 2;  // a square of 4 pixels, from pixel 2 on, one pixel a place

  // The picture with the square at a place, pixels 0 or 1, rows before columns. Place n is column n / 8, row n % 8.
  const picture = (n, side = SIDE, start = START) => {
    const [left, top] = [start + Math.floor(n / PLACES), start + n % PLACES];
    return range(SIZE ** 2, pixel => {
      const [x, y] = [pixel % SIZE - left, Math.floor(pixel / SIZE) - top];
      return Number(x >= 0 && y >= 0 && x < side && y < side);
    });
  };
  const codes = (model, side, start) => range(PLACES ** 2, n => model.encode(picture(n, side, start)));
  // The decoded picture at z, and what can be said of it: how much white, and how unsure its pixels are, in nats.
  const look = (model, z) => {
    const logits = model.decode(z), pixels = Array.from(logits, network.sigmoid);
    const doubt = sum(Array.from(logits, (logit, n) => network.softplus(logit) - pixels[n] * logit));
    return { pixels, white: sum(pixels), doubt };
  };
  const nearest = (all, z) => {
    const apart = all.map(({ mean }) => Math.hypot(mean[0] - z[0], mean[1] - z[1])), least = Math.min(...apart);
    return { place: apart.indexOf(least), apart: least };
  };
  // Lines that join the codes of neighbouring places, along one factor; `to` leads from a code into the picture.
  const lines = (means, along, to) => range(PLACES, i => range(PLACES, j => {
    const [x, y] = to(means[along ? PLACES * j + i : PLACES * i + j]);
    return `${j ? 'L' : 'M'}${x.toFixed(2)} ${y.toFixed(2)}`;
  }).join('')).join('');

  globalThis.Explore.map = { picture, codes, look, nearest, lines, lookIn: (name, z) => look(network.model(name), z) };
  globalThis.Explore.define('map', place => {
    const { Panel, shape, element, paint } = globalThis.Explore;
    const all = Object.fromEntries(['vae', 'autoencoder'].map(name => [name, codes(network.model(name))]));
    const reach = name => (name === 'vae' ? 3.2 : 1.1 * Math.max(...all[name].flatMap(({ mean }) => mean.map(Math.abs))));
    const at = { vae: [0, 0], autoencoder: [0, 0] }, normal = normals(uniforms(4));
    const panel = new Panel(place, 'A map with a decoder', draw);
    const which = panel.radios('Model', { autoencoder: 'auto-encoder', vae: 'VAE' }, 'vae');
    panel.button('Draw a code from the prior', () => { at[which.value] = [normal(), normal()]; });
    const scene = panel.picture('The codes of all 64 pictures, neighbours joined. Ring: inside it lie 95 of 100 codes drawn '
      + 'from the prior.', 100, 100, 'small');
    const ring = shape('circle', { cx: 50, cy: 50, class: 'band' }), ways = ['line', 'way'].map(name => shape('path', { class: name }));
    scene.svg.append(ring, ...ways);
    const decoded = panel.picture('What the decoder draws there.', SIZE, SIZE, 'small');
    const canvas = element('canvas', { width: SIZE, height: SIZE, 'aria-hidden': 'true' });
    decoded.stage.prepend(canvas);
    const handle = panel.handle(scene, 'z', { step: 2, kind: 'small', move(x, y) {
      const scale = reach(which.value) / 50;
      at[which.value] = [(x - 50) * scale, (50 - y) * scale];
    } });
    scene.stage.addEventListener('pointerdown', event => {  // a press anywhere moves z there
      if (event.target.closest('.handle')) return;
      const box = scene.stage.getBoundingClientRect(), scale = 2 * reach(which.value);
      at[which.value] = [((event.clientX - box.left) / box.width - .5) * scale, (.5 - (event.clientY - box.top) / box.height) * scale];
      panel.change();
    });
    const round = value => value.toFixed(Math.abs(value) < 9.995 ? 2 : 0).replace('-', '−');

    function draw() {
      const name = which.value, means = all[name].map(({ mean }) => mean), scale = 50 / reach(name), z = at[name];
      const to = code => [50 + scale * code[0], 50 - scale * code[1]];
      ring.setAttribute('r', scale * Math.sqrt(2 * Math.log(20)));
      ways.forEach((way, along) => way.setAttribute('d', lines(means, along, to)));
      handle(...to(z), `${round(z[0])} and ${round(z[1])}`);
      const { pixels, white, doubt } = look(network.model(name), z), { place: near, apart } = nearest(all[name], z);
      paint(canvas, (x, y) => pixels[SIZE * y + x]);
      const outside = means.filter(code => Math.hypot(...code) > Math.sqrt(2 * Math.log(20))).length;
      return `At z = (${round(z[0])}, ${round(z[1])}) the decoder draws ${white.toFixed(1)} pixels of white (a square has 16), and its `
        + `pixels are unsure by ${doubt.toFixed(1)} nats. The nearest code is that of column ${Math.floor(near / PLACES)}, row `
        + `${near % PLACES}, ${round(apart)} away. ${outside} of the 64 codes lie outside the ring.`;
    }
    return panel;
  });
})();
