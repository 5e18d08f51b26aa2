"""Measurements of laws of latents, against moments and independence that are known."""

import pytest

from course_replication.measurements import latent_laws


def test_tails_without_a_fourth_moment(context, monkeypatch):
    assert all(value for value in latent_laws.heavy_tails(context).values() if isinstance(value, bool))
    right = latent_laws._moment
    monkeypatch.setattr(latent_laws, "_moment", lambda order, freedom, bound: right(order, freedom + 2, bound))
    found = latent_laws.heavy_tails(context)
    assert not found["no-fourth-moment-at-3.5"] and not found["variance-all-the-same"]


def test_moments_are_those_of_student_t():
    assert latent_laws._moment(2, 5.0, 1e9) == pytest.approx(5 / 3, rel=1e-6)
    assert latent_laws._moment(0, 3.5, 1e9) == pytest.approx(1, rel=1e-6)


def test_exponents_that_factorise(context, monkeypatch):
    found = latent_laws.equal_exponents(context)
    assert found["factorises-if-all-are-equal"] and not found["factorises-if-they-differ"]
    assert found["dependent-if-they-differ"] and found["subspaces-of-one-latent-factorise"]
    monkeypatch.setattr(latent_laws, "EQUAL", [((2,), 2.1, (2.0,))])
    assert not latent_laws.equal_exponents(context)["factorises-if-all-are-equal"]
