"""Hidden checks of chapter 19: many latents, codes far apart in scale, and long trainings.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import torch

from course_grading.exercise import hidden
from course_grading.registry import find

NUMERICS = "masks, distances and schedules that also hold for many latents and unusual scales"


def _many_latents(generator: torch.Generator) -> list[list]:
    """25 latents of which most do not move, rows of very different sizes, and rows that lie on the threshold."""
    few = torch.rand(8, 25, generator=generator)
    few[:, 5:] = 0.0
    level = torch.randint(1, 9, (4, 1), generator=generator).float().repeat(1, 25)  # all alike: none is shared
    return [[few, 0.5], [few * 10.0 ** torch.arange(-3, 5).unsqueeze(1), 0.4], [level, 0.5]]


def _far_codes(generator: torch.Generator) -> list[list]:
    """Codes at the scale that a margin of 10 brings, with latents that are equal in both."""
    anchor, negative = (20 * torch.randn(6, 25, generator=generator) for _ in range(2))
    negative[:, 10:] = anchor[:, 10:]
    return [[anchor.requires_grad_(), negative.requires_grad_(), 0.6, 0.25]]


def _long_training(generator: torch.Generator) -> list[list]:
    """The thesis' 86,400 steps, and a wait that is nearly the whole training."""
    steps = torch.randint(0, 90_000, (50,), generator=generator)
    return [[steps, 86_400, 1.0, 0.5, 0.1], [steps, 86_400, 0.0, 0.5, 0.9]]


EXERCISES = (
    hidden(find("19.1"), "19.1h", title="Many latents", objective=NUMERICS, points=1, cases=_many_latents),
    hidden(find("19.2"), "19.2h", title="Codes far apart", objective=NUMERICS, points=1, cases=_far_codes),
    hidden(find("19.5"), "19.5h", title="A long training", objective=NUMERICS, points=1, cases=_long_training),
)
