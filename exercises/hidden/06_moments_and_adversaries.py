"""Hidden checks of chapter 6: large batches, many latents, narrow posteriors, many oblique clouds.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import torch

from course_grading.exercise import hidden
from course_grading.registry import find

SIZES = "covariances and divergences that also hold at other sizes"


def _large_batches(generator: torch.Generator) -> list[list]:
    """Many latents, all dependent, in both variants; one of them at the prior for all images."""
    cases = []
    for variant in ("I", "II"):
        mean = torch.randn(32, 8, generator=generator) + torch.randn(32, 1, generator=generator)
        log_variance = -2 + torch.randn(32, 8, generator=generator)
        mean[:, 3], log_variance[:, 3] = 0, 0
        cases.append([mean.requires_grad_(), log_variance.requires_grad_(), variant, 0.5, 5.0])
    return cases


def _many_images(generator: torch.Generator) -> list[list[torch.Tensor]]:
    mean = torch.randn(64, 10, generator=generator)
    return [[mean, -3 + 2 * torch.randn(64, 10, generator=generator)]]


def _many_clouds(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Thirty images, a few of which have nearly all the weight, far from the origin."""
    mean = 20 + torch.randn(30, 5, generator=generator, dtype=torch.float64)
    factor = torch.randn(30, 5, 5, generator=generator, dtype=torch.float64).tril()
    weights = torch.randn(30, generator=generator, dtype=torch.float64).mul(3).softmax(0)
    return [[mean, factor, weights]]


def _narrow_clouds(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Fifty latents with posteriors that hardly reach each other, and codes between them."""
    mean = torch.randn(20, 50, generator=generator)
    log_variance = -8 + 0.3 * torch.randn(20, 50, generator=generator)
    latents = mean[:6] + (log_variance[:6] / 2).exp() * torch.randn(6, 50, generator=generator)
    return [[part.requires_grad_() for part in (latents, mean, log_variance)]]


EXERCISES = (
    hidden(find("06.1"), "06.1h", title="Large batches", objective=SIZES, points=1, cases=_large_batches),
    hidden(find("06.2"), "06.2h", title="Many images", objective=SIZES, points=1, cases=_many_images),
    hidden(find("06.4"), "06.4h", title="Many clouds", objective=SIZES, points=1, cases=_many_clouds),
    hidden(find("06.5"), "06.5h", title="Narrow posteriors", objective=SIZES, points=1, cases=_narrow_clouds),
)
