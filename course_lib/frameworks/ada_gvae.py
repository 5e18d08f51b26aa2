"""The VAE for pairs that averages what the two images seem to share."""

import math

import torch
from torch import Tensor

from course_lib.arguments import check_numbers
from course_lib.factors import FactorSpace
from course_lib.frameworks.framework import Framework, Step, check_views
from course_lib.losses import kl_to_standard_normal, shared_latents, symmetric_kl
from course_lib.models import VAE, DiagonalGaussian
from course_lib.sampling import check_range, pairs


class AdaGVAE(Framework):
    r"""Ada-GVAE: pairs of images that differ in a few factors, each latent that barely differs made equal.

    .. math:: \mathcal{L} = \tfrac{1}{2} \sum_{v \in \{a, b\}} \mathbb{E}_{\tilde q(z|x_v)}[-\log p(x_v|z)] +
        \beta \, \mathrm{KL}(\tilde q(z|x_v) \,\|\, \mathcal{N}(0, I))

    .. math:: \tilde q(z_i|x_v) = \begin{cases} \mathcal{N}\bigl(\tfrac{1}{2}(\mu_{a,i} + \mu_{b,i}),
        \tfrac{1}{2}(\sigma_{a,i}^2 + \sigma_{b,i}^2)\bigr) & \delta_i < \tau \\ q(z_i|x_v) & \text{else} \end{cases}

    .. math:: \tau = \tfrac{1}{2}(\min_i \delta_i + \max_i \delta_i)

    δ_i is the symmetric KL between the two posteriors of latent i (the original: the KL of one from the other). Terms:
    `reconstruction`, `kl` (already times β).

    Parameters
    ----------
    model : the encoder and decoder.
    beta : weight of the KL term, at least 0.
    k : how many factors the pairs differ in, as in `sampling.pairs`: None draws it uniformly from 1 to all of them for
        each pair. A pair in which all differ breaks the method's assumption; a range (low, high) can leave it out.
    reconstruction, reduction : as in `BetaVAE`, but the default is "mean", which is what the thesis' β means.

    Source: Locatello et al. 2020, Weakly-supervised disentanglement without compromises; Dittadi et al. 2020 for the
    symmetric KL; the thesis, Eqs 2.9 to 2.16 and A.2. (Its Eq. 2.16 averages standard deviations where the original
    averages variances.) Chapter 10.
    """

    def __init__(
        self,
        model: VAE,
        beta: float = 1.0,
        *,
        k: int | tuple[int, int] | None = None,
        reconstruction: str | Tensor = "mse",
        reduction: str = "mean",
    ):
        (beta,) = check_numbers(0, beta=beta)
        if k is not None:
            low, high = check_range(k)
            k = (low, high) if isinstance(k, list | tuple) else low
        super().__init__(model, beta=beta, k=k, reconstruction=reconstruction, reduction=reduction)

    def sample(self, space: FactorSpace, batch_size: int, generator: torch.Generator) -> Tensor:
        return pairs(space, batch_size, generator, k=self.k)

    def loss(self, views: Tensor, step: Step) -> dict[str, Tensor]:
        images = check_views(views, 2).flatten(0, 1)
        mean, log_variance = (statistic.unflatten(0, (2, -1)) for statistic in self.model.encode(images))
        first, second = map(DiagonalGaussian, mean, log_variance)
        shared = self.shared(first, second)
        average = self.average(first, second)
        posterior = DiagonalGaussian(
            torch.where(shared, average.mean, mean).flatten(0, 1),
            torch.where(shared, average.log_variance, log_variance).flatten(0, 1),
        )
        decoded = self.model.decode(posterior.rsample(step.generator))
        return {
            "reconstruction": self.reduce(self.likelihood(decoded, images)),
            "kl": self.beta * self.reduce(kl_to_standard_normal(posterior)),
        }

    def shared(self, first: DiagonalGaussian, second: DiagonalGaussian) -> Tensor:
        """Which latents each pair is taken to share, (B, D): those whose divergence is below half of the range."""
        return shared_latents(symmetric_kl(first, second))

    def average(self, first: DiagonalGaussian, second: DiagonalGaussian) -> DiagonalGaussian:
        """What both images get for a shared latent: the average of means and of variances."""
        log_variance = torch.logaddexp(first.log_variance, second.log_variance) - math.log(2)
        return DiagonalGaussian(0.5 * (first.mean + second.mean), log_variance)
