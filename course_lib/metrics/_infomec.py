"""Modularity, compactness and explicitness in nats."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from course_lib.arguments import check_numbers
from course_lib.metrics.information import BINS, check_bins, discretise, entropy, information_of, smallest_sample
from course_lib.metrics.samples import Samples, as_samples, draw_samples, warn_if_few, warn_if_single
from course_lib.metrics.scale import standardised
from course_lib.metrics.score import Score, latents_by_factors, with_factors, with_twin

ACTIVE = 0.05
WEAK = 1e4  # C of the logistic regression: its penalty is there only to end the growth of weights that separate


def from_samples(
    latents,
    factors,
    *,
    bins: int = BINS,
    active: float = ACTIVE,
    num_test: int | None = None,
    seed: int = 0,
    names=None,
) -> Score:
    """InfoMEC of latents (n, D) for factors, integers (n, F); see `infomec`.

    InfoE is tested on `num_test` points (None: a third of them) that `seed` draws; the others give all else.
    """
    samples = as_samples(latents, factors, names).shuffled(num_test, seed)
    return _measure(samples, num_test, bins, active).with_settings(seed=seed)


def _measure(samples: Samples, num_test: int | None, bins: int, active: float) -> Score:
    check_bins(bins)
    (active,) = check_numbers(0, 1, active=active)
    kept = samples.kept()
    train, test = kept.split(num_test)
    warn_if_few(len(train.latents), smallest_sample(train.factors, bins), "InfoMEC")
    warn_if_single(kept.names, "InfoM")
    discrete = np.array([len(np.unique(latent)) <= bins for latent in kept.latents.T], dtype=bool)
    shares = _shares(train, discrete, bins)
    used = shares[_active(kept.latents, discrete, active)]
    explicit = [_explicitness(train, test, discrete, place) for place in range(len(kept.names))]
    values = {"infom": _concentration(used), "infoc": _concentration(used.T), "infoe": float(np.mean(explicit))}
    named = {f"infoe_{name}": share for name, share in zip(kept.names, explicit, strict=True)}
    settings = {"train": len(train.latents), "test": len(test.latents), "bins": bins, "active": len(used)}
    matrix = latents_by_factors(samples.spread(shares), samples.names)
    return Score("InfoM", values["infom"], with_factors(values, named), settings, matrix, "I(z; v) / H(v)")


@with_twin(from_samples)
def infomec(
    encode,
    data=None,
    seed: int = 0,
    *,
    num_samples: int = 10_000,
    num_test: int = 5_000,
    bins: int = BINS,
    active: float = ACTIVE,
) -> Score:
    r"""Does each latent know one factor, each factor need one latent, and is it there for a linear reader?

    .. math:: N_{jk} = \frac{I(z_j; v_k)}{H(v_k)}, \qquad
        \text{InfoM} = \frac{\bar{M} - 1/F}{1 - 1/F}, \quad
        \bar{M} = \frac{1}{D} \sum_j \frac{\max_k N_{jk}}{\sum_k N_{jk}}

    .. math:: \text{InfoC} = \frac{\bar{C} - 1/D}{1 - 1/D}, \quad
        \bar{C} = \frac{1}{F} \sum_k \frac{\max_j N_{jk}}{\sum_j N_{jk}}, \qquad
        \text{InfoE} = \frac{1}{F} \sum_k \frac{\hat{H}(v_k) - \hat{H}(v_k|z)}{\hat{H}(v_k)}

    All three go from 0 to 1, and higher is better. D counts the active latents only. Ĥ(v|z), in nats, is the
    cross-entropy of a multinomial logistic regression on all latents on `num_test` other points, Ĥ(v) that of
    the shares of the values; a factor that is predicted worse than by these has 0.

    A latent of at most `bins` values, as quantised ones have, counts as discrete: each value is a bin of its own, and
    the regression gets one variable for each value. The others have `bins` bins of equal width, and the regression gets
    them standardised. Information is the plug-in estimate, biased as `mutual_information` says. The source takes
    nearest neighbours for continuous latents, regresses on all points, and weights all values of a factor alike.

    encode : images uint8 (B, C, H, W) → latents (B, D), or `Encodings`, which bring their own data.
    active : the share of the largest range of a latent that a continuous one must have to be active; discrete ones are
        active if they vary. With 0 so are all, and a collapsed latent's scraps of information count like the others.
    values : "infom" (the headline), "infoc", "infoe", and "infoe_" of each factor. matrix: N, latents × factors; how
        many are active is among the settings.

    Constant latents and factors are left out; with a single factor InfoM is 1, and with a single latent InfoC, less the
    share of latents, or factors, of which nothing is known; latents that are all constant score 0. Source: Hsu et al.,
    Disentanglement via latent quantization, 2023, Section 4, and the authors' code. Chapter 22.
    """
    samples = draw_samples(encode, data, num_samples, seed, num_test)
    return _measure(as_samples(*samples), num_test, bins, active).with_settings(seed=seed)


def _shares(samples: Samples, discrete: np.ndarray, bins: int) -> np.ndarray:
    """The information of each latent on each factor, as a share of the factor's entropy: (D, F)."""
    codes = np.where(discrete, samples.latents, discretise(samples.latents, bins))
    information = information_of(codes, samples.factors)
    entropies = np.array([entropy(factor) for factor in samples.factors.T])
    return np.divide(information, entropies, out=np.zeros_like(information), where=entropies > 0)


def _active(latents: np.ndarray, discrete: np.ndarray, share: float) -> np.ndarray:
    """bool (D,): which of the latents (n, D), which all vary, are wide enough to count."""
    ranges = np.ptp(latents, axis=0)
    return discrete | (ranges >= share * ranges.max(initial=0))


def _concentration(shares: np.ndarray) -> float:
    """How much of each row (k, l) is in its largest entry, averaged and stretched from [1/l, 1] to [0, 1]."""
    if shares.size == 0:
        return 0.0
    total = shares.sum(1)
    evenly = 1 / shares.shape[1]
    largest = np.where(total > 0, shares.max(1) / np.where(total > 0, total, 1), evenly)
    if shares.shape[1] == 1:
        return float((total > 0).mean())
    return float((largest.mean() - evenly) / (1 - evenly))


def _explicitness(train: Samples, test: Samples, discrete: np.ndarray, place: int) -> float:
    """The share of the cross-entropy of factor `place` that a linear reader of the latents saves, at least 0."""
    factor, test_factor = train.factors[:, place], test.factors[:, place]
    values, codes = np.unique(factor, return_inverse=True)
    known = np.isin(test_factor, values)
    if len(values) == 1 or not known.any() or not len(discrete):
        return 0.0
    test_codes = np.searchsorted(values, test_factor[known])
    readable, test_readable = _readable(train.latents, test.latents[known], discrete)
    model = LogisticRegression(C=WEAK, max_iter=1000, tol=1e-4).fit(readable, codes)
    labels = np.arange(len(values))
    blind = log_loss(test_codes, np.tile(np.bincount(codes) / len(codes), (len(test_codes), 1)), labels=labels)
    seeing = log_loss(test_codes, model.predict_proba(test_readable), labels=labels)
    return float(np.clip(1 - seeing / blind, 0, 1))


def _readable(latents: np.ndarray, others: np.ndarray, discrete: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What a linear reader gets: discrete latents with one variable for each value, the others standardised."""
    parts = [standardised(latents[:, ~discrete], others[:, ~discrete])]
    for latent, other in zip(latents[:, discrete].T, others[:, discrete].T, strict=True):
        values = np.unique(latent)
        parts.append(tuple((column[:, None] == values).astype(np.float64) for column in (latent, other)))
    return tuple(np.concatenate(columns, axis=1) for columns in zip(*parts, strict=True))
