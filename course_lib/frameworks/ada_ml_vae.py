"""The VAE for pairs that multiplies the posteriors of what the two images seem to share."""

import math

import torch
from torch import Tensor

from course_lib.arguments import check_choice
from course_lib.frameworks.ada_gvae import AdaGVAE
from course_lib.models import VAE, DiagonalGaussian

VARIANCES = ("harmonic", "product")


class AdaMLVAE(AdaGVAE):
    r"""Ada-ML-VAE: `AdaGVAE` with another average, the product of the two Gaussians.

    .. math:: \tilde\mu_i = \frac{\mu_{a,i} / \sigma_{a,i}^2 + \mu_{b,i} / \sigma_{b,i}^2}
        {1 / \sigma_{a,i}^2 + 1 / \sigma_{b,i}^2}, \qquad
        \tilde\sigma_i^2 = \frac{2}{1 / \sigma_{a,i}^2 + 1 / \sigma_{b,i}^2} \text{ where } \delta_i < \tau

    Terms: `reconstruction`, `kl` (already times β).

    Parameters
    ----------
    model, beta, k, reconstruction, reduction : as in `AdaGVAE`.
    variance : "harmonic" takes the harmonic mean of the two variances, as the authors' code does, so that two equal
        posteriors stay as they are; "product" takes the variance of the product, half of it.

    Source: Locatello et al. 2020; Bouchacourt et al. 2018, Multi-level variational autoencoder. Chapter 10.
    """

    def __init__(
        self,
        model: VAE,
        beta: float = 1.0,
        *,
        k: int | tuple[int, int] | None = None,
        variance: str = "harmonic",
        reconstruction: str | Tensor = "mse",
        reduction: str = "mean",
    ):
        check_choice(VARIANCES, variance=variance)
        super().__init__(model, beta, k=k, reconstruction=reconstruction, reduction=reduction)
        self.keep(variance=variance)

    def average(self, first: DiagonalGaussian, second: DiagonalGaussian) -> DiagonalGaussian:
        """What both images get for a shared latent: the precision-weighted mean, and the variance chosen."""
        share = torch.sigmoid(second.log_variance - first.log_variance)  # of the first: its precision over the sum
        log_variance = -torch.logaddexp(-first.log_variance, -second.log_variance)
        if self.variance == "harmonic":
            log_variance = log_variance + math.log(2)
        return DiagonalGaussian(share * first.mean + (1 - share) * second.mean, log_variance)
