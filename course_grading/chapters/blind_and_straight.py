"""Chapter 16's answers that are no functions: a pattern no window sees, a kernel that is a ruler, five factors."""

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, conv1d

from course_grading.exercise import Wrong
from course_lib.distances import correlations

# 16.4 -----------------------------------------------------------------------------------------------------------------

SIDE, RADIUS = 8, 1
FAINTEST, BLIND = 0.1, 1e-5  # mean square that a pattern has at least; mean of a window that counts as 0


def pattern_fault(pattern) -> str | None:
    """Whether each 3 × 3 window over the pattern, zeros outside, sums to 0; if not, which does not."""
    wrong = _unusable(pattern, (SIDE, SIDE))
    if wrong is not None:
        return wrong
    pattern = pattern.double()
    if pattern.abs().max() > 1 + 1e-6:
        return f"the value {_largest(pattern):.4g} is outside of −1 to 1, which two images of pixels on [0, 1] allow."
    if pattern.square().mean() < FAINTEST:
        return (
            f"the sharp term hardly sees it: its mean square is {pattern.square().mean():.3g}, and at least {FAINTEST} "
            "is wanted."
        )
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


def _unusable(values, shape: tuple[int, ...]) -> str | None:
    if not isinstance(values, Tensor):
        return f"got a {type(values).__name__}; wanted is a tensor of shape {shape}."
    if tuple(values.shape) != shape:
        return f"got the shape {tuple(values.shape)}; wanted is {shape}."
    if values.is_complex() or values.dtype == torch.bool:
        return f"got {values.dtype}; wanted are numbers, float32 for instance."
    if not values.double().isfinite().all():
        return "some of the numbers are NaN or infinite."
    return None


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
PATTERN_WRONG = (
    Wrong(_stripes((1.0, -1.0)) * _stripes((1.0, -1.0)).T, "A window of 3 × 3 holds five fields of one colour"),
    Wrong(_stripes((1.0, -1.0)), "sums to"),
    Wrong(_stripes((1.0, 0.0, -1.0)), "All windows inside are right; those at the edge"),
    Wrong(_stripes((1.0, -0.5, -0.5)), "All windows inside are right; those at the edge"),
    Wrong(torch.zeros(SIDE, SIDE), "the sharp term hardly sees it"),
    Wrong(1e-3 * PATTERN, "the sharp term hardly sees it"),
    Wrong(2 * PATTERN, "outside of −1 to 1"),
    Wrong(PATTERN[0], "wanted is (8, 8)"),
    Wrong(PATTERN[None], "wanted is (8, 8)"),
    Wrong(PATTERN.tolist(), "got a list"),
)

# 16.5 -----------------------------------------------------------------------------------------------------------------

LINE, REACH = 16, 15
SLACK = 1e-3  # by how much a distance may miss proportionality, relatively


def ruler_fault(kernel) -> str | None:
    """Whether blurred lit pixels on a line of 16 are as far apart as their places; if not, which pair is not."""
    wrong = _unusable(kernel, (2 * REACH + 1,))
    if wrong is not None:
        return wrong
    kernel = kernel.double()
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
    if per_pixel[far] <= (1 + SLACK) * per_pixel[near]:
        return None
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
RULER_WRONG = (
    Wrong(_box(-7, 7) / 15, "Nearly: this is the chapter's box"),
    Wrong(_box(-15, 15) / 31, "A window that sees all tells nothing."),
    Wrong(_box(0, 0), "One weight alone does not blur"),
    Wrong(_box(-3, 3) / 7, "how many edges of the two windows lie inside the line"),
    Wrong(_box(0, 7), "how many edges of the two windows lie inside the line"),
    Wrong(torch.exp(-0.5 * (_OFFSET / 4) ** 2), "The weights differ"),
    Wrong((16 - _OFFSET.abs()) / 16, "The weights differ"),
    Wrong(torch.where(_OFFSET > 0, 1.0, -1.0), "is negative"),
    Wrong(torch.zeros(31), "all weights are 0"),
    Wrong(torch.ones(15) / 15, "wanted is (31,)"),
    Wrong([1 / 16] * 31, "got a list"),
)

# 16.6 -----------------------------------------------------------------------------------------------------------------

FACTORS = {
    "rook": "in order", "dimmer": "in order", "grating": "nearly blind", "lamp": "no order", "lottery": "no order",
}  # fmt: skip
FACTOR_WORDS = ("in order", "no order", "nearly blind")
FACTORS_WRONG = {
    (
        "rook",
        "no order",
    ): "rook: that is XYSquares. The sharp term has no order here, and the blurred one is made for it.",
    ("rook", "nearly blind"): "rook: a square is 64 wrong pixels side by side, which is what a wide blur sees best.",
    ("dimmer", "no order"): "dimmer: the difference of two brightnesses is one square, as strong as they are apart, "
    "sharp or blurred.",
    ("dimmer", "nearly blind"): "dimmer: the whole square changes, and all its pixels in the same direction.",
    ("grating", "in order"): "grating: how many of the 63 pixels in one row of a window are white, wherever the "
    "grating begins?",
    ("grating", "no order"): "grating: is there anything left to be put in order? 63 is seven times nine.",
    ("lamp", "in order"): "lamp: the blur is done channel by channel. No colour is between two others.",
    ("lamp", "nearly blind"): "lamp: in two of the channels a whole square comes or goes.",
    ("lottery", "in order"): "lottery: the images are the rook's, but distances follow the places, and the numbers "
    "do not.",
    (
        "lottery",
        "nearly blind",
    ): "lottery: the images are the rook's, and so are the distances. Only the numbers differ.",
}


def factor_images() -> dict[str, Tensor]:
    """The five factors as the task describes them: name → float64 (values, channels, 64, 64)."""
    line = torch.arange(64)
    square = torch.zeros(1, 64, 64, dtype=torch.float64)
    square[:, 28:36, 28:36] = 1
    rook = torch.stack([square.roll(8 * value - 28, 2) for value in range(8)])
    dimmer = torch.stack([(0.3 + 0.1 * value) * square for value in range(8)])
    stripes = [((line.unsqueeze(1) + line + value) % 9 < 4).double().unsqueeze(0) for value in range(9)]
    lamp = torch.zeros(3, 3, 64, 64, dtype=torch.float64)
    lamp[torch.arange(3), torch.arange(3)] = square
    return {
        "rook": rook, "dimmer": dimmer, "grating": torch.stack(stripes), "lamp": lamp,
        "lottery": rook[[3, 6, 0, 4, 7, 1, 5, 2]],
    }  # fmt: skip


def blurred_share(images: Tensor) -> float:
    """The blurred term, weighted, as a multiple of the sharp one, over all pairs; radius 31."""
    sharp, soft = (pairs.mean().item() for pairs in _terms(images))
    return soft / sharp


def blurred_rank(images: Tensor) -> float:
    """Rank correlation of |i − j| with the blurred term over distinct pairs; 0 where all are equal."""
    first, second = torch.triu_indices(len(images), len(images), 1)
    _, soft = _terms(images)
    return correlations((second - first).double(), (soft / soft.max()).round(decimals=9))[1]


def _terms(images: Tensor) -> tuple[Tensor, Tensor]:
    """Of each distinct pair the sharp and the blurred sum of squares."""
    first, second = torch.triu_indices(len(images), len(images), 1)
    difference = images[first] - images[second]
    soft = 63 * avg_pool2d(difference, 63, 1, 31)
    return difference.square().sum((1, 2, 3)), soft.square().sum((1, 2, 3))
