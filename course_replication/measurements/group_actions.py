"""Claims about symmetries: the definition of a disentangled representation by them, and random walks as diffusions."""

import numpy as np

from course_replication.runs import Context

GROUPS = ((2, 3), (4, 4), (3, 1), (2, 3, 4), (5, 2))  # cyclic groups, one for each factor; (3, 1) has a trivial one
TIMES = (0.25, 0.5, 1.0)


def definition(context: Context) -> dict[str, bool | float]:
    """Definition 1.1 for maps of worlds that products of cyclic groups shift, tried on every element and every world.

    The worlds are the tuples of the groups' elements. An action on the representation exists if the map sends worlds
    that are sent alike to where they are sent alike again; a part is invariant if only its own group moves it.
    """
    verdicts: dict[str, list[bool]] = {}
    for sizes in GROUPS:
        worlds = np.stack(np.unravel_index(np.arange(np.prod(sizes)), sizes), axis=1)
        maps = {
            "factors": worlds,
            "relabelled": (worlds * (np.array(sizes) - 1) + 1) % sizes,  # turned around, and begun elsewhere
            "mixed": np.column_stack([worlds.sum(1) % np.lcm.reduce(sizes), worlds[:, 1:]]),
            "one-lost": np.column_stack([worlds[:, :1], 0 * worlds[:, 1:]]),
            "constant": 0 * worlds,
            "halved": np.column_stack([worlds[:, :1] // 2, worlds[:, 1:]]),
        }
        for name, codes in maps.items():
            verdicts.setdefault(name, []).append(_disentangled(worlds, codes, sizes))
    return {
        "factors-and-their-relabelling-are-disentangled": all(verdicts["factors"] + verdicts["relabelled"]),
        "mixtures-are-not": not any(
            verdict for verdict, sizes in zip(verdicts["mixed"], GROUPS, strict=True) if 1 not in sizes
        ),
        "maps-that-no-action-follows-are-not": not any(
            verdict for verdict, sizes in zip(verdicts["halved"], GROUPS, strict=True) if sizes[0] > 2
        ),
        "a-constant-is-disentangled-too": all(verdicts["constant"]),
        "so-is-a-code-that-lost-factors": all(verdicts["one-lost"]),
        "settings": min(
            sum(1 not in sizes for sizes in GROUPS), sum(sizes[0] > 2 for sizes in GROUPS), len(verdicts["factors"])
        ),
    } | {f"share-disentangled/{name}": float(np.mean(values)) for name, values in verdicts.items()}


def diffusion(context: Context, num_walkers: int) -> dict[str, bool | float]:
    """Random walks with ever smaller steps, against the heat equation, by eigenfunctions of the Laplacian.

    On a circle, exactly: a step to either neighbour among n places multiplies the k-th wave by cos(2πk/n), the equation
    by exp(−k² τ t). On a sphere and on its product with a circle by walkers: cosines from the start fall like
    exp(−2 τ t), the second Legendre polynomial like exp(−6 τ t), and a product of eigenfunctions like the product.
    """
    circle, found = [], {}
    for places in (12, 48, 192):
        length = 2 * np.pi / places
        steps = round(2 * 0.5 / length**2)  # a step's variance is 2 τ dt, and τ t = 0.5
        waves = np.arange(1, 4)
        circle.append(
            np.abs(np.cos(2 * np.pi * waves / places) ** steps - np.exp(-(waves**2) * steps * length**2 / 2)).max()
        )
    draws, off = np.random.default_rng(context.seed), []
    for time in TIMES:
        heights, angles = _walk(draws, num_walkers, time)
        legendre = (3 * heights**2 - 1) / 2
        for name, values, rate in (
            ("first", heights, 2.0),
            ("second", legendre, 6.0),
            ("product", heights * np.cos(angles), 3.0),
        ):
            found[f"mean/{name}/{time:g}"] = values.mean()
            off.append(abs(values.mean() - np.exp(-rate * time)) / (values.std() / num_walkers**0.5))
    return found | {
        "walks-on-a-circle-come-nearer": circle[0] > circle[1] > circle[2],
        "heat-equation-in-the-limit-on-a-circle": circle[2] < 1e-3,
        "heat-equation-on-a-sphere-and-a-product": max(off) < 5,
        "largest-difference-on-the-circle": circle[2],
        "largest-difference-in-standard-errors": max(off),
        "settings": min(len(circle), len(TIMES)),
    }


def _disentangled(worlds: np.ndarray, codes: np.ndarray, sizes: tuple[int, ...]) -> bool:
    """Whether the code's columns, one for each group, satisfy (i) to (iii) of the definition."""
    for group, size in enumerate(sizes):
        for shift in range(size):
            moved = worlds.copy()
            moved[:, group] = (moved[:, group] + shift) % size
            after = codes[np.ravel_multi_index(moved.T, sizes)]
            if not _is_map(codes, after):  # (i) and (ii): g · f(w) = f(g · w) defines where a code is sent
                return False
            others = [place for place in range(len(sizes)) if place != group]
            if (codes[:, others] != after[:, others]).any():  # (iii)
                return False
            if not _is_map(codes[:, [group]], after[:, [group]]):
                return False
    return True


def _is_map(before: np.ndarray, after: np.ndarray) -> bool:
    """Whether equal rows of the first are equal in the second: then there is a map from the one to the other."""
    pairs = np.unique(np.column_stack([before, after]), axis=0)
    return len(pairs) == len(np.unique(before, axis=0))


def _walk(draws: np.random.Generator, num_walkers: int, time: float, steps: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Walkers from the pole of a sphere and from angle 0 of a circle: heights, (n,), and angles, (n,), at that time.

    Each step goes along a great circle in a random direction; its squared length is 4 τ dt in the mean, as the sphere
    has two dimensions, and 2 τ dt on the circle.
    """
    points = np.tile([0.0, 0.0, 1.0], (num_walkers, 1))
    length = (4 * time / steps) ** 0.5
    for _ in range(steps):
        tangent = draws.normal(size=points.shape)
        tangent -= (tangent * points).sum(1, keepdims=True) * points
        tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
        points = np.cos(length) * points + np.sin(length) * tangent
    angles = (2 * time / steps) ** 0.5 * draws.choice([-1.0, 1.0], size=(num_walkers, steps)).sum(1)
    return points[:, 2], angles
