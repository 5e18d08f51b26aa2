"""What a few seeds say about the next one: prediction intervals, one-sided tests, and many of them together."""

from collections.abc import Iterable, Sequence
from statistics import fmean, variance


def prediction_interval(values: Sequence[float], of: int = 1, level: float = 0.95) -> tuple[float, float]:
    """Where the mean of `of` further runs lies with that probability: mean ± t·s·√(1/of + 1/n).

    values : of n ≥ 2 runs, taken for normal with a common mean and variance; t has n − 1 degrees of freedom.
    """
    # scipy.special and not scipy.stats, whose import takes a second, and here, as what is exact does without both
    from scipy.special import stdtrit

    values = [float(value) for value in values]
    n = len(values)
    if n < 2:
        raise ValueError(f"values: got {n}; expected two or more, as one has no spread.")
    half = float(stdtrit(n - 1, (1 + level) / 2)) * (variance(values) * (1 / of + 1 / n)) ** 0.5
    return fmean(values) - half, fmean(values) + half


def p_larger(first: Sequence[float] | float, second: Sequence[float] | float) -> float:
    """The p-value of "first is not larger than second" against "it is": Welch's t-test, one-sided.

    Each is a sample of two or more values, or a constant, but not both constants. Samples without any spread decide:
    0 if the first is larger, otherwise 1.
    """
    from scipy.special import stdtr

    means, errors = [], []
    for values in (first, second):
        values = [float(value) for value in values] if isinstance(values, Iterable) else [float(values)]
        means.append(fmean(values))
        if len(values) > 1:
            errors.append((variance(values) / len(values), len(values) - 1))
    gap, squared = means[0] - means[1], sum(error for error, _ in errors)
    if squared == 0:
        return 0.0 if gap > 0 else 1.0
    degrees = squared**2 / sum(error**2 / freedom for error, freedom in errors)
    return float(stdtr(degrees, -gap / squared**0.5))


def holm(p_values: Sequence[float], level: float = 0.05) -> list[bool]:
    """Which of several tests are still significant when any false one among them has at most that probability (Holm).

    From the smallest p on, the k-th of m is held against level / (m − k + 1), and the first that exceeds it ends it.
    """
    p_values = [float(p) for p in p_values]
    wrong = [p for p in p_values if not 0 <= p <= 1]
    if wrong:
        raise ValueError(f"p_values: got {wrong[0]}; expected numbers from 0 to 1.")
    found = [False] * len(p_values)
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[place] > level / (len(p_values) - rank):
            break
        found[place] = True
    return found
