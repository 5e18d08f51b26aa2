"""Chapter 19, adaptive triplets: shared latents, an adaptive distance, a triplet by hand, angles, schedules, six runs.

The references of 19.1 and 19.2 go through rows one by one and write the gradient out, without `course_lib.losses`.
"""

import math

import torch
from torch import Tensor

from course_grading.answers import numbers, words
from course_grading.exercise import Function, either
from course_lib.losses import shared_latents

# 19.1 -----------------------------------------------------------------------------------------------------------------


def differences(generator: torch.Generator) -> list[list]:
    """Random rows, rows whose values lie on the threshold, equal ones, a single latent, and η near its ends."""
    drawn = [torch.rand(12, 7, generator=generator) + 0.1 for _ in range(3)]
    drawn[0][0] = 0.5  # with η = ¼ the threshold of equal differences is exact, however it is computed
    drawn[1:] = [torch.arange(1, 13).unsqueeze(1) * rows for rows in drawn[1:]]  # pairs of different sizes
    on_it = torch.tensor([[0.0, 2.0, 4.0, 1.0], [1.0, 3.0, 5.0, 3.0], [2.0, 2.0, 2.0, 2.0]])
    ends = [[drawn[2], 0.0], [drawn[2], 0.9], [torch.rand(3, 1, generator=generator), 0.5]]
    return [[drawn[0], 0.25], [drawn[1], 0.75], [on_it, 0.5], [on_it, 0.25], *ends]


def shared(differences: Tensor, strength: float) -> Tensor:
    rows = []
    for row in differences.double():
        tau = row.min() + strength * (row.max() - row.min())
        rows.append([bool(value < tau) for value in row])
    return torch.tensor(rows)


def _ends(differences: Tensor) -> tuple[Tensor, Tensor]:
    return differences.amin(1, keepdim=True), differences.amax(1, keepdim=True)


def _tau(differences: Tensor, strength: float) -> Tensor:
    low, high = _ends(differences)
    return low + strength * (high - low)


SHARED_MISTAKES = {
    "both planted faults are still there: η belongs to the largest difference, and the comparison is strict.":
        lambda d, s: d <= _tau(d, 1 - s),
    "the comparison is not strict: with ≤ the least changed latent is shared even at η = 0, and where all "
    "differences are equal, all of them are.":
        lambda d, s: d <= _tau(d, s),
    "η and 1 − η are exchanged: η = 0 is the smallest difference, below which nothing lies.":
        lambda d, s: d < _tau(d, 1 - s),
    "the least and the most were taken over the whole batch: each pair has a threshold of its own.":
        lambda d, s: d < d.min() + s * (d.max() - d.min()),
    "the least and the most were taken over the batch, latent by latent: they run over the latents of a pair.":
        lambda d, s: d < d.amin(0) + s * (d.amax(0) - d.amin(0)),
    "the threshold is a share of the largest difference only: the least counts.": lambda d, s: d < s * _ends(d)[1],
    "the threshold is always half-way: use `strength`.": lambda d, s: d < _tau(d, 0.5),
    "these are the latents that are *not* shared: shared ones lie below τ.": lambda d, s: d > _tau(d, s),
    "the threshold is the mean of the differences: it lies between the least and the most, as η says.":
        lambda d, s: d < d.mean(1, keepdim=True),
    "got floats, and the right ones: a mask is boolean.": lambda d, s: shared(d, s).float(),
}  # fmt: skip


def _by_the_formula(differences, strength):
    """As the task writes it, rounding included."""
    low, high = _ends(differences)
    return differences < (1 - strength) * low + strength * high


def _sorted_first(differences, strength):
    ordered = differences.sort(dim=1).values
    return differences < torch.lerp(ordered[:, :1], ordered[:, -1:], strength)


# 19.2 -----------------------------------------------------------------------------------------------------------------


def code_pairs(generator: torch.Generator) -> list[list]:
    """Codes that are differentiated: random ones, one latent, equal differences, equal codes, the ends of ω and η."""

    def drawn(*shape):
        return [torch.randn(*shape, generator=generator, requires_grad=True) for _ in range(2)]

    zeros, level = torch.zeros(2, 3), torch.tensor([[2.0, -2.0, 2.0], [0.0, 0.0, 0.0]])
    apart = drawn(4, 6)  # no latent differs by less than half of what another does
    edges = [zeros.clone().requires_grad_(), level.clone().requires_grad_()]
    return [
        [*drawn(5, 7), 0.5, 0.5],
        [*drawn(4, 6), 0.2, 0.3],
        [*drawn(3, 5), 0.0, 0.75],
        [*drawn(3, 4), 1.0, 0.5],
        [*drawn(2, 1), 0.5, 0.5],
        [apart[0], (apart[0].detach() + 1 + apart[1].detach().sigmoid()).requires_grad_(), 0.5, 0.5],
        [*edges, 0.5, 0.5],
    ]


class _Written(torch.autograd.Function):
    """The distance with its gradient written out: w² (a − n) / d, and 0 where the codes are equal."""

    @staticmethod
    def forward(context, anchor, negative, squares):
        apart = anchor - negative
        distance = (squares * apart * apart).sum(1) ** 0.5
        context.save_for_backward(squares * apart, distance)
        return distance

    @staticmethod
    def backward(context, cotangent):
        weighted, distance = context.saved_tensors
        slope = torch.where(distance > 0, cotangent / distance.clamp(min=1e-30), 0.0).unsqueeze(1) * weighted
        return slope, -slope, None


def adaptive_distance(anchor: Tensor, negative: Tensor, weight: float, strength: float) -> Tensor:
    mask = shared((anchor - negative).detach().abs(), strength)
    return _Written.apply(anchor, negative, 1 + mask.to(anchor.dtype) * (weight**2 - 1))


def _weights(a, n, weight, strength, guess=None, is_shared=torch.lt):
    guess = (a - n).detach().abs() if guess is None else guess
    return torch.where(is_shared(guess, _tau(guess, strength)), weight, 1.0)


def _norm(differences):
    return torch.linalg.vector_norm(differences, dim=1)


ADAPTIVE_MISTAKES = {
    "the distance is right, and its gradient is NaN where the two codes are equal: √ has an infinite slope at 0. "
    "torch.linalg.vector_norm takes 0 there.":
        lambda a, n, w, s: (_weights(a, n, w, s) * (a - n)).square().sum(1).sqrt(),
    "this is the distance in ℓ1: expected ℓ2.": lambda a, n, w, s: (_weights(a, n, w, s) * (a - n)).abs().sum(1),
    "the squares were weighted by ω: the *differences* are, and in the square the weight is ω².":
        lambda a, n, w, s: _norm(_weights(a, n, w, s).sqrt() * (a - n)),
    "the square of the distance: the root is missing.":
        lambda a, n, w, s: (_weights(a, n, w, s) * (a - n)).square().sum(1),
    "nothing is weighted: this is the plain ℓ2 distance.": lambda a, n, w, s: _norm(a - n),
    "the shared latents were left out, as if averaged: they are weighted by ω, and keep a gradient.":
        lambda a, n, w, s: _norm(torch.where(_weights(a, n, 0.0, s) == 0, 0.0, 1.0) * (a - n)),
    "the weight went to the latents that are not shared: ω belongs to those below the threshold.":
        lambda a, n, w, s: _norm((1 + w - _weights(a, n, w, s)) * (a - n)),
    "δ was taken with its sign: a latent that fell by 3 has changed by 3.":
        lambda a, n, w, s: _norm(_weights(a, n, w, s, (a - n).detach()) * (a - n)),
    "the mask was taken from *squared* differences, whose middle is another: δ is |a − n|, in ℓ2 as well.":
        lambda a, n, w, s: _norm(_weights(a, n, w, s, (a - n).detach().square()) * (a - n)),
    "the comparison with τ is not strict: where all latents differ alike, none is shared.":
        lambda a, n, w, s: _norm(_weights(a, n, w, s, is_shared=torch.le) * (a - n)),
    "η and 1 − η are exchanged in the threshold.": lambda a, n, w, s: _norm(_weights(a, n, w, 1 - s) * (a - n)),
    "the threshold is a share of the largest difference only: the least counts.":
        lambda a, n, w, s: _norm(torch.where((a - n).abs() < s * _ends((a - n).abs())[1], w, 1.0) * (a - n)),
    "the distance is right, but no gradient reaches the codes: detach the mask, not the differences.":
        lambda a, n, w, s: _norm(_weights(a, n, w, s) * (a - n).detach()),
    "averaged over the pairs: expected one distance for each pair, (B,).":
        lambda a, n, w, s: _norm(_weights(a, n, w, s) * (a - n)).mean(),
}  # fmt: skip


def _distance_by_a_guarded_root(anchor, negative, weight, strength):
    apart = (anchor - negative).abs()
    squares = torch.where(_sorted_first(apart, strength), weight, 1.0).square() * apart.square()
    total = squares.sum(1)
    return torch.where(total > 0, total.where(total > 0, 1.0).sqrt(), 0.0)


def _distance_of_weighted_codes(anchor, negative, weight, strength):
    """As Equation 5.20 has it: the codes are weighted, not the differences."""
    weights = torch.where(_sorted_first((anchor - negative).abs(), strength), weight, 1.0)
    return torch.linalg.vector_norm(weights * anchor - weights * negative, dim=1)


# 19.3 -----------------------------------------------------------------------------------------------------------------

NUMBERS = {
    "distance": 11.5,
    "loss": 0.5,
    "averaged distance": 9.0,
    "slope of n": -0.25,
    "slope of a": 1.25,
    "slope of a, averaged": 1.0,
}
NUMBERS_MISTAKES = {
    "distance: 19 is the plain ℓ1 distance. Which latents differ by less than τ = 5.5?": 19.0,
    "distance: the threshold is not half of the largest, 4.5, but half-way from least to most, 5.5.": 15.25,
    "distance: the weight went to the latent that is not shared.": 12.25,
    "distance: that leaves the shared latents out; they count a quarter.": 9.0,
    "distance: ω belongs to the shared latents only, not to all of them.": 4.75,
    "loss: with the weight the negative leads by 9.5 only, less than the margin of 10: not settled.": 0.0,
    "loss: the hard loss is never below 0; and is that 19 the weighted distance?": -7.0,
    "loss: the margin is missing, max(0, ψ + d_p − d_ω).": -9.5,
    "averaged distance: averaged latents are equal, so their differences are 0.": 11.5,
    "averaged distance: averaging does not halve the shared differences. It sets them to 0.": 14.0,
    "slope of n: the loss has *minus* d_ω, and n lies above a: growing n lowers the loss.": 0.25,
    "slope of n: the latent is shared, so its slope is weighted by ω.": -1.0,
    "slope of n: that is what averaging would leave; the weight leaves a quarter.": 0.0,
    "slope of a: both pull it the same way. The positive lies below a, the negative above.": 0.75,
    "slope of a: the negative's part is weighted by ω.": 2.0,
    "slope of a: that is the positive's part alone; the weighted negative adds to it.": 1.0,
    "slope of a: that is the negative's part alone; the positive, unweighted, adds to it.": 0.25,
    "slope of a, averaged: the negative's part is gone once the latent is averaged.": 1.25,
    "slope of a, averaged: the distance to the positive was not averaged, and still pulls.": 0.0,
}


# 19.4 -----------------------------------------------------------------------------------------------------------------


def weighted_settings(generator: torch.Generator) -> list[list[Tensor]]:
    """Distances and weights: random, the chapter's case, equal weights, no weights, and a positive that is no step."""
    cases = []
    for _ in range(2):
        near = 1 + 9 * torch.rand(40, generator=generator, dtype=torch.float64)
        far = near + 0.2 + 6 * torch.rand(40, generator=generator, dtype=torch.float64)
        cases.append([near, far, *torch.rand(2, 40, generator=generator, dtype=torch.float64)])
    near, far, _, weight = cases[0]
    ones = torch.ones_like(near)
    cases += [[near, far, ones, weight], [near, far, weight, weight], [near, far, ones, ones]]
    return [*cases, [torch.zeros_like(near), far, ones, weight]]


def best_angle(to_positive: Tensor, to_negative: Tensor, positive_weight: Tensor, negative_weight: Tensor) -> Tensor:
    """By bisection of the slope, which rises with the angle."""
    low, high = torch.zeros_like(to_positive), torch.full_like(to_positive, 45.0)
    for _ in range(60):
        middle = (low + high) / 2
        cos, sin = torch.deg2rad(middle).cos(), torch.deg2rad(middle).sin()
        slope = to_positive * (positive_weight * cos - sin) - to_negative * (negative_weight * cos - sin)
        low, high = torch.where(slope < 0, middle, low), torch.where(slope < 0, high, middle)
    return (low + high) / 2


def _tangent(p, n, wp, wn):
    return (wn * n - wp * p) / (n - p)


def _degrees(tangent):
    return torch.rad2deg(tangent.clamp(0, 1).atan())


ANGLE_MISTAKES = {
    "the positive counts in full here, as in the chapter: its second latent has a weight of its own.":
        lambda p, n, wp, wn: _degrees(_tangent(p, n, 1.0, wn)),
    "tan θ = ω is where the negative's step is the longest: the positive has a say too.":
        lambda p, n, wp, wn: _degrees(wn),
    "some angles are below 0: where the slope on the axis is positive, the axis is the best.":
        lambda p, n, wp, wn: torch.rad2deg(_tangent(p, n, wp, wn).atan()).clamp(max=45),
    "some angles are above 45°: there the *other* latent has the longer part. The best up to 45° is 45°.":
        lambda p, n, wp, wn: torch.rad2deg(_tangent(p, n, wp, wn).clamp(min=0).atan()),
    "some angles are below 0 and some above 45°: the best within the range is its end.":
        lambda p, n, wp, wn: torch.rad2deg(_tangent(p, n, wp, wn).atan()),
    "in radians: expected degrees.": lambda p, n, wp, wn: _tangent(p, n, wp, wn).clamp(0, 1).atan(),
    "this is the tangent of the angle: expected the angle itself, in degrees.":
        lambda p, n, wp, wn: _tangent(p, n, wp, wn).clamp(0, 1),
    "the arc of the sine was taken: the slope is 0 where sine over *cosine* has this value.":
        lambda p, n, wp, wn: torch.rad2deg(_tangent(p, n, wp, wn).clamp(0, 1).asin()),
    "the sign is turned round: a heavy weight on the *negative* is what drives the step off the axis.":
        lambda p, n, wp, wn: _degrees((wp * p - wn * n) / (n - p)),
    "either the axis or 45°: between them the loss has its lowest point where the slope vanishes.":
        lambda p, n, wp, wn: 45.0 * (wp * p < wn * n),
    "the two weights are exchanged.": lambda p, n, wp, wn: _degrees(_tangent(p, n, wn, wp)),
}  # fmt: skip


# 19.5 -----------------------------------------------------------------------------------------------------------------


def training_steps(generator: torch.Generator) -> list[list]:
    """Steps before, at, between and after the ends of several schedules."""
    spread = torch.randint(0, 1_200, (12,), generator=generator)
    steps = torch.cat([torch.tensor([0, 100, 250, 251, 600, 999, 1_000, 1_500]), spread])
    return [
        [steps, 1_000, 1.0, 0.5, 0.25],
        [steps, 1_000, 0.0, 0.5, 0.5],
        [steps, 800, 1.0, 0.0, 0.0],
        [torch.tensor([7]), 10, 0.75, 0.75, 0.5],
        [torch.arange(12), 10, 1.0, 0.0, 0.25],  # the wait ends between two steps
    ]


def waiting_schedule(step: Tensor, total: int, start: float, end: float, wait: float) -> Tensor:
    values = []
    for now in step.tolist():
        over = min(max(now - wait * total, 0.0), (1 - wait) * total)
        values.append(start + (end - start) * over / ((1 - wait) * total))
    return torch.tensor(values)


def _line(step, total, start, end, done):
    return start + (end - start) * done


def _done(step, total, wait):
    return (step / total - wait) / (1 - wait)


def _with_rounded_wait(rounded):
    return lambda t, total, a, b, w: _line(t, total, a, b, _done(t, total, rounded(w * total) / total).clamp(0, 1))


SCHEDULE_MISTAKES = {
    "it does not wait: the line begins at step 0.":
        lambda t, total, a, b, w: _line(t, total, a, b, (t / total).clamp(max=1)),
    "the value jumps when the waiting is over: the line must begin *there*, at `start`.":
        lambda t, total, a, b, w: torch.where(t < w * total, a, _line(t, total, a, b, (t / total).clamp(max=1))),
    "the line is as steep as one that had not waited, and so does not get to `end` by the last step.":
        lambda t, total, a, b, w: _line(t, total, a, b, (t / total - w).clamp(0, 1 - w)),
    "the line is as steep as one that had not waited: it gets to `end` only after the last step.":
        lambda t, total, a, b, w: _line(t, total, a, b, (t / total - w).clamp(0, 1)),
    "it runs on beyond `end`: after the last step the value stays there.":
        lambda t, total, a, b, w: _line(t, total, a, b, _done(t, total, w).clamp(min=0)),
    "before the waiting is over it lies on the other side of `start`: it stays at `start` until then.":
        lambda t, total, a, b, w: _line(t, total, a, b, _done(t, total, w).clamp(max=1)),
    "it runs from `end` to `start`.": lambda t, total, a, b, w: _line(t, total, b, a, _done(t, total, w).clamp(0, 1)),
    "it runs first and waits afterwards: hold `start`, then walk to `end`.":
        lambda t, total, a, b, w: _line(t, total, a, b, (t / (w * total)).clamp(max=1) if w else t * 0.0 + 1),
    "it jumps from `start` to `end`: between them is a straight line.":
        lambda t, total, a, b, w: torch.where(t < w * total, a, b) + t * 0.0,
    "the wait was rounded to whole steps: it may end between two of them, and the line begins there.":
        either(*map(_with_rounded_wait, (math.floor, math.ceil))),
}  # fmt: skip


# 19.6 -----------------------------------------------------------------------------------------------------------------

RUNS = {
    "A": "split", "B": "collapsed", "C": "untrained", "D": "adaptive", "E": "shuffled", "F": "turned", "G": "by pixels",
}  # fmt: skip
WORDS = ("adaptive", "by pixels", "collapsed", "shuffled", "split", "turned", "untrained")
RUNS_MISTAKES = {
    "A: turned codes have a lower axis alignment than this, and MIG well below a quarter.": "turned",
    "A: the distances are there, the axes are not: .52 is what factors dealt out to two latents have.": "adaptive",
    "B: axis alignment is perfect, and only one latent is used. Four factors cannot have one each.": "adaptive",
    "B: a rank of .53 and a MIG of .08 are little, but more than images without their codes can have.": "shuffled",
    "C: after a training with weights a shuffled run has a line and an axis. This one has neither.": "shuffled",
    "C: no latent is used at all, and nothing lies along a line.": "collapsed",
    "D: a collapsed code has lost the rank and the MIG. Here both are high.": "collapsed",
    "D: of the two that have an axis for each factor, this one knows the distances of the factors better.": "by pixels",
    "D: a split code has an axis alignment of about a half.": "split",
    "E: it has collapsed too, but it knows nothing: the rank is that of an untrained network, MIG 0.": "collapsed",
    "E: a perfect axis with a MIG of 0 says that the one used latent follows no factor.": "adaptive",
    "F: with seven latents, factors that are dealt out and not mixed have .52 and .25, as in A.": "split",
    "G: rank and MIG are a little below those of D, which was told the factors.": "adaptive",
    "G: a collapsed code has lost the rank and the MIG. Here both are high.": "collapsed",
    "F: the rank is high and all latents are used. What is low is the axis alignment.": "collapsed",
}


# ----------------------------------------------------------------------------------------------------------------------

EXERCISES = {
    "19.1": Function(
        reference=shared,
        cases=differences,
        mistakes=SHARED_MISTAKES,
        also_right=(
            _by_the_formula,
            _sorted_first,
            shared_latents,
            lambda d, s: torch.from_numpy(d.numpy() < _tau(d, s).numpy()),
        ),
        praise="right, on every input that was tried. (If your τ is (1 − η) · least + η · most: rounding can put that "
        "above equal differences, and then all are shared. least + η · (most − least) is safe.)",
    ),
    "19.2": Function(
        reference=adaptive_distance,
        cases=code_pairs,
        mistakes=ADAPTIVE_MISTAKES,
        also_right=(
            _distance_by_a_guarded_root,
            _distance_of_weighted_codes,
            lambda a, n, w, s: torch.linalg.vector_norm(_weights(a, n, w, s) * (n - a), dim=1),
        ),
    ),
    "19.3": numbers(
        NUMBERS,
        NUMBERS_MISTAKES,
        tolerance=1e-3,
        praise="right: the weight turns the negative's voice down in three latents; averaging turns it off.",
    ),
    "19.4": Function(
        reference=best_angle,
        cases=weighted_settings,
        mistakes=ANGLE_MISTAKES,
        tolerance=(1e-5, 1e-6),
        also_right=(
            lambda p, n, wp, wn: _degrees(_tangent(p, n, wp, wn)),
            lambda p, n, wp, wn: torch.rad2deg(torch.atan2(wn * n - wp * p, n - p)).clamp(0, 45),
            lambda p, n, wp, wn: _degrees((wn - wp * p / n) / (1 - p / n)).requires_grad_(),
        ),
    ),
    "19.5": Function(
        reference=waiting_schedule,
        cases=training_steps,
        mistakes=SCHEDULE_MISTAKES,
        also_right=(
            lambda t, total, a, b, w: torch.lerp(torch.tensor(a), torch.tensor(b), _done(t, total, w).clamp(0, 1)),
            lambda t, total, a, b, w: _line(t, total, a, b, _done(t, total, w).clamp(0, 1)),
            lambda t, total, a, b, w: a + (b - a) * ((t - w * total).clamp(min=0) / (total - w * total)).clamp(max=1),
        ),
    ),
    "19.6": words(RUNS, WORDS, RUNS_MISTAKES, praise="right: no single column tells them apart."),
}
