"""Chapter 18, triplets: all of a batch, who moves where, what is nearer, a sampler, two sorts of codes, the hardest.

References choose one triplet after the other and count in fractions; `course_lib` is not used.
"""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, relu, softplus, triplet_margin_with_distance_loss

from course_grading.answers import keyed, row, tensor, words
from course_grading.exercise import Function, Plain, either

# 18.1 -----------------------------------------------------------------------------------------------------------------


def batches(generator: torch.Generator) -> list[list]:
    """Codes that ask for a gradient, the distances that were told, and a margin or None.

    In each batch two images are told to be 0 apart. One has no triplet at all, and one codes so far apart that e to
    their distance is infinite.
    """
    cases = []
    for size, latents, margin, scale in ((6, 3, 1.0, 1), (5, 1, 4.0, 1), (7, 4, None, 1), (6, 2, None, 5_000)):
        codes = scale * torch.randn(size, latents, generator=generator, dtype=torch.float64)
        factors = torch.randint(4, (size, 2), generator=generator)  # so few values that many distances are ties
        factors[1] = factors[0]
        truth = (factors.unsqueeze(1) - factors).abs().sum(2)
        cases.append([codes.requires_grad_(), truth, margin])
    alike = torch.randn(3, 2, generator=generator, dtype=torch.float64).requires_grad_()
    return [*cases, [alike, 1 - torch.eye(3, dtype=torch.int64), 1.0]]


def batch_triplet_loss(codes: Tensor, truth: Tensor, margin: float | None) -> Tensor:
    """The mean over all triplets of three different images whose told distances differ; 0 without any."""
    return _mean(_losses(codes, truth, margin), codes)


def _mean(losses: Tensor, codes: Tensor) -> Tensor:
    return losses.mean() if len(losses) else 0 * codes.sum()


def _total(losses: Tensor, codes: Tensor) -> Tensor:
    return losses.sum()


def _hard(near: Tensor, far: Tensor, margin: float) -> Tensor:
    return (margin + near - far).clamp(min=0)


def _soft(near: Tensor, far: Tensor) -> Tensor:
    return softplus(near - far)


def _losses(codes, truth, margin, hard=_hard, soft=_soft, norm=1, change=lambda near, far: (near, far), **kept):
    """The loss of every triplet; `kept` says to `_triplets` which there are."""
    distance = torch.linalg.vector_norm(codes.unsqueeze(1) - codes, norm, dim=2)
    anchor, positive, negative = torch.tensor(_triplets(truth.tolist(), **kept), dtype=torch.int64).reshape(-1, 3).T
    near, far = change(distance[anchor, positive], distance[anchor, negative])
    return soft(near, far) if margin is None else hard(near, far, margin)


def _triplets(truth: list[list[int]], ties=False, itself=False, zeros=True) -> list[tuple[int, int, int]]:
    """Anchor, positive and negative, one triplet after the other."""
    found = []
    for anchor, positive, negative in itertools.product(range(len(truth)), repeat=3):
        near, far = truth[anchor][positive], truth[anchor][negative]
        different = positive != negative != anchor and (itself or positive != anchor)
        if different and (zeros or near > 0) and (near < far or (ties and near == far)):
            found.append((anchor, positive, negative))
    return found


def _with(combine=_mean, **changes):
    """The loss that prices triplets in another way, takes others, or combines them otherwise than by their mean."""
    return lambda codes, truth, margin: combine(_losses(codes, truth, margin, **changes), codes)


BATCH_MISTAKES = {
    "the anchor counts as its own positive: it is at distance 0 from itself, nearer than anything. A triplet is of "
    "three different images.":
        _with(itself=True),
    "ties are among the triplets: told distances that are equal are no order (<, not ≤).": _with(ties=True),
    "positive and negative are exchanged: the positive is the nearer one, as told.":
        _with(change=lambda near, far: (far, near)),
    "the codes were compared in ℓ2: expected ℓ1, the sum of absolute differences.": _with(norm=2),
    "the margin is missing: max(0, margin + d_p − d_n).":
        _with(hard=lambda near, far, margin: (near - far).clamp(min=0)),
    "the margin was subtracted, which lets the negative be nearer by that much: it is added.":
        _with(hard=lambda near, far, margin: (near - far - margin).clamp(min=0)),
    "nothing stops at 0: a triplet that is settled has to cost nothing, not less than nothing.":
        _with(hard=lambda near, far, margin: margin + near - far),
    "this is the soft loss: expected the hard one, with a margin that is a number.":
        _with(hard=lambda near, far, margin: softplus(near - far)),
    "None was taken for a margin of 0: expected the soft loss for it, ln(1 + exp(d_p − d_n)).":
        _with(soft=lambda near, far: (near - far).clamp(min=0)),
    "the soft loss overflows: where d_p − d_n is large, exp of it is infinite. It is about d_p − d_n there; see "
    "torch.nn.functional.softplus, or torch.logaddexp.":
        _with(soft=lambda near, far: (1 + (near - far).exp()).log()),
    "the soft loss was taken of the ratio of the distances: it is of their difference, ln(1 + exp(d_p − d_n)).":
        _with(soft=lambda near, far: (near / far).log1p()),
    "triplets were left out in which the positive is told to be at distance 0: another image with the same factors is "
    "a positive like any other. Only the anchor itself is not (its place, not its distance, tells it).":
        _with(zeros=False),
    "the distances were squared: the loss takes them as they are.": _with(change=lambda near, far: (near**2, far**2)),
    "divided by B³, the places of the mask: divide by the number of triplets that there are.":
        _with(lambda losses, codes: _total(losses, codes) / len(codes) ** 3),
    "the sum over the triplets: expected their mean.": _with(_total),
    "the mean over the triplets that still cost something: the settled ones count too, with 0. (Some libraries do it "
    "your way; then the loss does not fall as triplets are settled.)":
        _with(lambda losses, codes: _mean(losses[losses > 0], codes)),
    "the value is right and nothing is learnt: the codes were detached, so no gradient reaches them.":
        lambda codes, truth, margin: batch_triplet_loss(codes.detach(), truth, margin) + 0 * codes.sum(),
    "a batch without any triplet gives 0/0: its loss is 0. One such batch and the network's weights are NaN.":
        _with(lambda losses, codes: _mean(losses, codes) if len(losses) else math.nan * codes.sum()),
}  # fmt: skip


def _batch_by_loops(codes, truth, margin):
    found = []
    for anchor, positive, negative in itertools.permutations(range(len(codes)), 3):
        if truth[anchor, positive] < truth[anchor, negative]:
            near, far = ((codes[anchor] - codes[other]).abs().sum() for other in (positive, negative))
            found.append(torch.logaddexp(near - far, 0 * near) if margin is None else relu(margin + near - far))
    return torch.stack(found).mean() if found else codes.sum() * 0


def _places(truth):
    """Of every triplet: the anchor's, the positive's and the negative's place in the batch."""
    places = (truth[:, :, None] < truth[:, None, :]).nonzero()
    return places[places[:, 0] != places[:, 1]].T


def _batch_by_places(codes, truth, margin):
    anchor, positive, negative = _places(truth)
    distance = torch.cdist(codes, codes, p=1)
    excess = distance[anchor, positive] - distance[anchor, negative]
    losses = -logsigmoid(-excess) if margin is None else relu(margin + excess)
    return losses.sum() / max(len(losses), 1)


def _batch_by_torch(codes, truth, margin):
    three = [codes[place] for place in _places(truth)]
    if not len(three[0]):
        return codes.new_zeros((), requires_grad=True)
    if margin is None:
        near, far = ((three[0] - other).abs().sum(1) for other in three[1:])
        return (torch.maximum(near, far) - far + torch.log1p((-(near - far).abs()).exp())).mean()
    return triplet_margin_with_distance_loss(*three, distance_function=lambda a, b: (a - b).abs().sum(1), margin=margin)


# 18.2 -----------------------------------------------------------------------------------------------------------------

MOVES = {"anchor": [2, 0, 0, -2], "positive": [-1, 1, -1, 1], "negative": [-1, -1, 1, 1]}
ANCHORS = {  # what the anchor's move shows, if the others' are right
    "anchor: it is pulled as well, by both; the three moves add up to 0 in every latent.": [0, 0, 0, 0],
    "anchor: that is the pull of the positive alone; the negative pushes it too.": [1, -1, 1, -1],
    "anchor: that is the push of the negative alone; the positive pulls it too.": [1, 1, -1, -1],
    "anchor: it moves towards the positive and away from the negative, not the other way round.": [-2, 0, 0, 2],
    "anchor: where it lies between the two, the pull and the push are 1 each, and add up.": [1, 0, 0, -1],
    "anchor: push and pull cancel where both lie on one side of it, not where it lies between them.": [0, -2, 2, 0],
}
TURNED = {
    "positive": "positive: it moves towards the anchor, so down where it lies above it.",
    "negative": "negative: it moves away from the anchor, so further up where it lies above it.",
}


def moves_faults(answer) -> dict[str, str | None]:
    """Which of the three moves are not those of a descent step on the hard loss in ℓ1, and the mistake they show."""
    given = {name: row(move, 4, name) for name, move in keyed(answer, [*MOVES], "four numbers").items()}
    return {name: None if move == MOVES[name] else _move_fault(name, given) for name, move in given.items()}


def _move_fault(name: str, given: dict[str, list[float]]) -> str:
    """What a wrong move shows, or all three of them together."""
    if given == {other: _against(move) for other, move in MOVES.items()}:
        return "these are the gradients. The points move against them: every sign is turned round."
    if not any(map(any, given.values())):
        return "nothing moves only where the triplet is settled, d_n ≥ ψ + d_p; here d_p = 6.5, d_n = 8 and ψ = 5."
    if any(abs(part) not in (0, 1, 2) for part in given[name]):
        return "in ℓ1 every pull is a sign, whatever the difference: what moves, moves by 1, and the anchor by 0 or 2."
    if name in TURNED and given[name] == _against(MOVES[name]):
        return TURNED[name]
    if name in TURNED:
        return f"{name}: in each latent, is it above or below the anchor, and does it come nearer or go away?"
    unforeseen = "anchor: add the pull of the positive, ±1, and the push of the negative, ±1, in each latent."
    return next((said for said, move in ANCHORS.items() if move == given[name]), unforeseen)


def _against(move: list[float]) -> list[float]:
    return [-part for part in move]


MOVES_MISTAKES = {
    **{said: {**MOVES, "anchor": move} for said, move in ANCHORS.items()},
    **{said: {**MOVES, name: _against(MOVES[name])} for name, said in TURNED.items()},
    "these are the gradients.": {name: _against(move) for name, move in MOVES.items()},
    "in ℓ1 every pull is a sign": {**MOVES, "positive": [-2, 1, -0.5, 3]},
    "nothing moves only where the triplet is settled": {name: [0, 0, 0, 0] for name in MOVES},
    "is it above or below the anchor": {**MOVES, "positive": [-1, -1, -1, -1]},
    "anchor: add the pull of the positive": {**MOVES, "anchor": [2, 0, 0, 2]},
    "expected a dict with the keys anchor, positive, negative": [2, 0, 0, -2],
    "positive: entry 0: got a complex; expected one number.": {**MOVES, "positive": [-1 + 0j, 1, -1, 1]},
}
MOVES_RIGHT = (
    {name: torch.tensor(move) for name, move in MOVES.items()},
    {name: torch.tensor(move, dtype=torch.float32, requires_grad=True) for name, move in reversed(MOVES.items())},
    {name: torch.tensor(move).numpy() for name, move in MOVES.items()},
    {name: tuple(torch.tensor(part) for part in move) for name, move in MOVES.items()},
)

# 18.3 -----------------------------------------------------------------------------------------------------------------

DTYPES = (torch.float64, torch.float32)
PRIMES = (97, 89, 83, 79, 73, 71, 67, 61)


def factor_triples(generator: torch.Generator) -> list[list[Tensor]]:
    """Anchors, two others and sizes: many ties, near ties, sizes that differ, a factor with one value or with two."""
    cases = [_three(sizes, 400, generator) for sizes in ((8, 8, 8, 8, 8, 8), (3, 6, 40, 32), (4, 1, 2, 7), (11,))]
    anchor, first, second, sizes = _three((3, 6, 40, 32), 60_000, generator)
    gaps = (anchor - first).abs() - (anchor - second).abs()
    twelve_thousandths = (gaps * torch.tensor([6045, 2418, 310, 390])).sum(1).abs()  # of which 12,090 make 1
    close = (twelve_thousandths > 0) & (twelve_thousandths <= 5)
    cases.append([anchor[close], first[close], second[close], sizes])
    order = torch.tensor([[0, 1, 2], [1, 2, 0], [2, 1, 0], [2, 0, 1]])  # ties that rounding tells apart
    steps = torch.tensor([1, 2, 3])[order]
    cases.append([torch.zeros_like(steps), steps, steps.roll(1, 0), torch.tensor([8, 8, 8])])
    return [*cases, _nearly_tied(PRIMES[:4]), _nearly_tied(PRIMES)]


def _three(sizes, n: int, generator: torch.Generator) -> list[Tensor]:
    bounds = torch.tensor(sizes)
    return [*(torch.rand(3, n, len(sizes), generator=generator, dtype=torch.float64) * bounds).long(), bounds]


def _nearly_tied(primes: tuple[int, ...]) -> list[Tensor]:
    """Two threes whose distances differ by 1 over the product of the primes, one in each direction.

    With the eight above that is 8e-16, as little as float64 rounds: no tolerance tells it from a tie.
    """
    product = math.prod(primes)
    gaps = [pow(product // prime, -1, prime) for prime in primes]  # divided by the primes: a whole number too much
    whole = math.floor(sum(map(Fraction, gaps, primes)))
    gaps = [gap - prime if place < whole else gap for place, (gap, prime) in enumerate(zip(gaps, primes, strict=True))]
    first = torch.tensor([gaps, [-gap for gap in gaps]]).clamp(min=0)
    return [torch.zeros_like(first), first, first.flip(0), torch.tensor(primes) + 1]


def nearer(anchor: Tensor, first: Tensor, second: Tensor, sizes: Tensor) -> Tensor:
    """−1 where the first is nearer, 1 where the second is, 0 at a tie; in Python's fractions."""
    steps = [size - 1 for size in sizes.tolist()]

    def total(gaps):
        return sum((Fraction(gap, step) for gap, step in zip(gaps, steps, strict=True) if step), Fraction(0))

    gaps = zip((anchor - first).abs().tolist(), (anchor - second).abs().tolist(), strict=True)
    totals = [(total(one), total(other)) for one, other in gaps]
    return torch.tensor([(one > other) - (one < other) for one, other in totals])


ROUNDED = (
    "quotients were summed in floating point: of two equal sums, rounding makes one the larger. Multiply by a common "
    "multiple of all f − 1, and stay with integers."
)
TIES = "a tie is given as an order: expected 0 where both are equally far."
CLOSE = (
    "two orders that differ by less than your tolerance are not a tie: on some sizes sums come as close as 1e-15 and "
    "are not equal. In integers none is needed."
)


@dataclass(frozen=True, kw_only=True)
class Comparison(Function):
    """A function that compares; some faults are told by where it is wrong, however the sums were added up."""

    def _fault(self, got, expected, arguments) -> str | None:
        found = super()._fault(got, expected, arguments)
        if found is None or "the numbers differ" not in found:
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


def _by(measure, tolerance=0.0):
    """The answer that compares `measure(anchor, other, sizes)` of the two, and takes what is close for a tie."""

    def answer(anchor, first, second, sizes):
        lead = measure(anchor, first, sizes) - measure(anchor, second, sizes)
        return torch.where(lead.abs() <= tolerance, 0, lead.sign().long())

    return answer


def _quotients(anchor, other, sizes, dtype=torch.float64, add=sum, left_out=1):
    """Their sum, one after the other if nothing else is said."""
    return add(((anchor - other).abs().to(dtype) / (sizes - left_out).clamp(min=1)).unbind(1))


def _rounded_to(decimals):
    return lambda terms: sum(terms).round(decimals=decimals)


def _at_once(terms):
    return torch.stack(terms, 1).sum(1)


def _whole(anchor, other, sizes, multiple=math.lcm, size=torch.abs):
    """The sum times a common multiple of all f − 1 that are not 0; differences count by their `size`."""
    common = multiple(*(step for step in (sizes - 1).tolist() if step))
    weights = [common // (each - 1) if each > 1 else 0 for each in sizes.tolist()]
    return (size(other - anchor) * torch.tensor(weights)).sum(1)


ORDER_MISTAKES = {
    ROUNDED: either(
        *(_by(partial(_quotients, dtype=dtype, add=add)) for dtype in DTYPES for add in (sum, _at_once))
    ),
    CLOSE: either(
        *(_by(_quotients, tolerance) for tolerance in (1e-3, 1e-6, 1e-9, 1e-12)),
        _by(partial(_quotients, dtype=torch.float32), 1e-5),
    ),
    "the sums were rounded to two decimals: that makes ties of distances that really differ.":
        _by(partial(_quotients, add=_rounded_to(2))),
    "the sums were rounded to three decimals: that makes ties of distances that really differ.":
        _by(partial(_quotients, add=_rounded_to(3))),
    "the factors were not scaled: from its first to its last value each one counts 1, by f − 1.":
        _by(lambda anchor, other, sizes: (anchor - other).abs().sum(1)),
    "divided by f: from the first to the last value there are f − 1 steps.":
        _by(partial(_quotients, left_out=0, add=_rounded_to(9))),
    "the factors that differ were counted (Equation 5.6): how far they differ counts too.":
        _by(lambda anchor, other, sizes: (anchor != other).sum(1)),
    "the sign is turned round: −1 says that the first is nearer.": lambda *given: -nearer(*given),
    TIES: lambda *given: torch.where(nearer(*given) > 0, 1, -1),
    "differences were added with their signs, so that steps up and down cancel: take absolute values.":
        _by(partial(_whole, size=lambda gaps: gaps)),
}  # fmt: skip


def _nearer_in_lists(anchor, first, second, sizes):
    """In Python's integers, two images at a time."""
    steps = [max(size - 1, 1) for size in sizes.tolist()]
    weights, found = [math.prod(steps) // step for step in steps], []
    for three in zip(anchor.tolist(), first.tolist(), second.tolist(), strict=True):
        gaps = (weight * (abs(a - b) - abs(a - c)) for weight, a, b, c in zip(weights, *three, strict=True))
        found.append(sum(gaps))
    return torch.tensor([(lead > 0) - (lead < 0) for lead in found])


ORDER_RIGHT = (_by(_whole), _by(partial(_whole, multiple=lambda *steps: math.prod(steps))), _nearer_in_lists)

# 18.4 -----------------------------------------------------------------------------------------------------------------


def threes(generator: torch.Generator) -> list[list[Tensor]]:
    """The factors of three random images each, with ties, and with images that come twice."""
    shapes = ((200, 2, 4), (40, 4, 8), (60, 1, 3))
    cases = [torch.randint(high, (n, 3, factors), generator=generator) for n, factors, high in shapes]
    return [[case] for case in (*cases, torch.zeros(5, 3, 2, dtype=torch.int64))]


def in_order(factors: Tensor) -> Tensor:
    """Anchor, positive, negative of each three whose ℓ1 distances differ: (n, 3, F) → (m, 3, F)."""
    return _ordered(factors)


def _l1(one: Tensor, other: Tensor) -> int:
    return (one - other).abs().sum().item()


def _differing(one: Tensor, other: Tensor) -> int:
    return (one != other).sum().item()


def _ordered(factors, kept=int.__ne__, is_farther=lambda a, b, c: _l1(a, b) > _l1(a, c)):
    """The threes whose two distances `kept` compares, in an order that `is_farther(anchor, first, second)` says."""
    threes = [three for three in factors if kept(_l1(three[0], three[1]), _l1(three[0], three[2]))]
    found = [three[[0, 2, 1]] if is_farther(*three) else three for three in threes]
    return torch.stack(found) if found else factors[:0]


def planted_order(factors: Tensor, ties: bool = True, overwrites: bool = True) -> Tensor:
    """The planted faults: ties are kept, and the positive is overwritten before the negative is taken from it."""
    anchor, first, second = factors.unbind(1)
    near, far = (anchor - first).abs().sum(1), (anchor - second).abs().sum(1)
    exchange = (near > far).unsqueeze(1)
    positive = torch.where(exchange, second, first)
    negative = torch.where(exchange, positive if overwrites else first, second)
    return torch.stack([anchor, positive, negative], 1)[(near != far) | ties]


THREES_MISTAKES = {
    "both faults are still there: ties are kept, and a positive is overwritten before it is moved.": planted_order,
    "where the two are exchanged, positive and negative become the same image: `positive` is overwritten before "
    "`negative` is taken from it.":
        partial(planted_order, ties=False),
    "ties are still kept: two images at the same distance have no order, and the triplet has to go.":
        partial(planted_order, overwrites=False),
    "triplets were thrown away where the first was farther: exchange the two and keep them.":
        partial(_ordered, kept=int.__lt__),
    "positive and negative are exchanged in every triplet: the positive is the nearer one.":
        lambda factors: in_order(factors)[:, [0, 2, 1]],
    "triplets whose positive equals the anchor were thrown away: distance 0 is nearer than any other.":
        partial(_ordered, kept=lambda near, far: near != far and min(near, far) > 0),
    "the first image was compared with the second: both are compared with the anchor.":
        partial(_ordered, is_farther=lambda a, b, c: _l1(a, b) >= _l1(b, c)),
    "the order is by the number of factors that differ: expected the order by the ℓ1 distance.":
        partial(_ordered, is_farther=lambda a, b, c: _differing(a, b) >= _differing(a, c)),
}  # fmt: skip


def _threes_by_sorting(factors):
    distance = (factors - factors[:, :1]).abs().sum(2)
    order = torch.cat([torch.zeros(len(factors), 1, dtype=torch.int64), 1 + distance[:, 1:].argsort(1)], 1)
    return factors.gather(1, order.unsqueeze(2).expand_as(factors))[distance[:, 1] != distance[:, 2]]


def _threes_in_lists(factors):
    found = []
    for anchor, *others in factors.tolist():
        near, far = sorted((sum(map(abs, map(int.__sub__, anchor, other))), other) for other in others)
        found += [[anchor, near[1], far[1]]] * (near[0] < far[0])
    return torch.tensor(found, dtype=torch.int64).reshape(-1, *factors.shape[1:])


# 18.5 -----------------------------------------------------------------------------------------------------------------

SIDE, LATENTS, MOST_ALIGNED = 4, 6, 0.21
PLACES = torch.cartesian_prod(torch.arange(SIDE), torch.arange(SIDE)).double()  # (16, 2): row and column


def code_fault(code) -> str | None:
    """Whether a code of the 4 × 4 grid is right for every triplet, straight, and as little aligned as asked for."""
    code = _scaled(tensor(code, (len(PLACES), LATENTS)).double())
    wrong = _wrong_triplets(code)
    if wrong:
        return f"{wrong} triplets are in the wrong order.{_mixed(code)}"
    lines = _lines(code)
    straight, aligned = (torch.stack([ratio(line) for line in lines]) for ratio in (_linearity, _alignment))
    if not straight.min() >= 0.999:
        return f"every triplet is right, but a factor runs along a bent line (linearity {straight.min():.2f})."
    score = (aligned[:SIDE].mean() * aligned[SIDE:].mean()).sqrt()
    if not score <= MOST_ALIGNED:
        return f"every triplet is right and the lines are straight; the axis alignment is {score:.2f}.{_used(code)}"
    return None


def _scaled(code: Tensor) -> Tensor:
    """With its first place at 0 and its largest number 1, which changes no order and no ratio; or with zeros only."""
    code = code / (code.abs().max() or 1)  # first, since the difference of large numbers may be infinite
    code = code - code[0]
    return code / (code.abs().max() or 1)


def _wrong_triplets(code: Tensor) -> int:
    told, found = (torch.cdist(points, points, p=1) for points in (PLACES, code))
    nearer = told.unsqueeze(2) < told.unsqueeze(1)  # (anchor, positive, negative)
    tolerance = 1e-6 * found.max()
    return int((nearer & ~(found.unsqueeze(2) + tolerance < found.unsqueeze(1))).sum())


def _lines(code: Tensor) -> list[Tensor]:
    """The traversals, centred: four along the rows' number, then four along the columns'."""
    net = code.view(SIDE, SIDE, LATENTS)
    return [line - line.mean(0) for line in (*net.unbind(1), *net.unbind(0))]


def _linearity(line: Tensor) -> Tensor:
    return _ratio(torch.linalg.svdvals(line).square())


def _alignment(line: Tensor) -> Tensor:
    return _ratio(line.square().sum(0))


def _ratio(spread: Tensor) -> Tensor:
    """The share of the largest, stretched from [1/D, 1] to [0, 1]."""
    return (spread.max() / spread.sum() - 1 / LATENTS) / (1 - 1 / LATENTS)


def _moving(code: Tensor) -> tuple[Tensor, Tensor]:
    """Which latents move with the row's number, and which with the column's: bool (D,) each."""
    net, rounding = code.view(SIDE, SIDE, LATENTS), 1e-9
    return (net - net[:1]).abs().amax((0, 1)) > rounding, (net - net[:, :1]).abs().amax((0, 1)) > rounding


def _mixed(code: Tensor) -> str:
    rows, columns = _moving(code)
    if not (rows.any() and columns.any()):
        return " One of the two factors moves no latent at all."
    if (rows & columns).any():
        return " A latent moves with both factors, and here it costs order. Deal each factor out to latents of its own."
    return " Row and column do not count alike: let each factor move the code by the same ℓ1 distance per step."


def _used(code: Tensor) -> str:
    rows, columns = _moving(code)
    if not (rows | columns).all():
        return " Not all six latents move: there is room to deal the factors out further."
    return " All six latents move, but not alike: a factor that is dealt out evenly has the least alignment."


def _dealt(rows: list[float], columns: list[float]) -> Tensor:
    """The code whose latents move by so much per row and per column."""
    return PLACES @ torch.tensor([rows, columns], dtype=torch.float64)


CODE = PLACES.repeat(1, 3) / 3
ALIGNED = _dealt([1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0])
CODE_MISTAKES = {
    "Not all six latents move":
        either(ALIGNED, 1e200 * ALIGNED, 1e-170 * ALIGNED, _dealt([0.5, 0.5, 0, 0, 0, 0], [0, 0, 0.5, 0.5, 0, 0])),
    "All six latents move, but not alike": _dealt([0.6, 0.2, 0.2, 0, 0, 0], [0, 0, 0, 0.6, 0.2, 0.2]),
    "A latent moves with both factors": either(
        _dealt([1, 1, 1, 1, 1, 1], [1, -1, 1, -1, 1, -1]), _dealt([0.8, 0.6, 0, 0, 0, 0], [-0.6, 0.8, 0, 0, 0, 0])
    ),
    "Row and column do not count alike": _dealt([1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1]),
    "One of the two factors moves no latent": either(_dealt([1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0]), 0 * CODE),
    "runs along a bent line": torch.cat([PLACES.clamp(max=1), (PLACES - 1).clamp(min=0), 0 * PLACES], 1),
    "NaN or infinite": either(CODE * math.nan, CODE * math.inf),
    "expected a tensor of shape (16, 6)": CODE.T,
    "got a list": [*CODE.tolist(), []],
}  # fmt: skip
CODE_RIGHT = (
    torch.cat([PLACES[:, :1], PLACES[:, 1:].repeat(1, 5) / 5], 1),
    torch.cat([PLACES + 0.3 * PLACES.flip(1), PLACES - 0.3 * PLACES.flip(1), PLACES], 1),  # mixed
    3 - 10 * torch.cat([PLACES[:, :1].repeat(1, 2) / 2, PLACES[:, 1:].repeat(1, 4) / 4], 1),
    CODE.half(),
    CODE.float().requires_grad_(),
    PLACES.repeat(1, 3).long(),
    1e200 * CODE,
    5e-324 * PLACES.repeat(1, 3),
)

# 18.6 -----------------------------------------------------------------------------------------------------------------

MADE = {"A": "split", "B": "mixed", "C": "partly split", "D": "bent", "E": "aligned"}
MADE_WORDS = ("aligned", "split", "partly split", "mixed", "bent")
MADE_MISTAKES = {
    "A: straight and in order, but no factor has one latent of its own: axis .27, MIG 0.": "aligned",
    "A: with modularity 1 each latent carries one factor only, so nothing is mixed.": "mixed",
    "A: a factor that has one latent alone would lift the MIG above 0.": "partly split",
    "A: the linearity is 1.": "bent",
    "B: look at the MIG: for no factor one latent knows more than the next.": "aligned",
    "B: a split costs no triplet and no modularity; here both have suffered.": either("split", "partly split"),
    "B: the linearity is 1.": "bent",
    "C: if all four factors were split, the MIG would be 0; half of it is there.": "split",
    "C: then the axis alignment would be 1.": "aligned",
    "C: with modularity 1 each latent carries one factor only, so nothing is mixed.": "mixed",
    "C: the linearity is 1.": "bent",
    "D: a split code is straight; here the linearity is .90.": either("split", "partly split"),
    "D: with modularity 1 each latent carries one factor only, so nothing is mixed.": "mixed",
    "D: an aligned factor moves in one latent, and on a line of one latent the linearity is 1.": "aligned",
    "E: axis alignment 1 leaves nothing to mix. The wrong triplets come from uneven steps.": "mixed",
    "E: a split has a low axis alignment; here it is 1.": "split",
    "E: a split has a lower axis alignment; here it is 1 for all.": "partly split",
    "E: on one latent nothing can bend. Steps of unequal length cost triplets, not the line.": "bent",
}

# ----------------------------------------------------------------------------------------------------------------------

# 18.7 -----------------------------------------------------------------------------------------------------------------


def classes_of_a_batch(generator: torch.Generator) -> list[list]:
    """Codes that ask for a gradient, classes and a margin: images alone in a class, settled anchors, one class only."""
    cases = []
    for size, latents, margin in ((9, 2, 2.0), (7, 1, 1.0), (10, 3, 0.5)):
        codes = 2 * torch.randn(size, latents, generator=generator, dtype=torch.float64)
        # the last one has no positive; were it its own, it would not be settled
        codes[-1] = codes[0] + 0.1 * 0.5 ** torch.arange(latents)
        classes = torch.randint(3, (size,), generator=generator)
        classes[:4], classes[-1] = torch.tensor([0, 0, 1, 1]), 7
        cases.append([codes.requires_grad_(), classes, margin])
    line = torch.tensor([0, 0.5, 20, 26, 23], dtype=torch.float64)  # two anchors that are settled, two that are not
    settled = (line + 0.1 * torch.rand(5, generator=generator, dtype=torch.float64)).unsqueeze(1).requires_grad_()
    cases.insert(1, [settled, torch.tensor([0, 0, 1, 1, 2]), 2.0])
    alone = torch.randn(4, 2, generator=generator, dtype=torch.float64)
    return [*cases, [alone.requires_grad_(), torch.zeros(4, dtype=torch.int64), 1.0]]


def batch_hard(codes: Tensor, classes: Tensor, margin: float) -> Tensor:
    """Anchor by anchor: the farthest of its class and the nearest of the others; the mean over whoever has both."""
    return _hardest(codes, classes, margin)


def _hardest(codes, classes, margin, positive=max, negative=min, norm=1, clamp=True, count=None, itself=False):
    losses = []
    for a in range(len(codes)):
        others = [b for b in range(len(codes)) if itself or b != a]
        near = [(codes[a] - codes[b]).abs().pow(norm).sum().pow(1 / norm) for b in others if classes[b] == classes[a]]
        far = [(codes[a] - codes[b]).abs().pow(norm).sum().pow(1 / norm) for b in others if classes[b] != classes[a]]
        if near and far:
            excess = margin + positive(near) - negative(far)
            losses.append(excess.clamp(min=0) if clamp else excess)
    if not losses:
        return 0 * codes.sum()
    return torch.stack(losses).sum() / (len(losses) if count is None else count(losses, codes))


def _mean_of(distances):
    return torch.stack(distances).mean()


HARD_MISTAKES = {
    "the nearest of the class was taken: the hardest positive is the farthest.": partial(_hardest, positive=min),
    "the farthest of the others was taken: the hardest negative is the nearest.": partial(_hardest, negative=max),
    "the two are exchanged: farthest of the same class, nearest of the others.":
        partial(_hardest, positive=min, negative=max),
    "distances were averaged over the class: one positive and one negative for each anchor, the hardest.":
        partial(_hardest, positive=_mean_of, negative=_mean_of),
    "distances in ℓ2: ℓ1 is asked for.": partial(_hardest, norm=2),
    "settled triplets count below 0 and pay for the others: the loss is at least 0 for each anchor.":
        partial(_hardest, clamp=False),
    "divided by all anchors, also by those that have no positive or no negative: they do not count.":
        partial(_hardest, count=lambda losses, codes: len(codes)),
    "divided by the unsettled anchors only: a settled one counts, with 0.":
        partial(_hardest, count=lambda losses, codes: max(1, sum(bool(loss > 0) for loss in losses))),
    "the anchor was taken for its own positive: whoever is alone in a class has none, and does not count.":
        partial(_hardest, itself=True),
    "the sum over the anchors: expected is their mean.": partial(_hardest, count=lambda losses, codes: 1),
}  # fmt: skip


def _hard_by_masks(codes, classes, margin):
    distance = torch.cdist(codes, codes, p=1)
    same = classes.unsqueeze(1) == classes
    mine = same & ~torch.eye(len(codes), dtype=torch.bool)
    farthest = distance.where(mine, -math.inf).amax(1)
    nearest = distance.where(~same, math.inf).amin(1)
    kept = mine.any(1) & ~same.all(1)
    return relu(margin + farthest[kept] - nearest[kept]).mean() if kept.any() else distance.sum() * 0


def _hard_by_all_triplets(codes, classes, margin):
    """The hardest triplet of an anchor is the one with the largest excess of all."""
    losses = []
    for a, label in enumerate(classes.tolist()):
        pairs = itertools.product(range(len(codes)), repeat=2)
        told = [(p, n) for p, n in pairs if p != a and classes[p] == label and classes[n] != label]
        if told:
            losses.append(max(relu(margin + _apart(codes[a], codes[p]) - _apart(codes[a], codes[n])) for p, n in told))
    return sum(losses) / len(losses) if losses else 0 * codes.sum()


def _apart(first, second):
    return torch.linalg.vector_norm(first - second, 1)


def _hard_in_blocks(codes, classes, margin):
    found = []
    for label in classes.unique():
        mine, others = codes[classes == label], codes[classes != label]
        if len(mine) > 1 and len(others):
            found.append(margin + torch.cdist(mine, mine, p=1).amax(1) - torch.cdist(mine, others, p=1).amin(1))
    return torch.cat(found).clamp(min=0).mean() if found else 0 * codes.sum()


EXERCISES = {
    "18.1": Function(
        reference=batch_triplet_loss,
        cases=batches,
        mistakes=BATCH_MISTAKES,
        also_right=(_batch_by_loops, _batch_by_places, _batch_by_torch),
    ),
    "18.2": Plain(
        fault=moves_faults,
        mistakes=MOVES_MISTAKES,
        also_right=MOVES_RIGHT,
        praise="right. Now run the next cell and compare with autograd.",
    ),
    "18.3": Comparison(reference=nearer, cases=factor_triples, mistakes=ORDER_MISTAKES, also_right=ORDER_RIGHT),
    "18.4": Function(
        reference=in_order,
        cases=threes,
        mistakes=THREES_MISTAKES,
        also_right=(partial(planted_order, ties=False, overwrites=False), _threes_by_sorting, _threes_in_lists),
    ),
    "18.5": Plain(
        fault=code_fault,
        mistakes=CODE_MISTAKES,
        also_right=CODE_RIGHT,
        praise="right: no triplet is wrong, every factor runs straight, and no latent stands for a factor.",
    ),
    "18.6": words(MADE, MADE_WORDS, MADE_MISTAKES, praise="right: no single one of the five scores would have told."),
    "18.7": Function(
        reference=batch_hard,
        cases=classes_of_a_batch,
        mistakes=HARD_MISTAKES,
        also_right=(_hard_by_masks, _hard_by_all_triplets, _hard_in_blocks),
    ),
}
