"""Which images meet in a batch: index tensors drawn from a `FactorSpace` with an explicit generator, on its device."""

import torch
from torch import Tensor

from course_lib.arguments import check_integers
from course_lib.factors import FactorSpace


def singles(space: FactorSpace, n: int, generator: torch.Generator) -> Tensor:
    """n indices, uniform over the grid and with replacement: int64 (n,)."""
    check_integers(1, n=n)
    return torch.randint(len(space), (n,), generator=generator, device=generator.device)
