"""Measurements of symmetries: each answers False when a transformation or a split is replaced by a wrong one."""

import numpy as np
import pytest
from scipy.sparse.linalg import eigsh

from course_lib.theory import ManifoldSplit, connection_laplacian, split_manifold, subspace_diffusion
from course_replication.measurements import symmetry


def fails(found, *answers):
    return all(not found[answer] for answer in answers)


def test_parallelograms(context, monkeypatch):
    found = symmetry.parallelogram(context)
    assert found["translations-complete"] and found["rotations-do-not"] and found["different-factors-commute"]
    assert found["different-factors-complete"] and not found["planes-that-share-an-axis-commute"]
    monkeypatch.setattr(symmetry, "_turn", lambda angle, plane: np.eye(4))
    assert fails(symmetry.parallelogram(context), "rotations-do-not")
    shear = np.triu(np.ones((4, 4)))
    monkeypatch.setattr(symmetry, "_turn", lambda angle, plane: shear if plane == (0, 1) else shear.T)
    assert fails(symmetry.parallelogram(context), "different-factors-commute", "different-factors-complete")
    monkeypatch.setattr(symmetry, "_missed", lambda *arguments: 0.2)
    assert fails(symmetry.parallelogram(context), "translations-complete")


def planted(values, axes_of):
    """A split with these eigenvalues, whose axes are columns of `axes_of(n)`."""

    def split(points, dim, *, gap, neighbours, count, seed=0):
        axes = np.tile(axes_of(points.shape[1])[:, :dim], (len(points), 1, 1))
        return ManifoldSplit(np.array(values), axes, np.zeros((len(points), dim), dtype=int))

    return split


def test_manifolds(context, monkeypatch):
    """With a few points, for which a sphere and a circle stand in for two spheres."""
    few = {"spheres": ((2, 1), 12, 0.2), "sphere-circle": ((1, 2), 12, 0.2), "torus": ((1, 1), 10, 0.1)}
    monkeypatch.setattr(symmetry, "MANIFOLDS", few)
    found = symmetry.manifolds(context, num_points=600)
    answers = ["product-of-spheres-is-split", "flat-product-is-not", "one-eigenvalue-near-0-for-each-factor-but-one"]
    assert all(found[answer] for answer in answers) and found["near-0/torus"] == 2
    monkeypatch.setattr(symmetry, "split_manifold", planted([0.001, 0.002, 0.003, 1.0, 1.0], np.eye))
    found = symmetry.manifolds(context, num_points=20)
    assert found["product-of-spheres-is-split"] and fails(found, *answers[1:], "gap-above-them")

    def mixed(n):
        return np.linalg.qr(np.random.default_rng(0).normal(size=(n, n)))[0]

    monkeypatch.setattr(symmetry, "split_manifold", planted([0.001, 1.0, 1.0, 1.0, 1.0], mixed))
    found = symmetry.manifolds(context, num_points=20)
    assert fails(found, "product-of-spheres-is-split") and found["gap-above-them"]


def test_entries_of_the_laplacian(context, monkeypatch):
    found = symmetry.entries(context)
    assert found["entries/dimension-3"] == 25 and found["entries-grow-with-the-fourth-power"]
    right = symmetry.connection_laplacian
    monkeypatch.setattr(symmetry, "connection_laplacian", lambda points, dim, near: right(points[:, :3], 2, near))
    assert fails(symmetry.entries(context), "entries-grow-with-the-fourth-power")


def test_products_are_judged_with_the_most_points_and_against_chance(context, monkeypatch):
    """With splits that are planted: the true one, and the true tangent spaces split by dice."""
    few = {"2": [30, 60], "5": [40], "6": [40]}

    def planted_for(right):
        def split(points, dims, neighbours, tangents=None):
            truth = symmetry._planes(points, dims)
            factors = np.tile(np.arange(len(dims)).repeat(2), (len(points), 1))
            whole = ManifoldSplit(np.zeros(1), np.concatenate(truth, 2), factors)
            return whole if tangents is not None or right(len(dims), len(points)) else symmetry._blind(whole, truth, 7)

        monkeypatch.setattr(symmetry, "_split_into", split)
        return symmetry.products(context, few)

    found = planted_for(lambda factors, points: factors <= 5 and points > 30)
    assert found["small-products-separated"] and found["large-products-not"] and found["factors/separated"] == 5
    assert found["angle/2-spheres/30"] > 50 > 1 > found["angle/2-spheres/60"] and found["settings"] == 3
    assert found["all-separated-given-their-planes"]
    found = planted_for(lambda factors, points: True)
    assert found["small-products-separated"] and not found["large-products-not"] and found["factors/separated"] == 6
    found = planted_for(lambda factors, points: points == 30)
    assert not found["small-products-separated"] and found["factors/separated"] == 1


def test_true_planes_separate_spheres_with_few_points_and_dice_do_not():
    cloud = symmetry._product((2, 2), 120, 0)
    truth = symmetry._planes(cloud, (2, 2))
    split = symmetry._split_into(cloud, (2, 2), 12, np.concatenate(truth, 2))
    assert symmetry._missed_by(split, truth) < 0.01
    np.testing.assert_allclose(np.einsum("tn,tnk->tk", cloud, truth[0]), 0, atol=1e-12)
    assert 50 < symmetry._missed_by(symmetry._blind(split, truth, 0), truth) < 80


@pytest.mark.parametrize("known", [False, True])
def test_the_laplacian_of_a_product_is_made_once(monkeypatch, known):
    """The split is that of γ found by a search of its own before, to the bit."""
    dims, built = (2, 2), []
    cloud = symmetry._product(dims, 150, 0)
    tangents = np.concatenate(symmetry._planes(cloud, dims), axis=2) if known else None
    laplacian, _ = connection_laplacian(cloud, 4, 12, 2**31, tangents)
    start = np.random.default_rng(0).normal(size=laplacian.shape[0])
    values = eigsh(laplacian, k=2, which="SA", tol=0, ncv=40, v0=start, return_eigenvectors=False)
    expected = split_manifold(cloud, 4, gap=values.mean(), neighbours=12, count=2, tangents=tangents)

    def counted(*given):
        built.append(given)
        return connection_laplacian(*given)

    monkeypatch.setattr(subspace_diffusion, "connection_laplacian", counted)
    found = symmetry._split_into(cloud, dims, 12, tangents)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert len(built) == 1


def test_kernels(context, monkeypatch):
    """Planes that are no sums of one for each factor leave no field, and a split with a field too many is none."""
    monkeypatch.setattr(symmetry, "KERNELS", (((2, 2), 120), ((2, 2, 2), 150)))
    found = symmetry.kernels(context)
    assert found["one-field-for-each-factor-but-one"] and found["the-next-is-no-field"]
    assert found["split-given-tangent-spaces"] and found["fields/2-2-2"] == 2
    planes, split = symmetry._planes, symmetry.split_manifold

    def mixed(points, dims):
        turn = np.linalg.qr(np.random.default_rng(0).normal(size=(len(points), *(points.shape[1],) * 2)))[0]
        return [turn @ part for part in planes(points, dims)]

    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(symmetry, "_planes", mixed)
        assert fails(symmetry.kernels(context), "one-field-for-each-factor-but-one", "split-given-tangent-spaces")

    def unparted(*points, **options):
        return split(*points, **options)._replace(eigenvalues=np.zeros(options["count"]))

    monkeypatch.setattr(symmetry, "split_manifold", unparted)
    assert fails(symmetry.kernels(context), "one-field-for-each-factor-but-one", "the-next-is-no-field")
