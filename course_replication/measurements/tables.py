"""The thesis' tables that need no training: moments of pixels, distances of pairs, and their correlations."""

import math

import torch

import course_lib.data
from course_lib.data import GridDataset, XYSquares
from course_lib.distances import (
    correlation_table,
    correlations,
    distance_samples,
    ground_truth_distance,
    perceived_distance,
)
from course_lib.sampling import random_pairs
from course_replication.runs import Context

PAIRS = 200_000
SPACINGS = range(1, 9)
CHANNELS = ("red", "green", "blue")
CHUNK = 2048  # images drawn at a time


def moments(context: Context, data: str) -> dict[str, float]:
    """Mean and deviation of each channel over all images, Table A.2: "mean" and "std", by channel where there are 3.

    The deviation is the mean of the images' own unbiased ones. Sums are of integers, so that nothing but the last
    operations is rounded.
    """
    data = dataset(data)
    pixels = math.prod(data.shape[1:])
    means, deviations = [], []
    for index in torch.arange(len(data)).split(CHUNK):
        images = data.images(index).flatten(2).int()
        total, squares = images.sum(2), images.square_().sum(2)
        means.append(total.double() / pixels / 255)
        deviations.append(((squares - total.double().square() / pixels) / (pixels - 1)).sqrt() / 255)
    found = {}
    for name, parts in (("mean", means), ("std", deviations)):
        for channel, values in zip(CHANNELS, torch.cat(parts).T, strict=False):
            found[name if data.shape[0] == 1 else f"{name}/{channel}"] = math.fsum(values.tolist()) / len(data)
    return found


def importance(context: Context, data: str, num_pairs: int) -> dict[str, float]:
    """Mean and deviation of the MSE of distinct pairs along each factor and at random: "mse/shape/mean", Table 3.1.

    "factors" are the pairs along all factors together, "largest" is the factor with the largest mean.
    """
    data = dataset(data)
    samples = distance_samples(perceived_distance(data), data.space, context.generator, n=num_pairs)
    along = [values for name, values in samples.items() if name != "random"]
    samples |= {"factors": torch.cat(along), "largest": max(along, key=torch.mean)}
    return {
        f"mse/{name}/{moment}": value
        for name, values in samples.items()
        for moment, value in (("mean", values.mean()), ("std", values.std()))
    }


def correlation(context: Context, data: str, loss: str, num_pairs: int) -> dict[str, float]:
    """Correlations of perceived with factor distances by the protocol of Table 4.1: "mse/shape/rank".

    "lowest" is the lowest along a factor.
    """
    data = dataset(data)
    table = correlation_table(perceived_distance(data, loss=loss), data.space, context.generator, n=num_pairs)
    table.loc["lowest"] = table.drop(index="random").min()
    return _named(loss, table.T.to_dict("list"))


def spacing_correlation(context: Context, loss: str) -> dict[str, float]:
    """Correlations along the factors of XYSquares at each spacing, Table 4.2: "mse/spacing-8/rank"."""
    return _named(loss, {f"spacing-{spacing}": enumerated(spacing, loss) for spacing in SPACINGS})


def kernel_correlation(context: Context, loss: str, num_pairs: int) -> dict[str, float]:
    """Correlations on XYSquares along factors and of random pairs, Table 6.1: "mse/random/linear"."""
    data = XYSquares()
    pairs = random_pairs(data.space, num_pairs, context.generator, batch_size=32)
    anywhere = correlations(ground_truth_distance(data.space)(*pairs), perceived_distance(data, loss=loss)(*pairs))
    return _named(loss, {"factors": enumerated(data.options["spacing"], loss), "random": anywhere})


def enumerated(spacing: int, loss: str) -> tuple[float, float]:
    """Linear and rank correlation along a factor of XYSquares, from all pairs instead of a sample.

    A pair's distance depends on its two positions along x and on the square's row: the other channels cancel, and the
    mean over channels only scales it, so one square shows all three.
    """
    data = XYSquares(spacing, squares=1)
    first, second, row = torch.cartesian_prod(*[torch.arange(8)] * 3).T
    pairs = [data.space.index(torch.stack([x, row], 1)) for x in (first, second)]
    return correlations(ground_truth_distance(data.space)(*pairs), perceived_distance(data, loss=loss)(*pairs))


def dataset(name: str) -> GridDataset:
    """The dataset of `course_lib.data` of that name; those that are not drawn are read from their published file."""
    return getattr(course_lib.data, name)()


def _named(loss: str, rows: dict) -> dict[str, float]:
    return {
        f"{loss}/{row}/{kind}": value
        for row, values in rows.items()
        for kind, value in zip(("linear", "rank"), values, strict=True)
    }
