"""GeoManCEr at the size at which its directions are good: some seconds."""

import numpy as np

from course_lib.theory import split_manifold


def test_two_spheres_are_told_apart_to_three_tenths_of_a_radian():
    """2,000 points of S²×S² with 30 neighbours; an axis at random misses its sphere by more than a radian."""
    draws, points, truth = np.random.default_rng(0), [], []
    for place in range(2):
        normal = draws.normal(size=(2000, 3))
        points.append(normal / np.linalg.norm(normal, axis=1, keepdims=True))
        tangents = np.zeros((2000, 6, 2))
        tangents[:, 3 * place : 3 * place + 3] = np.linalg.svd(points[-1][:, :, None])[0][:, :, 1:]
        truth.append(tangents)
    split = split_manifold(np.concatenate(points, 1), 4, gap=0.8, neighbours=30)
    assert split.fields == 1 and not split.is_flat
    assert np.bincount(split.factors.ravel()).tolist() == [4000, 4000]
    assert split.angles(truth).mean() < 0.3
    mixed = split._replace(axes=split.axes @ np.linalg.qr(draws.normal(size=(2000, 4, 4)))[0])
    assert mixed.angles(truth).mean() > 1.0
