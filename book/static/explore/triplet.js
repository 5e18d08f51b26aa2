// Chapter 19: drag anchor, positive and negative. Which latents count as shared, and what do the three points feel?
(() => {
  const { maths: { sum, range } } = globalThis.Explore;

  // τ = (1 − η) min δ + η max δ, and the latents below it, strictly. differences: δ of each latent, not negative.
  const shared = (differences, strength) => {
    const [low, high] = [Math.min(...differences), Math.max(...differences)];
    const threshold = strength < .5 ? low + strength * (high - low) : high - (1 - strength) * (high - low);
    return { threshold, mask: differences.map(difference => difference < threshold) };
  };

  const length = (vector, norm) => (norm === 1 ? sum(vector.map(Math.abs)) : Math.hypot(...vector));
  const slope = (vector, norm) => {  // of the length
    const size = norm === 1 ? 1 : length(vector, 2) || 1;
    return vector.map(value => (norm === 1 ? Math.sign(value) : value / size));
  };

  // The hard loss of one triplet of codes with the adaptive distance to the negative, and its gradients.
  // resting: latents that are the same in all three; they take part in the threshold only.
  const adaptive = ({ anchor, positive, negative, margin, weight, strength, norm = 1, resting = 0 }) => {
    const [near, far] = [positive, negative].map(other => anchor.map((value, j) => value - other[j]));
    const differences = [...far.map(Math.abs), ...range(resting, () => 0)];
    const { threshold, mask } = shared(differences, strength);
    const weights = anchor.map((_, j) => (mask[j] ? weight : 1));
    const weighted = far.map((value, j) => weights[j] * value);
    const [toPositive, toNegative] = [length(near, norm), length(weighted, norm)];
    const loss = Math.max(0, margin + toPositive - toNegative);
    const pull = slope(near, norm).map(value => (loss ? value : 0));
    const push = slope(weighted, norm).map((value, j) => (loss ? value * weights[j] : 0));
    const gradients = { anchor: pull.map((value, j) => value - push[j]), positive: pull.map(v => 0 - v), negative: push };
    return { differences, threshold, mask: mask.slice(0, anchor.length), toPositive, toNegative, loss, gradients };
  };

  const START = { anchor: [-1, -1], positive: [0, .5], negative: [2, .2] };
  globalThis.Explore.triplet = { shared, adaptive, START };
  globalThis.Explore.define('triplet', place => {
    const { Panel, shape, set } = globalThis.Explore;
    const REACH = 4, to = ([x, y]) => [10 * (REACH + x), 10 * (REACH - y)];
    const points = structuredClone(START);
    const panel = new Panel(place, 'Drag a triplet', draw);
    const margin = panel.range('Margin ψ', { min: 0, max: 10, step: .5, value: 5, format: value => value.toFixed(1) });
    const strength = panel.range('Strength η', { min: 0, max: 1, step: .05, value: .5, format: value => value.toFixed(2) });
    const weight = panel.range('Weight ω', { min: 0, max: 1, step: .05, value: .5, format: value => value.toFixed(2) });
    const norm = panel.radios('Distance', { 1: 'ℓ1', 2: 'ℓ2' }, '1');
    const rest = panel.checkbox('five more latents that rest', true);
    const step = () => {
      const { gradients } = state();
      for (const name of Object.keys(points))
        points[name] = points[name].map((value, j) => within(value - .1 * gradients[name][j]));
    };
    panel.button('Take a step', step);
    panel.button('Ten steps', () => range(10, step));
    panel.button('Put back', () => Object.assign(points, structuredClone(START)));

    const scene = panel.picture('Codes in two latents. Shaded: where the negative has a shared latent. Arrows: where '
      + 'a step of descent moves each point.', 80, 80);
    const bands = [0, 1].map(() => shape('path', { class: 'band' }));
    const grid = range(9, n => `M${10 * n} 0V80M0 ${10 * n}H80`).join('');
    const ways = Object.keys(START).map(() => shape('path', { class: 'way' }));
    const labels = ['latent 0 →', 'latent 1 →'].map((words, j) => {
      const label = shape('text', { class: 'small', transform: ['translate(6 78.5)', 'translate(4.5 76) rotate(-90)'][j] });
      label.textContent = words;
      return label;
    });
    scene.svg.append(...bands, shape('path', { d: grid, class: 'grid' }), ...labels, ...ways);
    const handles = Object.fromEntries(Object.keys(START).map(name => [name, panel.handle(scene, name, {
      step: 1, kind: name, letter: name[0],
      move: (x, y) => { points[name] = [x / 10 - REACH, REACH - y / 10].map(within); },
    })]));
    const within = value => Math.max(-REACH, Math.min(REACH, Math.round(value * 100) / 100));
    const state = () => adaptive({
      ...points, margin: margin.value, weight: weight.value, strength: strength.value, norm: Number(norm.value),
      resting: rest.value ? 5 : 0,
    });

    // Around an axis of the anchor a negative's other latent is below the threshold: |δ₁| < η |δ₀|, or with no latent at
    // rest, where the shorter one always is, up to the diagonal.
    const wedge = j => {
      const open = strength.value === 0 ? 0 : rest.value ? strength.value : 1, far = 20;
      const corner = (along, aside) => to(points.anchor.map((value, i) => value + (i === j ? along : aside)));
      const half = way => `M${to(points.anchor)}L${corner(way * far, open * far)}L${corner(way * far, -open * far)}z`;
      return half(1) + half(-1);
    };
    const arrow = (name, gradient) => {
      const [from, way] = [to(points[name]), [-10 * gradient[0], 10 * gradient[1]]], size = Math.hypot(...way);
      if (size < .01) return '';
      const [x, y] = from.map((value, j) => value + way[j]), [u, v] = way.map(value => 1.6 * value / size);
      return `M${from}L${x} ${y}M${x - u - v} ${y - v + u}L${x} ${y}L${x - u + v} ${y - v - u}`;
    };

    function draw() {
      const found = state();
      bands.forEach((band, j) => band.setAttribute('d', wedge(j)));
      Object.keys(points).forEach((name, n) => {
        set(ways[n], { d: arrow(name, found.gradients[name]) });
        handles[name](...to(points[name]), points[name].map(value => value.toFixed(2)).join(' and '));
      });
      return words(found);
    }

    function words({ differences, threshold, mask, toPositive, toNegative, loss, gradients }) {
      const which = mask.every(Boolean) ? 'Both latents count' : mask[0] ? 'Latent 0 counts' : 'Latent 1 counts';
      const push = gradients.negative.map(value => Math.abs(value).toFixed(2));
      return `Anchor and negative differ by ${differences[0].toFixed(2)} and ${differences[1].toFixed(2)}; τ = `
        + `${threshold.toFixed(2)}. ${mask.some(Boolean) ? `${which} as shared, with weight ${weight.value.toFixed(2)}` : 'No latent counts as shared'}. `
        + `To the positive ${toPositive.toFixed(2)}, to the negative ${toNegative.toFixed(2)}; loss ${loss.toFixed(2)}. `
        + (loss ? `The negative is pushed away by ${push[0]} along latent 0 and ${push[1]} along latent 1.` : 'Settled: nothing moves.');
    }
    return panel;
  });
})();
