"""The thesis' tables on XYSquares that need no training: 4.2 and 6.1, of enumerated distances.

Each square has a channel of its own, so the distance of two images is the sum of what each channel adds, and that
depends on the two places of its square alone: of 8⁴ pairs of places all are measured, once for each channel.
"""

import pytest
import torch

from course_lib.data import XYSquares
from course_lib.distances import correlations, ground_truth_distance, perceived_distance
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


def along_x(spacing, loss):
    """Not sampled but enumerated: along x, a pair's distance depends on its two positions and on the square's row.

    The other channels cancel, and the mean over channels only scales the distance, so one square shows all three.
    """
    data = XYSquares(spacing, squares=1)
    first, second, row = torch.cartesian_prod(*[torch.arange(8)] * 3).T
    pairs = [data.space.index(torch.stack([x, row], 1)) for x in (first, second)]
    return correlations(ground_truth_distance(data.space)(*pairs), perceived_distance(data, loss=loss)(*pairs))


@pytest.mark.parametrize("loss", TABLE_4_2)
@pytest.mark.parametrize("spacing", range(1, 9))
def test_table_4_2(spacing, loss):
    assert along_x(spacing, loss) == pytest.approx(TABLE_4_2[loss][spacing - 1], abs=0.01)


TABLE_6_1 = {"mse": (0.55, 0.36), "mse-gaussian": (0.73, 0.61), "mse-box": (0.95, 0.94)}


def summed_over_channels(data, distance):
    """The distances of any pairs, looked up: those of all pairs of images in which one square differs, added up."""
    places = torch.cartesian_prod(*[torch.arange(8)] * 2)
    first, second = torch.cartesian_prod(*[torch.arange(64)] * 2).T
    tables = []
    for channel in (slice(0, 2), slice(2, 4), slice(4, 6)):
        factors = torch.zeros(2, 64 * 64, 6, dtype=torch.int64)
        factors[:, :, channel] = places[torch.stack([first, second])]
        tables.append(distance(*data.space.index(factors)).view(64, 64))

    def looked_up(*pairs):
        (x, y) = (data.space.factors(index).view(-1, 3, 2) @ torch.tensor([8, 1]) for index in pairs)
        return sum(table[x[:, channel], y[:, channel]] for channel, table in enumerate(tables))

    return looked_up


@pytest.mark.parametrize("loss", TABLE_6_1)
def test_table_6_1_random_pairs(loss):
    data = XYSquares()
    distance = perceived_distance(data, loss=loss)
    looked_up = summed_over_channels(data, distance)
    pairs = random_pairs(data.space, PAIRS, generator(), batch_size=32)
    assert looked_up(*pairs[:, :1000]) == pytest.approx(distance(*pairs[:, :1000]), rel=1e-5)
    found = correlations(ground_truth_distance(data.space)(*pairs), looked_up(*pairs))
    assert found == pytest.approx(TABLE_6_1[loss], abs=0.01)


def test_table_6_1_gaussian_blur_along_factors():
    assert along_x(8, "mse-gaussian") == pytest.approx((0.84, 0.88), abs=0.01)
