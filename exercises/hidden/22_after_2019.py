"""Hidden checks of chapter 22: more factors, wide tables, long batches, and larger scenes.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import torch

from course_grading.exercise import hidden
from course_grading.registry import find

SCALES = "matches, scores, penalties and scenes that also hold at other sizes"


def _more_factors(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Four factors in six latents that mix them; one factor; latents in other units."""
    cases = []
    for latents, factors, unit in ((6, 4, 1.0), (3, 1, 1e4), (4, 4, 1e-3)):
        known = torch.rand(60, factors, generator=generator, dtype=torch.float64)
        mix = torch.randn(factors, latents, generator=generator, dtype=torch.float64)
        noise = torch.randn(60, latents, generator=generator, dtype=torch.float64)
        cases.append([unit * (known @ mix + 0.2 * noise), known])
    return cases


def _wide_tables(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Fifty latents, most of them dead; two factors; shares of a thousandth."""
    many = torch.rand(50, 6, generator=generator, dtype=torch.float64) ** 4
    many[torch.rand(50, generator=generator) < 0.7] = 0
    return [[many], [torch.rand(9, 2, generator=generator, dtype=torch.float64) / 1000]]


def _long_batches(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Batches of hundreds, and one in which every code is the same."""
    long = torch.randn(300, 12, generator=generator, dtype=torch.float64) * torch.linspace(0.1, 2, 12)
    same = torch.randn(1, 5, generator=generator, dtype=torch.float64).expand(8, 5).clone()
    return [[long.requires_grad_()], [same.requires_grad_()]]


def _large_scenes(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Scenes of 256 pixels, and pixels from a thousandth to a thousand."""
    cases = []
    for rows, columns, pixels in ((9, 7, 256), (5, 2, 40)):
        down, across = (
            10 ** (3 * torch.rand(n, pixels, generator=generator, dtype=torch.float64) - 1.5) for n in (rows, columns)
        )
        cases.append([down[:1] * across, down * across[:1]])
    return cases


EXERCISES = (
    hidden(find("22.1"), "22.1h", title="More factors", objective=SCALES, points=1, cases=_more_factors),
    hidden(find("22.2"), "22.2h", title="Wide tables", objective=SCALES, points=1, cases=_wide_tables),
    hidden(find("22.3"), "22.3h", title="Long batches", objective=SCALES, points=1, cases=_long_batches),
    hidden(find("22.4"), "22.4h", title="Large scenes", objective=SCALES, points=1, cases=_large_scenes),
)
