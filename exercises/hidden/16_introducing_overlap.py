"""Hidden checks of chapter 16: large images, wide windows, and rows of many places.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import torch

from course_grading.exercise import hidden
from course_grading.registry import find

SIZES = "blurs that also hold at the size of the thesis' images"


def _large_images(generator: torch.Generator) -> list[list]:
    """Oblong, in colour, with a window of half the image and one of more than all of it; both to be differentiated."""
    images = torch.rand(1, 3, 40, 64, generator=generator).requires_grad_()
    return [[images, 31], [images[:, :1].detach().requires_grad_(), 70]]


def _many_places(generator: torch.Generator) -> list[list]:
    """Twenty places in a row, in steps that differ much."""
    steps = torch.randint(1, 4, (4, 20), generator=generator) ** 2
    return [[steps.cumsum(1), side] for side in (1, 8)]


EXERCISES = (
    hidden(find("16.1"), "16.1h", title="Large images", objective=SIZES, points=1, cases=_large_images),
    hidden(find("16.2"), "16.2h", title="Many places", objective=SIZES, points=1, cases=_many_places),
)
