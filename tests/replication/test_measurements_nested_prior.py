"""Measurements of nested laws: each answers False when density or sampler is replaced by a wrong one."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import kstest, norm

from course_lib.losses import kl_to_standard_normal
from course_lib.theory import LpNested
from course_replication.measurements import nested_prior


def fails(found, *answers):
    return all(not found[answer] for answer in answers)


class WrongScale(LpNested):
    """s = 1 in place of 2, the law that Eq. 5 would suggest."""

    def __init__(self, layout, outer=2.1, inner=2.2, scale=2.0):
        super().__init__(layout, outer, inner, scale / 2)


class NoSurface(LpNested):
    """The normaliser without the surface's factor of an inner node."""

    def log_normaliser(self):
        return super().log_normaliser() - 0.01


class Positive(LpNested):
    """A sampler that forgets the signs, and a radius that is not drawn."""

    def sample(self, n, seed=0):
        return super().sample(n, seed).abs()


class Flat(LpNested):
    """One exponent for all: no nesting."""

    def radii(self, z):
        return z.abs().pow(self.outer).sum(1, keepdim=True).pow(1 / self.outer)


class Normal(LpNested):
    """The normal law, whatever the exponents."""

    def __init__(self, layout, outer=2.0, inner=2.0, scale=2.0):
        super().__init__(layout, 2.0, 2.0)


@pytest.mark.parametrize(
    ("measurement", "settings", "planted", "answers"),
    [
        ("total_mass", {}, NoSurface, ["integrates-to-1"]),
        ("contours", {}, Flat, ["contours-by-exponents"]),
        ("exponential_power", {}, WrongScale, ["normal-at-p-2", "laplace-at-p-1"]),
        ("exponential_power", {}, Normal, ["laplace-at-p-1", "kurtosis-falls-with-p", "kurtosis-as-in-closed-form"]),
        ("square", {}, Normal, ["as-in-closed-form"]),
        ("factorises", {}, Normal, ["another-radial-law-does-not"]),
        ("subspaces", {"num_points": 2000}, Normal, ["subspaces-independent"]),
        ("subspaces", {"num_points": 2000}, WrongScale, ["chi-at-exponent-2"]),
        ("divergence", {"num_points": 2000}, NoSurface, []),
        ("divergence", {"num_points": 2000}, WrongScale, ["unbiased-against-the-closed-form-at-exponent-2"]),
        ("sampler", {"num_points": 5000}, Positive, ["moments-as-by-integration", "normal-at-exponent-2"]),
        ("sampler", {"num_points": 5000}, WrongScale, ["normal-at-exponent-2"]),
        ("rotations", {}, Normal, ["density-changes-under-rotation"]),
        ("entangled", {"num_points": 20_000}, Normal, ["construction-changes-the-law-of-a-nested-prior"]),
    ],
)
def test_answers_are_yes_and_no_for_a_planted_law(context, monkeypatch, measurement, settings, planted, answers):
    measure = getattr(nested_prior, measurement)
    found = measure(context, **settings)
    assert all(
        value for name, value in found.items() if isinstance(value, bool) and name != "no-other-map-keeps-the-law"
    )
    monkeypatch.setattr(nested_prior, "LpNested", planted)
    assert fails(measure(context, **settings), *answers)


def test_the_normal_law_does_not_notice_a_rotation_of_the_square(context, monkeypatch):
    found = nested_prior.square(context)
    assert found["log-density/heavy/45-degrees"] > found["log-density/heavy/0-degrees"]
    assert found["log-density/light/0-degrees"] > found["log-density/light/45-degrees"]
    monkeypatch.setattr(nested_prior, "LpNested", Normal)
    found = nested_prior.square(context)
    assert math.isclose(found["log-density/heavy/45-degrees"], found["log-density/heavy/0-degrees"], rel_tol=1e-9)


def test_a_rotation_that_is_none_is_seen(context, monkeypatch):
    monkeypatch.setattr(nested_prior, "_turn", lambda degrees: 1.1 * torch.eye(2, dtype=torch.float64))
    assert fails(nested_prior.rotations(context), "normal-density-does-not")


def test_a_map_that_mixes_subspaces_keeps_the_law(context, monkeypatch):
    """And one that leaves out a way back, or does nothing, does not count."""
    found = nested_prior.rotations(context)
    assert not found["no-other-map-keeps-the-law"] and found["largest-change-of-the-law-by-another-map"] < 1e-6
    carried = nested_prior._carried
    monkeypatch.setattr(
        nested_prior, "_carried", lambda z, source, target: z if target != (2.0, 2.0) else carried(z, source, target)
    )
    assert nested_prior.rotations(context)["no-other-map-keeps-the-law"]
    monkeypatch.setattr(nested_prior, "_carried", carried)
    monkeypatch.setattr(nested_prior, "_turn", lambda degrees: torch.eye(2, dtype=torch.float64))
    assert nested_prior.rotations(context)["no-other-map-keeps-the-law"]


def test_the_map_that_keeps_a_nested_prior(context, monkeypatch):
    """It is carried there and back unchanged, to normal points; when it forgets to carry back, the law changes."""
    sample = LpNested((2,), 1.0, 3.0).sample(2000, 0).numpy()
    there = nested_prior._carried(sample, (1.0, 3.0), (2.0, 2.0))
    assert all(kstest(column, norm.cdf).pvalue > 1e-3 for column in there.T)
    np.testing.assert_allclose(nested_prior._carried(there, (2.0, 2.0), (1.0, 3.0)), sample, rtol=1e-6, atol=1e-9)
    assert nested_prior.entangled(context, num_points=5000)["another-map-keeps-the-nested-prior"]
    monkeypatch.setattr(
        nested_prior, "_transported_and_reflected", lambda z, *exponents: z @ nested_prior._turn(45).numpy()
    )
    assert fails(nested_prior.entangled(context, num_points=20_000), "another-map-keeps-the-nested-prior")


def test_the_rule_over_the_orthant_integrates():
    for dim in (2, 3):
        points, weights = nested_prior._orthant(dim)
        assert (torch.exp(-points.sum(1)) @ weights).item() == pytest.approx(1, abs=1e-9)


def test_the_closed_form_of_the_normal_prior_is_none_for_other_exponents(context, monkeypatch):
    def closed(posterior, law):
        return kl_to_standard_normal(posterior).sum()

    monkeypatch.setattr(nested_prior, "_integrated", closed)
    found = nested_prior.divergence(context, num_points=2000)
    assert found["unbiased-against-the-closed-form-at-exponent-2"]
    assert fails(found, "unbiased-against-the-integral-at-other-exponents")
