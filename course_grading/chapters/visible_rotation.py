"""The exercise that asks for a prior under which a rotation of the latents can be seen."""

import math
from numbers import Real

import numpy as np
from scipy.stats import ks_2samp

from course_grading.calling import one_line
from course_grading.exercise import Wrong

KEYS = ("prior", "degrees")
CODES, VISIBLE = 20_000, 1e-4  # codes that are drawn; the p-value below which a rotation counts as seen


def _normal(draws, shape):
    return draws.standard_normal(shape)


def _uniform(draws, shape):
    return draws.uniform(-(3**0.5), 3**0.5, shape)


def _laplace(draws, shape):
    return draws.laplace(0, 0.5**0.5, shape)


def _disc(draws, shape):
    angle, radius = draws.uniform(0, 2 * math.pi, shape[0]), 2 * draws.random(shape[0]) ** 0.5
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


PRIORS = {"normal": _normal, "uniform": _uniform, "laplace": _laplace, "disc": _disc}  # all with the covariance I


def p_value(prior: str, degrees: float) -> float:
    """Whether single coordinates of turned codes have the law of the prior's: the smaller of two p-values."""
    draws, angle = np.random.default_rng(0), math.radians(degrees)
    codes, others = (PRIORS[prior](draws, (CODES, 2)) for _ in range(2))
    turned = codes @ np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
    return min(ks_2samp(*pair).pvalue for pair in zip(turned.T, others.T, strict=True))


def fault(choice) -> str | None:
    """What is wrong with the choice of a prior and an angle, or None."""
    if not isinstance(choice, dict) or set(choice) != set(KEYS):
        return f"wanted is a dict with the keys {', '.join(KEYS)}."
    prior, degrees = (choice[key] for key in KEYS)
    if not isinstance(prior, str) or prior not in PRIORS:
        return f"prior: got {one_line(prior, 40)!r}; allowed are {', '.join(map(repr, PRIORS))}."
    if isinstance(degrees, bool) or not isinstance(degrees, Real) or not abs(degrees) <= 360:
        return f"degrees: got {one_line(degrees, 40)!r}; allowed are numbers from -360 to 360."
    p = p_value(prior, degrees)
    return None if p < VISIBLE else _diagnosis(prior, degrees, p)


def _diagnosis(prior: str, degrees: float, p: float) -> str:
    if prior == "normal":
        return "The normal prior is the one with independent latents that no rotation changes: nobody can see it."
    if prior == "disc":
        return (
            "The disc is round: its density depends on the radius alone, so no rotation changes it, although it is not "
            "normal and its latents are not even independent. Independence *and* roundness is what only the normal has."
        )
    if degrees % 180 == 0:
        return "By 0° nothing moves, and by 180° both latents change their sign, which this prior does not see."
    if degrees % 90 == 0:
        return "A quarter turn exchanges the latents (and flips one): they have the same law, so nothing shows."
    return (
        f"In principle it shows, but too little: p = {p:.1g} with {CODES:,} codes. Which angle is farthest from every "
        "quarter turn?"
    )


WRONG = (
    Wrong({"prior": "normal", "degrees": 45}, "the one with independent latents that no rotation changes"),
    Wrong({"prior": "disc", "degrees": 45}, "depends on the radius alone"),
    Wrong({"prior": "uniform", "degrees": 90}, "A quarter turn exchanges the latents"),
    Wrong({"prior": "laplace", "degrees": 180}, "both latents change their sign"),
    Wrong({"prior": "uniform", "degrees": 1}, "In principle it shows, but too little"),
    Wrong({"prior": "uniform", "degrees": math.nan}, "allowed are numbers from -360 to 360"),
    Wrong({"prior": "gaussian", "degrees": 45}, "allowed are 'normal'"),
)
