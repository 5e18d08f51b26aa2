"""Hidden checks of chapter 5: many latents, other weights, large batches, other groups.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import torch

from course_grading.exercise import hidden
from course_grading.registry import find

SIZES = "estimates and losses that also hold at other sizes"


def _narrow_batches(generator: torch.Generator) -> list[list]:
    """Forty latents with narrow posteriors, and a dataset of a million images."""
    mean = torch.randn(12, 40, generator=generator)
    log_variance = -5 + 0.3 * torch.randn(12, 40, generator=generator)
    latents = mean + (log_variance / 2).exp() * torch.randn(12, 40, generator=generator)
    return [[*(part.requires_grad_() for part in (latents, mean, log_variance)), 1_000_000]]


def _one_weight(generator: torch.Generator) -> list[list]:
    """Many latents; weights at which nothing is added to a VAE."""
    cases = []
    for size, dim, gamma, beta in ((12, 40, 25.0, 9.0), (3, 5, 0.0, 1.0)):
        error, nats = 50 * torch.rand(size, generator=generator), 2 * torch.rand(size, dim, generator=generator)
        own, shuffled = 4 * torch.randn(2, size, generator=generator)
        parts = [error, nats, own, shuffled, torch.rand((), generator=generator) - 0.4]
        cases.append([*(part.requires_grad_() for part in parts), gamma, beta])
    return cases


def _large_batches(generator: torch.Generator) -> list[list[int]]:
    return [[64, 737_280], [33, 40 + int(torch.randint(0, 9, (), generator=generator))]]


def _many_groups(generator: torch.Generator) -> list[list]:
    """Eight latents in three groups that are no neighbours, nearly dependent."""
    root = torch.randn(8, 9, generator=generator, dtype=torch.float64)
    order = torch.randperm(8, generator=generator).tolist()
    return [[root @ root.T + 1e-3 * torch.eye(8, dtype=torch.float64), [order[:3], order[3:4], order[4:]]]]


EXERCISES = (
    hidden(find("05.1"), "05.1h", title="Narrow posteriors", objective=SIZES, points=1, cases=_narrow_batches),
    hidden(find("05.2"), "05.2h", title="Other weights", objective=SIZES, points=1, cases=_one_weight),
    hidden(find("05.3"), "05.3h", title="Large batches", objective=SIZES, points=1, cases=_large_batches),
    hidden(find("05.5"), "05.5h", title="Many groups", objective=SIZES, points=1, cases=_many_groups),
)
