"""Chapter 2's exercises beyond what is tested for all chapters: settings at the edges, and other ways to write."""

import math

import numpy as np
import pytest

from course_grading.checks import ch02_vae as ch02


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"beta": math.nan}, "beta: got nan; expected a finite number"),
        ({"beta": "1"}, "beta: got a str; expected one number"),
        ({"beta": -1e-300}, "stay within 0 to 1"),
        ({"beta": np.nextafter(1, 2)}, "stay within 0 to 1"),
        ({"learning_rate": math.inf}, "learning_rate: got inf; expected a finite number"),
        ({"learning_rate": 0.011}, "allowed are 0.0001 to 0.01"),
        ({"learning_rate": 5e-324}, "never trained"),
        ({"beta": -0.0}, "With β = 0"),
        ({"beta": 5e-324}, "a β this small"),
        ({"reduction": None}, "reduction: got 'None'; expected one of 'sum', 'mean'"),
    ],
)
def test_settings_at_the_edges_get_a_sentence(judged, changed, words):
    verdict = judged("02.6", ch02._settings(1.0, "mean", 1e-3) | changed)
    assert not verdict.passed and words in verdict.message, verdict.message


@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_the_fastest_training_stays_finite(beta, reduction):
    assert math.isfinite(ch02.trained_nats(beta, reduction, ch02.FASTEST))


def test_a_posterior_may_be_written_with_spaces(judged):
    assert judged("02.8", {"from": "q(z | x)", "to": "P(z| x)", "change": "falls-by-2"}).passed
    assert not judged("02.8", {"from": "q(z x)", "to": "p(z | x)", "change": "falls by 2"}).passed
