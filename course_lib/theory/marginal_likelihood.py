"""How likely a trained model finds an image: an estimate of log p(x), which the ELBO only bounds loosely."""

import math

import torch
from torch import Tensor

from course_lib.arguments import check_instance, check_integers, check_seed
from course_lib.frameworks.framework import Framework
from course_lib.models import DiagonalGaussian


@torch.no_grad()
def importance_weighted_bound(
    framework: Framework, images: Tensor, *, particles: int = 5000, seed: int = 0, chunk: int = 500
) -> Tensor:
    r"""The importance-weighted bound on log p(x) for each image: float64 (B,), in nats.

    .. math:: \log \frac{1}{K} \sum_{k=1}^{K} \frac{p(x|z_k)\, p(z_k)}{q(z_k|x)}, \qquad z_k \sim q(z|x)

    In expectation it is the ELBO for K = 1, rises with K and tends to log p(x); where q(z|x) is the exact posterior, it
    is log p(x) for every K. With `reconstruction="mse"`, p(x|z) is the density of the *standardised* pixels under a
    Gaussian of variance ½; with "bce", the probability of binary pixels.

    Parameters
    ----------
    framework : a trained framework whose reconstruction loss is a likelihood.
    images : (B, C, H, W), uint8 or standardised, as for `framework.encode`.
    particles : K, 5,000 in the papers.
    seed : of the noise; image after image, so the first images of a longer batch have the same values.
    chunk : how many latents are decoded at a time. It bounds the memory and does not change the values.

    Raises ValueError when the loss is no likelihood, and for unusable arguments.

    Source: Burda, Grosse and Salakhutdinov, Importance weighted autoencoders, 2016, Eq. 8; as a measure of the
    generative model, Kim and Mnih, Disentangling by factorising, 2018, Appendix E. Chapter 02.
    """
    check_instance(Framework, "a framework, such as BetaVAE(model)", framework=framework)
    particles, chunk = check_integers(1, particles=particles, chunk=chunk)
    generator = torch.Generator(framework.model.pixel_mean.device).manual_seed(check_seed(seed))
    if framework.likelihood.log_normaliser is None:
        raise ValueError(
            f"framework: its reconstruction loss {type(framework.likelihood).__name__} is not the logarithm of a "
            "probability; allowed are frameworks with reconstruction='mse' or 'bce'."
        )
    observations = framework.standardise(images)
    posterior = framework.model.encode(observations)
    bounds = torch.empty(len(observations), dtype=torch.float64, device=observations.device)
    for place, image in enumerate(observations):
        proposal = DiagonalGaussian(*(moment.double() for moment in posterior.at(place)))
        noise = torch.randn(particles, len(proposal.mean), generator=generator, device=image.device)
        weights = torch.cat([_log_weights(framework, image, proposal, part) for part in noise.split(chunk)])
        bounds[place] = weights.logsumexp(0) - math.log(particles)
    return bounds


def _log_weights(framework: Framework, image: Tensor, proposal: DiagonalGaussian, noise: Tensor) -> Tensor:
    """log p(x|z) + log p(z) − log q(z|x) at z = mean + std · noise, (K, D) → float64 (K,), for one image (C, H, W)."""
    latents = proposal.mean + proposal.std * noise
    decoded = framework.model.decode(latents.float())
    elements = framework.likelihood.log_normaliser - framework.likelihood(decoded, image.expand_as(decoded)).double()
    log_ratio = framework.log_prior(latents) - proposal.log_density(latents).sum(1)
    return elements.flatten(1).sum(1) + log_ratio
