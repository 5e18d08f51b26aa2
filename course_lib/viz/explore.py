"""What the latents do, under the reader's hand: drawn beforehand for every page, live where a kernel runs."""

import numpy as np

from course_lib.arguments import check_integers
from course_lib.data import GridDataset
from course_lib.frameworks import Framework
from course_lib.viz.frames import SIDE, Frames, frames, png
from course_lib.viz.images import by_mean_kl, format_signed, move_latents, to_rgb

MOST = 10  # latents shown: the others cost least
WIDGET = "application/vnd.jupyter.widget-view+json"


def latent_frames(
    framework: Framework, data: GridDataset, index: int = 0, span: float = 2.0, columns: int = 15
) -> Frames:
    """A slider that moves one latent, and a menu of the latents: `latent_traversals`, one picture at a time.

    The chosen latent takes `columns` values from −span to +span (in standard deviations of the prior); the others stay
    at the mean representation of the image at `index`. The menu gives each latent's mean KL (nats) on 1,000 images, the
    most costly first, at most 10 of them. Raises ValueError when the view would take more than 1 MB: see `frames`.
    """
    (columns,) = check_integers(2, columns=columns)
    latents, cost, values, images = move_latents(framework, data, index, span, columns)
    names = [_name(latent, price) for latent, price in zip(latents, cost, strict=True)]
    return frames(
        images[:MOST],
        [format_signed(value) for value in values],
        name="value",
        alt=f"What the decoder draws while one latent moves from {format_signed(-span)} to {format_signed(span)}.",
        rows=names[:MOST],
        row_name="latent",
    )


def explore(framework: Framework, data: GridDataset, index: int = 0) -> "Explorer":
    """A slider per latent and, beside them, what the decoder draws: all latents at once, while the notebook runs.

    The sliders start at the mean representation of the image at `index`, the most costly latent first, at most 10 of
    them. Where no kernel runs, `latent_frames` of the same image is shown instead. Raises ModuleNotFoundError when
    ipywidgets (7 or 8) is missing.
    """
    return Explorer(framework, data, index)


class Explorer:
    """What `explore` shows: `widget` (a box of ipywidgets) in a running notebook, `frames` elsewhere.

    `sliders` maps a latent's number to its slider, `picture` is the image beside them.
    """

    def __init__(self, framework: Framework, data: GridDataset, index: int = 0):
        widgets = _ipywidgets()
        self.framework, self.frames = framework, latent_frames(framework, data, index)
        self.latents = framework.encode(data.images([index])).cpu()  # (1, D)
        self.sliders = {}
        for latent, price in list(zip(*by_mean_kl(framework, data), strict=True))[:MOST]:
            value = round(self.latents[0, latent].item(), 1)
            reach = max(3.0, abs(value))
            slider = widgets.FloatSlider(value, min=-reach, max=reach, step=0.1, description=_name(latent, price))
            slider.style.description_width, slider.layout.width = "7.5em", "22em"
            slider.observe(self._draw, names="value")
            self.sliders[latent] = slider
        self.picture = widgets.Image(format="png")
        self.widget = widgets.HBox([self.picture, widgets.VBox(list(self.sliders.values()))])
        self.widget.layout.flex_flow = "row wrap"
        self._draw()

    def _draw(self, change=None) -> None:
        """Decode where the sliders stand; a latent without a slider stays at the image's representation."""
        point = self.latents.clone()
        for latent, slider in self.sliders.items():
            point[0, latent] = slider.value
        pixels = np.rint(to_rgb(self.framework.generate(point))[0] * 255).astype(np.uint8)
        larger = max(1, SIDE // max(pixels.shape[:2]))
        self.picture.value = png(pixels.repeat(larger, 0).repeat(larger, 1))

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        """The widget for a front end that has a kernel, the frames for one that has not: it takes what it can show."""
        view = {"version_major": 2, "version_minor": 0, "model_id": self.widget.model_id}
        return {"text/plain": repr(self), "text/html": self.frames.html, WIDGET: view}

    def __repr__(self) -> str:
        return f"Explorer({len(self.sliders)} latents, {self.frames!r})"


def _name(latent: int, price: float) -> str:
    return f"z{latent}: {price:.1f} nats"


def _ipywidgets():
    """Imported only here: the library needs no Jupyter."""
    try:
        import ipywidgets
    except ImportError:
        raise ModuleNotFoundError(
            "explore needs ipywidgets: `pip install ipywidgets`, or use latent_frames, which needs nothing."
        ) from None
    return ipywidgets
