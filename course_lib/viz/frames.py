"""Pictures that the reader moves with a slider: drawn beforehand, so that no kernel and no network is needed.

A `Frames` is one piece of HTML that works in the built book opened as a file, in Jupyter and in Colab. All pictures are
stacked into one tall PNG; an `<img>` as large as one of them shows the right part of it. The few lines of script are an
event handler of the element itself: nothing has to be found by an id, so a notebook may show the same view twice, and
the same pictures give the same HTML, bit for bit. Without scripts the starting picture and its label remain.
"""

import base64
import html
import io
import json
from collections.abc import Callable, Iterable, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from course_lib.arguments import check_instance, check_integers
from course_lib.viz.images import check_words, to_rgb

LARGEST = 1_000_000  # bytes of HTML: a page with several views must still open quickly
TALLEST = 16_384  # pixels of the stack: what browsers draw everywhere
SIDE = 256  # CSS pixels: small images are enlarged to about this size, by a whole number
DOTS, SHOWN = 120, 100  # pixels per inch in which a figure is drawn, and CSS pixels per inch in which it is shown
COLOURS = 128  # of all plots of a view together: the smooth edges of lines would make its file three times as large

SCRIPT = """
const [slider, menu, picture, words] = ['input', 'select', 'img', 'output'].map(name => this.querySelector(name));
const labels = JSON.parse(this.dataset.labels), place = Number(slider.value);
const shown = place + labels.length * (menu ? menu.selectedIndex : 0);
const last = labels.length * (menu ? menu.length : 1) - 1;
picture.style.objectPosition = `0 ${100 * shown / last}%`;
slider.setAttribute('aria-valuetext', labels[place]);
words.value = labels[place];
"""
# Every value is escaped before it is inserted. No colour is set: text and controls take those of the page.
VIEW = """<figure class="frames" style="margin:1em 0" data-labels="{labels}" oninput="{script}">
<img alt="{alt}" src="{source}" style="display:block;margin:0;width:{width}px;max-width:100%;height:auto;\
aspect-ratio:{ratio};object-fit:cover;object-position:0 {position}%;image-rendering:{rendering}">
<figcaption style="display:flex;flex-wrap:wrap;align-items:center;gap:.4em .8em;margin:.5em 0 0;text-align:left">
{menu}<span style="display:flex;align-items:center;gap:.6em;flex:1 1 16em;max-width:28em">
<label style="display:flex;align-items:center;gap:.5em;flex:1;margin:0">{name}
<input type="range" min="0" max="{last}" step="1" value="{start}" aria-valuetext="{label}" autocomplete="off" \
style="flex:1;min-width:6em;margin:0"></label>
<output aria-live="off" style="font-variant-numeric:tabular-nums;min-width:{longest}ch">{label}</output>
</span>
</figcaption>
</figure>"""
MENU = """<select aria-label="{name}" autocomplete="off" style="font:inherit;max-width:100%">{options}</select>
"""


class Frames:
    """Pictures moved by a slider; a notebook shows it as HTML. Made by `frames`, `figure_frames` and `latent_frames`.

    `html` is the whole view, text; `pictures` holds what it shows, uint8 (R, N, H, W, 3).
    """

    def __init__(self, pictures: np.ndarray, name: str, html: str):
        self.pictures, self.name, self.html = pictures, name, html

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        rows, count, height, width, _ = self.pictures.shape
        number = f"{rows} × {count}" if rows > 1 else f"{count}"
        return f"Frames({self.name}: {number} pictures of {width} × {height} pixels, {len(self.html) / 1000:.0f} kB)"


def frames(
    pictures, labels: Iterable, *, name: str, alt: str, rows: Iterable | None = None, row_name: str = "row", start=None
) -> Frames:
    """Images that a slider moves through, enlarged with sharp pixels.

    pictures : (N, C, H, W), or (R, N, C, H, W) where a menu chooses the row; uint8, or floats in [0, 1]; C up to 3.
    labels : N words or numbers, what the slider says at each place: `["0.5", "1", "2"]`.
    name : what the slider moves, before it: "β". alt : what the pictures show, for those who do not see them.
    rows : the menu's R entries, needed for R rows; row_name : what it chooses, "latent" for instance.
    start : the place shown first, from 0 to N − 1; without one, the middle.

    Raises ValueError when the numbers of pictures and labels differ, or when the view takes more than 1 MB or its
    pictures, one below the other, are more than 16,384 pixels high: then show fewer or smaller pictures. 150 images of
    64 × 64 pixels take about 100 to 700 kB, depending on how smooth they are.

    Examples
    --------
    >>> frames(framework.generate(latents), [f"{value:+.1f}" for value in values], name="z", alt="A heart grows.")
    """
    pixels = np.rint(to_rgb(pictures) * 255).astype(np.uint8)
    if pixels.ndim not in (4, 5):
        raise ValueError(f"pictures: got {pixels.ndim} axes; allowed are (N, C, H, W) and (R, N, C, H, W).")
    pixels = pixels[None] if pixels.ndim == 4 else pixels
    rows = _check_words("rows", [""] if rows is None and len(pixels) == 1 else rows, len(pixels))
    width = pixels.shape[3] * max(1, SIDE // max(pixels.shape[2:4]))
    return _view(pixels, labels, name, alt, start, width, "pixelated", rows, row_name)


def figure_frames(
    draw: Callable[..., Figure], values: Sequence, *, name: str, alt: str, labels: Iterable | None = None, start=None
) -> Frames:
    """Plots that move: `draw(value)` returns a matplotlib figure for each of `values`, and is asked for each once.

    Each figure is drawn at its whole size and closed. Give its axes fixed limits, or the axes jump instead of the data,
    and `layout="constrained"`, for nothing is trimmed. labels : what the slider says; without them, the values.
    The other arguments, the limits and the errors are those of `frames`; a plot of the usual size takes about 25 kB.
    """
    check_instance(Callable, "a function that returns a matplotlib figure", draw=draw)
    check_instance(Iterable, "a list of values, one per picture", values=values)
    drawn = []
    for value in values:
        figure = draw(value)
        check_instance(Figure, "a function that returns a matplotlib figure", draw=figure)
        figure.set_dpi(DOTS)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        drawn.append(np.asarray(canvas.buffer_rgba())[..., :3].copy())
        plt.close(figure)
    if not drawn:
        raise ValueError("values: got none; at least 2 are needed.")
    if len({picture.shape for picture in drawn}) > 1:
        raise ValueError(f"draw: got figures of {len({p.shape for p in drawn})} sizes; all must have the same size.")
    pixels = np.stack(drawn)[None]
    width = round(pixels.shape[3] * SHOWN / DOTS)
    return _view(pixels, values if labels is None else labels, name, alt, start, width, "auto", colours=COLOURS)


def png(pixels: np.ndarray, colours: int | None = None) -> bytes:
    """An image (H, W, 3), uint8, as a PNG without metadata; grey ones take a third of the space.

    colours : how many colours are kept, at most 256; all of them where it is None.
    """
    grey = (pixels == pixels[..., :1]).all()
    image = Image.fromarray(np.ascontiguousarray(pixels[..., 0] if grey else pixels))
    if colours is not None:
        image = image.convert("RGB").quantize(colours, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    stream = io.BytesIO()
    image.save(stream, "PNG", optimize=True)
    return stream.getvalue()


def _check_words(argument: str, values: Iterable | None, count: int) -> list[str]:
    values = [] if values is None else check_words(argument, values)
    if len(values) != count:
        raise ValueError(f"{argument}: got {len(values)} for {count} in the pictures; one is needed for each.")
    return values


def _view(pixels, labels, name, alt, start, width, rendering, rows=("",), row_name="", colours=None) -> Frames:
    """The view of `pixels`, uint8 (R, N, H, W, 3), shown `width` CSS pixels wide."""
    count, height = pixels.shape[1:3]
    labels = _check_words("labels", labels, count)
    if count < 2:
        raise ValueError(f"pictures: got {count} to move through; at least 2 are needed.")
    for argument, text in (("name", name), ("alt", alt)):
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{argument}: got {text!r}; words are needed, for readers who hear the page.")
    check_instance(str, "a word", row_name=row_name)
    (start,) = check_integers(0, start=(count - 1) // 2 if start is None else start)
    if start >= count:
        raise ValueError(f"start: got {start}; allowed are integers from 0 to {count - 1}.")
    stacked = pixels.reshape(-1, *pixels.shape[3:])
    if len(stacked) > TALLEST:
        raise ValueError(f"pictures: got {len(stacked):,} pixels in all, one below the other; allowed are {TALLEST:,}.")
    options = "".join(f"<option>{html.escape(row)}</option>" for row in rows)
    content = VIEW.format(
        labels=html.escape(json.dumps(labels, ensure_ascii=False)),
        script=html.escape(SCRIPT.strip()),
        alt=html.escape(alt),
        source="data:image/png;base64," + base64.b64encode(png(stacked, colours)).decode(),
        width=width,
        ratio=f"{pixels.shape[3]}/{height}",
        position=100 * start / (len(stacked) // height - 1),
        rendering=rendering,
        menu=MENU.format(name=html.escape(row_name), options=options) if len(rows) > 1 else "",
        name=html.escape(name),
        last=count - 1,
        start=start,
        label=html.escape(labels[start]),
        longest=max(map(len, labels)),  # or the slider would change its length under the reader's finger
    )
    if len(content) > LARGEST:
        raise ValueError(f"pictures: the view takes {len(content) / 1e6:.1f} MB; allowed is {LARGEST / 1e6:g} MB.")
    return Frames(pixels, name, content)
