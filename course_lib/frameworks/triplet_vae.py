"""The VAE that learns distances from triplets."""

import torch
from torch import Tensor

from course_lib.arguments import check_choice, check_integers, check_numbers
from course_lib.factors import FactorSpace
from course_lib.frameworks.framework import Framework, Step, check_views
from course_lib.losses import kl_to_standard_normal, norm_distance, triplet_loss
from course_lib.models import VAE, DiagonalGaussian
from course_lib.sampling import ORDERS, batch_triplets, singles, triplets

PERCEIVED = "perceived"


class TripletVAE(Framework):
    r"""The β-TVAE: a β-VAE whose means keep the order of given distances.

    .. math:: \mathcal{L} = \tfrac{1}{3} \sum_{x \in \{x_a, x_p, x_n\}} \mathcal{L}_{\beta\text{-VAE}}(x) +
        \alpha \max\bigl(0, \psi + \|\mu_a - \mu_p\| - \|\mu_a - \mu_n\|\bigr)

    A triplet is three images: an anchor a, a positive p, and a negative n that is further from the anchor than p is, by
    a distance that is given. Terms: `reconstruction`, `kl` (already times β), `triplet` (already times α, averaged over
    triplets whatever the reduction).

    Parameters
    ----------
    model : the encoder and decoder.
    beta : weight of the KL term, at least 0.
    alpha : α, weight of the triplet term, at least 0.
    margin : ψ of the hard loss, above 0; None takes the soft loss ln(1 + exp(‖μ_a − μ_p‖ − ‖μ_a − μ_n‖)) instead.
    norm : 1 or 2, the distance between means.
    by : what decides which image is the positive: a distance between factors, "scaled_l1", "l1" or "differing" (see
        `sampling.triplets`), or "perceived", the reconstruction loss between images, which needs no supervision.
    num_triplets : with "perceived", how many triplets are formed within a batch.
    decoder_gradient : whether the reconstruction trains the encoder; else only the other two terms do.
    reconstruction, reduction : as in `BetaVAE`, but the default is "mean", which the thesis' β and margin mean.

    Source: Ishfaq et al. 2018; the thesis, Eqs 5.1, 5.2, 5.12 and 5.24, defaults of Table A.5. Chapter 18.
    """

    def __init__(
        self,
        model: VAE,
        beta: float = 0.01,
        *,
        alpha: float = 1.0,
        margin: float | None = 10.0,
        norm: int = 1,
        by: str = "scaled_l1",
        num_triplets: int = 512,
        decoder_gradient: bool = True,
        reconstruction: str | Tensor = "mse",
        reduction: str = "mean",
    ):
        beta, alpha = check_numbers(0, beta=beta, alpha=alpha)
        if margin is not None:
            (margin,) = check_numbers(0, above=True, margin=margin)
        (norm,) = check_integers(1, norm=norm)
        check_choice((1, 2), norm=norm)
        check_choice((*ORDERS, PERCEIVED), by=by)
        check_choice((False, True), decoder_gradient=decoder_gradient)
        (num_triplets,) = check_integers(1, num_triplets=num_triplets)
        super().__init__(model, reconstruction=reconstruction, reduction=reduction)
        self.keep(beta=beta, alpha=alpha, margin=margin, norm=norm, by=by)
        self.keep(num_triplets=num_triplets, decoder_gradient=bool(decoder_gradient))

    def sample(self, space: FactorSpace, batch_size: int, generator: torch.Generator) -> Tensor:
        """Anchors, positives and negatives (3, B); with "perceived" a plain batch (1, B), whose triplets come later."""
        if self.by == PERCEIVED:
            return singles(space, batch_size, generator).unsqueeze(0)
        return triplets(space, batch_size, generator, by=self.by)

    def loss(self, views: Tensor, step: Step) -> dict[str, Tensor]:
        images = check_views(views, 1 if self.by == PERCEIVED else 3).flatten(0, 1)
        posterior = self.model.encode(images)
        latents = posterior.rsample(step.generator)
        decoded = self.model.decode(latents if self.decoder_gradient else latents.detach())
        anchor, positive, negative = map(posterior.at, self.places(images, step))
        to_positive = norm_distance(anchor.mean, positive.mean, self.norm)
        to_negative = self.negative_distance(anchor, negative, step)
        return {
            "reconstruction": self.reduce(self.likelihood(decoded, images)),
            "kl": self.beta * self.reduce(kl_to_standard_normal(posterior)),
            "triplet": self.alpha * triplet_loss(to_positive, to_negative, self.margin).mean(),
        }

    def places(self, images: Tensor, step: Step) -> Tensor:
        """Where among `images` the triplets are: (3, n)."""
        if self.by != PERCEIVED:
            return torch.arange(len(images), device=images.device).view(3, -1)

        def distance(first: Tensor, second: Tensor) -> Tensor:
            return self.likelihood.distance(images[first], images[second]).flatten(1).sum(1)

        with torch.no_grad():
            return batch_triplets(len(images), self.num_triplets, step.generator, distance, check=False)

    def negative_distance(self, anchor: DiagonalGaussian, negative: DiagonalGaussian, step: Step) -> Tensor:
        """How far the negatives count as being from their anchors, (n,)."""
        return norm_distance(anchor.mean, negative.mean, self.norm)
