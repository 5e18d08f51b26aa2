"""How well, and from how few examples, a factor can be learnt from the representation."""

from collections.abc import Callable

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from course_lib.arguments import check_integers
from course_lib.metrics.classifiers import accuracies
from course_lib.metrics.samples import Samples, as_samples, draw_samples, warn_if_few
from course_lib.metrics.scale import unit
from course_lib.metrics.score import Score, with_factors, with_twin
from course_lib.metrics.trees import LEVELS, fit_trees

Learner = Callable[[Samples, Samples], np.ndarray]  # training points, test points → the accuracy of each factor
FEW = 100


def trees_from_samples(
    latents,
    factors,
    *,
    num_few: int = FEW,
    num_test: int | None = None,
    seed: int = 0,
    levels: int | None = LEVELS,
    jobs: int | None = None,
    names=None,
) -> Score:
    """The measure on latents (n, D) and factors, integers (n, F); see `downstream_trees`.

    It is tested on `num_test` points (None: a third of them) that `seed` draws, and learnt from the others.
    """
    samples = as_samples(latents, factors, names).shuffled(num_test, seed)
    return _measure_trees(samples, num_few, num_test, seed, levels, jobs)


def _measure_trees(samples: Samples, num_few: int, num_test: int | None, seed: int, levels, jobs) -> Score:
    def learn(train: Samples, test: Samples) -> np.ndarray:
        return fit_trees(train, test, seed=seed, levels=levels, jobs=jobs).test

    score = _measure("downstream boosted trees", learn, samples, num_few, num_test)
    return score.with_settings(levels=levels, seed=seed)


@with_twin(trees_from_samples)
def downstream_trees(
    encode,
    data=None,
    seed: int = 0,
    *,
    num_samples: int = 10_000,
    num_few: int = FEW,
    num_test: int = 5_000,
    levels: int | None = LEVELS,
    jobs: int | None = None,
) -> Score:
    """How well gradient-boosted trees predict the factors, and from how few examples. Higher is better.

    The accuracy on `num_test` points after learning from `num_samples`, averaged over factors; the statistical
    efficiency is the accuracy after learning from `num_few` of them, divided by it.

    encode : images uint8 (B, C, H, W) → latents (B, D), or `Encodings`, which bring their own data.
    values : "accuracy" (the headline), "accuracy_few", "efficiency", and "accuracy_" of each factor.

    The trees are those of `dci`, and so are `levels`, `jobs` and the cost. Constant latents and factors are left out.
    Source: Locatello et al., Challenging common assumptions, 2019, Section 5.5. Chapter 04.
    """
    samples = draw_samples(encode, data, num_samples, seed, num_test)
    return _measure_trees(as_samples(*samples), num_few, num_test, seed, levels, jobs)


def logistic_from_samples(
    latents, factors, *, num_few: int = FEW, num_test: int | None = None, seed: int = 0, names=None
) -> Score:
    """The measure on latents (n, D) and factors, integers (n, F); see `downstream_logistic`.

    It is tested on `num_test` points (None: a third of them) that `seed` draws, and learnt from the others.
    """
    samples = as_samples(latents, factors, names).shuffled(num_test, seed)
    return _measure_logistic(samples, num_few, num_test).with_settings(seed=seed)


def _measure_logistic(samples: Samples, num_few: int, num_test: int | None) -> Score:
    def learn(train: Samples, test: Samples) -> np.ndarray:
        sides = zip(train.factors.T, test.factors.T, strict=True)
        return np.array([accuracies(_logistic(), train.latents, a, test.latents, b)[1] for a, b in sides])

    samples = samples._replace(latents=unit(samples.latents))  # whose variance a float holds: it is standardised anyway
    return _measure("downstream logistic regression", learn, samples, num_few, num_test)


@with_twin(logistic_from_samples)
def downstream_logistic(
    encode, data=None, seed: int = 0, *, num_samples: int = 10_000, num_few: int = FEW, num_test: int = 5_000
) -> Score:
    """How well logistic regression predicts the factors, and from how few examples. Higher is better.

    As `downstream_trees`, with scikit-learn's multinomial logistic regression (C = 1) on standardised latents. Source:
    Locatello et al., 2019, Section 5.5. Chapter 04.
    """
    samples = draw_samples(encode, data, num_samples, seed, num_test)
    return _measure_logistic(as_samples(*samples), num_few, num_test).with_settings(seed=seed)


def _logistic():
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def _measure(name: str, learn: Learner, samples: Samples, num_few: int, num_test: int | None) -> Score:
    check_integers(1, num_few=num_few)
    kept = samples.kept()
    train, test = kept.split(num_test)
    if num_few > len(train.latents):
        raise ValueError(f"num_few: got {num_few}; allowed are at most the {len(train.latents)} points to learn from.")
    warn_if_few(len(train.latents), 100 * max(len(np.unique(factor)) for factor in kept.factors.T), name)
    few = Samples(train.latents[:num_few], train.factors[:num_few], train.names)
    accuracy, accuracy_few = learn(train, test), learn(few, test)
    values = {"accuracy": float(accuracy.mean()), "accuracy_few": float(accuracy_few.mean())}
    values["efficiency"] = values["accuracy_few"] / values["accuracy"] if values["accuracy"] > 0 else 0.0
    named = {f"accuracy_{factor}": float(value) for factor, value in zip(kept.names, accuracy, strict=True)}
    values = with_factors(values, named)
    settings = {"train": len(train.latents), "few": num_few, "test": len(test.latents)}
    return Score(name, values["accuracy"], values, settings)
