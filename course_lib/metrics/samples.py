"""Representations and the factors behind them, as the arrays that a score is computed from."""

import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from course_lib.arguments import MOST, check_instance, check_integers, check_seed, integer_tensor
from course_lib.metrics.encodings import as_table, finite_latents, settle
from course_lib.sampling import singles

PACKAGE = str(Path(__file__).parent)


class Samples(NamedTuple):
    """n points of the grid: `latents` float64 (n, D), `factors` int64 (n, F), and the F factor names."""

    latents: np.ndarray
    factors: np.ndarray
    names: tuple[str, ...]

    @property
    def live(self) -> np.ndarray:
        """bool (D,): which latents vary. A constant one carries nothing, and scores leave it out before they start."""
        return np.ptp(self.latents, axis=0) > 0

    @property
    def varying(self) -> np.ndarray:
        """bool (F,): which factors vary. There is nothing to encode in a constant one, and scores leave it out."""
        return (self.factors != self.factors[:1]).any(0)  # a range would overflow for the largest integers

    def kept(self) -> "Samples":
        """The latents and the factors that vary, and nothing else."""
        names = tuple(name for name, varies in zip(self.names, self.varying, strict=True) if varies)
        return Samples(self.latents[:, self.live], self.factors[:, self.varying], names)

    def shuffled(self, num_test: int | None, seed: int) -> "Samples":
        """The points in a random order, so that the last ones are no others than the first; see `split`.

        Whoever lists a grid row by row would else be tested on values of the first factor that nobody has learnt. Warns
        of a factor that has such values all the same.
        """
        order = torch.randperm(len(self.latents), generator=generator(seed)).numpy()
        mixed = Samples(self.latents[order], self.factors[order], self.names)
        train, test = mixed.split(num_test)
        for name, learnt, tested in zip(self.names, train.factors.T, test.factors.T, strict=True):
            if len(np.setdiff1d(tested, learnt)):
                warn(f"factors: {name} has values among the test points that nothing was learnt of; add points.")
        return mixed

    def split(self, num_test: int | None) -> tuple["Samples", "Samples"]:
        """The first points, to learn from, and the last `num_test` points, to test on (None: a third of all)."""
        n = len(self.latents)
        if num_test is None and n < 3:
            raise ValueError(f"latents: got {n} points; to learn from some and test on others, 3 are needed.")
        (num_test,) = check_integers(1, num_test=n // 3 if num_test is None else num_test)
        if num_test >= n:
            raise ValueError(f"num_test: got {num_test} of {n} points; some must be left to learn from.")
        parts = (slice(None, -num_test), slice(-num_test, None))
        return tuple(Samples(self.latents[part], self.factors[part], self.names) for part in parts)

    def spread(self, values) -> np.ndarray:
        """`values` of the kept latents and the kept factors in a matrix (D, F) of all, 0 elsewhere."""
        matrix = np.zeros((len(self.live), len(self.varying)))
        matrix[np.ix_(self.live, self.varying)] = values
        return matrix


def draw_samples(encode, data, n: int, seed: int, num_test: int = 0) -> Samples:
    """n points drawn uniformly from the grid with replacement, and then `num_test` others; their representations.

    The others come from images that are set aside: on a small grid, a model would else be tested on what it has seen.
    """
    check_integers(1, MOST, num_samples=n)
    table, draws = as_table(encode, data), generator(seed)
    if num_test == 0:
        index = singles(table.space, n, draws)
    else:
        check_integers(1, MOST, num_test=num_test)
        require_variation([size > 1 for size in table.space.sizes])
        order = torch.randperm(len(table), generator=draws)
        aside = min(max(round(len(table) * num_test / (n + num_test)), 1), len(table) - 1)
        parts = ((order[aside:], n), (order[:aside], num_test))
        index = torch.cat([part[torch.randint(len(part), (k,), generator=draws)] for part, k in parts])
    return Samples(settle(table(index)).numpy(), table.space.factors(index).numpy(), table.space.names)


def as_samples(latents, factors, names=None) -> Samples:
    """Latents (n, D) and integer factors (n, F), arrays, tensors or data frames, after checking them.

    Factors without names have those of a data frame's columns, or are called "factor 0", …
    """
    names = getattr(factors, "columns", None) if names is None else names
    latents = settle(finite_latents(latents, None, "latents")).numpy()
    factors = integer_tensor(factors, "factors").cpu().numpy()
    if factors.ndim != 2 or len(factors) != len(latents) or factors.shape[1] == 0:
        raise ValueError(f"factors: got shape {factors.shape}; for latents {latents.shape}, ({len(latents)}, F) fits.")
    check_instance(Iterable, "one name per factor", names=() if names is None else names)
    names = tuple(map(str, (f"factor {place}" for place in range(factors.shape[1])) if names is None else names))
    if not len(set(names)) == len(names) == factors.shape[1]:
        raise ValueError(f"names: got {names}; {factors.shape[1]} factors need as many different names.")
    samples = Samples(latents, factors, names)
    require_variation(samples.varying)
    return samples


def require_variation(varying) -> None:
    """A ValueError unless one of the factors varies."""
    if not np.any(varying):
        raise ValueError("factors: got constant ones only; at least one factor must take two values.")


def warn_if_few(n: int, smallest: float, score: str) -> None:
    """Warn when a score rests on fewer samples than it needs to mean anything."""
    smallest = int(np.ceil(smallest))
    if n < smallest:
        warn(f"{n:,} samples are too few for the {score} score to mean much; use at least {smallest:,}.")


def warn_if_single(factors, score: str) -> None:
    """Warn when a score that tells the varying `factors` from each other has only one of them."""
    if len(factors) == 1:
        warn(f"Only one factor varies: whatever the latents, the {score} score has nothing to tell apart.")


def warn(message: str) -> None:
    """A UserWarning that points to the line that called this package."""
    warnings.warn(message, UserWarning, stacklevel=_depth())


def _depth() -> int:
    """The `stacklevel`, for `warn`, of the first caller outside of this package."""
    depth, frame = 1, sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        depth, frame = depth + 1, frame.f_back
    return depth + 1


def generator(seed: int) -> torch.Generator:
    """The only source of randomness of a score."""
    return torch.Generator().manual_seed(check_seed(seed))
