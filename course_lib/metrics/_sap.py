"""The separated attribute predictability score."""

import numpy as np
from sklearn.svm import LinearSVC

from course_lib.metrics.classifiers import accuracies
from course_lib.metrics.samples import Samples, as_samples, draw_samples, warn_if_few
from course_lib.metrics.scale import cap, unit
from course_lib.metrics.score import Score, latents_by_factors, with_factors, with_twin


def from_samples(latents, factors, *, num_test: int | None = None, seed: int = 0, names=None) -> Score:
    """The SAP score of latents (n, D) for factors, integers (n, F); see `sap`.

    It is tested on `num_test` points (None: a third of them) that `seed` draws, and learnt from the others.
    """
    samples = as_samples(latents, factors, names).shuffled(num_test, seed)
    return _measure(samples, num_test).with_settings(seed=seed)


def _measure(samples: Samples, num_test: int | None) -> Score:
    kept = samples.kept()
    train, test = kept.split(num_test)
    warn_if_few(len(train.latents), 50 * max(len(np.unique(factor)) for factor in kept.factors.T), "SAP")
    accuracy, chance = _accuracy_matrix(train, test)
    squared = _squared_correlation(kept)
    discrete, continuous = _gaps(accuracy, chance), _gaps(squared, np.zeros(len(kept.names)))
    values = {"discrete": float(discrete.mean()), "continuous": float(continuous.mean())}
    values = with_factors(values, dict(zip(kept.names, discrete.tolist(), strict=True)))
    settings = {"train": len(train.latents), "test": len(test.latents)}
    matrix = latents_by_factors(samples.spread(accuracy), samples.names)
    return Score("SAP", values["discrete"], values, settings, matrix, "accuracy of one latent")


@with_twin(from_samples)
def sap(encode, data=None, seed: int = 0, *, num_samples: int = 10_000, num_test: int = 5_000) -> Score:
    r"""How much better does the best single latent predict a factor than the second best? Higher is better.

    .. math:: \frac{1}{F} \sum_k \big( S_{j_k k} - \max_{j \ne j_k} S_{jk} \big)

    Discrete, the headline: S is the test accuracy of a linear support vector machine on latent j alone (C = 0.01,
    classes balanced, one against the rest). Such a machine can only cut off the two ends of an axis, so even the
    factors themselves score low when they have many values. Its penalty also bears on the offset, so neither moving nor
    shrinking the latents leaves it as it is: the reference values are those of y/8, which is not centred. Latents
    beyond 2¹⁰, where the penalty on the weights is next to nothing, are brought to that scale.
    Continuous: S is the squared correlation of latent and factor.

    encode : images uint8 (B, C, H, W) → latents (B, D), or `Encodings`, which bring their own data.
    values : "discrete" (the headline), "continuous", and the discrete gap of each factor. matrix: the test accuracies,
        latents × factors, 0 for constant ones.

    Constant latents and factors are left out; a missing second latent predicts the most frequent value. Source: Kumar
    et al., Variational inference of disentangled latent concepts, 2018, Section 3; the support vector machine as in
    Locatello et al., 2019, Appendix C. Chapter 04.
    """
    samples = draw_samples(encode, data, num_samples, seed, num_test)
    return _measure(as_samples(*samples), num_test).with_settings(seed=seed)


def _accuracy_matrix(train: Samples, test: Samples) -> tuple[np.ndarray, np.ndarray]:
    """Test accuracies (D, F) of each latent alone, and (F,) of no latent at all."""
    latents, test_latents = cap(train.latents, test.latents)
    columns = [[latent] for latent in range(latents.shape[1])]
    accuracy = np.empty((len(columns), len(train.names)))
    chance = np.empty(len(train.names))
    for place, (factor, test_factor) in enumerate(zip(train.factors.T, test.factors.T, strict=True)):
        for latent in columns:
            # the primal problem needs no random numbers, but without a seed the library would draw one globally
            model = LinearSVC(C=0.01, class_weight="balanced", dual=False, random_state=0)
            sides = (latents[:, latent], factor, test_latents[:, latent], test_factor)
            accuracy[latent, place] = accuracies(model, *sides)[1]
        chance[place] = accuracies(None, latents[:, :0], factor, test_latents[:, :0], test_factor)[1]
    return accuracy, chance


def _squared_correlation(samples: Samples) -> np.ndarray:
    offsets = samples.factors.astype(np.uint64) - samples.factors.min(0).astype(np.uint64)  # exact, however large
    latents, factors = (values - values.mean(0) for values in (samples.latents, offsets.astype(np.float64)))
    latents, factors = (values / np.sqrt((values**2).sum(0)) for values in (unit(latents), factors))
    return np.einsum("nd,nf->df", latents, factors) ** 2


def _gaps(matrix: np.ndarray, nothing: np.ndarray) -> np.ndarray:
    """Best less second best of each column (D, F) → (F,), with `nothing` (F,) for latents that are missing."""
    missing = np.broadcast_to(nothing, (max(2 - len(matrix), 0), len(nothing)))
    second, first = np.sort(np.concatenate([matrix, missing]), axis=0)[-2:]
    return first - second
