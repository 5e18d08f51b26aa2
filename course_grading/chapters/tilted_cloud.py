"""Chapter 17's exercise 17.4: the angle and the flatness of a cloud in the plane, from its line and its axis."""

import math

import torch
from torch import Tensor

from course_grading.exercise import Wrong


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
    def answer(line, axis):
        right = angle_and_flatness(line, axis)
        return torch.stack([change(line, axis, right[:, 0]), right[:, 1]], 1)

    return answer


def _flatness(change):
    def answer(line, axis):
        right = angle_and_flatness(line, axis)
        return torch.stack([right[:, 0], change(line, right[:, 1])], 1)

    return answer


ANGLE_WRONG = (
    Wrong(_angles(lambda line, axis, right: 2 * right), "the angles are twice as large: the cosine is that of 2θ."),
    Wrong(_angles(lambda line, axis, right: right.deg2rad()), "the angles are in radians: degrees are wanted."),
    Wrong(_angles(lambda line, axis, right: 90 - right), "the angles are from the other axis: 0 to 45° are wanted."),
    Wrong(_angles(lambda line, axis, right: 45 - right), "the angles are from the diagonal: 0 is *on* an axis."),
    Wrong(
        _angles(lambda line, axis, right: torch.rad2deg(axis.clamp(max=1).acos()) / 2),
        "the angle was taken from the axis alone, which is line · |cos 2θ|: divide by the line first.",
    ),
    Wrong(
        _angles(lambda line, axis, right: torch.rad2deg((axis / line).acos()) / 2),
        "NaN: the axis can exceed the line by a rounding error, and 0/0 is a round cloud, which has angle 0 here.",
    ),
    Wrong(
        _angles(lambda line, axis, right: torch.rad2deg((axis / line).clamp(max=1).acos()) / 2),
        "NaN for a round cloud, where line is 0: by agreement its angle is 0.",
    ),
    Wrong(
        _angles(lambda line, axis, right: torch.rad2deg((axis / line).nan_to_num(1).acos()) / 2),
        "NaN where the axis exceeds the line by a rounding error: cut the quotient off at 1.",
    ),
    Wrong(_flatness(lambda line, right: 1 / right), "λ₁/λ₂ came back: the smaller over the larger is wanted."),
    Wrong(_flatness(lambda line, right: right.sqrt()), "the ratio of the *widths* came back: λ are variances."),
    Wrong(_flatness(lambda line, right: 1 - line), "1 − line: solve (λ₁ − λ₂)/(λ₁ + λ₂) = line for λ₂/λ₁."),
    Wrong(
        lambda line, axis: angle_and_flatness(line, axis).flip(1),
        "the columns have changed places: the angle is the first.",
    ),
    Wrong(lambda line, axis: angle_and_flatness(line, axis).T, "turned round: one row for each cloud, (n, 2)."),
)
