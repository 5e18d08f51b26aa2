"""Chapter 14, perceived distance: of images, of all pairs, along a factor; an order, eight images, a table's row.

References are computed in float64 and with ranks of their own, not with `course_lib.distances`.
"""

from dataclasses import dataclass
from functools import partial

import torch
from scipy.stats import kendalltau, spearmanr
from torch import Tensor
from torch.nn.functional import mse_loss

from course_grading.answers import kind, listed, tensor, word, words
from course_grading.calling import one_line
from course_grading.correlations import pearson, ranks
from course_grading.exercise import Function, Plain, Unfit, either

# 14.1 -----------------------------------------------------------------------------------------------------------------

PIXELS = (1, 2, 3)  # the axes of an image


def image_pairs(generator: torch.Generator) -> list[list[Tensor]]:
    """Raw images: in colour, one grey pair, as many as a side has pixels, black against white, equal ones."""
    cases = []
    for shape in ((5, 3, 4, 6), (1, 1, 2, 2), (4, 4, 4, 4), (3, 2, 5, 3)):
        cases.append([torch.randint(256, shape, dtype=torch.uint8, generator=generator) for _ in range(2)])
    ends = torch.tensor([0, 255], dtype=torch.uint8).view(2, 1, 1, 1).expand(2, 1, 3, 3).contiguous()
    return [*cases, [ends, ends.flip(0)], [cases[0][0], cases[0][0]]]


def perceived_distance(first: Tensor, second: Tensor) -> Tensor:
    return ((first.double() - second.double()) / 255).pow(2).mean(PIXELS).float()


def _of_squares(change):
    """`change` of the squared differences of pixels on [0, 1]."""
    return lambda first, second: change(((first.float() - second.float()) / 255).square())


PERCEIVED_MISTAKES = {
    "the images were subtracted as uint8, where 0 − 1 is 255: turn them into floats first.":
        lambda a, b: ((a - b).float() / 255).square().mean(PIXELS),
    "the pixels are on [0, 255]: every number is 255² times what it is on [0, 1].":
        _of_squares(lambda squares: 255**2 * squares.mean(PIXELS)),
    "divided by 255 once: the squares are divided by 255², or the differences by 255 before they are squared.":
        _of_squares(lambda squares: 255 * squares.mean(PIXELS)),
    "the sum over the pixels: the thesis' tables, and this task, take the mean.": _of_squares(lambda s: s.sum(PIXELS)),
    "summed over the pixels and averaged over channels: average over both.":
        _of_squares(lambda squares: squares.sum((2, 3)).mean(1)),
    "averaged over the pixels and summed over the channels: average over both.":
        _of_squares(lambda squares: squares.mean((2, 3)).sum(1)),
    "this is the mean absolute difference: the loss is squared.": _of_squares(lambda s: s.sqrt().mean(PIXELS)),
    "the root was taken: that is a metric, and not the mean squared error.":
        _of_squares(lambda s: s.mean(PIXELS).sqrt()),
    "half of it: the ½ of a Gaussian's log-likelihood does not belong to the mean squared error.":
        _of_squares(lambda squares: squares.mean(PIXELS) / 2),
    "squared before they were subtracted: (a − b)², not a² − b².":
        lambda a, b: (a.float() / 255).square().mean(PIXELS) - (b.float() / 255).square().mean(PIXELS),
    "averaged before it was squared: pixels that became brighter then cancel those that became darker.":
        lambda a, b: ((a.float() - b.float()) / 255).mean(PIXELS).square(),
    "averaged over the pairs too: expected one number for each pair, (B,).": _of_squares(Tensor.mean),
    "averaged over the pairs instead of the pixels: the pairs are axis 0.":
        _of_squares(lambda squares: squares.mean(0)),
    "got torch.float64, and the right numbers: expected torch.float32.":
        lambda a, b: perceived_distance(a, b).double(),
}  # fmt: skip


PERCEIVED_RIGHT = (
    lambda a, b: ((a.long() - b.long()).square().sum(PIXELS) / (255**2 * a[0].numel())).float(),
    lambda a, b: torch.tensor([((one - two) ** 2).mean().item() for one, two in zip(a / 255, b / 255, strict=True)]),
    lambda a, b: torch.from_numpy(((a.numpy() / 255 - b.numpy() / 255) ** 2).mean((1, 2, 3))).float(),
    lambda a, b: torch.ones(1, requires_grad=True) * mse_loss(a / 255, b / 255, reduction="none").mean(PIXELS),
)


# 14.2 -----------------------------------------------------------------------------------------------------------------


def bright_rows(generator: torch.Generator) -> list[list[Tensor]]:
    """Rows of any greys, where only the formula counts; then bright images, flattened, on [0, 255], that differ from
    one another in few pixels; and other sizes.

    Of the first bright ones, the planted fault makes some distances negative: they are drawn until it does, at most 100
    times, as processors round differently. In the second, one image is black, so that subtracting the mean image leaves
    the others far from 0.
    """
    any_greys = [[255 * torch.rand(rows, 12, generator=generator) for rows in shape] for shape in ((3, 4), (2, 2))]
    for _ in range(100):
        bright = _bright(generator, 9, 8, 3_072, changes=2)
        if (_gram(*bright) < 0).any():
            break
    with_black = _bright(generator, 4, 4, 12_288)
    for rows in with_black:
        rows[::3] = 0
    return [*any_greys, bright, with_black, *(_bright(generator, *shape) for shape in ((1, 5, 768), (30, 27, 1_024)))]


def _bright(generator: torch.Generator, rows: int, columns: int, pixels: int, changes: int = 8) -> list[Tensor]:
    base = 150 + 100 * torch.rand(pixels, generator=generator)
    pair = []
    for count in (rows, columns):
        changed = torch.rand(count, pixels, generator=generator) < changes / pixels
        pair.append(base + changed * torch.randint(1, 4, (count, pixels), generator=generator))
    return pair


def cross_distances(first: Tensor, second: Tensor) -> Tensor:
    return torch.stack([(first.double() - row.double()).square().mean(1) for row in second], 1).to(first.dtype)


def _gram(first, second, factor=2):
    """The planted fault; the formula has 2 for the factor."""
    squares = first.square().sum(1, keepdim=True) + second.square().sum(1)
    return (squares - factor * first @ second.T) / first.shape[1]


def _gram_in_float64(first, second, factor=2):
    return _gram(first.double(), second.double(), factor).float()


HALF = 2e-2  # the relative error of the mean of squares of a few numbers that are known to two or three digits
HALVED = (
    "right to two or three digits: something is computed in half precision, float16 or bfloat16, which knows no more. "
    "Stay in float32."
)


@dataclass(frozen=True, kw_only=True)
class Rounded(Function):
    """A function whose wrong answers include rounding errors, which no two ways of adding make alike.

    Its first cases are such that nothing rounds: a wrong formula shows there.
    """

    def _fault(self, got, expected, arguments) -> str | None:
        found = super()._fault(got, expected, arguments)
        if found is None or "the numbers differ" not in found:
            return found
        close = got.value.double() - expected.value.double()
        largest = max(argument.double().square().mean(1).max().item() for argument in arguments)
        off = close.abs().max().item()
        if not off <= 2e-6 * largest:  # more than float32 can lose of ‖a‖² / N
            return HALVED if (close.abs() <= HALF * expected.value.double()).all() else found
        return (
            f"the numbers are off by up to {off:.1g}, which is rounding: ‖a‖² + ‖b‖² − 2 a·b subtracts large numbers "
            "that float32 knows to seven digits. What is small is lost before the last step."
        )


CROSS_MISTAKES = {
    "the planted fault is still there: ‖a‖² and ‖b‖² − 2 a·b nearly cancel, and float32 has seven digits only. "
    "(float64 helps if the images are turned into it, not the result.)":
        _gram,
    "the negative distances were cut off at 0. They were only the rounding that one could see; the rest stayed.":
        lambda a, b: _gram(a, b).clamp(min=0),
    "the sign of a rounding error was changed, not its size: abs mends nothing.": lambda a, b: _gram(a, b).abs(),
    "torch.cdist uses the same formula where there are many rows: ask it for "
    'compute_mode="donot_use_mm_for_euclid_dist".':
        lambda a, b: torch.cdist(a, b, compute_mode="use_mm_for_euclid_dist").square() / a.shape[1],
    "the images were centred first, which helps only while all are alike: with a black image among them, the bright "
    "ones stay far from the mean, and the digits are lost as before.":
        lambda a, b: _gram(a - a.mean(0), b - a.mean(0)),
    HALVED: either(
        lambda a, b: (a.unsqueeze(1) - b).half().float().square().mean(2),
        lambda a, b: (a.unsqueeze(1) - b).bfloat16().float().square().mean(2),
        lambda a, b: (a.unsqueeze(1) - b).square().mean(2).half().float(),
    ),
    "the sum over the pixels: divide by their number.": lambda a, b: cross_distances(a, b) * a.shape[1],
    "the root was taken: expected the mean squared difference.": lambda a, b: cross_distances(a, b).sqrt(),
    "the 2 in front of a·b is missing.": lambda a, b: _gram_in_float64(a, b, factor=1),
    "a·b was added: (a − b)² has − 2 a·b.": lambda a, b: _gram_in_float64(a, b, factor=-2),
    "turned round: rows belong to `first`, columns to `second`.": lambda a, b: cross_distances(a, b).T,
    "got torch.float64, and the right numbers: return the dtype of the inputs.":
        lambda a, b: cross_distances(a, b).double(),
}  # fmt: skip


CROSS_RIGHT = (
    _gram_in_float64,
    lambda a, b: (a.unsqueeze(1) - b).square().mean(2),
    lambda a, b: torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist").square() / a.shape[1],
)

# 14.3 -----------------------------------------------------------------------------------------------------------------


def factor_matrices(generator: torch.Generator) -> list[list[Tensor]]:
    """Symmetric matrices with zeros on the diagonal: noise, in order, with ties, constant, with equal images."""
    cases = []
    for count, size in ((4, 6), (1, 3), (3, 9)):
        noise = torch.rand(count, size, size, generator=generator) + 0.2
        cases.append(noise + noise.mT)
    steps = (torch.arange(7.0).unsqueeze(1) - torch.arange(7.0)).abs()
    ties = torch.randint(1, 4, (2, 7, 7), generator=generator).float()
    wrapped = torch.minimum(steps, 6 - steps)  # the last value is the first again: two images are equal
    cases += [torch.stack([steps, -steps + 9, steps.clamp(max=2), torch.ones(7, 7), wrapped]), ties + ties.mT]
    return [[matrix * (1 - torch.eye(matrix.shape[1]))] for matrix in cases]


def rank_correlations(matrices: Tensor) -> Tensor:
    """Pearson's correlation of average ranks over the pairs i < j; 0 where one side is constant."""
    return _by(_spearman)(matrices)


def _by(correlation, kept=lambda row, column, apart: row < column, steps=lambda row, column: (row - column).abs()):
    """Of each matrix the correlation of steps with distances, over those of its entries that are kept."""

    def correlations(matrices):
        side, found = torch.arange(matrices.shape[1]), []
        for matrix in matrices:
            row, column = torch.cartesian_prod(side, side).T
            chosen = kept(row, column, matrix.flatten())
            found.append(correlation(steps(row, column)[chosen].double(), matrix.flatten()[chosen].double()))
        return torch.tensor(found, dtype=matrices.dtype)

    return correlations


def _spearman(first, second, constant: float = 0.0):
    return pearson(ranks(first), ranks(second), constant)


def _ordinal(first, second):
    return pearson(*(values.argsort(stable=True).argsort(stable=True) for values in (first, second)), 0.0)


def _kendall(first, second):
    return float(kendalltau(first, second).statistic) if second.unique().numel() > 1 else 0.0


RANK_MISTAKES = {
    "the planted fault is still there: the diagonal, each image with itself, is among the pairs.":
        _by(_spearman, lambda row, column, apart: row >= 0),
    "half of the matrix is enough, but its diagonal is still in it: triu_indices needs the offset 1.":
        _by(_spearman, lambda row, column, apart: row <= column),
    "this is Pearson's, linear correlation: expected that of ranks.": _by(partial(pearson, constant=0.0)),
    "ties got different ranks, by argsort: equal values share their average rank, and |i − j| is full of ties.":
        _by(_ordinal),
    "this is Kendall's τ: expected Spearman's correlation of ranks.": _by(_kendall),
    "i − j was taken with its sign: the factor distance is |i − j|.":
        _by(_spearman, lambda row, column, apart: row != column, lambda row, column: row - column),
    "pairs at perceived distance 0 were left out. Two different values can have the same image, and such a pair "
    "counts: choose by i ≠ j, not by the distance.":
        _by(_spearman, lambda row, column, apart: (row < column) & (apart > 0)),
    "only the distances from the first value were used: expected all pairs of different values.":
        _by(_spearman, lambda row, column, apart: row == 0),
    "a matrix whose distances are all equal gives NaN: its correlation is 0 by agreement.":
        _by(lambda steps, apart: _spearman(steps, apart, constant=float("nan"))),
    "the sign is turned round: far apart in value and far apart in pixels is +.": lambda m: -rank_correlations(m),
    "averaged over the matrices: expected one correlation for each, (n,).": lambda m: rank_correlations(m).mean(),
}  # fmt: skip


def _by_scipy(matrices):
    row, column = torch.triu_indices(*matrices.shape[1:], 1)
    found = []
    for matrix in matrices:
        apart = matrix[column, row]
        constant = (apart == apart[0]).all() or (column - row == 1).all()
        found.append(0.0 if constant else spearmanr(column - row, apart).statistic)
    return torch.tensor(found, dtype=torch.float32)


def _by_comparing(matrices):
    """Ranks from comparisons of all pairs with all others; torch's correlation."""
    row, column = torch.triu_indices(*matrices.shape[1:], 1)
    apart = torch.cat([(column - row).unsqueeze(0).float(), matrices[:, row, column]])
    places = (apart.unsqueeze(2) > apart.unsqueeze(1)).sum(2) + (apart.unsqueeze(2) == apart.unsqueeze(1)).sum(2) / 2
    return torch.corrcoef(places)[0, 1:].nan_to_num(0)


# 14.4 -----------------------------------------------------------------------------------------------------------------

ORDER = ("leap", "grow", "creep", "dim")


def order_fault(answer) -> str | None:
    """Whether the four names are in the order of their mean perceived distances, the largest first."""
    names = listed(answer)
    if names is None:
        raise Unfit(f"got {kind(answer)}; expected a list of the four names, the largest distance first.")
    if len(names) != len(ORDER):
        raise Unfit(f"got {len(names)} entries; expected each of {', '.join(sorted(ORDER))} once.")
    given = [word(name, ORDER, f"entry {place}") for place, name in enumerate(names)]
    if sorted(given) != sorted(ORDER):
        raise Unfit(f"got {one_line(', '.join(given))!r}; expected each of {', '.join(sorted(ORDER))} once.")
    if given == [*ORDER[::-1]]:
        return "the right order, turned round: the largest distance comes first."
    for said in TURNED:
        one, two = said.partition(": ")[0].split(" and ")
        if given.index(one) > given.index(two):
            return said
    return None


TURNED = {  # names in their right order, and an answer in which they are not
    "leap and grow: two squares apart differ in all of both, 128 pixels; a growing one only in the rim that is added.":
        ["grow", "leap", "creep", "dim"],
    "leap and creep: a square that creeps still covers most of where it was.": ["creep", "leap", "grow", "dim"],
    "leap and dim: dimming changes all 64 pixels, but by half a grey scale at most, and squared.":
        ["dim", "leap", "grow", "creep"],
    "grow and creep: creeping by k pixels uncovers k columns and covers k; from 8² to 15² pixels the areas differ "
    "by 69 on average. Count both.":
        ["leap", "creep", "grow", "dim"],
    "grow and dim: a new pixel is wrong by 1, a dimmed one by ½ at most, which is ¼ squared.":
        ["leap", "dim", "grow", "creep"],
    "creep and dim: an uncovered pixel is wrong by 1, a dimmed one by ½ at most, which is ¼ squared.":
        ["leap", "grow", "dim", "creep"],
}  # fmt: skip
ORDER_MISTAKES = {
    **TURNED,
    "turned round": ["dim", "creep", "grow", "leap"],
    "got a str; expected a list": "leap, grow, creep, dim",
    "each of creep, dim, grow, leap once": either(["leap", "grow", "creep"], ["leap", "grow", "creep", "creep"]),
}

# 14.5 -----------------------------------------------------------------------------------------------------------------

COUNT, SIDE = 8, 16
SHAPE = (COUNT, 1, SIDE, SIDE)


def images_fault(images) -> str | None:
    """Whether eight images are equally far from each other although any two of them overlap; if not, why not."""
    images = tensor(images, SHAPE, "eight images with one channel", torch.uint8)
    odd = images[(images != 0) & (images != 255)]
    if odd.numel():
        return f"got the value {odd[0].item()}; allowed are 0 (black) and 255 (white)."
    lit = (images.flatten(1) > 0).double()  # (8, 256)
    shared = lit @ lit.T
    area = shared.diagonal()
    row, column = torch.triu_indices(COUNT, COUNT, 1)
    overlaps = shared[row, column]
    counts = (area[row] + area[column] - 2 * overlaps).long()
    if (counts == 0).any():
        place = int(counts.argmin())
        return f"images {row[place]} and {column[place]} are the same: a factor changes the image."
    if not (counts == counts[0]).all():
        near, far = int(counts.argmin()), int(counts.argmax())
        return (
            f"images {row[near]} and {column[near]} differ in {counts[near]} pixels, images {row[far]} and "
            f"{column[far]} in {counts[far]}: the loss can still tell near from far.{_diagnosis(lit, overlaps)}"
        )
    if (overlaps == 0).any():
        place = int(overlaps.argmin())
        return (
            f"every pair is equally far, but images {row[place]} and {column[place]} share no white pixel. That is "
            "XYSquares again; here any two have to overlap."
        )
    return None


def _diagnosis(lit: Tensor, overlaps: Tensor) -> str:
    if lit.sum(1).unique().numel() > 1:
        return " The shapes have different sizes, which alone changes the distance."
    if (overlaps == 0).any() and (overlaps > 0).any():
        return " Some pairs overlap and others do not, as with a square that slides."
    return " All shapes have one size, so the overlap has to be the same for each pair, too."


def _painted(whites) -> Tensor:
    """Black images, of which `whites(place)` gives the white boxes (top, left, height, width)."""
    images = torch.zeros(SHAPE, dtype=torch.uint8)
    for place in range(COUNT):
        for top, left, height, width in whites(place):
            images[place, 0, top : top + height, left : left + width] = 255
    return images


def _square(place: int, step: int, side: int) -> tuple[int, ...]:
    """A square that takes its places in rows of the image."""
    return *divmod(place * step, SIDE), side, side


BLOCK = (12, 12, 4, 4)  # a corner that is always white
IMAGES = _painted(lambda place: [_square(place, 2, 2), BLOCK])
IMAGES_MISTAKES = {
    "share no white pixel. That is XYSquares again": _painted(lambda place: [_square(place, 2, 2)]),
    "Some pairs overlap and others do not, as with a square that slides.": _painted(lambda k: [_square(k, 1, 4)]),
    "All shapes have one size, so the overlap has to be the same": _painted(lambda k: [_square(k, 1, 4), BLOCK]),
    "The shapes have different sizes":
        either(
            _painted(lambda place: [(0, 0, SIDE, place + 1)]),
            _painted(lambda place: [_square(place, 2, 2)] * (place < 7) + [BLOCK]),  # the last has only the block
        ),
    "are the same: a factor changes the image.": _painted(lambda place: [_square(0, 2, 4)]),
    "expected a tensor of shape (8, 1, 16, 16)": IMAGES[:, 0],
    "expected torch.uint8": either(IMAGES.float() / 255, IMAGES.double() * float("nan")),
    "allowed are 0 (black) and 255 (white)": IMAGES // 255,
    "got a list": [*IMAGES.tolist(), []],
}  # fmt: skip


def _rows_of_a_hadamard_matrix() -> Tensor:
    matrix = torch.ones(1, 1)
    for _ in range(4):
        matrix = torch.cat([torch.cat([matrix, matrix], 1), torch.cat([matrix, -matrix], 1)])
    white = (matrix[1:9] > 0).to(torch.uint8) * 255
    return white.view(COUNT, 1, 1, SIDE).repeat(1, 1, SIDE, 1)


# 14.6 -----------------------------------------------------------------------------------------------------------------

READING = {
    "first": "supported", "light": "supported", "typical": "contradicted", "ordered": "not said",
    "invisible": "contradicted", "rooms": "supported", "cars": "contradicted",
}  # fmt: skip
SAYINGS = ("supported", "contradicted", "not said")
READING_MISTAKES = {
    "first: lighting costs about 16 times as much when it is unknown (.0531 against .0034).": "contradicted",
    "first: what a factor costs when it is unknown is just what the mean says.": "not said",
    "light: .0531 along lighting alone, .0535 between any two images: nearly the same.": "contradicted",
    "light: compare the row of lighting with that of random pairs.": "not said",
    "typical: the standard deviation is as large as the mean. So many lie far from it.": "supported",
    "typical: look at the number after the ±.": "not said",
    "ordered: a mean over all pairs does not know which of them are neighbours. (Table 4.1 has a correlation for "
    "this, and it is below that of noise.)":
        "supported",
    "ordered: perhaps it is wrong, but not because of this row: a mean does not know which pairs are neighbours.":
        "contradicted",
    "invisible: .0034 is small and not 0. With enough capacity it is worth its nats.": "supported",
    "invisible: a loss that cannot see a factor has distance 0 along it, not .0034.": "not said",
    "rooms: .1122 against .0116: half of it is what a decoder gets wrong that knows all but this factor.":
        either("contradicted", "not said"),
    "cars: whatever the text around the table says, .0355 of the azimuth is more than .0349.": "supported",
    "cars: one factor with a larger mean is enough, and there is one.": "not said",
}  # fmt: skip

# ----------------------------------------------------------------------------------------------------------------------

EXERCISES = {
    "14.1": Function(
        reference=perceived_distance, cases=image_pairs, mistakes=PERCEIVED_MISTAKES, also_right=PERCEIVED_RIGHT
    ),
    "14.2": Rounded(
        reference=cross_distances,
        cases=bright_rows,
        mistakes=CROSS_MISTAKES,
        tolerance=(5e-5, 1e-9),  # a tenth of what half precision leaves of a distance, ten times float32's rounding
        also_right=CROSS_RIGHT,
    ),
    "14.3": Function(
        reference=rank_correlations,
        cases=factor_matrices,
        mistakes=RANK_MISTAKES,
        also_right=(_by_scipy, _by_comparing, _by(_spearman, lambda row, column, apart: row != column)),
    ),
    "14.4": Plain(
        fault=order_fault,
        mistakes=ORDER_MISTAKES,
        also_right=(ORDER, ["Leap", "GROW", " creep ", "dim"]),
        praise="right. Now run the next cell and see by how much.",
    ),
    "14.5": Plain(
        fault=images_fault,
        mistakes=IMAGES_MISTAKES,
        also_right=(
            _painted(lambda place: [(0, 8, 1, 1), (0, place, 1, 1)]),
            255 - _painted(lambda place: [(3, place, 1, 1)]),
            _rows_of_a_hadamard_matrix(),
            IMAGES.tolist(),
            [*IMAGES.numpy()],
        ),
        praise="right: any two images overlap, and the loss cannot put them in order all the same.",
    ),
    "14.6": words(
        READING,
        SAYINGS,
        READING_MISTAKES,
        praise="right: a mean says what a factor costs when it is unknown, and nothing about its order.",
    ),
}
