"""Chapter 15's answers that are no functions: an adversary with two axes, and eight repairs of one without order."""

import torch
from torch import Tensor

from course_grading.exercise import Wrong

VALUES, SIDE = 4, 16
SHAPE = (VALUES, VALUES, 1, SIDE, SIDE)


def grid_fault(images) -> str | None:
    """Whether 4 × 4 images are c apart where one factor differs and 2c where both do; if not, why not."""
    wrong = _unusable(images)
    if wrong is not None:
        return wrong
    flat = images.flatten(0, 1).flatten(1).double()
    table = (flat.unsqueeze(1) - flat).square().sum(2)
    first, second = torch.triu_indices(VALUES**2, VALUES**2, 1)
    found = table[first, second]
    if (found == 0).any():
        place = int((found == 0).nonzero()[0])
        return f"images {_name(first[place])} and {_name(second[place])} are the same: each factor changes the image."
    in_x, in_y = (first // VALUES != second // VALUES), (first % VALUES != second % VALUES)
    along = {"x": found[in_x & ~in_y], "y": found[in_y & ~in_x]}
    for name, some in along.items():
        if some.unique().numel() > 1:
            return (
                f"along {name} the squared distances run from {some.min():,.0f} to {some.max():,.0f}: all pairs that "
                f"differ in {name} alone must be equally far.{_slides(images, name) or _meets(images, name)}"
            )
    x, y = (some[0].item() for some in along.values())
    if x != y:
        return f"{x:,.0f} along x and {y:,.0f} along y: both must be the same c. Let what moves be of one size."
    return _both_fault(found[in_x & in_y], x)


def _both_fault(both: Tensor, step: float) -> str | None:
    if (both == 2 * step).all():
        return None
    if (both == step).all():
        return (
            "pairs that differ in both factors are as far as those that differ in one: that is one square of "
            "XYSquares, where the loss cannot tell x from y. Here it must be able to: give each factor something of "
            "its own to move."
        )
    low, high = f"{both.min():,.0f}", f"{both.max():,.0f}"
    return (
        f"pairs that differ in both are at {low if low == high else f'{low} to {high}'}, and twice {step:,.0f} is "
        "wanted. Does what x moves cover what y moves in some of the images?"
    )


def _unusable(images) -> str | None:
    if not isinstance(images, Tensor):
        return f"got a {type(images).__name__}; wanted is a tensor, uint8 {SHAPE}."
    if tuple(images.shape) != SHAPE:
        return f"got the shape {tuple(images.shape)}; wanted is {SHAPE}: x, y, one channel, height and width."
    if images.dtype != torch.uint8:
        return f"got {images.dtype}; wanted is torch.uint8, with values from 0 to 255."
    return None


def _name(place) -> tuple[int, int]:
    return int(place) // VALUES, int(place) % VALUES


def _slides(images: Tensor, name: str) -> str:
    """A hint where neighbours are much nearer than the ends."""
    lines = _lines(images, name)
    steps, ends = (lines[1:] - lines[:-1]).square().sum(2), (lines[-1] - lines[0]).square().sum(1)
    slides = (steps < 0.75 * ends).all()
    return " Neighbours are nearer than the ends: something slides over itself." if slides else ""


def _meets(images: Tensor, name: str) -> str:
    """A hint where the distance of two values depends on the other factor, as it does if the parts share pixels."""
    tables = torch.stack([torch.cdist(line, line) for line in _lines(images, name).unbind(1)])
    other = "y" if name == "x" else "x"
    same = torch.allclose(tables, tables[:1])
    return "" if same else f" How far depends on {other} as well: do the two parts touch, so that they share pixels?"


def _lines(images: Tensor, name: str) -> Tensor:
    """The images as (value of the factor, of the other, pixels)."""
    return (images if name == "x" else images.transpose(0, 1)).flatten(2).double()


def _boxes(draw) -> Tensor:
    """Black images, in each of which `draw(image, x, y)` has painted."""
    images = torch.zeros(SHAPE, dtype=torch.uint8)
    for x in range(VALUES):
        for y in range(VALUES):
            draw(images[x, y, 0], x, y)
    return images


def _box(image, top, left, height=4, width=4):
    image[top : top + height, left : left + width] = 255


def _two_lanes(image, x, y):
    _box(image, 0, 4 * x)
    _box(image, 12, 4 * y)


def _one_square(image, x, y):
    _box(image, 4 * y, 4 * x)


def _sliding(image, x, y):
    _box(image, 0, 2 * x)
    _box(image, 12, 2 * y)


def _crossing(image, x, y):
    _box(image, 0, 4 * x, height=16)
    _box(image, 4 * y, 0, width=16)


def _unequal(image, x, y):
    _box(image, 0, 4 * x)
    _box(image, 12, 4 * y, height=2)


def _meeting(image, x, y):
    """The lanes share rows: where both stand at the same place, the parts overlap."""
    _box(image, 0, 4 * x)
    _box(image, 2, 4 * y)


def _same_lane(image, x, y):
    _box(image, 0, 4 * x)
    _box(image, 0, 4 * y)


RIGHT_GRID = _boxes(_two_lanes)
GRID_WRONG = (
    Wrong(_boxes(_one_square), "that is one square of XYSquares, where the loss cannot tell x from y"),
    Wrong(_boxes(_sliding), "Neighbours are nearer than the ends: something slides over itself."),
    Wrong(_boxes(_crossing), "Does what x moves cover what y moves in some of the images?"),
    Wrong(_boxes(_meeting), "How far depends on y as well: do the two parts touch"),
    Wrong(_boxes(_unequal), "both must be the same c. Let what moves be of one size."),
    Wrong(_boxes(_same_lane), "are the same: each factor changes the image."),
    Wrong(torch.zeros(SHAPE, dtype=torch.uint8), "are the same: each factor changes the image."),
    Wrong(RIGHT_GRID.flatten(0, 1), "wanted is (4, 4, 1, 16, 16): x, y, one channel"),
    Wrong(RIGHT_GRID.float() / 255, "wanted is torch.uint8"),
    Wrong(RIGHT_GRID.tolist(), "got a list"),
)

REPAIRS = {
    "larger": "order", "coarser": "no order", "patience": "no order", "pairs": "no order", "between": "order",
    "tail": "order", "negative": "no order", "photograph": "no order",
}  # fmt: skip
WORDS = ("order", "no order")
REPAIRS_WRONG = {
    ("larger", "no order"): "larger: squares of 3 that move by 2 share a column of pixels with their neighbours.",
    ("coarser", "order"): "coarser: squares of 3 that move by 3 share nothing. That is the small grid, drawn larger.",
    ("patience", "order"): "patience: more steps lower the loss, and every order has the same loss: they prefer none.",
    ("pairs", "order"): "pairs: they say that the column has changed, and never how far.",
    ("between", "no order"): "between: two squares one pixel apart share a column of pixels. The new images are the "
    "stepping stones from each place to the next.",
    ("tail", "no order"): "tail: a square's tail lies where its left neighbours stand, so near places share pixels.",
    ("negative", "order"): "negative: |(1 − a) − (1 − b)| is |a − b|. No distance has changed.",
    ("photograph", "order"): "photograph: what is added to all images alike cancels in every difference.",
}  # fmt: skip
