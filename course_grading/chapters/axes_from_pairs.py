"""The exercise that finds by how much a code is turned, from pairs that share a factor: 08.6.

The reference takes the fourth power of complex numbers, and not an average of directions, as the task suggests.
"""

import math

import torch
from torch import Tensor

from course_grading.exercise import Wrong


def turned_pairs(generator: torch.Generator) -> list[list[Tensor]]:
    """Codes of pairs that differ in one of two uniform factors, turned by an angle and a little inexact."""
    return [turned(angle, 4_000, generator, noise=0.01) for angle in (17, 63, 45, 88, 2)]


def turned(degrees: float, n: int, generator: torch.Generator, noise: float = 0.0) -> list[Tensor]:
    """Codes (n, 2) of the two images of n pairs, with normal noise of that width."""
    first, other = (2 * torch.rand(n, 2, generator=generator, dtype=torch.float64) - 1 for _ in range(2))
    changed = (torch.arange(n) % 3 == 0).unsqueeze(1) == torch.tensor([False, True])  # the second in every third pair
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    rotation = torch.tensor([[cos, -sin], [sin, cos]], dtype=torch.float64)
    pair = [factors @ rotation.T for factors in (first, torch.where(changed, other, first))]
    return [code + noise * torch.randn(n, 2, generator=generator, dtype=torch.float64) for code in pair]


def axes_angle(first: Tensor, second: Tensor) -> Tensor:
    """The fourth power of a complex number does not see quarter turns; a quarter of its argument is the angle."""
    return _fourth(second - first)


def _fourth(steps: Tensor) -> Tensor:
    powers = torch.view_as_complex(steps.contiguous()) ** 4
    return torch.rad2deg(powers.sum().angle() / 4) % 90


def _folded(angle: Tensor) -> Tensor:
    return torch.minimum(angle, 90 - angle)


def _with_atan(first, second):
    steps = second - first
    return torch.rad2deg(torch.atan(steps[:, 1] / steps[:, 0]))


def _angles(steps: Tensor) -> Tensor:
    return torch.rad2deg(torch.atan2(steps[:, 1], steps[:, 0]))


def _principal(first, second):
    _, vectors = torch.linalg.eigh(torch.cov(torch.cat([first, second]).T))
    return _angles(vectors[:, 1:].T)[0] % 90


AVERAGED_LINEARLY = (
    "the remainders by 90 were averaged as plain numbers: near the seam, where 89.9 and 0.1 are neighbours, they "
    "average to 45. Average directions: of four times the angle, which quarter turns do not change."
)
NOT_A_SKEW = (
    "27° and 63° are different turns. min(a, 90 − a) says how far a code is from the nearest axis, as the chapter's "
    "`skew` does, and not by how much it was turned."
)
NOT_YET_ONE = (
    "different directions were averaged, and their average is none of them: θ, θ + 90, θ + 180 and θ + 270 have to be "
    "made one and the same first. Multiply the angles by 4."
)
OF_CODES = "these are the directions of the codes themselves. What a pair shares shows only in its difference."

AXES_WRONG = (
    Wrong(
        _principal,
        "these are the principal axes of the cloud. Both factors vary equally, so it has none: the axes are in the "
        "pairs.",
    ),
    Wrong(lambda a, b: torch.deg2rad(axes_angle(a, b)), "this is in radians; degrees are asked for."),
    Wrong(lambda a, b: _folded(axes_angle(a, b)), NOT_A_SKEW),
    Wrong(lambda a, b: _folded(_angles(b - a).remainder(90)).mean(), NOT_A_SKEW),
    Wrong(lambda a, b: _angles(b - a).remainder(90).mean(), AVERAGED_LINEARLY),
    Wrong(
        lambda a, b: _angles((b - a)[:1]).remainder(90).squeeze(),
        "only the first pair was used. Every code is a little off; over all pairs the errors cancel.",
    ),
    Wrong(
        lambda a, b: _fourth(b - a) * 4 % 360,
        "this is four times the angle: divide by 4 in the end.",
    ),
    Wrong(
        lambda a, b: _with_atan(a, b).mean(),
        "atan gives θ for one factor and θ − 90 for the other, and their average is neither: multiply the angles by 4 "
        "before they are averaged.",
    ),
    Wrong(
        lambda a, b: 90 - axes_angle(a, b),
        "the angle was measured from the second latent's axis: atan2 takes the second coordinate first.",
    ),
    Wrong(
        lambda a, b: _angles(b - a).mean(),
        "the directions of all pairs were averaged, and they point four ways: θ, θ + 90, θ + 180, θ + 270. What do "
        "these have in common?",
    ),
    Wrong(lambda a, b: _angles(b - a).mean() % 90, NOT_YET_ONE),
    Wrong(lambda a, b: (_angles(b - a) % 180).mean(), NOT_YET_ONE),
    Wrong(
        lambda a, b: _angles((b - a).abs()).mean(),
        "absolute values fold the directions: one that points down and right at −27° becomes 27°, not 63°.",
    ),
    Wrong(
        lambda a, b: _angles((b - a).mean(0, keepdim=True))[0] % 90,
        "the differences were averaged before the angle was taken: they point in all four directions, and cancel.",
    ),
    Wrong(lambda a, b: _angles(a).remainder(90).mean(), OF_CODES),
    Wrong(lambda a, b: _fourth(a), OF_CODES),
    Wrong(lambda a, b: _fourth(b), OF_CODES),
)
