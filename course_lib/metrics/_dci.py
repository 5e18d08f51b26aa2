"""Disentanglement, completeness and informativeness."""

import numpy as np

from course_lib.metrics.samples import Samples, as_samples, draw_samples, warn_if_few, warn_if_single
from course_lib.metrics.score import Score, latents_by_factors, with_factors, with_twin
from course_lib.metrics.trees import LEVELS, fit_trees


def from_samples(
    latents,
    factors,
    *,
    num_test: int | None = None,
    seed: int = 0,
    levels: int | None = LEVELS,
    jobs: int | None = None,
    names=None,
) -> Score:
    """DCI of latents (n, D) for factors, integers (n, F); see `dci`.

    It is tested on `num_test` points (None: a third of them) that `seed` draws, and learnt from the others.
    """
    samples = as_samples(latents, factors, names).shuffled(num_test, seed)
    return _measure(samples, num_test, seed, levels, jobs)


def _measure(samples: Samples, num_test: int | None, seed: int, levels: int | None, jobs: int | None) -> Score:
    kept = samples.kept()
    train, test = kept.split(num_test)
    warn_if_few(len(train.latents), 100 * max(len(np.unique(factor)) for factor in kept.factors.T), "DCI")
    warn_if_single(kept.names, "DCI disentanglement")
    fits = fit_trees(train, test, seed=seed, levels=levels, jobs=jobs)
    values = {
        "disentanglement": _concentration(fits.importance),
        "completeness": _concentration(fits.importance.T),
        "informativeness": float(fits.test.mean()),
        "informativeness_train": float(fits.train.mean()),
    }
    named = {f"informativeness_{name}": float(value) for name, value in zip(kept.names, fits.test, strict=True)}
    settings = {"train": len(train.latents), "test": len(test.latents), "levels": levels, "seed": seed}
    matrix = latents_by_factors(samples.spread(fits.importance), samples.names)
    headline = values["disentanglement"]
    return Score("DCI disentanglement", headline, with_factors(values, named), settings, matrix, "importance")


@with_twin(from_samples)
def dci(
    encode,
    data=None,
    seed: int = 0,
    *,
    num_samples: int = 10_000,
    num_test: int = 5_000,
    levels: int | None = LEVELS,
    jobs: int | None = None,
) -> Score:
    r"""Does each latent matter to one factor, each factor need one latent, and is all there? Higher is better.

    Gradient-boosted trees predict each factor k from all latents; R (D, F) holds the importance of each latent for each
    factor (the columns sum to 1). Disentanglement and completeness, from 0 to 1, are

    .. math:: \sum_j \frac{\sum_k R_{jk}}{\sum_{jk} R_{jk}} \Big( 1 - \frac{H(R_{j\cdot})}{\log F} \Big), \qquad
        \sum_k \frac{\sum_j R_{jk}}{\sum_{jk} R_{jk}} \Big( 1 - \frac{H(R_{\cdot k})}{\log D} \Big)

    with H the entropy of a row or column divided by its sum. Informativeness is the accuracy on `num_test` other
    points, averaged over factors. All three depend on `num_samples`: name it with the value.

    encode : images uint8 (B, C, H, W) → latents (B, D), or `Encodings`, which bring their own data.
    levels : how finely the trees see the latents: about n/levels neighbouring values become one, but never more than
        about 2 % of those to the nearer end, so that fewer than 100 levels are like 100. This costs about .002 of the
        score and saves a quarter of the time; None keeps every value apart.
    jobs : processes that fit factors side by side, of a quarter of a gigabyte each; None takes as many as there are
        processors, but at most 3, if it is worth it.
    values : "disentanglement" (the headline), "completeness", "informativeness", "informativeness_train", and
        "informativeness_" of each factor. matrix: importance, latents × factors.

    Constant latents and factors are left out, and D and F count the others; with one latent (one factor) completeness
    (disentanglement) is 1 if anything matters; latents that are all constant score 0.

    Cost: 100 trees for every value of every factor, about 0.2 s · D · Σ f in all at 10,000 points. Source: Eastwood
    and Williams, A framework for the quantitative evaluation of disentangled representations, 2018; trees as in
    Locatello et al., 2019, Appendix C. Chapter 04.
    """
    samples = draw_samples(encode, data, num_samples, seed, num_test)
    return _measure(as_samples(*samples), num_test, seed, levels, jobs)


def _concentration(importance: np.ndarray) -> float:
    """One minus the normalised entropy of each row, averaged with the rows' sums as weights; 0 without any."""
    total = importance.sum(1)
    if total.sum() == 0:
        return 0.0
    shares = importance[total > 0] / total[total > 0, None]
    entropies = -(shares * np.log(np.where(shares > 0, shares, 1))).sum(1)
    concentration = 1 - entropies / np.log(max(importance.shape[1], 2))
    return float((concentration * total[total > 0]).sum() / total.sum())
