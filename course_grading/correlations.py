"""Ranks and their correlation, for references and wrong answers of several chapters."""

import math

import torch
from scipy.stats import rankdata
from torch import Tensor


def ranks(values: Tensor, method: str = "average") -> Tensor:
    """From 1, in one row, without a gradient. method : what ties get, as SciPy calls it."""
    return torch.from_numpy(rankdata(values.detach().numpy(), method)).double()


def pearson(first: Tensor, second: Tensor, constant: float = math.nan) -> Tensor:
    """The linear correlation, in float64 and with its gradient; `constant` where one of the two does not vary."""
    first, second = (values.double() - values.double().mean() for values in (first, second))
    scale = (first.square().sum() * second.square().sum()).sqrt()
    return (first * second).sum() / scale if scale > 1e-9 else torch.tensor(constant, dtype=torch.float64)
