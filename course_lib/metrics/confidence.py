"""How far a score of a table would move if other rows had been drawn: intervals from halves of the rows."""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from scipy import stats

from course_lib.metrics.samples import Samples, generator
from course_lib.metrics.score import Score

LEVEL = 0.95
FEWEST = 40  # rows: a half of fewer often lacks a value of a factor
HALVES, FEWEST_HALVES, WORK = 100, 20, 2_000_000  # of the rows; and at most so many rows in all of them


class Interval(NamedTuple):
    """A 95 % interval of a score, `low` to `high`, and from how many halves of the rows."""

    low: float
    high: float
    halves: int


def affordable(n: int) -> int:
    """How many halves an interval of n rows is made from, so that it takes seconds: 100, and fewer from 20,000 rows."""
    return min(HALVES, max(FEWEST_HALVES, WORK // n))


def half_sample_interval(score: Callable[..., Score], samples: Samples, halves: int, seed: int) -> Interval:
    """The score of all rows ± the quantile of Student's t times the standard deviation of the scores of random halves.

    It covers what other tables of as many rows, drawn alike, score on average: it is over the rows of this table, not
    over trainings, whose seeds move a score far more, and it moves with n as the score does. A half drawn without
    replacement varies about a mean of its own as much as a whole table does about the truth (Shao and Wu, A general
    theory for jackknife variance estimation, 1989: d = n/2 rows are left out). A bootstrap draws rows twice, which
    raises plug-in information and puts what is tested among what is learnt: benchmarks/intervals.py counts what that
    costs.

    score : (latents, factors) → Score. Raises ValueError, with the reason, where there is no such interval.
    """
    n = len(samples.latents)
    if n < FEWEST:
        raise ValueError(f"no interval: {n} rows are too few to halve; {FEWEST} are needed.")
    draws, found = generator(seed), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the whole table is too small for has been said already
        whole = float(score(samples.latents, samples.factors))
        for _ in range(halves):
            rows = torch.randperm(n, generator=draws)[: n // 2].numpy()
            found.append(float(score(samples.latents[rows], samples.factors[rows])))
    if not np.isfinite([whole, *found]).all():
        raise ValueError("no interval: the score is infinite.")
    reach = float(stats.t.ppf((1 + LEVEL) / 2, halves - 1) * np.std(found, ddof=1))
    return Interval(whole - reach, whole + reach, halves)
