"""Claims about how a dataset's factors are chosen, and about what else is in its images."""

import math

import numpy as np
import torch

from course_lib.data import DSprites, DSpritesImageNet, Shapes3D, XYObject, XYObjectShades
from course_lib.sampling import factor_pairs, traversals
from course_replication.measurements.data_distances import pixel_distances, rank_correlation
from course_replication.runs import Context

# XYObject by the thesis' description: sides of its square in pixels, grey levels, and red, yellow, green, cyan, blue,
# magenta.
SIDES, LEVELS = (7, 9, 11, 13, 15), (63, 127, 191, 255)
HUES = ((1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1), (1, 0, 1))


def traversed(context: Context, num_traversals: int) -> dict[str, bool]:
    """Random traversals of 3D Shapes, with indices taken apart by NumPy: what varies along them, and how."""
    space, one, once = Shapes3D.space, [], []
    for place, factor in enumerate(space.names):
        points = traversals(space, factor, num_traversals, context.generator)
        values = np.stack(np.unravel_index(points.numpy(), space.sizes), axis=-1)  # (traversal, point, factor)
        varies = np.ptp(values, axis=1) > 0
        one.append((varies == (np.arange(len(space.sizes)) == place)).all())
        once.append((np.sort(values[:, :, place]) == np.arange(space.sizes[place])).all())
    return {"one-factor-varies": all(one), "each-value-once": all(once), "settings": len(one)}


def shades(context: Context, num_images: int) -> dict[str, bool]:
    """Images of XYObject against squares painted from the factors that XYObjectShades gives the same index.

    A setting is a size and an intensity of the square that is among the images.
    """
    data, twin = XYObject(), XYObjectShades()
    index = torch.randint(len(data), (num_images,), generator=context.generator)
    painted = torch.from_numpy(np.stack([_painted(*factors) for factors in twin.space.factors(index).tolist()]))
    return {
        "same-images": torch.equal(data.images(index), painted) and len(data) == len(twin),
        "same-order": torch.equal(data.images(index), twin.images(index)),
        "settings": len(twin.space.factors(index)[:, 2:4].unique(dim=0)),
    }


def colour_ranks(context: Context) -> dict[str, bool | float]:
    """Spearman's correlation along the colour factors of XYObject and XYObjectShades, over all pairs of values.

    A pair on one traversal differs in colour alone: its distance is the square's area times the squared difference of
    two colours. Pairs of a value with itself are included, as in Table 4.1; "distinct" leaves them out.
    """
    colour = np.array([[level * part for part in hue] for level in LEVELS for hue in HUES])
    place = np.arange(len(colour))
    squares = ((colour[:, None] - colour) ** 2).sum(2)
    areas = np.array(SIDES)[:, None, None] ** 2
    hue, level = place % len(HUES), place // len(HUES)
    same_hue, same_level = (part[:, None] == part for part in (hue, level))
    rows = {
        "xyobject/mse/colour": (abs(place[:, None] - place), np.ones_like(same_hue)),
        "shades/mse/intensity": (abs(level[:, None] - level), same_hue),
        "shades/mse/colour": (abs(hue[:, None] - hue), same_level),
    }
    found = {}
    for name, (steps, pairs) in rows.items():
        for kind, kept in (("rank", pairs), ("rank/distinct", pairs & (steps > 0))):
            away, distances = np.broadcast_arrays(steps[kept], areas[:, 0] * squares[kept])
            found[f"{name}/{kind}"] = rank_correlation(torch.tensor(away.ravel()), torch.tensor(distances.ravel()))
    for kind in ("rank", "rank/distinct"):
        both = [max(found[f"shades/mse/{factor}/{kind}"], 0) for factor in ("colour", "intensity")]
        found[f"shades/mse/colour-and-intensity/{kind}"] = math.prod(both) ** 0.5
    return found | {"distances-as-drawn": _as_drawn(squares, areas, context.generator)}


def hidden_distances(context: Context, num_pairs: int) -> dict[str, bool | float]:
    """Spearman's correlation of pixel distances with steps along a factor of dSprites among photographs, Figure 7.5.

    "mean-rank" is the mean over factors. Pairs are drawn with replacement, as in Table 4.1. "visibility-0-is-dsprites"
    compares images.
    """
    plain, found, same = DSprites(), {}, []
    index = torch.randint(len(plain), (500,), generator=context.generator)
    for kind in ("background", "foreground"):
        for percent in (0, 50, 100):
            data, ranks = DSpritesImageNet(kind, percent / 100), []
            for factor in data.space.names:
                pairs = factor_pairs(data.space, factor, num_pairs, context.generator, distinct=False)
                steps = (data.space.factors(pairs[0]) - data.space.factors(pairs[1])).abs().sum(1)
                ranks.append(rank_correlation(steps, pixel_distances(data, pairs)))
            found[f"{kind}/mean-rank/visibility-{percent}"] = sum(ranks) / len(ranks)
            if percent == 0:
                same.append(torch.equal(data.images(index), plain.images(index).expand(-1, 3, -1, -1)))
    return found | {"visibility-0-is-dsprites": all(same)}


def _painted(x: int, y: int, scale: int, intensity: int, hue: int) -> np.ndarray:
    """A square, pixel by pixel: uint8 (3, 64, 64)."""
    image, side = np.zeros((3, 64, 64), np.uint8), SIDES[scale]
    left, top = (2 * place + (max(SIDES) - side) // 2 for place in (x, y))
    image[:, top : top + side, left : left + side] = np.array(HUES[hue])[:, None, None] * LEVELS[intensity]
    return image


def _as_drawn(squares: np.ndarray, areas: np.ndarray, generator: torch.Generator) -> bool:
    """Whether area times squared difference of colours is the distance of images."""
    data = XYObject()
    pairs = factor_pairs(data.space, "colour", 200, generator)
    (first, second), scale = (data.space.factors(index)[:, 3] for index in pairs), data.space.factors(pairs[0])[:, 2]
    return pixel_distances(data, pairs).tolist() == (areas.ravel()[scale] * squares[first, second]).tolist()
