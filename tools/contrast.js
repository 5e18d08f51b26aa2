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

  // What an element's own style and those around it say, asked once for each element: many texts lie within the same.
  const remembered = (ask) => {
    const answers = new Map();
    return (element) => {
      if (!answers.has(element)) answers.set(element, ask(element));
      return answers.get(element);
    };
  };
  const style = remembered(getComputedStyle);
  const background = remembered(element => parse(style(element).backgroundColor));

  // What lies behind the text: backgrounds from the nearest opaque one inwards; the page itself is white.
  const ground = remembered((element) => {
    const layer = background(element);
    if (layer[3] === 1) return layer.slice(0, 3);
    return over(layer, element.parentElement ? ground(element.parentElement) : [1, 1, 1], layer[3]);
  });
  const opacity = remembered(
    element => style(element).opacity * (element.parentElement ? opacity(element.parentElement) : 1)
  );

  const luminance = (colour) => {
    const [r, g, b] = colour.map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [dark, bright] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  };

  // Text for screen readers only is squeezed into a pixel or put off the page: nobody has to see it.
  const squeezed = remembered(element => (element.clientWidth === 1 && style(element).overflow === 'hidden')
    || (element.parentElement !== null && squeezed(element.parentElement)));
  const visible = remembered(
    element => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !squeezed(element)
  );
  const seen = (element, boxes) => visible(element)
    && [...boxes].some(box => box.width > 1 && box.height > 1 && box.right > 0);

  const large = ({ fontSize, fontWeight }) => parseFloat(fontSize) >= 24
    || (parseFloat(fontSize) >= 18.66 && parseInt(fontWeight) >= 700);
  const name = (element) => element.tagName.toLowerCase() + [...element.classList].map(each => `.${each}`).join('');
  const hex = (colour) => '#' + colour.map(v => Math.round(255 * v).toString(16).padStart(2, '0')).join('');
  const place = (element) => [element.parentElement?.parentElement, element.parentElement, element]
    .filter(Boolean).map(name).join(' > ');

  // Without the words: null where the contrast is enough.
  const fault = remembered((element) => {
    const behind = ground(element);
    const own = parse(style(element).color);
    const colour = over(own, behind, own[3] * opacity(element));
    const [ratio, wanted] = [contrast(colour, behind), large(style(element)) ? 3 : 4.5];
    if (ratio >= wanted) return null;
    return `${place(element)}: ${hex(colour)} on ${hex(behind)} is ${ratio.toFixed(2)}, less than ${wanted}`;
  });

  const found = new Map();  // one sentence for each kind of element and pair of colours
  const unasked = 'svg, mjx-container *, :disabled, [aria-disabled=true]';
  const ignored = remembered(element => element.closest(unasked) !== null);
  const keep = (element, text, boxes) => {
    if (ignored(element) || fault(element) === null || !seen(element, boxes())) return;
    if (!found.has(fault(element))) found.set(fault(element), `${fault(element)} (“${text.slice(0, 30)}”)`);
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    if (!node.data.trim()) continue;
    keep(node.parentElement, node.data.trim(), () => {
      const range = document.createRange();
      range.selectNode(node);
      return range.getClientRects();
    });
  }
  // MathJax draws its signs without text.
  for (const formula of document.querySelectorAll('mjx-container'))
    keep(formula, 'formula', () => formula.getClientRects());
  return [...found.values()];
}
