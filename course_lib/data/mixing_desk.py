"""The mixing desk: four faders, each in a column of its own, and no two that move alike. Drawn exactly."""

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass

import torch
from torch import Tensor

from course_lib.arguments import check_choice, check_instance, check_integers, check_seed
from course_lib.data.grid import GridDataset
from course_lib.data.on_devices import OnDevices
from course_lib.factors import FactorSpace

LETTERS = "abcdefgh"  # names that say nothing about what a fader does


@dataclass(frozen=True)
class Fader:
    """A cap of `height` × `width` pixels at one of `values` places, `step` pixels apart, in a column of its own.

    grey : brightness of the cap, 1 to 255.
    wraps : whether what leaves the column below, after values · step pixels, comes in again above.

    Chapter 23.
    """

    values: int
    height: int
    step: int
    width: int
    grey: int = 255
    wraps: bool = False

    def __post_init__(self):
        names = ("values", "height", "step", "width", "grey")
        for name, value in zip(names, check_integers(1, **{name: getattr(self, name) for name in names}), strict=True):
            object.__setattr__(self, name, value)
        check_choice((False, True), wraps=self.wraps)
        object.__setattr__(self, "wraps", bool(self.wraps))
        if self.values < 2 or self.grey > 255:
            raise ValueError(f"values, grey: got {self.values} and {self.grey}; allowed are from 2, and up to 255.")
        if self.wraps and self.height >= self.values * self.step:
            raise ValueError(
                f"height: got {self.height}; a cap that wraps within {self.values * self.step} pixels must be shorter."
            )

    @property
    def reach(self) -> int:
        """How many rows of pixels the fader needs."""
        return self.values * self.step if self.wraps else self.height + (self.values - 1) * self.step

    def column(self, rows: int) -> Tensor:
        """The grey of each row at each value: uint8 (values, rows)."""
        row, start = torch.arange(rows), self.step * torch.arange(self.values).unsqueeze(1)
        below = (row - start) % self.reach if self.wraps else row - start
        covered = (below >= 0) & (below < self.height) & (row < self.reach)
        return covered.to(torch.uint8) * self.grey


FADERS = (
    Fader(values=6, height=8, step=1, width=4),  # slides over itself
    Fader(values=4, height=4, step=4, width=2),  # never overlaps itself
    Fader(values=6, height=5, step=2, width=3, wraps=True),  # comes round again
    Fader(values=6, height=8, step=1, width=3, grey=110),  # slides like the first, and is dim
)


class MixingDesk(GridDataset):
    """Faders side by side, one pixel of black between them: 864 images of 16×16 in grey.

    A factor is the place of a fader, counted from above: a, b, … from left to right. Columns do not overlap, so the
    squared distances of two images are the sums of those of their faders. `MixingDesk.variant(seed)` draws other sizes
    and another arrangement.

    Parameters
    ----------
    faders : `Fader`s, or their arguments (values, height, step, width, grey, wraps), up to eight.
    image_size : side of the image in pixels; the faders must fit.

    Chapter 23.
    """

    source = "drawn exactly"
    licence = "MIT (drawn by course_lib)"
    citation = "this course, chapter 23"

    def __init__(self, faders: Sequence[Fader | Sequence[int]] = FADERS, image_size: int = 16):
        faders, (image_size,) = _check_faders(faders), check_integers(2, image_size=image_size)
        wide, high = sum(fader.width + 1 for fader in faders) - 1, max(fader.reach for fader in faders)
        if max(wide, high) > image_size:
            raise ValueError(f"image_size: got {image_size}; these faders need {wide} columns and {high} rows.")
        self.faders = faders
        self.options = dict(faders=tuple(map(astuple, faders)), image_size=image_size)
        self.space = FactorSpace(LETTERS[: len(faders)], [fader.values for fader in faders])
        self.shape = (1, image_size, image_size)
        lanes, left = torch.zeros(len(faders), max(self.space.sizes), image_size, image_size, dtype=torch.uint8), 0
        for lane, fader in zip(lanes, faders, strict=True):
            lane[: fader.values, :, left : left + fader.width] = fader.column(image_size).unsqueeze(2)
            left += fader.width + 1
        self._tables = OnDevices(lanes)
        self.mean, self.std = _moments(faders, image_size**2)

    @classmethod
    def variant(cls, seed: int) -> "MixingDesk":
        """A desk with other sizes, steps and greys, and its faders in another order, all drawn from the seed."""
        draw = torch.Generator().manual_seed(check_seed(seed))

        def any_of(*allowed: int) -> int:
            return allowed[torch.randint(len(allowed), (), generator=draw)]

        side = any_of(3, 4)
        sliding = Fader(values=any_of(6, 7), height=any_of(7, 8, 9), step=1, width=4)
        jumping = Fader(values=16 // side, height=side, step=side, width=2)
        turning = Fader(values=any_of(6, 7), height=any_of(5, 6), step=2, width=3, wraps=True)
        dim = Fader(values=any_of(6, 7), height=any_of(7, 8, 9), step=1, width=3, grey=any_of(90, 100, 110))
        faders = (sliding, jumping, turning, dim)
        return cls([faders[place] for place in torch.randperm(4, generator=draw)])

    def render(self, index: Tensor) -> Tensor:
        (lanes,) = self._tables(index.device)
        values = self.space.factors(index)  # (B, faders)
        drawn = lanes[0, values[:, 0]]
        for place in range(1, len(self.faders)):
            drawn = drawn | lanes[place, values[:, place]]  # columns are disjoint
        return drawn.unsqueeze(1)


def _check_faders(faders) -> tuple[Fader, ...]:
    check_instance(Iterable, "faders, such as Fader(6, 8, 1, 4)", faders=faders)
    faders = tuple(faders)
    if not 1 <= len(faders) <= len(LETTERS):
        raise ValueError(f"faders: got {len(faders)}; allowed are 1 to {len(LETTERS)}.")
    for place, fader in enumerate(faders):
        check_instance((Fader, list, tuple), "a Fader or its arguments", **{f"faders[{place}]": fader})
        if not isinstance(fader, Fader) and not 4 <= len(fader) <= 6:
            raise ValueError(f"faders[{place}]: got {len(fader)} arguments; allowed are 4 to 6, as of a Fader.")
    return tuple(fader if isinstance(fader, Fader) else Fader(*fader) for fader in faders)


def _moments(faders: Sequence[Fader], pixels: int) -> tuple[tuple[float], tuple[float]]:
    """Mean and std, exactly, in the convention of `GridDataset`: no cap ever changes its area, so all images agree."""
    greys = [(fader.height * fader.width, fader.grey / 255) for fader in faders]
    mean, square = (sum(area * grey**power for area, grey in greys) / pixels for power in (1, 2))
    return (mean,), (((square - mean**2) * pixels / (pixels - 1)) ** 0.5,)
