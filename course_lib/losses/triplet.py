"""Triplet losses: the anchor has to be nearer to the positive than to the negative."""

import torch
from torch import Tensor
from torch.linalg import vector_norm
from torch.nn.functional import softplus

from course_lib.arguments import check_choice, check_numbers


def triplet_loss(to_positive: Tensor, to_negative: Tensor, margin: float | None) -> Tensor:
    """The loss of each triplet, from its anchor's distances to the positive and to the negative, all (B,).

    With a margin ψ, the hard loss max(0, ψ + d_p − d_n) (Eq. 5.1 of the thesis); with None, the soft loss
    ln(1 + exp(d_p − d_n)) (Eq. 5.2), which never becomes 0. Chapter 18.
    """
    if margin is not None and not isinstance(margin, Tensor):  # many margins at once are checked before
        (margin,) = check_numbers(0, margin=margin)
    excess = to_positive - to_negative
    return softplus(excess) if margin is None else (margin + excess).relu()


def norm_distance(first: Tensor, second: Tensor, norm: int) -> Tensor:
    """The ℓ1 or ℓ2 distance (norm 1 or 2) of latent vectors (B, D): (B,). At distance 0 its gradient is 0.

    Chapter 18.
    """
    check_choice((1, 2), norm=norm)
    return vector_norm(first - second, norm, dim=1)


def shared_latents(differences: Tensor, strength: float | Tensor = 0.5) -> Tensor:
    """Which latents a pair is estimated to share: from non-negative differences δ (B, D), a mask (B, D).

    Those with δ < τ, strictly, where τ = (1 − η) min δ + η max δ and η is the `strength`: with ½ the threshold of
    Locatello et al. 2020; with 0 none is shared. Nothing is differentiated. Source: the thesis, Eqs 2.14 and 5.16.
    Chapter 10.
    """
    differences = differences.detach().clamp(max=torch.finfo(differences.dtype).max / 2)  # a KL may overflow to ∞
    low, high = differences.aminmax(dim=1, keepdim=True)
    return differences < low.lerp(high, strength)
