"""GeoManCEr: its Laplacian against a second construction, and splits of manifolds whose factors are known."""

import tracemalloc

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.spatial.distance import cdist

from course_lib.theory import ManifoldSplit, connection_laplacian, split_manifold, subspace_diffusion
from course_lib.theory.subspace_diffusion import cluster_axes, diagonalise_together, symmetric_basis


def spheres(*dims, n=300, seed=0):
    draws = np.random.default_rng(seed)
    parts = [draws.normal(size=(n, dim + 1)) for dim in dims]
    return np.concatenate([part / np.linalg.norm(part, axis=1, keepdims=True) for part in parts], axis=1)


def orthogonal(*shape, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=shape))[0]


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


def test_given_tangent_spaces_of_a_product_split_it_exactly_and_their_bases_do_not_matter():
    points, tangents = spheres(1, 2, n=60), np.zeros((60, 5, 3))
    tangents[:, :2, 0] = points[:, 1::-1] * [-1, 1]
    tangents[:, 2:, 1:] = np.linalg.svd(points[:, None, 2:])[2][:, 1:].transpose(0, 2, 1)
    split = split_manifold(points, 3, gap=0.01, neighbours=8, tangents=tangents)
    assert abs(split.eigenvalues[0]) < 1e-9
    assert split.angles([tangents[:, :, :1], tangents[:, :, 1:]]).max() < 1e-3
    turned = tangents @ orthogonal(60, 3, 3)
    again = split_manifold(points, 3, gap=0.01, neighbours=8, tangents=turned)
    np.testing.assert_allclose(again.eigenvalues, split.eigenvalues, atol=1e-8)
    estimated = connection_laplacian(points, 3, 8)[1]
    np.testing.assert_array_equal(connection_laplacian(points, 3, 8, tangents=estimated)[1], estimated)


def test_edges_may_be_taken_in_any_portions(monkeypatch):
    points = spheres(2, n=40)
    whole, tangents = connection_laplacian(points, 2, 5)
    monkeypatch.setattr(subspace_diffusion, "CHUNK", 7)
    parts, again = connection_laplacian(points, 2, 5)
    np.testing.assert_allclose(parts.toarray(), whole.toarray(), atol=1e-14)
    np.testing.assert_array_equal(again, tangents)


def test_a_matrix_that_is_too_large_is_refused_before_it_is_made():
    points = spheres(6, n=400)
    size = connection_laplacian(points, 6)[0].data.nbytes
    assert len(connection_laplacian(points, 6, max_bytes=size)[1]) == 400
    tracemalloc.start()
    with pytest.raises(ValueError, match=f"^max_bytes: got {size - 1}, but .* would take {size} .*fourth power of dim"):
        split_manifold(points, 6, gap=0.1, max_bytes=size - 1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    assert peak < size / 10
    connection_laplacian(points, 6)
    assert tracemalloc.get_traced_memory()[1] < 3 * size
    tracemalloc.stop()


def test_eigenvalues_that_repeat_are_all_found():
    """Of two manifolds that do not touch each is there twice; against a dense solver."""
    points = spheres(2, 1, n=120)
    twice = np.concatenate([points, points + 100])
    split = split_manifold(twice, 3, gap=0.9, neighbours=9, count=6)
    dense = np.linalg.eigvalsh(connection_laplacian(twice, 3, 9)[0].toarray())[:6]
    np.testing.assert_allclose(split.eigenvalues, dense, atol=1e-9)
    np.testing.assert_allclose(split.eigenvalues[::2], split.eigenvalues[1::2], atol=1e-9)


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
    assert torus.is_flat and torus.fields == 2 and torus.residual == pytest.approx(0.5, abs=1e-6)
    assert (torus.eigenvalues[:2] < 0.01).all() and torus.eigenvalues[2] > 0.2
    with pytest.raises(ValueError, match="^gap: got 0.1; allowed are numbers that part"):
        split_manifold(spheres(3, n=300), 3, gap=0.1)


def test_the_same_seed_gives_the_same_split():
    points = spheres(1, 1, n=200)
    first, second, other = (split_manifold(points, 2, gap=0.2, count=4, seed=seed) for seed in (0, 0, 2))
    np.testing.assert_array_equal(first.axes, second.axes)
    assert np.abs(first.axes - other.axes).max() > 0.1


def test_a_torus_times_a_sphere_is_flat_and_a_circle_times_a_sphere_is_not():
    mixed = split_manifold(spheres(1, 1, 2, n=1500), 4, gap=1.0, neighbours=16)
    assert mixed.is_flat and mixed.fields == 3  # of the torus three symmetric fields, one more, less the identity
    product = split_manifold(spheres(2, 1, n=800), 3, gap=0.2)
    assert not product.is_flat and (product.fields, product.residual) == (1, pytest.approx(0, abs=1e-12))


def test_clusters_by_direction():
    entries = np.array([[[1.0, 0.0], [0.0, 2.0], [0.1, 1.0], [3.0, 0.1]], [[0.0, 1.0]] * 2 + [[1.0, 0.1], [0.0, 0.5]]])
    assert cluster_axes(entries).tolist() == [[0, 1, 1, 0], [1, 1, 0, 1]]
    signs = np.array([[[2.0], [-1.0], [-1.0]], [[-1.1], [-0.9], [2.0]]])  # of one field
    assert cluster_axes(signs).tolist() == [[0, 1, 1], [1, 1, 0]]


def test_matrices_with_the_same_eigenvectors_become_diagonal_together():
    basis, entries = orthogonal(5, 4, 4), np.random.default_rng(1).normal(size=(5, 3, 4))
    matrices = np.einsum("tka,tra,tla->trkl", basis, entries, basis)
    rotations, diagonal = diagonalise_together(matrices, np.tile(np.eye(4), (5, 1, 1)))
    np.testing.assert_allclose(rotations.transpose(0, 2, 1) @ rotations, np.tile(np.eye(4), (5, 1, 1)), atol=1e-12)
    np.testing.assert_allclose(np.einsum("tka,trkl,tlb->trab", rotations, matrices, rotations), diagonal, atol=1e-12)
    np.testing.assert_allclose(diagonal * (1 - np.eye(4)), 0, atol=1e-10)


def test_of_matrices_without_common_eigenvectors_no_turn_leaves_less():
    noisy = np.random.default_rng(0).normal(size=(1, 2, 2, 2))
    noisy = noisy + noisy.transpose(0, 1, 3, 2)
    _, found = diagonalise_together(noisy, np.eye(2)[None])
    angles = np.linspace(0, np.pi, 2001)
    turns = np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]]).transpose(2, 0, 1)
    off = np.einsum("ak,rkl,al->ar", turns[:, :, 0], noisy[0], turns[:, :, 1]) ** 2
    assert np.square(found[0, :, 0, 1]).sum() == pytest.approx(off.sum(1).min(), rel=1e-4)


def test_angles_are_scipys_and_factors_are_matched():
    axes, other = orthogonal(3, 6, 4), orthogonal(3, 6, 4, seed=1)
    split = ManifoldSplit(np.zeros(1), axes, np.array([[0, 1, 0, 1], [1, 1, 0, 0], [0, 1, 1, 1]]))
    truth = [other[:, :, :2], axes[:, :, [0, 2]]]
    angles = split.angles(truth)
    assert split.directions(1, 0).shape == (6, 2)
    assert angles[0, 1] == pytest.approx(0, abs=1e-7)  # the first found factor, though it is listed second
    for place in (0, 1):
        expected = [subspace_angles(split.directions(place, 1 - j), truth[j][place]).max() for j in (0, 1)]
        np.testing.assert_allclose(angles[place], expected, atol=1e-7)
    np.testing.assert_allclose(angles[2], np.pi / 2)  # one axis and three, where two are right
    alone = split._replace(factors=np.zeros((3, 4), dtype=int)).angles([axes, other[:, :, :1]])
    np.testing.assert_allclose(alone, [[0, np.pi / 2]] * 3, atol=1e-7)


def test_a_gap_between_the_eigenvalues_needs_one_search():
    """A function of the eigenvalues splits as the number does that it returns, to the bit."""
    points, seen = spheres(2, 1, n=300), []

    def between(values):
        seen.append(values)
        return values[-2:].mean()

    once = split_manifold(points, 3, gap=between, count=2)
    twice = split_manifold(points, 3, gap=float(seen[0].mean()), count=2)
    for found, expected in zip(once, twice, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert len(seen) == 1 and seen[0].shape == (2,) and (np.diff(seen[0]) > 0).all()
    with pytest.raises(ValueError, match="^gap: got .*allowed are numbers that part"):
        split_manifold(points, 3, gap=lambda values: 2 * values.max())


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("points", lambda: connection_laplacian(np.zeros(5), 2)),
        ("points", lambda: connection_laplacian(np.zeros((5, 3)), 2)),
        ("points", lambda: connection_laplacian(np.zeros((50, 2)), 3)),
        ("points", lambda: connection_laplacian(np.zeros((50, 9)), 5, 4)),
        ("dim", lambda: connection_laplacian(np.zeros((50, 2)), 1)),
        ("max_bytes", lambda: connection_laplacian(np.zeros((50, 2)), 2, max_bytes="much")),
        ("tangents", lambda: connection_laplacian(np.zeros((50, 5)), 2, tangents=np.zeros((50, 5, 3)))),
        ("tangents", lambda: connection_laplacian(np.zeros((50, 5)), 2, tangents=np.ones((50, 5, 2)))),
        ("truth", lambda: ManifoldSplit(np.zeros(1), orthogonal(3, 6, 4), np.zeros((3, 4))).angles([np.eye(6)])),
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
