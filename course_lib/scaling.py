"""Scores over sizes: a power law, a law that levels off, and how far either is known from few points.

Sizes are whatever has been made larger: steps, parameters, images, or their product. Scores are means of seeds, or one
row for each seed. Logarithms are natural, so that an exponent has no unit.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from course_lib.arguments import check_choice, check_integers, check_numbers, check_seed

RATES = np.geomspace(0.01, 10, 301)  # that a law which levels off is tried with


@dataclass(frozen=True)
class PowerLaw:
    """score = coefficient · size^exponent. Chapter 13."""

    coefficient: float
    exponent: float

    def __call__(self, sizes) -> np.ndarray:
        """The scores at sizes (K,) → float64 (K,)."""
        return self.coefficient * np.asarray(sizes, dtype=np.float64) ** self.exponent


@dataclass(frozen=True)
class Levelling:
    """score = limit − gap · (size / unit)^(−rate): it rises (gap > 0) or falls (gap < 0) towards its limit.

    Chapter 13.
    """

    limit: float
    gap: float
    rate: float
    unit: float

    def __call__(self, sizes) -> np.ndarray:
        """The scores at sizes (K,) → float64 (K,)."""
        return self.limit - self.gap * (np.asarray(sizes, dtype=np.float64) / self.unit) ** -self.rate


def power_law(sizes, scores) -> PowerLaw:
    """The straight line through log scores over log sizes, by least squares: two numbers, so K − 2 degrees of freedom.

    sizes, scores : (K,) above 0, of at least two different sizes. Raises ValueError otherwise.

    Source: the form of Kaplan et al., Scaling laws for neural language models, 2020, Eq. 1.1. Chapter 13.
    """
    sizes, scores = _checked(sizes, scores, fewest=2, positive=True)
    x, y = np.log(sizes), np.log(scores)
    exponent = ((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum()
    return PowerLaw(float(np.exp(y.mean() - exponent * x.mean())), float(exponent))


def levelling(sizes, scores) -> Levelling:
    """The law that levels off with the smallest squared error: three numbers, so K − 3 degrees of freedom.

    For each of 301 rates from .01 to 10 the limit and the gap are found by linear least squares. A rate of .01 is next
    to a logarithm, which has no limit in sight.

    sizes (K,) above 0, of at least three different sizes; scores (K,). Raises ValueError otherwise. Chapter 13.
    """
    sizes, scores = _checked(sizes, scores, fewest=3)
    unit = float(np.exp(np.log(sizes).mean()))
    falling = (sizes / unit) ** -RATES[:, None]  # (rates, K)
    centred, apart = falling - falling.mean(1, keepdims=True), scores - scores.mean()
    gaps = -(centred @ apart) / (centred**2).sum(1)
    best = ((apart + gaps[:, None] * centred) ** 2).sum(1).argmin()
    limit = scores.mean() + gaps[best] * falling[best].mean()
    return Levelling(float(limit), float(gaps[best]), float(RATES[best]), unit)


def exponent_interval(sizes, scores, level: float = 0.95) -> tuple[float, float]:
    """The exponent of `power_law` ± t standard errors, with K − 2 degrees of freedom: (low, high).

    It holds if log scores scatter about the line independently, alike and normally. sizes, scores : (K,) above 0,
    K > 2. Raises ValueError otherwise, and for a level outside 0 to 1. Chapter 13.
    """
    sizes, scores = _checked(sizes, scores, fewest=2, positive=True)
    check_numbers(0, 1, above=True, level=level)
    if len(sizes) < 3:
        raise ValueError(f"sizes: got {len(sizes)}; an interval needs 3 points or more, since two lie on every line.")
    law, x = power_law(sizes, scores), np.log(sizes)
    spread = ((np.log(scores) - np.log(law(sizes))) ** 2).sum() / (len(x) - 2)
    error = np.sqrt(spread / ((x - x.mean()) ** 2).sum())
    far = float(student.ppf((1 + level) / 2, len(x) - 2) * error)
    return law.exponent - far, law.exponent + far


def bootstrap(sizes, scores, by: str = "seeds", draws: int = 1000, seed: int = 0) -> np.ndarray:
    """Exponents of power laws through resampled scores: float64 (draws,).

    sizes (K,); scores (S, K), a row for each seed, all above 0. by "seeds": S rows are drawn with replacement and
    averaged, for the numbers of one row belong together (one training, one start, one order of batches). by "points":
    the K sizes are drawn with replacement, each with its mean; draws of a single size are drawn again. Chapter 13.
    """
    check_choice(("seeds", "points"), by=by)
    (draws,) = check_integers(1, draws=draws)
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"scores: got shape {table.shape}; allowed are (seeds, sizes).")
    sizes, mean = _checked(sizes, table.mean(0), fewest=2, positive=True)
    generator, found = np.random.default_rng(check_seed(seed)), []
    while len(found) < draws:
        if by == "seeds":
            found.append(power_law(sizes, table[generator.integers(len(table), size=len(table))].mean(0)).exponent)
            continue
        kept = generator.integers(len(sizes), size=len(sizes))
        if len(np.unique(sizes[kept])) > 1:
            found.append(power_law(sizes[kept], mean[kept]).exponent)
    return np.array(found)


def held_out(fit, sizes, scores, held: int) -> np.ndarray:
    """What a law that is fitted to all but the `held` largest sizes predicts there, over what was found: (held,).

    fit : `power_law` or `levelling`, or a function like them; sizes, scores : (K,); held from 1 to K − 1. 1 is a
    perfect prediction. Chapter 13.
    """
    sizes, scores = _checked(sizes, scores, fewest=2)
    (held,) = check_integers(1, len(sizes) - 1, held=held)
    order = np.argsort(sizes)
    near, far = order[:-held], order[-held:]
    return fit(sizes[near], scores[near])(sizes[far]) / scores[far]


def _checked(sizes: Sequence, scores: Sequence, fewest: int, positive: bool = False) -> tuple[np.ndarray, np.ndarray]:
    sizes, scores = (np.asarray(each, dtype=np.float64) for each in (sizes, scores))
    if sizes.ndim != 1 or sizes.shape != scores.shape:
        raise ValueError(f"sizes, scores: got shapes {sizes.shape} and {scores.shape}; allowed are two of (K,).")
    if not (np.isfinite(sizes).all() and (sizes > 0).all()):
        raise ValueError("sizes: got some that are not finite and above 0; allowed are positive numbers.")
    if len(np.unique(sizes)) < fewest:
        raise ValueError(f"sizes: got {len(np.unique(sizes))} different ones; allowed are {fewest} or more.")
    if not np.isfinite(scores).all() or positive and not (scores > 0).all():
        raise ValueError(f"scores: got some that are not finite{' and above 0' if positive else ''}.")
    return sizes, scores
