// The text in the present window whose contrast is below WCAG 2 level AA: 4.5, or 3 for large text. Not measured: text in
// pictures, and what only hovering shows.
() => {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const brush = canvas.getContext('2d', { willReadFrequently: true });
  const known = new Map();

  // A CSS colour as [red, green, blue, alpha], each in [0, 1]. Drawing it understands every notation.
  const parse = (colour) => {
    if (!known.has(colour)) {
      brush.clearRect(0, 0, 1, 1);
      brush.fillStyle = colour;
      brush.fillRect(0, 0, 1, 1);
      known.set(colour, [...brush.getImageData(0, 0, 1, 1).data].map(value => value / 255));
    }
    return known.get(colour);
  };
  const over = (top, ground, alpha) => [0, 1, 2].map(i => alpha * top[i] + (1 - alpha) * ground[i]);

  const ancestors = (element) => {
    const found = [];
    for (let each = element; each; each = each.parentElement) found.push(each);
    return found;
  };

  // What lies behind the text: backgrounds from the nearest opaque one inwards; the page itself is white.
  const ground = (line) => {
    const layers = [];
    for (const element of line) {
      layers.unshift(parse(getComputedStyle(element).backgroundColor));
      if (layers[0][3] === 1) break;
    }
    return layers.reduce((below, layer) => over(layer, below, layer[3]), [1, 1, 1]);
  };

  const luminance = (colour) => {
    const [r, g, b] = colour.map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [dark, bright] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  };

  // Text for screen readers only is squeezed into a pixel or put off the page: nobody has to see it.
  const seen = (element, boxes) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    && [...boxes].some(box => box.width > 1 && box.height > 1 && box.right > 0)
    && !ancestors(element).some(each => each.clientWidth === 1 && getComputedStyle(each).overflow === 'hidden');

  const large = (style) => parseFloat(style.fontSize) >= 24
    || (parseFloat(style.fontSize) >= 18.66 && parseInt(style.fontWeight) >= 700);
  const name = (element) => element.tagName.toLowerCase() + [...element.classList].map(each => `.${each}`).join('');
  const hex = (colour) => '#' + colour.map(v => Math.round(255 * v).toString(16).padStart(2, '0')).join('');

  const measure = (element, text) => {
    const line = ancestors(element);
    const style = getComputedStyle(element);
    const behind = ground(line);
    const opacity = line.reduce((product, each) => product * getComputedStyle(each).opacity, 1);
    const colour = over(parse(style.color), behind, parse(style.color)[3] * opacity);
    const [ratio, wanted] = [contrast(colour, behind), large(style) ? 3 : 4.5];
    if (ratio >= wanted) return null;
    const where = line.slice(0, 3).reverse().map(name).join(' > ');
    return `${where}: ${hex(colour)} on ${hex(behind)} is ${ratio.toFixed(2)}, less than ${wanted} (“${text.slice(0, 30)}”)`;
  };

  const found = new Map();  // one sentence for each kind of element and pair of colours
  const keep = (element, text, boxes) => {
    if (element.closest('svg, mjx-container *, :disabled, [aria-disabled=true]') || !seen(element, boxes)) return;
    const fault = measure(element, text);
    if (fault && !found.has(fault.split(' (“')[0])) found.set(fault.split(' (“')[0], fault);
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    if (!node.data.trim()) continue;
    const range = document.createRange();
    range.selectNode(node);
    keep(node.parentElement, node.data.trim(), range.getClientRects());
  }
  // MathJax draws its signs without text.
  for (const formula of document.querySelectorAll('mjx-container')) keep(formula, 'formula', formula.getClientRects());
  return [...found.values()];
}
