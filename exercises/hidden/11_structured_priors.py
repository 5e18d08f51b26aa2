"""Hidden checks of chapter 11: one draw, heavy tails, other clouds, narrow posteriors in many latents.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import torch

from course_grading.exercise import hidden
from course_grading.registry import find

SIZES = "draws, angles and divergences that also hold at other sizes"


def _large_trees(generator: torch.Generator) -> list[list]:
    """Many blocks, exponents below 1 and far above 2, and a single draw."""
    cases = []
    for n, blocks, size, outer, scale in ((1, 5, 4, 0.6, 2.0), (30, 2, 8, 9.0, 0.1)):
        energy = 0.1 + 6 * torch.rand(n, generator=generator, dtype=torch.float64)
        shares = torch.rand(n, blocks, generator=generator, dtype=torch.float64).softmax(1)
        inside = (3 * torch.rand(n, blocks, size, generator=generator, dtype=torch.float64)).softmax(2)
        signs = 2.0 * torch.randint(2, (n, blocks * size), generator=generator).double() - 1
        inner = 0.5 + 8 * torch.rand(blocks, generator=generator, dtype=torch.float64)
        cases.append([energy, shares, inside, signs, outer, inner, scale])
    return cases


def _other_clouds(generator: torch.Generator) -> list[list]:
    """A line, a cloud far from the origin, one angle, exponents below 1."""
    line = torch.linspace(-2, 1, 31, dtype=torch.float64)
    far = 3 + torch.rand(20, 2, generator=generator, dtype=torch.float64)
    return [
        [torch.stack([line, 0.4 * line], 1), 0.6, 1.5, [0, -21.8, 45, 360]],
        [far, 3.3, 9.0, [12, 192, 40]],
        [far[:3], 1.5, 2.0, [33]],
    ]


def _narrow_codes(generator: torch.Generator) -> list[list]:
    """Forty latents with narrow posteriors, and exponents below 2."""
    mean, noise = torch.randn(2, 7, 40, generator=generator, dtype=torch.float64)
    log_variance = -5 + 0.5 * torch.rand(7, 40, generator=generator, dtype=torch.float64)
    parts = [mean + (log_variance / 2).exp() * noise, mean, log_variance]
    return [[*(part.requires_grad_() for part in parts), 8, 1.6, 1.3, 0.7]]


EXERCISES = (
    hidden(find("11.1"), "11.1h", title="Other trees", objective=SIZES, points=1, cases=_large_trees),
    hidden(find("11.2"), "11.2h", title="Other clouds", objective=SIZES, points=1, cases=_other_clouds),
    hidden(find("11.3"), "11.3h", title="Narrow codes", objective=SIZES, points=1, cases=_narrow_codes),
)
