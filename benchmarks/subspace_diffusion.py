"""Memory, time and errors of GeoManCEr: python benchmarks/subspace_diffusion.py

First the connection Laplacian as the dimension k grows: the size of the matrix, the most that was held while it was
made, and seconds. Then products of spheres: the mean over points and factors of the largest principal angle between the
true tangent space of a factor and the one found, in radians, and that of random axes.
"""

import argparse
import time
import tracemalloc

import numpy as np

from course_lib.theory import connection_laplacian, split_manifold

MANIFOLDS = {  # name → dimensions of the spheres, points, neighbours, gap
    "S²×S¹": ((2, 1), 1000, 20, 0.15),
    "S²×S²": ((2, 2), 2000, 30, 0.8),
    "S²×S²×S¹": ((2, 2, 1), 3000, 20, 1.7),
    "T²": ((1, 1), 1000, 10, 0.05),
}


def spheres(dims, num_points: int, seed: int = 0) -> tuple[np.ndarray, list[np.ndarray]]:
    """Points of a product of unit spheres, and the tangent space of each factor."""
    draws, ends = np.random.default_rng(seed), np.cumsum([0, *(dim + 1 for dim in dims)])
    points, tangents = np.empty((num_points, ends[-1])), []
    for dim, low, high in zip(dims, ends, ends[1:], strict=False):
        normal = draws.normal(size=(num_points, dim + 1))
        points[:, low:high] = part = normal / np.linalg.norm(normal, axis=1, keepdims=True)
        basis = np.zeros((num_points, ends[-1], dim))
        basis[:, low:high] = np.linalg.svd(np.eye(dim + 1) - part[:, :, None] * part[:, None])[0][..., :dim]
        tangents.append(basis)
    return points, tangents


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dims", type=int, nargs="*", default=[2, 4, 6, 8, 10])
    parser.add_argument("--manifold", nargs="*", choices=list(MANIFOLDS), default=list(MANIFOLDS))
    arguments = parser.parse_args()
    for dim in arguments.dims:
        points, _ = spheres((dim,), 1000)
        started = time.perf_counter()
        connection_laplacian(points, dim, max_bytes=2**40)
        seconds = time.perf_counter() - started
        tracemalloc.start()
        laplacian, _ = connection_laplacian(points, dim, max_bytes=2**40)
        size, (_, peak) = laplacian.data.nbytes, tracemalloc.get_traced_memory()
        tracemalloc.stop()
        print(f"k = {dim}, 1000 points: {size / 1e6:.1f} MB, peak {peak / 1e6:.0f} MB, {seconds:.2f} s", flush=True)
        del laplacian
    for name in arguments.manifold:
        dims, num_points, neighbours, gap = MANIFOLDS[name]
        points, tangents = spheres(dims, num_points)
        started = time.perf_counter()
        split = split_manifold(points, sum(dims), gap=gap, neighbours=neighbours)
        seconds = time.perf_counter() - started
        turn = np.linalg.qr(np.random.default_rng(1).normal(size=(num_points, sum(dims), sum(dims))))[0]
        random = split._replace(axes=split.axes @ turn).angles(tangents).mean()
        flat = f"{'flat' if split.is_flat else 'not flat'} (residual {split.residual:.2f})"
        error = split.angles(tangents).mean()
        print(
            f"{name}, {num_points} points: {error:.2f} rad (random {random:.2f}), {flat}, {seconds:.1f} s", flush=True
        )


if __name__ == "__main__":
    main()
