"""Hidden checks of chapter 18: larger batches, large sizes, and long lists of threes.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import torch

from course_grading.exercise import hidden
from course_grading.registry import find

NUMERICS = "triplets that also hold in larger batches, with equal codes and on grids of other sizes"


def _equal_codes(generator: torch.Generator) -> list[list]:
    """All codes in one point, where the loss is the margin and a root would have no gradient; and a larger batch."""
    truth = torch.randint(5, (4, 4), generator=generator)
    truth = (truth + truth.T) * (1 - torch.eye(4, dtype=torch.int64))
    larger = torch.randn(7, 3, generator=generator, dtype=torch.float64)
    places = torch.arange(7)
    told = (places.unsqueeze(1) - places).abs()
    return [[larger.requires_grad_(), told, 2.0], [torch.ones(4, 2, dtype=torch.float64).requires_grad_(), truth, 10.0]]


def _other_grids(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Sizes whose steps have a large common multiple, and one in which a single factor has more than one value."""
    cases = []
    for sizes in ((183, 4, 24), (10, 15, 8, 8, 8), (1, 1, 5)):
        bounds = torch.tensor(sizes)
        three = (torch.rand(3, 200, len(sizes), generator=generator, dtype=torch.float64) * bounds).long()
        cases.append([*three, bounds])
    return cases


def _long_lists(generator: torch.Generator) -> list[list[torch.Tensor]]:
    return [[torch.randint(3, (300, 3, 6), generator=generator)]]


def _many_classes(generator: torch.Generator) -> list[list]:
    """A dozen images of four classes, and two images of two classes, neither of which has a positive."""
    codes = 3 * torch.randn(12, 4, generator=generator, dtype=torch.float64)
    pair = torch.randn(2, 2, generator=generator, dtype=torch.float64)
    many = torch.arange(12) % 4
    return [[codes.requires_grad_(), many[torch.randperm(12, generator=generator)], 1.5],
            [pair.requires_grad_(), torch.tensor([0, 1]), 1.0]]  # fmt: skip


EXERCISES = (
    hidden(find("18.1"), "18.1h", title="Equal codes", objective=NUMERICS, points=1, cases=_equal_codes),
    hidden(find("18.3"), "18.3h", title="Other grids", objective=NUMERICS, points=1, cases=_other_grids),
    hidden(find("18.4"), "18.4h", title="Long lists", objective=NUMERICS, points=1, cases=_long_lists),
    hidden(find("18.7"), "18.7h", title="Many classes", objective=NUMERICS, points=1, cases=_many_classes),
)
