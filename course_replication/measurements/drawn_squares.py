"""XYSquares as it is drawn: places, sides and overlaps, counted in the pixels and not read off its arguments."""

from math import prod

import torch
from torch import Tensor

from course_lib.data import GridDataset, XYSquares
from course_lib.losses.blur import blur, box_kernel
from course_lib.losses.reconstruction import overlap_kernel
from course_lib.sampling import singles, traversals
from course_replication.measurements.tables import SPACINGS
from course_replication.runs import Context

FARTHEST = 40  # radius of a box, up to which is looked for the smallest that is large enough


def places(context: Context, num_images: int) -> dict[str, bool | float]:
    """How many places XYSquares has, whether they fill the image without overlap, and how many images they make.

    Each square is drawn at all its places. That the images are as many as all ways to combine them is counted where a
    square looks the same whatever the other squares do, which is asked of random images.
    """
    data = XYSquares()
    drawn = square_places(data)  # (squares, 64, H, W)
    lit = drawn.long().sum((2, 3)).unique()
    index = singles(data.space, num_images, context.generator)
    values = {distinct_values(data, name, 1, context.generator) for name in data.space.names}
    return {
        "factors": sum(_moves(data, name) for name in data.space.names),
        "values": values.pop() if len(values) == 1 else 0,
        "images": prod(len(square.unique(dim=0)) for square in drawn),
        "square-size": lit.item() ** 0.5 if len(lit) == 1 else 0,
        "image-size": drawn.shape[-1],
        "places-fill-the-image-without-overlap": bool((drawn.sum(1) == 1).all()),
        "squares-do-not-depend-on-one-another": torch.equal(_lit(data, index), _one_by_one(data, index, drawn)),
        "settings": len(drawn),
    }


def neighbours(context: Context) -> dict[str, bool | float]:
    """At each spacing of XYSquares the share of its pixels that a square has in common with its neighbour's place.

    Neighbours are one step apart along x or y. And the number of images, as in `places`.
    """
    found, alike, formula = {}, [], []
    for spacing in SPACINGS:
        drawn = square_places(XYSquares(spacing)).unflatten(1, (8, 8))  # (squares, x, y, H, W)
        along = [in_common(drawn[:, 1:], drawn[:, :-1]), in_common(drawn[:, :, 1:], drawn[:, :, :-1])]
        shares = torch.cat([share.flatten() for share in along])
        found[f"overlap/spacing-{spacing}"] = shares.mean()
        found[f"images/spacing-{spacing}"] = prod(len(square.flatten(0, 1).unique(dim=0)) for square in drawn)
        alike.append(len(shares.unique()) == 1)
        formula.append(bool((shares == 1 - spacing / 8).all()))
    return found | {
        "all-neighbours-alike": all(alike),
        "as-in-closed-form": all(formula),
        "settings": len(alike),
    }


def opposite_squares(context: Context) -> dict[str, bool | float]:
    """What squares at opposite borders of XYSquares have in common, before and after the box blur of its loss.

    "overlap/before/x" and its like: the least share of its pixels that a square at the left border has in common with
    the one at the right in its row; along y in its column, and of squares in opposite corners ("both"). Blurred pixels
    are those above 0. "smallest-radius": of a box with which such squares meet, and with which two single pixels in
    opposite corners do. "radius", "kernel-size" and "weight" are what the blur makes of a single pixel and of white.
    """
    drawn = square_places(XYSquares())[0].unflatten(0, (8, 8)).float()
    kernel = overlap_kernel("mse-box", drawn.shape[-1])
    spread = _spread(kernel)
    found = {}
    for name, images in (("before", drawn), ("after", blur(drawn, kernel))):
        for way, share in _opposite(images > 0).items():
            found[f"overlap/{name}/{way}"] = share
    corners = torch.zeros(2, *drawn.shape[-2:])
    corners[0, 0, 0] = corners[1, -1, -1] = 1
    pairs = {"squares": torch.stack([drawn[0, 0], drawn[-1, -1]]), "pixels": corners}
    blurred = (blur(drawn, kernel) > 0).flatten(0, 1)
    before, after = ([found[f"overlap/{name}/{way}"] for way in ("x", "y", "both")] for name in ("before", "after"))
    return found | {
        "opposite-squares-are-apart-before": bool(max(before) == 0),
        "opposite-squares-overlap-after": bool(min(after) > 0),
        "any-two-squares-overlap-after": all(bool((in_common(blurred, each) > 0).all()) for each in blurred),
        "single-pixels-in-opposite-corners-overlap-after": _meet(corners, kernel),
        **{f"smallest-radius/{name}": _smallest_radius(pair) for name, pair in pairs.items()},
        **spread,
        "settings": len(after),
    }


def square_places(data: XYSquares) -> Tensor:
    """Each square alone at each of its places, bool (squares, 64, H, W): x first, the other squares at their first."""
    sizes, strides = data.space.sizes, data.space.strides
    found = []
    for channel in range(data.shape[0]):
        x, y = (torch.arange(sizes[place]) * strides[place] for place in (2 * channel, 2 * channel + 1))
        found.append(data.images((x.unsqueeze(1) + y).flatten())[:, channel] > 0)
    return torch.stack(found)


def distinct_values(data: GridDataset, factor: str, num_traversals: int, generator: torch.Generator) -> int:
    """How many values of a factor random traversals tell apart: those of which an image differs."""
    images = data.images(traversals(data.space, factor, num_traversals, generator))  # (n, values, C, H, W)
    return len(images.transpose(0, 1).flatten(1).unique(dim=0))


def in_common(first: Tensor, second: Tensor) -> Tensor:
    """The share of the first's pixels that the second has, too: bool (..., H, W) → (...)."""
    return (first & second).sum((-2, -1)) / first.sum((-2, -1))


def _moves(data: XYSquares, factor: str) -> bool:
    """Whether the factor changes the first image."""
    stride = data.space.strides[data.space.position(factor)]
    return not torch.equal(*data.images(torch.tensor([0, stride])))


def _lit(data: XYSquares, index: Tensor) -> Tensor:
    return data.images(index) > 0


def _one_by_one(data: XYSquares, index: Tensor, drawn: Tensor) -> Tensor:
    """The images at `index`, put together of the squares drawn alone."""
    x, y = data.space.factors(index).unflatten(1, (-1, 2)).unbind(2)
    return torch.stack([square[place] for square, place in zip(drawn, (8 * x + y).T, strict=True)], 1)


def _opposite(lit: Tensor) -> dict[str, Tensor]:
    """The least share in common at opposite borders, of bool images (x, y, H, W) of a square at all its places."""
    ways = {
        "x": (lit[0], lit[-1]),
        "y": (lit[:, 0], lit[:, -1]),
        "both": (lit[0, [0, -1]], lit[-1, [-1, 0]]),
    }
    return {way: in_common(first, second).min() for way, (first, second) in ways.items()}


def _meet(pair: Tensor, kernel: Tensor) -> bool:
    """Whether two images (2, H, W) have a pixel in common after the blur."""
    return bool((blur(pair, kernel) > 0).all(0).any())


def _smallest_radius(pair: Tensor) -> int:
    """Of a box after which the two images meet; 0 where none is large enough."""
    return next((radius for radius in range(1, FARTHEST + 1) if _meet(pair, box_kernel(radius))), 0)


def _spread(kernel: Tensor) -> dict[str, float]:
    """How wide a blur makes a pixel, and how much brighter it makes white: its square weights the blurred term."""
    size = 4 * len(kernel) + 1
    pixel = torch.zeros(size, size, dtype=torch.float64)
    pixel[size // 2, size // 2] = 1
    columns = (blur(pixel, kernel) > 0).any(0).nonzero().flatten()
    white = blur(torch.ones(size, size, dtype=torch.float64), kernel)[size // 2, size // 2]
    return {"radius": columns.max() - size // 2, "kernel-size": len(columns), "weight": white.square()}
