"""Measurements of the scores of a fixed factor, with codes and classifiers of known value."""

import numpy as np
import pytest

from course_replication.measurements import fixed_factor_scores


def test_mixtures(context, monkeypatch):
    found = fixed_factor_scores.mixtures(context)
    assert found["a-mixture-scores-100-percent-by-the-old-score"] and found["and-less-by-the-new-one"]
    assert found["factors-score-1-by-both"] and not found["every-mixture-does"]
    assert found["beta-vae/halves/2"] == pytest.approx(0.5, abs=0.06)  # chance: the two cannot be told apart


def test_pruning(context, monkeypatch):
    monkeypatch.setattr(fixed_factor_scores, "VOTES", 400)
    found = fixed_factor_scores.pruning(context)
    assert found["pruned-latents-change-nothing"] and found["without-pruning-some-do"]
    right = fixed_factor_scores._score
    monkeypatch.setattr(fixed_factor_scores, "_score", lambda code, factors, seed, _: right(code, factors, seed, False))
    assert not fixed_factor_scores.pruning(context)["pruned-latents-change-nothing"]


def test_the_majority(context, monkeypatch):
    found = fixed_factor_scores.majority(context)
    assert found == {"no-map-does-better": True, "maps-tried": 2 * (4 + 4 + 64 + 243 + 64), "settings": 10}
    monkeypatch.setattr(fixed_factor_scores, "product", lambda values, repeat: iter([(0,) * repeat]))
    assert not fixed_factor_scores.majority(context)["no-map-does-better"]


def test_an_error_rate_is_lowest_for_the_best(context, monkeypatch):
    monkeypatch.setattr(fixed_factor_scores, "VOTES", 300)
    found = fixed_factor_scores.error_rate(context)
    assert found["by-accuracy"] and not found["better-codes-score-higher-by-error"]


def test_votes_of_noise_are_chance(monkeypatch):
    monkeypatch.setattr(fixed_factor_scores, "VOTES", 500)
    factors = np.stack(np.unravel_index(np.arange(64), (8, 8)), 1)
    noise = np.random.default_rng(1).normal(size=(64, 1))
    assert fixed_factor_scores._score(factors.astype(float), factors, 0, True) == 1
    assert fixed_factor_scores._score(noise, factors, 0, True) == pytest.approx(0.5, abs=0.08)
