"""Claims about what is computed from one trained β-VAE: its distances, two scores' settings, a batch's correlation."""

import math

import torch
from torch import Tensor

from course_lib.data import GridDataset
from course_lib.distances import Distance, perceived_distance
from course_lib.frameworks import Framework
from course_lib.losses import symmetric_kl
from course_lib.models import DiagonalGaussian
from course_replication.measurements.largest_beta import left_over
from course_replication.measurements.score_settings import settings_scores
from course_replication.measurements.trained_scores import matrix_agreement, of_latents, of_reconstructions, report
from course_replication.measurements.training import before_and_after, encodings
from course_replication.runs import Context

BATCH = 512  # images that stand for all in an estimate of the aggregate posterior
CHUNK = 16  # latents whose densities are computed at a time


def examined(context: Context, **vae) -> dict[str, float]:
    """Train one β-VAE and measure all that needs no other; "control/untrained/…" is the same without its training.

    "left" is the share of the pixels' variance that reconstructions leave.

    vae : settings of `training.scores`, without `dci` and `watch_every`.
    """
    data, *models = before_and_after(context, **vae)
    scores = settings_scores([encodings(model, data) for model in models], context.seed)
    before, after = (
        {"left": left_over(model, data)}
        | levels(model, data, context.seed)
        | total_correlations(model, data, context.seed)
        | found
        for model, found in zip(models, scores, strict=True)
    )
    return report(after, before, {})


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
