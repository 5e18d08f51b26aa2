"""The VAE that learns distances from triplets, along as few latents as it can."""

import torch
from torch import Tensor

from course_lib.arguments import check_choice
from course_lib.frameworks.framework import Step
from course_lib.frameworks.triplet_vae import TripletVAE
from course_lib.losses import norm_distance, shared_latents, symmetric_kl
from course_lib.models import VAE, DiagonalGaussian
from course_lib.schedules import Schedule, check_schedule, scheduled

DIFFERENCES = ("absolute", "kl")

# Table 5.2 of the thesis: AdaTripletVAE(model, **SCHEDULES["weight_weak"]). With ω = 1, as it prints for "threshold",
# the mask has nothing to weight (Eq. 5.19), and the loss is that of the plain β-TVAE.
SCHEDULES = {
    "threshold": dict(shared_weight=1.0, strength=(0.0, 0.5)),
    "weight_weak": dict(shared_weight=(1.0, 0.5), strength=0.5),
    "weight_strong": dict(shared_weight=(1.0, 0.0), strength=0.5),
    "both_weak": dict(shared_weight=(1.0, 0.5), strength=(0.0, 0.5)),
    "both_strong": dict(shared_weight=(1.0, 0.0), strength=(0.0, 0.5)),
}


class AdaTripletVAE(TripletVAE):
    r"""The Ada-TVAE: a β-TVAE in which a negative has to be far away along few latents.

    .. math:: \mathcal{L} = \tfrac{1}{3} \sum_{x \in \{x_a, x_p, x_n\}} \mathcal{L}_{\beta\text{-VAE}}(x) +
        \alpha \max\bigl(0, \psi + \|\mu_a - \mu_p\| - \|w \odot (\mu_a - \mu_n)\|\bigr)

    .. math:: w_i = \omega \text{ where } \delta_i < \tau, \text{ else } 1; \qquad
        \tau = (1 - \eta) \min_i \delta_i + \eta \max_i \delta_i

    δ_i is how much anchor and negative differ in latent i. Where that is little the latent counts less (ω), so that it
    pays to put distance into the others; no gradient flows through the choice of latents. Terms as in `TripletVAE`.

    Parameters
    ----------
    model, beta : as in `TripletVAE`.
    shared_weight : ω from 0 to 1, a number or a pair (start, end) that is walked through in the whole training.
    strength : η from 0 to 1, likewise.
    differences : δ: "absolute", |μ_a − μ_n|, or "kl", the symmetric KL between the posteriors.
    triplet : every other argument of `TripletVAE`, by name.

    Source: the thesis, Eqs 5.16 to 5.22; the defaults are the second schedule of its Table 5.2, and all five are in
    `frameworks.SCHEDULES`: AdaTripletVAE(model, **SCHEDULES["both_weak"]). Chapter 19.
    """

    def __init__(
        self,
        model: VAE,
        beta: float = 0.01,
        *,
        shared_weight: Schedule = (1.0, 0.5),
        strength: Schedule = 0.5,
        differences: str = "absolute",
        **triplet,
    ):
        shared_weight, strength = check_schedule(0, 1, shared_weight=shared_weight, strength=strength)
        check_choice(DIFFERENCES, differences=differences)
        super().__init__(model, beta, **triplet)
        self.keep(shared_weight=shared_weight, strength=strength, differences=differences)

    @property
    def depends_on_total_steps(self) -> bool:
        return not all(isinstance(schedule, float) for schedule in (self.shared_weight, self.strength))

    def negative_distance(self, anchor: DiagonalGaussian, negative: DiagonalGaussian, step: Step) -> Tensor:
        """The distance with the shared latents weighted: Eq. 5.21."""
        if self.differences == "absolute":
            differences = (anchor.mean - negative.mean).abs()
        else:
            differences = symmetric_kl(anchor, negative)
        shared = shared_latents(differences, scheduled(self.strength, step.index, step.total))
        weight = scheduled(self.shared_weight, step.index, step.total)
        weights = torch.where(shared, weight, 1.0)
        return norm_distance(weights * anchor.mean, weights * negative.mean, self.norm)
