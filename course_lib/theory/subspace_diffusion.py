"""Splitting a manifold into its factors by diffusing subspaces of its tangent spaces: GeoManCEr."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import bsr_matrix, csr_matrix
from scipy.sparse.linalg import eigsh
from scipy.spatial import cKDTree

from course_lib.arguments import check_integers, check_numbers, check_seed, float_array

SIMILAR = 0.5  # cosine from which two axes of a tangent space belong to one factor


class ManifoldSplit(NamedTuple):
    """What `split_manifold` found at each of t points of a manifold of dimension k in n coordinates.

    eigenvalues : the lowest of the connection Laplacian, ascending, (count,).
    axes : an orthonormal basis of each tangent space, (t, n, k), each axis within one factor.
    factors : which factor each axis belongs to, from 0, int64 (t, k); numbered anew at each point.

    Chapter 12.
    """

    eigenvalues: np.ndarray
    axes: np.ndarray
    factors: np.ndarray


def split_manifold(
    points, dim: int, *, gap: float, neighbours: int = 12, count: int = 6, seed: int = 0
) -> ManifoldSplit:
    """Split the tangent spaces of a product manifold into those of its factors, without labels.

    A projection onto the tangent space of one factor does not change when it is carried around: it has the eigenvalue 0
    of the Laplacian of such carrying. Of m factors m − 1 such fields are left when multiples of the identity, which
    split nothing, are taken out. On a flat manifold every symmetric field is one of them, and the split is arbitrary.

    points : (t, n), evenly spread over the manifold, in coordinates whose distances are its own.
    dim : k, its dimension. neighbours : of each point in the graph. gap : γ, the eigenvalue below which a field counts.
    count : how many eigenvalues are computed. seed : of the first vector of the eigenvalue search.

    Raises ValueError for unusable arguments, and when no eigenvalue or all `count` of them lie below `gap`.

    Source: Pfau, Higgins, Botev and Racanière, Disentangling by subspace diffusion, 2020, Algorithm 1; Ottlik et al.
    2022, Section 3. Where they diagonalise all matrices of a point together (FFDIAG), here one random combination of
    them is: matrices with the same eigenvectors have those of their combination. Chapter 12.
    """
    (gap,) = check_numbers(0, above=True, gap=gap)
    laplacian, tangents = connection_laplacian(points, dim, neighbours)
    basis, draws = symmetric_basis(dim), np.random.default_rng(check_seed(seed))
    check_integers(1, count=count)
    if count >= laplacian.shape[0]:
        raise ValueError(f"count: got {count}; allowed are fewer eigenvalues than the {laplacian.shape[0]} there are.")
    start = draws.normal(size=laplacian.shape[0])
    # to the last digit: a search that ends sooner misses the second of two equal eigenvalues
    values, vectors = eigsh(laplacian, k=count, which="SA", tol=0, ncv=max(40, 2 * count + 1), v0=start)
    order = np.argsort(values)
    values, below = values[order], int((values < gap).sum())
    if not 0 < below < count:
        raise ValueError(f"gap: got {gap}; allowed are numbers that part the eigenvalues {values.round(3).tolist()}.")
    fields = vectors[:, order[:below]].reshape(len(tangents), len(basis), below)
    matrices = np.einsum("tdr,dkl->trkl", fields, basis)
    rotations = np.linalg.eigh(np.einsum("trkl,r->tkl", matrices, draws.normal(size=below)))[1]
    entries = np.einsum("tka,trkl,tla->tar", rotations, matrices, rotations)  # the diagonals, axis by axis
    return ManifoldSplit(values, tangents @ rotations, cluster_axes(entries))


def connection_laplacian(points, dim: int, neighbours: int = 12) -> tuple[bsr_matrix, np.ndarray]:
    """The second-order graph connection Laplacian on symmetric matrices of trace 0, and the tangent spaces.

    Each edge has a block d × d and each point one on the diagonal, d = k (k + 1)/2 − 1. Returns it as a sparse matrix
    (t·d, t·d), and orthonormal bases of the tangent spaces, (t, n, k), from the differences to a point's neighbours.
    Chapter 12.
    """
    points = float_array(points, "points")
    dim, neighbours = check_integers(2, dim=dim, neighbours=neighbours)
    if not np.isfinite(points).all():
        raise ValueError("points: got NaN or infinite numbers; allowed are finite ones.")
    if points.ndim != 2 or points.shape[1] < dim or len(points) <= neighbours or neighbours < dim:
        raise ValueError(
            f"points: got shape {points.shape} for dim {dim} and {neighbours} neighbours; allowed are more points than "
            "neighbours, at least as many neighbours as dim, and at least as many coordinates."
        )
    graph = _graph(points, neighbours)
    first, second, degrees = (
        np.repeat(np.arange(len(points)), np.diff(graph.indptr)),
        graph.indices,
        np.diff(graph.indptr),
    )
    tangents = _tangents(points, graph, dim)
    left, _, right = np.linalg.svd(np.einsum("enk,enl->ekl", tangents[first], tangents[second]))
    carried = left @ right  # Q: from the tangent space of the second point to that of the first
    basis = symmetric_basis(dim)
    moved = np.einsum("ekl,blm,enm->ebkn", carried, basis, carried, optimize=True)
    blocks = -np.einsum("akn,ebkn->eab", basis, moved, optimize=True)
    blocks = np.concatenate([blocks, degrees[:, None, None] * np.eye(len(basis))])
    place = np.arange(len(points))
    rows, columns = np.concatenate([first, place]), np.concatenate([second, place])
    order = np.lexsort((columns, rows))
    starts = np.concatenate([[0], np.cumsum(degrees + 1)])
    side = len(points) * len(basis)
    return bsr_matrix((blocks[order], columns[order], starts), shape=(side, side)), tangents


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


def cluster_axes(entries: np.ndarray) -> np.ndarray:
    """Axes whose entries (t, k, r) point in like directions, numbered at each point: int64 (t, k).

    An axis joins the first cluster that has an axis like it, which is enough where clusters are well apart.
    """
    unit = entries / np.linalg.norm(entries, axis=2, keepdims=True)
    like = np.einsum("tar,tbr->tab", unit, unit) > SIMILAR
    labels = like.argmax(2)  # the first axis that is like it
    return np.stack([np.unique(row, return_inverse=True)[1] for row in labels])
