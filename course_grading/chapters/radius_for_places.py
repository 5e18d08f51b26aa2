"""How wide a box blur has to be for a row of places: the answer by trying, and the mistakes in the formula for it."""

import numpy as np
import torch
from torch import Tensor

from course_grading.exercise import Wrong


def places_and_sides(generator: torch.Generator) -> list[list]:
    """Rows of places that increase, with the side of the bars: equally spaced, not so, two of them, wide bars."""
    steps = torch.randint(1, 12, (6, 7), generator=generator)
    cases = [[steps.cumsum(1), int(torch.randint(3, 6, (), generator=generator))]]
    even = 8 * torch.arange(8)
    cases.append([torch.stack([even, even + 3, 5 * torch.arange(8)]), 8])
    lopsided = torch.tensor([[0, 1, 2, 40], [0, 38, 39, 40], [5, 6, 30, 31], [0, 19, 20, 39]])
    cases += [[lopsided, 3], [lopsided, 4], [torch.tensor([[0, 50], [7, 8]]), 2], [torch.tensor([[0, 2, 4, 5]]), 20]]
    return cases


def smallest_radius(places: Tensor, side: int) -> Tensor:
    """By trying every radius, with distances in whole numbers."""
    return torch.tensor([next(r for r in range(1_000) if _grows(row, side, r)) for row in places.tolist()])


def _grows(places: list[int], side: int, radius: int) -> bool:
    distance = _distances(side, 2 * radius + 1, max(places) - min(places))
    for anchor in places:
        shifts = sorted({abs(place - anchor) for place in places})
        if any(distance[near] >= distance[far] for near, far in zip(shifts, shifts[1:], strict=False)):
            return False
    return True


def _distances(side: int, width: int, farthest: int) -> list[int]:
    """The squared distance of a bar and itself, for every shift; the box has weights of 1 here."""
    blurred = np.convolve(np.ones(side, dtype=np.int64), np.ones(width, dtype=np.int64))
    overlap = np.correlate(blurred, blurred, "full")[len(blurred) - 1 :]
    overlap = np.pad(overlap, (0, farthest + 1))
    return (2 * (overlap[0] - overlap)).tolist()


def _radius(farthest, side):
    """The closed form: 2·radius + side at least one more than the farthest shift that must lie on the slope."""
    return torch.div(farthest - side + 2, 2, rounding_mode="floor").clamp(min=0)


def _needed(places):
    """The second farthest shift, from either end."""
    return torch.maximum(places[:, -2] - places[:, 0], places[:, -1] - places[:, 1])


def _span(places):
    return places[:, -1] - places[:, 0]


RADIUS_WRONG = (
    Wrong(
        lambda places, side: _radius(_span(places), side),
        "wide enough, but not the smallest: the farthest place may lie just where the curve becomes flat, as long as "
        "the second farthest lies before that.",
    ),
    Wrong(
        lambda places, side: _radius(places[:, -2] - places[:, 0], side),
        "right for distances from the first place. From the last one the shifts are others, and the second farthest "
        "may be farther.",
    ),
    Wrong(
        lambda places, side: _radius(places.diff(dim=1).amax(1), side),
        "with this radius each bar's blur meets its neighbours'. All that are farther than that are at one distance.",
    ),
    Wrong(
        lambda places, side: torch.div(_needed(places) + 1, 2, rounding_mode="floor"),
        "the bar's own width was left out: A is the box's triangle smoothed with the bar's, and reaches side − 1 "
        "pixels further than the box alone.",
    ),
    Wrong(
        lambda places, side: torch.div(_needed(places) - side + 1, 2, rounding_mode="floor").clamp(min=0),
        "sometimes one too small: two places are then at the same distance. A(k) is 0 from k = w + side − 1 on, so the "
        "second farthest shift must be smaller than that; and round up.",
    ),
    Wrong(
        lambda places, side: 2 * _radius(_needed(places), side) + 1,
        "this is the width of the window, 2·radius + 1: the radius is wanted.",
    ),
    Wrong(
        lambda places, side: (_needed(places) - side + 2).clamp(min=1),
        "this is a width, which may come out even: the radius is wanted, and a window is 2·radius + 1 pixels wide.",
    ),
    Wrong(
        lambda places, side: 2 * _radius(_span(places), side) + 1,
        "this is a width of the window, and not the smallest either: the radius is wanted.",
    ),
    Wrong(
        lambda places, side: torch.div(_needed(places) - side + 2, 2, rounding_mode="floor"),
        "a radius below 0 came out, for bars that overlap by themselves: no blur at all is radius 0.",
    ),
    Wrong(
        lambda places, side: _radius((places.shape[1] - 2) * (places[:, 1] - places[:, 0]), side),
        "the places need not be equally far apart: use them all, not the first step.",
    ),
    Wrong(
        lambda places, side: _radius(_span(places), 1),
        "wide enough, but not the smallest: that is the width for a lit pixel, and for the farthest shift.",
    ),
    Wrong(
        lambda places, side: smallest_radius(places, side).double(),
        "got torch.float64, and the right numbers: whole numbers are wanted, torch.int64.",
    ),
)
