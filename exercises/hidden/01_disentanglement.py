"""Hidden checks of chapter 01: other grids, factors of many values, large tables.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import torch

from course_grading.exercise import hidden
from course_grading.registry import find

SCALES = "places, pairs and tables that also hold at other sizes"


def _large_grids(generator: torch.Generator) -> list[list]:
    """dSprites, eight factors of two values, a grid of 10¹² places."""
    cases = []
    for sizes, total in (([3, 6, 40, 32, 32], 737_280), ([2] * 8, 256), ([10_000, 10_000, 10_000], 10**12)):
        first = torch.randint(total - 1, (50,), generator=generator)
        second = torch.cat([first[:25] + 1, torch.randint(total, (25,), generator=generator)])
        cases.append([first, second, sizes])
    return cases


def _many_values(generator: torch.Generator) -> list[list]:
    """Factors of 2 to 64 values."""
    cases = []
    for size in (2, 3, 40, 64):
        values = torch.randint(size, (200,), generator=generator)
        cases.append([values, torch.rand(200, generator=generator, dtype=torch.float64), size])
    return cases


def _large_tables(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Up to 32 latents, half of them dead, and importance that is spread over many powers of ten."""
    cases = []
    for latents, factors in ((32, 6), (4, 9), (2, 2)):
        table = 10 ** (-8 * torch.rand(latents, factors, generator=generator, dtype=torch.float64))
        table[: latents // 2 * (latents > 4)] = 0
        cases.append([table / table.sum(0)])
    return cases


EXERCISES = (
    hidden(find("01.1"), "01.1h", title="Large grids", objective=SCALES, points=1, cases=_large_grids),
    hidden(find("01.2"), "01.2h", title="Many values", objective=SCALES, points=1, cases=_many_values),
    hidden(find("01.3"), "01.3h", title="Large tables", objective=SCALES, points=1, cases=_large_tables),
)
