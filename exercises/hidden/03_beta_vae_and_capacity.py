"""Hidden checks of chapter 3: wide spectra, many looks, odd sizes, and grids with one factor.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import torch

from course_grading.exercise import hidden
from course_grading.registry import find

SCALES = "rates, looks, prices and capacities that also hold at other sizes"


def _wide_spectra(generator: torch.Generator) -> list[list]:
    """Variances over ten orders of magnitude, many directions; prices far above and far below all of them."""
    wide = 10 ** (10 * torch.rand(3, 200, generator=generator, dtype=torch.float64) - 5)
    return [[wide, 0.3], [wide, 1e-6], [wide, 1e6]]


def _many_looks(generator: torch.Generator) -> list[list]:
    """A thousand rough looks, and one precise one."""
    return [
        [torch.randn(3, 1000, generator=generator, dtype=torch.float64), 0.3, 50.0],
        [torch.randn(6, 1, generator=generator, dtype=torch.float64), -4.0, 1e-3],
    ]


def _odd_sizes(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Sizes that are no powers of 2, β from 10⁻⁴ to 10⁴."""
    sizes = [torch.randint(1, 5000, (9,), generator=generator).double() for _ in range(4)]
    return [[10 ** (8 * torch.rand(9, generator=generator, dtype=torch.float64) - 4), *sizes]]


def _long_trainings(generator: torch.Generator) -> list[list]:
    """One image, one latent, three channels; the step of the ramp's end, and ten times as many."""
    cases = []
    for images, latents, index in ((1, 1, 2000), (7, 12, 200), (3, 5, 1)):
        decoded, pixels = (torch.randn(images, 3, 4, 6, generator=generator) for _ in range(2))
        mean, log_variance = (torch.randn(images, latents, generator=generator) for _ in range(2))
        parts = [decoded.requires_grad_(), pixels, mean.requires_grad_(), log_variance.requires_grad_()]
        cases.append([*parts, index, 200, 4.5, 30.0])
    return cases


def _grids(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """One factor; a factor that does nothing; values that do not begin at 0."""
    one = torch.randperm(9, generator=generator).unsqueeze(1)
    two = torch.cartesian_prod(torch.arange(3), torch.arange(4))
    pictures = torch.randn(3, 5, generator=generator, dtype=torch.float64)[two[:, 0]]
    return [
        [torch.randn(9, 4, generator=generator, dtype=torch.float64), one],
        [pictures, two],
        [torch.randn(12, 5, generator=generator, dtype=torch.float64), two * 3 + 2],
    ]


EXERCISES = (
    hidden(find("03.1"), "03.1h", title="Wide spectra", objective=SCALES, points=1, cases=_wide_spectra),
    hidden(find("03.2"), "03.2h", title="Many looks", objective=SCALES, points=1, cases=_many_looks),
    hidden(find("03.3"), "03.3h", title="Odd sizes", objective=SCALES, points=1, cases=_odd_sizes),
    hidden(find("03.4"), "03.4h", title="Long trainings", objective=SCALES, points=1, cases=_long_trainings),
    hidden(find("03.5"), "03.5h", title="Other grids", objective=SCALES, points=1, cases=_grids),
)
