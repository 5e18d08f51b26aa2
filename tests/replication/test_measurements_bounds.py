"""Measurements of objectives: each answers False when a part of it is wrong."""

import numpy as np
import pytest

from course_replication.measurements import bounds


def test_the_printed_signs_lead_away_from_the_bound(context):
    found = bounds.printed_signs(context)
    assert not found["minimising-the-printed-sum-maximises-the-bound"]
    assert found["minimising-minus-the-printed-sum-does"] and found["printed-sum-is-the-bound"]


@pytest.mark.parametrize("measure", [bounds.printed_signs, bounds.two_forms, bounds.weighted])
def test_a_wrong_evidence_is_seen(context, monkeypatch, measure):
    right = list(bounds._posteriors())
    wrong = [(name, evidence - 0.1, *others) for name, evidence, *others in right]
    monkeypatch.setattr(bounds, "_posteriors", lambda: iter(wrong))
    found = measure(context)
    answers = ("printed-sum-is-the-bound", "forms-are-equal", "the-elbo-at-beta-1")
    assert not any(found[answer] for answer in answers if answer in found)


def test_the_integrals_are_those_of_a_linear_model():
    """log p(x) of x = 1.5 z + noise, and the divergence of its exact posterior."""
    evidence = next(evidence for name, evidence, *_ in bounds._posteriors() if name == "line")
    variance = 1.5**2 + 0.7**2
    assert evidence == pytest.approx(-0.5 * (np.log(2 * np.pi * variance) + 1 / variance), abs=1e-10)


def test_the_two_forms_of_the_loss(context):
    assert bounds.two_forms(context)["forms-are-equal"]


def test_the_weighted_objective(context):
    found = bounds.weighted(context)
    assert found["at-most-the-likelihood-from-beta-1"] and found["above-the-likelihood-somewhere-below-1"]
    assert found["the-elbo-at-beta-1"]


def test_factor_vae_and_beta_tcvae(context, monkeypatch):
    found = bounds.same_objective(context)
    assert found["same-objective-at-gamma-beta-minus-1"]
    assert found["at-gamma-beta-they-differ-by-the-total-correlation"]
    right = bounds._parts
    monkeypatch.setattr(bounds, "_parts", lambda *tables: right(*tables) | {"dimension_wise": 0.0})
    assert not bounds.same_objective(context)["same-objective-at-gamma-beta-minus-1"]


def test_parts_of_one_image_with_the_prior_as_its_law():
    prior = np.outer([0.2, 0.3, 0.5], [0.25] * 4)
    assert all(value == pytest.approx(0, abs=1e-12) for value in bounds._parts(prior[None], prior).values())


def test_index_and_image(context, monkeypatch):
    found = bounds.index_information(context)
    assert found["index-and-image-tell-the-same"] and found["at-most-the-logarithm-of-n"]
    right = bounds._information
    monkeypatch.setattr(bounds, "_information", lambda laws, weights: right(laws, np.full(len(laws), 1 / len(laws))))
    assert not bounds.index_information(context)["index-and-image-tell-the-same"]


def test_information_of_certain_codes_is_the_entropy():
    assert bounds._information(np.eye(4), np.full(4, 0.25)) == pytest.approx(np.log(4))
