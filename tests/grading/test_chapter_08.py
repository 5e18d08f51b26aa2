"""Chapter 8's exercises beyond what holds for all: what they say is so, and answers off the list."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import kstest, norm, uniform
from torch.distributions import Normal
from torch.special import ndtr, ndtri

from course_grading import registry
from course_grading.checks.ch08_impossibility import (
    PRIORS,
    VISIBLE,
    WITNESSES,
    _angles,
    _of_directions,
    _of_power,
    coupled,
    entangled,
    mirror,
    p_value,
    turned,
)
from course_lib import metrics
from course_lib.theory import Entangler

ALPHA = 0.15


def factors(law, n=4_000):
    return np.stack([law.rvs(n, random_state=np.random.default_rng(seed)) for seed in (0, 1)], axis=1)


def explained(inputs, targets):
    """R² of the best linear function."""
    inputs = np.column_stack([inputs, np.ones(len(inputs))])
    rest = targets - inputs @ np.linalg.lstsq(inputs, targets, rcond=None)[0]
    return 1 - (rest**2).sum() / ((targets - targets.mean(0)) ** 2).sum()


def test_the_references_are_what_the_library_computes():
    for alpha, dim in ((0.05, 2), (0.25, 3), (0.45, 8)):
        torch.testing.assert_close(mirror(alpha, dim), torch.from_numpy(Entangler.normal(dim, alpha).matrix))
    z = torch.rand(50, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    library = Entangler.uniform(4, ALPHA)
    torch.testing.assert_close(entangled(z, torch.from_numpy(library.matrix)), torch.from_numpy(library(z)))


def test_who_notices():
    """The entries of 08.4 that are computed from codes, each measured before and after."""
    found = {}
    for name, law, entangler in (
        ("normal", norm(), Entangler.normal(2, ALPHA)), ("uniform", uniform(), Entangler.uniform(2, ALPHA))
    ):  # fmt: skip
        z = factors(law)
        code, classes = entangler(z), np.floor(10 * law.cdf(z)).astype(int)
        changed = explained(code, z) < 0.999
        found[f"linear probe, {name} prior"] = "changes" if changed else "stays"
        gaps = [float(metrics.mig.from_samples(codes, classes)) for codes in (z, code)]
        found["MIG"] = "changes" if gaps[1] < gaps[0] / 2 else "stays"
        marginals = [kstest(column, law.cdf).pvalue for column in code.T]
        found["histogram of each latent"] = "changes" if min(marginals) < 1e-3 else "stays"
        undone = explained(entangler.inverse(code), z)  # what a probe that bends can learn
        found[f"large network's probe, {name} prior"] = "stays" if undone > 0.999 else "changes"
    assert found.pop("large network's probe, normal prior") == "stays"  # which is not asked
    assert found == {name: WITNESSES[name] for name in found} and len(found) == 5


def test_a_diagonal_posterior_cannot_turn_along():
    matrix = Entangler.normal(2, ALPHA).matrix
    covariance = matrix @ np.diag([0.1, 0.4]) @ matrix.T
    assert abs(covariance[0, 1]) > 0.05  # turned, unequal variances are a correlation; equal ones are not
    np.testing.assert_allclose(matrix @ np.diag([0.1, 0.1]) @ matrix.T, 0.1 * np.eye(2), atol=1e-15)


def test_the_impostor_has_right_marginals():
    noise = torch.randn(4_000, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    code = coupled(noise, 0.6)
    assert min(kstest(column, "uniform").pvalue for column in code.T.numpy()) > 1e-3
    assert np.corrcoef(code.T.numpy())[0, 1] > 0.5


@pytest.mark.parametrize("prior", PRIORS)
def test_the_priors_have_the_same_moments(prior):
    codes = PRIORS[prior](np.random.default_rng(0), (200_000, 2))
    np.testing.assert_allclose(codes.mean(0), 0, atol=0.01)
    np.testing.assert_allclose(np.cov(codes.T), np.eye(2), atol=0.02)


@pytest.mark.parametrize(("prior", "degrees"), [("uniform", 45), ("laplace", 45.0), ("uniform", -30), ("laplace", 225)])
def test_rotations_that_show(judged, prior, degrees):
    assert p_value(prior, degrees) < VISIBLE
    assert judged("08.5", {"prior": prior, "degrees": degrees}).passed


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"prior": "normal", "degrees": 90}, "no rotation changes"),
        ({"prior": "disc", "degrees": 0}, "round"),
        ({"prior": "laplace", "degrees": -90}, "quarter turn"),
        ({"prior": "laplace", "degrees": 0}, "nothing moves"),
        ({"prior": "laplace", "degrees": 89.5}, "too little"),
        ({"prior": "uniform", "degrees": 1e9}, "from -360 to 360"),
        ({"prior": "uniform", "degrees": "45"}, "degrees: got a str; expected one number."),
        ({"prior": ["uniform"], "degrees": 45}, "expected one of 'normal', 'uniform'"),
        ({"prior": "uniform", "degrees": math.inf}, "degrees: got inf; expected a finite number."),
        ({"prior": "laplace", "degrees": 5e-324}, "too little"),
        ({"prior": "uniform"}, "the keys prior, degrees"),
    ],
)
def test_rotations_that_do_not(judged, choice, words):
    verdict = judged("08.5", choice)
    assert not verdict.passed and words in verdict.message


def by_steps(z, matrix):
    """A right way, inside the square: latent by latent, with torch.distributions."""
    law = Normal(torch.tensor(0.0, dtype=z.dtype), torch.tensor(1.0, dtype=z.dtype))
    scores = torch.stack([law.icdf(column) for column in z.T])
    return torch.stack([law.cdf(row) for row in matrix @ scores], dim=1)


@pytest.mark.parametrize("way", [_of_directions, _of_power])
def test_twice_the_angle_is_not_enough(judged, way):
    """It works where one factor differs more often or by more, so there have to be pairs where neither does."""

    def doubled(first, second):
        return way(second - first, 2)

    pair = turned(25, 4_000, torch.Generator().manual_seed(0), noise=0.01, every=10)
    assert float(doubled(*pair)) == pytest.approx(25, abs=0.2)
    for seed in range(20):
        verdict = judged("08.6", doubled, seed)
        assert not verdict.passed and "Four times the angle" in verdict.message
        assert not judged("08.6h", doubled, seed).passed


def test_codes_far_in_a_tail(judged):
    """2u − 1 rounds to −1 where u is below 1e-17, and then the quantile is infinite."""
    assert judged("08.2h", lambda z, a: ndtr(ndtri(z) @ a.T)).passed
    assert judged("08.2", by_steps).passed and not judged("08.2h", by_steps).passed


@pytest.mark.parametrize(
    ("exercise", "answer", "words"),
    [
        ("08.1", lambda a, d: torch.eye(d, dtype=torch.float64), "the numbers differ"),
        ("08.1", lambda a, d: torch.from_numpy(Entangler.normal(d, a).matrix).float(), "float32"),
        ("08.2", lambda z, a: ndtr(ndtri(z) @ a.T @ a.T), "the numbers differ"),
        ("08.2", lambda z, a: ndtr(a @ ndtri(z)), "it raised RuntimeError"),
        ("08.2", lambda z, a: ndtr(ndtri(z) * a.diagonal()), "the numbers differ"),
        ("08.2", lambda z, a: ndtr(ndtri(z.clamp(1e-3, 1 - 1e-3)) @ a.T), "no bijection"),
        ("08.3", lambda e, r: coupled(e.flip(1), r), "exchanged"),
        ("08.3", lambda e, r: torch.special.expit(ndtri(coupled(e, r))), "the numbers differ"),
        ("08.3", lambda e, r: coupled(e, r)[:, 1], "shape"),
        ("08.6", lambda first, second: _of_directions(second - first, 4).reshape(1), "shape"),
        ("08.6", lambda first, second: _of_directions(second - first, 4) - 90, "take the remainder by 90 last"),
        ("08.6", lambda first, second: _of_directions(second - first, 4) - 180, "got -16"),
        ("08.6", lambda first, second: _angles(second - first).remainder(90).mean(), "near the seam"),
    ],
)
def test_wrong_answers_off_the_list(judged, exercise, answer, words):
    verdict = judged(exercise, answer)
    assert not verdict.passed and words in verdict.message, verdict.message


def test_pairs_change_one_factor():
    first, second = turned(25, 60, torch.Generator().manual_seed(0))
    cos, sin = math.cos(math.radians(25)), math.sin(math.radians(25))
    back = torch.tensor([[cos, sin], [-sin, cos]], dtype=torch.float64)
    changed = ((second - first) @ back.T).abs() > 1e-12
    assert (changed.sum(1) == 1).all() and changed.any(0).all()


def test_an_angle_rounded_to_whole_degrees_does_not_pass(judged):
    right = registry.find("08.6").reference
    assert not judged("08.6", lambda first, second: right(first, second).round()).passed
