"""The VAE that matches the second moments of the aggregate posterior to those of the prior."""

from torch import Tensor

from course_lib.arguments import check_batch, check_choice, check_numbers
from course_lib.frameworks.framework import Framework, Step, check_views
from course_lib.losses import kl_to_standard_normal
from course_lib.models import VAE, DiagonalGaussian

VARIANTS = ("I", "II")


class DIPVAE(Framework):
    r"""DIP-VAE: the VAE, with the covariance of the latents pulled towards the identity.

    .. math:: \mathcal{L} = \mathbb{E}_{q(z|x)}[-\log p(x|z)] + \mathrm{KL}(q(z|x) \,\|\, \mathcal{N}(0, I)) +
        \lambda_{od} \sum_{i \neq j} C_{ij}^2 + \lambda_d \sum_i (C_{ii} - 1)^2

    Terms: `reconstruction`, `kl`, `off_diagonal` and `diagonal` (already times λ). C is estimated from the batch,
    dividing by B.

    Parameters
    ----------
    model : the encoder and decoder.
    variant : "I" takes C = Cov[μ(x)], "II" takes C = Cov[μ(x)] + E[diag σ²(x)], the covariance of z itself.
    lambda_od : λ_od, at least 0.
    lambda_d : λ_d, at least 0; None takes 10 λ_od for variant I and λ_od for variant II, as the paper does.
    reconstruction, reduction : as in `BetaVAE`.

    Source: Kumar et al. 2018, Variational inference of disentangled latent concepts from unlabeled observations,
    Eqs 6 and 7. Chapter 06.
    """

    def __init__(
        self,
        model: VAE,
        variant: str = "I",
        *,
        lambda_od: float = 10.0,
        lambda_d: float | None = None,
        reconstruction: str | Tensor = "mse",
        reduction: str = "sum",
    ):
        check_choice(VARIANTS, variant=variant)
        (lambda_od,) = check_numbers(0, lambda_od=lambda_od)
        lambda_d = (10 if variant == "I" else 1) * lambda_od if lambda_d is None else lambda_d
        (lambda_d,) = check_numbers(0, lambda_d=lambda_d)
        super().__init__(
            model,
            variant=variant,
            lambda_od=lambda_od,
            lambda_d=lambda_d,
            reconstruction=reconstruction,
            reduction=reduction,
        )

    def loss(self, views: Tensor, step: Step) -> dict[str, Tensor]:
        (images,) = check_views(views, 1)
        posterior = self.model.encode(images)
        decoded = self.model.decode(posterior.rsample(step.generator))
        covariance = self.covariance(posterior)
        diagonal = covariance.diagonal()
        off_diagonal = covariance - diagonal.diag_embed()
        return {
            "reconstruction": self.reduce(self.likelihood(decoded, images)),
            "kl": self.reduce(kl_to_standard_normal(posterior)),
            "off_diagonal": self.lambda_od * self.reduce_latents(off_diagonal.square().sum()),
            "diagonal": self.lambda_d * self.reduce_latents((diagonal - 1).square().sum()),
        }

    def covariance(self, posterior: DiagonalGaussian) -> Tensor:
        """C of the variant, (D, D). Raises ValueError for a batch of one, whose means have no covariance."""
        check_batch(len(posterior.mean), "the covariance of DIP-VAE")
        centred = posterior.mean - posterior.mean.mean(0)
        covariance = (centred.unsqueeze(2) * centred.unsqueeze(1)).mean(0)  # no matrix product: autocast rounds those
        return covariance if self.variant == "I" else covariance + posterior.variance.mean(0).diag_embed()
