"""Holm's correction against examples worked by hand."""

import pytest

from course_replication.inference import holm


@pytest.mark.parametrize(
    ("p_values", "found"),
    [
        # thresholds .0125, .0167, .025, .05: the second, .01 ≤ .0167, passes, .03 > .025 ends it, and .04 ≤ .05 is late
        ([0.01, 0.04, 0.03, 0.005], [True, False, False, True]),
        ([0.04], [True]),
        ([0.05], [True]),
        ([0.026, 0.026], [False, False]),
        ([0.025, 0.05], [True, True]),
        ([0.02, 0.02, 0.001], [True, True, True]),  # .001 ≤ .0167, .02 ≤ .025, .02 ≤ .05
        ([0.02, 0.02, 0.02], [False, False, False]),  # .02 > .0167, which ends it for all that tie
        ([0.0, 1.0, 0.0], [True, False, True]),
        ([], []),
    ],
)
def test_by_hand(p_values, found):
    assert holm(p_values) == found


def test_the_order_of_the_tests_does_not_matter():
    p_values = [0.01, 0.04, 0.03, 0.005, 0.012, 0.5]
    found = dict(zip(p_values, holm(p_values), strict=True))
    turned = p_values[::-1]
    assert dict(zip(turned, holm(turned), strict=True)) == found


def test_the_level():
    assert holm([0.004, 0.02], level=0.01) == [True, False] and holm([0.004, 0.006], level=0.01) == [True, True]


@pytest.mark.parametrize("wrong", [float("nan"), -0.1, 1.1, float("inf")])
def test_what_is_no_probability_is_refused(wrong):
    with pytest.raises(ValueError, match=f"p_values: got {wrong}"):
        holm([0.01, wrong])
