"""What a score returns: a number that explains itself."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import gmean

from course_lib import metrics
from course_lib.metrics import geometric_mean


@pytest.fixture
def score(tables):
    return metrics.mig(tables["identity"], seed=3)


def test_a_score_is_a_number_with_named_values_and_settings(score):
    assert float(score) == score.values["mig"] == np.mean([score.values[name] for name in ("x_R", "y_R", "x_G", "y_G")])
    assert score.settings == {"n": 10_000, "bins": 20, "seed": 3}
    assert f"{score:.3f}" == f"{float(score):.3f}" and f"{score:8.2f}" == f"{float(score):8.2f}"
    assert repr(score) == f"{score}" == f"MIG {float(score):.3f} (n=10000, bins=20, seed=3)"


def test_the_matrix_names_its_rows_and_columns(score, small):
    assert score.matrix.index.tolist() == ["z0", "z1", "z2", "z3"] and score.matrix.index.name == "latent"
    assert score.matrix.columns.tolist() == list(small.space.names) and score.matrix.columns.name == "factor"


def test_every_headline_is_the_first_of_the_values(tables):
    slow = {"dci", "downstream_trees"}
    scores = metrics.evaluate(tables["rotated"], scores=sorted(set(metrics.SCORES) - slow))
    for score in scores.values():
        assert float(score) == next(iter(score.values.values())) and "\n" not in repr(score)
        assert all(type(value) is float for value in score.values.values())


def test_the_figure_shows_the_matrix(score):
    figure = score.figure()
    axis = figure.axes[0]
    assert [label.get_text() for label in axis.get_xticklabels()] == ["x_R", "y_R", "x_G", "y_G"]
    np.testing.assert_array_equal(axis.images[0].get_array(), score.matrix)
    assert figure.axes[1].get_ylabel() == "mutual information (nats)"
    plt.close(figure)


def test_a_score_without_a_matrix_says_so(tables):
    with pytest.raises(ValueError, match="figure: Gaussian total correlation has no matrix"):
        metrics.gaussian_total_correlation(tables["identity"]).figure()


def test_the_geometric_mean_counts_negative_values_as_0():
    assert geometric_mean([0.2, 0.9, 0.7]) == pytest.approx(gmean([0.2, 0.9, 0.7]))
    assert geometric_mean([0.9, -0.4]) == geometric_mean([0.9, 0.0]) == geometric_mean([]) == 0.0
