// What explorers are built with: native controls, points that are dragged or moved by arrow keys, and a sentence that
// says what is seen. An explorer is entered with Explore.define(name, build) and stands where a page has
// <div class="explorer" data-explorer="name">; what the div holds is for readers without this file, and is replaced.
(() => {
  const Explore = globalThis.Explore ??= {};
  const SPOKEN = 250;  // milliseconds between two sentences, so that a listener is not flooded while a slider moves
  let count = 0;

  const element = (name, marks = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(marks)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const shape = (name, marks = {}, ...children) => {
    const made = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(marks)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const set = (made, marks) => Object.entries(marks).forEach(([key, value]) => made.setAttribute(key, value));

  // A panel holds controls and pictures. Whatever moves calls `change`, and once before the next frame `draw` is called
  // with the panel; the sentence that `draw` returns is shown, and told to those who listen.
  class Panel {
    constructor(place, title, draw) {
      this.draw = draw;
      this.controls = element('div', { class: 'controls' });
      this.pictures = element('div', { class: 'pictures' });
      this.words = element('p', { class: 'readout', role: 'status' });
      place.setAttribute('role', 'group');
      place.setAttribute('aria-label', title);
      this.pictures.append(this.words);  // the style sheet puts it last
      place.replaceChildren(element('p', { class: 'title' }, title), this.controls, this.pictures);
      this.place = place;
    }

    change() {
      this.waiting ??= requestAnimationFrame(() => {
        this.waiting = undefined;
        this.say(this.draw(this));
      });
    }

    say(words) {
      this.next = words;
      this.speaking ??= setTimeout(() => {
        this.speaking = undefined;
        if (this.words.textContent !== this.next) this.words.textContent = this.next;
      }, this.words.textContent ? SPOKEN : 0);
    }

    start() {
      this.words.textContent = this.draw(this);
      return this;
    }

    // A slider with its value beside it; `format` gives the words for the value. → { value, limit(max) }
    range(label, { min, max, step = 1, value, format = String }) {
      const input = element('input', { type: 'range', min, max, step, value, autocomplete: 'off' });
      const shown = element('output', { 'aria-live': 'off' });
      const tell = () => {
        shown.textContent = format(Number(input.value));
        input.setAttribute('aria-valuetext', shown.textContent);
      };
      input.addEventListener('input', () => { tell(); this.change(); });
      let before;  // a swipe that scrolls the page has moved the slider where it began
      input.addEventListener('pointerdown', () => { before = input.value; });
      input.addEventListener('pointercancel', () => { input.value = before; tell(); this.change(); });
      this.controls.append(element('label', {}, element('span', {}, label), input, shown));
      tell();
      return {
        input,
        get value() { return Number(input.value); },
        set value(to) { input.value = to; tell(); },
        limit(to) { if (Number(input.max) !== to) { input.max = to; tell(); } },
      };
    }

    // Choices of which one holds. options: value → label. → { value }
    radios(legend, options, value) {
      const name = `explorer-${count += 1}`;
      const inputs = Object.entries(options).map(([key, label]) => {
        const input = element('input', { type: 'radio', name, value: key, autocomplete: 'off' });
        input.checked = key === value;
        input.addEventListener('change', () => this.change());
        return [input, element('label', {}, input, label)];
      });
      const group = element('fieldset', {}, element('legend', {}, legend), ...inputs.map(([, label]) => label));
      this.controls.append(group);
      return {
        get value() { return inputs.find(([input]) => input.checked)[0].value; },
        set value(to) { inputs.forEach(([input]) => { input.checked = input.value === to; }); },
      };
    }

    checkbox(label, checked = false) {
      const input = element('input', { type: 'checkbox', autocomplete: 'off' });
      input.checked = checked;
      input.addEventListener('change', () => this.change());
      this.controls.append(element('label', { class: 'check' }, input, label));
      return { get value() { return input.checked; } };
    }

    button(label, press) {
      const made = element('button', { type: 'button' }, label);
      made.addEventListener('click', () => { press(); this.change(); });
      const last = this.controls.lastElementChild;  // buttons stand side by side
      if (last?.matches('.buttons')) last.append(made);
      else this.controls.append(element('div', { class: 'buttons' }, made));
      return made;
    }

    // A picture with words below it, `width` × `height` in units of its own; two small ones fit side by side on a phone.
    picture(caption, width, height, kind = '') {
      const svg = shape('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': caption });
      const stage = element('div', { class: 'stage', style: `aspect-ratio: ${width} / ${height}` }, svg);
      this.pictures.append(element('figure', { class: kind }, stage, element('figcaption', {}, caption)));
      return { svg, stage, width, height };
    }

    // A point of a picture that is dragged, or moved by the arrow keys; `move(x, y)` gets its place in the picture's
    // units and `step` is what an arrow key moves it by, or a function that says it; with Shift it is five times as much.
    // It is a button, so that it can be reached. → place(x, y, words)
    handle(picture, name, { step, move, kind = '', letter = '' }) {
      const made = element('button', { type: 'button', class: `handle ${kind}`.trim(), 'data-letter': letter, 'aria-label': name });
      const at = { x: 0, y: 0 };
      const go = (x, y) => {
        const within = (value, most) => Math.min(Math.max(value, 0), most);
        Object.assign(at, { x: within(x, picture.width), y: within(y, picture.height) });  // keys may outrun frames
        move(at.x, at.y);
        this.change();
      };
      made.addEventListener('pointerdown', event => made.setPointerCapture(event.pointerId));
      made.addEventListener('pointermove', event => {
        if (!made.hasPointerCapture(event.pointerId)) return;
        const box = picture.stage.getBoundingClientRect();
        go((event.clientX - box.left) / box.width * picture.width,
          (event.clientY - box.top) / box.height * picture.height);
      });
      made.addEventListener('keydown', event => {
        const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
        if (!way || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        const one = typeof step === 'function' ? step() : step, by = event.shiftKey ? 5 * one : one;
        go(at.x + by * way[0], at.y + by * way[1]);
      });
      picture.stage.append(made);
      return (x, y, words) => {
        Object.assign(at, { x, y });
        made.style.left = `${100 * x / picture.width}%`;
        made.style.top = `${100 * y / picture.height}%`;
        made.setAttribute('aria-label', `${name}, ${words}; arrow keys move it`);
      };
    }
  }

  // A grey image on a canvas: `grey(x, y)` in [0, 1] for each of its pixels, light on dark in both themes.
  const paint = (canvas, grey) => {
    const brush = canvas.getContext('2d'), pixels = brush.createImageData(canvas.width, canvas.height);
    for (let y = 0, place = 0; y < canvas.height; y += 1)
      for (let x = 0; x < canvas.width; x += 1, place += 4) {
        const value = 255 * Math.min(Math.max(grey(x, y), 0), 1);
        pixels.data.set([value, value, value, 255], place);
      }
    brush.putImageData(pixels, 0, 0);
  };

  // A script of this folder that not every reader needs: it is asked for once.
  const folder = typeof document === 'undefined' ? '' : document.currentScript.src.replace(/[^/]*$/, '');
  const brought = {};
  const bring = name => brought[name] ??= new Promise((done, failed) => {
    const script = element('script', { src: `${folder}${name}.js` });
    script.addEventListener('load', done);
    script.addEventListener('error', () => failed(new Error(`${name}.js cannot be read, which belongs to this page.`)));
    document.head.append(script);
  });
  // When the place comes within a screen or so of what is seen, once.
  const near = (place, act) => {
    const watch = new IntersectionObserver(seen => {
      if (!seen.some(({ isIntersecting }) => isIntersecting)) return;
      watch.disconnect();
      act();
    }, { rootMargin: '800px' });
    watch.observe(place);
  };

  const definitions = {};
  const mount = place => {
    const build = definitions[place.dataset.explorer];
    if (!build || place.dataset.ready) return;
    place.dataset.ready = 'yes';
    place.classList.add('alive');
    build(place).start();
  };

  Object.assign(Explore, {
    element, shape, set, paint, Panel, bring, near,
    still: () => matchMedia('(prefers-reduced-motion: reduce)').matches,
    define(name, build) {
      definitions[name] = build;
      if (typeof document === 'undefined') return;  // under node there is nothing to stand in
      const look = () => document.querySelectorAll(`.explorer[data-explorer="${name}"]`).forEach(mount);
      if (document.readyState === 'loading') addEventListener('DOMContentLoaded', look);
      else look();
    },
  });
})();
