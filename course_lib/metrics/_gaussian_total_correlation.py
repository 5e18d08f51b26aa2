"""The total correlation of a fitted Gaussian."""

import numpy as np

from course_lib.metrics.covariance import correlation, covariance, draw_gaussians, gaussian_score, spread
from course_lib.metrics.score import Score, with_twin


def total_correlation(latents: np.ndarray) -> dict[str, float]:
    """−½ log det of the correlation matrix of (n, D), in nats, +inf where it is singular."""
    live, power = spread(latents)
    sigma = covariance(live, power)
    if len(sigma) < 2:
        return {"total_correlation": 0.0}
    eigenvalues = np.linalg.eigvalsh(correlation(sigma))
    if eigenvalues[0] <= len(sigma) * 4 * np.finfo(np.float64).eps * eigenvalues[-1]:
        return {"total_correlation": float("inf")}
    return {"total_correlation": float(max(-0.5 * np.log(eigenvalues).sum(), 0.0))}


def from_samples(latents, factors=None, *, log_variance=None, seed: int = 0) -> Score:
    """The score of latents (n, D), which needs no factors; log_variance (n, D) adds the sampled representation."""
    return gaussian_score("Gaussian total correlation", total_correlation, latents, log_variance, seed=seed)


@with_twin(from_samples)
def gaussian_total_correlation(encode, data=None, seed: int = 0, *, num_samples: int = 10_000, posterior=None) -> Score:
    r"""How far are the latents from uncorrelated? In nats, from 0; *lower* is better. It looks at no factor.

    .. math:: \mathrm{KL}\Big(N(\mu, \Sigma) \,\Big\|\, \prod_j N(\mu_j, \Sigma_{jj})\Big)
        = \tfrac12 \Big( \sum_j \log \Sigma_{jj} - \log \det \Sigma \Big)

    with Σ the covariance of the representation. Even independent latents score about D(D − 1) / (4n).

    encode : images uint8 (B, C, H, W) → latents (B, D), or `Encodings`, which bring their own data.
    posterior : images uint8 → (mean, log-variance), (B, D) each; `framework.posterior` does. Both representations are
        then of what it returns, and the value of the sampled one comes in addition.
    values : "total_correlation" (the headline, of the mean representation), "sampled_total_correlation".

    Constant latents are left out (their share is 0); latents that depend linearly on each other, such as duplicates,
    have +inf. Source: Locatello et al., Challenging common assumptions, 2019, Section 5.2 and Appendix C.
    Chapter 05 and Chapter 09.
    """
    latents, log_variance = draw_gaussians(encode, data, num_samples, seed, posterior)
    return from_samples(latents, log_variance=log_variance, seed=seed)
