"""Estimating the density of the aggregate posterior q(z) = 1/N Σ_n q(z | x_n) from a batch, and its total correlation.

Three estimators weight the batch's posteriors differently: row i of `log_weights` holds the weights with which
q(z_i) ≈ Σ_j w_ij q(z_i | x_j), where z_i was drawn from q(z | x_i).
"""

import math

import torch
from torch import Tensor

from course_lib.arguments import check_batch, check_choice, check_integers
from course_lib.models import DiagonalGaussian

ESTIMATORS = ("mws", "mss", "batch")


def aggregate_log_densities(
    latents: Tensor, posterior: DiagonalGaussian, estimator: str, dataset_size: int | Tensor
) -> tuple[Tensor, Tensor]:
    """log q(z_i) of each latent vector (B,), and log q(z_i,d) of each of its coordinates (B, D), in nats.

    latents : samples (B, D), one from each posterior of the batch, in the same order.
    estimator : "mws" (minibatch-weighted), "mss" (minibatch-stratified) or "batch"; see `log_weights`.
    dataset_size : N, the number of images that q(z) averages over; "batch" does not look at it.

    Chapter 05.
    """
    densities = posterior.log_density(latents.unsqueeze(1))  # (B, B, D): sample i under posterior j, latent by latent
    weights = log_weights(estimator, len(latents), dataset_size, latents.device)
    joint = (weights + densities.sum(2)).logsumexp(1)  # a weight belongs to a posterior, not to each of its latents
    return joint, (weights.unsqueeze(2) + densities).logsumexp(1)


def log_weights(estimator: str, batch_size: int, dataset_size: int | Tensor, device=None) -> Tensor:
    """The logarithms of the weights w_ij, (B, B).

    "mws" : 1 / (N·B) each. Biased: it takes the batch for N·B images of which all others are far away.
    "mss" : 1/N for the sample's own posterior, the other 1 − 1/N shared by the other B − 1, so that a row sums to 1.
        The paper gives one of the others a little less than the rest; this is the average over which one it is.
    "batch" : 1/B each: the batch taken for the whole dataset.

    Raises ValueError for a batch of one, which the first and the last would take for a total correlation of 0, and in
    the first two for a `dataset_size` that is neither a tensor nor an integer from 1. Source: Chen et al. 2018,
    Appendix C (MWS, MSS); Kim and Mnih 2018, Appendix D (batch).
    """
    check_choice(ESTIMATORS, estimator=estimator)
    check_batch(batch_size, f"the estimator {estimator!r}")
    weights = torch.full((batch_size, batch_size), -math.log(batch_size), dtype=torch.float64, device=device)
    if estimator == "batch":
        return weights.float()
    if isinstance(dataset_size, Tensor):
        size = dataset_size.double().log()
    else:
        check_integers(1, dataset_size=dataset_size)
        size = torch.full((), math.log(dataset_size), dtype=torch.float64, device=device)
    if estimator == "mws":
        weights = weights - size
    if estimator == "mss":
        others = torch.log1p(-(-size).exp()) - math.log(batch_size - 1)
        weights = torch.where(torch.eye(batch_size, dtype=torch.bool, device=device), -size, others)
    return weights.float()


def permuted_latents(latents: Tensor, generator: torch.Generator) -> Tensor:
    """Each column of latents (B, D) in a random order of its own: samples of the product of the marginals of q(z).

    Raises ValueError for a batch of one, which has no other order. Source: Kim and Mnih 2018, Algorithm 1. Chapter 05.
    """
    check_batch(len(latents), "the permutation of latents")
    order = torch.rand(latents.shape, generator=generator, device=latents.device).argsort(0)
    return latents.gather(0, order)
