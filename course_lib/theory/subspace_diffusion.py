"""Splitting a manifold into its factors by diffusing subspaces of its tangent spaces: GeoManCEr."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import bsr_matrix, csr_matrix
from scipy.sparse.linalg import eigsh
from scipy.spatial import cKDTree

from course_lib.arguments import check_integers, check_numbers, check_seed, float_array

SIMILAR = 0.5  # cosine from which two axes of a tangent space belong to one factor
FLAT = 0.25  # residual above which fields do not commute: about ½ on a flat torus, .02 on a product of three spheres
CHUNK = 2048  # edges whose blocks are computed at a time
SWEEPS = 10  # of the joint diagonalisation, which converges quadratically


class ManifoldSplit(NamedTuple):
    """What `split_manifold` found at each of t points of a manifold of dimension k in n coordinates.

    eigenvalues : the lowest of the connection Laplacian, ascending, (count,).
    axes : an orthonormal basis of each tangent space, (t, n, k), each axis within one factor.
    factors : which factor each axis belongs to, from 0, int64 (t, k); a number means the same factor at all points.
    fields : how many eigenvalues lie below the gap.
    residual : how far the fields are from being diagonal in one basis: the share of their squares that is off the
        diagonal, a mean over points, 0 with one field.

    Chapter 12.
    """

    eigenvalues: np.ndarray
    axes: np.ndarray
    factors: np.ndarray
    fields: int = 0
    residual: float = 0.0

    @property
    def is_flat(self) -> bool:
        """Whether the manifold seems to have a flat factor of two or more dimensions, whose split is arbitrary.

        Of m factors there are m − 1 fields, diagonal in one basis. A flat factor has more, as every symmetric matrix is
        carried around unchanged, and they do not commute: there are as many fields as factors at a point or more, or
        the residual is above a quarter. Then `axes` depend on the seed there.
        """
        numbers = np.sort(self.factors, axis=1)
        found = 1 + (np.diff(numbers, axis=1) > 0).sum(1)
        return self.residual > FLAT or bool(np.median(found) <= self.fields)

    def directions(self, place: int, factor: int) -> np.ndarray:
        """An orthonormal basis of the tangent space of one factor at one point: (n, its dimension)."""
        return self.axes[place][:, self.factors[place] == factor]

    def angles(self, truth: Sequence[np.ndarray]) -> np.ndarray:
        """The largest principal angle between each true factor's tangent space and the one found, in radians: (t, m).

        truth : an orthonormal basis (t, n, k_j) for each of m factors. Found factors are matched to them so that the
        mean angle is least; where a found one has another dimension, or there is none, the angle is π/2. Raises
        ValueError when a basis has another number of points or coordinates.
        """
        truth = [float_array(basis, "truth") for basis in truth]
        if not truth or any(basis.ndim != 3 or basis.shape[:2] != self.axes.shape[:2] for basis in truth):
            shape = f"({self.axes.shape[0]}, {self.axes.shape[1]}, dimension)"
            raise ValueError(f"truth: got {[basis.shape for basis in truth]}; allowed are bases {shape}, at least one.")
        found = [self._angles_to(basis, factor) for factor in range(self.factors.max() + 1) for basis in truth]
        found = np.stack(found, 1).reshape(len(self.axes), -1, len(truth))
        result = np.full((len(self.axes), len(truth)), np.pi / 2)
        rows, columns = linear_sum_assignment(found.mean(0))
        result[:, columns] = found[:, rows, columns]
        return result

    def _angles_to(self, basis: np.ndarray, factor: int) -> np.ndarray:
        chosen = self.factors == factor
        cosines = np.linalg.svd((self.axes * chosen[:, None]).transpose(0, 2, 1) @ basis, compute_uv=False).min(1)
        return np.where(chosen.sum(1) == basis.shape[2], np.arccos(cosines.clip(max=1)), np.pi / 2)


def split_manifold(
    points, dim: int, *, gap: float | Callable[[np.ndarray], float], neighbours: int = 12, count: int = 6,
    seed: int = 0, max_bytes: int = 2**30, tangents=None,
) -> ManifoldSplit:  # fmt: skip
    """Split the tangent spaces of a product manifold into those of its factors, without labels.

    A projection onto the tangent space of one factor does not change when it is carried around: it has the eigenvalue 0
    of the Laplacian of such carrying. Of m factors m − 1 such fields are left when multiples of the identity, which
    split nothing, are taken out. On a flat manifold every symmetric field is one of them, and the split is arbitrary:
    see `ManifoldSplit.is_flat`.

    points : (t, n), evenly spread over the manifold, in coordinates whose distances are its own.
    dim : k, its dimension. neighbours : of each point in the graph.
    gap : γ, the eigenvalue below which a field counts, or a function that gets the eigenvalues (count,), ascending, and
        returns it.
    count : how many eigenvalues are computed. seed : of the first vector of the eigenvalue search.
    max_bytes, tangents : as in `connection_laplacian`, which grows like k⁴.

    Raises ValueError for unusable arguments, and when no eigenvalue or all `count` of them lie below `gap`.

    Source: Pfau, Higgins, Botev and Racanière, Disentangling by subspace diffusion, 2020, Algorithm 1; Ottlik et al.
    2022, Section 3. Where they diagonalise all matrices of a point together by FFDIAG, here it is by Jacobi rotations,
    after Cardoso and Souloumiac 1996. Chapter 12.
    """
    if not callable(gap):
        (gap,) = check_numbers(0, above=True, gap=gap)
    check_integers(1, count=count)
    laplacian, tangents = connection_laplacian(points, dim, neighbours, max_bytes, tangents)
    basis, draws = symmetric_basis(dim), np.random.default_rng(check_seed(seed))
    if count >= laplacian.shape[0]:
        raise ValueError(f"count: got {count}; allowed are fewer eigenvalues than the {laplacian.shape[0]} there are.")
    start = draws.normal(size=laplacian.shape[0])
    # to the last digit: a search that ends sooner misses the second of two equal eigenvalues
    values, vectors = eigsh(laplacian, k=count, which="SA", tol=0, ncv=max(40, 2 * count + 1), v0=start)
    order = np.argsort(values)
    values = values[order]
    gap = gap(values) if callable(gap) else gap
    below = int((values < gap).sum())
    if not 0 < below < count:
        raise ValueError(f"gap: got {gap}; allowed are numbers that part the eigenvalues {values.round(3).tolist()}.")
    fields = vectors[:, order[:below]].reshape(len(tangents), len(basis), below)
    matrices = np.einsum("tdr,dkl->trkl", fields, basis)
    combined = np.einsum("trkl,r->tkl", matrices, draws.normal(size=below))  # whose eigenvectors are near those of all
    rotations, diagonal = diagonalise_together(matrices, np.linalg.eigh(combined)[1])
    entries = np.einsum("traa->tar", diagonal)  # axis by axis
    residual = 1 - np.square(entries).sum((1, 2)) / np.square(diagonal).sum((1, 2, 3))
    return ManifoldSplit(values, tangents @ rotations, cluster_axes(entries), below, float(residual.mean().clip(0)))


def connection_laplacian(
    points, dim: int, neighbours: int = 12, max_bytes: int = 2**30, tangents=None
) -> tuple[bsr_matrix, np.ndarray]:
    """The second-order graph connection Laplacian on symmetric matrices of trace 0, and the tangent spaces.

    Each edge has a block d × d and each point one on the diagonal, d = k (k + 1)/2 − 1. Returns it as a sparse matrix
    (t·d, t·d), and orthonormal bases of the tangent spaces, (t, n, k), from the differences to a point's neighbours.

    tangents : those bases, (t, n, k), where they are known. Of a product that separates its factors' coordinates the
        projections onto the factors then have the eigenvalue 0 itself, however few the points: see chapter 12.

    max_bytes : of the matrix, 1 GiB by default. A larger one is refused before it is made. Most of what is held while a
        large one is made is itself: with 1,000 points and 12 neighbours, k of 2, 4, 6, 8 and 10 took 0.5, 9.5, 47, 145
        and 345 MB, and 532 MB at the peak of the last (benchmarks/subspace_diffusion.py).

    Chapter 12.
    """
    points = float_array(points, "points")
    dim, neighbours, max_bytes = check_integers(2, dim=dim, neighbours=neighbours, max_bytes=max_bytes)
    if not np.isfinite(points).all():
        raise ValueError("points: got NaN or infinite numbers; allowed are finite ones.")
    if points.ndim != 2 or points.shape[1] < dim or len(points) <= neighbours or neighbours < dim:
        raise ValueError(
            f"points: got shape {points.shape} for dim {dim} and {neighbours} neighbours; allowed are more points than "
            "neighbours, at least as many neighbours as dim, and at least as many coordinates."
        )
    graph = _graph(points, neighbours)
    degrees, basis, place = np.diff(graph.indptr), symmetric_basis(dim), np.arange(len(points))
    _check_bytes(8 * (graph.nnz + len(points)) * len(basis) ** 2, dim, max_bytes)
    first, second = np.repeat(place, degrees), graph.indices
    rows, columns = np.concatenate([first, place]), np.concatenate([second, place])
    order = np.lexsort((columns, rows))
    blocks, target = np.empty((len(order), len(basis), len(basis))), order.argsort()
    tangents = _tangents(points, graph, dim) if tangents is None else _check_tangents(tangents, points, dim)
    for start in range(0, len(first), CHUNK):
        chunk = slice(start, start + CHUNK)
        blocks[target[: -len(points)][chunk]] = -_carried(tangents[first[chunk]], tangents[second[chunk]], basis)
    blocks[target[-len(points) :]] = degrees[:, None, None] * np.eye(len(basis))
    starts = np.concatenate([[0], np.cumsum(degrees + 1)])
    return bsr_matrix((blocks, columns[order], starts), shape=(len(points) * len(basis),) * 2), tangents


def _carried(here: np.ndarray, there: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """What carrying from tangent spaces `there` to those `here` does to symmetric matrices: (e, d, d), in `basis`."""
    left, _, right = np.linalg.svd(here.transpose(0, 2, 1) @ there)
    turn = (left @ right)[:, None]  # Q
    moved = turn @ basis @ turn.transpose(0, 1, 3, 2)
    flat = basis.reshape(len(basis), -1)
    return flat @ moved.reshape(len(moved), len(basis), -1).transpose(0, 2, 1)


def _check_bytes(size: int, dim: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise ValueError(
            f"max_bytes: got {max_bytes}, but the Laplacian would take {size} ({size / 1e9:.1f} GB); allowed are "
            f"larger numbers, where there is the memory. It grows like the fourth power of dim, here {dim}, and like "
            "points times neighbours."
        )


def symmetric_basis(dim: int) -> np.ndarray:
    """An orthonormal basis of the symmetric matrices of trace 0: (k (k + 1)/2 − 1, k, k)."""
    basis = []
    for row in range(dim):
        for column in range(row):
            matrix = np.zeros((dim, dim))
            matrix[row, column] = matrix[column, row] = 0.5**0.5
            basis.append(matrix)
    for row in range(1, dim):
        basis.append(np.diag([1.0] * row + [-row] + [0.0] * (dim - row - 1)) / (row * (row + 1)) ** 0.5)
    return np.array(basis)


def _graph(points: np.ndarray, neighbours: int) -> csr_matrix:
    """Which points are joined: two of which one is among the other's nearest."""
    nearest = cKDTree(points).query(points, neighbours + 1)[1][:, 1:]
    rows = np.repeat(np.arange(len(points)), neighbours)
    graph = csr_matrix((np.ones(nearest.size), (rows, nearest.ravel())), (len(points),) * 2)
    return (graph + graph.T).tocsr()


def _tangents(points: np.ndarray, graph: csr_matrix, dim: int) -> np.ndarray:
    tangents = np.empty((*points.shape, dim))
    for place, point in enumerate(points):
        near = points[graph.indices[graph.indptr[place] : graph.indptr[place + 1]]] - point
        tangents[place] = np.linalg.svd(near, full_matrices=False)[2][:dim].T
    return tangents


def _check_tangents(tangents, points: np.ndarray, dim: int) -> np.ndarray:
    tangents = float_array(tangents, "tangents")
    if tangents.shape != (*points.shape, dim):
        raise ValueError(f"tangents: got shape {tangents.shape}; allowed are bases of shape {(*points.shape, dim)}.")
    if not np.allclose(tangents.transpose(0, 2, 1) @ tangents, np.eye(dim), atol=1e-6):
        raise ValueError("tangents: got vectors that are not orthonormal; allowed are orthonormal bases.")
    return tangents


def diagonalise_together(matrices: np.ndarray, rotations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotations W (t, k, k) with which all Wᵀ M_r W of a point are as near to diagonal as can be, and those products.

    matrices : symmetric, (t, r, k, k). rotations : to start from. Each step turns two axes by the angle that is best
    for them, unless none is better than another, as for the fields of a flat torus.
    """
    rotations, turned = rotations.copy(), np.einsum("tka,trkl,tlb->trab", rotations, matrices, rotations)
    noise = 1e-9 * np.square(turned).sum((1, 2, 3))
    for _ in range(SWEEPS):
        for pair in zip(*np.triu_indices(turned.shape[-1], 1), strict=True):
            on, off = turned[:, :, pair[0], pair[0]] - turned[:, :, pair[1], pair[1]], 2 * turned[:, :, *pair]
            sine, cosine = 2 * (on * off).sum(1), np.square(on).sum(1) - np.square(off).sum(1)
            angle = np.where(np.hypot(sine, cosine) > noise, 0.25 * np.arctan2(sine, cosine), 0.0)
            turn = np.stack([np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)], 1).reshape(-1, 2, 2)
            rotations[:, :, pair] = rotations[:, :, pair] @ turn
            turned[..., pair] = turned[..., pair] @ turn[:, None]
            turned[:, :, pair] = turn.transpose(0, 2, 1)[:, None] @ turned[:, :, pair]
    return rotations, turned


def cluster_axes(entries: np.ndarray) -> np.ndarray:
    """Axes whose entries (t, k, r) point in like directions, over all points: int64 (t, k), numbered as they appear.

    A field has about the same entry for a factor everywhere. The longest axis that is like no centre yet begins a new
    one, the mean of those like it, up to r + 1 of them; each axis then belongs to the nearest.
    """
    flat = entries.reshape(-1, entries.shape[2])
    length = np.linalg.norm(flat, axis=1)
    unit, left, centres = flat / length[:, None], length.copy(), []
    while len(centres) <= entries.shape[2] and left.any():
        centre = unit[unit @ unit[left.argmax()] > SIMILAR].mean(0)
        centres.append(centre / np.linalg.norm(centre))
        left[(unit @ centres[-1] > SIMILAR) | (left == left.max())] = 0
    nearest = (unit @ np.array(centres).T).argmax(1)
    numbers, appearance = np.unique(nearest, return_index=True)
    renumbered = np.zeros(len(centres), dtype=np.int64)
    renumbered[numbers[appearance.argsort()]] = np.arange(len(numbers))
    return renumbered[nearest].reshape(entries.shape[:2])
