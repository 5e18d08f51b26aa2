"""Hidden checks of chapter 7: large tables, many codes, colour images, many classes.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import torch

from course_grading.exercise import hidden
from course_grading.registry import find

SIZES = "bounds and losses that also hold at other sizes"


def _large_worlds(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Twenty secrets and sixty images, most pairs of which never occur."""
    joint = torch.rand(20, 60, generator=generator, dtype=torch.float64)
    joint = torch.where(torch.rand(20, 60, generator=generator) < 0.7, 0.0, joint)
    joint[:, 0] = torch.rand(20, generator=generator, dtype=torch.float64) + 0.01
    joint[0] += 0.01  # every image occurs
    answers = torch.where(joint > 0, torch.rand(20, 60, generator=generator, dtype=torch.float64) + 0.01, 0.0)
    return [[joint / joint.sum(), answers / answers.sum(0).clamp(min=1e-9)]]


def _many_codes(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Twelve continuous codes with narrow Gaussians, and forty categories."""
    statistics = torch.randn(7, 64, generator=generator)
    statistics[:, 12:24] -= 5
    codes = 2 * torch.rand(7, 12, generator=generator) - 1
    return [[statistics.requires_grad_(), codes, torch.randint(40, (7,), generator=generator)]]


def _colour_images(generator: torch.Generator) -> list[list]:
    """A large batch of images in three colours, and a critic that is flat on half of them."""
    slopes = torch.randn(20, 3, 16, 16, generator=generator) / 10
    slopes[::2] = 0
    values = [torch.randn(20, generator=generator).requires_grad_() for _ in range(2)]
    return [[*values, slopes.requires_grad_(), 7.5]]


def _many_classes(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Two hundred labels of fifty classes, of which a dozen occur, and logits far from 0."""
    labels = torch.randint(12, (200,), generator=generator) * 4
    return [[500 + 5 * torch.randn(200, 50, generator=generator, dtype=torch.float64), labels]]


EXERCISES = (
    hidden(find("07.1"), "07.1h", title="Many secrets", objective=SIZES, points=1, cases=_large_worlds),
    hidden(find("07.2"), "07.2h", title="Many codes", objective=SIZES, points=1, cases=_many_codes),
    hidden(find("07.3"), "07.3h", title="Colour images", objective=SIZES, points=1, cases=_colour_images),
    hidden(find("07.5"), "07.5h", title="Many classes", objective=SIZES, points=1, cases=_many_classes),
)
