"""Measurements of what scores are: each answers False, or another number, when the score is replaced by a wrong one."""

import numpy as np
import pytest

from course_lib import metrics
from course_lib.metrics import Score
from course_replication.measurements import score_behaviour


def wrong_score(monkeypatch, name, change):
    """Replace the score by one whose values on arrays are changed."""
    right = getattr(metrics, name).from_samples

    def wrong(latents, factors, **settings):
        values = {part: change(value) for part, value in right(latents, factors, **settings).values.items()}
        return Score(name, next(iter(values.values())), values)

    monkeypatch.setattr(getattr(metrics, name), "from_samples", wrong)


def test_bounds_of_mig_are_found(context):
    found = score_behaviour.mig_bounds(context, num_random=20)
    assert found["at-least-0"] and found["at-most-1"] and found["identity-near-1"] and found["as-from-tables-of-counts"]


@pytest.mark.parametrize(
    ("change", "answer"), [(lambda value: value * np.log(8), "at-most-1"), (lambda value: value - 0.1, "at-least-0")]
)
def test_a_gap_in_nats_or_moved_breaks_the_bounds(context, monkeypatch, change, answer):
    wrong_score(monkeypatch, "mig", change)
    found = score_behaviour.mig_bounds(context, num_random=0)
    assert not found[answer] and not found["as-from-tables-of-counts"]


def test_mig_from_counts_by_hand():
    """Two bits: the first latent is the first factor, the second latent is constant; the second factor is in none."""
    factors = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    latents = np.stack([factors[:, 0], [5, 5, 5, 5]], axis=1)
    assert score_behaviour._mig_from_counts(latents, factors) == pytest.approx(0.5)


def test_entropies_of_importances(context):
    found = score_behaviour.dci_entropy(context)
    assert found["entropy/uniform"] == pytest.approx(np.log(4), abs=1e-9)
    assert found["entropy/peaked"] == pytest.approx(-0.97 * np.log(0.97) - 0.03 * np.log(0.01), abs=1e-9)


def test_sap_is_the_gap_of_regressions(context):
    found = score_behaviour.sap_gap(context, num_points=1000)
    assert found["gap-of-the-two-best"] and found["between-0-and-1"]


def test_another_sap_is_seen(context, monkeypatch):
    wrong_score(monkeypatch, "sap", lambda value: 2 * value)
    found = score_behaviour.sap_gap(context, num_points=1000)
    assert not found["gap-of-the-two-best"] and not found["between-0-and-1"]


def test_the_variance_over_pairs(context, monkeypatch):
    assert score_behaviour.pairs_variance(context)["identity-to-rounding"]
    right = score_behaviour._over_pairs
    monkeypatch.setattr(score_behaviour, "_over_pairs", lambda values: right(values) * (len(values) - 1) / len(values))
    assert not score_behaviour.pairs_variance(context)["identity-to-rounding"]


def test_minutes_are_of_as_many_images_as_the_scores_need(context, monkeypatch):
    """With a clock that counts images, minutes are images."""
    drawn = [0]
    monkeypatch.setattr(score_behaviour.time, "process_time", lambda: 60.0 * drawn[0])
    monkeypatch.setattr(score_behaviour, "singles", lambda space, n, generator: drawn.__setitem__(0, drawn[0] + n))
    monkeypatch.setattr(score_behaviour, "DSprites", BlankSprites)
    found = score_behaviour.minutes(context, timed=2)
    assert found["images/beta-vae-score"] == found["minutes/beta-vae-score"] == (10_000 * 10 + 800) * 400
    assert found["images/factor-vae-score"] == found["minutes/factor-vae-score"] == 800 * 100


class BlankSprites(score_behaviour.DSprites):
    """Draws one image, whatever is asked for."""

    def images(self, index):
        return super().images([0])
