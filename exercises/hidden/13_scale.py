"""Hidden checks of chapter 13: many sizes, many seeds, other numbers of bins, and bends that are dear.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import torch

from course_grading.exercise import hidden
from course_grading.registry import find

BEYOND = "answers that also hold for other sizes and seeds"


def _long_curves(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Forty sizes over nine decades, and four that lie close together."""
    cases = []
    for count, decades in ((40, 9.0), (4, 0.2)):
        sizes = 10 ** (decades * torch.rand(count, generator=generator, dtype=torch.float64))
        noise = torch.randn(count, generator=generator, dtype=torch.float64)
        cases.append([sizes, 1e-3 * sizes**-0.4 * noise.exp()])
    return cases


def _many_seeds(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Thirty seeds, of which one towers over the others."""
    sizes = 2.0 ** torch.arange(9, dtype=torch.float64)
    scores = 0.1 + torch.rand(30, 9, generator=generator, dtype=torch.float64)
    scores[3] = 40 * sizes**-0.5
    return [[sizes, scores, torch.randint(30, (25, 30), generator=generator)]]


def _other_bins(generator: torch.Generator) -> list[list]:
    """Two bins, and fifty; a wave on a mountain of a mean."""
    angle = 2 * torch.pi * torch.arange(60, dtype=torch.float64) / 60
    waves = torch.stack([angle.sin(), 1e4 + angle.cos(), 1e-9 * (2 * angle).sin()], 1)
    jitter = 1 + 1e-7 * (2 * torch.rand(waves.shape, generator=generator, dtype=torch.float64) - 1)
    return [[waves, 2], [waves * jitter, 2], [waves * jitter, 50]]


def _dear_bends(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Thousands of seeds, and one."""
    step = 0.6 * torch.rand(7, generator=generator, dtype=torch.float64) - 0.3
    sizes = (torch.arange(7) + step).exp()
    bend = torch.tensor([0.01, -0.02, 90.0], dtype=torch.float64)
    return [[bend, 0.5 + torch.rand(3, generator=generator, dtype=torch.float64), sizes]]


EXERCISES = (
    hidden(find("13.1"), "13.1h", title="Long curves", objective=BEYOND, points=1, cases=_long_curves),
    hidden(find("13.2"), "13.2h", title="Many seeds", objective=BEYOND, points=1, cases=_many_seeds),
    hidden(find("13.3"), "13.3h", title="Other bins", objective=BEYOND, points=1, cases=_other_bins),
    hidden(find("13.4"), "13.4h", title="Dear bends", objective=BEYOND, points=1, cases=_dear_bends),
)
