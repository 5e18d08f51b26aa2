"""Hidden checks of chapter 14: larger images, other scales, and factors whose last image is the first.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import torch

from course_grading.exercise import hidden
from course_grading.registry import find

NUMERICS = "distances that also hold on large images, bright images and equal images"


def _large_images(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """64 × 64 in colour: nearly white against white, more so from pair to pair; and the same with some pixels black.

    As uint8 and as int8 the differences would wrap. Distances are about 10⁻⁴.
    """
    darker = torch.arange(3, 12, 3, dtype=torch.uint8).view(3, 1, 1, 1)
    first = 255 - torch.randint(256, (3, 3, 64, 64), generator=generator, dtype=torch.uint8) % darker
    white, spotted = torch.full_like(first, 255), first.clone()
    spotted[:, :, ::16, ::16] = 0
    return [[first, white], [white, first], [white, spotted]]


def _raw_rows(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Any greys, where nothing rounds; then bright pixels, few of which differ, by 1 to 3 grey levels."""
    base = torch.randint(200, 252, (1, 4_096), generator=generator).float()
    pair = []
    for rows in (5, 40):
        differs = torch.rand(rows, 4_096, generator=generator) < 0.005
        pair.append(base + differs * torch.randint(1, 4, differs.shape, generator=generator))
    return [[255 * torch.rand(rows, 9, generator=generator) for rows in (2, 3)], pair]


def _round_trips(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """A factor that ends where it began, as dSprites' orientation does, at several sizes."""
    cases = []
    for size in (5, 12, 40):
        steps = (torch.arange(size).unsqueeze(1) - torch.arange(size)).abs()
        around = torch.minimum(steps, size - 1 - steps).float()
        bumps = 0.1 * torch.rand(size, size, generator=generator)
        bumps = bumps + bumps.T  # by itself, so that rounding leaves it symmetric
        cases.append([torch.stack([around, around * (1 + bumps)])])
    return cases


EXERCISES = (
    hidden(
        find("14.1"),
        "14.1h",
        title="Large images",
        objective=NUMERICS,
        points=1,
        cases=_large_images,
        tolerance=(2e-5, 1e-9),  # less than the divisor N − 1 makes of N = 12,288, more than float32's rounding
    ),
    hidden(find("14.2"), "14.2h", title="Bright raw images", objective=NUMERICS, points=1, cases=_raw_rows),
    hidden(find("14.3"), "14.3h", title="Equal images", objective=NUMERICS, points=1, cases=_round_trips),
)
