"""Measurements of linear models: numerical optima against closed forms, and what is seen when one of them is wrong."""

import numpy as np
import pytest

from course_lib.frameworks import DIPVAE
from course_lib.theory.linear_vi import LinearGaussian
from course_replication.measurements import constraints, linear_models


def test_the_mean_field_posterior(context, monkeypatch):
    found = linear_models.matching_precision(context)
    assert found["same-mean-and-diagonal-precision"] and found["never-wider-than-the-exact-marginals"]
    right = linear_models._free_energy
    monkeypatch.setattr(linear_models, "_free_energy", lambda q, w, noise, x, beta: right(q, w, noise, x, 1.1 * beta))
    assert not linear_models.matching_precision(context)["same-mean-and-diagonal-precision"]


def test_the_optimum_is_that_of_the_library():
    """The optimiser's mean against the gain of `LinearGaussian`, which is fitted by nothing here."""
    weights, noise, x = linear_models.WEIGHTS["oblique"], np.array(linear_models.NOISE), np.array([0.3, -1.0, 0.5])
    gain, precision = LinearGaussian(weights, noise).posterior(2.0)
    mean, log_variance = np.split(linear_models._best_posterior(weights, noise, x, 2.0), 2)
    assert np.allclose(mean, gain @ x, atol=1e-5)
    assert np.allclose(np.exp(-log_variance), np.diag(precision), rtol=1e-4)


def test_coordinate_ascent(context, monkeypatch):
    found = linear_models.coordinate_ascent(context)
    assert found["nearer-to-the-prior"] and found["the-decoder-does-not-see-beta"]
    assert found["farther-from-the-true-posterior"]
    right = linear_models._free_energy
    monkeypatch.setattr(linear_models, "_free_energy", lambda q, w, noise, x, beta: right(q, w, noise, x, 1.0) * beta)
    assert not linear_models.coordinate_ascent(context)["the-decoder-does-not-see-beta"]


def test_the_variance_of_a_sampled_divergence(context):
    found = linear_models.sampled_divergence(context)
    assert found["no-variance-at-the-exact-posterior"] and found["less-variance-near-it"]
    assert not found["less-variance-everywhere"]
    draws = np.random.default_rng(0).normal(size=400_000)  # the exact posterior of weight 2, noise 0.5, x = 1
    z = 4 / 9 + (1 / 9) ** 0.5 * draws
    assert found["variance/exact/closed-form"] == pytest.approx(np.var(-((1 - 2 * z) ** 2)), rel=0.02)


def test_the_expected_posterior(context, monkeypatch):
    found = linear_models.expected_posterior(context)
    assert found["the-prior-if-the-marginals-agree"] and found["not-the-prior-otherwise"]
    assert found["the-prior-all-the-same-if-x-tells-nothing"]
    monkeypatch.setitem(linear_models.WEIGHTS, "nothing", np.zeros((2, 2)))
    assert not linear_models.expected_posterior(context)["not-the-prior-otherwise"]


def test_covariance_penalties(context, monkeypatch):
    found = linear_models.covariance_penalties(context, 20_000)
    assert found["law-of-total-covariance"] and found["penalties-as-equations-10-and-11"]
    right = DIPVAE.covariance
    monkeypatch.setattr(DIPVAE, "covariance", lambda self, posterior: 1.01 * right(self, posterior))
    assert not linear_models.covariance_penalties(context, 1000)["penalties-as-equations-10-and-11"]


def test_the_multiplier_of_a_limit(context, monkeypatch):
    found = constraints.multiplier(context)
    assert found["same-optimum-as-under-the-limit"] and found["slope-in-the-limit-is-beta"]
    assert found["a-limit-above-the-vae's-has-beta-below-1"]
    right = constraints._optimum
    monkeypatch.setattr(constraints, "_optimum", lambda signal, beta: right(signal, 1.2 * beta))
    found = constraints.multiplier(context)
    assert not found["slope-in-the-limit-is-beta"]


def test_a_target_for_the_divergence(context):
    found = constraints.target(context)
    assert found["kl-at-the-target-once-gamma-exceeds-the-multiplier"]
    assert found["kl-beyond-the-target-for-a-smaller-gamma"]
    assert found["farthest-for-gamma-1000/target-25"] < 0.01 < found["farthest-for-gamma-1000/target-0"]


def test_the_divergence_of_a_posterior_at_the_prior_is_0():
    assert constraints._divergence(np.zeros(6)) == 0
