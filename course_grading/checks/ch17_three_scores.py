"""Chapter 17, three scores: of one factor, nine on paper, in order on no line, an angle, three faults, five models.

References use ranks of their own and the eigenvalues of covariance matrices, not `course_lib.metrics`.
"""

import math
from functools import partial
from itertools import combinations

import numpy as np
import torch
from scipy.stats import spearmanr
from torch import Tensor

from course_grading.answers import keyed, numbers, row, tensor, words
from course_grading.correlations import pearson, ranks
from course_grading.exercise import Function, Plain, Unfit, each_of, either

# 17.1 -----------------------------------------------------------------------------------------------------------------


def walks(generator: torch.Generator) -> list[list[Tensor]]:
    """Traversals (n, f, D): random, straight and slanted, motionless in part or all or in the first latent alone, in
    reverse order, with one latent, and by a thousandth of a step.

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
    sideways = torch.cat([whole(3, 1, 1).expand(3, 7, 1), normal(3, 7, 2)], 2)
    single = normal(3, 5, 1)
    some_single = torch.cat([single, whole(2, 1, 1).expand(2, 5, 1)])
    small = 1e-3 * wandering
    cases = wandering, straight, normal(2, 4, 9), resting, mirrored, still, single, sideways, some_single, small
    return [[case] for case in cases]


def three_scores(points: Tensor) -> Tensor:
    scores = [max(_order(points), 0.0), _mean(points, _principal), _mean(points, _variances)]
    return torch.tensor(scores, dtype=torch.float64)


def _order(points, norm=1, kept=torch.lt):
    """Of the pairs (i, j) for which `kept` holds: i < j if nothing else is said."""
    size = points.shape[1]
    first, second = torch.cartesian_prod(torch.arange(size), torch.arange(size)).T
    kept = kept(first, second)
    first, second = first[kept], second[kept]
    apart = torch.linalg.vector_norm(points[:, first] - points[:, second], norm, dim=2)
    return pearson(ranks((second - first).abs().expand(len(points), -1)), ranks(apart), constant=0.0).item()


def _covariance(walk: Tensor) -> Tensor:
    centred = walk - walk.mean(0)
    return centred.T @ centred / len(walk)


def _principal(walk: Tensor) -> Tensor:
    return torch.linalg.eigvalsh(_covariance(walk))


def _variances(walk: Tensor) -> Tensor:
    return _covariance(walk).diagonal()


def _share(spread: Tensor) -> float:
    return (spread.max() / spread.sum()).item()


def _normalised(spread: Tensor) -> float:
    lowest = 1 / len(spread)
    return (_share(spread) - lowest) / (1 - lowest) if lowest < 1 else 1.0


def _moves(walk: Tensor) -> bool:
    return bool((walk != walk[0]).any())


def _mean(points, directions, normalise=_normalised, motionless=0.0, moves=_moves) -> float:
    found = [normalise(directions(walk)) if moves(walk) else motionless for walk in points]
    return sum(found) / len(found)


def _pooled(points, directions) -> float:
    """The ratio of the mean variances: long traversals then count more."""
    spread = sum(directions(walk).sort().values for walk in points) / len(points)
    return _normalised(spread) if spread.sum() > 0 else 0.0


def _with(**changed):
    """The three scores, some of which, by name, are other functions of the points."""

    def answer(points):
        scores = dict(zip(("order", "line", "axis"), three_scores(points).tolist(), strict=True))
        scores |= {name: score(points) for name, score in changed.items()}
        return torch.tensor([*scores.values()], dtype=torch.float64)

    return answer


def _with_order(**changes):
    return _with(order=lambda points: max(_order(points, **changes), 0.0))


def _with_ratios(ratio=_mean, **changes):
    """Line and axis with the same changes."""

    def line_or_axis(directions):
        return lambda points: ratio(points, directions, **changes)

    return _with(line=line_or_axis(_principal), axis=line_or_axis(_variances))


def _uncentred_line(points):
    return _mean(points, lambda walk: torch.linalg.eigvalsh(walk.T @ walk))


SCORES_MISTAKES = {
    "order: each value was paired with itself too.": _with_order(kept=torch.le),
    "order: all f² pairs were taken, each value with itself too. These self-pairs are in order in any code.":
        _with_order(kept=lambda first, second: first >= 0),
    "order: the distance of codes is ℓ1, the sum of |Δz|, not ℓ2.": _with_order(norm=2),
    "order: a negative correlation counts as 0.": _with(order=_order),
    "order: abs makes a reversed order a good one. A negative one counts as 0.": _with(order=lambda p: abs(_order(p))),
    "order: a correlation for each traversal, and their mean. The pairs of all traversals go into *one* correlation: "
    "a code may not change its scale between them.":
        _with(order=lambda points: max(sum(_order(walk.unsqueeze(0)) for walk in points) / len(points), 0.0)),
    "line and axis: the share itself, not stretched from [1/D, 1] to": _with_ratios(normalise=_share),
    "line and axis: 1/D was subtracted, and the result not divided by 1 − 1/D: a perfect line gets less than 1.":
        _with_ratios(normalise=lambda spread: _share(spread) - 1 / len(spread)),
    "line and axis: NaN, from the 0/0 of a traversal that does not move. By agreement its ratio is 0.":
        _with_ratios(motionless=math.nan),
    "line and axis: a traversal that does not move was given 1. By agreement its ratio is 0: the factor is lost.":
        _with_ratios(motionless=1.0),
    "line and axis: the variances were averaged over traversals before the share was taken. Each traversal has its "
    "own ratio, and the ratios are averaged.":
        _with_ratios(_pooled),
    "line and axis have changed places: the principal variances belong to the line.":
        lambda points: three_scores(points)[[0, 2, 1]],
    "line: the codes were not centred, so a code that lies far from 0 looks straight.": _with(line=_uncentred_line),
    "line and axis: the codes were not centred, so a code that lies far from 0 looks straight and aligned.":
        _with(line=_uncentred_line, axis=lambda points: _mean(points, lambda walk: walk.square().sum(0))),
    "line: singular values are standard deviations. Square them.":
        _with(line=lambda points: _mean(points, lambda walk: _principal(walk).clamp(min=0).sqrt())),
    "axis: the variance was taken over the latents. It runs over the values, one variance for each latent.":
        _with(axis=lambda points: _mean(points, lambda walk: walk.var(1, correction=0))),
    "line and axis: with one latent, whatever moves has ratio 1.":
        _with_ratios(normalise=lambda spread: _normalised(spread) if len(spread) > 1 else 0.0),
    "line and axis: with one latent, what moves has ratio 1, and what does not still has 0.":
        _with_ratios(moves=lambda walk: walk.shape[1] == 1 or _moves(walk)),
    "line and axis: a traversal whose first latent rests was taken for one that does not move. Others may move.":
        _with_ratios(moves=lambda walk: _moves(walk[:, :1])),
    "got torch.float32, and the right numbers: expected torch.float64.": lambda points: three_scores(points).float(),
}  # fmt: skip


def _scores_by_loops(points):
    steps, apart, line, axis = [], [], [], []
    for walk in points.numpy():
        for i, j in combinations(range(len(walk)), 2):
            steps.append(j - i)
            apart.append(np.abs(walk[i] - walk[j]).sum())
        spread = np.cov(walk.T, ddof=1).reshape(walk.shape[1], walk.shape[1])
        for found, parts in ((line, np.linalg.eigvalsh(spread)), (axis, np.diag(spread))):
            lowest, moves = 1 / len(parts), np.ptp(walk, axis=0).max() > 0
            share = parts.max() / parts.sum() if moves else lowest
            found.append(float(moves) if lowest == 1 else (share - lowest) / (1 - lowest))
    order = 0.0 if len(set(apart)) == 1 else max(spearmanr(steps, apart).statistic, 0.0)
    return torch.tensor([order, np.mean(line), np.mean(axis)], dtype=torch.float64)


def _scores_at_once(points):
    """All traversals together; D − 1 is multiplied instead of a share subtracted."""
    first, second = torch.triu_indices(points.shape[1], points.shape[1], 1)
    apart = torch.cdist(points, points, p=1)[:, first, second].flatten()
    pair = torch.stack([(second - first).repeat(len(points)).double(), apart])
    order = torch.corrcoef((pair.unsqueeze(2) - pair.unsqueeze(1)).sign().sum(2))[0, 1].nan_to_num(0).clamp(min=0)
    centred, latents = points - points.mean(1, keepdim=True), points.shape[2]
    variance, moves = centred.square().sum(1), (points != points[:, :1]).flatten(1).any(1)
    ratios = []
    for largest in (torch.linalg.matrix_norm(centred, 2).square(), variance.amax(1)):
        share = largest / variance.sum(1)
        ratio = (latents * share - 1) / (latents - 1) if latents > 1 else share
        ratios.append(ratio.where(moves, 0.0).mean())
    return torch.stack([order, *ratios])


# 17.2 -----------------------------------------------------------------------------------------------------------------

SCORES = ("order", "line", "axis")
PREDICTED = {"slanted": [1.0, 1.0, 0.8], "pendulum": [0.0, 1.0, 1.0], "round": [6 / math.sqrt(180), 0.0, 0.0]}
ADVICE = {
    "order": "List the pairs of values, their steps and their ℓ1 distances.",
    "line": "Find both eigenvalues.",
    "axis": "Compute both variances.",
}
NUMBER_MISTAKES = {
    "slanted, axis: the share of the first latent is .9; it is not stretched from [½, 1] to [0, 1] yet.": 0.9,
    "slanted, axis: 3/4 is the share of the *distance*. Variances are squares: 9 to 1.": 0.75,
    "slanted, axis: 3/4 was stretched. Variances are squares: 9 to 1.": 0.5,
    "slanted, axis: both latents move, so no axis has all the variance.": 1.0,
    "slanted, axis: that would be 45°, where both latents move alike. Here one moves three times as far.": 0.0,
    "slanted, line: the direction of a line does not enter here; the points lie on it exactly.": 0.8,
    "pendulum, order: the correlation is −1, and a negative one counts as 0.": -1.0,
    "pendulum, order: values 0 and 2 are furthest apart, and their codes coincide. A reversed order is none.": 1.0,
    "pendulum, line: a line does not ask in which order its points are visited.": 0.0,
    "pendulum, axis: only the first latent moves. That is all that this score asks.": 0.0,
    "round, order: neighbours are nearer than the opposite corners, though first and last spoil it: count the six "
    "pairs.": 0.0,
    "round, order: first and last value are three steps apart, and their codes are neighbours.": 1.0,
    "round, line: that is the share. Stretched from [½, 1] to [0, 1] it is another number.": 0.5,
    "round, axis: that is the share. Stretched from [½, 1] to [0, 1] it is another number.": 0.5,
    "round, line: the four corners of a square lie on no line.": 1.0,
}  # fmt: skip


def _flat(predicted: dict) -> dict[str, float]:
    """{"round": [order, …], …} as {"round, order": …}."""
    pairs = ((code, *pair) for code, three in predicted.items() for pair in zip(SCORES, three, strict=True))
    return {f"{code}, {name}": number for code, name, number in pairs}


def _nested(flat: dict[str, float]) -> dict[str, list[float]]:
    return {code: [flat[f"{code}, {name}"] for name in SCORES] for code in PREDICTED}


NINE = numbers(_flat(PREDICTED), NUMBER_MISTAKES, tolerance=0.02)
PREDICTED_MISTAKES = {sentence: either(*map(_nested, each_of(wrong))) for sentence, wrong in NINE.mistakes.items()}


def predicted_faults(answer) -> dict[str, str | None]:
    """Which of the nine scores are not right to .02, and what each of them shows."""
    given = keyed(answer, [*PREDICTED], "a list [order, line, axis]")
    given = {code: row(three, 3, f"{code}, [order, line, axis]") for code, three in given.items()}
    return {part: _advised(part, found) for part, found in NINE.fault(_flat(given)).items()}


def _advised(part: str, found: str | None) -> str | None:
    return found if found is None or found in NUMBER_MISTAKES else f"{found} {ADVICE[part.partition(', ')[2]]}"


# 17.3 -----------------------------------------------------------------------------------------------------------------

SMALLEST = torch.finfo(torch.float64).tiny  # below it, numbers lose digits
NEAR = 1e-12  # codes less far apart, compared with the largest number in them, are rounding


def triangle_fault(points) -> str | None:
    """Whether three codes in the plane have order 1 and line 0; if not, which condition fails and how."""
    points = tensor(points, (3, 2), "three values, two latents")
    if not points.is_floating_point():
        raise Unfit(f"got {points.dtype}; expected finite floating-point numbers.")
    points = points.double()
    largest = points.abs().max().item()
    if 0 < largest < SMALLEST:
        return f"the largest number is {largest:.3g}, which is as good as 0: draw the triangle larger."
    scaled = points / (largest or 1)
    moved = scaled - scaled[0]
    size = moved.abs().max().item()
    if not size > NEAR:
        rounding = " up to rounding" if size else ""
        return f"the three codes are the same{rounding}: a factor that does not move the code is lost."
    return _shape_fault(moved / size, unit=size * largest)


def _shape_fault(points: Tensor, unit: float) -> str | None:
    """The same of codes of which the first is 0 and the largest number 1; `unit` is what that was."""
    high, low = torch.linalg.svdvals(points - points.mean(0)).square().tolist()
    first, last, ends = ((points[a] - points[b]).abs().sum().item() for a, b in ((0, 1), (1, 2), (0, 2)))
    line = (high - low) / (high + low)
    if not line <= 0.01:
        return f"line is {line:.2f}, not 0.{_shape_of(line, first, last, ends)}"
    if not ends > max(first, last) + 1e-3:
        return (
            f"line is 0, but the ends are at distance {ends * unit:.3g} and the neighbours at {first * unit:.3g} and "
            f"{last * unit:.3g}: the ends have to be the furthest apart. Turn the triangle: ℓ1 notices."
        )
    if not abs(first - last) <= 2e-3:
        return (
            f"line is 0 and the ends are furthest apart, but 0 to 1 is {first * unit:.3g} and 1 to 2 is "
            f"{last * unit:.3g}. Both are one step, so for order 1 they have to tie. Turn it a little further."
        )
    return None


def _shape_of(line: float, first: float, last: float, ends: float) -> str:
    if line > 0.999:
        return " The three codes lie on a straight line."
    if abs(line - 0.5) < 0.01 and abs(first - last) < 1e-6 and abs(ends - first - last) < 1e-6:
        return " A corner with two equal legs is in order, and longer than it is wide: λ₁ is three times λ₂."
    return " For that the three codes must spread equally in all directions. Which triangle does?"


def equilateral(degrees: float) -> Tensor:
    """Three codes at equal ℓ2 distances, the side from the first to the last at that angle to the first latent."""
    angles = torch.deg2rad(torch.tensor([210.0, 90.0, 330.0], dtype=torch.float64) + degrees)
    return torch.stack([angles.cos(), angles.sin()], 1)


TRIANGLE_MISTAKES = {
    "A corner with two equal legs is in order": torch.tensor([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]),
    "The three codes lie on a straight line.": torch.tensor([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]),
    "Which triangle does?": torch.tensor([[0.0, 0.0], [1.0, 0.5], [2.0, 0.0]]),
    "the ends have to be the furthest apart. Turn the triangle: ℓ1 notices.": either(equilateral(0), equilateral(90)),
    "have to tie. Turn it a little further.": equilateral(40),
    "the three codes are the same": either(torch.zeros(3, 2), torch.full((3, 2), 0.1), 1e9 + 1e-6 * equilateral(45)),
    "as good as 0": 1e-310 * equilateral(45),
    "NaN or infinite": either(equilateral(45) * math.inf, equilateral(45) * math.nan),
    "expected a tensor of shape (3, 2)": equilateral(45).T,
    "got a list": [[0.0, 0.0], [1.0, 0.5], [2.0]],
    "expected finite floating-point numbers": torch.tensor([[0, 0], [1, 2], [2, 0]]),
}  # fmt: skip

# 17.4 -----------------------------------------------------------------------------------------------------------------


def plane_scores(generator: torch.Generator) -> list[list[Tensor]]:
    """Line and axis of clouds in the plane; an axis above its line by rounding; lines, discs, clouds on an axis."""
    cases = []
    for count in (6, 1):
        line = 0.1 + 0.9 * torch.rand(count, generator=generator, dtype=torch.float64)
        cases.append([line, line * torch.rand(count, generator=generator, dtype=torch.float64)])
    line = torch.tensor([0.3, 0.7, 1.0, 1.0, 0.0], dtype=torch.float64)
    return [*cases, [line, line * torch.tensor([1 + 1e-13, 1.0, 0.0, 1.0, 1.0], dtype=torch.float64)]]


def angle_and_flatness(line: Tensor, axis: Tensor) -> Tensor:
    rows = []
    for one, other in zip(line.tolist(), axis.tolist(), strict=True):
        cosine = min(other / one, 1.0) if one > 0 else 1.0
        rows.append([math.degrees(math.acos(cosine)) / 2, (1 - one) / (1 + one)])
    return torch.tensor(rows, dtype=torch.float64)


def _angles(change):
    """The right flatness, and `change(line, axis, right angle)` for the angle."""

    def answer(line, axis):
        angle, flatness = angle_and_flatness(line, axis).T
        return torch.stack([change(line, axis, angle), flatness], 1)

    return answer


def _cosines(change):
    """The right flatness, and the angle from another cosine of 2θ."""
    return _angles(lambda line, axis, right: torch.rad2deg(change(line, axis).acos()) / 2)


def _flatness(change):
    """The right angle, and `change(line, right flatness)` for the flatness."""

    def answer(line, axis):
        angle, flatness = angle_and_flatness(line, axis).T
        return torch.stack([angle, change(line, flatness)], 1)

    return answer


ANGLE_MISTAKES = {
    "the angles are twice as large: the cosine is that of 2θ.": _angles(lambda line, axis, right: 2 * right),
    "the angles are in radians: expected degrees.": _angles(lambda line, axis, right: right.deg2rad()),
    "the angles are from the other axis: expected 0 to 45°.": _angles(lambda line, axis, right: 90 - right),
    "the angles are from the diagonal: 0 is *on* an axis.": _angles(lambda line, axis, right: 45 - right),
    "the angle was taken from the axis alone, which is line · |cos 2θ|: divide by the line first.":
        _cosines(lambda line, axis: axis.clamp(max=1)),
    "NaN: the axis can exceed the line by a rounding error, and 0/0 is a round cloud, which has angle 0 here.":
        _cosines(lambda line, axis: axis / line),
    "NaN for a round cloud, where line is 0: by agreement its angle is 0.":
        _cosines(lambda line, axis: (axis / line).clamp(max=1)),
    "NaN where the axis exceeds the line by a rounding error: cut the quotient off at 1.":
        _cosines(lambda line, axis: (axis / line).nan_to_num(1)),
    "λ₁/λ₂ came back: expected the smaller over the larger.": _flatness(lambda line, right: 1 / right),
    "the ratio of the *widths* came back: λ are variances.": _flatness(lambda line, right: right.sqrt()),
    "1 − line: solve (λ₁ − λ₂)/(λ₁ + λ₂) = line for λ₂/λ₁.": _flatness(lambda line, right: 1 - line),
    "the columns have changed places: the angle is the first.":
        lambda line, axis: angle_and_flatness(line, axis).flip(1),
    "turned round: one row for each cloud, (n, 2).": lambda line, axis: angle_and_flatness(line, axis).T,
}  # fmt: skip


def _by_tangent(line, axis):
    across = (line.square() - axis.square()).clamp(min=0).sqrt()
    return torch.stack([torch.rad2deg(torch.atan2(across, axis)) / 2, (1 - line) / (1 + line)], 1)


def _by_numpy(line, axis):
    line, axis = line.numpy(), axis.numpy()
    cosine = np.divide(axis, line, out=np.ones_like(line), where=line > 0)
    return torch.from_numpy(np.column_stack([np.degrees(np.arccos(np.minimum(cosine, 1))) / 2, 2 / (1 + line) - 1]))


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
    """The function that students get, mended, and then with any of its choices changed."""
    latents = size or points.shape[3]
    centred = points - points.mean(centre, keepdim=True) if centre else points
    spread = torch.linalg.svdvals(centred) ** power
    spread = spread.mean(1, keepdim=True) if pooled else spread
    share = spread[..., 0] / spread.sum(-1)
    ratio = ((share - 1 / latents) / (1 - 1 / latents) if normalise else share).mean(1)
    return ratio.log().mean().exp() if mean == "geometric" else ratio.mean()


PLANTED = {  # what is wrong in the function that students get, and what it does
    "centring": "the codes are centred on the mean of *all* traversals, so where a traversal lies counts as if it "
    "moved. Each has a mean of its own.",
    "the power": "singular values are standard deviations (times a constant); expected a share of variance. "
    "Square them.",
    "D": "1/D was taken from the number of singular values, which is at most f: D is the number of latents.",
}


def faulty_line(points: Tensor, left=tuple(PLANTED)) -> Tensor:
    """The function that students get, with those faults still in it."""
    given = {"centring": {"centre": (1, 2)}, "the power": {"power": 1}, "D": {"size": min(points.shape[2:])}}
    return _line(points, **{name: value for fault in left for name, value in given[fault].items()})


def _mended(fault: str) -> tuple[str, str]:
    """The two faults that are left when this one is mended."""
    return tuple(other for other in PLANTED if other != fault)


LINE_MISTAKES = {
    "all three planted faults are still there. Try two parallel lines, far apart: each is straight.": faulty_line,
    **{
        f"two faults are left; {fault} is mended. The first: {PLANTED[_mended(fault)[0]]}":
            partial(faulty_line, left=_mended(fault))
        for fault in PLANTED
    },
    **{f"one fault is left: {said}": partial(faulty_line, left=(fault,)) for fault, said in PLANTED.items()},
    "now nothing is centred: codes far from 0 all look straight.": partial(_line, centre=()),
    "axis 1 was centred, the traversals: now each value's codes are compared over traversals. The values of the "
    "factor are axis 2.":
        partial(_line, centre=(1,)),
    "the mean over the latents was subtracted: the values of the factor are axis 2.": partial(_line, centre=(3,)),
    "the shares are not normalised: 1/D has to become 0.": partial(_line, normalise=False),
    "the arithmetic mean over factors: the geometric one was right, it lets no factor be traded for another.":
        partial(_line, mean="arithmetic"),
    "the variances were averaged over traversals before the share was taken: each traversal has its own ratio.":
        partial(_line, pooled=True),
}  # fmt: skip


def _by_covariance(points):
    centred = points - points.mean(2, keepdim=True)
    spread = torch.linalg.eigvalsh(centred.mT @ centred / (points.shape[2] - 1))
    latents = points.shape[3]
    share = spread.max(2).values / spread.sum(2)
    return ((share * latents - 1) / (latents - 1)).mean(1).prod() ** (1 / len(points))


def _by_norms(points):
    """The largest singular value is the spectral norm; all of them, squared, are the Frobenius norm's square."""
    centred, lowest = points - points.mean(2, keepdim=True), 1 / points.shape[3]
    share = (torch.linalg.matrix_norm(centred, 2) / torch.linalg.matrix_norm(centred)) ** 2
    return ((share - lowest) / (1 - lowest)).mean(1).log().mean().exp()


# 17.6 -----------------------------------------------------------------------------------------------------------------

DIAGNOSES = ("factored", "rotated", "bent", "shuffled", "merged")
MODELS = {"P": "rotated", "Q": "bent", "R": "shuffled", "S": "merged", "T": "factored"}
DIAGNOSIS_MISTAKES = {  # what tempts first, then a clue that fits every other word
    "P: a low MIG does not say why. If factors shared a latent, its axis would not be low.": "merged",
    "Q: a rotated code has a high line and a low axis. Here the two are nearly equal.": "rotated",
    "R: MIG is .98 because each latent knows its factor. Look at the order: it knows it by heart, in no order at all.":
        "factored",
    "S: order, line and axis walk along one factor at a time. Look at the two last columns.": "factored",
    "S: its axis is 1. A rotation would have lowered that, and not the order over pairs anywhere to .33.": "rotated",
    "Q: line .73 and MIG .03: its factors run along no straight line.": "factored",
    "P: order .99 and line .99, and an axis of .33. Straight, in order, and not along an axis.":
        either("factored", "bent", "shuffled"),
    "Q: line and axis are nearly equal, so no rotation would help; and both are far from 1, with order at .96.":
        either("shuffled", "merged"),
    "R: over distinct pairs the order is 0, while every factor lies along an axis of its own (MIG .98).":
        either("rotated", "bent", "merged"),
    "S: three scores near 1, and the order over pairs anywhere is .33. Each walk looks perfect by itself.":
        either("bent", "shuffled"),
    "T: all six numbers are near 1. There is nothing left to find fault with.":
        either("rotated", "bent", "shuffled", "merged"),
}  # fmt: skip

# ----------------------------------------------------------------------------------------------------------------------

EXERCISES = {
    "17.1": Function(
        reference=three_scores,
        cases=walks,
        mistakes=SCORES_MISTAKES,
        also_right=(_scores_by_loops, _scores_at_once, lambda points: three_scores(points).requires_grad_()),
    ),
    "17.2": Plain(
        fault=predicted_faults,
        mistakes=PREDICTED_MISTAKES,
        also_right=(
            {"round": torch.tensor([0.45, 0, 0]), "slanted": (1, 1, 0.8), "pendulum": np.array([0, 1, 1])},
            {**PREDICTED, "round": [np.float32(0.447), torch.tensor(0), torch.zeros(1, requires_grad=True)]},
        ),
        praise="right: three codes, and all three conditions come apart.",
    ),
    "17.3": Plain(
        fault=triangle_fault,
        mistakes=TRIANGLE_MISTAKES,
        also_right=(
            7 + 0.01 * equilateral(135),
            1e300 * equilateral(225),
            1e-300 * equilateral(45),
            equilateral(315).float().requires_grad_(),
            equilateral(45).half(),
            equilateral(225).tolist(),
            equilateral(135).numpy(),
        ),
        praise="right: order 1 and line 0, with two latents only.",
    ),
    "17.4": Function(
        reference=angle_and_flatness,
        cases=plane_scores,
        mistakes=ANGLE_MISTAKES,
        also_right=(_by_tangent, _by_numpy, lambda line, axis: angle_and_flatness(line, axis).requires_grad_()),
    ),
    "17.5": Function(
        reference=line_score,
        cases=factor_walks,
        mistakes=LINE_MISTAKES,
        also_right=(_by_covariance, _by_norms, _line),
    ),
    "17.6": words(
        MODELS, DIAGNOSES, DIAGNOSIS_MISTAKES, praise="right: each from its pattern, and not from one good number."
    ),
}
