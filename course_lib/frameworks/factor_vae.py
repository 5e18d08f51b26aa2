"""The VAE that penalises total correlation through a discriminator."""

from collections.abc import Sequence

import torch
from torch import Tensor

from course_lib.arguments import check_numbers, check_seed, check_widths
from course_lib.factors import FactorSpace
from course_lib.frameworks.framework import Framework, Step, check_views
from course_lib.losses import discrimination, kl_to_standard_normal, permuted_latents
from course_lib.models import VAE, Discriminator
from course_lib.sampling import singles


class FactorVAE(Framework):
    r"""FactorVAE: the VAE plus the total correlation of q(z), estimated by a density ratio.

    .. math:: \mathcal{L} = \mathbb{E}_{q(z|x)}[-\log p(x|z)] + \mathrm{KL}(q(z|x) \,\|\, \mathcal{N}(0, I)) +
        \gamma \, \mathbb{E}_{q(z)}\Bigl[\log \frac{D(z)}{1 - D(z)}\Bigr]

    .. math:: \mathcal{L}_D = -\tfrac{1}{2} \mathbb{E}_{q(z)}[\log D(z)] -
        \tfrac{1}{2} \mathbb{E}_{\prod_j q(z_j)}[\log(1 - D(z))]

    Two players take turns in a step. Terms of the model: `reconstruction`, `kl`, `total_correlation` (already times γ);
    of the discriminator: `discriminator`, in nats, ln 2 when it cannot tell. It sees samples of the batch, and those of
    a second batch with each latent permuted on its own, and its loss never reaches the encoder. (In
    Algorithm 2 it gets the samples that the model has just been trained on; here the model, once trained, encodes both
    batches again.)

    Parameters
    ----------
    model : the encoder and decoder.
    gamma : γ, weight of the total correlation, at least 0.
    discriminator_learning_rate : of the discriminator's Adam, whose betas are 0.5 and 0.9. The paper takes 1e-4 for
        dSprites and 1e-5 for 3D Shapes.
    hidden : widths of the discriminator's layers.
    seed : of the discriminator's initial weights.
    reconstruction, reduction : as in `BetaVAE`.

    Source: Kim and Mnih 2018, Disentangling by factorising, Eqs 2 and 3, Algorithm 2, Appendix A. Chapter 05.
    """

    players = ("model", "discriminator")
    learning_rate = 1e-4

    def __init__(
        self,
        model: VAE,
        gamma: float = 10.0,
        *,
        discriminator_learning_rate: float = 1e-4,
        hidden: Sequence[int] = (1000,) * 6,
        seed: int = 0,
        reconstruction: str | Tensor = "mse",
        reduction: str = "sum",
    ):
        (gamma,) = check_numbers(0, gamma=gamma)
        (rate,) = check_numbers(0, above=True, discriminator_learning_rate=discriminator_learning_rate)
        super().__init__(
            model,
            gamma=gamma,
            discriminator_learning_rate=rate,
            hidden=check_widths(hidden),
            seed=check_seed(seed),
            reconstruction=reconstruction,
            reduction=reduction,
        )
        self.discriminator = Discriminator(model.latent_dim, self.hidden, self.seed)

    def adam(self, player: str) -> dict:
        own = {"lr": self.discriminator_learning_rate, "betas": (0.5, 0.9)}
        return own if player == "discriminator" else super().adam(player)

    def sample(self, space: FactorSpace, batch_size: int, generator: torch.Generator) -> Tensor:
        """Two independent batches: the second is for the discriminator."""
        return singles(space, 2 * batch_size, generator).view(2, batch_size)

    def loss(self, views: Tensor, step: Step) -> dict[str, Tensor]:
        images, others = check_views(views, 2)
        if step.player == "discriminator":
            return {"discriminator": self.discrimination(images, others, step)}
        posterior = self.model.encode(images)
        latents = posterior.rsample(step.generator)
        return {
            "reconstruction": self.reduce(self.likelihood(self.model.decode(latents), images)),
            "kl": self.reduce(kl_to_standard_normal(posterior)),
            "total_correlation": self.gamma * self.reduce_latents(self.discriminator(latents)),
        }

    def discrimination(self, images: Tensor, others: Tensor, step: Step) -> Tensor:
        """The discriminator's cross-entropy: first class q(z), second class the product of its marginals."""
        with torch.no_grad():
            joint, second = (self.model.encode(batch).rsample(step.generator) for batch in (images, others))
            independent = permuted_latents(second, step.generator)
        return discrimination(self.discriminator(joint), self.discriminator(independent))
