"""Measurements of distances in data: against the library's distances, and on data that are planted wrong."""

from functools import partial

import pytest
import torch

from course_lib.data import DSprites, XYObject, XYSquares
from course_lib.distances import distance_matrix, perceived_distance
from course_lib.sampling import factor_pairs
from course_replication.measurements import data_distances


def test_one_distance_on_xysquares(context):
    found = data_distances.one_distance(context, num_traversals=5)
    assert found["one-distance-along-each-factor"] and found["twice-the-square-over-the-image"]
    assert found["distance"].item() == pytest.approx(1 / 96)


@pytest.mark.parametrize("planted", [partial(XYSquares, 7), partial(XYSquares, 8, 7)])
def test_squares_that_overlap_or_are_smaller_are_seen(context, monkeypatch, planted):
    monkeypatch.setattr(data_distances, "XYSquares", planted)
    found = data_distances.one_distance(context, num_traversals=5)
    assert not found["twice-the-square-over-the-image"]
    assert found["one-distance-along-each-factor"] == (planted.args == (8, 7))


def test_distances_by_spacing_are_as_counted(context, monkeypatch):
    found = data_distances.spacing_distances(context, num_traversals=2)
    assert found["as-in-closed-form"]
    assert [found[f"distances/spacing-{spacing}"] for spacing in (1, 4, 8)] == [7, 2, 1]
    assert [found[f"nearer/spacing-{spacing}"].item() for spacing in (1, 4, 8)] == [1, 0.25, 0]
    monkeypatch.setattr(data_distances, "XYSquares", lambda spacing: XYSquares(max(spacing - 1, 1)))
    assert not data_distances.spacing_distances(context, num_traversals=2)["as-in-closed-form"]


def test_pixel_distances_are_those_of_the_library(context):
    """Mean matrices from integers, against `distance_matrix` with the same generator."""
    data = DSprites()
    steps, distances = data_distances._along(data, "scale", 4, context.generator)
    matrix = distance_matrix(perceived_distance(data), data.space, "scale", context.generator, n=4)
    low, high = torch.triu_indices(6, 6, 1)
    mean = distances.view(4, -1).double().mean(0) / data_distances._largest(data)
    torch.testing.assert_close(torch.from_numpy(matrix)[low, high], mean, rtol=1e-6, atol=0)
    assert torch.equal(steps[:15], high - low)


def test_ranks_of_mean_matrices(context, monkeypatch):
    monkeypatch.setattr(data_distances, "DSprites", lambda: XYSquares(1))
    monkeypatch.setattr(data_distances, "Shapes3D", lambda: XYSquares(2))
    monkeypatch.setattr(data_distances, "XYSquares", partial(NamedSquares, 8))
    found = data_distances.matrix_ranks(context, num_traversals=2)
    assert found["matrix-rank/namedsquares"] == found["matrix-rank/namedsquares/x_R"] == 0
    assert found["matrix-rank/xysquares"] > 0.9


class NamedSquares(XYSquares):
    """The same under another name, so that planted data do not overwrite each other's ranks."""


def test_medians_of_cumulative_curves(context, monkeypatch):
    found = data_distances.cumulative_curves(context, num_pairs=101)
    assert found["xysquares-has-one-value-along-a-factor"] and found["curves-pass-one-half-at-the-medians"]
    data = DSprites()
    values = perceived_distance(data)(*factor_pairs(data.space, "shape", 101, context.generator))
    assert found["median/shape"].item() == pytest.approx(values.median().item(), rel=1e-6)
    monkeypatch.setattr(data_distances, "XYSquares", partial(XYSquares, 4))
    monkeypatch.setattr(data_distances, "cumulative_proportion", lambda values, at: torch.tensor([0.6, 0.7]))
    found = data_distances.cumulative_curves(context, num_pairs=20)
    assert not (found["xysquares-has-one-value-along-a-factor"] or found["curves-pass-one-half-at-the-medians"])


def test_cross_entropy_by_hand_and_the_lowest_row(context, monkeypatch):
    """Two images, of data that are quicker to draw than 3D Shapes: H(x, y) from torch, in double precision."""
    monkeypatch.setattr(data_distances, "Shapes3D", XYObject)
    data = XYObject()
    pair = torch.tensor([[0], [1234]])
    squared, crossed, divergence = data_distances._losses(data, pair)
    first, second = (data.images(index).double() / 255 for index in pair)
    kept = second.clamp(1 / 512, 1 - 1 / 512)
    assert crossed.item() == pytest.approx(torch.nn.functional.binary_cross_entropy(kept, first).item(), rel=1e-5)
    assert squared.item() == pytest.approx((first - second).square().mean().item(), rel=1e-5)
    assert 0 < divergence < crossed
    found = data_distances.cross_entropy(context, num_pairs=20)
    rows = [value for name, value in found.items() if name.startswith("rank-correlation/bce-and-mse/")]
    assert len(rows) == 5 and found["rank-correlation/bce-and-mse"] == min(rows)


def test_standardised_images(context, monkeypatch):
    """With the printed constants, and with a mean, or a deviation, that is a little off."""
    settings = {"num_images": 700}
    found = data_distances.standardised(context, **settings)
    assert found["mean-0"] and found["mean-of-the-images-deviations-1"]
    printed = data_distances._printed
    monkeypatch.setattr(
        data_distances,
        "_printed",
        lambda *names: [part * c for part, c in zip(printed(*names), (1.1, 1.02), strict=True)],
    )
    found = data_distances.standardised(context, **settings)
    assert not found["mean-0"] and not found["mean-of-the-images-deviations-1"]
