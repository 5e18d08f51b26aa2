"""What chapter 14's functions are called with, what is right, and the mistakes that people make in them.

A reference is computed in float64 and with ranks of its own, not with `course_lib.distances`.
"""

from dataclasses import dataclass

import torch
from scipy.stats import kendalltau, rankdata
from torch import Tensor

from course_grading.exercise import Function, Wrong

# 14.1 -----------------------------------------------------------------------------------------------------------------


def image_pairs(generator: torch.Generator) -> list[list[Tensor]]:
    """Raw images: in colour, one grey pair, as many as a side has pixels, black against white, equal ones."""
    cases = []
    for shape in ((5, 3, 4, 6), (1, 1, 2, 2), (4, 4, 4, 4), (3, 2, 5, 3)):
        cases.append([torch.randint(256, shape, dtype=torch.uint8, generator=generator) for _ in range(2)])
    ends = torch.tensor([0, 255], dtype=torch.uint8).view(2, 1, 1, 1).expand(2, 1, 3, 3).contiguous()
    return [*cases, [ends, ends.flip(0)], [cases[0][0], cases[0][0]]]


def perceived_distance(first: Tensor, second: Tensor) -> Tensor:
    return ((first.double() - second.double()) / 255).pow(2).mean((1, 2, 3)).float()


def _squared(first, second):
    return ((first.float() - second.float()) / 255) ** 2


PERCEIVED_WRONG = (
    Wrong(
        lambda a, b: ((a - b).float() / 255).square().mean((1, 2, 3)),
        "the images were subtracted as uint8, where 0 − 1 is 255: turn them into floats first.",
    ),
    Wrong(
        lambda a, b: (a.float() - b.float()).square().mean((1, 2, 3)),
        "the pixels are on [0, 255]: every number is 255² times what it is on [0, 1].",
    ),
    Wrong(
        lambda a, b: (a.float() - b.float()).square().mean((1, 2, 3)) / 255,
        "divided by 255 once: the squares are divided by 255², or the differences by 255 before they are squared.",
    ),
    Wrong(
        lambda a, b: _squared(a, b).sum((1, 2, 3)),
        "the sum over the pixels: the thesis' tables, and this task, take the mean.",
    ),
    Wrong(
        lambda a, b: _squared(a, b).sum((2, 3)).mean(1),
        "summed over the pixels and averaged over channels: average over both.",
    ),
    Wrong(
        lambda a, b: _squared(a, b).mean((2, 3)).sum(1),
        "averaged over the pixels and summed over the channels: average over both.",
    ),
    Wrong(
        lambda a, b: _squared(a, b).sqrt().mean((1, 2, 3)),
        "this is the mean absolute difference: the loss is squared.",
    ),
    Wrong(
        lambda a, b: _squared(a, b).mean((1, 2, 3)).sqrt(),
        "the root was taken: that is a metric, and not the mean squared error.",
    ),
    Wrong(
        lambda a, b: 0.5 * _squared(a, b).mean((1, 2, 3)),
        "half of it: the ½ of a Gaussian's log-likelihood does not belong to the mean squared error.",
    ),
    Wrong(
        lambda a, b: (a.float() / 255).square().mean((1, 2, 3)) - (b.float() / 255).square().mean((1, 2, 3)),
        "squared before they were subtracted: (a − b)², not a² − b².",
    ),
    Wrong(
        lambda a, b: ((a.float() - b.float()) / 255).mean((1, 2, 3)).square(),
        "averaged before it was squared: pixels that became brighter then cancel those that became darker.",
    ),
    Wrong(
        lambda a, b: _squared(a, b).mean(),
        "averaged over the pairs too: one number for each pair is wanted, (B,).",
    ),
    Wrong(
        lambda a, b: _squared(a, b).mean(0),
        "averaged over the pairs instead of the pixels: the pairs are axis 0.",
    ),
    Wrong(
        lambda a, b: perceived_distance(a, b).double(),
        "got torch.float64, and the right numbers: torch.float32 is wanted.",
    ),
)

# 14.2 -----------------------------------------------------------------------------------------------------------------


def bright_rows(generator: torch.Generator) -> list[list[Tensor]]:
    """Bright images, flattened, on [0, 255], that differ from one another in few pixels; and some that differ much.

    Of the first, the planted fault makes some distances negative: they are drawn until it does, at most 20 times. In
    the second, one image is black, so that subtracting the mean image leaves the others far from 0.
    """
    for _ in range(20):
        first = _bright(generator, 9, 8, 3_072)
        if (_gram(*first) < 0).any():
            break
    with_black = _bright(generator, 3, 3, 12_288)
    for rows in with_black:
        rows[-1] = 0
    others = [_bright(generator, *shape) for shape in ((1, 5, 768), (30, 27, 1_024))]
    return [first, with_black, *others, [255 * torch.rand(rows, 12, generator=generator) for rows in (3, 4)]]


def _bright(generator: torch.Generator, rows: int, columns: int, pixels: int) -> list[Tensor]:
    base = 150 + 100 * torch.rand(pixels, generator=generator)
    pair = []
    for count in (rows, columns):
        changed = torch.rand(count, pixels, generator=generator) < 8 / pixels
        pair.append(base + changed * torch.randint(1, 4, (count, pixels), generator=generator))
    return pair


def cross_distances(first: Tensor, second: Tensor) -> Tensor:
    return torch.stack([(first.double() - row.double()).square().mean(1) for row in second], 1).to(first.dtype)


def _gram(first, second):
    """The planted fault."""
    squares = first.square().sum(1, keepdim=True) + second.square().sum(1)
    return (squares - 2 * first @ second.T) / first.shape[1]


@dataclass(frozen=True, kw_only=True)
class Rounded(Function):
    """A function whose wrong answers include rounding errors, which no two ways of adding make alike."""

    def _fault(self, got, expected, arguments) -> str | None:
        found = super()._fault(got, expected, arguments)
        if found is None or "the numbers differ" not in found:
            return found
        largest = max(argument.double().square().mean(1).max().item() for argument in arguments)
        off = (got.value.double() - expected.value.double()).abs().max().item()
        if off > 2e-6 * largest:  # more than float32 can lose of ‖a‖² / N
            return found
        return (
            f"the numbers are off by up to {off:.1g}, which is rounding: ‖a‖² + ‖b‖² − 2 a·b subtracts large numbers "
            "that float32 knows to seven digits. What is small is lost before the last step."
        )


CROSS_WRONG = (
    Wrong(
        _gram,
        "the planted fault is still there: ‖a‖² and ‖b‖² − 2 a·b nearly cancel, and float32 has seven digits only. "
        "(float64 helps if the images are turned into it, not the result.)",
    ),
    Wrong(
        lambda a, b: _gram(a, b).clamp(min=0),
        "the negative distances were cut off at 0. They were only the rounding that one could see; the rest stayed.",
    ),
    Wrong(lambda a, b: _gram(a, b).abs(), "the sign of a rounding error was changed, not its size: abs mends nothing."),
    Wrong(
        lambda a, b: torch.cdist(a, b, compute_mode="use_mm_for_euclid_dist").square() / a.shape[1],
        "torch.cdist uses the same formula where there are many rows: ask it for "
        'compute_mode="donot_use_mm_for_euclid_dist".',
    ),
    Wrong(
        lambda a, b: _gram(a - a.mean(0), b - a.mean(0)),
        "the images were centred first, which helps only while all are alike: with a black image among them, the "
        "bright ones stay far from the mean, and the digits are lost as before.",
    ),
    Wrong(lambda a, b: cross_distances(a, b) * a.shape[1], "the sum over the pixels: divide by their number."),
    Wrong(lambda a, b: cross_distances(a, b).sqrt(), "the root was taken: the mean squared difference is wanted."),
    Wrong(
        lambda a, b: (_gram(a.double(), b.double()) + (a.double() @ b.double().T) / a.shape[1]).float(),
        "the 2 in front of a·b is missing.",
    ),
    Wrong(
        lambda a, b: (_gram(a.double(), b.double()) + 4 * (a.double() @ b.double().T) / a.shape[1]).float(),
        "a·b was added: (a − b)² has − 2 a·b.",
    ),
    Wrong(lambda a, b: cross_distances(a, b).T, "turned round: rows belong to `first`, columns to `second`."),
    Wrong(
        lambda a, b: cross_distances(a, b).double(),
        "got torch.float64, and the right numbers: return the dtype of the inputs.",
    ),
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
    row, column = torch.triu_indices(*matrices.shape[1:], 1)
    return _each(matrices, row, column, lambda steps, found: _pearson(_ranks(steps), _ranks(found)))


def _each(matrices, row, column, correlation, steps=None):
    steps = (row - column).abs() if steps is None else steps
    found = [correlation(steps.double(), matrix[row, column].double()) for matrix in matrices]
    return torch.tensor(found, dtype=matrices.dtype)


def _ranks(values: Tensor) -> Tensor:
    return torch.from_numpy(rankdata(values.numpy()))


def _pearson(first: Tensor, second: Tensor, constant: float = 0.0) -> float:
    first, second = first - first.mean(), second - second.mean()
    scale = (first.square().sum() * second.square().sum()).sqrt().item()
    return (first * second).sum().item() / scale if scale > 1e-9 else constant


def _spearman(first, second):
    return _pearson(_ranks(first), _ranks(second))


def _pairs(matrices, order: str):
    size = matrices.shape[1]
    row, column = torch.cartesian_prod(torch.arange(size), torch.arange(size)).T
    chosen = {"all": row <= size, "upper": row <= column, "neighbours": row == column - 1, "first": row == 0}[order]
    return row[chosen], column[chosen]


def _distinct(correlation):
    return lambda matrices: _each(matrices, *torch.triu_indices(*matrices.shape[1:], 1), correlation)


def _signed(matrices):
    row, column = _pairs(matrices, "all")
    row, column = row[row != column], column[row != column]
    return _each(matrices, row, column, _spearman, steps=row - column)


def _nonzero(matrices):
    row, column = torch.triu_indices(*matrices.shape[1:], 1)
    return torch.cat([
        _each(matrix.unsqueeze(0), row[matrix[row, column] > 0], column[matrix[row, column] > 0], _spearman)
        for matrix in matrices
    ])  # fmt: skip


def _ordinal(first, second):
    return _pearson(*(values.argsort(stable=True).argsort(stable=True).double() for values in (first, second)))


RANK_WRONG = (
    Wrong(
        lambda m: _each(m, *_pairs(m, "all"), _spearman),
        "the planted fault is still there: the diagonal, each image with itself, is among the pairs.",
    ),
    Wrong(
        lambda m: _each(m, *_pairs(m, "upper"), _spearman),
        "half of the matrix is enough, but its diagonal is still in it: triu_indices needs the offset 1.",
    ),
    Wrong(_distinct(_pearson), "this is Pearson's, linear correlation: ranks are wanted."),
    Wrong(
        _distinct(_ordinal),
        "ties got different ranks, by argsort: equal values share their average rank, and |i − j| is full of ties.",
    ),
    Wrong(
        _distinct(
            lambda first, second: float(kendalltau(first, second).statistic) if second.unique().numel() > 1 else 0.0
        ),
        "this is Kendall's τ: Spearman's correlation of ranks is wanted.",
    ),
    Wrong(_signed, "i − j was taken with its sign: the factor distance is |i − j|."),
    Wrong(
        _nonzero,
        "pairs at perceived distance 0 were left out. Two different values can have the same image, and such a pair "
        "counts: choose by i ≠ j, not by the distance.",
    ),
    Wrong(
        lambda m: _each(m, *_pairs(m, "first"), _spearman),
        "only the distances from the first value were used: all pairs of different values are wanted.",
    ),
    Wrong(
        _distinct(lambda first, second: _pearson(_ranks(first), _ranks(second), float("nan"))),
        "a matrix whose distances are all equal gives NaN: its correlation is 0 by agreement.",
    ),
    Wrong(
        lambda m: -rank_correlations(m), "the sign is turned round: far apart in value and far apart in pixels is +."
    ),
    Wrong(
        lambda m: rank_correlations(m).mean(),
        "averaged over the matrices: one correlation for each is wanted, (n,).",
    ),
)
