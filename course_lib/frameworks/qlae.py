"""The auto-encoder whose latents have few values each."""

from collections.abc import Iterator
from typing import NoReturn

import torch
from torch import Tensor, nn

from course_lib.arguments import check_integers, check_numbers
from course_lib.frameworks.framework import Framework, Step, check_views
from course_lib.models import VAE

SPAN = 0.5  # a codebook's values start evenly spaced from −½ to ½


class QLAE(Framework):
    r"""The quantised-latent auto-encoder: each latent takes one of a few values, which are learnt with the networks.

    .. math:: z_d = \operatorname{arg\,min}_{v \in V_d} |e_d(x) - v|, \qquad
        V_d = \{v_{d1}, \dots, v_{dn}\}

    .. math:: \mathcal{L} = -\log p(x|z) + \lambda_q \, \| \operatorname{sg}[e(x)] - z \|^2 +
        \lambda_c \, \| e(x) - \operatorname{sg}[z] \|^2

    sg stops the gradient. That of the reconstruction goes straight through the choice of the value, to e(x), as if z
    were e(x); so the codebook V learns from the second term alone. Terms: `reconstruction`, `quantisation`,
    `commitment` (already weighted). e(x) is the mean that the encoder returns; its log-variance is not used.

    Few values and small weights make the method: Adam shrinks the weights of both networks in every step by the share
    learning rate × `weight_decay`, apart from the gradient (AdamW), and spares biases and codebook.

    `encode` gives z. There is no posterior and no bound of log p(x): `posterior` and `log_prior` raise a ValueError
    that says so.

    Parameters
    ----------
    model : the encoder and decoder.
    values : n, how many values each latent has, from 2.
    quantisation : λ_q, which moves the values to the latents, at least 0.
    commitment : λ_c, which moves the latents to their values, at least 0.
    weight_decay : of Adam, decoupled, at least 0; 0.1 is far more than is usual.
    reconstruction, reduction : as in `BetaVAE`; the defaults are those of the authors' code, and the weights belong to
        them.

    Source: Hsu et al. 2023, Disentanglement via latent quantization, Section 3; the numbers are those of the authors'
    code, which also clips gradients. Chapter 22.
    """

    def __init__(
        self,
        model: VAE,
        values: int = 10,
        *,
        quantisation: float = 0.01,
        commitment: float = 0.01,
        weight_decay: float = 0.1,
        reconstruction: str | Tensor = "bce",
        reduction: str = "mean",
    ):
        (values,) = check_integers(2, values=values)
        weights = dict(quantisation=quantisation, commitment=commitment, weight_decay=weight_decay)
        weights = dict(zip(weights, check_numbers(0, **weights), strict=True))
        super().__init__(model, values=values, **weights, reconstruction=reconstruction, reduction=reduction)
        start = torch.linspace(-SPAN, SPAN, values, dtype=torch.float32, device="cpu")
        self.codebook = nn.Parameter(start.repeat(model.latent_dim, 1))  # (D, n)

    def parameters_of(self, player: str) -> Iterator[nn.Parameter]:
        yield from super().parameters_of(player)
        yield self.codebook

    def adam(self, player: str) -> dict:
        return super().adam(player) | {"weight_decay": self.weight_decay, "decoupled_weight_decay": True}

    def decays(self, name: str) -> bool:
        return super().decays(name) and name != "codebook"

    def quantise(self, latents: Tensor) -> Tensor:
        """The nearest value of its codebook for each latent (B, D), the lower one if two are; no gradient to it."""
        nearest = (latents.detach().unsqueeze(-1) - self.codebook).abs().argmin(-1, keepdim=True)
        return self.codebook.expand(len(latents), -1, -1).gather(-1, nearest).squeeze(-1)

    def loss(self, views: Tensor, step: Step) -> dict[str, Tensor]:
        (images,) = check_views(views, 1)
        latents = self.model.encode(images).mean
        codes = self.quantise(latents)
        straight_through = latents + (codes - latents).detach()
        return {
            "reconstruction": self.reduce(self.likelihood(self.model.decode(straight_through), images)),
            "quantisation": self.quantisation * self.reduce((latents.detach() - codes).square()),
            "commitment": self.commitment * self.reduce((latents - codes.detach()).square()),
        }

    @torch.no_grad()
    def encode(self, images) -> Tensor:
        """The quantised latents z (B, D) of images (B, C, H, W), taken as by every framework."""
        return self.quantise(self.model.encode(self.standardise(images)).mean)

    def posterior(self, images) -> NoReturn:
        """Raise a ValueError: a QLAE has none."""
        raise ValueError(
            "framework: QLAE is an auto-encoder without prior p(z) and posterior q(z|x), so nothing bounds log p(x). "
            "encode(images) gives the quantised latents, reconstruct(images) what the decoder makes of them."
        )

    def log_prior(self, latents: Tensor) -> NoReturn:
        """Raise a ValueError: a QLAE has none."""
        return self.posterior(latents)
