"""Hidden checks of chapter 21: many parts, large images, long rows, and images of other sizes.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import torch

from course_grading.exercise import hidden
from course_grading.registry import find

SIZES = "gaps, distances, noise and shares that also hold at other sizes"


def _many_parts(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Thirty parts, and two of which one is very large."""
    switches = torch.full((1, 30), 2.0, dtype=torch.float64)
    uneven = torch.tensor([[2, 100_000], [99_999, 100_000]], dtype=torch.float64)
    return [[torch.randint(2, 9, (40, 12), generator=generator).double()], [switches], [uneven]]


def _large_images(generator: torch.Generator) -> list[list]:
    """A million pixels; sprites that are equal, that do not meet, and that fill the image."""
    area = torch.tensor([500.0, 300_000, 500_000], dtype=torch.float64)
    either = torch.tensor([0.0, 600_000, 1_000_000], dtype=torch.float64)
    r, m, v = torch.rand(3, 3, generator=generator, dtype=torch.float64)
    return [[area, area.clone(), either, r, m, v / 4, 1_000_000]]


def _long_rows(generator: torch.Generator) -> list[list]:
    """4,096 pixels; indices from 0 to the last of dSprites; a seed of 0 and the authors' 42."""
    index = torch.tensor([737_279, 0, 1, 42, 41])
    sprites = 255 * torch.randint(2, (5, 4_096), generator=generator, dtype=torch.uint8)
    return [[sprites, index, seed] for seed in (42, 0)]


def _other_images(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Two pixels, 40 pixels, images that are bright, and a pair of an image with itself among the others."""
    cases = []
    for count, size in ((5, 2), (120, 40)):
        spread = 1.3 ** -torch.arange(size, dtype=torch.float64)
        images = 50 + torch.randn(count, size, generator=generator, dtype=torch.float64) * spread
        first = torch.randint(count, (2 * count,), generator=generator)
        second = first.roll(1)
        second[0] = first[0]
        cases.append([images, first, second])
    return cases


EXERCISES = (
    hidden(find("21.1"), "21.1h", title="Many parts", objective=SIZES, points=1, cases=_many_parts),
    hidden(find("21.2"), "21.2h", title="Large images", objective=SIZES, points=1, cases=_large_images),
    hidden(find("21.3"), "21.3h", title="Long rows", objective=SIZES, points=1, cases=_long_rows),
    hidden(find("21.4"), "21.4h", title="Other images", objective=SIZES, points=1, cases=_other_images),
)
