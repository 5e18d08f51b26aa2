"""The networks that play against a VAE."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from course_lib.arguments import WIDEST, check_integers, check_seed, check_widths
from course_lib.models.networks import initialise


class Discriminator(nn.Module):
    """A classifier of latent vectors with two classes: (B, D) → log D(z) / (1 − D(z)), (B,), in nats.

    D(z) is the probability that z is from the first class. FactorVAE's has six hidden layers of 1000 leaky-ReLU units
    (with a slope of 0.2, which the paper does not print), and two logits, whose difference is returned. `seed` fixes
    the initial weights.

    Source: Kim and Mnih 2018, Appendix A. Chapter 05.
    """

    def __init__(self, latent_dim: int, hidden: Sequence[int] = (1000,) * 6, seed: int = 0):
        super().__init__()
        (latent_dim,) = check_integers(1, WIDEST, latent_dim=latent_dim)
        layers, widths = [], (latent_dim, *check_widths(hidden))
        with torch.device("meta"):  # the layers' own initialisation would draw from the global generator
            for wide, narrow in zip(widths, widths[1:], strict=False):
                layers += [nn.Linear(wide, narrow), nn.LeakyReLU(0.2)]
            self.layers = nn.Sequential(*layers, nn.Linear(widths[-1], 2))
        self.to_empty(device="cpu").float()  # whatever the default device and type are
        initialise(self, torch.Generator().manual_seed(check_seed(seed)))

    def forward(self, latents: Tensor) -> Tensor:
        logits = self.layers(latents).float()
        return logits[:, 0] - logits[:, 1]
