"""Laws over sizes, against SciPy's regression and curve fitting, and intervals against what they promise."""

import numpy as np
import pytest
from scipy.optimize import curve_fit
from scipy.stats import linregress, t

from course_lib.scaling import bootstrap, exponent_interval, held_out, levelling, power_law

SIZES = np.array([1.0, 2, 5, 9, 30, 100])


def noisy(seed, exponent=0.3, spread=0.2, rows=1):
    draws = np.random.default_rng(seed)
    return 0.02 * SIZES**exponent * np.exp(spread * draws.standard_normal((rows, len(SIZES))))


def test_a_power_law_is_the_regression_of_logarithms():
    for seed in range(5):
        scores = noisy(seed)[0]
        law, line = power_law(SIZES, scores), linregress(np.log(SIZES), np.log(scores))
        assert law.exponent == pytest.approx(line.slope) and law.coefficient == pytest.approx(np.exp(line.intercept))
        far = t.ppf(0.975, len(SIZES) - 2) * line.stderr
        assert exponent_interval(SIZES, scores) == pytest.approx((line.slope - far, line.slope + far))
    exact = power_law(SIZES[::-1], 3 * SIZES[::-1] ** -0.5)
    assert (exact.coefficient, exact.exponent) == pytest.approx((3, -0.5))
    np.testing.assert_allclose(exact([4, 9]), [1.5, 1])


def test_the_interval_holds_what_it_promises():
    inside = [low <= 0.3 <= high for low, high in (exponent_interval(SIZES, noisy(seed)[0]) for seed in range(2000))]
    assert np.mean(inside) == pytest.approx(0.95, abs=4 * (0.05 * 0.95 / 2000) ** 0.5)


@pytest.mark.parametrize(("limit", "gap", "rate"), [(0.06, 0.05, 0.7), (0.1, -0.4, 0.5), (1.0, 0.8, 2.0)])
def test_a_law_that_levels_off_is_found(limit, gap, rate):
    scores = limit - gap * SIZES**-rate
    law = levelling(SIZES, scores)
    np.testing.assert_allclose(law(SIZES), scores, atol=0.01 * abs(gap))
    assert law.limit == pytest.approx(limit, abs=0.02 * abs(gap)) and law.rate == pytest.approx(rate, rel=0.06)


def test_levelling_is_no_worse_than_a_search_by_gradients():
    for seed in range(5):
        scores = 0.06 - 0.05 * SIZES**-0.6 + 0.002 * np.random.default_rng(seed).standard_normal(6)
        found, _ = curve_fit(lambda x, a, b, r: a - b * x**-r, SIZES, scores, p0=(0.06, 0.05, 0.6), maxfev=20_000)
        theirs = ((found[0] - found[1] * SIZES ** -found[2] - scores) ** 2).sum()
        assert ((levelling(SIZES, scores)(SIZES) - scores) ** 2).sum() < 1.02 * theirs


def test_seeds_are_resampled_whole():
    """Rows that differ by a factor alone all have one exponent, and so has every mean of them."""
    rows = 0.01 * SIZES**0.4 * np.array([[1.0], [2.0], [7.0]])
    np.testing.assert_allclose(bootstrap(SIZES, rows, draws=50), 0.4)
    np.testing.assert_allclose(bootstrap(SIZES, rows, by="points", draws=50), 0.4)
    two = np.stack([SIZES**0.2, SIZES**0.6])
    ends = (0.2, 0.6, power_law(SIZES, two.mean(0)).exponent)
    found = bootstrap(SIZES, two, draws=200)
    assert {round(each, 9) for each in found} == {round(each, 9) for each in ends}
    np.testing.assert_array_equal(found, bootstrap(SIZES, two, draws=200, seed=0))
    assert (found != bootstrap(SIZES, two, draws=200, seed=1)).any()


def test_points_of_one_curve_are_no_news():
    """A seed that starts high stays high: its points vary together, and points resampled do not show it."""
    draws = np.random.default_rng(0)
    tilt = draws.normal(0, 0.3, (8, 1))  # each seed has an exponent of its own
    rows = 0.02 * SIZES ** (0.3 + tilt)
    by_seeds, by_points = (np.std(bootstrap(SIZES, rows, by=by)) for by in ("seeds", "points"))
    assert by_seeds > 2 * by_points


def test_a_fit_is_held_against_sizes_that_it_has_not_seen():
    np.testing.assert_allclose(held_out(power_law, SIZES, SIZES**0.5, 2), [1, 1])
    scores = np.where(SIZES < 20, SIZES**0.5, 3.0)
    expected = np.array([30, 100]) ** 0.5 / 3
    order = np.array([4, 0, 5, 2, 1, 3])
    np.testing.assert_allclose(held_out(power_law, SIZES[order], scores[order], 2), expected)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: power_law([1, 2], [1, 0]), "scores: got some that are not finite and above 0"),
        (lambda: power_law([1, 1], [1, 2]), "sizes: got 1 different ones; allowed are 2"),
        (lambda: power_law([0, 1], [1, 2]), "sizes: got some"),
        (lambda: power_law([1, 2], [1, 2, 3]), r"shapes \(2,\) and \(3,\)"),
        (lambda: levelling([1, 2], [1, 2]), "allowed are 3 or more"),
        (lambda: levelling([1, 2, 3], [1, 2, float("nan")]), "scores: got some"),
        (lambda: exponent_interval([1, 2], [1, 2]), "an interval needs 3 points"),
        (lambda: exponent_interval([1, 2, 3], [1, 2, 3], level=0), "level: got 0"),
        (lambda: bootstrap([1, 2], [1, 2]), r"scores: got shape \(2,\)"),
        (lambda: bootstrap([1, 2], [[1, 2]], by="rows"), "by: got 'rows'"),
        (lambda: bootstrap([1, 2], [[1, 2]], draws=0), "draws: got 0"),
        (lambda: held_out(power_law, [1, 2, 3], [1, 2, 3], 0), "held: got 0"),
        (lambda: held_out(power_law, [1, 2, 3], [1, 2, 3], 3), "held: got 3; allowed are integers from 1 to 2"),
    ],
)
def test_errors_name_the_argument(call, words):
    with pytest.raises(ValueError, match=words):
        call()
