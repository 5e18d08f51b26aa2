"""Measurements of the two ratios: each answers False when the score or the traversal is replaced by a wrong one."""

import pytest
import torch

from course_lib import metrics
from course_lib.metrics import Score
from course_replication.measurements import ratios


def unnormalised(monkeypatch, name, dim):
    """The ratio before Equation 4.5 or 4.8, as if it were the score."""
    right = getattr(metrics, name)

    def raw(table, **settings):
        return Score(name, 0.0, {"x_R": right(table, **settings).values["x_R"] * (1 - 1 / dim) + 1 / dim})

    monkeypatch.setattr(metrics, name, raw)


def test_normalised_ratios(context):
    assert all(ratios.normalised(context).values())


@pytest.mark.parametrize("name", ["axis_alignment_ratio", "linearity_ratio"])
def test_ratios_without_normalisation_are_seen(context, monkeypatch, name):
    unnormalised(monkeypatch, name, 5)
    found = ratios.normalised(context)
    assert not found["equal-variances-give-0"] and not found["as-by-hand-in-between"]


def test_a_ratio_that_ends_below_1_is_seen(context, monkeypatch):
    monkeypatch.setattr(ratios, "_table", lambda points, table=ratios._table: table(points + torch.eye(8)[:, :1]))
    assert not ratios.normalised(context)["one-variance-gives-1"]


def test_known_codes(context):
    found = ratios.known_codes(context)
    assert found["axis-alignment/aligned"] > 0.99 and found["axis-alignment/rotated"] < 0.05
    assert found["linearity/line"] > found["linearity/half-turn"] > found["linearity/bent"] < 0.1
    assert found["as-over-all-traversals"]


@pytest.mark.parametrize("name", ["axis_alignment_ratio", "linearity_ratio"])
def test_another_ratio_of_known_codes_is_seen(context, monkeypatch, name):
    unnormalised(monkeypatch, name, 2)
    assert not ratios.known_codes(context)["as-over-all-traversals"]


def test_an_arc_has_steps_of_1_and_turns_as_asked():
    steps = torch.arange(8, dtype=torch.float64)
    for turns in ratios.BENDS.values():
        points = ratios._arc(steps, turns)
        gaps = (points[1:] - points[:-1]).norm(dim=1)
        assert torch.allclose(gaps, gaps[:1]) and gaps[0] == pytest.approx(1, abs=0.03)
    assert torch.allclose(ratios._arc(torch.tensor([0.0, 4.0]), 1.0).sum(0), torch.zeros(2), atol=1e-5)  # opposite


def test_orientation_of_ellipses(context, monkeypatch):
    found = ratios.orientation(context)
    assert found["at-most-1"] and found["same-for-every-width"] and found["cosine-of-twice-the-angle"]
    monkeypatch.setattr(metrics, "axis_orientation_ratio", metrics.axis_alignment_ratio)
    found = ratios.orientation(context)
    assert not found["same-for-every-width"] and not found["cosine-of-twice-the-angle"]
