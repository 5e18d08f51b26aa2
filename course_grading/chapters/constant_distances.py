"""Chapter 15's numbers from distances alone: what self-pairs do to a correlation, and where learning begins.

The first reference is computed from the law of the pairs, the second from points that have the distances.
"""

import torch
from torch import Tensor

from course_grading.exercise import Wrong

# 15.2 -----------------------------------------------------------------------------------------------------------------


def laws_of_distances(generator: torch.Generator) -> list[list[Tensor]]:
    """Numbers of values with mean and deviation of the distances: all three random, no deviation, two values."""

    def drawn(low, high, count=6):
        return low + (high - low) * torch.rand(count, generator=generator, dtype=torch.float64)

    values = torch.randint(3, 40, (6,), generator=generator).double()
    few = torch.tensor([2.0, 2, 3, 8], dtype=torch.float64)
    return [
        [values, drawn(0.5, 3), drawn(0.2, 0.9)],
        [values, drawn(0.01, 0.1), torch.zeros(6, dtype=torch.float64)],
        [few, drawn(1, 2, 4), drawn(1.2, 4, 4)],
        [values[:1], drawn(2, 5, 1), drawn(0.1, 0.9, 1)],
    ]


def self_pair_correlation(values: Tensor, mean: Tensor, deviation: Tensor) -> Tensor:
    found = []
    for f, m, s in zip(values.long().tolist(), mean.tolist(), deviation.tolist(), strict=True):
        gaps = (torch.arange(f).unsqueeze(1) - torch.arange(f)).abs().flatten().double()
        apart = (gaps > 0).double()
        covariance = (gaps * apart * m).mean() - gaps.mean() * (apart * m).mean()
        variance = (apart * (m**2 + s**2)).mean() - (apart * m).mean() ** 2
        found.append(covariance / (gaps.var(correction=0) * variance).sqrt())
    return torch.stack(found)


def _scaled(f, m, variance, share=None):
    """The correlation with another variance of the distances, or another share of self-pairs in the covariance."""
    share = 1 / f if share is None else share
    gap = (f**2 - 1) / (3 * f)
    spread = ((f**2 - 1) * (f**2 + 2) / (18 * f**2)).sqrt()
    return gap * m * share / (spread * variance.sqrt())


def _between(f, m):
    return m**2 / f * (1 - 1 / f)


CORRELATION_WRONG = (
    Wrong(
        lambda f, m, s: _scaled(f, m, _between(f, m)),
        "the deviation was left out: this is the chapter's formula for a distance that is constant.",
    ),
    Wrong(
        lambda f, m, s: _scaled(f, m, _between(f, m) + (1 - 1 / f) * s),
        "`deviation` is a standard deviation: its square is what variances add.",
    ),
    Wrong(
        lambda f, m, s: _scaled(f, m, _between(f, m) + s**2),
        "the noise was counted for all pairs: an image and itself are at distance 0 without any scatter, so only "
        "1 − 1/f of the pairs have it.",
    ),
    Wrong(
        lambda f, m, s: _scaled(f, m, (1 - 1 / f) * s**2) if s.all() else torch.zeros_like(f),
        "the variance lacks the part between self-pairs and the rest: their means are 0 and `mean`.",
    ),
    Wrong(
        lambda f, m, s: self_pair_correlation(f, m, s) / m,
        "the covariance lacks the mean: d is `mean` on average, not 1, and the covariance scales with it.",
    ),
    Wrong(
        lambda f, m, s: _scaled(f, m, _between(f, m) + (1 - 1 / f) * s**2, 1 / f**2),
        "the share of self-pairs is 1/f: f of f² ordered pairs, not one of them.",
    ),
    Wrong(
        lambda f, m, s: self_pair_correlation(f, m, s).square(),
        "this is the square of the correlation, the share of variance explained.",
    ),
    Wrong(
        lambda f, m, s: self_pair_correlation(f, m, s) * f / (f - 1),
        "the mean of |i − j| was taken over distinct pairs, (f + 1)/3: with replacement it is (f² − 1)/(3f).",
    ),
    Wrong(
        lambda f, m, s: f * (3 / ((f + 2) * (f**2 - f + 1))).sqrt(),
        "this is the rank correlation of a constant distance: the linear one is wanted, with scatter.",
    ),
    Wrong(
        lambda f, m, s: torch.zeros_like(f),
        "0 is right for distinct pairs. Here pairs are drawn with replacement, and one in f is an image and itself.",
    ),
    Wrong(lambda f, m, s: self_pair_correlation(f, m, s).mean(), "averaged: one correlation for each law is wanted."),
)

# 15.4 -----------------------------------------------------------------------------------------------------------------


def distance_tables(generator: torch.Generator) -> list[list[Tensor]]:
    """Squared distances of points: random, far from 0, on a line, all equally far, two of them equal."""
    clouds = [torch.randn(3, 9, 4, generator=generator, dtype=torch.float64) for _ in range(2)]
    clouds[1] = clouds[1] * torch.tensor([5.0, 2, 1, 0.1]) + 30
    line = torch.arange(12.0, dtype=torch.float64).view(1, 12, 1) * torch.tensor([[[1.0, 2.0]]])
    even = (torch.eye(10, dtype=torch.float64) * 3).unsqueeze(0)
    twins = torch.randn(2, 5, 3, generator=generator, dtype=torch.float64)
    twins[:, 4] = twins[:, 3]
    return [[_squared(points)] for points in (*clouds, line, even, twins)]


def _squared(points: Tensor) -> Tensor:
    return (points.unsqueeze(2) - points.unsqueeze(1)).square().sum(3)


def starting_price(distances: Tensor) -> Tensor:
    """2λ from points placed so that the first lies at 0, and centred only then."""
    to_first = distances[:, :1]
    products = (to_first.mT + to_first - distances) / 2
    value, direction = torch.linalg.eigh(products)
    points = direction * value.clamp(min=0).sqrt().unsqueeze(1)
    points = points - points.mean(1, keepdim=True)
    return 2 * torch.linalg.svdvals(points)[:, 0].square() / distances.shape[1]


def _centred(table: Tensor) -> Tensor:
    return table - table.mean(1, keepdim=True) - table.mean(2, keepdim=True) + table.mean((1, 2), keepdim=True)


def _largest(table: Tensor) -> Tensor:
    return torch.linalg.eigvalsh(table)[:, -1] / table.shape[1]


PRICE_WRONG = (
    Wrong(
        lambda d: 2 * _largest(-d / 2),
        "the table was not centred: take the means of rows and columns off first. Until then −½ of it holds more than "
        "products, half of ‖x_i‖² and ‖x_j‖² as well.",
    ),
    Wrong(
        lambda d: 2 * _largest(-(d - d.mean(2, keepdim=True)) / 2),
        "only the rows were centred: columns too, so that the table stays symmetric.",
    ),
    Wrong(
        lambda d: 2 * _largest(_centred(d) / 2),
        "0, or nearly: either the sign is missing, for products of images are −½ of the centred table, or the smallest "
        "eigenvalue was taken, for eigvalsh sorts them upwards.",
    ),
    Wrong(
        lambda d: 2 * starting_price(d),
        "twice of it: the products of images are −½ of the centred table, and the ½ is missing.",
    ),
    Wrong(lambda d: starting_price(d) / 2, "this is λ: a small step pays below β = 2λ."),
    Wrong(
        lambda d: starting_price(d) * d.shape[1] / (d.shape[1] - 1),
        "divided by n − 1: the identity averages over the n images as they are, with 1/n.",
    ),
    Wrong(
        lambda d: starting_price(d) * d.shape[1],
        "not divided by n: an eigenvalue of the products is n times one of the covariance.",
    ),
    Wrong(
        lambda d: 2 * torch.linalg.eigvalsh(-_centred(d) / 2).sum(1) / d.shape[1],
        "the sum of all eigenvalues: a first step is made along one direction, the largest counts.",
    ),
    Wrong(
        lambda d: 2 * _largest(-_centred(d.sqrt()) / 2),
        "the root of the distances was taken: the table holds squared distances, as the formula wants them.",
    ),
    Wrong(
        lambda d: d.sum((1, 2)) / (d.shape[1] - 1) / d.shape[1] ** 2,
        "this is the mean distance divided by n, which is right only where all distances are the same.",
    ),
    Wrong(
        lambda d: d.amax((1, 2)) / d.shape[1],
        "this is the largest distance divided by n, which is right only where all distances are the same.",
    ),
    Wrong(lambda d: starting_price(d).max(), "one price for each table is wanted, (m,)."),
)
