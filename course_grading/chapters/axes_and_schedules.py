"""The best angle of a step whose distances are weighted, 19.4, and a schedule that waits, 19.5."""

import torch
from torch import Tensor

from course_grading.exercise import Wrong

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


ANGLE_WRONG = (
    Wrong(
        lambda p, n, wp, wn: _degrees(_tangent(p, n, 1.0, wn)),
        "the positive counts in full here, as in the chapter: its second latent has a weight of its own.",
    ),
    Wrong(
        lambda p, n, wp, wn: _degrees(wn),
        "tan θ = ω is where the negative's step is the longest: the positive has a say too.",
    ),
    Wrong(
        lambda p, n, wp, wn: torch.rad2deg(_tangent(p, n, wp, wn).atan()).clamp(max=45),
        "some angles are below 0: where the slope on the axis is positive, the axis is the best.",
    ),
    Wrong(
        lambda p, n, wp, wn: torch.rad2deg(_tangent(p, n, wp, wn).clamp(min=0).atan()),
        "some angles are above 45°: there the *other* latent has the longer part. The best up to 45° is 45°.",
    ),
    Wrong(
        lambda p, n, wp, wn: torch.rad2deg(_tangent(p, n, wp, wn).atan()),
        "some angles are below 0 and some above 45°: the best within the range is its end.",
    ),
    Wrong(lambda p, n, wp, wn: _tangent(p, n, wp, wn).clamp(0, 1).atan(), "in radians: degrees are wanted."),
    Wrong(
        lambda p, n, wp, wn: _tangent(p, n, wp, wn).clamp(0, 1),
        "this is the tangent of the angle: the angle itself is wanted, in degrees.",
    ),
    Wrong(
        lambda p, n, wp, wn: torch.rad2deg(_tangent(p, n, wp, wn).clamp(0, 1).asin()),
        "the arc of the sine was taken: the slope is 0 where sine over *cosine* has this value.",
    ),
    Wrong(
        lambda p, n, wp, wn: _degrees((wp * p - wn * n) / (n - p)),
        "the sign is turned round: a heavy weight on the *negative* is what drives the step off the axis.",
    ),
    Wrong(
        lambda p, n, wp, wn: 45.0 * (wp * p < wn * n),
        "either the axis or 45°: between them the loss has its lowest point where the slope vanishes.",
    ),
    Wrong(
        lambda p, n, wp, wn: _degrees(_tangent(p, n, wn, wp)),
        "the two weights are exchanged.",
    ),
)

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


SCHEDULE_WRONG = (
    Wrong(
        lambda t, total, a, b, w: _line(t, total, a, b, (t / total).clamp(max=1)),
        "it does not wait: the line begins at step 0.",
    ),
    Wrong(
        lambda t, total, a, b, w: torch.where(t < w * total, a, _line(t, total, a, b, (t / total).clamp(max=1))),
        "the value jumps when the waiting is over: the line must begin *there*, at `start`.",
    ),
    Wrong(
        lambda t, total, a, b, w: _line(t, total, a, b, (t / total - w).clamp(0, 1 - w)),
        "the line is as steep as one that had not waited, and so does not get to `end` by the last step.",
    ),
    Wrong(
        lambda t, total, a, b, w: _line(t, total, a, b, (t / total - w).clamp(0, 1)),
        "the line is as steep as one that had not waited: it gets to `end` only after the last step.",
    ),
    Wrong(
        lambda t, total, a, b, w: _line(t, total, a, b, _done(t, total, w).clamp(min=0)),
        "it runs on beyond `end`: after the last step the value stays there.",
    ),
    Wrong(
        lambda t, total, a, b, w: _line(t, total, a, b, _done(t, total, w).clamp(max=1)),
        "before the waiting is over it lies on the other side of `start`: it stays at `start` until then.",
    ),
    Wrong(
        lambda t, total, a, b, w: _line(t, total, b, a, _done(t, total, w).clamp(0, 1)),
        "it runs from `end` to `start`.",
    ),
    Wrong(
        lambda t, total, a, b, w: _line(t, total, a, b, (t / (w * total)).clamp(max=1) if w else t * 0.0 + 1),
        "it runs first and waits afterwards: hold `start`, then walk to `end`.",
    ),
    Wrong(
        lambda t, total, a, b, w: torch.where(t < w * total, a, b) + t * 0.0,
        "it jumps from `start` to `end`: between them is a straight line.",
    ),
)
