"""The VAE whose capacity grows while it trains."""

from torch import Tensor

from course_lib.arguments import check_integers, check_numbers
from course_lib.frameworks.framework import Framework, Step, check_views
from course_lib.losses import kl_to_standard_normal
from course_lib.models import VAE
from course_lib.schedules import scheduled


class AnnealedVAE(Framework):
    r"""The AnnealedVAE, or β-VAE with controlled capacity: the KL is held at a value C, which rises.

    .. math:: \mathcal{L} = \mathbb{E}_{q(z|x)}[-\log p(x|z)] +
        \gamma \, \bigl| \mathrm{KL}(q(z|x) \,\|\, \mathcal{N}(0, I)) - C \bigr|

    .. math:: C = C_{\max} \min(1, t / T)

    Terms: `reconstruction`, `capacity` (the deviation from C, already times γ). The KL is averaged over the batch
    before it is compared with C, so single images may need more nats than others.

    Parameters
    ----------
    model : the encoder and decoder.
    gamma : γ, weight of the deviation, at least 0. Like β, its size has no meaning without `reduction`.
    capacity : C_max in nats per image, under either reduction.
    steps : T, the number of steps after which C has reached it.
    reconstruction, reduction : as in `BetaVAE`.

    Source: Burgess et al. 2017, Understanding disentangling in β-VAE, Eq. 8. Chapter 03.
    """

    def __init__(
        self,
        model: VAE,
        gamma: float = 1000.0,
        *,
        capacity: float = 25.0,
        steps: int = 100_000,
        reconstruction: str | Tensor = "mse",
        reduction: str = "sum",
    ):
        gamma, capacity = check_numbers(0, gamma=gamma, capacity=capacity)
        (steps,) = check_integers(1, steps=steps)
        super().__init__(
            model, gamma=gamma, capacity=capacity, steps=steps, reconstruction=reconstruction, reduction=reduction
        )

    def loss(self, views: Tensor, step: Step) -> dict[str, Tensor]:
        (images,) = check_views(views, 1)
        posterior = self.model.encode(images)
        decoded = self.model.decode(posterior.rsample(step.generator))
        kl = kl_to_standard_normal(posterior).sum(1).mean()
        capacity = scheduled((0.0, self.capacity), step.index, self.steps)
        return {
            "reconstruction": self.reduce(self.likelihood(decoded, images)),
            "capacity": self.gamma * self.reduce_latents((kl - capacity).abs()),
        }
