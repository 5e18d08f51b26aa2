"""Hidden checks of chapter 23: large faders, long queues, and scores of many cells.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import torch

from course_grading.exercise import hidden
from course_grading.registry import find

SIZES = "faders, queues and scores that also hold at other sizes"


def _large_faders(generator: torch.Generator) -> list[list]:
    """Rings of up to 90 rows, caps of one row and of all but one, two places."""
    values, step = (int(torch.randint(low, high, (), generator=generator)) for low, high in ((10, 15), (4, 7)))
    return [[values, values * step - 1, step, True], [values, 1, step, False], [2, 5, 4, True], [30, 50, 3, True]]


def _long_queues(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Tables of random images, twelve factors of ten values and two of two."""
    cases = []
    for factors, values in ((12, 10), (2, 2), (1, 5)):
        images = torch.randn(factors, values, 6, generator=generator, dtype=torch.float64)
        images = images * (1 + torch.arange(factors).view(-1, 1, 1))
        cases.append([(images.unsqueeze(2) - images.unsqueeze(1)).square().sum(3)])
    return cases


def _many_cells(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """A thousand cells of twenty runs; one cell of seven."""
    cases = []
    for cells, runs in ((1_000, 20), (1, 7)):
        confidence = torch.rand(cells, generator=generator, dtype=torch.float64)
        cases.append([confidence, torch.randint(2, (cells, runs), generator=generator)])
    return cases


EXERCISES = (
    hidden(find("23.1"), "23.1h", title="Large faders", objective=SIZES, points=1, cases=_large_faders),
    hidden(find("23.2"), "23.2h", title="Long queues", objective=SIZES, points=1, cases=_long_queues),
    hidden(find("23.3"), "23.3h", title="Many cells", objective=SIZES, points=1, cases=_many_cells),
)
