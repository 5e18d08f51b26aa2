"""Which of two images is nearer, and triplets put in order, 18.3 and 18.4: cases, references and mistakes.

The references count in fractions and look at one triplet after the other; `course_lib.sampling` is not used.
"""

from fractions import Fraction

import torch
from torch import Tensor

from course_grading.exercise import Function, Wrong

# 18.3 -----------------------------------------------------------------------------------------------------------------


def factor_triples(generator: torch.Generator) -> list[list[Tensor]]:
    """Anchors, two others and the factors' sizes: many ties, near ties, sizes that differ, a factor with one value."""
    cases = [_three(sizes, 400, generator) for sizes in ((8, 8, 8, 8, 8, 8), (3, 6, 40, 32), (4, 1, 7), (11,))]
    anchor, first, second, sizes = _three((3, 6, 40, 32), 60_000, generator)
    gaps = (anchor - first).abs() - (anchor - second).abs()
    twelve_thousandths = (gaps * torch.tensor([6045, 2418, 310, 390])).sum(1).abs()  # of which 12,090 make 1
    close = (twelve_thousandths > 0) & (twelve_thousandths <= 5)
    cases.append([anchor[close], first[close], second[close], sizes])
    order = torch.tensor([[0, 1, 2], [1, 2, 0], [2, 1, 0], [2, 0, 1]])  # ties that rounding tells apart
    steps = torch.tensor([1, 2, 3])[order]
    cases.append([torch.zeros_like(steps), steps, steps.roll(1, 0), torch.tensor([8, 8, 8])])
    first = torch.tensor([[37, 0, 62, 0], [0, 61, 0, 35], [60, 61, 0, 0], [0, 0, 62, 44]])  # closer than 2e-8, no ties
    return [*cases, [torch.zeros_like(first), first, first[[1, 0, 3, 2]], torch.tensor([98, 90, 84, 80])]]


def _three(sizes, n: int, generator: torch.Generator) -> list[Tensor]:
    bounds = torch.tensor(sizes)
    return [*(torch.rand(3, n, len(sizes), generator=generator, dtype=torch.float64) * bounds).long(), bounds]


def nearer(anchor: Tensor, first: Tensor, second: Tensor, sizes: Tensor) -> Tensor:
    """−1 where the first is nearer, 1 where the second is, 0 at a tie; in Python's fractions."""
    steps = [size - 1 for size in sizes.tolist()]

    def total(gaps):
        return sum((Fraction(gap, step) for gap, step in zip(gaps, steps, strict=True) if step), Fraction(0))

    gaps = zip((anchor - first).abs().tolist(), (anchor - second).abs().tolist(), strict=True)
    totals = [(total(one), total(other)) for one, other in gaps]
    return torch.tensor([(one > other) - (one < other) for one, other in totals])


class Comparison(Function):
    """A function that compares; two faults are told by where it is wrong, however the sums were added up."""

    def _fault(self, got, expected, arguments):
        found = super()._fault(got, expected, arguments)
        same_form = isinstance(got.value, Tensor) and got.value.shape == expected.value.shape
        if found is None or not same_form or got.value.dtype != expected.value.dtype:
            return found
        return _fault_of_order(got.value, expected.value, arguments) or found


def _fault_of_order(got: Tensor, expected: Tensor, arguments) -> str | None:
    """Where nothing but ties have an order, ROUNDED, or TIES if all have; CLOSE if only close orders are missing."""
    anchor, first, second, sizes = arguments
    gaps = (anchor - first).abs() - (anchor - second).abs()
    lead = (gaps / (sizes - 1).clamp(min=1)).sum(1).abs()
    wrong, ties = got != expected, expected == 0
    if ties[wrong].all() and got.abs().max() == 1:
        return ROUNDED if (ties & ~wrong).any() else TIES
    if (got[wrong] == 0).all() and lead[wrong].max() < 0.05:
        return CLOSE
    return None


def _floating(dtype, scale=lambda sizes: (sizes - 1).clamp(min=1), decimals=None, tolerance=0.0):
    """The wrong answer that sums quotients one after the other."""

    def wrong(anchor, first, second, sizes):
        sums = []
        for other in (first, second):
            terms = (anchor - other).abs().to(dtype) / scale(sizes).to(dtype)
            sums.append(sum(terms.unbind(1)))
        if decimals is not None:
            sums = [value.round(decimals=decimals) for value in sums]
        return torch.where((sums[0] - sums[1]).abs() <= tolerance, 0, (sums[0] - sums[1]).sign().long())

    return wrong


def _counted(anchor, first, second, sizes):
    return ((anchor != first).sum(1) - (anchor != second).sum(1)).sign()


def _unscaled(anchor, first, second, sizes):
    return ((anchor - first).abs().sum(1) - (anchor - second).abs().sum(1)).sign()


def _signed(anchor, first, second, sizes):
    weights = torch.where(sizes > 1, 26_040 * 7 // (sizes - 1).clamp(min=1), 0)
    return (((first - anchor) * weights).sum(1) - ((second - anchor) * weights).sum(1)).sign()


ROUNDED = (
    "quotients were summed in floating point: of two equal sums, rounding makes one the larger. Multiply by a common "
    "multiple of all f − 1, and stay with integers."
)
TIES = "a tie is given as an order: 0 is wanted where both are equally far."
CLOSE = (
    "two orders that differ by less than your tolerance are not a tie: on some sizes sums come as close as 2e-8 and "
    "are not equal. In integers none is needed."
)
ORDER_WRONG = (
    Wrong(_floating(torch.float64), ROUNDED),
    Wrong(_floating(torch.float32), ROUNDED),
    Wrong(_floating(torch.float64, tolerance=1e-3), CLOSE),
    Wrong(_floating(torch.float64, tolerance=1e-6), CLOSE),
    Wrong(_floating(torch.float32, tolerance=1e-5), CLOSE),
    Wrong(
        _floating(torch.float64, decimals=2),
        "the sums were rounded to two decimals: that makes ties of distances that really differ.",
    ),
    Wrong(
        _floating(torch.float64, decimals=3),
        "the sums were rounded to three decimals: that makes ties of distances that really differ.",
    ),
    Wrong(_unscaled, "the factors were not scaled: from its first to its last value each one counts 1, by f − 1."),
    Wrong(
        _floating(torch.float64, scale=lambda sizes: sizes, decimals=9),
        "divided by f: from the first to the last value there are f − 1 steps.",
    ),
    Wrong(_counted, "the factors that differ were counted (Equation 5.6): how far they differ counts too."),
    Wrong(
        lambda anchor, first, second, sizes: -nearer(anchor, first, second, sizes),
        "the sign is turned round: −1 says that the first is nearer.",
    ),
    Wrong(
        lambda anchor, first, second, sizes: torch.where(nearer(anchor, first, second, sizes) > 0, 1, -1),
        TIES,
    ),
    Wrong(_signed, "differences were added with their signs, so that steps up and down cancel: take absolute values."),
)

# 18.4 -----------------------------------------------------------------------------------------------------------------


def threes(generator: torch.Generator) -> list[list[Tensor]]:
    """The factors of three random images each, with ties, and with images that come twice."""
    cases = [
        torch.randint(high, (n, 3, F), generator=generator) for n, F, high in ((200, 2, 4), (40, 4, 8), (60, 1, 3))
    ]
    return [[case] for case in (*cases, torch.zeros(5, 3, 2, dtype=torch.int64))]


def in_order(factors: Tensor) -> Tensor:
    """Anchor, positive, negative of each three whose ℓ1 distances differ: (n, 3, F) → (m, 3, F)."""
    kept = [row if near < far else row[[0, 2, 1]] for row, near, far in _measured(factors) if near != far]
    return torch.stack(kept) if kept else factors[:0]


def _measured(factors):
    for row in factors:
        yield row, (row[0] - row[1]).abs().sum().item(), (row[0] - row[2]).abs().sum().item()


def planted_order(factors: Tensor, ties: bool = True, overwrites: bool = True) -> Tensor:
    """The planted faults: ties are kept, and the positive is overwritten before the negative is taken from it."""
    anchor, first, second = factors.unbind(1)
    near, far = (anchor - first).abs().sum(1), (anchor - second).abs().sum(1)
    exchange = (near > far).unsqueeze(1)
    positive = torch.where(exchange, second, first)
    negative = torch.where(exchange, positive if overwrites else first, second)
    kept = near <= torch.maximum(near, far) if ties else near != far
    return torch.stack([anchor, positive, negative], 1)[kept]


def _rows(keep):
    """The wrong answer that keeps the threes that `keep(row, near, far)` chooses, and orders them."""

    def wrong(factors):
        kept = [row if near <= far else row[[0, 2, 1]] for row, near, far in _measured(factors) if keep(row, near, far)]
        return torch.stack(kept) if kept else factors[:0]

    return wrong


def _by_pair(factors):
    kept = []
    for row, near, far in _measured(factors):
        if near != far:
            other = (row[1] - row[2]).abs().sum().item()
            kept.append(row if near < other else row[[0, 2, 1]])
    return torch.stack(kept) if kept else factors[:0]


THREES_WRONG = (
    Wrong(
        planted_order,
        "both faults are still there: ties are kept, and a positive is overwritten before it is moved.",
    ),
    Wrong(
        lambda factors: planted_order(factors, ties=False),
        "where the two are exchanged, positive and negative become the same image: `positive` is overwritten before "
        "`negative` is taken from it.",
    ),
    Wrong(
        lambda factors: planted_order(factors, overwrites=False),
        "ties are still kept: two images at the same distance have no order, and the triplet has to go.",
    ),
    Wrong(
        _rows(lambda row, near, far: near < far),
        "triplets were thrown away where the first was farther: exchange the two and keep them.",
    ),
    Wrong(
        lambda factors: in_order(factors)[:, [0, 2, 1]],
        "positive and negative are exchanged in every triplet: the positive is the nearer one.",
    ),
    Wrong(
        _rows(lambda row, near, far: near != far and min(near, far) > 0),
        "triplets whose positive equals the anchor were thrown away: distance 0 is nearer than any other.",
    ),
    Wrong(_by_pair, "the first image was compared with the second: both are compared with the anchor."),
    Wrong(
        lambda factors: torch.stack([
            row if (row[0] != row[1]).sum() < (row[0] != row[2]).sum() else row[[0, 2, 1]]
            for row, near, far in _measured(factors) if near != far
        ]) if any(near != far for _, near, far in _measured(factors)) else factors[:0],
        "the order is by the number of factors that differ: by the ℓ1 distance is wanted.",
    ),
)  # fmt: skip
