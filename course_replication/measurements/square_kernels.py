"""A learnt kernel on XYSquares, a hundred times as fast: all that its images can show are the places of one square.

Each colour channel holds one square, so the distance of two images is a sum over channels, and each of its terms is one
of the distances between the 64 places of a square. And the blurred square is the same at every place, but for where
the image cuts it off. So one blurred square, cut out 64 times, gives every distance of all 262,144 images.
"""

from functools import cache

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, pad

from course_lib.data import XYSquares
from course_lib.data.xysquares import POSITIONS
from course_lib.distances import correlations, ground_truth_distance
from course_lib.losses import LearntKernel
from course_lib.losses.learnt_kernel import squared_distances
from course_lib.sampling import random_pairs
from course_lib.training import fit_kernel
from course_replication.measurements.kernels import scores_from
from course_replication.measurements.trained_scores import report
from course_replication.runs import Context

Scores = dict[str, float]
PAIRS = 200_000  # anywhere on the grid, within batches of 32 points as in Table 6.1


def learnt(context: Context, **settings) -> Scores:
    """`kernels.learnt`, trained in this way, and its pairs anywhere on the grid as many as the thesis draws."""
    radius, symmetry = settings.pop("radius"), settings.pop("symmetry")
    kernel = SquaresKernel(radius, symmetry=symmetry, seed=context.seed).to(context.device)
    before = _scored(kernel, context.generator)
    fit_kernel(kernel, XYSquares(), seed=context.seed, **settings)
    return report(_scored(kernel, context.generator), before, {})


@torch.no_grad()
def _scored(kernel: "SquaresKernel", generator: torch.Generator) -> Scores:
    data = XYSquares()
    index, pairs = random_pairs(data.space, PAIRS, generator, batch_size=32), torch.arange(PAIRS)
    apart = kernel.distances_in(data, index.flatten().to(kernel.weights.device), pairs, PAIRS + pairs).cpu()
    anywhere = correlations(ground_truth_distance(data.space)(*index), apart)
    return scores_from(kernel.kernel.detach().cpu(), anywhere, generator)


class SquaresKernel(LearntKernel):
    """A `LearntKernel` for XYSquares alone: the same distances and gradients, but for rounding, without an image."""

    def distances_in(self, data: XYSquares, index: Tensor, first: Tensor, second: Tensor) -> Tensor:
        """d_h of images at `index` (B,) of pairs of places `first` and `second` (n,) in it: (n,)."""
        x, y = data.space.factors(index).unflatten(1, (-1, 2)).unbind(2)
        places = POSITIONS * y + x  # of each square, (B, squares)
        apart = place_distances(self.kernel, **data.options)
        return apart[places[first], places[second]].sum(1)


def place_distances(kernel: Tensor, spacing: int, square_size: int, squares: int, image_size: int) -> Tensor:
    """What a square that moves from one place to another adds to d_h, for each two of its places: (64, 64).

    kernel : (2·radius + 1, 2·radius + 1). All else as in `XYSquares`; place 8·y + x is that of coordinates (x, y).
    """
    reach = (POSITIONS - 1) * spacing
    edge = (image_size - square_size - reach) // 2  # of the first place
    # What a pixel sees through the kernel depends on how far the square's edge lies from it, −(image_size − 1) pixels
    # and more. So a place's image is a window of this, its pixels in reverse, and the next place's lies `spacing` on.
    first = len(kernel) // 2 + edge + 1 - image_size  # that row of the kernel, or one above
    beyond = first + reach + image_size + square_size - 1 - len(kernel)
    seen = pad(kernel, (-first, beyond, -first, beyond)).unsqueeze(0)
    for sides in ((square_size, 1), (1, square_size)):
        seen = avg_pool2d(seen, sides, 1) * square_size
    views = seen[0].unfold(0, image_size, spacing).unfold(1, image_size, spacing).reshape(POSITIONS**2, -1)
    return (_unblurred(spacing, square_size, image_size).to(kernel) + squared_distances(views)) / squares


@cache
def _unblurred(spacing: int, square_size: int, image_size: int) -> Tensor:
    """The mean squared difference of a square at one place and at another, (64, 64)."""
    images = XYSquares(spacing, square_size, 1, image_size).images(torch.arange(POSITIONS**2)).float() / 255
    # the factors of an image are (x, y), the last of them the fastest: so x and y change places
    return squared_distances(images.view(POSITIONS, POSITIONS, -1).transpose(0, 1).flatten(0, 1))
