"""Scores of a table: the distance scores from whole traversals, controls, and intervals that hold what they say."""

import itertools

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

from course_lib import metrics
from course_lib.metrics.confidence import affordable, half_sample_interval
from course_lib.metrics.samples import as_samples

RATIOS = (metrics.linearity_ratio, metrics.axis_alignment_ratio, metrics.axis_orientation_ratio)


@pytest.fixture(scope="module")
def grid():
    """A bent and mixed code of 5 × 4 × 2 values, as a table (40, 3) in the order of the grid."""
    factors = np.array(list(itertools.product(range(5), range(4), range(2))))
    mixing = np.array([[1, 0.3, 0], [-0.4, 1, 0.2], [0, 0.1, 2]])
    return np.sin(factors @ mixing.T / 3) + factors @ mixing.T / 2, factors


def lines(latents, factors, k):
    """The representations of each traversal of factor k, found by looking."""
    others = np.delete(factors, k, 1)
    for rest in np.unique(others, axis=0):
        rows = np.flatnonzero((others == rest).all(1))
        yield latents[rows[np.argsort(factors[rows, k])]]


def by_definition(latents, factors, largest):
    """A ratio of the thesis' Eqs. 4.4 to 4.9; `largest` of a covariance matrix."""
    floor, ratios = 1 / latents.shape[1], []
    for k in range(factors.shape[1]):
        covariances = [np.cov(line.T) for line in lines(latents, factors, k)]
        shares = [largest(covariance) / np.trace(covariance) for covariance in covariances]
        ratios.append((np.mean(shares) - floor) / (1 - floor))
    return np.array([np.prod(ratios) ** (1 / len(ratios)), *ratios])


def test_the_ratios_are_their_definition(grid):
    line = by_definition(*grid, lambda covariance: np.linalg.eigvalsh(covariance)[-1])
    axis = by_definition(*grid, lambda covariance: np.diag(covariance).max())
    for score, wanted in zip(RATIOS, (line, axis, axis / line), strict=True):
        values = score.from_samples(*grid).values
        found = [value for name, value in values.items() if name not in ("axis_alignment", "linearity")]
        np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_the_distance_correlation_is_its_definition(grid):
    latents, factors = grid
    values = metrics.distance_correlation.from_samples(latents, factors, names="abc").values
    for k, name in enumerate("abc"):
        every, distinct = [], []
        for line in lines(latents, factors, k):
            pairs = list(itertools.product(range(len(line)), repeat=2))
            steps = [(abs(i - j), np.abs(line[i] - line[j]).sum()) for i, j in pairs]
            every += steps
            distinct += [step for (i, j), step in zip(pairs, steps, strict=True) if i != j]
        assert values[name] == pytest.approx(spearmanr(*zip(*every, strict=True)).statistic, abs=1e-5)
        if k < 2:  # the third has one distance
            found = values[f"distinct_{name}"]
            assert found == pytest.approx(spearmanr(*zip(*distinct, strict=True)).statistic, abs=1e-5)


def test_they_are_what_the_encoding_form_comes_to(tables):
    """With more and more random traversals, on the grid of a dataset."""
    table = tables["rotated"]
    index = torch.arange(len(table))
    latents, factors = table(index), table.space.factors(index)
    for score in RATIOS:
        drawn = score(table, num_samples=4000)
        found = score.from_samples(latents, factors, names=table.space.names)
        assert found.values == pytest.approx(drawn.values, abs=0.01)
    drawn = metrics.distance_correlation(table, num_samples=20_000, loss=None)
    found = metrics.distance_correlation.from_samples(latents, factors, names=table.space.names)
    assert found.values == pytest.approx(drawn.values, abs=0.02)


def test_rows_may_come_in_any_order_and_twice_and_other_rows_beside_them(grid):
    latents, factors = grid
    order = np.random.default_rng(0).permutation(40)
    mixed = np.concatenate([latents[order], latents[:7] + 9]), np.concatenate([factors[order], factors[:7]])
    for name in ("linearity_ratio", "axis_alignment_ratio", "distance_correlation"):
        score = metrics.SCORES[name].from_samples
        assert score(*mixed).values == pytest.approx(score(*grid).values, abs=1e-12)
    some = np.flatnonzero((factors[:, 0] < 4) | (factors[:, 1:] == 0).all(1))
    found = metrics.linearity_ratio.from_samples(latents[some], factors[some])
    assert found.settings == {"traversals": 1}


@pytest.mark.filterwarnings("ignore:.*too few")
def test_a_table_without_whole_traversals_has_no_such_score(grid):
    latents, factors = grid
    rows = np.flatnonzero(factors.sum(1) % 2 == 0)
    with pytest.raises(
        ValueError, match="agree in all factors but factor 0 and take each of its 5 values; the linearity"
    ):
        metrics.linearity_ratio.from_samples(latents[rows], factors[rows])
    found = metrics.evaluate.from_samples(latents[rows], factors[rows], ["mig"], intervals=[])
    assert list(found) == ["mig"] and found.notes == {"mig": "no interval: none was asked for."}


def test_an_evaluation_of_a_table_has_controls_intervals_and_reasons():
    draws = np.random.default_rng(0)
    factors = draws.integers(0, 4, (500, 2))
    latents = factors + 0.1 * draws.normal(size=(500, 2))
    found = metrics.evaluate.from_samples(latents, factors, ["mig", "sap", "linearity_ratio"], ["a", "b"], 3, halves=20)
    assert isinstance(found, metrics.Evaluation) and list(found) == ["mig", "sap", "linearity_ratio"]
    assert found["mig"].values == metrics.mig.from_samples(latents, factors, names=["a", "b"]).values
    assert found["sap"].values == metrics.sap.from_samples(latents, factors, names=["a", "b"], seed=3).values
    order = torch.randperm(500, generator=torch.Generator().manual_seed(3)).numpy()
    assert float(found.controls["mig"]) == float(metrics.mig.from_samples(latents[order], factors)) < 0.05
    assert found.intervals["mig"].low < float(found["mig"]) < found.intervals["mig"].high
    assert set(found.notes) == {"sap", "linearity_ratio"} and "anew" in found.notes["sap"]
    frame = found.beside_controls()
    assert frame.loc["mig", "high"] == found.intervals["mig"].high and np.isnan(frame.loc["sap", "low"])
    again = metrics.evaluate.from_samples(latents, factors, ["mig"], seed=3, halves=20)
    assert again.intervals["mig"] == found.intervals["mig"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scores": ["factor_vae_score"]}, "scores: got 'factor_vae_score'; allowed are mig"),
        ({"intervals": ["linearity_ratio"]}, "intervals: got 'linearity_ratio'"),
        ({"halves": 1}, "halves: got 1"),
        ({"seed": -1}, "seed: got -1"),
    ],
)
def test_arguments_that_do_not_fit(grid, options, words):
    with pytest.raises(ValueError, match=words):
        metrics.evaluate.from_samples(*grid, **options)


@pytest.mark.filterwarnings("ignore:.*too few")
def test_where_there_is_no_interval_the_reason_is_said(grid):
    found = metrics.evaluate.from_samples(grid[0][:30], grid[1][:30], ["mig"])
    assert found.notes["mig"] == "no interval: 30 rows are too few to halve; 40 are needed."
    double = np.repeat(grid[0][:, :1], 2, axis=1)
    found = metrics.evaluate.from_samples(double, grid[1], ["gaussian_total_correlation"])
    assert found.notes["gaussian_total_correlation"] == "no interval: the score is infinite."


def tables_of(n, draws):
    factors = draws.integers(0, 5, (n, 2))
    mixed = factors @ np.array([[1, -0.3, 0], [0.5, 1, 0]])
    return mixed + 0.6 * draws.normal(size=(n, 3)), factors


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*too few")
def test_an_interval_holds_the_mean_of_such_tables_where_a_percentile_bootstrap_does_not():
    """60 tables of 200 rows: 19 in 20 are 57, and chance alone seldom takes six from that."""
    score, draws = metrics.mutual_information.from_samples, np.random.default_rng(1)
    target = np.mean([float(score(*tables_of(200, draws))) for _ in range(200)])
    held = doubled = 0
    for number in range(60):
        latents, factors = tables_of(200, draws)
        low, high, _ = half_sample_interval(score, as_samples(latents, factors), 30, number)
        held += low <= target <= high
        picks = draws.integers(0, 200, (30, 200))
        again = np.quantile([float(score(latents[rows], factors[rows])) for rows in picks], [0.025, 0.975])
        doubled += again[0] <= target <= again[1]
    assert 51 <= held and doubled < 45


def test_fewer_halves_of_longer_tables():
    assert [affordable(n) for n in (500, 20_000, 40_000, 10**6)] == [100, 100, 50, 20]
