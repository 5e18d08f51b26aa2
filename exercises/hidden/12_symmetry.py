"""Hidden checks of chapter 12: long orbits, walks of many corners, larger tangent spaces, and factors of one size.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import math

import torch

from course_grading.checks.ch12_symmetry import bundles, turn_of
from course_grading.exercise import hidden
from course_grading.registry import find

OTHERS = "parts, turns, connections and factors that also hold of other worlds"


def _long_orbits(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """A table of 12 × 7 and single states that no button moves, in a random order."""
    states = torch.arange(84).view(12, 7)
    order = torch.randperm(90, generator=generator)
    presses = [torch.cat([states.roll(-3, 0).flatten(), torch.arange(84, 90)]),
               torch.cat([states.roll(-2, 1).flatten(), torch.arange(84, 90)])]  # fmt: skip
    pictures = torch.randn(90, 3, generator=generator, dtype=torch.float64)
    return [[pictures, *(order[press][order.argsort()] for press in presses)]]


def _many_corners(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Circles of latitude with 16 corners, and walks through corners at random that cross themselves."""
    angles = torch.arange(16, dtype=torch.float64) * 2 * math.pi / 16
    heights = 0.3 + 0.5 * torch.rand(4, 1, generator=generator, dtype=torch.float64)
    rings = (1 - heights**2).sqrt()
    circles = torch.stack([rings * angles.cos(), rings * angles.sin(), heights.expand(4, 16)], 2)
    wild = torch.randn(10, 7, 3, generator=generator, dtype=torch.float64)
    wild[..., 2] = wild[..., 2].abs() + 0.5  # no two corners are opposite each other
    wild = wild / wild.norm(dim=2, keepdim=True)
    return [[walks[turn_of(walks).abs() < 3]] for walks in (circles, wild)]


def _large_planes(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Tangent spaces of nine dimensions in 20; edges that begin and end at the same points."""
    near = torch.randn(20, 9, generator=generator, dtype=torch.float64)
    near = near + 0.2 * torch.randn(12, 20, 9, generator=generator, dtype=torch.float64)
    i, j = torch.randint(12, (2, 40), generator=generator)
    return [[torch.linalg.qr(near)[0], i, j]]


def _many_factors(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Three factors of one size, two of another, and one alone."""
    return bundles(((2, 2, 2), (3, 3, 1), (2,)), generator, count=4)


EXERCISES = (
    hidden(find("12.2"), "12.2h", title="Long orbits", objective=OTHERS, points=1, cases=_long_orbits),
    hidden(find("12.3"), "12.3h", title="Many corners", objective=OTHERS, points=1, cases=_many_corners),
    hidden(find("12.4"), "12.4h", title="Large planes", objective=OTHERS, points=1, cases=_large_planes),
    hidden(find("12.5"), "12.5h", title="Many factors", objective=OTHERS, points=1, cases=_many_factors),
)
