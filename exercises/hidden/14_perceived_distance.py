"""Hidden checks of chapter 14: larger images, other scales, and factors whose last image is the first.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import torch

from course_grading.exercise import hidden
from course_grading.registry import find

NUMERICS = "distances that also hold on large images, bright images and equal images"


def _large_images(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """64 × 64 in colour, nearly white against white: as uint8 the differences would wrap."""
    first = torch.randint(250, 256, (3, 3, 64, 64), generator=generator, dtype=torch.uint8)
    return [[first, torch.full_like(first, 255)], [torch.full_like(first, 255), first]]


def _raw_rows(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Pixels on [0, 255], all bright, that differ by single grey levels."""
    base = torch.randint(200, 255, (1, 4_096), generator=generator).float()
    pair = [base + (torch.rand(rows, 4_096, generator=generator) < 0.005) for rows in (5, 40)]
    return [pair]


def _round_trips(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """A factor that ends where it began, as dSprites' orientation does, at several sizes."""
    cases = []
    for size in (5, 12, 40):
        steps = (torch.arange(size).unsqueeze(1) - torch.arange(size)).abs()
        around = torch.minimum(steps, size - 1 - steps).float()
        bumps = 0.1 * torch.rand(size, size, generator=generator)
        cases.append([torch.stack([around, around * (1 + bumps + bumps.T)])])
    return cases


EXERCISES = (
    hidden(find("14.1"), "14.1h", title="Large images", objective=NUMERICS, points=1, cases=_large_images),
    hidden(find("14.2"), "14.2h", title="Bright raw images", objective=NUMERICS, points=1, cases=_raw_rows),
    hidden(find("14.3"), "14.3h", title="Equal images", objective=NUMERICS, points=1, cases=_round_trips),
)
