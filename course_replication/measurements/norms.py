"""Claims about distances: in many dimensions, between factors of unlike sizes, and the orders that they allow."""

from itertools import permutations

import numpy as np
import torch
from scipy.stats import spearmanr

from course_lib.data import XYSquares
from course_lib.distances import perceived_distance
from course_lib.factors import FactorSpace
from course_lib.sampling import factor_distance, triplets
from course_replication.runs import Context

ROUNDING = 1e-9
LAWS = ("uniform", "normal", "laplace", "student")  # of each coordinate; the last two have heavier tails
DIMS = (2, 9, 25, 100, 400)
GRIDS = {"square": (8, 8), "xysquares": (8,) * 6, "dsprites": (3, 6, 40, 32, 32)}


def contrast(context: Context, num_points: int, num_repeats: int) -> dict[str, bool | float]:
    """(farthest − nearest) / nearest of points from the origin, as Aggarwal et al. measure it, by ℓ1 and by ℓ2.

    The mean over repeats, for coordinates of four laws. In the limit the contrast falls with the root of the dimension,
    in proportion to the coefficient of variation of |x|, and by ℓ2 to half of that of x².
    """
    draws, found, limit = np.random.default_rng(context.seed), {}, {}
    for law in LAWS:
        for dim in DIMS:
            x = np.abs(_draw(draws, law, (num_repeats, num_points, dim)))
            for name, distance in {"l1": x.sum(2), "l2": np.sqrt((x**2).sum(2))}.items():
                found[f"contrast/{name}/{law}/{dim}"] = (distance.max(1) / distance.min(1) - 1).mean()
        x = np.abs(_draw(draws, law, (400_000,)))
        limit[law] = x.std() / x.mean(), 0.5 * (x**2).std() / (x**2).mean()
    many = DIMS[2:]
    higher = {
        law: all(found[f"contrast/l1/{law}/{dim}"] > found[f"contrast/l2/{law}/{dim}"] for dim in many) for law in LAWS
    }
    return found | {
        "l1-tells-more-apart": all(higher.values()),
        "l1-tells-more-apart-with-light-tails": higher["uniform"] and higher["normal"],
        "l2-tells-more-apart-with-heavy-tails": all(
            found[f"contrast/l1/laplace/{dim}"] < found[f"contrast/l2/laplace/{dim}"] for dim in many
        ),
        "contrast-falls-with-dimension": all(
            found[f"contrast/{name}/{law}/2"] > found[f"contrast/{name}/{law}/400"]
            for name in ("l1", "l2")
            for law in LAWS
        ),
        "laws-order-as-in-the-limit": all((limit[law][0] > limit[law][1]) == higher[law] for law in LAWS[:3]),
        "settings": len(higher),
    }


def aligned(context: Context, num_pairs: int) -> dict[str, bool | float]:
    """Spearman's correlation of latent with factor distances where the latents are the factors, or those turned."""
    found = {}
    for name, sizes in GRIDS.items():
        draws = np.random.default_rng(context.seed)
        first, second = draws.integers(sizes, size=(2, num_pairs, len(sizes)))
        difference = (first - second).astype(float)
        turn = np.linalg.qr(draws.normal(size=(len(sizes), len(sizes))))[0]
        for code, moved in {"factors": difference, "rotated": difference @ turn}.items():
            for norm in (1, 2):
                latent = np.linalg.norm(moved, norm, axis=1).round(9)  # rounding would order ties
                found[f"rank/l{norm}/{code}/{name}"] = spearmanr(np.abs(difference).sum(1), latent).statistic
    return found | {
        "l1-of-the-factors-is-perfect": all(abs(found[f"rank/l1/factors/{name}"] - 1) < ROUNDING for name in GRIDS),
        "l2-is-not": all(found[f"rank/l2/factors/{name}"] < 0.999 for name in GRIDS),
        "l1-sees-a-rotation": all(found[f"rank/l1/rotated/{name}"] < 0.999 for name in GRIDS),
        "l2-does-not": all(
            abs(found[f"rank/l2/rotated/{name}"] - found[f"rank/l2/factors/{name}"]) < 1e-6 for name in GRIDS
        ),
        "settings": len(GRIDS),
    }


def normalised(context: Context) -> dict[str, bool | float]:
    """The mean distance of two random values of a factor, which is how much it weighs in a distance, before and after.

    Of sizes from 2 to 40, by counting all pairs; normalised, the first and the last value are 1 apart.
    """
    sizes = np.array([2, 3, 6, 8, 15, 32, 40])
    plain = np.array([np.abs(np.subtract.outer(np.arange(size), np.arange(size))).mean() for size in sizes])
    scaled = plain / (sizes - 1)
    ends = []
    for size in sizes.tolist():
        space = FactorSpace(["short", "factor"], [2, size])
        ends.append(factor_distance(space, torch.tensor(0), torch.tensor(size - 1), by="scaled_l1").item())
    return {
        "larger-factors-weigh-more": bool((np.diff(plain) > 0).all()),
        "nearer-to-alike-after": scaled.max() / scaled.min() < plain.max() / plain.min(),
        "alike-after": scaled.max() / scaled.min() < 1.01,
        "first-to-last-alike": all(end == max(size - 1, 1) for end, size in zip(ends, sizes, strict=True)),
        "as-in-closed-form": np.allclose(plain, (sizes**2 - 1) / (3 * sizes)),
        "largest-over-smallest/before": plain.max() / plain.min(),
        "largest-over-smallest/after": scaled.max() / scaled.min(),
        "settings": len(ends),
    }


def orders(context: Context) -> dict[str, bool | float]:
    """How many orders of a traversal's 8 images have the same matrix of distances, for spacings of XYSquares.

    All 40,320 are tried. Distances that overlap anywhere leave one order and its reverse. Squares of 2 and of 1 pixels
    that do not overlap are tried as well.
    """
    tried, found = np.array(list(permutations(range(8)))), {}
    grids = {f"spacing-{spacing}": (spacing, 8, 64) for spacing in range(1, 9)}
    grids |= {"small": (2, 2, 16), "apart": (4, 2, 32), "pixel": (1, 1, 8)}
    for name, (spacing, side, image) in grids.items():
        data = XYSquares(spacing, side, squares=1, image_size=image)
        traversal = data.space.traversal(0)
        first, second = (side.flatten() for side in torch.meshgrid(traversal, traversal, indexing="ij"))
        matrix = perceived_distance(data)(first, second).view(8, 8).double().numpy().round(9)
        moved = matrix[tried[:, :, None], tried[:, None, :]]
        found[f"orders/{name}"] = int((moved == matrix).all((1, 2)).sum())
    constant = [found[f"orders/{name}"] for name, (spacing, side, _) in grids.items() if spacing >= side]
    overlapping = [found[f"orders/{name}"] for name, (spacing, side, _) in grids.items() if spacing < side]
    return found | {
        "constant-distances-allow-every-order": all(count == len(tried) for count in constant),
        "overlap-allows-one-and-its-reverse": all(count == 2 for count in overlapping),
        "settings": min(len(constant), len(overlapping)),
    }


def swapped(context: Context, num_triplets: int) -> dict[str, bool | float]:
    """Equation 5.3 on random triplets of three grids and by three distances, in fractions of whole numbers.

    As printed it keeps triplets whose two distances are equal; the library draws those again.
    """
    strict, kept, uniform = [], [], []
    for sizes in ((2, 2), (8,) * 6, (3, 6, 40)):
        space = FactorSpace([f"factor-{place}" for place in range(len(sizes))], list(sizes))
        for by in ("scaled_l1", "l1", "differing"):
            anchor, first, second = torch.randint(len(space), (3, num_triplets), generator=context.generator)
            near, far = (factor_distance(space, anchor, other, by=by) for other in (first, second))
            exchanged = torch.where(near <= far, first, second), torch.where(near <= far, second, first)
            near, far = (factor_distance(space, anchor, other, by=by) for other in exchanged)
            kept.append(bool((near <= far).all()))
            drawn = triplets(space, num_triplets, context.generator, by=by)
            near, far = (factor_distance(space, drawn[0], drawn[place], by=by) for place in (1, 2))
            strict.append(bool((near < far).all()))
            uniform.append(len(drawn[0].unique()) == len(space) or len(space) > num_triplets / 20)
    return {
        "the-positive-is-never-farther": all(kept),
        "without-ties-it-is-nearer": all(strict),
        "every-anchor-is-drawn": all(uniform),
        "settings": len(kept),
    }


def _draw(draws: np.random.Generator, law: str, size: tuple[int, ...]) -> np.ndarray:
    """Coordinates of that law; "uniform" is from 0 to 1, as in the experiments of Aggarwal et al."""
    if law == "student":
        return draws.standard_t(3, size)
    return {"uniform": draws.uniform, "normal": draws.normal, "laplace": draws.laplace}[law](size=size)
