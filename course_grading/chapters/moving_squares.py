"""Chapter 15's squares on a raster: in how many pixels two of them differ, and a row of them that must not leak.

The references draw every square and count; what is asked for may be computed in any way.
"""

import torch
from torch import Tensor

from course_grading.exercise import Wrong

# 15.1 -----------------------------------------------------------------------------------------------------------------


def place_pairs(generator: torch.Generator) -> list[list]:
    """Pairs of places (x, y): far apart, overlapping, equal; squares that touch, slide, and leave gaps."""
    cases = []
    for count, spacing, side in ((40, 3, 8), (60, 1, 5), (20, 4, 4), (20, 5, 2), (7, 2, 1), (1, 6, 7)):
        first, second = (torch.randint(8, (count, 2), generator=generator) for _ in range(2))
        first[0] = second[0]  # an image and itself
        cases.append([first, second, spacing, side])
    return cases


def differing_pixels(first: Tensor, second: Tensor, spacing: int, side: int) -> Tensor:
    pixels = torch.arange(int(max(first.max(), second.max())) * spacing + side)

    def drawn(places):
        corner = (spacing * places).unsqueeze(2)
        x, y = ((pixels >= corner) & (pixels < corner + side)).unbind(1)  # (B, pixels) each
        return y.unsqueeze(2) & x.unsqueeze(1)

    return (drawn(first) ^ drawn(second)).sum((1, 2))


def _gaps(first, second, spacing):
    return spacing * (first - second).abs()


def _from_shared(shared, side):
    return 2 * (side**2 - shared)


DIFFERING_WRONG = (
    Wrong(
        lambda a, b, s, side: _from_shared((side - _gaps(a, b, s)).prod(1), side),
        "beyond its width, what two squares share is 0 and not negative; and the product of two negative sides even "
        "counts as an overlap. Cut each side off at 0.",
    ),
    Wrong(
        lambda a, b, s, side: _from_shared((side - _gaps(a, b, s)).prod(1).clamp(min=0), side),
        "the product was cut off at 0, but the product of two negative sides is positive: cut each side off first.",
    ),
    Wrong(
        lambda a, b, s, side: 2 * side * _gaps(a, b, s).sum(1).clamp(max=side),
        "the steps in x and in y were added, as if the square went round a corner. What is shared is a rectangle: its "
        "two sides are multiplied.",
    ),
    Wrong(
        lambda a, b, s, side: 2 * side * _gaps(a, b, s).clamp(max=side).sum(1),
        "the counts for x and for y were added: where the square has moved both ways, that counts some pixels twice, "
        "and can exceed both squares together.",
    ),
    Wrong(
        lambda a, b, s, side: 2 * side * _gaps(a, b, s).amax(1).clamp(max=side),
        "only the larger of the two steps was counted: the smaller one takes away from the overlap too.",
    ),
    Wrong(
        lambda a, b, s, side: 2 * side * _gaps(a, b, s)[:, 0].clamp(max=side),
        "only x was used: the squares move in y as well.",
    ),
    Wrong(
        lambda a, b, s, side: differing_pixels(a, b, s, side) // 2,
        "half of it: pixels that were left differ, and pixels that were reached differ too.",
    ),
    Wrong(
        lambda a, b, s, side: side**2 - differing_pixels(a, b, s, side) // 2,
        "this is what the squares share: what differs is asked for.",
    ),
    Wrong(
        lambda a, b, s, side: side**2 + differing_pixels(a, b, s, side) // 2,
        "this is the area that the two cover together: what both cover does not differ.",
    ),
    Wrong(
        lambda a, b, s, side: differing_pixels(a, b, 1, side),
        "a step of 1 in the factor was taken for one pixel: it is `spacing` pixels.",
    ),
    Wrong(
        lambda a, b, s, side: _from_shared((side - s * (a - b)).clamp(min=0).prod(1), side),
        "the difference was taken with its sign: a step to the left counts as one to the right does.",
    ),
    Wrong(
        lambda a, b, s, side: differing_pixels(a, b, s, side).float(),
        "got torch.float32, and the right numbers: pixels are counted, int64 is wanted.",
    ),
)

# 15.3 -----------------------------------------------------------------------------------------------------------------


def rows_of_squares(generator: torch.Generator) -> list[list[int]]:
    """Numbers of places, sides and canvases with a step of at least the side; the last needs rounding down."""
    more = int(torch.randint(0, 5, (), generator=generator))
    return [[8, 8, 64], [5, 3, 20 + more], [4, 7, 40], [2, 5, 11], [6, 2, 16 + more], [7, 4, 37]]


def row_of_squares(places: int, side: int, canvas: int) -> Tensor:
    return _row([k * (canvas - side) // (places - 1) for k in range(places)], side, canvas)


def _row(lefts, side, canvas, top=None, value=255):
    pixel = torch.arange(canvas)
    top = (canvas - side) // 2 if top is None else top
    rows = (pixel >= top) & (pixel < top + side)
    left = torch.tensor(lefts).unsqueeze(1)
    columns = (pixel >= left) & (pixel < left + side)
    return (rows.view(1, -1, 1) & columns.unsqueeze(1)).to(torch.uint8) * value


def _centred(places, side, canvas):
    """The planted fault: the centres go from edge to edge, so the first and the last square are cut off."""
    return [k * canvas // (places - 1) - side // 2 for k in range(places)]


def _wrapped(places, side, canvas):
    first = _row([0] * places, side, canvas)
    lefts = _centred(places, side, canvas)
    return torch.stack([image.roll(left, 1) for image, left in zip(first, lefts, strict=True)])


ROW_WRONG = (
    Wrong(
        lambda n, side, canvas: _row(_centred(n, side, canvas), side, canvas),
        "the planted fault is still there: the first and the last square are cut off at the border, so they are "
        "smaller, and nearer to all others.",
    ),
    Wrong(
        lambda n, side, canvas: _row([max(left, 0) for left in _centred(n, side, canvas)], side, canvas),
        "the first square is whole now, and the last one is still cut off at the right border.",
    ),
    Wrong(
        lambda n, side, canvas: _row(
            [min(max(left, 0), canvas - side) for left in _centred(n, side, canvas)], side, canvas
        ),
        "the squares at the borders were pushed back into the image, the others stayed: now the first and the last "
        "step are shorter than the rest. Spread the left edges evenly instead.",
    ),
    Wrong(
        _wrapped,
        "what was cut off at the border comes in again on the other side: all squares are whole in area, but the first "
        "and the last share pixels, so that the last place is next to the first.",
    ),
    Wrong(
        lambda n, side, canvas: _row([k * side for k in range(n)], side, canvas),
        "steps of `side` do not bring the last square to the right border wherever the canvas is wider.",
    ),
    Wrong(
        lambda n, side, canvas: _row([k * ((canvas - side) // (n - 1)) for k in range(n)], side, canvas),
        "the step was rounded down before it was multiplied: the last square does not reach the right border.",
    ),
    Wrong(
        lambda n, side, canvas: _row([k * (canvas - side - 1) // (n - 1) for k in range(n)], side, canvas),
        "the last square ends one pixel before the border: its left edge is at canvas − side.",
    ),
    Wrong(
        lambda n, side, canvas: _row([k * (canvas - side) // n for k in range(n)], side, canvas),
        "from the first of n places to the last there are n − 1 steps, not n.",
    ),
    Wrong(
        lambda n, side, canvas: _row([round(k * (canvas - side) / (n - 1)) for k in range(n)], side, canvas),
        "the left edges were rounded to the nearest pixel: the task rounds down.",
    ),
    Wrong(
        lambda n, side, canvas: row_of_squares(n, side, canvas).mT.contiguous(),
        "the square moves down: it moves to the right, and columns are the last axis.",
    ),
    Wrong(
        lambda n, side, canvas: _row([k * (canvas - side) // (n - 1) for k in range(n)], side, canvas, top=0),
        "the squares are at the upper edge: their upper edge is at (canvas − side) // 2.",
    ),
    Wrong(lambda n, side, canvas: row_of_squares(n, side, canvas) // 255, "white is 255, and here it is 1."),
)
