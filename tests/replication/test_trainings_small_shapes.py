"""3D Shapes made small: block means of the rooms that its factors name."""

import numpy as np
import pytest
import torch

from course_lib.data import Shapes3D
from course_replication.measurements.small_shapes import KEPT, SmallShapes
from course_replication.measurements.training import dataset


def test_small_shapes_are_block_means_of_the_rooms():
    small, full = dataset("SmallShapes"), Shapes3D()
    assert isinstance(small, SmallShapes) and len(small) == 14_000 and small.shape == (3, 16, 16)
    for place in (0, 17, 5000, len(small) - 1):
        values = [int(kept[k]) for kept, k in zip(KEPT, small.space.factors(torch.tensor(place)), strict=True)]
        image = full.images(full.space.index(values)).double().numpy()
        means = image.reshape(3, 16, 4, 16, 4).mean((2, 4))
        np.testing.assert_allclose(small.images(torch.tensor(place)), means, atol=0.51)


def test_its_statistics_are_those_of_its_images():
    small = SmallShapes()
    pixels = small.images(torch.arange(len(small))).numpy() / 255
    assert small.mean == pytest.approx(pixels.mean((0, 2, 3)).tolist(), abs=1e-5)
    assert small.std == pytest.approx(pixels.reshape(len(small), 3, -1).std(2, ddof=1).mean(0).tolist(), abs=1e-5)
