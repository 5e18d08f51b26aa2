"""The interventional robustness score."""

import numpy as np

from course_lib.arguments import check_numbers
from course_lib.metrics.samples import as_samples, draw_samples, warn_if_few, warn_if_single
from course_lib.metrics.score import Score, latents_by_factors, with_twin

SMALLEST = 100  # points per factor value: fewer hold no 0.99 quantile


def from_samples(latents, factors, *, quantile: float = 0.99, names=None) -> Score:
    """The IRS of latents (n, D) for factors, integers (n, F); see `irs`."""
    (quantile,) = check_numbers(0, 1, above=True, quantile=quantile)
    samples = as_samples(latents, factors, names)
    kept = samples.kept()
    warn_if_few(len(kept.latents), SMALLEST * max(len(np.unique(factor)) for factor in kept.factors.T), "IRS")
    warn_if_single(kept.names, "IRS")
    farthest = np.abs(kept.latents - kept.latents.mean(0)).max(0, initial=0)
    deviation = np.stack([_deviation(kept.latents, factor, quantile) for factor in kept.factors.T], axis=1)
    robustness = 1 - deviation / farthest[:, None]
    best = robustness.max(1, initial=0)
    headline = float((best * farthest).sum() / farthest.sum()) if len(farthest) else 0.0
    per_latent = np.zeros(len(samples.live))
    per_latent[samples.live] = best
    values = {"irs": headline} | {f"z{place}": float(value) for place, value in enumerate(per_latent)}
    settings = {"n": len(kept.latents), "quantile": quantile}
    matrix = latents_by_factors(samples.spread(robustness), samples.names)
    return Score("IRS", headline, values, settings, matrix, "interventional robustness")


@with_twin(from_samples)
def irs(encode, data=None, seed: int = 0, *, num_samples: int = 10_000, quantile: float = 0.99) -> Score:
    r"""How little does a latent move when all factors but its own change? From 0 to 1; higher is better.

    .. math:: R_{jk} = 1 - \frac{1}{m_j} \cdot \frac{1}{f_k} \sum_{v}
        Q_q \big\{ |z_j - E[z_j \mid v_k = v]| : v_k = v \big\}

    .. math:: m_j = \max |z_j - E[z_j]|, \qquad
        \text{IRS} = \frac{\sum_j m_j \max(0, \max_k R_{jk})}{\sum_j m_j}

    Fix factor k at each of its f_k values v in turn, and look how far the other factors still move latent j from where
    it is on average: the quantile Q_q at q = `quantile`, in the place of the source's maximum, over all points with
    that value. R is what is left of 1 when the mean of these distances is compared with the largest there is. A latent
    belongs to its best factor, and weighs as much as it moves: one on a large scale outweighs the others.

    encode : images uint8 (B, C, H, W) → latents (B, D), or `Encodings`, which bring their own data.
    values : "irs" (the headline) and the robustness of each latent, at least 0. matrix: latents × factors, where an
        entry may be negative: some value of the factor then spreads the latent further than all values together.

    Constant latents and factors are left out; latents that are all constant score 0. Source: Suter et al., Robustly
    disentangled causal mechanisms, 2019, Section 4; the quantile as in the code of Locatello et al., 2019. Chapter 04.
    """
    samples = draw_samples(encode, data, num_samples, seed)
    score = from_samples(samples.latents, samples.factors, quantile=quantile, names=samples.names)
    return score.with_settings(seed=seed)


def _deviation(latents: np.ndarray, factor: np.ndarray, quantile: float) -> np.ndarray:
    """The quantile of the distance to the mean within one value of the factor, averaged over its values: (D,)."""
    groups = (latents[factor == value] for value in np.unique(factor))
    return np.mean([np.quantile(np.abs(group - group.mean(0)), quantile, axis=0) for group in groups], axis=0)
