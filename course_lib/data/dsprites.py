"""dSprites: the white sprites of Matthey et al. (2017), drawn again the way the originals were."""

from math import pi
from pathlib import Path

import torch
from torch import Tensor

from course_lib.data import published
from course_lib.data.on_devices import OnDevices
from course_lib.factors import FactorSpace

IMAGE = 64  # side of the canvas in pixels
HALF = 9.6  # half the width of the square and of the heart at scale 1, in pixels
STRETCH = 1.33  # the ellipse is a circle of radius HALF, stretched by this and flattened by as much
SLOTS = 150  # edges listed per sprite: as many as the heart has
FRACTION = 24  # fixed point: int32 in units of 2⁻²⁴ px, which holds the whole canvas
SUBPIXEL = 8  # graphics hardware rounds vertices to 2⁻⁸ px before it fills a polygon


class DSprites(published.Redrawn):
    """One square, ellipse or heart, white on black, without antialiasing: 737,280 images of 64×64.

    The originals were drawn as vectors by the LÖVE game engine (github.com/google-deepmind/dsprites-dataset, issue 2).
    The geometry here is recovered from 163 authentic frames, all of which it reproduces exactly, and from the published
    pixel mean: over the whole dataset it lights 128,328,863 pixels, the originals 128,328,862.

    The factors are shape (square, ellipse, heart), scale (0.5 to 1 in 6 steps), orientation (40 angles from 0 to 2π,
    counter-clockwise, both ends included: 0 and 39 are the same image), position_x and position_y (32 each; the centre
    lies at 16 + 32k/31 px, y growing downwards).

    The arguments are those of `course_lib.data.published.Redrawn`: DSprites(source="real") reads the published file.
    Chapter 14.
    """

    space = FactorSpace(("shape", "scale", "orientation", "position_x", "position_y"), (3, 6, 40, 32, 32))
    shape = (1, IMAGE, IMAGE)
    # Over all 737,280 images of this renderer: with c white pixels of N = 4096, an image has mean c / N and unbiased
    # variance c (N − c) / (N (N − 1)). The originals' are 0.042494423521890 and 0.195166458806261.
    mean, std = (0.042494423853026,), (0.195166453533657,)
    source = "re-rendered from recovered geometry"
    licence = "MIT (drawn by course_lib; the original dSprites is Apache-2.0)"
    citation = "Matthey, Higgins, Hassabis and Lerchner, dSprites: Disentanglement testing Sprites dataset, 2017"

    published = staticmethod(published.dsprites)

    def __init__(self, source: str = "rendered", root: str | Path | None = None):
        super().__init__(source, root)
        self._tables = OnDevices(edges(), rows(), centres())

    def draw(self, index: Tensor) -> Tensor:
        edges, rows, centres = self._tables(index.device)
        shape, scale, orientation, *position = self.space.factors(index).unbind(1)
        centre = centres[torch.stack(2 * position, 1)].unsqueeze(2)  # (B, 4, 1): x, y, x, y
        # The vertices on the canvas, rounded as the hardware does: (B, SLOTS) each, in units of 1/256 px from here on.
        x0, y0, x1, y1 = ((edges[shape, scale, orientation] + centre) >> (FRACTION - SUBPIXEL)).unbind(1)
        # Where the edge crosses the line through the pixel centres of its row. A centre on the upper end does not count
        # and one on the lower end does: the rule of OpenGL, whose y axis points up.
        row = ((torch.minimum(y0, y1) + 128) >> SUBPIXEL) + rows[shape]
        y = 256 * row + 128
        crossed = y <= torch.maximum(y0, y1)
        rise = y1 - y0
        rise = rise + (rise == 0)  # a level edge is never crossed, but must not divide by zero
        # The first column whose centre is not left of the crossing: ⌈(x − 128) / 256⌉, all in integers.
        column = -torch.div((128 - x0) * rise - (y - y0) * (x1 - x0), 256 * rise, rounding_mode="floor")
        # A pixel is inside when the edges crossed up to it, in its row, are odd in number.
        crossings = torch.zeros(len(index), IMAGE * IMAGE, dtype=torch.uint8, device=index.device)
        crossings.scatter_add_(1, ((IMAGE * row + column) * crossed).long(), crossed.to(torch.uint8))
        return (crossings.view(len(index), *self.shape).cumsum(3, dtype=torch.uint8) & 1) * 255


def outlines() -> list[Tensor]:
    """The polygons at scale 1 and orientation 0: float64 (vertices, 2) each, in pixels from the centre, y upwards."""
    square = HALF * torch.tensor([[1, 1], [-1, 1], [-1, -1], [1, -1]], dtype=torch.float64)
    t = torch.arange(100, dtype=torch.float64) * (2 * pi / 100)
    ellipse = HALF * torch.stack([STRETCH * t.cos(), t.sin() / STRETCH], 1)
    t = torch.arange(150, dtype=torch.float64) * (2 * pi / 150)
    height = (13 * t.cos() - 5 * (2 * t).cos() - 2 * (3 * t).cos() - (4 * t).cos()) / 29
    heart = HALF * torch.stack([t.sin() ** 3, 2 * (height + 0.075)], 1)
    return [square, ellipse, heart]


def edges() -> Tensor:
    """Both ends of every edge of every sprite: int32 (3, 6, 40, 4, SLOTS), fixed point, (x0, y0, x1, y1), y downwards.

    The only floating-point work: done once, on the CPU, so that every device draws from the same integers. Slot i holds
    edge i mod n of a polygon of n edges, so shapes with fewer edges list theirs again (see `rows`).
    """
    slot = torch.arange(SLOTS)
    ends = torch.stack([torch.stack([shape[(slot + end) % len(shape)] for end in (0, 1)]) for shape in outlines()])
    x, y = ends[:, None, None].unbind(-1)  # (3, 1, 1, end, SLOTS)
    scale = torch.linspace(0.5, 1, 6, dtype=torch.float64).view(6, 1, 1, 1)
    angle = torch.linspace(0, 2 * pi, 40, dtype=torch.float64).view(40, 1, 1)
    right, down = scale * (angle.cos() * x - angle.sin() * y), -scale * (angle.sin() * x + angle.cos() * y)
    return fixed(torch.stack([right, down], -2).flatten(-3, -2))


def rows() -> Tensor:
    """Which of the rows that its edge crosses, from the top, a slot looks at: int32 (3, SLOTS).

    The edges of the ellipse and the heart are shorter than a pixel and cross one row at most; those of the square cross
    up to 20, of 37 listed.
    """
    return torch.stack([torch.arange(SLOTS, dtype=torch.int32) // len(shape) for shape in outlines()])


def centres() -> Tensor:
    """The sprite's centre at each position: int32 (32,), fixed point, plus half a subpixel so that >> rounds."""
    return fixed(16 + 32 / 31 * torch.arange(32, dtype=torch.float64)) + (1 << (FRACTION - SUBPIXEL - 1))


def fixed(pixels: Tensor) -> Tensor:
    """Pixels as int32 in units of 2**-FRACTION px."""
    return torch.round(pixels * 2**FRACTION).to(torch.int32)
