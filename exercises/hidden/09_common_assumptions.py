"""Hidden checks of chapter 9: many dead latents, many methods, long lists of ties, and studies of other sizes.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import torch

from course_grading.exercise import hidden
from course_grading.registry import find

SIZES = "answers that also hold for studies of other sizes"


def _mostly_dead(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Ten latents, of which three vary, and they are not neighbours; narrow posteriors."""
    mean = torch.full((200, 10), 0.25, dtype=torch.float64)
    root = torch.randn(3, 3, generator=generator, dtype=torch.float64)
    mean[:, [1, 4, 9]] = torch.randn(200, 3, generator=generator, dtype=torch.float64) @ root
    return [[mean, torch.randn(200, 10, generator=generator, dtype=torch.float64) - 4]]


def _many_methods(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Forty methods of very unequal numbers of models, with scores near 1,000."""
    label = torch.cat([torch.arange(40), torch.zeros(60, dtype=torch.int64)])
    score = 1000 + torch.rand(100, generator=generator, dtype=torch.float64) + 0.05 * (label % 7)
    return [[score, 1000 - 13 * label]]


def _many_ties(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Scores of two and of three values."""
    first = torch.randint(2, (80,), generator=generator).double()
    second = torch.randint(3, (80,), generator=generator).double() - first
    first[0], first[1], second[0], second[1] = 0, 1, 2, -1
    return [[first, second]]


def _many_draws(generator: torch.Generator) -> list[list]:
    """Thousands of draws of few images and of many."""
    cases = [[torch.randint(images, (3000,), generator=generator), 500] for images in (900, 20_000)]
    cases[0][0][0] = cases[0][0][-1]
    return cases


def _large_studies(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """36 configurations of 50 seeds, and two of one each, level."""
    parts = [torch.rand(36, 50, generator=generator, dtype=torch.float64).mul(9).round() / 9 for _ in range(2)]
    level = torch.ones(2, 1, dtype=torch.float64)
    return [parts, [torch.tensor([[0.1], [0.2]], dtype=torch.float64), level]]


EXERCISES = (
    hidden(find("09.1"), "09.1h", title="Mostly dead", objective=SIZES, points=1, cases=_mostly_dead),
    hidden(find("09.2"), "09.2h", title="Many methods", objective=SIZES, points=1, cases=_many_methods),
    hidden(find("09.3"), "09.3h", title="Many ties", objective=SIZES, points=1, cases=_many_ties),
    hidden(find("09.4"), "09.4h", title="Many draws", objective=SIZES, points=1, cases=_many_draws),
    hidden(find("09.5"), "09.5h", title="Large studies", objective=SIZES, points=1, cases=_large_studies),
)
