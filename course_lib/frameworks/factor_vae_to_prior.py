"""The FactorVAE that pushes its codes towards the prior instead of towards independence."""

from torch import Tensor

from course_lib.frameworks.aae import AAE
from course_lib.losses import kl_to_standard_normal
from course_lib.models import DiagonalGaussian


class FactorVAEToPrior(AAE):
    r"""FactorVAE with the prior in place of the product of marginals: the VAE plus the divergence of an `AAE`.

    .. math:: \mathcal{L} = \mathbb{E}_{q(z|x)}[-\log p(x|z)] + \mathrm{KL}(q(z|x) \,\|\, \mathcal{N}(0, I)) +
        \gamma \, \mathbb{E}_{q(z)}\Bigl[\log \frac{D(z)}{1 - D(z)}\Bigr]

    The discriminator is that of `AAE`, so that with the best D the last term is γ KL(q(z) ‖ p(z)). Terms of the model:
    `reconstruction`, `kl`, `aggregate_kl` (already times γ); of the discriminator: `discriminator`.

    Parameters
    ----------
    model, gamma, discriminator_learning_rate, hidden, seed, reconstruction, reduction : as in `AAE`.

    Source: Kim and Mnih 2018, Disentangling by factorising, Appendix F, Eq. 12. Chapter 06.
    """

    def divergences(self, posterior: DiagonalGaussian, latents: Tensor) -> dict[str, Tensor]:
        return {"kl": self.reduce(kl_to_standard_normal(posterior)), **super().divergences(posterior, latents)}
