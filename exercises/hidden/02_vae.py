"""Hidden checks of chapter 2: the same answers, where a formula that is right on paper can fail on a computer.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import torch

from course_grading.exercise import hidden
from course_grading.registry import find

NUMERICS = "write terms that also hold at the edges: one latent, large batches, narrow posteriors"


def _narrow(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """A large batch, and posteriors as narrow and as far out as untrained encoders can make them."""
    cases = []
    for shape, scale in (((512, 10), 1.0), ((3, 1), 1.0), ((2, 8), 9.0)):
        pair = [scale * torch.randn(shape, generator=generator) for _ in range(2)]
        cases.append([part.requires_grad_() for part in pair])
    return cases


def _large_images(generator: torch.Generator) -> list[list]:
    images, decoded = (torch.rand(2, 3, 64, 64, generator=generator) for _ in range(2))
    return [[images, decoded.requires_grad_(), 0.05]]


EXERCISES = (
    hidden(find("02.1"), "02.1h", title="The price of extreme codes", objective=NUMERICS, points=1, cases=_narrow),
    hidden(
        find("02.7"),
        "02.7h",
        title="The likelihood of large images",
        objective=NUMERICS,
        points=1,
        cases=_large_images,
    ),
)
