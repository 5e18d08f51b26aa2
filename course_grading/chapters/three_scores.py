"""What chapter 17's functions are called with, what is right, and the mistakes that people make in them.

References use ranks of their own and the eigenvalues of covariance matrices, not `course_lib.metrics`.
"""

import math
from functools import partial
from itertools import combinations

import torch
from scipy.stats import rankdata
from torch import Tensor

from course_grading.exercise import Wrong

# 17.1 -----------------------------------------------------------------------------------------------------------------


def walks(generator: torch.Generator) -> list[list[Tensor]]:
    """Traversals (n, f, D): random, straight and slanted, in reverse order, motionless in part or all, with one latent.

    Where distances are equal they are so exactly: straight codes are whole numbers.
    """

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    def whole(*shape: int) -> Tensor:
        return torch.randint(-4, 5, shape, generator=generator).double()

    value = torch.arange(6.0, dtype=torch.float64).view(1, 6, 1)
    straight = value * torch.tensor([3.0, -1.0, 0.0], dtype=torch.float64) + whole(4, 1, 3)
    wandering = normal(5, 7, 3).cumsum(1)
    resting = torch.cat([whole(1, 1, 3).expand(2, 7, 3), wandering])
    mirrored = torch.tensor([0.0, 3.0, -3.0, 0.0], dtype=torch.float64).view(1, 4, 1).expand(1, 4, 2).clone()
    still = whole(3, 1, 4).expand(3, 5, 4).clone()
    return [[wandering], [straight], [normal(2, 4, 9)], [resting], [mirrored], [still], [normal(3, 5, 1)]]


def three_scores(points: Tensor) -> Tensor:
    scores = [max(_order(points), 0.0), _mean(points, _principal), _mean(points, _variances)]
    return torch.tensor(scores, dtype=torch.float64)


def _order(points, norm=1, kept=torch.lt):
    """Of the pairs (i, j) for which `kept` holds: i < j if nothing else is said."""
    size = points.shape[1]
    row, column = torch.cartesian_prod(torch.arange(size), torch.arange(size)).T
    kept = kept(row, column)
    row, column = row[kept], column[kept]
    apart = torch.linalg.vector_norm(points[:, row] - points[:, column], norm, dim=2)
    return _pearson(_ranks((column - row).abs().expand(len(points), -1)), _ranks(apart))


def _ranks(values: Tensor) -> Tensor:
    return torch.from_numpy(rankdata(values.flatten().double().numpy()))


def _pearson(first: Tensor, second: Tensor) -> float:
    first, second = first - first.mean(), second - second.mean()
    length = (first.square().sum() * second.square().sum()).sqrt()
    return (first @ second / length).item() if length > 0 else 0.0


def _covariance(walk: Tensor) -> Tensor:
    centred = walk - walk.mean(0)
    return centred.T @ centred / len(walk)


def _principal(walk: Tensor) -> Tensor:
    return torch.linalg.eigvalsh(_covariance(walk))


def _variances(walk: Tensor) -> Tensor:
    return _covariance(walk).diagonal()


def _normalised(spread: Tensor) -> float:
    share, latents = (spread.max() / spread.sum()).item(), len(spread)
    return (share - 1 / latents) / (1 - 1 / latents) if latents > 1 else 1.0


def _mean(points, directions, normalise=_normalised, motionless=0.0) -> float:
    found = []
    for walk in points:
        moves = bool((walk != walk[0]).any())
        found.append(normalise(directions(walk)) if moves else motionless)
    return sum(found) / len(found)


def _pooled(points, directions) -> float:
    """The ratio of the mean variances: long traversals then count more."""
    spread = sum(directions(walk).sort().values for walk in points) / len(points)
    return _normalised(spread) if spread.sum() > 0 else 0.0


def _across(walk: Tensor) -> Tensor:
    """The variances over the latents, one for each value."""
    return walk.var(1, correction=0)


def _with(order=None, ratios=None):
    """Three scores of which some are computed in another way."""

    def answer(points):
        right = three_scores(points)
        if order is not None:
            right[0] = order(points)
        if ratios is not None:
            right[1:] = torch.tensor(ratios(points), dtype=torch.float64)
        return right

    return answer


def _both(**changes):
    return lambda points: [_mean(points, directions, **changes) for directions in (_principal, _variances)]


def _share(spread):
    return (spread.max() / spread.sum()).item()


def _uncentred(points):
    return [
        _mean(points, lambda walk: torch.linalg.eigvalsh(walk.T @ walk)),
        _mean(points, lambda walk: walk.square().sum(0)),
    ]


def _each_walk(points):
    return max(sum(_order(walk.unsqueeze(0)) for walk in points) / len(points), 0.0)


SCORES_WRONG = (
    Wrong(_with(lambda p: max(_order(p, kept=torch.le), 0.0)), "order: each value was paired with itself too."),
    Wrong(
        _with(lambda p: max(_order(p, kept=lambda row, _: row >= 0), 0.0)),
        "order: all f² pairs were taken, each value with itself too. These self-pairs are in order in any code.",
    ),
    Wrong(_with(lambda p: max(_order(p, norm=2), 0.0)), "order: the distance of codes is ℓ1, the sum of |Δz|, not ℓ2."),
    Wrong(_with(_order), "order: a negative correlation counts as 0."),
    Wrong(_with(lambda p: abs(_order(p))), "order: abs makes a reversed order a good one. A negative one counts as 0."),
    Wrong(
        _with(_each_walk),
        "order: a correlation for each traversal, and their mean. The pairs of all traversals go into *one* "
        "correlation: a code may not change its scale between them.",
    ),
    Wrong(_with(ratios=_both(normalise=_share)), "line and axis: the share itself, not stretched from [1/D, 1] to"),
    Wrong(
        _with(ratios=_both(normalise=lambda s: _share(s) - 1 / len(s))),
        "line and axis: 1/D was subtracted, and the result not divided by 1 − 1/D: a perfect line gets less than 1.",
    ),
    Wrong(
        _with(ratios=_both(motionless=math.nan)),
        "line and axis: NaN, from the 0/0 of a traversal that does not move. By agreement its ratio is 0.",
    ),
    Wrong(
        _with(ratios=_both(motionless=1.0)),
        "line and axis: a traversal that does not move was given 1. By agreement its ratio is 0: the factor is lost.",
    ),
    Wrong(
        _with(ratios=lambda p: [_pooled(p, _principal), _pooled(p, _variances)]),
        "line and axis: the variances were averaged over traversals before the share was taken. Each traversal has "
        "its own ratio, and the ratios are averaged.",
    ),
    Wrong(
        _with(ratios=lambda p: _both()(p)[::-1]),
        "line and axis have changed places: the principal variances belong to the line.",
    ),
    Wrong(
        _with(ratios=lambda p: [_mean(p, lambda w: torch.linalg.eigvalsh(w.T @ w)), _mean(p, _variances)]),
        "line: the codes were not centred, so a code that lies far from 0 looks straight.",
    ),
    Wrong(
        _with(ratios=_uncentred),
        "line and axis: the codes were not centred, so a code that lies far from 0 looks straight and aligned.",
    ),
    Wrong(
        _with(ratios=lambda p: [_mean(p, lambda w: _principal(w).clamp(min=0).sqrt()), _mean(p, _variances)]),
        "line: singular values are standard deviations. Square them.",
    ),
    Wrong(
        _with(ratios=lambda p: [_mean(p, _principal), _mean(p, _across)]),
        "axis: the variance was taken over the latents. It runs over the values, one variance for each latent.",
    ),
    Wrong(
        _with(ratios=lambda p: [0.0, 0.0] if p.shape[2] == 1 else _both()(p)),
        "line and axis: with one latent, whatever moves has ratio 1.",
    ),
    Wrong(
        lambda p: three_scores(p).float(),
        "got torch.float32, and the right numbers: torch.float64 is wanted.",
    ),
)

# 17.5 -----------------------------------------------------------------------------------------------------------------


def factor_walks(generator: torch.Generator) -> list[list[Tensor]]:
    """Traversals of several factors (F, n, f, D): wandering ones around centres far apart, parallel lines."""
    cases = []
    for shape in ((2, 5, 4, 7), (3, 4, 6, 3), (1, 3, 8, 2)):  # D > f first: there every fault shows
        steps = torch.randn(*shape, generator=generator, dtype=torch.float64).cumsum(2)
        cases.append([steps + 5 * torch.randn(*shape[:2], 1, shape[3], generator=generator, dtype=torch.float64)])
    value = torch.arange(5.0, dtype=torch.float64).view(1, 1, 5, 1)
    apart = torch.randn(2, 3, 1, 4, generator=generator, dtype=torch.float64)
    return [*cases, [value * torch.tensor([1.0, 2.0, 0.0, 0.0], dtype=torch.float64) + apart]]


def line_score(points: Tensor) -> Tensor:
    found = [max(_mean(walks_of_one, _principal), 0.0) for walks_of_one in points]
    return torch.tensor(math.prod(found) ** (1 / len(found)), dtype=torch.float64)


def _line(points, centre=(2,), power=2, normalise=True, mean="geometric", size=None, pooled=False):
    """The function that students get (GIVEN), with any of its choices changed."""
    latents = size or points.shape[3]
    centred = points - points.mean(centre, keepdim=True) if centre else points
    spread = torch.linalg.svdvals(centred) ** power
    spread = spread.mean(1, keepdim=True) if pooled else spread
    share = spread[..., 0] / spread.sum(-1)
    ratio = ((share - 1 / latents) / (1 - 1 / latents) if normalise else share).mean(1)
    return ratio.log().mean().exp() if mean == "geometric" else ratio.mean()


PLANTED = {  # what is wrong in the function that students get, and what it does
    "centre": "the codes are centred on the mean of *all* traversals, so where a traversal lies counts as if it moved. "
    "Each has a mean of its own.",
    "power": "singular values are standard deviations (times a constant), and a share of variance is wanted. Square "
    "them.",
    "size": "1/D was taken from the number of singular values, which is at most f: D is the number of latents.",
}


def faulty_line(points: Tensor, left=("centre", "power", "size")) -> Tensor:
    """The function that students get, with those faults still in it."""
    given = {"centre": (1, 2), "power": 1, "size": min(points.shape[2:])}
    return _line(points, **{fault: given[fault] for fault in left})


def _two_left(*left: str) -> Wrong:
    mended = {"centre": "centring", "power": "the power", "size": "D"}[next(iter(PLANTED.keys() - {*left}))]
    return Wrong(
        lambda p: faulty_line(p, left), f"two faults are left; {mended} is mended. The first: {PLANTED[left[0]]}"
    )


LINE_WRONG = (
    Wrong(
        faulty_line,
        "all three planted faults are still there. Try two parallel lines, far apart: each is straight.",
    ),
    *(_two_left(*left) for left in combinations(PLANTED, 2)),
    *(Wrong(partial(faulty_line, left=(fault,)), f"one fault is left: {said}") for fault, said in PLANTED.items()),
    Wrong(lambda p: _line(p, centre=()), "now nothing is centred: codes far from 0 all look straight."),
    Wrong(
        lambda p: _line(p, centre=(1,)),
        "axis 1 was centred, the traversals: now each value's codes are compared over traversals. The values of the "
        "factor are axis 2.",
    ),
    Wrong(
        lambda p: _line(p, centre=(3,)),
        "the mean over the latents was subtracted: the values of the factor are axis 2.",
    ),
    Wrong(lambda p: _line(p, normalise=False), "the shares are not normalised: 1/D has to become 0."),
    Wrong(
        lambda p: _line(p, mean="arithmetic"),
        "the arithmetic mean over factors: the geometric one was right, it lets no factor be traded for another.",
    ),
    Wrong(
        lambda p: _line(p, pooled=True),
        "the variances were averaged over traversals before the share was taken: each traversal has its own ratio.",
    ),
)
