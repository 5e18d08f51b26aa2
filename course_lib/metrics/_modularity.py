"""Modularity and explicitness."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from course_lib.arguments import check_choice
from course_lib.metrics.information import BINS, check_bins, information_matrix, smallest_sample
from course_lib.metrics.samples import Samples, as_samples, draw_samples, warn_if_few, warn_if_single
from course_lib.metrics.scale import cap, centre, lift
from course_lib.metrics.score import Score, latents_by_factors, with_twin


def from_samples(
    latents,
    factors,
    *,
    bins: int = BINS,
    num_test: int | None = None,
    explicitness: bool = True,
    seed: int = 0,
    names=None,
) -> Score:
    """Modularity and explicitness of latents (n, D) for factors, integers (n, F); see `modularity`.

    Explicitness is tested on `num_test` points (None: a third of them) that `seed` draws; the others give all else.
    """
    samples = as_samples(latents, factors, names).shuffled(num_test, seed)
    return _measure(samples, num_test, bins, explicitness).with_settings(seed=seed)


def _measure(samples: Samples, num_test: int | None, bins: int, explicitness: bool) -> Score:
    check_bins(bins)
    check_choice((True, False), explicitness=explicitness)
    kept = samples.kept()
    train, test = kept.split(num_test)
    warn_if_few(len(train.latents), smallest_sample(train.factors, bins), "modularity")
    warn_if_single(kept.names, "modularity")
    information = information_matrix(train.latents, train.factors, bins)
    modular = float(_modularity(information).mean()) if len(information) else 0.0
    values = {"modularity": modular} | (_explicitness(train, test) if explicitness else {})
    settings = {"train": len(train.latents), "test": len(test.latents), "bins": bins}
    matrix = latents_by_factors(samples.spread(information), samples.names)
    return Score("modularity", modular, values, settings, matrix, "mutual information (nats)")


@with_twin(from_samples)
def modularity(
    encode,
    data=None,
    seed: int = 0,
    *,
    num_samples: int = 10_000,
    num_test: int = 5_000,
    bins: int = BINS,
    explicitness: bool = True,
) -> Score:
    r"""Does each latent carry one factor only? From 0 to 1; higher is better. With it: is each factor there at all?

    .. math:: \frac{1}{D} \sum_j \Big( 1 - \frac{\sum_{k \ne k_j} I(z_j; v_k)^2}{(F - 1) \, I(z_j; v_{k_j})^2} \Big)

    where k_j is the factor that latent j has most information on. Information is in nats, of latents in `bins` bins of
    equal width. Duplicated latents keep a modularity of 1: nothing asks that a factor be in one latent only.

    Explicitness: how well logistic regression on all latents tells one value of a factor from the rest; the area under
    the ROC curve on `num_test` points, averaged over values, then factors, and mapped from [½, 1] to [0, 1]. One value
    against the rest, as in the source, cannot single out the middle of an axis; public code that fits one multinomial
    regression can, and finds higher areas. It also depends on the scale of the latents, through the penalty; those
    below 2⁻¹⁰ or beyond 2¹⁰, where that no longer changes much, are brought there.

    encode : images uint8 (B, C, H, W) → latents (B, D), or `Encodings`, which bring their own data.
    explicitness : False leaves it out, and with it nine tenths of the time; the modularity stays what it is.
    values : "modularity" (the headline), "explicitness", "auc" (the mean area itself), "explicitness_" of each factor.
        matrix: mutual information, latents × factors.

    Constant latents and factors are left out; a single factor leaves nothing to be mixed with (modularity 1), latents
    that are all constant score 0. Source: Ridgeway and Mozer, Learning deep disentangled embeddings with the
    F-statistic loss, 2018, Section 3. Chapter 04.
    """
    samples = draw_samples(encode, data, num_samples, seed, num_test)
    return _measure(as_samples(*samples), num_test, bins, explicitness).with_settings(seed=seed)


def _modularity(information: np.ndarray) -> np.ndarray:
    """One minus the squared deviation of each latent's row (D, F) from a row with one factor: (D,)."""
    largest = information.max(1)
    others = (information**2).sum(1) - largest**2
    template = np.where(largest > 0, largest, 1) ** 2 * max(information.shape[1] - 1, 1)
    return np.where(largest > 0, 1 - others / template, 0)


def _explicitness(train: Samples, test: Samples) -> dict[str, float]:
    """The mean area and what is made of it, of all factors and of each."""
    areas = _areas(train, test)
    values = {"explicitness": 2 * float(np.mean(areas)) - 1, "auc": float(np.mean(areas))}
    return values | {f"explicitness_{name}": 2 * area - 1 for name, area in zip(train.names, areas, strict=True)}


def _areas(train: Samples, test: Samples) -> list[float]:
    """The mean area under the ROC curves of each factor's values, on the test points: F numbers."""
    latents, test_latents = lift(*cap(*centre(train.latents, test.latents)))
    areas = []
    for factor, test_factor in zip(train.factors.T, test.factors.T, strict=True):
        tested = [value for value in np.unique(factor) if 0 < np.mean(test_factor == value) < 1]
        each = [_area(latents, factor == value, test_latents, test_factor == value) for value in tested]
        areas.append(float(np.mean(each or [0.5])))
    return areas


def _area(latents: np.ndarray, is_value: np.ndarray, test_latents: np.ndarray, test_is_value: np.ndarray) -> float:
    if latents.shape[1] == 0 or is_value.all():
        return 0.5
    model = LogisticRegression(max_iter=1000).fit(latents, is_value)
    return float(roc_auc_score(test_is_value, model.decision_function(test_latents)))
