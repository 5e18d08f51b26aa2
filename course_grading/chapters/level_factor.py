"""Chapter 14's answers that are no functions: an order, eight images, and what a row of a table says."""

import torch
from torch import Tensor

from course_grading.calling import one_line
from course_grading.exercise import Wrong

COUNT, SIDE = 8, 16
SHAPE = (COUNT, 1, SIDE, SIDE)


def images_fault(images) -> str | None:
    """Whether eight images are equally far from each other although any two of them overlap; if not, why not."""
    wrong = _unusable(images)
    if wrong is not None:
        return wrong
    lit = (images.flatten(1) > 0).double()  # (8, 256)
    shared = lit @ lit.T
    area = shared.diagonal()
    differing = (area.unsqueeze(1) + area - 2 * shared).long()
    row, column = torch.triu_indices(COUNT, COUNT, 1)
    counts, overlaps = differing[row, column], shared[row, column]
    if (counts == 0).any():
        place = int((counts == 0).nonzero()[0])
        return f"images {row[place]} and {column[place]} are the same: a factor changes the image."
    if not (counts == counts[0]).all():
        near, far = int(counts.argmin()), int(counts.argmax())
        return (
            f"images {row[near]} and {column[near]} differ in {counts[near]} pixels, images {row[far]} and "
            f"{column[far]} in {counts[far]}: the loss can still tell near from far.{_diagnosis(lit, overlaps)}"
        )
    if (overlaps == 0).any():
        place = int((overlaps == 0).nonzero()[0])
        return (
            f"every pair is equally far, but images {row[place]} and {column[place]} share no white pixel. That is "
            "XYSquares again; here any two have to overlap."
        )
    return None


def _unusable(images) -> str | None:
    if not isinstance(images, Tensor):
        return f"got a {type(images).__name__}; wanted is a tensor, uint8 {SHAPE}."
    if tuple(images.shape) != SHAPE:
        return f"got the shape {tuple(images.shape)}; wanted is {SHAPE}: eight images with one channel."
    if images.dtype != torch.uint8:
        return f"got {images.dtype}; wanted is torch.uint8, with the values 0 and 255."
    odd = images[(images != 0) & (images != 255)]
    if odd.numel():
        return f"got the value {one_line(odd[0].item())}; allowed are 0 (black) and 255 (white)."
    return None


def _diagnosis(lit: Tensor, overlaps: Tensor) -> str:
    if lit.sum(1).unique().numel() > 1:
        return " The shapes have different sizes, which alone changes the distance."
    if (overlaps == 0).any() and (overlaps > 0).any():
        return " Some pairs overlap and others do not, as with a square that slides."
    return " All shapes have one size, so the overlap has to be the same for each pair, too."


def _moving_squares(step: int, side: int, block: bool = False) -> Tensor:
    """A white square at eight places of two rows, and if wanted a block in the corner that is always white."""
    images = torch.zeros(SHAPE, dtype=torch.uint8)
    for place in range(COUNT):
        top, left = divmod(place * step, SIDE)
        images[place, 0, top : top + side, left : left + side] = 255
    if block:
        images[:, 0, -4:, -4:] = 255
    return images


def _bars() -> Tensor:
    images = torch.zeros(SHAPE, dtype=torch.uint8)
    for place in range(COUNT):
        images[place, 0, :, : place + 1] = 255
    return images


def _one_without() -> Tensor:
    images = _moving_squares(2, 2, block=True)
    images[-1, 0, :2] = 0  # the last has only the block
    return images


RIGHT_IMAGES = _moving_squares(2, 2, block=True)
IMAGES_WRONG = (
    Wrong(_moving_squares(2, 2), "share no white pixel. That is XYSquares again"),
    Wrong(_moving_squares(1, 4), "Some pairs overlap and others do not, as with a square that slides."),
    Wrong(_moving_squares(1, 4, block=True), "All shapes have one size, so the overlap has to be the same"),
    Wrong(_bars(), "The shapes have different sizes"),
    Wrong(_one_without(), "The shapes have different sizes"),
    Wrong(_moving_squares(0, 4), "are the same: a factor changes the image."),
    Wrong(RIGHT_IMAGES[:, 0], "wanted is (8, 1, 16, 16)"),
    Wrong(RIGHT_IMAGES.float() / 255, "wanted is torch.uint8"),
    Wrong(RIGHT_IMAGES // 255, "allowed are 0 (black) and 255 (white)"),
    Wrong(RIGHT_IMAGES.tolist(), "got a list"),
)

ORDER = ("leap", "grow", "creep", "dim")
BEFORE = {  # (first, second): why the first moves the picture further
    (
        "leap",
        "grow",
    ): "leap and grow: two squares apart differ in all of both, 128 pixels; a growing one only in "
    "the rim that is added.",
    ("leap", "creep"): "leap and creep: a square that creeps still covers most of where it was.",
    ("leap", "dim"): "leap and dim: dimming changes all 64 pixels, but by half a grey scale at most, and squared.",
    (
        "grow",
        "creep",
    ): "grow and creep: creeping by k pixels uncovers k columns and covers k; from 8² to 15² pixels "
    "the areas differ by 69 on average. Count both.",
    ("grow", "dim"): "grow and dim: a new pixel is wrong by 1, a dimmed one by ½ at most, which is ¼ squared.",
    ("creep", "dim"): "creep and dim: an uncovered pixel is wrong by 1, a dimmed one by ½ at most, which is ¼ squared.",
}


def order_fault(answer) -> str | None:
    """Whether the four names are in the order of their mean perceived distances, the largest first."""
    if isinstance(answer, str) or not isinstance(answer, list | tuple):
        return f"got a {type(answer).__name__}; wanted is a list of the four names, the largest distance first."
    given = [one_line(name).strip().lower() for name in answer]
    if sorted(given) != sorted(ORDER):
        return f"got {one_line(', '.join(given), 80)!r}; wanted is each of {', '.join(sorted(ORDER))} once."
    if given == list(ORDER)[::-1]:
        return "the right order, turned round: the largest distance comes first."
    for first, second in BEFORE:
        if given.index(first) > given.index(second):
            return BEFORE[first, second]
    return None


ORDER_WRONG = (
    Wrong(["grow", "leap", "creep", "dim"], BEFORE["leap", "grow"]),
    Wrong(["creep", "leap", "grow", "dim"], BEFORE["leap", "creep"]),
    Wrong(["dim", "leap", "grow", "creep"], BEFORE["leap", "dim"]),
    Wrong(["leap", "creep", "grow", "dim"], BEFORE["grow", "creep"]),
    Wrong(["leap", "dim", "grow", "creep"], BEFORE["grow", "dim"]),
    Wrong(["leap", "grow", "dim", "creep"], BEFORE["creep", "dim"]),
    Wrong(["dim", "creep", "grow", "leap"], "turned round"),
    Wrong("leap, grow, creep, dim", "got a str; wanted is a list"),
    Wrong(["leap", "grow", "creep"], "each of creep, dim, grow, leap once"),
)

READING = {
    "first": "supported", "light": "supported", "typical": "contradicted", "ordered": "not said",
    "invisible": "contradicted",
}  # fmt: skip
WORDS = ("supported", "contradicted", "not said")
READING_WRONG = {
    ("first", "contradicted"): "first: lighting costs about 16 times as much when it is unknown (.0531 against .0034).",
    ("first", "not said"): "first: what a factor costs when it is unknown is just what the mean says.",
    ("light", "contradicted"): "light: .0531 along lighting alone, .0535 between any two images: nearly the same.",
    ("light", "not said"): "light: compare the row of lighting with that of random pairs.",
    ("typical", "supported"): "typical: the standard deviation is as large as the mean. So many lie far from it.",
    ("typical", "not said"): "typical: look at the number after the ±.",
    ("ordered", "supported"): "ordered: a mean over all pairs does not know which of them are neighbours. (Table "
    "4.1 has a correlation for this, and it is below that of noise.)",
    ("ordered", "contradicted"): "ordered: perhaps it is wrong, but not because of this row: a mean does not know "
    "which pairs are neighbours.",
    ("invisible", "supported"): "invisible: .0034 is small and not 0. With enough capacity it is worth its nats.",
    ("invisible", "not said"): "invisible: a loss that cannot see a factor has distance 0 along it, not .0034.",
}  # fmt: skip
