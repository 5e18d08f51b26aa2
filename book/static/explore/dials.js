// Chapter 01: the ten dials of two machines. With how many of them is the wall painted anew, and nothing else?
(() => {
  const { maths: { sum, range }, network } = globalThis.Explore;
  const MACHINES = { A: 'shapes3d-entangled', B: 'shapes3d-disentangled' };
  const SIZE = 64, PIXELS = SIZE ** 2, DIALS = 10, PARTS = ['floor', 'wall', 'object', 'sky'];
  const WALLS = ['red', 'orange', 'lime', 'green', 'mint', 'turquoise', 'blue', 'indigo', 'violet', 'pink'];

  // Pictures are flat, channels before rows before columns, pixels in [0, 1]. A room holds its ten as the planes of
  // each channel that differ, and which three a picture has.
  const bytes = room => room.bytes ??= network.bytes(room.planes);
  const wanted = (room, wall) => Float64Array.from({ length: 3 * PIXELS }, (_, n) =>
    bytes(room)[room.uses[Math.floor(n / PIXELS)][wall] * PIXELS + n % PIXELS] / 255);
  const painted = (model, code) => model.decode(code).map((raw, n) => {
    const channel = Math.floor(n / PIXELS);
    return Math.min(Math.max(raw * model.std[channel] + model.mean[channel], 0), 1);
  });
  // Squared errors, added up over what belongs to floor, wall, object and sky.
  const missing = (picture, target, parts) => {
    const found = PARTS.map(() => 0);
    for (let n = 0; n < picture.length; n += 1) found[parts[n % PIXELS]] += (picture[n] - target[n]) ** 2;
    return found;
  };

  // An edit is what is added to the ten numbers of the room as it is. The squared error of what is then painted, by part,
  // in per cent of the error without an edit.
  const start = ({ rooms: { wall, rooms } }, name, room) => rooms[room].codes[name][wall];
  const known = {};  // what does not depend on the edit
  const judge = (explore, { name, room, wall, edit }) => {
    const model = network.model(name), { parts } = explore.rooms.rooms[room], code = start(explore, name, room), key = [name, room, wall];
    if (!known[key]) {
      const target = wanted(explore.rooms.rooms[room], wall);
      known[key] = { target, all: sum(missing(painted(model, code), target, parts)) };
    }
    const { target, all } = known[key], picture = painted(model, code.map((value, dial) => value + edit[dial]));
    return { picture, target, missing: missing(picture, target, parts).map(error => 100 * error / all) };
  };
  // What labels know: the mean code of rooms with that wall, less that of rooms with this one. And what encoding the
  // wanted picture itself gives.
  const direction = ({ rooms: { wall: now, means } }, { name, wall }) => means[name][wall].map((mean, dial) => mean - means[name][now][dial]);
  const best = (explore, { name, room, wall }) =>
    explore.rooms.rooms[room].codes[name][wall].map((value, dial) => value - start(explore, name, room)[dial]);

  const of = action => given => action(globalThis.Explore, given);
  globalThis.Explore.dials = {
    wanted: (room, wall) => wanted(globalThis.Explore.rooms.rooms[room], wall), direction: of(direction), best: of(best),
    judge: given => of(judge)(given).missing, painted: (name, code) => painted(network.model(name), code),
  };
  globalThis.Explore.define('dials', place => {
    const { Explore } = globalThis, { Panel, shape, set, element, paint, bring, near } = Explore;
    const panel = new Panel(place, 'Another wall, and nothing else', draw);
    const which = panel.radios('Machine', { A: 'A', B: 'B' }, 'A');
    const room = panel.range('Room', { min: 1, max: 3, value: 1 });
    const wall = panel.range('Wanted wall', { min: 0, max: 9, value: 8, format: value => WALLS[value] });
    const edits = Object.fromEntries(Object.values(MACHINES).map(name => [name, range(DIALS, () => 0)]));
    const now = () => ({ name: MACHINES[which.value], room: room.value - 1, wall: wall.value, edit: edits[MACHINES[which.value]] });
    const put = of => {
      if (there()) edits[now().name] = of(now());
    };
    panel.button('Put back', () => put(() => range(DIALS, () => 0)));
    panel.button('The direction', () => put(given => direction(Explore, given)));
    panel.button('At best', () => put(given => best(Explore, given)));

    const desk = panel.picture('The ten dials: where the room has them (lines), and where they stand. Drag a point, or move it by arrow keys: by a tenth, with Shift by a half.', 100, 60, 'wide');
    const at = dial => 8 + 9.45 * dial;
    // The scale reaches as far as any room has a dial, and farther where an edit was carried from another room.
    const reach = () => {
      const given = now(), code = start(Explore, given.name, given.room);
      const codes = Explore.rooms.rooms.flatMap(each => each.codes[given.name]).flat();
      return Math.ceil(Math.max(...codes.concat(code.map((value, dial) => value + given.edit[dial])).map(Math.abs)) - 1e-9);
    };
    const height = value => 28 - 26 * Math.min(Math.max(value / reach(), -1), 1);
    const ends = [6, 53].map(y => shape('text', { class: 'small', x: 0, y }));
    desk.svg.append(...ends);
    const columns = range(DIALS, dial => {
      const parts = [['rect', { class: 'bar', x: at(dial) - 1.2, width: 2.4 }], ['path', { class: 'axis' }],
        ['text', { class: 'small', x: at(dial), y: 59.5, 'text-anchor': 'middle' }]].map(each => shape(...each));
      desk.svg.append(shape('path', { class: 'grid', d: `M${at(dial)} 2V54` }), ...parts);
      return parts;
    });
    const handles = range(DIALS, dial => panel.handle(desk, `Dial ${dial}`, {
      step: () => (there() ? 2.6 / reach() : 1), kind: 'small',  // a tenth
      move(x, y) {  // by tenths from where the room has it
        if (!there()) return;
        const value = Math.min(Math.max((28 - y) / 26, -1), 1) * reach();
        now().edit[dial] = Math.round((value - start(Explore, now().name, now().room)[dial]) * 10) / 10;
      },
    }));
    const canvases = ['Painted.', 'Wanted.', 'Where they differ.'].map(words => {
      const canvas = element('canvas', { width: SIZE, height: SIZE, 'aria-hidden': 'true' });
      panel.picture(words, SIZE, SIZE, 'third').stage.prepend(canvas);
      return canvas;
    });
    const show = (canvas, picture) => {
      const brush = canvas.getContext('2d'), pixels = brush.createImageData(SIZE, SIZE);
      for (let n = 0; n < PIXELS; n += 1)
        pixels.data.set([0, 1, 2].map(channel => 255 * picture[channel * PIXELS + n]).concat(255), 4 * n);
      brush.putImageData(pixels, 0, 0);
    };

    // Rooms and machines are asked for when the reader comes near: they are a megabyte each.
    const there = () => Boolean(Explore.rooms && Explore.weights?.[now().name]);
    let close = false, fault = '';
    near(place, () => {
      close = true;
      panel.change();
    });
    const fetched = () => {
      const names = ['rooms', now().name].map(name => `weights/${name}`);
      Promise.all(names.map(bring)).catch(error => { fault = error.message; }).then(() => panel.change());
    };
    const signed = value => value.toFixed(1).replace('-', '−').replace(/^(?=\d)/, '+');

    function draw() {
      if (fault) return fault;
      if (!there()) {
        if (close) fetched();
        return `Machine ${which.value} is being fetched.`;
      }
      const given = now(), { picture, target, missing: left } = judge(Explore, given), code = start(Explore, given.name, given.room);
      ends.forEach((end, n) => { end.textContent = `${'+−'[n]}${reach()}`; });
      columns.forEach(([bar, tick, name], dial) => {
        const [from, to] = [height(code[dial]), height(code[dial] + given.edit[dial])];
        set(bar, { y: Math.min(from, to), height: Math.abs(from - to) });
        tick.setAttribute('d', `M${at(dial) - 3} ${from}h6`);
        name.textContent = `${which.value}${dial}`;
        handles[dial](at(dial), to, `at ${(code[dial] + given.edit[dial]).toFixed(1).replace('-', '−')}, turned by ${signed(given.edit[dial])}`);
      });
      show(canvases[0], picture);
      show(canvases[1], target);
      const apart = n => Math.sqrt(sum([0, 1, 2].map(channel => (picture[channel * PIXELS + n] - target[channel * PIXELS + n]) ** 2)) / 3);
      paint(canvases[2], (x, y) => 2 * apart(SIZE * y + x));
      if (given.wall === Explore.rooms.wall)  // nothing is missing, so that there is nothing to measure by
        return `Machine ${which.value}, room ${room.value}: its wall is ${WALLS[given.wall]} already. Want another one.`;
      const turned = range(DIALS).filter(dial => Math.abs(given.edit[dial]) >= .05);
      const list = turned.map(dial => `${which.value}${dial} by ${signed(given.edit[dial])}`).join(', ');
      const [floor, walls, object, sky] = left.map(value => value.toFixed(0));
      return `Machine ${which.value}, room ${room.value}, wanted: a wall in ${WALLS[wall.value]}. `
        + `${turned.length ? `Turned: ${turned.length > 3 ? `${turned.length} of the ten dials` : list}` : 'No dial is turned'}. `
        + `The error, which is 100 with no dial turned, is ${sum(left).toFixed(0)}: ${walls} on the wall, ${floor} on the floor, `
        + `${object} on the object, ${sky} in the sky.`;
    }
    return panel;
  });
})();
