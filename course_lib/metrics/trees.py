"""Gradient-boosted trees that predict each factor from the latents: what DCI and a downstream measure rest on."""

from typing import NamedTuple

import joblib
import numpy as np
import sklearn
from sklearn.ensemble import GradientBoostingClassifier

from course_lib.arguments import check_integers
from course_lib.metrics.classifiers import accuracies
from course_lib.metrics.samples import Samples

LEVELS = 256
COARSENESS = 0.02
SLOW = 10.0  # estimated processor seconds from which starting processes pays
PROCESSES = 3  # at most, unless told otherwise: each takes a quarter of a gigabyte


class TreeFits(NamedTuple):
    """For each factor: the importance of each latent (D, F), and the accuracy (F,) in training and in the test."""

    importance: np.ndarray
    train: np.ndarray
    test: np.ndarray


def fit_trees(
    train: Samples, test: Samples, *, seed: int, levels: int | None = LEVELS, jobs: int | None = None
) -> TreeFits:
    """One `GradientBoostingClassifier` of scikit-learn per factor, as it comes (100 trees per value, depth 3).

    levels : sorting the latents is most of the work, so neighbouring values of a latent become one: about n/levels of
        them, but never more than about 2 % of those to the nearer end, so that fewer than 100 levels are like 100. No
        leaf then differs by more than 2 % from one that every value could make, and a quarter of the time is saved.
        None keeps every value apart. Either way only the order of a latent's values counts.
    jobs : how many processes fit factors side by side; None takes as many as there are processors, but at most 3, if it
        is worth it.
    """
    if levels is not None:
        check_integers(2, levels=levels)
    codes, test_codes = _ranks(train.latents, test.latents, levels)
    if jobs is None:
        jobs = min(joblib.cpu_count(), PROCESSES) if estimated_seconds(train) > SLOW else 1
    tasks = [
        joblib.delayed(_fit)(_model(seed), codes, factor, test_codes, test_factor)
        for factor, test_factor in zip(train.factors.T, test.factors.T, strict=True)
    ]
    fits = joblib.Parallel(n_jobs=min(*check_integers(1, jobs=jobs), len(tasks)))(tasks)
    importance, train_accuracy, test_accuracy = (np.array(column) for column in zip(*fits, strict=True))
    return TreeFits(importance.T, train_accuracy, test_accuracy)


def estimated_seconds(train: Samples) -> float:
    """Processor seconds that `fit_trees` takes, roughly: 0.2 · D · Σ f for 10,000 points."""
    values = sum(len(np.unique(factor)) for factor in train.factors.T)
    return 0.2 * train.latents.shape[1] * values * len(train.latents) / 10_000


def _model(seed: int) -> GradientBoostingClassifier:
    return GradientBoostingClassifier(random_state=seed % 2**32)


def _fit(model, codes, factor, test_codes, test_factor) -> tuple[np.ndarray, float, float]:
    # scikit-learn checks its arguments again for each of the hundreds of trees, a seventh of the time
    with sklearn.config_context(skip_parameter_validation=True, assume_finite=True):
        accuracy = accuracies(model, codes, factor, test_codes, test_factor)
    importance = np.zeros(codes.shape[1])
    if hasattr(model, "estimators_"):
        importance[np.ptp(codes, axis=0) > 0] = model.feature_importances_
    return importance, *accuracy


def _ranks(latents: np.ndarray, others: np.ndarray, levels: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The place of each value among the different values of `latents` (n, D), or among groups of them: float32."""
    ranks = np.empty(latents.shape, np.float32), np.empty(others.shape, np.float32)
    for column in range(latents.shape[1]):
        edges = np.unique(latents[:, column])
        if levels is not None and len(edges) > levels:
            edges = edges[_starts(len(edges), levels)]
        for rank, values in zip(ranks, (latents, others), strict=True):
            rank[:, column] = np.searchsorted(edges, values[:, column], side="right")
    return ranks


def _starts(n: int, levels: int) -> np.ndarray:
    """Where groups of n sorted values start: steps of 2 % of the way to the nearer end, of 1 to n/levels values."""
    place, starts = 0.0, [0]
    while place < n / 2:
        place += max(1, min(COARSENESS * place, n / levels))
        starts.append(int(place))
    lower = np.array(starts)
    return np.unique(np.concatenate([lower[lower <= n // 2], n - lower[(lower > 0) & (lower < n / 2)]]))
