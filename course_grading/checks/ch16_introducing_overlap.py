"""Chapter 16, introducing overlap: a blur, its radius, faults told by distances, a blind pattern, a ruler.

That the faults make the rows of 16.3's table, and the factors of 16.6 what they are called, is tested.
"""

import math

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, conv1d, pad

from course_grading.answers import tensor, words
from course_grading.exercise import Function, Plain, either
from course_lib.losses.blur import blur

# 16.1 -----------------------------------------------------------------------------------------------------------------


def images_and_radii(generator: torch.Generator) -> list[list]:
    """Images with a radius each, the first to be differentiated; windows larger than the image, and of one pixel; the
    task's example, and images with many black pixels."""
    sizes = ((2, 3, 6, 9), 1), ((1, 1, 5, 5), 2), ((3, 2, 4, 7), 5), ((2, 1, 4, 4), 0), ((1, 2, 8, 6), 3)
    cases = [[torch.rand(shape, generator=generator) + 0.5, radius] for shape, radius in sizes]
    cases[0][0].requires_grad_()
    black = torch.rand(2, 1, 7, 8, generator=generator) * (torch.rand(2, 1, 7, 8, generator=generator) > 0.6)
    return [*cases, [torch.tensor([[[[0.0, 6.0, 3.0]]]]), 1], [black, 1]]


def local_mean(images: Tensor, radius: int) -> Tensor:
    return _along_columns(_along_rows(images.double(), radius), radius).float()


def _along_rows(images: Tensor, radius: int) -> Tensor:
    """The mean of what of a window one pixel high lies inside."""
    return avg_pool2d(images, (1, 2 * radius + 1), 1, (0, radius), count_include_pad=False)


def _along_columns(images: Tensor, radius: int) -> Tensor:
    return _along_rows(images.mT, radius).mT


def _outside(images: Tensor, radius: int, mode: str) -> Tensor:
    """Windows over something else than zeros, pixel by pixel, so that any radius works."""
    rows, columns = (_places(size, radius, mode) for size in images.shape[-2:])
    return avg_pool2d(images[..., rows, :][..., columns], 2 * radius + 1, stride=1)


def _places(size: int, radius: int, mode: str) -> Tensor:
    place = torch.arange(-radius, size + radius)
    if mode == "replicate":
        return place.clamp(0, size - 1)
    if mode == "circular":
        return place % size
    around = place % max(2 * size - 2, 1)
    return torch.minimum(around, 2 * size - 2 - around)


def _one_short(images: Tensor, radius: int) -> Tensor:
    """Windows from −radius to radius − 1."""
    ones = torch.ones_like(images)
    sums, counts = (_shifted_sum(values, radius, radius - 1) for values in (images, ones))
    return sums / counts.clamp(min=1)


def _shifted_sum(images: Tensor, before: int, after: int) -> Tensor:
    around = pad(images, (before, max(after, 0)) * 2)
    height, width = images.shape[-2:]
    moves = range(before + after + 1)
    parts = [around[..., y : y + height, x : x + width] for y in moves for x in moves]
    return sum(parts) if parts else torch.zeros_like(images)


MEAN_MISTAKES = {
    "zeros were averaged in at the edge, which makes it darker: divide by the number of pixels that the window has "
    "inside the image, not by (2·radius + 1)².":
        lambda images, radius: avg_pool2d(images, 2 * radius + 1, stride=1, padding=radius),
    "the edge was repeated outside: average over the pixels inside the image only.":
        lambda images, radius: _outside(images, radius, "replicate"),
    "the image was mirrored outside: average over the pixels inside the image only.":
        lambda images, radius: _outside(images, radius, "reflect"),
    "the window comes round from the other side (a Fourier transform without a margin does that, and torch.roll): "
    "average over the pixels inside the image only.":
        lambda images, radius: _outside(images, radius, "circular"),
    "the window is one pixel short: from −radius to +radius, both included, is 2·radius + 1. (A slice a:b leaves b "
    "out.)":
        _one_short,
    "these are sums: divide by the number of pixels in the window.":
        lambda images, radius: _shifted_sum(images, radius, radius),
    "divided by the number of pixels that are not 0: a black pixel of the image counts as any other, and only what "
    "lies outside does not.":
        lambda images, radius: (
            _shifted_sum(images, radius, radius) / _shifted_sum((images != 0).float(), radius, radius).clamp(min=1)
        ),
    "only averaged along the rows: the window is square, and along the columns it does the same.": _along_rows,
    "only averaged along the columns: the window is square, and along the rows it does the same.": _along_columns,
    "averaged over the channels too: each channel is blurred by itself.":
        lambda images, radius: local_mean(images, radius).mean(1, keepdim=True).expand_as(images),
    "averaged twice: that is a window with a triangle's weights, twice as wide.":
        lambda images, radius: local_mean(local_mean(images, radius), radius),
    "the windows are twice as wide as they should be: a radius reaches that far to each side.":
        lambda images, radius: local_mean(images, 2 * radius),
    "the gradient for images is missing: a loss is trained through its blur. Leave out detach, .data and numpy.":
        lambda images, radius: local_mean(images.detach(), radius).requires_grad_(images.requires_grad) * 1,
}  # fmt: skip


def _mean_by_matrices(images, radius):
    """Along the columns and along the rows, each by a matrix of weights."""
    for _ in range(2):
        place = torch.arange(images.shape[3])
        window = ((place - place.unsqueeze(1)).abs() <= radius).float()
        images = (images @ (window / window.sum(0))).mT
    return images


def _mean_by_slices(images, radius):
    for axis in (2, 3):
        size = images.shape[axis]
        windows = [(max(place - radius, 0), min(place + radius + 1, size)) for place in range(size)]
        images = torch.stack([images.narrow(axis, low, high - low).mean(axis) for low, high in windows], axis)
    return images


def _mean_by_the_library(images, radius):
    kernel = torch.ones(2 * radius + 1)
    return blur(images, kernel) / blur(torch.ones_like(images), kernel)


# 16.2 -----------------------------------------------------------------------------------------------------------------


def places_and_sides(generator: torch.Generator) -> list[list]:
    """Rows of places that increase, with the side of the bars: equally spaced, not so, two of them, wide bars."""
    steps = torch.randint(1, 12, (6, 7), generator=generator)
    cases = [[steps.cumsum(1), int(torch.randint(3, 6, (), generator=generator))]]
    even = 8 * torch.arange(8)
    cases.append([torch.stack([even, even + 3, 5 * torch.arange(8)]), 8])
    lopsided = torch.tensor([[0, 1, 2, 40], [0, 38, 39, 40], [5, 6, 30, 31], [0, 19, 20, 39]])
    cases += [[lopsided, 3], [lopsided, 4], [torch.tensor([[0, 50], [7, 8]]), 2], [torch.tensor([[0, 2, 4, 5]]), 20]]
    return cases


def smallest_radius(places: Tensor, side: int) -> Tensor:
    """By trying every radius, with distances in whole numbers."""
    return torch.tensor([_smallest_radius(row, side) for row in places])


def _smallest_radius(places: Tensor, side: int) -> int:
    shifts = [(places - anchor).abs().unique() for anchor in places]  # from each place, in order
    near, far = torch.cat([shift[:-1] for shift in shifts]), torch.cat([shift[1:] for shift in shifts])
    curves = (_distances(side, 2 * radius + 1, int(far.max())) for radius in range(1_000))
    return next(radius for radius, distance in enumerate(curves) if (distance[near] < distance[far]).all())


def _distances(side: int, width: int, farthest: int) -> Tensor:
    """The squared distance of a bar and itself, for every shift; the box has weights of 1 here."""
    bar, box = (size - np.abs(np.arange(1 - size, size)) for size in (side, width))  # each with itself: triangles
    overlap = np.convolve(bar, box)[side + width - 2 :]
    return torch.from_numpy(2 * (overlap[0] - np.pad(overlap, (0, farthest + 1))))


def _radius(farthest, side):
    """The closed form: 2·radius + side at least one more than the farthest shift that must lie on the slope."""
    return ((farthest - side + 2) // 2).clamp(min=0)


def _needed(places):
    """The second farthest shift, from either end."""
    return torch.maximum(places[:, -2] - places[:, 0], places[:, -1] - places[:, 1])


def _span(places):
    return places[:, -1] - places[:, 0]


RADIUS_MISTAKES = {
    "wide enough, but not the smallest: the farthest place may lie just where the curve becomes flat, as long as the "
    "second farthest lies before that.":
        lambda places, side: _radius(_span(places), side),
    "right for distances from the first place. From the last one the shifts are others, and the second farthest may "
    "be farther.":
        lambda places, side: _radius(places[:, -2] - places[:, 0], side),
    "with this radius each bar's blur meets its neighbours'. All that are farther than that are at one distance.":
        lambda places, side: _radius(places.diff(dim=1).amax(1), side),
    "the bar's own width was left out: A is the box's triangle smoothed with the bar's, and reaches side − 1 pixels "
    "further than the box alone.":
        lambda places, side: (_needed(places) + 1) // 2,
    "sometimes one too small: two places are then at the same distance. A(k) is 0 from k = w + side − 1 on, so the "
    "second farthest shift must be smaller than that; and round up.":
        lambda places, side: ((_needed(places) - side + 1) // 2).clamp(min=0),
    "this is the width of the window, 2·radius + 1: expected the radius.":
        lambda places, side: 2 * _radius(_needed(places), side) + 1,
    "this is a width, which may come out even: expected the radius; a window is 2·radius + 1 pixels wide.":
        lambda places, side: (_needed(places) - side + 2).clamp(min=1),
    "this is a width of the window, and not the smallest either: expected the radius.":
        lambda places, side: 2 * _radius(_span(places), side) + 1,
    "a radius below 0 came out, for bars that overlap by themselves: no blur at all is radius 0.":
        lambda places, side: (_needed(places) - side + 2) // 2,
    "the places need not be equally far apart: use them all, not the first step.":
        lambda places, side: _radius((places.shape[1] - 2) * (places[:, 1] - places[:, 0]), side),
    "wide enough, but not the smallest: that is the width for a lit pixel, and for the farthest shift.":
        lambda places, side: _radius(_span(places), 1),
    "got torch.float64, and the right numbers: expected whole numbers, torch.int64.":
        lambda places, side: smallest_radius(places, side).double(),
}  # fmt: skip

RADIUS_RIGHT = (
    lambda places, side: _radius(_needed(places), side),
    # from every place, the second of the farthest
    lambda p, side: _radius((p.unsqueeze(2) - p.unsqueeze(1)).abs().topk(2).values[..., 1].amax(1), side),
    lambda places, side: torch.tensor([max(math.ceil((k + 1 - side) / 2), 0) for k in _needed(places).tolist()]),
)

# 16.3 -----------------------------------------------------------------------------------------------------------------

ROWS = {
    "A": "edge repeated", "B": "squared first", "C": "margin kept", "D": "wrapped round", "E": "weight missing",
}  # fmt: skip
FAULTS = {  # what the fault does to the distances from place 2, squares in the middle of the image's height
    "edge repeated": "only the places at the edge, 0 and 7, would stand out: their squares are continued for ever, and "
    "the distances between all other places would be those of the right loss.",
    "mirrored": "every distance would be from two to more than four times that of the right loss, because the squares' "
    "mirror images are blurred into the picture, too.",
    "wrapped round": "all other places would be at one and the same distance, to the last digit.",
    "squared first": "neighbours would be no nearer than others, and places at the edge nearer: the squared "
    "error of any two is 128 ones, and near the edge a part of their blur is cut off.",
    "one blurred": "place 2 itself would be far away, since an image is not its own blur.",
    "margin kept": "the edge would not matter: places 0 and 4 would be equally far from 2, and each place beyond the "
    "neighbours farther by the same amount.",
    "weight missing": "every distance would be the sharp term's 128 and a little more.",
}
ROWS_MISTAKES = {
    f"{row}: not {word!r}, with which {made}": word
    for row, right in ROWS.items()
    for word, made in FAULTS.items()
    if word != right
}

# 16.4 -----------------------------------------------------------------------------------------------------------------

SIDE, RADIUS = 8, 1
FAINTEST, BLIND = 0.1, 1e-6  # mean square that a pattern has at least; mean of a window that counts as 0


def pattern_fault(pattern) -> str | None:
    """Whether each 3 × 3 window over the pattern, zeros outside, sums to 0; if not, which does not."""
    pattern = tensor(pattern, (SIDE, SIDE)).double()
    if pattern.abs().max() > 1 + 1e-6:
        return f"the value {_largest(pattern):.4g} is outside of −1 to 1, which two images of pixels on [0, 1] allow."
    seen = pattern.square().mean().item()
    if not seen >= FAINTEST:
        return f"the sharp term hardly sees it: its mean square is {seen:.3g}, expected is at least {FAINTEST}."
    windows = avg_pool2d(pattern[None, None], 2 * RADIUS + 1, 1, RADIUS)[0, 0]  # zeros outside count
    if windows.abs().max() < BLIND:
        return None
    row, column = divmod(int(windows.abs().argmax()), SIDE)
    seen = f"the window around row {row}, column {column} sums to {9 * windows[row, column]:.3g}, and not to 0."
    if windows[1:-1, 1:-1].abs().max() < BLIND:
        return f"{seen} All windows inside are right; those at the edge hold two rows or columns of the pattern only."
    if _is_checkerboard(pattern):
        return f"{seen} A window of 3 × 3 holds five fields of one colour of a checkerboard, and four of the other."
    return seen


def _largest(values: Tensor) -> float:
    return values.flatten()[values.abs().argmax()].item()


def _is_checkerboard(pattern: Tensor) -> bool:
    place = torch.arange(SIDE)
    board = 1.0 - 2 * ((place.unsqueeze(1) + place) % 2)
    return bool((pattern * board > 0).all() or (pattern * board < 0).all())


def _stripes(period: tuple[float, ...]) -> Tensor:
    """Columns that repeat `period`."""
    row = torch.tensor([period[column % len(period)] for column in range(SIDE)])
    return row.repeat(SIDE, 1)


PATTERN = _stripes((1.0, -1.0, 0.0))
PATTERN_MISTAKES = {
    "A window of 3 × 3 holds five fields of one colour": _stripes((1.0, -1.0)) * _stripes((1.0, -1.0)).T,
    "sums to": _stripes((1.0, -1.0)),
    "All windows inside are right; those at the edge": either(_stripes((1.0, 0.0, -1.0)), _stripes((1.0, -0.5, -0.5))),
    "the sharp term hardly sees it": either(torch.zeros(SIDE, SIDE), 1e-3 * PATTERN),
    "outside of −1 to 1": 2 * PATTERN,
    "expected a tensor of shape (8, 8)": either(PATTERN[0], PATTERN[None]),
    "got a list": [*PATTERN.tolist(), []],
}  # fmt: skip


def _null_pattern(seed: int) -> Tensor:
    """Rows that are multiples of 1, −1, 0, …, plus columns that are."""
    rows, columns = torch.rand(2, SIDE, generator=torch.Generator().manual_seed(seed)) + 0.5
    pattern = torch.outer(rows, PATTERN[0]) + torch.outer(PATTERN[0], columns)
    return pattern / pattern.abs().max()


# 16.5 -----------------------------------------------------------------------------------------------------------------

LINE, REACH = 16, 15
SLACK, ROUNDED = 1e-12, 5e-7  # by how much a distance may miss proportionality, relatively; in float32
NEARLY = 1e-2  # a miss that a weight makes which is small beside the others


def ruler_fault(kernel) -> str | None:
    """Whether blurred lit pixels on a line of 16 are as far apart as their places; if not, which pair is not."""
    kernel = tensor(kernel, (2 * REACH + 1,))
    kernel, slack = kernel.double(), ROUNDED if kernel.dtype == torch.float32 else SLACK
    if (kernel < 0).any():
        return f"the weight {kernel.min():.4g} is negative: a blur has none."
    if not (kernel > 0).any():
        return "all weights are 0: then all distances are, too."
    distance = _blurred_distances(kernel / kernel.max())
    first, second = torch.triu_indices(LINE, LINE, 1)
    found, shift = distance[first, second], (second - first).double()
    if found.max() < 1e-9:
        return "every distance is 0: wherever the pixel is, every window sees it. A window that sees all tells nothing."
    per_pixel = found / shift
    near, far = int(per_pixel.argmin()), int(per_pixel.argmax())
    if per_pixel[far] <= (1 + slack) * per_pixel[near]:
        return None
    missed = (per_pixel[far] / per_pixel[near] - 1).item()
    if missed <= NEARLY:
        return (
            f"nearly a ruler: for each pixel of shift, pixels {first[far]} and {second[far]} are farther apart than "
            f"pixels {first[near]} and {second[near]}, by {missed:.1g} of it. Is some weight small that is 0 in a "
            "ruler? (Rounding leaves less, in float64.)"
        )
    pairs = [f"pixels {first[k]} and {second[k]} are at {found[k]:.4g} for {int(shift[k])} px" for k in (near, far)]
    return f"no ruler: {pairs[0]}, but {pairs[1]} (the largest weight taken as 1). {_why(kernel, found, shift)}"


def _blurred_distances(kernel: Tensor) -> Tensor:
    """Squared distances of all pairs of lit pixels, blurred with zeros outside and cut off at the ends: (16, 16)."""
    pixels = torch.eye(LINE, dtype=torch.float64).unsqueeze(1)
    blurred = conv1d(pixels, kernel.view(1, 1, -1), padding=REACH).squeeze(1)
    return (blurred.unsqueeze(1) - blurred).square().sum(2)


def _why(kernel: Tensor, found: Tensor, shift: Tensor) -> str:
    if (kernel > 0).sum() == 1:
        return "One weight alone does not blur: all pairs are equally far."
    excess = found - shift
    if ((excess.abs() < 1e-9) | ((excess - 1).abs() < 1e-9)).all():
        return "Nearly: this is the chapter's box, which adds one where the two pixels lie in different halves."
    if kernel[kernel > 0].unique().numel() > 1:
        return "The weights differ: where the edge of a window is a slope, its shift is not counted pixel by pixel."
    return "Count, for a near pair and for a far one, how many edges of the two windows lie inside the line."


def _box(first: int, last: int) -> Tensor:
    """Weights of 1 from offset `first` to offset `last`."""
    kernel = torch.zeros(2 * REACH + 1)
    kernel[REACH + first : REACH + last + 1] = 1
    return kernel


RULER = _box(0, 15)
_OFFSET = torch.arange(-REACH, REACH + 1).float()
RULER_MISTAKES = {
    "Nearly: this is the chapter's box": _box(-7, 7) / 15,
    "A window that sees all tells nothing.": _box(-15, 15) / 31,
    "nearly a ruler": either(*(RULER + leak * _box(place, place) for leak in (1e-3, 3e-2) for place in (-15, -8))),
    "One weight alone does not blur": _box(0, 0),
    "how many edges of the two windows lie inside the line": either(_box(-3, 3) / 7, _box(0, 7)),
    "The weights differ": either(torch.exp(-0.5 * (_OFFSET / 4) ** 2), (16 - _OFFSET.abs()) / 16),
    "is negative": torch.where(_OFFSET > 0, 1.0, -1.0),
    "all weights are 0": torch.zeros(31),
    "expected a tensor of shape (31,)": torch.ones(15) / 15,
    "got a list": [[1 / 16] * 31, []],
}  # fmt: skip

# 16.6 -----------------------------------------------------------------------------------------------------------------

FACTORS = {
    "rook": "in order", "dimmer": "in order", "grating": "nearly blind", "lamp": "no order", "lottery": "no order",
}  # fmt: skip
FACTOR_WORDS = ("in order", "no order", "nearly blind")
FACTOR_MISTAKES = {
    "rook: that is XYSquares. The sharp term has no order here, and the blurred one is made for it.": "no order",
    "rook: a square is 64 wrong pixels side by side, which is what a wide blur sees best.": "nearly blind",
    "dimmer: the difference of two brightnesses is one square, as strong as they are apart, sharp or blurred.":
        "no order",
    "dimmer: the whole square changes, and all its pixels in the same direction.": "nearly blind",
    "grating: how many of the 63 pixels in one row of a window are white, wherever the grating begins?": "in order",
    "grating: is there anything left to be put in order? 63 is seven times nine.": "no order",
    "lamp: the blur is done channel by channel. No colour is between two others.": "in order",
    "lamp: in two of the channels a whole square comes or goes.": "nearly blind",
    "lottery: the images are the rook's, but distances follow the places, and the numbers do not.": "in order",
    "lottery: the images are the rook's, and so are the distances. Only the numbers differ.": "nearly blind",
}  # fmt: skip

# ----------------------------------------------------------------------------------------------------------------------

EXERCISES = {
    "16.1": Function(
        reference=local_mean,
        cases=images_and_radii,
        mistakes=MEAN_MISTAKES,
        also_right=(_mean_by_the_library, _mean_by_matrices, _mean_by_slices),
    ),
    "16.2": Function(
        reference=smallest_radius, cases=places_and_sides, mistakes=RADIUS_MISTAKES, also_right=RADIUS_RIGHT
    ),
    "16.3": words(
        ROWS,
        tuple(FAULTS),
        ROWS_MISTAKES,
        praise="right: five losses that all run, and each gives itself away by eight numbers.",
    ),
    "16.4": Plain(
        fault=pattern_fault,
        mistakes=PATTERN_MISTAKES,
        also_right=(
            _null_pattern(0),
            _null_pattern(1).double(),
            PATTERN.long(),
            PATTERN.clone().requires_grad_(),
            PATTERN.tolist(),
        ),  # fmt: skip
        praise="right: a decoder may add this to any picture, and the blurred term alone will not notice.",
    ),
    "16.5": Plain(
        fault=ruler_fault,
        mistakes=RULER_MISTAKES,
        also_right=(_box(-15, 0), _box(1, 15) / 16, 50 * _box(-7, 8), _box(-8, 7).long(), RULER.tolist(), [*RULER]),
        praise="right: the distance of any two pixels is their distance in pixels.",
    ),
    "16.6": words(FACTORS, FACTOR_WORDS, FACTOR_MISTAKES, praise="right. Now run the next cell and see by how much."),
}
