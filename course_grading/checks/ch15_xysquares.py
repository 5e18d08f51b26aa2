"""Chapter 15, XYSquares: two squares on a raster, self-pairs, a row that must not leak, a price, axes, repairs."""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad, relu

from course_grading.answers import tensor, words
from course_grading.exercise import Function, Plain, either

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


DIFFERING_MISTAKES = {
    "beyond its width, what two squares share is 0 and not negative; and the product of two negative sides even "
    "counts as an overlap. Cut each side off at 0.":
        lambda a, b, s, side: 2 * (side**2 - (side - s * (a - b).abs()).prod(1)),
    "the product was cut off at 0, but the product of two negative sides is positive: cut each side off first.":
        lambda a, b, s, side: 2 * (side**2 - (side - s * (a - b).abs()).prod(1).clamp(min=0)),
    "the steps in x and in y were added, as if the square went round a corner. What is shared is a rectangle: its two"
    " sides are multiplied.":
        lambda a, b, s, side: 2 * side * (s * (a - b).abs()).sum(1).clamp(max=side),
    "the counts for x and for y were added: where the square has moved both ways, that counts some pixels twice, and "
    "can exceed both squares together.":
        lambda a, b, s, side: 2 * side * (s * (a - b).abs()).clamp(max=side).sum(1),
    "only the larger of the two steps was counted: the smaller one takes away from the overlap too.":
        lambda a, b, s, side: 2 * side * (s * (a - b).abs()).amax(1).clamp(max=side),
    "only x was used: the squares move in y as well.":
        lambda a, b, s, side: 2 * side * (s * (a - b).abs())[:, 0].clamp(max=side),
    "half of it: pixels that were left differ, and pixels that were reached differ too.":
        lambda a, b, s, side: differing_pixels(a, b, s, side) // 2,
    "this is what the squares share: what differs is asked for.":
        lambda a, b, s, side: side**2 - differing_pixels(a, b, s, side) // 2,
    "this is the area that the two cover together: what both cover does not differ.":
        lambda a, b, s, side: side**2 + differing_pixels(a, b, s, side) // 2,
    "a step of 1 in the factor was taken for one pixel: it is `spacing` pixels.":
        lambda a, b, s, side: differing_pixels(a, b, 1, side),
    "the difference was taken with its sign: a step to the left counts as one to the right does.":
        lambda a, b, s, side: 2 * (side**2 - (side - s * (a - b)).clamp(min=0).prod(1)),
    "got torch.float32, and the right numbers: pixels are counted; expected int64.":
        lambda a, b, s, side: differing_pixels(a, b, s, side).float(),
}  # fmt: skip


def _one_pair_at_a_time(first, second, spacing, side):
    found = []
    for (a, b), (c, d) in zip(first.tolist(), second.tolist(), strict=True):
        width, height = (max(side - spacing * abs(one - other), 0) for one, other in ((a, c), (b, d)))
        found.append(2 * side * side - 2 * width * height)
    return torch.tensor(found)


DIFFERING_RIGHT = (
    _one_pair_at_a_time,
    lambda a, b, s, side: (2 * (side**2 - relu(side - s * (a - b).abs().double()).prod(1))).round().long(),
    # what both cover lies between the larger of the left edges and the smaller of the right ones
    lambda a, b, s, side: 2 * side**2 - 2 * relu(torch.minimum(a, b) * s + side - torch.maximum(a, b) * s).prod(1),
)

# 15.2 -----------------------------------------------------------------------------------------------------------------


def laws_of_distances(generator: torch.Generator) -> list[list[Tensor]]:
    """Numbers of values with mean and deviation of the distances: all three random, no deviation, two values."""

    def drawn(low, high, count=6):
        return low + (high - low) * torch.rand(count, generator=generator, dtype=torch.float64)

    values = torch.randint(3, 40, (6,), generator=generator).double()
    few = torch.tensor([2.0, 2, 3, 8], dtype=torch.float64)
    return [
        [values, drawn(0.5, 3), drawn(0.2, 0.9)],
        [values, drawn(0.01, 0.1), torch.zeros(6, dtype=torch.float64)],
        [few, drawn(1, 2, 4), drawn(1.2, 4, 4)],
        [values[:1], drawn(2, 5, 1), drawn(0.1, 0.9, 1)],
    ]


def self_pair_correlation(values: Tensor, mean: Tensor, deviation: Tensor) -> Tensor:
    found = []
    for f, m, s in zip(values.long().tolist(), mean.tolist(), deviation.tolist(), strict=True):
        gaps = (torch.arange(f).unsqueeze(1) - torch.arange(f)).abs().flatten().double()
        apart = (gaps > 0).double()
        covariance = (gaps * apart * m).mean() - gaps.mean() * (apart * m).mean()
        variance = (apart * (m**2 + s**2)).mean() - (apart * m).mean() ** 2
        found.append(covariance / (gaps.var(correction=0) * variance).sqrt())
    return torch.stack(found)


def _scaled(f, m, variance, share=None):
    """The correlation with another variance of the distances, or another share of self-pairs in the covariance."""
    share = 1 / f if share is None else share
    gap = (f**2 - 1) / (3 * f)
    spread = (f**2 - 1) * (f**2 + 2) / (18 * f**2)
    return gap * m * share / (spread * variance) ** 0.5


def _between(f, m):
    return m**2 / f * (1 - 1 / f)


CORRELATION_MISTAKES = {
    "the deviation was left out: this is the chapter's formula for a distance that is constant.":
        lambda f, m, s: _scaled(f, m, _between(f, m)),
    "`deviation` is a standard deviation: its square is what variances add.":
        lambda f, m, s: _scaled(f, m, _between(f, m) + (1 - 1 / f) * s),
    "the noise was counted for all pairs: an image and itself are at distance 0 without any scatter, so only 1 − 1/f "
    "of the pairs have it.":
        lambda f, m, s: _scaled(f, m, _between(f, m) + s**2),
    "the variance lacks the part between self-pairs and the rest: their means are 0 and `mean`.":
        lambda f, m, s: _scaled(f, m, (1 - 1 / f) * s**2) if s.all() else torch.zeros_like(f),
    "the covariance lacks the mean: d is `mean` on average, not 1, and the covariance scales with it.":
        lambda f, m, s: self_pair_correlation(f, m, s) / m,
    "the share of self-pairs is 1/f: f of f² ordered pairs, not one of them.":
        lambda f, m, s: _scaled(f, m, _between(f, m) + (1 - 1 / f) * s**2, 1 / f**2),
    "this is the square of the correlation, the share of variance explained.":
        lambda f, m, s: self_pair_correlation(f, m, s).square(),
    "the mean of |i − j| was taken over distinct pairs, (f + 1)/3: with replacement it is (f² − 1)/(3f).":
        lambda f, m, s: self_pair_correlation(f, m, s) * f / (f - 1),
    "this is the rank correlation of a constant distance: expected the linear one, with scatter.":
        lambda f, m, s: f * (3 / ((f + 2) * (f**2 - f + 1))).sqrt(),
    "0 is right for distinct pairs. Here pairs are drawn with replacement, and one in f is an image and itself.":
        lambda f, m, s: torch.zeros_like(f),
    "averaged: expected one correlation for each law.": lambda f, m, s: self_pair_correlation(f, m, s).mean(),
}  # fmt: skip


def _by_moments(values, mean, deviation):
    """From E[Dd], E[d²] and so on."""
    apart = 1 - 1 / values
    gap, gap_square = (values**2 - 1) / (3 * values), (values**2 - 1) / 6
    covariance = mean * gap - gap * mean * apart
    variance = apart * (mean**2 + deviation**2) - (apart * mean) ** 2
    return covariance / ((gap_square - gap**2) * variance) ** 0.5


CORRELATION_RIGHT = (
    _by_moments,
    lambda f, m, s: (2 * (f + 1) / ((f**2 + 2) * (1 + f * (s / m) ** 2))).sqrt(),  # with everything cancelled
    lambda f, m, s: torch.from_numpy(_scaled(*(each.numpy() for each in (f, m, _between(f, m) + (1 - 1 / f) * s**2)))),
)

# 15.3 -----------------------------------------------------------------------------------------------------------------


def rows_of_squares(generator: torch.Generator) -> list[list[int]]:
    """Numbers of places, sides and canvases with a step of at least the side; in some the step is no whole number.

    In the last, left edges that are whole numbers come out just below if they are computed as floats, in this way or
    that: many places at small steps.
    """
    more = int(torch.randint(0, 5, (), generator=generator))
    few = [[8, 8, 64], [5, 3, 20 + more], [4, 7, 40], [2, 5, 11], [6, 2, 16 + more], [7, 4, 37]]
    return [*few, [15, 2, 34], [8, 2, 33], [34, 1, 46]]


def row_of_squares(places: int, side: int, canvas: int) -> Tensor:
    return _row([k * (canvas - side) // (places - 1) for k in range(places)], side, canvas)


def _row(lefts, side, canvas, top=None):
    pixel = torch.arange(canvas)
    top = (canvas - side) // 2 if top is None else top
    rows = (pixel >= top) & (pixel < top + side)
    left = torch.as_tensor(lefts).unsqueeze(1)
    columns = (pixel >= left) & (pixel < left + side)
    return (rows.view(1, -1, 1) & columns.unsqueeze(1)).to(torch.uint8) * 255


def _with_edges(lefts):
    """A row whose left edges are `lefts(places, side, way)`; the way is that from the first to the last, in pixels."""
    return lambda n, side, canvas: _row(lefts(n, side, canvas - side), side, canvas)


def _cut_off(places: int, side: int, way: int) -> Tensor:
    """The planted fault: the centres go from edge to edge, so the first and the last square are cut off."""
    return torch.arange(places) * (way + side) // (places - 1) - side // 2


def _wrapped(places, side, canvas):
    drawn = zip(_row([0] * places, side, canvas), _cut_off(places, side, canvas - side).tolist(), strict=True)
    return torch.stack([image.roll(left, 1) for image, left in drawn])


ROW_MISTAKES = {
    "the planted fault is still there: the first and the last square are cut off at the border, so they are smaller, "
    "and nearer to all others.":
        _with_edges(_cut_off),
    "the first square is whole now, and the last one is still cut off at the right border.":
        _with_edges(lambda n, side, way: _cut_off(n, side, way).clamp(min=0)),
    "the squares at the borders were pushed back into the image, the others stayed: now the first and the last step "
    "are shorter than the rest. Spread the left edges evenly instead.":
        _with_edges(lambda n, side, way: _cut_off(n, side, way).clamp(0, way)),
    "what was cut off at the border comes in again on the other side: all squares are whole in area, but the first "
    "and the last share pixels, so that the last place is next to the first.":
        _wrapped,
    "steps of `side` do not bring the last square to the right border wherever the canvas is wider.":
        _with_edges(lambda n, side, way: side * torch.arange(n)),
    "the step was rounded down before it was multiplied: the last square does not reach the right border.":
        _with_edges(lambda n, side, way: way // (n - 1) * torch.arange(n)),
    "the last square ends one pixel before the border: its left edge is at canvas − side.":
        _with_edges(lambda n, side, way: (way - 1) * torch.arange(n) // (n - 1)),
    "from the first of n places to the last there are n − 1 steps, not n.":
        _with_edges(lambda n, side, way: way * torch.arange(n) // n),
    "the left edges were rounded to the nearest pixel: the task rounds down.":
        _with_edges(lambda n, side, way: [round(k * way / (n - 1)) for k in range(n)]),
    "the left edges were computed as floats, where a whole number can come out a hair too small and is then rounded "
    "down: stay in whole numbers, place * (canvas − side) // (places − 1).":
        either(
            _with_edges(lambda n, side, way: torch.linspace(0, way, n).long()),
            _with_edges(lambda n, side, way: torch.linspace(0, way, n, dtype=torch.float64).long()),
            _with_edges(lambda n, side, way: (torch.arange(n) * (way / (n - 1))).long()),
            _with_edges(lambda n, side, way: [int(k * (way / (n - 1))) for k in range(n)]),
        ),
    "the square moves down: it moves to the right, and columns are the last axis.":
        lambda n, side, canvas: row_of_squares(n, side, canvas).mT.contiguous(),
    "the squares are at the upper edge: their upper edge is at (canvas − side) // 2.":
        lambda n, side, canvas: _row(torch.arange(n) * (canvas - side) // (n - 1), side, canvas, top=0),
    "white is 255, and here it is 1.": lambda n, side, canvas: row_of_squares(n, side, canvas) // 255,
}  # fmt: skip


def _padded(places, side, canvas):
    white = torch.full((side, side), 255, dtype=torch.uint8)
    top, bottom = (canvas - side) // 2, canvas - side - (canvas - side) // 2
    lefts = [place * (canvas - side) // (places - 1) for place in range(places)]
    return torch.stack([pad(white, (left, canvas - side - left, top, bottom)) for left in lefts])


ROW_RIGHT = (
    _padded,
    _with_edges(lambda n, side, way: torch.arange(n) * way // (n - 1)),
    _with_edges(lambda n, side, way: (torch.linspace(0, way, n, dtype=torch.float64) + 1e-6).long()),  # safe by now
)

# 15.4 -----------------------------------------------------------------------------------------------------------------


def distance_tables(generator: torch.Generator) -> list[list[Tensor]]:
    """Squared distances of points: random, far from 0, on a line, all equally far, two of them equal."""
    clouds = [torch.randn(3, 9, 4, generator=generator, dtype=torch.float64) for _ in range(2)]
    clouds[1] = clouds[1] * torch.tensor([5.0, 2, 1, 0.1]) + 30
    line = torch.arange(12.0, dtype=torch.float64).view(1, 12, 1) * torch.tensor([[[1.0, 2.0]]])
    even = (torch.eye(10, dtype=torch.float64) * 3).unsqueeze(0)
    twins = torch.randn(2, 5, 3, generator=generator, dtype=torch.float64)
    twins[:, 4] = twins[:, 3]
    return [[_squared(points)] for points in (*clouds, line, even, twins)]


def _squared(points: Tensor) -> Tensor:
    return (points.unsqueeze(2) - points.unsqueeze(1)).square().sum(3)


def starting_price(distances: Tensor) -> Tensor:
    """2λ from points placed so that the first lies at 0, and centred only then."""
    to_first = distances[:, :1]
    products = (to_first.mT + to_first - distances) / 2
    value, direction = torch.linalg.eigh(products)
    points = direction * value.clamp(min=0).sqrt().unsqueeze(1)
    points = points - points.mean(1, keepdim=True)
    return 2 * torch.linalg.svdvals(points)[:, 0].square() / distances.shape[1]


def _centred(table: Tensor) -> Tensor:
    return table - table.mean(1, keepdim=True) - table.mean(2, keepdim=True) + table.mean((1, 2), keepdim=True)


def _largest(table: Tensor) -> Tensor:
    return torch.linalg.eigvalsh(table)[:, -1] / table.shape[1]


PRICE_MISTAKES = {
    "the table was not centred: take the means of rows and columns off first. Until then −½ of it holds more than "
    "products, half of ‖x_i‖² and ‖x_j‖² as well.":
        lambda d: 2 * _largest(-d / 2),
    "only the rows were centred: columns too, so that the table stays symmetric.":
        lambda d: 2 * _largest(-(d - d.mean(2, keepdim=True)) / 2),
    "0, or nearly: either the sign is missing, for products of images are −½ of the centred table, or the smallest "
    "eigenvalue was taken, for eigvalsh sorts them upwards.":
        lambda d: 2 * _largest(_centred(d) / 2),
    "twice of it: the products of images are −½ of the centred table, and the ½ is missing.":
        lambda d: 2 * starting_price(d),
    "this is λ: a small step pays below β = 2λ.": lambda d: starting_price(d) / 2,
    "divided by n − 1: the identity averages over the n images as they are, with 1/n.":
        lambda d: starting_price(d) * d.shape[1] / (d.shape[1] - 1),
    "not divided by n: an eigenvalue of the products is n times one of the covariance.":
        lambda d: starting_price(d) * d.shape[1],
    "the sum of all eigenvalues: a first step is made along one direction, the largest counts.":
        lambda d: 2 * torch.linalg.eigvalsh(-_centred(d) / 2).sum(1) / d.shape[1],
    "the root of the distances was taken: the table holds squared distances, as the formula has them.":
        lambda d: 2 * _largest(-_centred(d.sqrt()) / 2),
    "this is the mean distance divided by n, which is right only where all distances are the same.":
        lambda d: d.sum((1, 2)) / (d.shape[1] - 1) / d.shape[1] ** 2,
    "this is the largest distance divided by n, which is right only where all distances are the same.":
        lambda d: d.amax((1, 2)) / d.shape[1],
    "expected one price for each table, (m,).": lambda d: starting_price(d).max(),
}  # fmt: skip


def _by_a_centring_matrix(distances):
    size = distances.shape[1]
    centre = torch.eye(size, dtype=distances.dtype) - 1 / size
    return torch.linalg.eigvalsh(-centre @ distances @ centre)[:, -1] / size


PRICE_RIGHT = (
    _by_a_centring_matrix,
    # only the rows are centred; but all eigenvalues of what is not symmetric are found, and they are the right ones
    lambda d: torch.linalg.eigvals(d.mean(2, keepdim=True) - d).real.amax(1) / d.shape[1],
    lambda d: torch.from_numpy(-np.linalg.eigvalsh(_centred(d).numpy())[:, 0] / d.shape[1]),
)

# 15.5 -----------------------------------------------------------------------------------------------------------------

VALUES, SIDE = 4, 16
SHAPE = (VALUES, VALUES, 1, SIDE, SIDE)


def grid_fault(images) -> str | None:
    """Whether 4 × 4 images are c apart where one factor differs and 2c where both do; if not, why not."""
    images = tensor(images, SHAPE, "x, y, one channel, height and width", torch.uint8)
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
        f"pairs that differ in both are at {low if low == high else f'{low} to {high}'}; expected twice "
        f"{step:,.0f}. Does what x moves cover what y moves in some of the images?"
    )


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


def _painted(whites) -> Tensor:
    """Black images, of which `whites(x, y)` gives the white boxes: (top, left), of 4 × 4 pixels if nothing is said."""
    images = torch.zeros(SHAPE, dtype=torch.uint8)
    for x in range(VALUES):
        for y in range(VALUES):
            for top, left, *size in whites(x, y):
                height, width = size or (4, 4)
                images[x, y, 0, top : top + height, left : left + width] = 255
    return images


GRID = _painted(lambda x, y: [(0, 4 * x), (12, 4 * y)])
GRID_MISTAKES = {
    "that is one square of XYSquares, where the loss cannot tell x from y": _painted(lambda x, y: [(4 * y, 4 * x)]),
    "Neighbours are nearer than the ends: something slides over itself.":
        _painted(lambda x, y: [(0, 2 * x), (12, 2 * y)]),
    "Does what x moves cover what y moves in some of the images?":
        _painted(lambda x, y: [(0, 4 * x, 16, 4), (4 * y, 0, 4, 16)]),
    "How far depends on y as well: do the two parts touch": _painted(lambda x, y: [(0, 4 * x), (2, 4 * y)]),
    "both must be the same c. Let what moves be of one size.": _painted(lambda x, y: [(0, 4 * x), (12, 4 * y, 2, 4)]),
    "are the same: each factor changes the image.":
        either(_painted(lambda x, y: [(0, 4 * x), (0, 4 * y)]), torch.zeros(SHAPE, dtype=torch.uint8)),
    "expected a tensor of shape (4, 4, 1, 16, 16): x, y, one channel": GRID.flatten(0, 1),
    "expected torch.uint8": GRID.float() / 255,
    "got a list": [*GRID.tolist(), 0],
}  # fmt: skip

LAMPS = _painted(lambda x, y: [(0, x, 1, 1), (15, y, 1, 1)])
SCENE = torch.arange(128, dtype=torch.uint8).repeat(2).view(1, SIDE, SIDE)  # of one photograph

# 15.6 -----------------------------------------------------------------------------------------------------------------

REPAIRS = {
    "larger": "order", "coarser": "no order", "patience": "no order", "pairs": "no order", "between": "order",
    "tail": "order", "negative": "no order", "photograph": "no order",
}  # fmt: skip
WORDS = ("order", "no order")
REPAIRS_MISTAKES = {
    "larger: squares of 3 that move by 2 share a column of pixels with their neighbours.": "no order",
    "coarser: squares of 3 that move by 3 share nothing. That is the small grid, drawn larger.": "order",
    "patience: more steps lower the loss, and every order has the same loss: they prefer none.": "order",
    "pairs: they say that the column has changed, and never how far.": "order",
    "between: two squares one pixel apart share a column of pixels. The new images are the stepping stones from each "
    "place to the next.":
        "no order",
    "tail: a square's tail lies where its left neighbours stand, so near places share pixels.": "no order",
    "negative: |(1 − a) − (1 − b)| is |a − b|. No distance has changed.": "order",
    "photograph: what is added to all images alike cancels in every difference.": "order",
}  # fmt: skip

# ----------------------------------------------------------------------------------------------------------------------

EXERCISES = {
    "15.1": Function(
        reference=differing_pixels, cases=place_pairs, mistakes=DIFFERING_MISTAKES, also_right=DIFFERING_RIGHT
    ),
    "15.2": Function(
        reference=self_pair_correlation,
        cases=laws_of_distances,
        mistakes=CORRELATION_MISTAKES,
        also_right=CORRELATION_RIGHT,
    ),
    "15.3": Function(reference=row_of_squares, cases=rows_of_squares, mistakes=ROW_MISTAKES, also_right=ROW_RIGHT),
    "15.4": Function(reference=starting_price, cases=distance_tables, mistakes=PRICE_MISTAKES, also_right=PRICE_RIGHT),
    "15.5": Plain(
        fault=grid_fault,
        mistakes=GRID_MISTAKES,
        also_right=(LAMPS // 2 + 100, 255 - LAMPS, GRID // 2 + SCENE, GRID.transpose(0, 1), GRID.tolist()),
        praise="right: the loss can tell x from y, and neither has an order.",
    ),
    "15.6": words(
        REPAIRS,
        WORDS,
        REPAIRS_MISTAKES,
        praise="right: what helps changes the distances of neighbours, and nothing else does.",
    ),
}
