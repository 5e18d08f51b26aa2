"""Claims about symmetries: analogies by parallelograms, and manifolds that are split into their factors."""

import math

import numpy as np

from course_lib.theory import ManifoldSplit, connection_laplacian, split_manifold
from course_replication.runs import Context

SPLIT = 15  # degrees by which found axes may miss the factor they are in
CLOSE, ZERO = 1e-12, 1e-6
# Dimensions of spheres that are multiplied, and how many points of the product are drawn.
KERNELS = (((2, 2), 250), ((3, 2), 300), ((2, 2, 2), 500), ((2, 3, 2), 500), ((2, 2, 2, 2), 500))
FIVE = 5  # factors, up to which the review says that they are separated
# Dimensions of the spheres that are multiplied, neighbours of each point, and γ, between eigenvalues near 0 and others.
MANIFOLDS = {
    "spheres": ((2, 2), 16, 0.5), "sphere-circle": ((2, 1), 12, 0.15), "torus": ((1, 1), 10, 0.03),
    "three-sphere-circle": ((3, 1), 14, 0.3),
}  # fmt: skip


def parallelogram(context: Context) -> dict[str, bool]:
    """d = b + c − a for translations in space and for rotations, where d is c moved as b is from a.

    Of rotations there are two kinds: of one plane on top of each other, and of two planes, which are two factors. At
    five points, and by five pairs of translations and of angles.
    """
    draws = np.random.default_rng(context.seed)
    found = [_completed(draws) for _ in range(5)]
    return {name: all(each[name] for each in found) for name in found[0]} | {"settings": len(found)}


def _completed(draws: np.random.Generator) -> dict[str, bool]:
    point, first, second = draws.normal(size=(3, 4))
    angles = draws.uniform(0.5, 2.5, size=2)
    turns = [_turn(angle, plane) for angle, plane in zip(angles, ((0, 1), (2, 3)), strict=True)]
    again = _turn(angles[1], (0, 1))
    tilted = _turn(angles[1], (1, 2))  # shares an axis with the first plane
    apart = {
        "translations": _missed(point, lambda x: x + first, lambda x: x + second),
        "rotations": _missed(point, lambda x: turns[0] @ x, lambda x: again @ x),
        "factors": _missed(point, lambda x: turns[0] @ x, lambda x: turns[1] @ x),
    }
    return {
        "translations-complete": apart["translations"] < CLOSE,
        "rotations-do-not": apart["rotations"] > 0.1,
        "different-factors-commute": np.allclose(turns[0] @ turns[1], turns[1] @ turns[0], atol=CLOSE),
        "different-factors-complete": apart["factors"] < CLOSE,
        "planes-that-share-an-axis-commute": np.allclose(turns[0] @ tilted, tilted @ turns[0], atol=CLOSE),
    }


def manifolds(context: Context, num_points: int) -> dict[str, bool | float]:
    """Products of spheres and a flat torus, split by `split_manifold`; "angle" is how far axes miss their factors.

    "near-0" counts eigenvalues below γ. Where more fields than needed have the eigenvalue 0, the split depends on which
    of their combinations is taken: of the torus the angle is the worst of three.
    """
    found = {}
    for name, (dims, neighbours, gap) in MANIFOLDS.items():
        points = _product(dims, num_points, context.seed)
        splits = [
            split_manifold(points, sum(dims), gap=gap, neighbours=neighbours, count=5, seed=seed)
            for seed in range(3 if name == "torus" else 1)
        ]
        values = splits[0].eigenvalues
        found |= {f"eigenvalue-{place}/{name}": value for place, value in enumerate(values[:4], 1)}
        found[f"near-0/{name}"] = (values < gap).sum()
        found[f"angle/{name}"] = max(_angle(split, dims) for split in splits)
        found[f"factors/{name}"] = splits[0].factors.max() + 1
    products = [name for name in MANIFOLDS if name != "torus"]
    return found | {
        "product-of-spheres-is-split": all(found[f"angle/{name}"] < SPLIT for name in products),
        "flat-product-is-not": found["angle/torus"] > SPLIT,
        "one-eigenvalue-near-0-for-each-factor-but-one": all(
            found[f"near-0/{name}"] == len(MANIFOLDS[name][0]) - 1 for name in products
        ),
        "gap-above-them": all(found[f"eigenvalue-2/{name}"] > 2 * found[f"eigenvalue-1/{name}"] for name in products),
        "settings": len(products),
    }


def kernels(context: Context) -> dict[str, bool | float]:
    """Products of spheres whose tangent spaces are known: how many fields have the eigenvalue 0, and how they split.

    No factor of these has a trivial holonomy. "fields/…" counts eigenvalues that are 0 to rounding, "next/…" is the
    first that is not, "angle/…" the largest angle, in degrees, by which a factor's tangent space is missed.
    """
    found = {}
    for dims, num_points in KERNELS:
        name, points = "-".join(map(str, dims)), _product(dims, num_points, context.seed)
        truth = _planes(points, dims)
        split = _split_into(points, dims, 20, np.concatenate(truth, axis=2))
        found |= {f"fields/{name}": (abs(split.eigenvalues) < ZERO).sum(), f"next/{name}": split.eigenvalues[-1]}
        found[f"angle/{name}"] = _missed_by(split, truth) if split.factors.max() + 1 == len(dims) else 90.0
    sizes = {"-".join(map(str, dims)): len(dims) for dims, _ in KERNELS}
    return found | {
        "one-field-for-each-factor-but-one": all(found[f"fields/{name}"] == m - 1 for name, m in sizes.items()),
        "the-next-is-no-field": all(found[f"next/{name}"] > 0.1 for name in sizes),
        "split-given-tangent-spaces": all(found[f"angle/{name}"] < 1 for name in sizes),
        "settings": len(sizes),
    }


def products(context: Context, points: dict[str, list[int]], neighbours: int = 20) -> dict[str, bool | float]:
    """How many spheres of two dimensions can be multiplied so that their product is still separated.

    points : for each number of spheres, how many points are drawn, ascending. γ is put between the eigenvalues that it
    has to part, as if the number of factors were known. "angle" is the mean of the largest angle, in degrees, between a
    factor's tangent space and the one found; "chance" the same of planes at random; "given" the same where the true
    tangent spaces are given. Separated are factors whose angle, with the most points, is below half of chance.
    """
    found, separated, given = {}, {}, {}
    for name, sizes in points.items():
        spheres, dims = int(name), (2,) * int(name)
        for size in sizes:
            cloud = _product(dims, size, context.seed)
            truth = _planes(cloud, dims)
            split = _split_into(cloud, dims, neighbours)
            found[f"angle/{name}-spheres/{size}"] = angle = _missed_by(split, truth)
        found[f"chance/{name}-spheres"] = chance = _missed_by(_blind(split, truth, context.seed), truth)
        separated[spheres] = angle < chance / 2
        few = slice(sizes[0])
        known = np.concatenate(truth, axis=2)[few]
        split = _split_into(cloud[few], dims, neighbours, known)
        found[f"given/{name}-spheres"] = given[spheres] = _missed_by(split, [part[few] for part in truth])
    return found | {
        "factors/separated": max((number for number, answer in separated.items() if answer), default=1),
        "small-products-separated": all(answer for number, answer in separated.items() if number <= FIVE),
        "large-products-not": not any(answer for number, answer in separated.items() if number > FIVE),
        "all-separated-given-their-planes": max(given.values()) < 1,
        "settings": len(separated),
    }


def entries(context: Context) -> dict[str, bool | float]:
    """Non-zero entries of the Laplacian for each edge, on spheres of 2 to 10 dimensions, and their growth."""
    counts = {}
    for dim in (2, 3, 5, 10, 8):
        points = _product((dim,), 60, context.seed)
        laplacian, _ = connection_laplacian(points, dim, 12)
        edges = np.diff(laplacian.indptr).sum() - len(points)  # blocks but those of the diagonal
        side = dim * (dim + 1) // 2 - 1
        counts[dim] = (np.count_nonzero(laplacian.data) - side * len(points)) / edges
    powers = {
        (low, high): math.log(counts[high] / counts[low]) / math.log(high / low)
        for low, high in ((5, 10), (3, 5), (5, 8), (8, 10))
    }
    return {f"entries/dimension-{dim}": count for dim, count in counts.items()} | {
        "entries-grow-with-the-fourth-power": all(3.5 < power < 4.5 for power in powers.values()),
        "power-from-5-to-10": powers[5, 10],
        "settings": len(powers),
    }


def _turn(angle: float, plane: tuple[int, int]) -> np.ndarray:
    """A rotation of four-dimensional space by an angle in a coordinate plane."""
    turn = np.eye(4)
    turn[np.ix_(plane, plane)] = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
    return turn


def _missed(point, first, second) -> float:
    """How far b + c − a is from the point that both transformations lead to."""
    return float(np.linalg.norm(first(point) + second(point) - point - first(second(point))))


def _product(dims: tuple[int, ...], num_points: int, seed: int) -> np.ndarray:
    """Points evenly spread over a product of spheres of radius 1 in their own coordinates."""
    draws, parts = np.random.default_rng(seed), []
    for dim in dims:
        normal = draws.normal(size=(num_points, dim + 1))
        parts.append(normal / np.linalg.norm(normal, axis=1, keepdims=True))
    return np.concatenate(parts, axis=1)


def _split_into(points: np.ndarray, dims: tuple[int, ...], neighbours: int, tangents=None) -> ManifoldSplit:
    """The split into as many factors as there are: γ is in the middle of the eigenvalues that it has to part."""
    return split_manifold(
        points, sum(dims), gap=lambda values: values[-2:].mean(), neighbours=neighbours, count=len(dims),
        max_bytes=2**31, tangents=tangents,
    )  # fmt: skip


def _planes(points: np.ndarray, dims: tuple[int, ...]) -> list[np.ndarray]:
    """The true tangent space of each sphere at each point, an orthonormal basis (t, n, dimension)."""
    ends, found = np.cumsum([0, *(dim + 1 for dim in dims)]), []
    for low, high in zip(ends, ends[1:], strict=False):
        across = np.linalg.svd(points[:, None, low:high])[2][:, 1:]  # at a right angle to the radius
        found.append(np.zeros((*points.shape, high - low - 1)))
        found[-1][:, low:high] = across.transpose(0, 2, 1)
    return found


def _blind(split: ManifoldSplit, truth: list[np.ndarray], seed: int) -> ManifoldSplit:
    """The true tangent spaces, split at random into parts of the right dimensions."""
    basis, sizes = np.concatenate(truth, axis=2), [part.shape[2] for part in truth]
    draws = np.random.default_rng(seed).normal(size=(len(basis), basis.shape[2], basis.shape[2]))
    factors = np.tile(np.repeat(np.arange(len(sizes)), sizes), (len(basis), 1))
    return split._replace(axes=basis @ np.linalg.qr(draws)[0], factors=factors)


def _missed_by(split: ManifoldSplit, truth: list[np.ndarray]) -> float:
    """The mean over points and factors of the largest angle to the true tangent space, in degrees."""
    return float(np.degrees(split.angles(truth)).mean())


def _angle(split, dims: tuple[int, ...]) -> float:
    """The mean angle in degrees between a found axis and the coordinates of the factor it is nearest to."""
    ends = np.cumsum([0, *(dim + 1 for dim in dims)])
    shares = np.stack([(split.axes[:, low:high] ** 2).sum(1) for low, high in zip(ends, ends[1:], strict=False)])
    return float(np.degrees(np.arccos(np.sqrt(shares.max(0).clip(max=1)))).mean())
