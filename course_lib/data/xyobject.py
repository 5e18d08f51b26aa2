"""XYObject and XYObject (Shades): the same images under two sets of factors (thesis, Section 7.2), drawn exactly."""

import torch
from torch import Tensor

from course_lib.data.grid import GridDataset
from course_lib.factors import FactorSpace

IMAGE = 64  # side of the image in pixels
POSITIONS, SPACING = 25, 2  # places along each axis, and the pixels between them
SIZES = (7, 9, 11, 13, 15)  # side of the square in pixels, by scale
LEVELS = (63, 127, 191, 255)  # brightness, by intensity: 255 · k // 4
HUES = ((1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1), (1, 0, 1))  # red, yellow, green, cyan, blue, magenta
COLOURS = tuple(tuple(level * channel for channel in hue) for level in LEVELS for hue in HUES)  # the hue varies fastest


def moments() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and std per channel, exactly, in the convention of `GridDataset`: averages over all sides and colours."""
    pixels = IMAGE**2
    shares = [size**2 / pixels for size in SIZES]
    spreads = [(share * (1 - share) * pixels / (pixels - 1)) ** 0.5 for share in shares]
    value = [sum(channel) / len(COLOURS) / 255 for channel in zip(*COLOURS, strict=True)]
    return tuple(tuple(v * sum(parts) / len(SIZES) for v in value) for parts in (shares, spreads))


class XYObject(GridDataset):
    """One square that moves, grows and changes colour, on black: 75,000 images of 64×64.

    The factors are x and y (25 positions each, y growing downwards), scale (sides of 7, 9, 11, 13 and 15 px) and
    colour: 24 values that mix two things, colour = 6 · intensity + hue, with brightness 63, 127, 191, 255 and the hues
    red, yellow, green, cyan, blue, magenta. `XYObjectShades` tells the two apart.

    A square's left (top) edge lies at 2 · factor + (15 − side) // 2 px, so squares of all scales share their centre,
    and the 25 positions of the largest take pixels 0 to 62 of 64. The mean and the std agree with the thesis (Table
    A.2) to seven significant digits, all that its sums in single precision hold. They depend on sides and colours but
    not on where a square lies, so they say nothing about the edges: those are as in the authors' code
    (github.com/nmichlo/disent, disent/dataset/data/_groundtruth__xyobject.py), which does not centre the grid either.
    """

    space = FactorSpace(("x", "y", "scale", "colour"), (POSITIONS, POSITIONS, len(SIZES), len(COLOURS)))
    shape = (3, IMAGE, IMAGE)
    mean, std = moments()
    source = "drawn exactly"
    licence = "MIT (drawn by course_lib)"
    citation = (
        "Michlo, Disentanglement using VAEs resembles distance learning and requires overlapping data, master's "
        "dissertation, 2022, Section 7.2"
    )

    def __init__(self):
        size = torch.tensor(SIZES).unsqueeze(1)
        edge = SPACING * torch.arange(POSITIONS).view(-1, 1, 1) + (max(SIZES) - size) // 2
        pixel = torch.arange(IMAGE)
        covered = ((pixel >= edge) & (pixel < edge + size)).to(torch.uint8) * 255  # (position, scale, pixel)
        self._tables = (covered, torch.tensor(COLOURS, dtype=torch.uint8))

    def render(self, index: Tensor) -> Tensor:
        self._tables = [table.to(index.device) for table in self._tables]
        covered, colours = self._tables
        x, y, scale, colour = XYObject.space.factors(index).unbind(1)
        rows = covered[y, scale].unsqueeze(1) & colours[colour].unsqueeze(2)  # (B, channel, row)
        return rows.unsqueeze(3) & covered[x, scale].view(-1, 1, 1, IMAGE)


class XYObjectShades(XYObject):
    """The images of `XYObject`, index by index, with the colour as two factors: intensity (4) and colour (6 hues).

    Intensity varies more slowly than colour, so the same index means the same image in both. Along these factors the
    distances between images agree better with the distances between factors, and the thesis finds that models
    disentangle them better (Figure 7.3).
    """

    space = FactorSpace(
        ("x", "y", "scale", "intensity", "colour"), (POSITIONS, POSITIONS, len(SIZES), len(LEVELS), len(HUES))
    )
