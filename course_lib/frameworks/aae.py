"""The auto-encoder whose codes an adversary holds against the prior."""

from collections.abc import Sequence

import torch
from torch import Tensor

from course_lib.arguments import check_numbers, check_seed, check_widths
from course_lib.frameworks.framework import Framework, Step, check_views
from course_lib.losses import discrimination
from course_lib.models import VAE, DiagonalGaussian, Discriminator


class AAE(Framework):
    r"""The adversarial auto-encoder: all codes together follow the prior, and single images may say what they like.

    .. math:: \mathcal{L} = \mathbb{E}_{q(z|x)}[-\log p(x|z)] + \gamma \, \mathbb{E}_{q(z)}\Bigl[\log
        \frac{D(z)}{1 - D(z)}\Bigr]

    .. math:: \mathcal{L}_D = -\tfrac{1}{2} \mathbb{E}_{q(z)}[\log D(z)] -
        \tfrac{1}{2} \mathbb{E}_{p(z)}[\log(1 - D(z))]

    With the best D the second term is γ KL(q(z) ‖ p(z)), p(z) = N(0, I). No KL of the single posterior is paid, so the
    objective bounds no likelihood. Two players take turns, as in `FactorVAE`, but on the same batch: the discriminator
    sees its codes, drawn anew, and samples of the prior. Terms of the model: `reconstruction`, `aggregate_kl` (already
    times γ); of the discriminator: `discriminator`, in nats, ln 2 when it cannot tell.

    Parameters
    ----------
    model : the encoder and decoder.
    gamma : γ, weight of the divergence from the prior, at least 0.
    discriminator_learning_rate, hidden, seed : of the discriminator, as in `FactorVAE`.
    reconstruction, reduction : as in `BetaVAE`.

    Source: Makhzani et al. 2015, Adversarial autoencoders; Kim and Mnih 2018, Appendix F, Eq. 7, with the γ of its
    Figure 23. Chapter 06.
    """

    players = ("model", "discriminator")
    learning_rate = 1e-4

    def __init__(
        self,
        model: VAE,
        gamma: float = 1.0,
        *,
        discriminator_learning_rate: float = 1e-4,
        hidden: Sequence[int] = (1000,) * 6,
        seed: int = 0,
        reconstruction: str | Tensor = "mse",
        reduction: str = "sum",
    ):
        (gamma,) = check_numbers(0, gamma=gamma)
        (rate,) = check_numbers(0, above=True, discriminator_learning_rate=discriminator_learning_rate)
        super().__init__(model, gamma=gamma, reconstruction=reconstruction, reduction=reduction)
        self.keep(discriminator_learning_rate=rate, hidden=check_widths(hidden), seed=check_seed(seed))
        self.discriminator = Discriminator(model.latent_dim, self.hidden, self.seed)

    def adam(self, player: str) -> dict:
        own = {"lr": self.discriminator_learning_rate, "betas": (0.5, 0.9)}
        return own if player == "discriminator" else super().adam(player)

    def loss(self, views: Tensor, step: Step) -> dict[str, Tensor]:
        (images,) = check_views(views, 1)
        if step.player == "discriminator":
            return {"discriminator": self.discrimination(images, step)}
        posterior = self.model.encode(images)
        latents = posterior.rsample(step.generator)
        return {
            "reconstruction": self.reduce(self.likelihood(self.model.decode(latents), images)),
            **self.divergences(posterior, latents),
        }

    def divergences(self, posterior: DiagonalGaussian, latents: Tensor) -> dict[str, Tensor]:
        """The terms that keep the codes near the prior."""
        return {"aggregate_kl": self.gamma * self.reduce_latents(self.discriminator(latents))}

    def discrimination(self, images: Tensor, step: Step) -> Tensor:
        """The discriminator's cross-entropy: first class q(z), second class p(z). It never reaches the encoder."""
        with torch.no_grad():
            latents = self.model.encode(images).rsample(step.generator)
        prior = torch.empty_like(latents).normal_(generator=step.generator)
        return discrimination(self.discriminator(latents), self.discriminator(prior))
