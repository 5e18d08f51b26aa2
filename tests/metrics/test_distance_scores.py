"""The scores of distances and traversals, against all pairs of a small grid, PCA and closed forms."""

import numpy as np
import pytest
import torch
from scipy.stats import gmean, spearmanr
from sklearn.decomposition import PCA

from course_lib import metrics
from course_lib.metrics import Encodings

SIZES = (4, 3, 5)


@pytest.fixture(scope="module")
def grid(tiny_grid):
    return tiny_grid(*SIZES)


@pytest.fixture(scope="module")
def latents(factors_of, grid):
    """A bent representation (60, 4), different on every traversal."""
    factors = factors_of(grid)
    draws = torch.Generator().manual_seed(0)
    hidden = torch.tanh(factors @ torch.randn(3, 6, generator=draws).double() * 0.4)
    return hidden @ torch.randn(6, 4, generator=draws).double()


@pytest.fixture(scope="module")
def table(grid, latents):
    return Encodings.from_table(latents, grid)


def all_pairs(grid, factor=None):
    """Every ordered pair of points, on the same traversal of `factor` if there is one: two lists."""
    factors = grid.space.factors(torch.arange(len(grid))).numpy()
    others = [place for place in range(3) if place != factor]
    first, second = np.meshgrid(np.arange(len(grid)), np.arange(len(grid)))
    same = np.ones(first.shape, bool) if factor is None else (factors[first] == factors[second])[..., others].all(-1)
    return first[same], second[same]


def l1(values, pairs):
    return np.abs(values[pairs[0]] - values[pairs[1]]).sum(1)


@pytest.mark.parametrize("distinct", [False, True])
def test_distance_correlation_against_all_pairs(grid, latents, table, factors_of, distinct):
    factors, codes = factors_of(grid).numpy(), latents.numpy()
    images = grid.images(torch.arange(len(grid))).flatten(1).numpy() / 255
    score = metrics.distance_correlation(table, num_samples=40_000)
    expected, data = [], []
    for factor in range(3):
        pairs = all_pairs(grid, factor)
        keep = pairs[0] != pairs[1] if distinct else slice(None)
        truth, latent = l1(factors, pairs)[keep], l1(codes, pairs)[keep]
        perceived = ((images[pairs[0]] - images[pairs[1]]) ** 2).mean(1)[keep].round(9)
        expected.append(spearmanr(truth, latent).statistic)
        data.append(spearmanr(perceived, latent).statistic)
    prefix = "distinct_" if distinct else ""
    for name, rank, rank_of_data in zip(grid.space.names, expected, data, strict=True):
        assert score.values[prefix + name] == pytest.approx(rank, abs=0.015)
        assert score.values[f"{prefix}data_{name}"] == pytest.approx(rank_of_data, abs=0.04)  # of 5,000 pairs
    assert score.values[prefix + "factors"] == pytest.approx(gmean(expected), abs=0.015)
    assert score.values[prefix + "data"] == pytest.approx(gmean(data), abs=0.04)
    assert float(score) == score.values["factors"] and 0.5 < score.values["distinct_factors"] < float(score) < 0.99


def test_global_distance_correlation_takes_independent_ends(grid, latents, table, factors_of):
    pairs = all_pairs(grid)
    expected = spearmanr(l1(factors_of(grid).numpy(), pairs), l1(latents.numpy(), pairs)).statistic
    score = metrics.distance_correlation(table, num_samples=40_000)
    assert score.values["global"] == score.matrix.loc["global", "published"] == pytest.approx(expected, abs=0.015)


def test_a_negative_correlation_counts_as_0(grid, factors_of):
    factors = factors_of(grid)
    turned = torch.stack([(factors[:, 0] * 2) % 4.9, factors[:, 1], (factors[:, 2] * 2) % 5], 1)
    score = metrics.distance_correlation(Encodings.from_table(turned, grid))
    assert score.values["distinct_f2"] < -0.1 and score.values["distinct_factors"] == 0.0
    assert score.values["f2"] > 0  # the self-pairs alone bring it above 0


def test_the_loss_of_perceived_distances_is_an_argument(tables):
    without = metrics.distance_correlation(tables["identity"], num_samples=1000, loss=None)
    assert not any("data" in name for name in without.values) and list(without.matrix) == ["published", "distinct"]
    plain, blurred = (
        metrics.distance_correlation(tables["identity"], num_samples=1000, loss=loss).values
        for loss in ("mse", "mse-box")
    )
    assert plain["distinct_data"] == 0 and blurred["distinct_data"] > 0.9  # overlap is what the blur brings back


def ratios(grid, latents, largest_share):
    """The exact value for each factor: the mean over all traversals, normalised."""
    values = latents.numpy().reshape(*SIZES, -1)
    result = []
    for factor in range(3):
        lines = np.moveaxis(values, factor, 2).reshape(-1, SIZES[factor], values.shape[-1])
        share = np.mean([largest_share(line) for line in lines])
        result.append((share - 1 / 4) / (1 - 1 / 4))
    return result


@pytest.mark.parametrize(
    ("score", "largest_share"),
    [
        (metrics.linearity_ratio, lambda line: PCA().fit(line).explained_variance_ratio_[0]),
        (metrics.axis_alignment_ratio, lambda line: line.var(0).max() / line.var(0).sum()),
    ],
    ids=["linearity", "axis alignment"],
)
def test_ratios_against_all_traversals(grid, latents, table, score, largest_share):
    expected = ratios(grid, latents, largest_share)
    result = score(table, num_samples=5000)
    for name, ratio in zip(grid.space.names, expected, strict=True):
        assert result.values[name] == pytest.approx(ratio, abs=0.01)
    assert float(result) == pytest.approx(gmean(expected), abs=0.01) and 0.1 < float(result) < 0.999


@pytest.mark.parametrize("degrees", [0, 10, 45, 70])
def test_axis_alignment_of_a_line_at_an_angle(tiny_grid, factors_of, degrees):
    """A line at angle θ in the plane has the shares cos² θ and sin² θ: the ratio is |cos 2θ|."""
    data, angle = tiny_grid(6, 6), np.deg2rad(degrees)
    rotation = torch.tensor([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    table = Encodings.from_table(factors_of(data) @ rotation, data)
    expected = pytest.approx(abs(np.cos(2 * angle)), abs=1e-9)
    assert float(metrics.axis_alignment_ratio(table)) == expected and float(metrics.linearity_ratio(table)) > 1 - 1e-9
    assert float(metrics.axis_orientation_ratio(table)) == expected


def test_the_axis_orientation_ratio_is_the_quotient_on_the_same_traversals(table):
    axis, linear = (score(table, seed=2) for score in (metrics.axis_alignment_ratio, metrics.linearity_ratio))
    score = metrics.axis_orientation_ratio(table, seed=2)
    assert float(score) == float(axis) / float(linear) and score.values["f1"] == axis.values["f1"] / linear.values["f1"]
    assert all(axis.values[name] <= linear.values[name] for name in axis.values)
