"""Claims about distances between images of a dataset, from integer arithmetic on their pixels.

The library's own distances (`course_lib.distances`) are floats; here pixels are subtracted, squared and added as
integers, so that "equal" means equal.
"""

import math

import torch
from scipy.stats import spearmanr
from torch import Tensor

from course_lib.data import DSprites, GridDataset, Shapes3D, XYObject, XYSquares, standardise
from course_lib.distances import cumulative_proportion
from course_lib.sampling import factor_pairs, random_pairs, traversals
from course_replication.claims import claims_named
from course_replication.runs import Context

CHUNK = 1024  # pairs drawn at a time
SOFTENED = 1 / 512  # how near to 0 and 1 a pixel may come as a probability: half a grey level
OFF = 0.01  # how far a mean of standardised images may lie from 0, or a deviation from 1, in a sample of images


def one_distance(context: Context, num_traversals: int) -> dict[str, bool | float]:
    """The pixel distances of all different pairs on random traversals of XYSquares: 128 pixels of 12,288 differ."""
    data = XYSquares()
    found = {name: _along(data, name, num_traversals, context.generator)[1].unique() for name in data.space.names}
    values = torch.cat([*found.values()]).unique()
    return {
        "one-distance-along-each-factor": all(len(distances) == 1 for distances in found.values()),
        "distances": len(values),
        "distance": values.double().mean() / _largest(data),
        "twice-the-square-over-the-image": values.tolist() == [2 * 8 * 8 * 255**2],
        "settings": len(found),
    }


def spacing_distances(context: Context, num_traversals: int) -> dict[str, bool | float]:
    """How many distances a traversal of XYSquares has at each spacing, and how many of its pairs are nearer than 1/96.

    That is the constant of spacing 8. In closed form k steps of s pixels leave min(8, s·k) columns uncovered.
    """
    found, as_counted = {}, []
    for spacing in range(1, 9):
        data = XYSquares(spacing)
        steps, distances = _along(data, "x_R", num_traversals, context.generator)
        found[f"distances/spacing-{spacing}"] = len(distances.unique())
        found[f"nearer/spacing-{spacing}"] = (96 * distances < _largest(data)).double().mean()
        as_counted.append(torch.equal(distances, 2 * 8 * (spacing * steps).clamp(max=8) * 255**2))
    return found | {"as-in-closed-form": all(as_counted)}


def matrix_ranks(context: Context, num_traversals: int) -> dict[str, float]:
    """Spearman's correlation of mean pixel distances with steps along a factor, over the different pairs of values.

    "matrix-rank" is the mean over factors; a constant distance has correlation 0.
    """
    found = {}
    for data in (DSprites(), Shapes3D(), XYSquares()):
        name = type(data).__name__.lower()
        for factor in data.space.names:
            steps, distances = _along(data, factor, num_traversals, context.generator)
            mean = distances.view(num_traversals, -1).sum(0)
            found[f"matrix-rank/{name}/{factor}"] = rank_correlation(steps[: len(mean)], mean)
        along = [value for key, value in found.items() if key.startswith(f"matrix-rank/{name}/")]
        found[f"matrix-rank/{name}"] = sum(along) / len(along)
    return found


def cumulative_curves(context: Context, num_pairs: int) -> dict[str, bool | float]:
    """Medians of pixel distances along the factors of dSprites, and the values of those of XYSquares (Figure 3.13)."""
    found, halves = {}, []
    sprites, squares = DSprites(), XYSquares()
    for factor in sprites.space.names:
        distances = pixel_distances(sprites, factor_pairs(sprites.space, factor, num_pairs, context.generator))
        middle = distances.double().quantile(0.5, interpolation="higher")
        found[f"median/{factor}"] = middle / _largest(sprites)
        below, at = cumulative_proportion(distances, torch.stack([middle - 1, middle])).tolist()
        halves.append(below < 0.5 <= at)
    along = [
        pixel_distances(squares, factor_pairs(squares.space, factor, num_pairs, context.generator))
        for factor in squares.space.names
    ]
    anywhere = pixel_distances(squares, random_pairs(squares.space, num_pairs, context.generator))
    return found | {
        "xysquares-has-one-value-along-a-factor": len(torch.cat(along).unique()) == 1,
        "values/xysquares/random": len(anywhere.unique()),
        "curves-pass-one-half-at-the-medians": all(halves),
    }


def cross_entropy(context: Context, num_pairs: int) -> dict[str, float]:
    """Spearman's correlation of the cross-entropy of two images of 3D Shapes with their squared error.

    The second image is taken for the reconstruction, its pixels kept half a grey level away from 0 and 1. "divergence"
    takes off the entropy of the first image, which is the loss of a perfect reconstruction and depends on it alone.
    Without a row named, the lowest of all rows.
    """
    data, found = Shapes3D(), {}
    for name in ("random", *data.space.names):
        if name == "random":
            pairs = random_pairs(data.space, num_pairs, context.generator)
        else:
            pairs = factor_pairs(data.space, name, num_pairs, context.generator)
        squared, crossed, divergence = _losses(data, pairs)
        found[f"rank-correlation/bce-and-mse/{name}"] = rank_correlation(squared, crossed)
        found[f"rank-correlation/divergence-and-mse/{name}"] = rank_correlation(squared, divergence)
    for kind in ("rank-correlation/bce-and-mse", "rank-correlation/divergence-and-mse"):
        found[kind] = min(value for name, value in found.items() if name.startswith(f"{kind}/"))
    return found


def standardised(context: Context, num_images: int) -> dict[str, bool | float]:
    """Mean and deviation of images that are standardised with the constants printed in Table A.2.

    The images are spread evenly over the dataset. "all-pixels" is the deviation of all their pixels together.
    """
    found, means, deviations, datasets = {}, [], [], (DSprites(), XYSquares(), XYObject())
    for data in datasets:
        name = type(data).__name__.lower()
        mean, std = _printed(name, data.shape[0])
        images = data.images(torch.arange(0, len(data), _step(data, num_images)))
        parts = [standardise(part, mean, std).double().flatten(2) for part in images.split(CHUNK)]
        average = torch.cat([part.mean(2) for part in parts]).mean(0)
        deviation = torch.cat([part.std(2) for part in parts]).mean(0)
        square = torch.cat([part.square().mean(2) for part in parts]).mean(0)
        found[f"all-pixels/{name}"] = (square - average.square()).sqrt().mean()
        means += average.tolist()
        deviations += deviation.tolist()
    return found | {
        "mean-0": max(map(abs, means)) < OFF,
        "mean-of-the-images-deviations-1": max(abs(value - 1) for value in deviations) < OFF,
        "largest-mean": max(map(abs, means)),
        "largest-deviation": max(deviations),
        "settings": len(datasets),
    }


def pixel_distances(data: GridDataset, pairs: Tensor) -> Tensor:
    """The sum of squared differences of the bytes of the images of each pair: (2, n) → int64 (n,)."""
    first, second = pairs
    return torch.cat([_squares(data, *part) for part in zip(first.split(CHUNK), second.split(CHUNK), strict=True)])


def _squares(data: GridDataset, first: Tensor, second: Tensor) -> Tensor:
    return (data.images(first).int() - data.images(second)).square_().flatten(1).sum(1)


def _largest(data: GridDataset) -> int:
    """The distance of a black and a white image: what the mean squared error on [0, 1] divides by."""
    return data.shape[0] * data.shape[1] * data.shape[2] * 255**2


def _along(data: GridDataset, factor: str, n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Steps along the factor and pixel distance of all different pairs on n random traversals, one after the other."""
    points = traversals(data.space, factor, n, generator)
    low, high = torch.triu_indices(points.shape[1], points.shape[1], 1)
    return (high - low).repeat(n), pixel_distances(
        data, torch.stack([points[:, low].flatten(), points[:, high].flatten()])
    )


def rank_correlation(first: Tensor, second: Tensor) -> float:
    """Spearman's correlation of two samples (n,); 0 if one of them is constant."""
    constant = first.unique().numel() == 1 or second.unique().numel() == 1
    return 0.0 if constant else float(spearmanr(first, second).statistic)


def _losses(data: GridDataset, pairs: Tensor) -> Tensor:
    """Squared error, cross-entropy, and cross-entropy less that of the first image with itself: (3, n)."""
    parts = []
    for index in pairs.split(CHUNK // 4, dim=1):
        first, second = ((data.images(part).float() / 255).flatten(1) for part in index)
        crossed, own = (
            -(first * probability.log() + (1 - first) * (-probability).log1p()).mean(1)
            for probability in (image.clamp(SOFTENED, 1 - SOFTENED) for image in (second, first))
        )
        parts.append(torch.stack([(first - second).square().mean(1), crossed, crossed - own]))
    return torch.cat(parts, dim=1)


def _step(data: GridDataset, num_images: int) -> int:
    """The longest step, without a divisor in common with the number of images, that meets at least `num_images`."""
    steps = range(max(len(data) // num_images, 1), 0, -1)
    return next(step for step in steps if math.gcd(step, len(data)) == 1)


def _printed(name: str, channels: int) -> tuple[Tensor, Tensor]:
    """The mean and the deviation of each channel in Table A.2; what is not compared there is among the settings."""
    (claim,) = claims_named([f"distances/table-a.2-{name}"])
    printed = claim.settings | {number.what: float(number.value) for number in claim.numbers}
    names = ("",) if channels == 1 else ("/red", "/green", "/blue")
    return tuple(torch.tensor([printed[moment + channel] for channel in names]) for moment in ("mean", "std"))
