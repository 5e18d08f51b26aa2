"""Claims about what is computed from one trained β-VAE: its distances, two scores' settings, a batch's correlation."""

import math

import torch
from torch import Tensor

from course_lib.data import GridDataset
from course_lib.distances import Distance, perceived_distance
from course_lib.frameworks import Framework
from course_lib.losses import symmetric_kl
from course_lib.models import DiagonalGaussian
from course_replication.measurements import part_three
from course_replication.measurements.score_settings import settings_scores
from course_replication.measurements.small_grid import before_and_after, encodings
from course_replication.measurements.trained_scores import matrix_agreement, of_latents, of_reconstructions
from course_replication.parts import Part
from course_replication.runs import Context

BATCH = 512  # images that stand for all in an estimate of the aggregate posterior
CHUNK = 16  # latents whose densities are computed at a time


def examined(context: Context, vae: dict) -> dict[str, float]:
    """Train one β-VAE and measure all that needs no other; "control/untrained/…" is the same without its training.

    vae : settings of `small_grid.training`.
    """
    data, *models = before_and_after(context, **vae)
    scores = settings_scores([encodings(model, data) for model in models], context.seed)
    before, after = (
        levels(model, data, context.seed) | total_correlations(model, data, context.seed) | found
        for model, found in zip(models, scores, strict=True)
    )
    return after | {f"control/untrained/{name}": value for name, value in before.items()}


def levels(framework: Framework, data: GridDataset, seed: int) -> dict[str, float]:
    """How matrices of distances along traversals, at each level of the VAE, agree with those of the images' loss."""
    posterior = framework.posterior(data.images(torch.arange(len(data))))
    with torch.no_grad():
        decoded = framework.model.decode(posterior.mean)
    distances = {
        "means": of_latents(encodings(framework, data)),
        "kl": _divergence(posterior),
        "reconstructions": of_reconstructions(framework, decoded),
    }
    perceived = perceived_distance(data, loss=framework.reconstruction)
    return {
        f"matrix-rank/perceived/{name}": matrix_agreement(perceived, distance, data, seed)
        for name, distance in distances.items()
    }


def total_correlations(framework: Framework, data: GridDataset, seed: int) -> dict[str, float]:
    """The total correlation of codes in nats: "exact" from the mixture of all posteriors, or as a batch estimates it.

    The batch's mixture stands for that of all images: for codes of its own images ("batch/own", and "exact" of the same
    codes), or of all the others ("batch/fresh"). Source: Kim and Mnih 2018, Appendix D.
    """
    draws = torch.Generator().manual_seed(seed)
    posterior = framework.posterior(data.images(torch.arange(len(data))))
    order, latents = torch.randperm(len(data), generator=draws), posterior.rsample(draws)
    own, fresh = order[:BATCH], order[BATCH:]
    batch = posterior.at(own)
    return {
        "total-correlation/exact": estimate(latents[own], posterior),
        "total-correlation/batch/own": estimate(latents[own], batch),
        "total-correlation/batch/fresh": estimate(latents[fresh], batch),
    }


def estimate(latents: Tensor, mixture: DiagonalGaussian) -> float:
    """The mean of log q(z) − Σ_d log q(z_d) over latents (n, D), q the equal mixture of Gaussians (m, D), in nats."""
    size = math.log(len(mixture.mean))
    mixture, total = DiagonalGaussian(*(part.double() for part in mixture)), 0.0
    for part in latents.double().split(CHUNK):
        densities = mixture.log_density(part.unsqueeze(1))  # (n, m, D)
        joint = densities.sum(2).logsumexp(1) - size
        total += (joint - (densities.logsumexp(1) - size).sum(1)).sum().item()
    return total / len(latents)


def _divergence(posterior: DiagonalGaussian) -> Distance:
    return lambda first, second: symmetric_kl(posterior.at(first), posterior.at(second)).sum(1).double()


VAE = part_three.unsupervised(loss="mse-box", latents=10, dci=0)
_SMALL = (part_three.GRID, part_three.NETWORK, part_three.BOX, part_three.ONE_BETA)
_KIM = (
    *_SMALL, part_three.NOT_DSPRITES, "a β-VAE trained by means, on squared errors, for 2,000 batches of 256 at 0.001",
)  # fmt: skip


def _part(*deviations: str) -> tuple[Part, ...]:
    settings = {"vae": VAE}
    return (Part("fixed_model.examined", settings, "{}", part_three.SEEDS, "quick", deviations=deviations),)


PLANS = {
    "distances/figure-3.5": _part(*_SMALL, "XYSquares with the box blur in place of Cars3D", "10 latents"),
    "factorvae/figure-16": _part(*_KIM, "each seed has its own VAE in place of one for all"),
    "factorvae/figure-16-evaluation": _part(*_KIM, "each seed has its own VAE in place of one for all"),
    "factorvae/figure-17": _part(
        *_KIM,
        "each seed has its own VAE in place of one for all",
        "L and what goes with it are varied by our own factors, 4 and 10, as the paper prints only the last",
    ),
    "factorvae/figure-18": _part(
        *_KIM, f"a batch of {BATCH} of 4,096 images in place of 10,000 of 737,280", "one β in place of three"
    ),
}
