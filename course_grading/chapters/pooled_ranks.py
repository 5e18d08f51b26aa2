"""What chapter 20's functions are called with, what is right, and the mistakes that people make in them.

Isotonic regressions are SciPy's and blocks are read off them, so that nothing here shares code with
`course_lib.losses.soft_rank`.
"""

import math

import torch
from scipy.optimize import isotonic_regression
from scipy.stats import rankdata
from torch import Tensor

from course_grading.exercise import Wrong

STRENGTH = 0.1  # of the soft ranks in 20.3, relative to the spread of the values

# 20.1: an isotonic regression with weights ----------------------------------------------------------------------------


def weighted_targets(generator: torch.Generator) -> list[list[Tensor]]:
    """Targets and weights: noise, one that must pool back a long way, in order, in reverse, with equal weights, one."""
    cases = [_telling_targets(generator), _noise(6, generator), _noise(30, generator)]
    far_back = torch.tensor([0, 1, 2, 3, -9, 4], dtype=torch.float64)
    weights = torch.tensor([1, 2, 1, 0.5, 3, 1], dtype=torch.float64)
    up = torch.arange(5, dtype=torch.float64)
    cases += [[far_back, weights], [up, weights[:5]], [up.flip(0), weights[:5]], [far_back, torch.ones_like(far_back)]]
    return [*cases, [up[2:3], weights[:1]]]


def _noise(size, generator):
    targets = torch.randn(size, generator=generator, dtype=torch.float64)
    return [targets, 0.2 + 3 * torch.rand(size, generator=generator, dtype=torch.float64)]


def _telling_targets(generator):
    """Noise on which the usual mistakes differ: several blocks, also of those that fall, and one pooled twice."""
    while True:
        targets, weights = _noise(9, generator)
        rising, falling = isotonic(targets, weights).unique(), isotonic(-targets, weights).unique()
        plain = _pooled(targets, weights, _halfway), isotonic(targets, torch.ones_like(weights))
        if len(rising) > 2 and len(falling) > 1 and not torch.allclose(*plain):
            return [targets, weights]


def isotonic(targets: Tensor, weights: Tensor) -> Tensor:
    return torch.from_numpy(isotonic_regression(targets.numpy(), weights=weights.numpy()).x.copy())


def _pooled(targets, weights, mean, back=True):
    """Pool adjacent violators with another mean of two blocks, or without going back after a merger."""
    values, masses, sizes = [], [], []
    for value, mass in zip(targets.tolist(), weights.tolist(), strict=True):
        values, masses, sizes = [*values, value], [*masses, mass], [*sizes, 1]
        while len(values) > 1 and values[-2] > values[-1]:
            joint = mean(values[-2], masses[-2], values[-1], masses[-1])
            values[-2:], masses[-2:], sizes[-2:] = [joint], [sum(masses[-2:])], [sum(sizes[-2:])]
            if not back:
                break
    return torch.tensor(values, dtype=targets.dtype).repeat_interleave(torch.tensor(sizes))


def _halfway(a, mass_a, b, mass_b):
    return (a + b) / 2


def _by_mass(a, mass_a, b, mass_b):
    return (a * mass_a + b * mass_b) / (mass_a + mass_b)


ISOTONIC_WRONG = (
    Wrong(
        lambda y, w: isotonic(y, torch.ones_like(w)),
        "the weights are ignored: a block takes the weighted mean of its targets.",
    ),
    Wrong(
        lambda y, w: _pooled(y, w, _halfway),
        "two blocks were pooled into the plain mean of their means: keep for each block its sum and its weight.",
    ),
    Wrong(
        lambda y, w: _pooled(y, w, _by_mass, back=False),
        "after pooling, the new block was not compared with the one before it, which it may now violate: go on while.",
    ),
    Wrong(
        lambda y, w: isotonic(w * y, torch.ones_like(w)),
        "each target was multiplied by its weight, and then all were pooled as if they weighed the same: the weights "
        "belong into the blocks' means, Σ w y / Σ w.",
    ),
    Wrong(
        lambda y, w: ((w * y).sum() / w.sum()).expand(len(y)),
        "one mean for all: pool two blocks only where the second lies below the first, and leave the others apart.",
    ),
    Wrong(lambda y, w: -isotonic(-y, w), "this is the nearest sequence that does not rise: it must not fall."),
    Wrong(
        lambda y, w: y.cummax(0).values,
        "the running maximum never falls either, and it is not the nearest: violators meet at their mean.",
    ),
    Wrong(lambda y, w: y.sort().values, "the targets were sorted: the elements stay where they are, blocks get means."),
    Wrong(
        lambda y, w: isotonic(y, w).unique_consecutive(),
        "one number for each block: each element gets its block's mean, (n,).",
    ),
    Wrong(lambda y, w: y - isotonic(y, w), "this is what is left over, targets minus fit: return the fit."),
    Wrong(lambda y, w: w * isotonic(y, w), "the fit was multiplied by the weights: they are only for the means."),
)

# 20.3: a rank correlation with a fault --------------------------------------------------------------------------------


def distances_and_truths(generator: torch.Generator) -> list[list[Tensor]]:
    """Distances that want a gradient, and factor distances with many ties and uneven steps."""
    cases = []
    for size in (7, 12, 40):
        truth = torch.tensor([0, 0.3, 1, 1.01, 4], dtype=torch.float64)[torch.randint(5, (size,), generator=generator)]
        truth[:4] = torch.tensor([1, 0, 1, 1.01])  # ties, and two values so near that soft ranks would pool them
        noise = torch.randn(size, generator=generator, dtype=torch.float64)
        cases.append([(truth + 0.7 * noise).requires_grad_(), truth])
    return cases


def soft_ranks(values: Tensor, strength: float = STRENGTH) -> Tensor:
    """Relative soft ranks from SciPy's isotonic regression."""
    size = len(values)
    spread = math.sqrt((size**2 - 1) / 12)
    ordered, order = ((values - values.mean()) / values.std(correction=0) * spread / strength).sort()
    targets = ordered - torch.arange(1, size + 1)
    bounds = isotonic_regression(targets.detach().numpy()).blocks.tolist()
    means = [targets[a:b].mean().expand(b - a) for a, b in zip(bounds, bounds[1:], strict=False)]
    return torch.zeros_like(ordered).scatter(0, order, ordered - torch.cat(means))


def _pearson(first, second, centred=True):
    first, second = (x - x.mean() if centred else x for x in (first, second))
    return (first * second).sum() / (first.square().sum() * second.square().sum()).sqrt()


def _ranks(values):
    return torch.from_numpy(rankdata(values.detach().numpy()))


def rank_correlation(distance: Tensor, truth: Tensor) -> Tensor:
    return _pearson(soft_ranks(distance), _ranks(truth))


def argsort_once(distance: Tensor, truth: Tensor) -> Tensor:
    """The planted fault."""
    return _pearson(soft_ranks(distance), truth.argsort().double())


CORRELATION_WRONG = (
    Wrong(
        argsort_once,
        "the planted fault is still there: argsort says which element comes first, second, …, and not which rank an "
        "element has.",
    ),
    Wrong(
        lambda d, t: _pearson(soft_ranks(d), t.argsort().argsort().double()),
        "argsort twice gives ranks, but equal distances get different ones, by where they stand: ties share their "
        "average rank.",
    ),
    Wrong(
        lambda d, t: _pearson(soft_ranks(d), t.argsort(stable=True).argsort(stable=True).double()),
        "argsort twice gives ranks, but equal distances get different ones, by where they stand: ties share their "
        "average rank.",
    ),
    Wrong(
        lambda d, t: _pearson(soft_ranks(d), torch.unique(t, return_inverse=True)[1].double()),
        "equal distances share a rank, as they should, but the next rank is one more, however many they are: wanted "
        "is the average of the places that they take.",
    ),
    Wrong(
        lambda d, t: _pearson(soft_ranks(d), t),
        "the factor distances were not ranked at all: Spearman's correlation is one of ranks on both sides.",
    ),
    Wrong(
        lambda d, t: _pearson(soft_ranks(d), soft_ranks(t)),
        "soft ranks for the truth as well: it is not trained, so its ranks can be exact.",
    ),
    Wrong(
        lambda d, t: _pearson(_ranks(d), _ranks(t)) + 0 * d.sum(),
        "the ranks of the distances are exact, and so no gradient reaches them: keep the soft ones.",
    ),
    Wrong(
        lambda d, t: _pearson(d, _ranks(t)),
        "the distances were not ranked, not even softly: this is their linear correlation with the ranks.",
    ),
    Wrong(
        lambda d, t: -rank_correlation(d, t), "the sign is turned round: the correlation is wanted, not yet the loss."
    ),
    Wrong(
        lambda d, t: _pearson(soft_ranks(d), _ranks(t), centred=False),
        "the means were not taken off before multiplying: ranks are all positive, and so would every result be.",
    ),
)

# 20.4: from where nothing is ranked -----------------------------------------------------------------------------------


def value_sets(generator: torch.Generator) -> list[list[Tensor]]:
    """Values in no order: noise, evenly spaced, with a far one on either side, with ties, two, all equal."""
    cases = [[_telling_values(generator)]]
    cases += [[torch.randn(size, generator=generator, dtype=torch.float64)] for size in (4, 50)]
    even = torch.arange(6, dtype=torch.float64)[torch.randperm(6, generator=generator)]
    far = torch.tensor([0.4, 2.9, 0.9], dtype=torch.float64)
    cases += [[even], [far], [-far], [torch.tensor([1, 3, 1, 1, 2.5], dtype=torch.float64)], [far[:2]]]
    return [*cases, [torch.ones(4, dtype=torch.float64)]]


def _telling_values(generator):
    """Noise on which the usual mistakes differ: no extreme bound at k = 1 or n − 1, nor without sorting."""
    while True:
        values = torch.randn(7, generator=generator, dtype=torch.float64)
        bounds, unsorted = _bounds(values), _unsorted_bounds(values)
        inside = bounds[1:-1].aminmax() == bounds.aminmax()
        if inside and (unsorted.max() - bounds).abs().min() > 0.05:
            return values


def one_block_from(values: Tensor) -> Tensor:
    """The largest slope that the running mean has to catch up: see the solution."""
    return _bounds(values).max().clamp(min=0)


def _bounds(values: Tensor) -> Tensor:
    """What the first k values ask of ε, for each k from 1 to n − 1."""
    return _unsorted_bounds(values.sort().values)


def _unsorted_bounds(values):
    size = len(values)
    count = torch.arange(1, size, dtype=values.dtype)
    return 2 * (values.mean() - values.cumsum(0)[:-1] / count) / (size - count)


def _gaps(values):
    return values.sort().values.diff()


BLOCK_WRONG = (
    Wrong(
        lambda u: _gaps(u).min(),
        "the smallest gap: up to there the soft ranks are exact. Wanted is the other end, from where all are one "
        "block.",
    ),
    Wrong(
        lambda u: _gaps(u).max(),
        "the largest gap: a gap can also be closed by pooling with values further away, which drags the block's mean.",
    ),
    Wrong(lambda u: u.max() - u.min(), "the range: far more than is needed as soon as there are more than two values."),
    Wrong(
        lambda u: (u.max() - u.min()) / (len(u) - 1),
        "the mean gap: right for evenly spaced values only; the others have to be pooled against their means.",
    ),
    Wrong(
        lambda u: _bounds(u).min().clamp(min=0),
        "the smallest of the bounds: each first k asks for an ε at least as large as its own, so the largest decides.",
    ),
    Wrong(
        lambda u: _unsorted_bounds(u).max(),
        "the values were not sorted: the conditions are about the k smallest of them.",
    ),
    Wrong(lambda u: one_block_from(u) / 2, "half of it: from k to n, the mean of the places rises by (n − k)/2."),
    Wrong(
        lambda u: 2 * one_block_from(u),
        "twice as large as it should be: from k to n the mean of the places rises by (n − k)/2, which brings in one "
        "factor of 2 and not two.",
    ),
    Wrong(
        lambda u: 2 * (u.mean() - u.min()) / (len(u) - 1),
        "only the smallest value was asked whether it is pooled (k = 1): every first k has to be.",
    ),
    Wrong(
        lambda u: 2 * (u.max() - u.mean()) / (len(u) - 1),
        "only the largest value was asked whether it is pooled (k = n − 1), and its mean is not the one of the rest.",
    ),
    Wrong(
        lambda u: one_block_from(u) / u.std(correction=0) * math.sqrt((len(u) ** 2 - 1) / 12),
        "this is the strength relative to the spread of the values, as the library counts it: the plain ε is wanted.",
    ),
)
