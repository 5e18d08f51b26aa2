"""What regularisation does to a small VAE: posteriors that overlap, a decoder that mistakes images, near codes."""

import torch
from torch import Tensor

from course_lib import metrics
from course_lib.data import GridDataset
from course_lib.frameworks import Framework
from course_lib.metrics import Encodings
from course_lib.models import DiagonalGaussian
from course_lib.sampling import factor_pairs
from course_replication.measurements.trained_scores import model_scores, report
from course_replication.measurements.training import before_and_after
from course_replication.runs import Context

PAIRS = 10_000  # of neighbours along each factor
ROUNDING = 1e-5  # as a share of it, by which a distance may miss another that is equal


def overlap(context: Context, **settings) -> dict[str, float]:
    """Train a VAE and measure what Figure 3.1 draws; "control/untrained/…" is the same without its training.

    settings : of `training.scores`; the loss is "mse".

    "overlap" is the Bhattacharyya coefficient of the posteriors of two neighbours along a factor, averaged over
    factors; "mistakes" the share of images a sample of whose posterior is decoded into what is nearer to another image;
    "data-rank" Spearman's correlation of latent with perceived distances along factors.
    """
    data, *models = before_and_after(context, **settings)
    before, after = (_measured(model, data, context.seed) for model in models)
    return report(after, before, {})


def bhattacharyya(first: DiagonalGaussian, second: DiagonalGaussian) -> Tensor:
    """∫ √(p q) of two Gaussians, (B,): 1 where they are equal, near 0 where they hardly overlap."""
    total = first.variance + second.variance
    spread = (2 * first.std * second.std / total).log().sum(1) / 2
    return (spread - ((first.mean - second.mean).square() / total).sum(1) / 4).exp()


def mistakes(decoded: Tensor, images: Tensor) -> float:
    """The share of the decoded images (N, …) that are nearer, by squared error, to another of the images than to
    their own; nearer by no more than rounding does not count."""
    apart = torch.cdist(decoded.flatten(1).double(), images.flatten(1).double())
    own = apart.diagonal()
    return float((apart.amin(1) < own * (1 - ROUNDING)).double().mean())


def _measured(framework: Framework, data: GridDataset, seed: int) -> dict[str, float]:
    images = data.images(torch.arange(len(data)))
    posterior, draws = framework.posterior(images), torch.Generator().manual_seed(seed)
    table = Encodings.from_table(posterior.mean, data)
    with torch.no_grad():
        decoded = framework.model.decode(posterior.rsample(draws))
    pairs = [neighbours(data, factor, draws) for factor in data.space.names]
    coefficients = [bhattacharyya(posterior.at(first), posterior.at(second)).mean() for first, second in pairs]
    distances = metrics.distance_correlation(table, seed=seed, loss=framework.reconstruction).values
    return model_scores(framework, data, seed) | {
        "overlap": torch.stack(coefficients).mean().item(),
        "mistakes": mistakes(decoded, framework.standardise(images)),
        "data-rank": distances["data"],
        "data-rank-distinct": distances["distinct_data"],
    }


def neighbours(data: GridDataset, factor: str, draws: torch.Generator) -> tuple[Tensor, Tensor]:
    """Random pairs of images that are one step apart along a factor: two indices (n,), n about PAIRS / 4 or fewer."""
    first, second = factor_pairs(data.space, factor, PAIRS, draws)
    steps = (data.space.factors(first) - data.space.factors(second)).abs().sum(1)
    return first[steps == 1], second[steps == 1]
