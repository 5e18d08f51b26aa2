"""Hidden checks of chapter 8: the same answers, where a formula that is right on paper can fail on a computer.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import torch
from torch.special import ndtr, ndtri

from course_grading.checks.ch08_impossibility import orthogonal, turned
from course_grading.exercise import hidden
from course_grading.registry import find

EDGES = "write maps that also hold at the edges: many latents, codes far in a tail, noisy pairs"


def _many_latents(generator: torch.Generator) -> list[list]:
    return [[0.3, 60], [1e-4, 3], [0.4999, 2]]


def _in_the_tails(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Codes so near to 0 that their distance from 1 is rounded away."""
    z = 10.0 ** (-1 - 30 * torch.rand(8, 2, generator=generator, dtype=torch.float64))
    return [[z, orthogonal(2, generator)]]


def _noisy(generator: torch.Generator) -> list[list[torch.Tensor]]:
    return [turned(angle, 4_000, generator, noise=0.05) for angle in (30, 87, 3)]


EXERCISES = (
    hidden(find("08.1"), "08.1h", title="Mirrors in many dimensions", objective=EDGES, points=1, cases=_many_latents),
    hidden(
        find("08.2"),
        "08.2h",
        title="Codes far in a tail",
        objective=EDGES,
        points=1,
        cases=_in_the_tails,
        reference=lambda z, matrix: ndtr(ndtri(z) @ matrix.T),
    ),
    hidden(
        find("08.6"), "08.6h", title="Axes from noisy pairs", objective=EDGES, points=1, cases=_noisy,
        tolerance=(0.0, 2.0),
    ),
)  # fmt: skip
