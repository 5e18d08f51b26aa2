"""Groups of images that agree in one factor: what the BetaVAE and the FactorVAE score look at."""

import torch
from torch import Tensor

from course_lib.factors import FactorSpace
from course_lib.metrics.samples import require_variation
from course_lib.sampling import singles


def varying_factors(space: FactorSpace) -> Tensor:
    """The places of the factors with more than one value, int64; a ValueError if there is none."""
    places = torch.tensor([place for place, size in enumerate(space.sizes) if size > 1])
    require_variation(places.numpy() >= 0)
    return places


def draw_factors(factors: Tensor, n: int, draws: torch.Generator) -> Tensor:
    """n of the places `factors`, uniform and with replacement: int64 (n,)."""
    return factors[torch.randint(len(factors), (n,), generator=draws)]


def points_with_fixed_factor(space: FactorSpace, fixed: Tensor, group: int, draws: torch.Generator) -> Tensor:
    """For each factor in `fixed` (n,) a group of points that agree in that factor only by rule: int64 (n, group).

    The shared value and all other factors are uniform.
    """
    points = singles(space, len(fixed) * group, draws).view(-1, group)
    sizes, _ = space.constants(points.device)
    strides = torch.tensor(space.strides)[fixed].unsqueeze(1)
    values = points // strides % sizes[fixed].unsqueeze(1)
    return points + (values[:, :1] - values) * strides
