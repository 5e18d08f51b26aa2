"""Hidden checks of chapter 20: long targets, hundreds of pairs, values on other scales, and larger kernels.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import torch

from course_grading.exercise import hidden
from course_grading.registry import find

SIZES = "ranks and kernels that also hold on long inputs and other scales"


def _long_targets(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """A rising and a falling trend under noise, with weights from a hundredth to ten."""
    trend = torch.linspace(0, 3, 300, dtype=torch.float64)
    cases = []
    for slope in (1, -1):
        noise = torch.randn(300, generator=generator, dtype=torch.float64)
        cases.append([slope * trend + noise, 10 ** (3 * torch.rand(300, generator=generator, dtype=torch.float64) - 2)])
    return cases


def _many_pairs(generator: torch.Generator) -> list[list[torch.Tensor]]:
    truth = torch.randint(8, (200,), generator=generator).double()
    noise = torch.randn(200, generator=generator, dtype=torch.float64)
    return [[(scale * (truth + 2 * noise)).requires_grad_(), truth] for scale in (1e-4, 1, 1e4)]


def _other_scales(generator: torch.Generator) -> list[list[torch.Tensor]]:
    values = torch.randn(200, generator=generator, dtype=torch.float64).exp()
    return [[values], [1e4 * values - 5e4], [-values], [values.round()]]


def _large_kernels(generator: torch.Generator) -> list[list[torch.Tensor]]:
    large = torch.rand(63, 63, generator=generator, dtype=torch.float64)
    return [[large.requires_grad_()], [torch.ones(7, 7, dtype=torch.float64).requires_grad_()]]


EXERCISES = (
    hidden(find("20.1"), "20.1h", title="Long targets", objective=SIZES, points=1, cases=_long_targets),
    hidden(find("20.3"), "20.3h", title="Many pairs", objective=SIZES, points=1, cases=_many_pairs),
    hidden(find("20.4"), "20.4h", title="Other scales", objective=SIZES, points=1, cases=_other_scales),
    hidden(find("20.5"), "20.5h", title="Large kernels", objective=SIZES, points=1, cases=_large_kernels),
)
