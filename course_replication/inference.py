"""What a few seeds say about the next one: prediction intervals and one-sided tests."""

from collections.abc import Sequence

import numpy as np
from scipy.special import stdtr, stdtrit  # what scipy.stats.t computes with, which takes a second longer to import


def prediction_interval(values: Sequence[float], of: int = 1, level: float = 0.95) -> tuple[float, float]:
    """Where the mean of `of` further runs lies with that probability: mean ± t·s·√(1/of + 1/n).

    values : of n ≥ 2 runs, taken for normal with a common mean and variance; t has n − 1 degrees of freedom.
    """
    values = np.asarray(values, dtype=np.float64)
    n = len(values)
    if n < 2:
        raise ValueError(f"values: got {n}; allowed are two or more, as one has no spread.")
    half = stdtrit(n - 1, (1 + level) / 2) * values.std(ddof=1) * (1 / of + 1 / n) ** 0.5
    return float(values.mean() - half), float(values.mean() + half)


def p_larger(first: Sequence[float] | float, second: Sequence[float] | float) -> float:
    """The p-value of "first is not larger than second" against "it is": Welch's t-test, one-sided.

    Each is a sample of two or more values, or a constant, but not both constants. Samples without any spread decide:
    0 if the first is larger, otherwise 1.
    """
    mean, parts, degrees = 0.0, [], 0.0
    for sign, values in ((1, first), (-1, second)):
        values = np.atleast_1d(np.asarray(values, dtype=np.float64))
        mean += sign * values.mean()
        if len(values) > 1:
            parts.append((values.var(ddof=1) / len(values), len(values) - 1))
    variance = sum(part for part, _ in parts)
    if variance == 0:
        return 0.0 if mean > 0 else 1.0
    degrees = variance**2 / sum(part**2 / freedom for part, freedom in parts)
    return float(stdtr(degrees, -mean / variance**0.5))
