"""Which images meet in a batch: index tensors drawn from a `FactorSpace` with an explicit generator, on its device."""

import torch
from torch import Tensor

from course_lib.factors import FactorSpace


def singles(space: FactorSpace, n: int, generator: torch.Generator) -> Tensor:
    """n indices, uniform over the grid and with replacement: int64 (n,)."""
    if not isinstance(n, int) or n < 1:
        raise ValueError(f"n: got {n!r}; allowed are integers from 1.")
    return torch.randint(len(space), (n,), generator=generator, device=generator.device)
