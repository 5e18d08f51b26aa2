"""Hidden checks of chapter 15: larger boards, many values, and tables of other sizes.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import torch

from course_grading.exercise import hidden
from course_grading.registry import find

SCALES = "squares, correlations and prices that also hold at other sizes"


def _large_boards(generator: torch.Generator) -> list[list]:
    """Places up to 31, squares of 1 and of 12 pixels."""
    cases = []
    for spacing, side in ((1, 12), (3, 1), (2, 12)):
        first, second = (torch.randint(32, (100, 2), generator=generator) for _ in range(2))
        cases.append([first, second, spacing, side])
    return cases


def _many_values(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Up to 200 values; distances of 10⁻³ and of 10³ with little and with much scatter."""
    values = torch.tensor([200.0, 183, 100, 2, 5], dtype=torch.float64)
    mean = 10 ** torch.tensor([-3.0, 3, 0, 1, -1], dtype=torch.float64)
    scatter = 2 * torch.rand(5, generator=generator, dtype=torch.float64)
    return [[values, mean, mean * scatter]]


def _wide_rows(generator: torch.Generator) -> list[list[int]]:
    """Squares of one pixel, two places, steps that are no whole number, and many places."""
    wide = 100 + int(torch.randint(0, 9, (), generator=generator))
    return [[11, 1, 32], [2, 16, 32], [12, 5, wide], [3, 6, 25], [29, 1, 125], [34, 1, 46], [23, 1, 31]]


def _large_tables(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """64 images, as many as a square has places, at every spacing; and two."""
    places = torch.cartesian_prod(torch.arange(8), torch.arange(8))
    gap = (places.unsqueeze(1) - places).abs()
    tables = [2.0 * (64 - (8 - spacing * gap).clamp(min=0).prod(2)) for spacing in range(1, 9)]
    pair = torch.rand(3, 1, 1, generator=generator, dtype=torch.float64) * (1 - torch.eye(2, dtype=torch.float64))
    return [[torch.stack(tables).double()], [pair]]


EXERCISES = (
    hidden(find("15.1"), "15.1h", title="Large boards", objective=SCALES, points=1, cases=_large_boards),
    hidden(find("15.2"), "15.2h", title="Many values", objective=SCALES, points=1, cases=_many_values),
    hidden(find("15.3"), "15.3h", title="Wide rows", objective=SCALES, points=1, cases=_wide_rows),
    hidden(find("15.4"), "15.4h", title="Large tables", objective=SCALES, points=1, cases=_large_tables),
)
