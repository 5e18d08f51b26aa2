"""The two representations of XYSquares whose scores are known: its factors, and these rotated."""

import pytest

from course_lib import metrics

# score, value, at the factors, rotated, how far sampling may take it: four standard deviations over seeds
REFERENCE = [
    ("beta_vae_score", "test", 1.0, 0.932, 0.016),
    ("factor_vae_score", "test", 1.0, 0.912, 0.04),
    ("mig", "mig", 0.9985, 0.0796, 0.006),
    ("sap", "discrete", 0.1237, 0.0422, 0.009),
    ("modularity", "modularity", 1.0, 0.910, 0.01),
    ("irs", "irs", 1.0, 0.464, 0.02),
    ("gaussian_total_correlation", "total_correlation", 0.0003, 0.0003, 0.0007),
    ("distance_correlation", "global", 1.0, 0.8895, 0.01),
    ("linearity_ratio", "factors", 1.0, 1.0, 1e-9),
    ("axis_alignment_ratio", "factors", 1.0, 0.40, 0.002),
]


@pytest.mark.parametrize(("name", "value", "identity", "rotated", "tolerance"), REFERENCE)
def test_scores_have_their_reference_values(reference, name, value, identity, rotated, tolerance):
    options = {"loss": None} if name == "distance_correlation" else {}
    for table, expected in zip(reference.values(), (identity, rotated), strict=True):
        score = getattr(metrics, name)(table, **options)
        assert score.values[value] == pytest.approx(expected, abs=tolerance)
        assert score.settings["seed"] == 0


@pytest.mark.slow
def test_dci_of_a_rotation_depends_on_how_many_points_there_are(reference):
    """From 1,000 points the rotation has .157, from 10,000 it has .311: small samples make it look entangled."""
    score = metrics.dci(reference["rotated"], num_samples=1000, num_test=500, levels=None, jobs=1)
    assert float(score) == pytest.approx(0.157, abs=0.02) and score.settings["train"] == 1000
