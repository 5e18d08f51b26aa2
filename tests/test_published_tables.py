"""The thesis' tables that need no training: 3.1, 4.1, 4.2 and 6.1, to the precision that sampling allows."""

import pytest
import torch

from course_lib.data import DSprites, XYSquares
from course_lib.distances import (
    correlation_table,
    correlations,
    factor_importance,
    ground_truth_distance,
    perceived_distance,
)
from course_lib.sampling import random_pairs

PAIRS = 200_000


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_table_3_1_for_dsprites():
    """The printed x and y differ by .0025; by symmetry they should not, and the thesis' own text has them closer."""
    data = DSprites()
    table = factor_importance(perceived_distance(data), data.space, generator(), n=PAIRS)
    printed = {
        "random": (0.0754, 0.0289), "position_y": (0.0584, 0.0378), "position_x": (0.0559, 0.0363),
        "scale": (0.0250, 0.0148), "shape": (0.0214, 0.0095), "orientation": (0.0172, 0.0106),
    }  # fmt: skip
    for factor, values in printed.items():
        assert table.loc[factor].tolist() == pytest.approx(values, abs=0.002), factor
    assert table.index.tolist()[2:] == ["scale", "shape", "orientation", "random"]


TABLE_4_1 = {
    "mse": {
        "random": (0.43, 0.38), "shape": (0.66, 0.72), "scale": (0.93, 0.95), "orientation": (0.13, 0.17),
        "position_x": (0.66, 0.75), "position_y": (0.65, 0.75),
    },
    "mse-box": {
        "random": (0.29, 0.36), "shape": (0.66, 0.87), "scale": (0.84, 0.96), "orientation": (0.15, 0.21),
        "position_x": (0.63, 0.83), "position_y": (0.63, 0.83),
    },
}  # fmt: skip


@pytest.mark.parametrize("loss", TABLE_4_1)
def test_table_4_1_for_dsprites(loss):
    data = DSprites()
    table = correlation_table(perceived_distance(data, loss=loss), data.space, generator(), n=PAIRS)
    for factor, (linear, rank) in TABLE_4_1[loss].items():
        assert table.loc[factor, "linear"] == pytest.approx(linear, abs=0.02), factor
        assert table.loc[factor, "rank"] == pytest.approx(rank, abs=0.01), factor


TABLE_4_2 = {
    "mse": [
        (1.00, 1.00), (0.94, 0.99), (0.86, 0.95), (0.75, 0.85), (0.72, 0.85), (0.67, 0.85), (0.60, 0.85), (0.52, 0.58),
    ],
    "mse-box": [(0.98, 0.99), *[(0.99, 0.99)] * 4, (0.98, 0.98), (0.97, 0.98), (0.96, 0.97)],
}  # fmt: skip


@pytest.mark.parametrize("loss", TABLE_4_2)
@pytest.mark.parametrize("spacing", range(1, 9))
def test_table_4_2(spacing, loss):
    """Not sampled but enumerated: along x, a pair's distance depends on its two positions and on the square's row.

    The other channels cancel, and the mean over channels only scales the distance, so one square shows all three.
    """
    data = XYSquares(spacing, squares=1)
    first, second, row = torch.cartesian_prod(*[torch.arange(8)] * 3).T
    pairs = [data.space.index(torch.stack([x, row], 1)) for x in (first, second)]
    found = correlations(ground_truth_distance(data.space)(*pairs), perceived_distance(data, loss=loss)(*pairs))
    assert found == pytest.approx(TABLE_4_2[loss][spacing - 1], abs=0.01)


TABLE_6_1 = {"mse": (0.55, 0.36), "mse-gaussian": (0.73, 0.61), "mse-box": (0.95, 0.94)}


@pytest.mark.parametrize("loss", TABLE_6_1)
def test_table_6_1_random_pairs(loss):
    data = XYSquares()
    pairs = random_pairs(data.space, PAIRS, generator(), batch_size=32)
    found = correlations(ground_truth_distance(data.space)(*pairs), perceived_distance(data, loss=loss)(*pairs))
    assert found == pytest.approx(TABLE_6_1[loss], abs=0.01)


def test_table_6_1_gaussian_blur_along_factors():
    data = XYSquares()
    table = correlation_table(perceived_distance(data, loss="mse-gaussian"), data.space, generator(), n=20_000)
    assert table.loc["x_R"].tolist() == pytest.approx([0.84, 0.88], abs=0.02)
