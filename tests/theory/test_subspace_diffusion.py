"""GeoManCEr: its Laplacian against a second construction, and splits of manifolds whose factors are known."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from course_lib.theory import connection_laplacian, split_manifold
from course_lib.theory.subspace_diffusion import cluster_axes, symmetric_basis


def spheres(*dims, n=300, seed=0):
    draws = np.random.default_rng(seed)
    parts = [draws.normal(size=(n, dim + 1)) for dim in dims]
    return np.concatenate([part / np.linalg.norm(part, axis=1, keepdims=True) for part in parts], axis=1)


def test_the_basis_is_orthonormal_symmetric_and_without_trace():
    for dim in (2, 3, 5):
        basis = symmetric_basis(dim)
        assert len(basis) == dim * (dim + 1) // 2 - 1
        np.testing.assert_allclose(np.einsum("akl,bkl->ab", basis, basis), np.eye(len(basis)), atol=1e-12)
        np.testing.assert_allclose(basis, basis.transpose(0, 2, 1))
        np.testing.assert_allclose(np.trace(basis, axis1=1, axis2=2), 0, atol=1e-12)


def test_the_laplacian_is_that_of_kronecker_products():
    """Algorithm 1 block by block: −Q ⊗ Q, projected onto symmetric matrices of trace 0."""
    points, dim, neighbours = spheres(2, n=40), 2, 5
    laplacian, tangents = connection_laplacian(points, dim, neighbours)
    dense, basis = laplacian.toarray(), symmetric_basis(dim).reshape(-1, dim * dim)
    distances = cdist(points, points)
    nearest = distances <= np.sort(distances, axis=1)[:, [neighbours]]
    joined = (nearest | nearest.T) & ~np.eye(40, dtype=bool)
    size = len(basis)
    for first in range(40):
        for second in range(40):
            block = dense[size * first : size * (first + 1), size * second : size * (second + 1)]
            if first == second:
                expected = joined[first].sum() * np.eye(size)
            else:
                left, _, right = np.linalg.svd(tangents[first].T @ tangents[second])
                carried = left @ right
                expected = -1.0 * joined[first, second] * basis @ np.kron(carried, carried) @ basis.T
            np.testing.assert_allclose(block, expected, atol=1e-12)


def test_the_laplacian_is_symmetric_and_not_negative():
    dense = connection_laplacian(spheres(2, 1, n=60), 3, 6)[0].toarray()
    np.testing.assert_allclose(dense, dense.T, atol=1e-12)
    assert np.linalg.eigvalsh(dense)[0] > -1e-9


def test_tangent_spaces_of_a_sphere_are_at_a_right_angle_to_its_points():
    points = spheres(2, n=1000)
    _, tangents = connection_laplacian(points, 2, 8)
    assert np.abs(np.einsum("tn,tnk->tk", points, tangents)).mean() < 0.1
    np.testing.assert_allclose(
        np.einsum("tnk,tnl->tkl", tangents, tangents), np.tile(np.eye(2), (1000, 1, 1)), atol=1e-12
    )


def test_a_sphere_times_a_circle_is_split_at_every_point():
    split = split_manifold(spheres(2, 1, n=800), 3, gap=0.2)
    assert split.eigenvalues[0] < 0.1 < 0.2 < split.eigenvalues[1]
    on_circle = (split.axes[:, 3:] ** 2).sum(1)  # of each axis, (t, k)
    assert (np.sort(on_circle, axis=1)[:, :2] < 0.1).mean() > 0.95 and (on_circle.max(1) > 0.9).mean() > 0.95
    alone = on_circle.argmax(1)
    others = np.array([np.delete(factors, place) for factors, place in zip(split.factors, alone, strict=True)])
    assert (others[:, 0] == others[:, 1]).mean() > 0.95
    assert (others[:, 0] != split.factors[np.arange(800), alone]).mean() > 0.95


def test_a_torus_has_two_fields_that_are_carried_around_and_a_sphere_none():
    torus = split_manifold(spheres(1, 1, n=500), 2, gap=0.1, neighbours=10, count=4)
    assert (torus.eigenvalues[:2] < 0.01).all() and torus.eigenvalues[2] > 0.2
    with pytest.raises(ValueError, match="^gap: got 0.1; allowed are numbers that part"):
        split_manifold(spheres(3, n=300), 3, gap=0.1)


def test_the_same_seed_gives_the_same_split():
    points = spheres(1, 1, n=200)
    first, second, other = (split_manifold(points, 2, gap=0.2, count=4, seed=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.axes, second.axes)
    assert np.abs(first.axes - other.axes).max() > 0.1


def test_clusters_by_direction():
    entries = np.array([[[1.0, 0.0], [0.0, 2.0], [0.1, 1.0], [3.0, 0.1]]])
    assert cluster_axes(entries).tolist() == [[0, 1, 1, 0]]


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("points", lambda: connection_laplacian(np.zeros(5), 2)),
        ("points", lambda: connection_laplacian(np.zeros((5, 3)), 2)),
        ("points", lambda: connection_laplacian(np.zeros((50, 2)), 3)),
        ("points", lambda: connection_laplacian(np.zeros((50, 9)), 5, 4)),
        ("dim", lambda: connection_laplacian(np.zeros((50, 2)), 1)),
        ("gap", lambda: split_manifold(spheres(1, 1), 2, gap=0)),
        ("count", lambda: split_manifold(spheres(1, 1), 2, gap=0.1, count=0)),
    ],
)
def test_errors_name_the_argument(argument, call):
    with pytest.raises(ValueError, match=f"^{argument}: got .*allowed"):
        call()


@pytest.mark.parametrize(
    ("points", "options", "words"),
    [
        (np.full((50, 3), np.nan), {}, "points: got NaN or infinite"),
        (np.random.default_rng(0).normal(size=(20, 3)), {"count": 1000}, "count: got 1000; allowed are fewer"),
        (np.random.default_rng(0).normal(size=(20, 3)), {"seed": -1}, "seed: got -1"),
    ],
)
def test_what_cannot_be_split_is_refused_by_name(points, options, words):
    with pytest.raises(ValueError, match=words):
        split_manifold(points, 2, gap=0.1, **options)
