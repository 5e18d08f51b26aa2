"""The thesis' tables on XYSquares that need no training: 4.2 and 6.1, enumerated or sampled."""

import pytest
import torch

from course_lib.data import XYSquares
from course_lib.distances import correlation_table, correlations, ground_truth_distance, perceived_distance
from course_lib.sampling import random_pairs

PAIRS = 200_000


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


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
