"""Hidden checks of chapter 17: more latents than values, many traversals, extreme clouds.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import torch

from course_grading.exercise import hidden
from course_grading.registry import find

NUMERICS = "scores that also hold with many latents, far from the origin and for extreme clouds"


def _many_latents(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """More latents than values, most of which do not move; and many traversals."""
    few = torch.randn(6, 3, 25, generator=generator, dtype=torch.float64)
    few[:, :, 5:] = 2.0
    return [[few], [torch.randn(40, 8, 4, generator=generator, dtype=torch.float64)]]


def _extreme_clouds(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Nearly round clouds, nearly straight ones, and angles close to 0 and 45°."""
    line = torch.tensor([1e-6, 1 - 1e-6, 0.5, 0.5], dtype=torch.float64)
    return [[line, line * torch.tensor([0.5, 0.5, 1 - 1e-6, 1e-6], dtype=torch.float64)]]


def _wide_walks(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """More latents than values, far from the origin."""
    return [[100 + torch.randn(3, 5, 3, 12, generator=generator, dtype=torch.float64).cumsum(2)]]


EXERCISES = (
    hidden(find("17.1"), "17.1h", title="Many latents", objective=NUMERICS, points=1, cases=_many_latents),
    hidden(find("17.4"), "17.4h", title="Extreme clouds", objective=NUMERICS, points=1, cases=_extreme_clouds),
    hidden(find("17.5"), "17.5h", title="Far from the origin", objective=NUMERICS, points=1, cases=_wide_walks),
)
