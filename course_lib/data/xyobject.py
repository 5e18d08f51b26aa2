"""XYObject and XYObject (Shades): the same images under two sets of factors (thesis, Section 7.2), drawn exactly."""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from course_lib.arguments import check_instance, check_integers
from course_lib.data.grid import GridDataset
from course_lib.data.on_devices import OnDevices
from course_lib.factors import FactorSpace

SIZES = (7, 9, 11, 13, 15)  # side of the square in pixels, by scale
LEVELS = (63, 127, 191, 255)  # brightness, by intensity: 255 · k // 4
HUES = ((1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1), (1, 0, 1))  # red, yellow, green, cyan, blue, magenta
COLOURS = tuple(tuple(level * channel for channel in hue) for level in LEVELS for hue in HUES)  # the hue varies fastest


def moments(image_size: int, sizes: Sequence[int]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and std per channel, exactly, in the convention of `GridDataset`: averages over all sides and colours."""
    pixels = image_size**2
    shares = [size**2 / pixels for size in sizes]
    spreads = [(share * (1 - share) * pixels / (pixels - 1)) ** 0.5 for share in shares]
    value = [sum(channel) / len(COLOURS) / 255 for channel in zip(*COLOURS, strict=True)]
    return tuple(tuple(v * sum(scales) / len(sizes) for v in value) for scales in (shares, spreads))


class XYObject(GridDataset):
    """One square that moves, grows and changes colour, on black: 75,000 images of 64×64.

    Parameters
    ----------
    image_size : side of the image in pixels.
    positions : places along each axis.
    spacing : pixels from one position to the next, at least 1; all positions must fit:
        largest side + (positions − 1)·spacing ≤ image_size.
    sizes : sides of the square in pixels, growing, all odd or all even. A variant that small networks can learn is
        `XYObject(16, 8, 1, (3, 5, 7))`, of 4,608 images.

    The factors are x and y (25 positions each, y growing downwards), scale (sides of 7, 9, 11, 13 and 15 px) and
    colour: 24 values that mix two things, colour = 6 · intensity + hue, with brightness 63, 127, 191, 255 and the hues
    red, yellow, green, cyan, blue, magenta. `XYObjectShades` tells the two apart.

    A square's left (top) edge lies at spacing · factor + (largest side − side) / 2 px, so squares of all scales share
    their centre, and the 25 positions of the largest take pixels 0 to 62 of 64. The mean and the std agree with the
    thesis (Table A.2) to seven significant digits, all that its sums in single precision hold. They depend on sides and
    colours but not on where a square lies, so they say nothing about the edges: those are as in the authors' code
    (github.com/nmichlo/disent, disent/dataset/data/_groundtruth__xyobject.py), which does not centre the grid either.
    Chapter 21.
    """

    source = "drawn exactly"
    licence = "MIT (drawn by course_lib)"
    citation = (
        "Michlo, Disentanglement using VAEs resembles distance learning and requires overlapping data, master's "
        "dissertation, 2022, Section 7.2"
    )

    _colour = {"colour": len(COLOURS)}  # the factors that the colour is written as

    def __init__(self, image_size: int = 64, positions: int = 25, spacing: int = 2, sizes: Sequence[int] = SIZES):
        positions, spacing = check_integers(1, positions=positions, spacing=spacing)
        (image_size,), sizes = check_integers(2, image_size=image_size), _check_sizes(sizes)
        needed = sizes[-1] + (positions - 1) * spacing
        if needed > image_size:
            raise ValueError(
                f"image_size: got {image_size}; squares of {sizes[-1]} pixels at {positions} positions, {spacing} "
                f"apart, are allowed from {needed}."
            )
        self.options = dict(image_size=image_size, positions=positions, spacing=spacing, sizes=sizes)
        where = {"x": positions, "y": positions, "scale": len(sizes)}
        factors, drawn = where | self._colour, where | XYObject._colour
        self.space = FactorSpace(tuple(factors), tuple(factors.values()))
        self._drawn = FactorSpace(tuple(drawn), tuple(drawn.values()))
        self.shape = (3, image_size, image_size)
        self.mean, self.std = moments(image_size, sizes)
        size = torch.tensor(sizes).unsqueeze(1)
        edge = spacing * torch.arange(positions).view(-1, 1, 1) + (sizes[-1] - size) // 2
        pixel = torch.arange(image_size)
        covered = ((pixel >= edge) & (pixel < edge + size)).to(torch.uint8) * 255  # (position, scale, pixel)
        self._tables = OnDevices(covered, torch.tensor(COLOURS, dtype=torch.uint8))

    def render(self, index: Tensor) -> Tensor:
        covered, colours = self._tables(index.device)
        x, y, scale, colour = self._drawn.factors(index).unbind(1)
        rows = covered[y, scale].unsqueeze(1) & colours[colour].unsqueeze(2)  # (B, channel, row)
        return rows.unsqueeze(3) & covered[x, scale].view(-1, 1, 1, self.shape[2])


class XYObjectShades(XYObject):
    """The images of `XYObject`, index by index, with the colour as two factors: intensity (4) and colour (6 hues).

    Intensity varies more slowly than colour, so the same index means the same image in both. Along these factors the
    distances between images agree better with the distances between factors, and the thesis finds that models
    disentangle them better (Figure 7.3). Chapter 21.
    """

    _colour = {"intensity": len(LEVELS), "colour": len(HUES)}


def _check_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    check_instance(Iterable, "growing sides, such as (9, 13)", sizes=sizes)
    sizes = check_integers(1, **{f"sizes[{place}]": size for place, size in enumerate(sizes)})
    steps = [after - before for before, after in zip(sizes, sizes[1:], strict=False)]
    if not sizes or any(step < 1 or step % 2 for step in steps):
        raise ValueError(f"sizes: got {sizes}; allowed are growing sides that are all odd or all even.")
    return sizes
