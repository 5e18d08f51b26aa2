"""Chapter 20, learnt losses: pooling by weight, soft ranks by hand, a rank correlation, one block, asymmetry, a table.

Isotonic regressions are SciPy's and blocks are read off them, so that nothing here shares code with
`course_lib.losses.soft_rank`.
"""

import math
from functools import partial

import torch
from scipy.optimize import isotonic_regression
from torch import Tensor

from course_grading.answers import row, words
from course_grading.correlations import pearson, ranks
from course_grading.exercise import Function, Plain, either
from course_lib.losses.learnt_kernel import symmetrised
from course_lib.losses.soft_rank import soft_rank, spearman

# 20.1 -----------------------------------------------------------------------------------------------------------------


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


ISOTONIC_MISTAKES = {
    "the weights are ignored: a block takes the weighted mean of its targets.":
        lambda y, w: isotonic(y, torch.ones_like(w)),
    "two blocks were pooled into the plain mean of their means: keep for each block its sum and its weight.":
        lambda y, w: _pooled(y, w, _halfway),
    "after pooling, the new block was not compared with the one before it, which it may now violate: go on while.":
        lambda y, w: _pooled(y, w, _by_mass, back=False),
    "each target was multiplied by its weight, and then all were pooled as if they weighed the same: the weights "
    "belong into the blocks' means, Σ w y / Σ w.":
        lambda y, w: isotonic(w * y, torch.ones_like(w)),
    "one mean for all: pool two blocks only where the second lies below the first, and leave the others apart.":
        lambda y, w: ((w * y).sum() / w.sum()).expand(len(y)),
    "this is the nearest sequence that does not rise: it must not fall.": lambda y, w: -isotonic(-y, w),
    "the running maximum never falls either, and it is not the nearest: violators meet at their mean.":
        lambda y, w: y.cummax(0).values,
    "the targets were sorted: the elements stay where they are, blocks get means.": lambda y, w: y.sort().values,
    "one number for each block: each element gets its block's mean, (n,).":
        lambda y, w: isotonic(y, w).unique_consecutive(),
    "this is what is left over, targets minus fit: return the fit.": lambda y, w: y - isotonic(y, w),
    "the fit was multiplied by the weights: they are only for the means.": lambda y, w: w * isotonic(y, w),
}  # fmt: skip


def _pooled_by_min_max(targets, weights):
    """The closed form: the largest over starts of the smallest mean over ends."""
    total, mass = (torch.cat([each.new_zeros(1), each.cumsum(0)]) for each in (weights * targets, weights))
    means = (total[1:] - total[:-1].unsqueeze(1)) / (mass[1:] - mass[:-1].unsqueeze(1))  # (start, end)
    lowest = means.flip(1).cummin(1).values.flip(1)  # with this end or a later one
    return lowest.where(torch.ones_like(means).triu() > 0, -math.inf).amax(0)


# 20.2 -----------------------------------------------------------------------------------------------------------------

BY_HAND = (2.4, 1.5, 4.0, 2.1)  # of (1.9, 1.0, 8.0, 1.6) with ε = 1
HAND_MISTAKES = {
    "these are the hard ranks: the gaps 0.6 and 0.3 are smaller than ε, so values are pooled.": [3.0, 1.0, 4.0, 2.0],
    "the right numbers in ascending order: give them back in the order of the values.": [1.5, 2.1, 2.4, 4.0],
    "1.0 and 1.6 were pooled, and 1.9 was not. The block's mean is −0.2, and the next target, −1.1, lies below: pool "
    "again.":
        [3.0, 1.2, 4.0, 1.8],
    "1.9 and 1.6 are exchanged: within a block, too, the larger value has the larger rank.": [2.1, 1.5, 4.0, 2.4],
    "1.6 and 1.9 were pooled, and 1.0 was not: its target, 0, is above the mean of the two.": [2.65, 1.0, 4.0, 2.35],
    "a block keeps its mean rank, 2, and inside it the differences of the values, divided by ε.": [2.0, 2.0, 4.0, 2.0],
    "all four were pooled. The block of three has the mean −0.5; 8.0 has the target 4.": [1.275, 0.375, 7.375, 0.975],
    "descending: the smallest value has the smallest rank.": [2.6, 3.5, 1.0, 2.9],
    "these are the values themselves, u / ε; the soft ranks are the nearest point to them.": [1.9, 1.0, 8.0, 1.6],
    "this is the isotonic fit v: the soft ranks are t − v.": [-0.5, -0.5, 4.0, -0.5],
    "this is what the library gives at a regularisation of 1, which it takes relative to the spread of the values: "
    "here ε is 1 itself.":
        [2.158, 1.803, 4.0, 2.04],
    "this is argsort, which element comes first; hard ranks would be (3, 1, 4, 2), and soft are asked.":
        [2.0, 4.0, 1.0, 3.0],
}  # fmt: skip


def by_hand_fault(answer) -> str | None:
    """Whether the four soft ranks are right; sums are checked first, since each point of the body has the same."""
    numbers = row(answer, len(BY_HAND))
    if _close(numbers, BY_HAND):
        return None
    for sentence, mistake in HAND_MISTAKES.items():
        if _close(numbers, mistake):
            return sentence
    if abs(sum(numbers) - 10) > 0.02:
        return f"they add up to {sum(numbers):.4g}; every point of the permutahedron adds up to 1 + 2 + 3 + 4 = 10."
    return "the right sum, but not the nearest point: write down t and the targets t − i, and pool until none falls."


def _close(numbers, others) -> bool:
    return all(abs(number - other) < 0.01 for number, other in zip(numbers, others, strict=True))


# 20.3 -----------------------------------------------------------------------------------------------------------------

STRENGTH = 0.1  # of the soft ranks, relative to the spread of the values


def distances_and_truths(generator: torch.Generator) -> list[list[Tensor]]:
    """Distances that want a gradient, the last in reverse order; factor distances with many ties and uneven steps."""
    cases = []
    for size in (40, 12, 7):  # the first so long that its correlation is positive
        truth = torch.tensor([0, 0.3, 1, 1.01, 4], dtype=torch.float64)[torch.randint(5, (size,), generator=generator)]
        ties = torch.tensor([1, 0, 1, 1.01, 4], dtype=torch.float64)  # and two values that soft ranks would pool
        truth[:5] = ties
        noise = torch.randn(size, generator=generator, dtype=torch.float64)
        cases.append([(truth + 0.7 * noise).requires_grad_(), truth])
    return [*cases, [(0.1 * noise - truth).requires_grad_(), truth]]


def soft_ranks(values: Tensor, strength: float = STRENGTH) -> Tensor:
    """Relative soft ranks from SciPy's isotonic regression."""
    size = len(values)
    spread = math.sqrt((size**2 - 1) / 12)
    ordered, order = ((values - values.mean()) / values.std(correction=0) * spread / strength).sort()
    targets = ordered - torch.arange(1, size + 1)
    bounds = isotonic_regression(targets.detach().numpy()).blocks.tolist()
    means = [targets[a:b].mean().expand(b - a) for a, b in zip(bounds, bounds[1:], strict=False)]
    return torch.zeros_like(ordered).scatter(0, order, ordered - torch.cat(means))


def rank_correlation(distance: Tensor, truth: Tensor) -> Tensor:
    return pearson(soft_ranks(distance), ranks(truth))


def argsort_once(distance: Tensor, truth: Tensor) -> Tensor:
    """The planted fault."""
    return pearson(soft_ranks(distance), truth.argsort())


def _ordinal(distance, truth, stable):
    places = truth.argsort(stable=stable).argsort(stable=stable)
    return pearson(soft_ranks(distance), places)


CORRELATION_MISTAKES = {
    "the planted fault is still there: argsort says which element comes first, second, …, and not which rank an "
    "element has.":
        argsort_once,
    "argsort twice gives ranks, but equal distances get different ones, by where they stand: ties share their "
    "average rank.":
        either(*(partial(_ordinal, stable=stable) for stable in (False, True))),
    "equal distances share a rank, as they should, but the next rank is one more, however many they are: expected is "
    "the average of the places that they take.":
        lambda d, t: pearson(soft_ranks(d), torch.unique(t, return_inverse=True)[1]),
    "the factor distances were not ranked at all: Spearman's correlation is one of ranks on both sides.":
        lambda d, t: pearson(soft_ranks(d), t),
    "soft ranks for the truth as well: it is not trained, so its ranks can be exact.":
        lambda d, t: pearson(soft_ranks(d), soft_ranks(t)),
    "the ranks of the distances are exact, and so no gradient reaches them: keep the soft ones.":
        lambda d, t: pearson(ranks(d), ranks(t)) + 0 * d.sum(),
    "the distances were not ranked, not even softly: this is their linear correlation with the ranks.":
        lambda d, t: pearson(d, ranks(t)),
    "the sign is turned round: expected the correlation, not yet the loss.": lambda d, t: -rank_correlation(d, t),
    "the sign was taken off: distances in reverse order are the worst there are, not the best.":
        lambda d, t: rank_correlation(d, t).abs(),
    "the means were not taken off before multiplying: ranks are all positive, and so would every result be.":
        lambda d, t: torch.cosine_similarity(soft_ranks(d), ranks(t), dim=0),
}  # fmt: skip


def _correlation_by_scipys_ranks(distance, truth):
    return torch.corrcoef(torch.stack([soft_rank(distance, 0.1), ranks(truth)]))[0, 1]


def _correlation_by_counting(distance, truth):
    exact = (truth.unsqueeze(1) > truth).sum(1) + ((truth.unsqueeze(1) == truth).sum(1) + 1) / 2
    return torch.cosine_similarity(soft_rank(distance, 0.1) - (len(truth) + 1) / 2, exact - exact.mean(), dim=0)


# 20.4 -----------------------------------------------------------------------------------------------------------------


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


BLOCK_MISTAKES = {
    "the smallest gap: up to there the soft ranks are exact. Expected is the other end, from where all are one block.":
        lambda u: _gaps(u).min(),
    "the largest gap: a gap can also be closed by pooling with values further away, which drags the block's mean.":
        lambda u: _gaps(u).max(),
    "the range: far more than is needed as soon as there are more than two values.": lambda u: u.max() - u.min(),
    "the mean gap: right for evenly spaced values only; the others have to be pooled against their means.":
        lambda u: (u.max() - u.min()) / (len(u) - 1),
    "the smallest of the bounds: each first k asks for an ε at least as large as its own, so the largest decides.":
        lambda u: _bounds(u).min().clamp(min=0),
    "the values were not sorted: the conditions are about the k smallest of them.": lambda u: _unsorted_bounds(u).max(),
    "half of it: from k to n, the mean of the places rises by (n − k)/2.": lambda u: one_block_from(u) / 2,
    "twice as large as it should be: from k to n the mean of the places rises by (n − k)/2, which brings in one "
    "factor of 2 and not two.":
        lambda u: 2 * one_block_from(u),
    "only the smallest value was asked whether it is pooled (k = 1): every first k has to be.":
        lambda u: 2 * (u.mean() - u.min()) / (len(u) - 1),
    "only the largest value was asked whether it is pooled (k = n − 1), and its mean is not the one of the rest.":
        lambda u: 2 * (u.max() - u.mean()) / (len(u) - 1),
    "this is the strength relative to the spread of the values, as the library counts it: expected the plain ε.":
        lambda u: one_block_from(u) / u.std(correction=0) * math.sqrt((len(u) ** 2 - 1) / 12),
}  # fmt: skip


def _block_by_search(values):
    """Bisection on the number of blocks."""
    ordered = values.sort().values
    places = torch.arange(1, len(values) + 1)
    low, high = 0.0, 2 * (ordered[-1] - ordered[0]).item() + 1e-300
    for _ in range(200):
        middle = (low + high) / 2
        blocks = len(isotonic_regression((ordered / middle - places).numpy()).blocks) - 1 if middle > 0 else 2
        low, high = (low, middle) if blocks == 1 else (middle, high)
    return torch.tensor(high, dtype=values.dtype)


def _block_with_a_loop(values):
    ordered = sorted(values.tolist())
    n, mean = len(ordered), sum(ordered) / len(ordered)
    bounds = [2 * (mean - sum(ordered[:k]) / k) / (n - k) for k in range(1, n)]
    return torch.tensor(max(*bounds, 0.0), dtype=values.dtype)


# 20.5 -----------------------------------------------------------------------------------------------------------------


def kernels(generator: torch.Generator) -> list[list[Tensor]]:
    """Kernels that want a gradient: noise, symmetric under a part of the group only, one with a single large weight."""
    cases = [torch.rand(size, size, generator=generator, dtype=torch.float64) for size in (5, 3, 9)]
    noise = cases[0]
    turning = sum(noise.rot90(quarter) for quarter in range(4))  # rotations leave it, mirrors do not
    upright = noise + noise.flip(0) + noise.flip(1) + noise.flip((0, 1))  # mirrors leave it, rotations do not
    corner = torch.full((5, 5), 0.1, dtype=torch.float64)
    corner[0, 1] = 3
    return [[case.clone().requires_grad_()] for case in (*cases, turning, upright, noise + noise.T, corner, 50 * noise)]


def asymmetry(kernel: Tensor) -> Tensor:
    """By places instead of turns: weight (y, x) is averaged over (±y, ±x) and (±x, ±y), counted from the centre."""
    size = len(kernel)
    y, x = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    places = [(a, b) for a in (y, size - 1 - y) for b in (x, size - 1 - x)]
    mean = sum(kernel[a, b] + kernel[b, a] for a, b in places) / 8
    return ((kernel - mean) ** 2).sum() / (kernel**2).sum()


def _turned(kernel):
    return torch.stack([kernel.rot90(quarter) for quarter in range(4)])


def _share(kernel, mean):
    return (kernel - mean).square().sum() / kernel.square().sum()


def _all_eight(kernel):
    turned = _turned(kernel)
    return torch.cat([turned, turned.mT]).mean(0)


ASYMMETRY_MISTAKES = {
    "only the four rotations were averaged: a pinwheel counts as symmetric then. The mirrored ones belong to it.":
        lambda h: _share(h, _turned(h).mean(0)),
    "only left–right and up–down were averaged: x and y can be exchanged, too (a transposition).":
        lambda h: _share(h, (h + h.flip(0) + h.flip(1) + h.flip((0, 1))) / 4),
    "only the transposition was averaged: expected eight symmetries.": lambda h: _share(h, (h + h.T) / 2),
    "only one mirror was averaged: expected eight symmetries.": lambda h: _share(h, (h + h.flip(1)) / 2),
    "not divided by ‖h‖²: a kernel could then look symmetric by being small.":
        lambda h: (h - _all_eight(h)).square().sum(),
    "a mean over the weights, and not divided by ‖h‖²: a kernel could then look symmetric by being small.":
        lambda h: (h - _all_eight(h)).square().mean(),
    "the root was taken: expected the share of squares.": lambda h: _share(h, _all_eight(h)).sqrt(),
    "divided by the symmetric part's squares: the share is of the whole kernel, ‖h‖².":
        lambda h: (h - _all_eight(h)).square().sum() / _all_eight(h).square().sum(),
    "the eight were added up and not averaged.": lambda h: _share(h, 8 * _all_eight(h)),
    "compared with its mean weight: that asks for a flat kernel, not symmetry.": lambda h: _share(h, h.mean()),
    "the values are right, but no gradient reaches kernel": lambda h: asymmetry(h).detach(),
}  # fmt: skip


def _asymmetry_by_flips(kernel):
    """A transposition and two flips make the group as well."""
    mean = sum(k.flip(axes) for k in (kernel, kernel.T) for axes in ((), (0,), (1,), (0, 1))) / 8
    return ((kernel - mean) ** 2).sum() / (kernel**2).sum()


def _asymmetry_by_what_is_kept(kernel):
    """What is kept is perpendicular to what is not."""
    return 1 - symmetrised(kernel).square().sum() / kernel.square().sum()


# 20.6 -----------------------------------------------------------------------------------------------------------------

TABLE = {
    "heart": "supported", "grid": "supported", "travels": "contradicted", "longer": "contradicted",
    "disentangles": "not said", "lines": "not said",
}  # fmt: skip
TABLE_WORDS = ("supported", "contradicted", "not said")
TABLE_MISTAKES = {
    "heart: 1 on what it was told and .55 on the rest is what learning by heart means.": "contradicted",
    "heart: compare the pairs that A was told with the others.": "not said",
    "grid: compare the other pairs of the same grid: .97 and .93.": "contradicted",
    "grid: the column of the other pairs says it, .97 and .93.": "not said",
    "travels: at half the spacing C has .95 and B .80.": "supported",
    "travels: the last column is about just that.": "not said",
    "longer: A's pairs are in perfect order. A rank correlation has no more than 1 to give.": "supported",
    "longer: can a rank correlation that is exactly 1 rise?": "not said",
    "disentangles: distances in order are no axes. The table has no VAE in it.": "supported",
    "disentangles: it may or may not; the table has no VAE in it.": "contradicted",
    "lines: likely, and not in the table: it has distances, no pictures.": "supported",
    "lines: the table has distances, no pictures.": "contradicted",
}


# ----------------------------------------------------------------------------------------------------------------------

EXERCISES = {
    "20.1": Function(
        reference=isotonic,
        cases=weighted_targets,
        mistakes=ISOTONIC_MISTAKES,
        also_right=(
            _pooled_by_min_max,
            lambda y, w: _pooled(y, w, _by_mass),
            lambda y, w: -isotonic(-y.flip(0), w.flip(0)).flip(0).requires_grad_(),
        ),
    ),
    "20.2": Plain(
        fault=by_hand_fault,
        mistakes=HAND_MISTAKES,
        also_right=(
            BY_HAND,
            [*BY_HAND],
            torch.tensor(BY_HAND, requires_grad=True),
            torch.tensor(BY_HAND).double().numpy(),
        ),
        praise="right: three values share the ranks 1 to 3, and one is alone.",
    ),
    "20.3": Function(
        reference=rank_correlation,
        cases=distances_and_truths,
        mistakes=CORRELATION_MISTAKES,
        tolerance=(1e-5, 1e-7),
        also_right=(lambda d, t: spearman(d, t, STRENGTH), _correlation_by_scipys_ranks, _correlation_by_counting),
    ),
    "20.4": Function(
        reference=one_block_from,
        cases=value_sets,
        mistakes=BLOCK_MISTAKES,
        also_right=(_block_by_search, _block_with_a_loop, lambda u: torch.cat([_bounds(u), u.new_zeros(1)]).amax()),
    ),
    "20.5": Function(
        reference=asymmetry,
        cases=kernels,
        mistakes=ASYMMETRY_MISTAKES,
        also_right=(_asymmetry_by_flips, _asymmetry_by_what_is_kept, lambda h: _share(h, _all_eight(h))),
    ),
    "20.6": words(
        TABLE, TABLE_WORDS, TABLE_MISTAKES, praise="right: a loss is judged on the pairs that it was not told."
    ),
}
