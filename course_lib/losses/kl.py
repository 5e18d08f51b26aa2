"""Kullback–Leibler divergences between diagonal Gaussians, in nats."""

from torch import Tensor

from course_lib.models import DiagonalGaussian


def kl_to_standard_normal(posterior: DiagonalGaussian) -> Tensor:
    """KL(N(μ, σ²) ‖ N(0, 1)) of each latent: ½(μ² + σ² − 1 − log σ²), (B, D), in nats, never negative.

    Source: Kingma and Welling, Auto-encoding variational Bayes, Appendix B.
    """
    # expm1 keeps σ² − 1 exact near σ² = 1, where the difference of the last two terms would be rounding noise
    return 0.5 * (posterior.mean.square() + posterior.log_variance.expm1() - posterior.log_variance)
