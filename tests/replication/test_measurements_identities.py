"""Measurements of equations: each answers False when one side is replaced by a wrong one."""

import numpy as np
import pytest

from course_lib.theory import Entangler
from course_replication.measurements import identities


class Stretcher(Entangler):
    """Mixes nothing and changes the law."""

    def __call__(self, z):
        return self._check(z) * 0.9


class Idler(Entangler):
    def __call__(self, z):
        return self._check(z)


def test_two_models_have_one_marginal_and_different_latents(context):
    found = identities.two_models(context)
    assert found["same-marginal"] and found["different-latents"]


@pytest.mark.parametrize(("map_", "answer"), [(Stretcher, "same-marginal"), (Idler, "different-latents")])
def test_a_map_that_changes_the_law_or_nothing_is_seen(context, monkeypatch, map_, answer):
    monkeypatch.setattr(identities, "Entangler", map_)
    assert not identities.two_models(context)[answer]


def test_the_decomposition_of_the_mean_divergence(context, monkeypatch):
    found = identities.decomposition(context)
    assert found["identity-to-rounding"] and found["aggregate-density-as-in-the-library"]
    right = identities._parts
    monkeypatch.setattr(identities, "_parts", lambda *posteriors: right(*posteriors) | {"total_correlation": 0.0})
    assert not identities.decomposition(context)["identity-to-rounding"]
    monkeypatch.setattr(identities, "aggregate_log_densities", lambda latents, *_: (latents.sum(1), latents))
    assert not identities.decomposition(context)["aggregate-density-as-in-the-library"]


def test_the_parts_of_one_standard_normal_posterior_are_0():
    parts = identities._parts(np.zeros((1, 2)), np.ones((1, 2)))
    assert all(value == pytest.approx(0, abs=1e-12) for value in parts.values())


def test_the_bound(context, monkeypatch):
    found = identities.bound(context)
    assert found["at-most-the-elbo"] and found["elbo-as-by-sampling"]
    right = identities._linear_elbo
    monkeypatch.setattr(identities, "_linear_elbo", lambda *arguments: right(*arguments) + 1)
    found = identities.bound(context)
    assert not found["at-most-the-elbo"] and not found["elbo-as-by-sampling"]


def test_the_adversarial_objective(context, monkeypatch):
    found = identities.adversarial(context)
    assert found["objective-above-the-likelihood-somewhere"] and found["elbo-never-above"]
    assert found["highest/elbo"] == pytest.approx(found["log-likelihood"], abs=1e-3)  # the posterior is in the grid
    right = identities._kl_of_variances
    monkeypatch.setattr(identities, "_kl_of_variances", lambda variance: 0.5 * right(variance) - 1)
    assert not identities.adversarial(context)["elbo-never-above"]
    monkeypatch.setattr(identities, "_kl_of_variances", lambda variance: right(variance) + 2)
    assert not identities.adversarial(context)["objective-above-the-likelihood-somewhere"]


def test_the_bound_on_the_information_of_codes(context, monkeypatch):
    found = identities.code_information(context)
    assert found["bound-below-information"] and found["tight-at-the-posterior"]
    assert found["bound/mixed-1.0"] == pytest.approx(0, abs=1e-9)  # the uniform answer knows nothing
    monkeypatch.setattr(identities.np, "log", lambda values, log=np.log: log(values) + 0.1)
    found = identities.code_information(context)
    assert not found["bound-below-information"] and not found["tight-at-the-posterior"]
