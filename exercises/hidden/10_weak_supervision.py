"""Hidden checks of chapter 10: many factors and kinds, many latents, very unequal widths, many values, long films.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import torch

from course_grading.exercise import hidden
from course_grading.registry import find

SIZES = "answers that also hold for pairs of other sizes"


def _many_kinds(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Thirty factors that share columns, and a single kind that changes all."""
    columns = torch.rand(6, 9, generator=generator) < 0.5
    columns[:, 0] = True
    return [[columns[:, torch.randint(9, (30,), generator=generator)]], [torch.ones(1, 4, dtype=torch.bool)]]


def _many_latents(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Forty latents."""
    mean, log_variance = torch.randn(2, 2, 30, 40, generator=generator, dtype=torch.float64)
    return [[mean, 2 * log_variance, torch.randint(41, (30,), generator=generator)]]


def _unequal_widths(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Log-variances 20 apart."""
    mean = 10 * torch.randn(2, 5, 3, generator=generator, dtype=torch.float64)
    log_variance = torch.rand(2, 5, 3, generator=generator, dtype=torch.float64)
    log_variance = log_variance + torch.tensor([-15.0, 5.0], dtype=torch.float64)[:, None, None]
    return [[mean.requires_grad_(), log_variance.requires_grad_()]]


def _many_values(generator: torch.Generator) -> list[list]:
    return [[30, 2, 0.51], [12, 4, 0.5], [4, 6, 0.35]]


def _long_films(generator: torch.Generator) -> list[list]:
    """A thousand frames of six factors, and a film that stands still."""
    steps = torch.rand(1000, 6, generator=generator) < 0.1
    return [[steps.cumsum(0) % 5, 30], [torch.zeros(20, 3, dtype=torch.int64), 4]]


EXERCISES = (
    hidden(find("10.1"), "10.1h", title="Many kinds", objective=SIZES, points=1, cases=_many_kinds),
    hidden(find("10.2"), "10.2h", title="Many latents", objective=SIZES, points=1, cases=_many_latents),
    hidden(find("10.3"), "10.3h", title="Unequal widths", objective=SIZES, points=1, cases=_unequal_widths),
    hidden(find("10.4"), "10.4h", title="Many values", objective=SIZES, points=1, cases=_many_values),
    hidden(find("10.5"), "10.5h", title="Long films", objective=SIZES, points=1, cases=_long_films),
)
