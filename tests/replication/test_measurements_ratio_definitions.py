"""Measurements of how scores are defined: what the definitions give on variances and codes that are known."""

import numpy as np
import pytest

from course_replication.measurements import factor_shapes, ratio_definitions


def test_two_components(context, monkeypatch):
    found = ratio_definitions.two_components(context)
    assert found["two-largest-do-not-see-the-number-of-latents"] and found["all-of-them-do"]
    assert found["two-largest-score-higher-with-noise"] and found["more-noisy-latents-score-lower"]
    assert not found["more-constant-latents-score-lower"]
    assert found["library-as-by-hand"]
    right = ratio_definitions._two_ways
    monkeypatch.setattr(ratio_definitions, "_two_ways", lambda variances: right(variances)[::-1])
    found = ratio_definitions.two_components(context)
    assert not found["two-largest-do-not-see-the-number-of-latents"] and not found["library-as-by-hand"]


def test_both_ratios_agree_in_two_dimensions():
    every, two = ratio_definitions._two_ways([1.0, 0.25])
    assert every == pytest.approx(0.6) == two


def test_a_perfect_alignment(context, monkeypatch):
    found = ratio_definitions.perfect_alignment(context)
    assert not found["a-score-of-1-means-a-latent-for-each-factor"]
    assert not found["a-factor-at-1-is-in-one-latent"]
    assert found["factors-score-1"] and found["ratio-of-means-sees-it"]
    assert found["library-as-the-mean-of-ratios"]
    right = ratio_definitions._of_traversals
    monkeypatch.setattr(ratio_definitions, "_of_traversals", lambda points: right(points)[::-1])
    assert not ratio_definitions.perfect_alignment(context)["library-as-the-mean-of-ratios"]


def test_geometric_means(context):
    found = ratio_definitions.geometric(context)
    assert found["at-most-the-arithmetic-mean"] and found["0-if-one-is-0"]
    assert found["score-of-two-negative-correlations"] > 0


def test_what_the_mig_is_divided_by(context, monkeypatch):
    found = ratio_definitions.mig_normaliser(context)
    assert not found["normalised-by-the-sum-is-the-mig"] and found["library-normalises-by-the-entropy"]
    assert found["by-entropy/half-told"] == pytest.approx(1 / 3) and found["by-sum/half-told"] == pytest.approx(1)
    right = ratio_definitions._information
    monkeypatch.setattr(ratio_definitions, "_information", lambda first, second: 0.9 * right(first, second))
    assert not ratio_definitions.mig_normaliser(context)["library-normalises-by-the-entropy"]


def test_information_of_counts():
    column = np.arange(6)
    assert ratio_definitions._information(column, column) == pytest.approx(np.log(6))
    assert ratio_definitions._information(column // 3, column % 3) == pytest.approx(0, abs=1e-12)


def test_factors_that_come_round_again(context):
    found = factor_shapes.cyclic(context)
    assert all(value for value in found.values() if isinstance(value, bool))
    assert found["linearity/line/8"] == pytest.approx(1)


def test_factors_of_factors(context, monkeypatch):
    monkeypatch.setattr(factor_shapes, "SPLITS", ((4, 6), (1, 24)))
    found = factor_shapes.split(context)
    assert all(value for value in found.values() if isinstance(value, bool))
    assert found["mig/whole/4x6"] == pytest.approx((np.log(6 / 4) / np.log(24) + 1) / 2)
