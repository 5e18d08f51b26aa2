"""The Wasserstein correlation of a fitted Gaussian."""

import numpy as np

from course_lib.metrics.covariance import covariance, draw_gaussians, gaussian_score, spread
from course_lib.metrics.score import Score, with_twin


def squared_distance(latents: np.ndarray) -> dict[str, float]:
    """The squared Wasserstein distance, and its share of the total variance, from latents (n, D)."""
    live, power = spread(latents)
    if len(power) == 0:
        return {"wasserstein": 0.0, "normalised": 0.0}
    largest = power.max()  # one for all, because the latents' scales count
    sigma = covariance(live, largest)
    variance = np.diag(sigma)
    scaled = np.sqrt(variance) * sigma * np.sqrt(variance)[:, None]
    root_trace = np.sqrt(np.clip(np.linalg.eigvalsh(scaled), 0, None)).sum()
    distance = max(2 * float(variance.sum() - root_trace), 0.0)
    with np.errstate(over="ignore"):
        headline = float(np.ldexp(distance, 2 * largest))
    return {"wasserstein": headline, "normalised": distance / float(variance.sum())}


def from_samples(latents, factors=None, *, log_variance=None, seed: int = 0) -> Score:
    """The score of latents (n, D), which needs no factors; log_variance (n, D) adds the sampled representation."""
    return gaussian_score("Wasserstein correlation", squared_distance, latents, log_variance, seed=seed)


@with_twin(from_samples)
def wasserstein_correlation(encode, data=None, seed: int = 0, *, num_samples: int = 10_000, posterior=None) -> Score:
    r"""How far are the latents from uncorrelated? A squared distance, from 0; *lower* is better. It looks at no factor.

    .. math:: W_2^2\big(N(\mu, \Sigma), N(\mu, D)\big) = 2 \,\mathrm{tr}\, \Sigma
        - 2 \,\mathrm{tr} \big( D^{1/2} \Sigma D^{1/2} \big)^{1/2}, \qquad D = \mathrm{diag}\, \Sigma

    with Σ the covariance of the representation. Unlike the total correlation it stays finite for duplicated latents,
    and it grows with the square of their scale (to +inf, beyond 1e154): "normalised" divides by tr Σ.

    encode : images uint8 (B, C, H, W) → latents (B, D), or `Encodings`, which bring their own data.
    posterior : images uint8 → (mean, log-variance), (B, D) each; `framework.posterior` does. Both representations are
        then of what it returns, and the values of the sampled one come in addition.
    values : "wasserstein" (the headline, of the mean representation), "normalised", and "sampled_" before each.

    Source: the Wasserstein correlation of Xiao and Wang (2019) for Gaussians, one of the unsupervised scores in
    Locatello et al.'s study. Chapter 09.
    """
    latents, log_variance = draw_gaussians(encode, data, num_samples, seed, posterior)
    return from_samples(latents, log_variance=log_variance, seed=seed)
