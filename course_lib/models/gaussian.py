"""The distribution that every encoder of the course returns."""

import math
from typing import NamedTuple

import torch
from torch import Tensor


class DiagonalGaussian(NamedTuple):
    """q(z|x) = N(mean, diag exp(log_variance)) for each image: mean and log_variance, both (B, D).

    The encoder outputs the logarithm of the *variance*; reading it as the logarithm of the standard deviation is a
    classic mistake, so ask for `std` and `variance` by name. Chapter 02.
    """

    mean: Tensor
    log_variance: Tensor

    @property
    def variance(self) -> Tensor:
        return self.log_variance.exp()

    @property
    def std(self) -> Tensor:
        return (0.5 * self.log_variance).exp()

    def rsample(self, generator: torch.Generator | None = None) -> Tensor:
        """One sample per image, reparameterised: mean + std · ε with ε ~ N(0, I), (B, D), differentiable in both."""
        noise = torch.empty_like(self.mean).normal_(generator=generator)
        return self.mean + self.std * noise

    def log_density(self, latents: Tensor) -> Tensor:
        """log q(z_d) of every coordinate, in nats: `latents` and the statistics broadcast."""
        deviation = (latents - self.mean) * (-0.5 * self.log_variance).exp()
        return -0.5 * (deviation.square() + self.log_variance + math.log(2 * math.pi))

    def at(self, places) -> "DiagonalGaussian":
        """The posteriors of the images at `places`, any index of the first axis."""
        return DiagonalGaussian(self.mean[places], self.log_variance[places])
