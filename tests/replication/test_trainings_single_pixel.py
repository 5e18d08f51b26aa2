"""Neighbours that overlap by one pixel: the images of the plan, their ranks, and the trainings on them."""

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

from course_lib.data import XYSquares
from course_replication import load_claims
from course_replication.comparisons import renamed
from course_replication.measurements import perceived_ranks, trained_scores, training
from course_replication.plans import deviations_of, metrics_of, parts_of

SQUARES = {"square_size": 3, "squares": 2, "image_size": 24}
CLAIM = next(claim for claim in load_claims() if claim.id == "distances/section-3.3.4")


@pytest.mark.parametrize(("spacing", "shared"), [(3, 0), (2, 1), (1, 2)])
def test_neighbours_share_as_many_columns_as_the_deviations_say(spacing, shared):
    data = XYSquares(spacing, **SQUARES)
    assert data.shape == (2, 24, 24) and data.space.sizes == (8, 8, 8, 8)
    index = data.space.index([[place, 4, 0, 0] for place in range(8)])
    lit = data.images(index)[:, 0] > 0
    assert (lit.sum((1, 2)) == 9).all()
    assert ((lit[:-1] & lit[1:]).sum((1, 2)) == 3 * shared).all(), "columns of three pixels"
    assert not (lit[:-3] & lit[3:]).any()


@pytest.mark.parametrize("spacing", [3, 2, 1])
def test_ranks_are_those_of_all_pairs(context, spacing):
    """k steps of s pixels leave min(3, s·k) columns of a square uncovered."""
    steps = abs(np.subtract.outer(np.arange(8), np.arange(8))).ravel()
    columns = np.minimum(3, spacing * steps)
    found = perceived_ranks.by_mean(context, num_pairs=5000, data="XYSquares", spacing=spacing, **SQUARES)
    assert found["perceived-rank"] == pytest.approx(spearmanr(steps, columns).statistic, abs=0.02)
    apart = steps > 0
    expected = spearmanr(steps[apart], columns[apart]).statistic if np.ptp(columns[apart]) else 0
    assert found["perceived-rank-distinct"] == pytest.approx(expected, abs=0.03)


def test_trainings_are_on_these_squares(context, monkeypatch):
    seen = []
    right = training.train
    monkeypatch.setattr(trained_scores, "TRAVERSALS", 20)
    monkeypatch.setattr(training, "train", lambda *given: seen.append(repr(given[2])) or right(*given))
    part = parts_of(CLAIM, "small")[-1]
    found = training.scores(context, **part.settings | {"steps": 2, "batch_size": 8, "watch_every": 0})
    assert seen == ["XYSquares(spacing=1, square_size=3, squares=2, image_size=24)"]
    assert 0 <= found["mig"] <= 1 and found["mig"] != found["control/untrained/mig"]
    assert torch.tensor(list(found.values()), dtype=torch.float64).isfinite().all()


def test_the_plan_measures_what_the_claim_asks_for_and_says_what_is_smaller():
    parts = parts_of(CLAIM, "small")
    names = {"perceived_ranks.by_mean": "perceived-rank", "training.scores": "mig"}
    assert [renamed(part.name, names[part.measurement]) for part in parts] == [
        "perceived-rank/spacing-8", "perceived-rank/spacing-7", "mig/ada-gvae/spacing-7", "mig/ada-gvae/spacing-1",
    ]  # fmt: skip
    assert {*metrics_of(CLAIM)} == {renamed(part.name, names[part.measurement]) for part in parts}
    assert [part.settings["spacing"] for part in parts] == [3, 2, 2, 1]
    for part in parts:
        assert (part.scale, part.seeds) == ("small", 5) and any(
            "two squares of 3" in note for note in deviations_of(CLAIM, part)
        )
