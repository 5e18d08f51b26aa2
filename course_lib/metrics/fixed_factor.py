"""Groups of images that agree in one factor: what the BetaVAE and the FactorVAE score look at."""

import numpy as np
import torch
from torch import Tensor

from course_lib.factors import FactorSpace
from course_lib.metrics.encodings import Encodings
from course_lib.metrics.samples import require_variation
from course_lib.sampling import singles

CHUNK = 2**17  # representations held at a time; not a matter of D, which must not change what is drawn


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


def mean_differences(
    table: Encodings, factors: Tensor, n: int, batch_size: int, draws: torch.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """n mean absolute differences of `batch_size` pairs, float64 (n, D), and the shared factor of each, int64 (n,)."""
    labels = draw_factors(factors, n, draws)
    points = []
    for part in labels.split(max(CHUNK // (2 * batch_size), 1)):
        index = points_with_fixed_factor(table.space, part.repeat_interleave(batch_size), 2, draws)
        difference = (table(index[:, 0]).double() - table(index[:, 1])).abs()
        points.append(difference.view(len(part), batch_size, -1).numpy().mean(1))
    return np.concatenate(points), labels.numpy()
