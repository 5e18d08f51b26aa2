"""Kullback–Leibler divergences between diagonal Gaussians, and the prior's density, in nats."""

import math

import torch
from torch import Tensor

from course_lib.models import DiagonalGaussian


def kl_to_standard_normal(posterior: DiagonalGaussian) -> Tensor:
    """KL(N(μ, σ²) ‖ N(0, 1)) of each latent: ½(μ² + σ² − 1 − log σ²), (B, D), in nats, never negative.

    Source: Kingma and Welling, Auto-encoding variational Bayes, Appendix B. Chapter 02.
    """
    # expm1 keeps σ² − 1 exact near σ² = 1, where the difference of the last two terms would be rounding noise
    return 0.5 * (posterior.mean.square() + posterior.log_variance.expm1() - posterior.log_variance)


def symmetric_kl(first: DiagonalGaussian, second: DiagonalGaussian) -> Tensor:
    """½ KL(p ‖ q) + ½ KL(q ‖ p) of each latent, (B, D), in nats, never negative and 0 where the two are equal.

    Written out, sinh²(½ (log σ_p² − log σ_q²)) + ¼ (μ_p − μ_q)² (1/σ_p² + 1/σ_q²). A log-variance below −87 (in
    float64, −708), whose precision would be infinite, counts as that in the second term. Source: Dittadi et al. 2020;
    the thesis, Eq. A.2. Chapter 10.
    """
    spread = (0.5 * (first.log_variance - second.log_variance)).sinh().square()
    largest = math.log(torch.finfo(first.log_variance.dtype).max / 4)  # 0 times an infinite precision would be NaN
    precision = sum((-side.log_variance).clamp(max=largest).exp() for side in (first, second))
    return spread + 0.25 * (first.mean - second.mean).square() * precision


def standard_normal_log_density(latents: Tensor) -> Tensor:
    """log N(z_d; 0, 1) of every coordinate: (B, D) → (B, D). Chapter 02."""
    return -0.5 * (latents.square() + math.log(2 * math.pi))
