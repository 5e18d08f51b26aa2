"""Chapter 01, disentanglement: places in a grid, a pair, two qualities, an angle as pictures show it, judgements."""

import math

import numpy as np
import torch
from torch import Tensor

from course_grading.answers import words
from course_grading.exercise import Function, either

# 01.1 -----------------------------------------------------------------------------------------------------------------


def places_in_grids(generator: torch.Generator) -> list[list]:
    """Pairs of places in grids of one to six factors: equal, neighbours, and across a carry."""
    cases = []
    for sizes, count in (([10, 10, 10, 8, 4, 15], 40), ([4, 6], 12), ([3, 1, 7, 2], 15), ([5], 6)):
        total = math.prod(sizes)
        first, second = torch.randint(total - 1, (2, count), generator=generator)
        second[:3] = first[:3] + torch.tensor([0, 1, 0])  # the same picture, and the next one
        first[3], second[3] = sizes[-1] - 1, sizes[-1] % total  # the next one, where the last factor has gone round
        cases.append([first, second, sizes])
    return cases


def changed_factors(first: Tensor, second: Tensor, sizes: list[int]) -> Tensor:
    apart = [np.stack(np.unravel_index(places.numpy(), sizes), 1) for places in (first, second)]
    return torch.from_numpy(apart[0] != apart[1])


def _apart(places: Tensor, sizes: list[int]) -> Tensor:
    """The values at each place (B, F), the last factor turning fastest."""
    values = []
    for size in reversed(sizes):
        values.insert(0, places % size)
        places = places // size
    return torch.stack(values, 1)


def _strides(sizes: list[int]) -> list[int]:
    return [math.prod(sizes[place + 1 :]) for place in range(len(sizes))]


def _first_fastest(first, second, sizes):
    return changed_factors(first, second, sizes[::-1]).flip(1)


CHANGED_MISTAKES = {
    "the first factor was taken to turn fastest; in these lists it is the last one.": _first_fastest,
    "the difference of the two places was taken apart. It has carries in it: from 14 to 15 is one step, and two "
    "factors change. Take the places apart first and compare then.":
        lambda a, b, sizes: _apart((a - b).abs(), sizes) != 0,
    "the quotient place // stride still contains all factors before this one; take the remainder by the factor's "
    "size as well.":
        lambda a, b, sizes: torch.stack([a // s != b // s for s in _strides(sizes)], 1),
    "the remainder place % stride contains all factors after this one, and not this one itself.":
        lambda a, b, sizes: torch.stack([a % s != b % s for s in _strides(sizes)], 1),
    "the quotient was not rounded down: with / it keeps a fraction, which holds all factors after this one. Use //.":
        lambda a, b, sizes: torch.stack(
            [a / s % f != b / s % f for s, f in zip(_strides(sizes), sizes, strict=True)], 1
        ),
    "the columns are in the order in which the factors were taken off, the last one first; expected in the "
    "order of `sizes`.":
        lambda a, b, sizes: changed_factors(a, b, sizes).flip(1),
    "this says which factors are the *same*.": lambda a, b, sizes: ~changed_factors(a, b, sizes),
    "this counts how many factors differ; expected which, (B, F).":
        lambda a, b, sizes: changed_factors(a, b, sizes).sum(1),
    "got torch.int64": lambda a, b, sizes: changed_factors(a, b, sizes).long(),
}  # fmt: skip

CHANGED_RIGHT = (
    lambda a, b, sizes: _apart(a, sizes) != _apart(b, sizes),
    lambda a, b, sizes: torch.stack([a // s % f != b // s % f for s, f in zip(_strides(sizes), sizes, strict=True)], 1),
    lambda a, b, sizes: torch.stack(torch.unravel_index(a, sizes), 1).ne(torch.stack(torch.unravel_index(b, sizes), 1)),
)

# 01.2 -----------------------------------------------------------------------------------------------------------------


def values_and_draws(generator: torch.Generator) -> list[list]:
    """Values of a factor with random numbers in [0, 1): all values, two values only, and draws at the edges."""
    cases = []
    for size, count in ((10, 60), (2, 20), (4, 40), (15, 80)):
        draws = torch.rand(count, generator=generator, dtype=torch.float64)
        values = torch.randint(size, (count,), generator=generator)
        values[:size] = torch.arange(size)
        draws[size : size + 2] = torch.tensor([0.0, 1 - 2**-30], dtype=torch.float64)
        values[-1], draws[-1] = 1, 1.5 / (size - 1) if size > 2 else 0.5  # the place of the value itself is drawn
        cases.append([values, draws, size])
    return cases


def other_values(values: Tensor, draws: Tensor, size: int) -> Tensor:
    others = [[other for other in range(size) if other != value] for value in values.tolist()]
    return torch.tensor([row[int(draw * (size - 1))] for row, draw in zip(others, draws.tolist(), strict=True)])


def _place(draws: Tensor, count: int) -> Tensor:
    return (draws * count).floor().long()


def _stepped(places: Tensor, values: Tensor) -> Tensor:
    return places + (places >= values)


def _pushed(values, draws, size):
    drawn = _place(draws, size)
    return torch.where(drawn == values, (drawn + 1) % size, drawn)


OTHER_MISTAKES = {
    "the planted fault is still there: all values are drawn, the old one among them, so one pair in `size` is a "
    "picture with itself.":
        lambda values, draws, size: _place(draws, size),
    "where the old value was drawn again it was moved on by one: it does change now, and the value after the old one "
    "comes twice as often as the others.":
        _pushed,
    "the place among the others is a value only below the old one. From there on it has to be moved up by one.":
        lambda values, draws, size: _place(draws, size - 1),
    "the old value is stepped over, but the place was drawn among `size` others, and there are size − 1: the last "
    "place leads out of the values.":
        lambda values, draws, size: _stepped(_place(draws, size), values),
    "where the old value was drawn again it was moved down by one: it does change now, and the value before the old "
    "one comes twice as often as the others.":
        lambda values, draws, size: (lambda drawn: torch.where(drawn == values, (drawn - 1) % size, drawn))(
            _place(draws, size)
        ),
    "never the old value, and all others equally often, but the last value stands where the old one was; the task "
    "counts the others upwards.":
        lambda values, draws, size: (lambda place: torch.where(place == values, size - 1, place))(
            _place(draws, size - 1)
        ),
    "the place was rounded up: round down, so that the first of the others is at place 0.":
        lambda values, draws, size: _stepped((draws * (size - 1)).ceil().long(), values),
    "this is always the next value, whatever the draw.": lambda values, draws, size: (values + 1) % size,
    "moved up only where the place lies *above* the old value: where it equals the old value, nothing changes.":
        lambda values, draws, size: _place(draws, size - 1) + (_place(draws, size - 1) > values),
    "never the old value, and all others equally often, but not in the order that the task asks for: it counts the "
    "others upwards from 0.":
        lambda values, draws, size: (values + 1 + _place(draws, size - 1)) % size,
    "the place was rounded to the nearest number: round down, or the first and the last of the others come half as "
    "often.":
        lambda values, draws, size: (lambda k: k + (k >= values))((draws * (size - 2)).round().long()),
    "the last of the others is never drawn: there are size − 1 of them, and draws are below 1.":
        lambda values, draws, size: (lambda k: k + (k >= values))(_place(draws, max(size - 2, 1))),
    "got torch.float64": lambda values, draws, size: other_values(values, draws, size).double(),
}  # fmt: skip


def _by_sorting(values, draws, size):
    """All values for each picture, the old one sent to the end."""
    table = torch.arange(size).repeat(len(values), 1)
    table[table == values.unsqueeze(1)] = size
    return table.sort(1).values.gather(1, _place(draws, size - 1).unsqueeze(1)).squeeze(1)


OTHER_RIGHT = (
    _by_sorting,
    lambda values, draws, size: (lambda k: k + (k >= values))(_place(draws, size - 1)),
    lambda values, draws, size: (
        values
        - (values - _place(draws, size - 1)).where(
            _place(draws, size - 1) < values, values - _place(draws, size - 1) - 1
        )
    ),
)

# 01.3 -----------------------------------------------------------------------------------------------------------------


def importances(generator: torch.Generator) -> list[list[Tensor]]:
    """Tables of importance: without zeros, with some, with dead latents, few latents for many factors; the clock."""

    def table(latents, factors, dead=0, power=1.0, zeros=0.15):
        values = 0.05 + torch.rand(latents, factors, generator=generator, dtype=torch.float64) ** power
        values[0] *= 0.05  # a latent that hardly matters
        values[values < zeros] = 0
        values[-1] = values[-1] + 0.3  # so that no column is empty
        values[-2, 0] += 0.3  # and two latents are alive
        values = torch.cat([values, torch.zeros(dead, factors, dtype=torch.float64)])
        return values / values.sum(0)

    clock = torch.tensor([[0.5, 0], [0.5, 0], [0, 1]], dtype=torch.float64)
    return [
        [table(5, 3, zeros=0)],
        [clock],
        [table(6, 4, dead=2, power=4, zeros=0)],
        [table(3, 5, power=2)],
        [table(9, 2, dead=1, power=6)],
    ]


def two_qualities(importance: Tensor) -> Tensor:
    rows = [row for row in importance.tolist() if sum(row) > 0]
    columns = [list(column) for column in zip(*rows, strict=True)]
    return torch.tensor([_concentrated(rows), _concentrated(columns)], dtype=torch.float64)


def _concentrated(lines: list[list[float]]) -> float:
    total = sum(map(sum, lines))
    found = 0.0
    for line in lines:
        shares = [value / sum(line) for value in line]
        entropy = -sum(share * math.log(share) for share in shares if share > 0)
        found += sum(line) / total * (1 - entropy / math.log(len(line)))
    return found


def _entropy(lines: Tensor, base: float, shared: bool) -> Tensor:
    shares = lines / lines.sum(1, keepdim=True) if shared else lines
    return -torch.special.xlogy(shares, shares).sum(1) / math.log(base)


def _qualities(importance, *, bases=None, weighted=True, alive=True, shares=True):
    """D and C with other bases of the logarithm, without weights, with dead latents kept, or with plain rows."""
    kept = importance[importance.sum(1) > 0] if alive else importance
    bases = bases or (kept.shape[1], len(kept))
    found = []
    for lines, base in zip((kept, kept.T), bases, strict=True):
        weights = lines.sum(1) / lines.sum() if weighted else torch.full((len(lines),), 1 / len(lines)).double()
        found.append((weights * (1 - _entropy(lines, base, shares))).sum())
    return torch.stack(found)


QUALITIES_MISTAKES = {
    "the two are exchanged: D looks along a latent's row, C along a factor's column.":
        lambda r: two_qualities(r).flip(0),
    "the entropies were not divided by the logarithm of the number of entries: an even row then has not 0.":
        either(lambda r: _qualities(r, bases=(math.e, math.e)), lambda r: _qualities(r, bases=(2, 2))),
    "the two logarithms are exchanged: a row has as many entries as there are factors, a column as many as there are "
    "latents left.":
        lambda r: _qualities(r, bases=((r.sum(1) > 0).sum().item(), r.shape[1])),
    "both entropies were divided by the logarithm of the number of latents: a row has as many entries as there are "
    "factors, so D takes log F.":
        lambda r: _qualities(r, bases=((r.sum(1) > 0).sum().item(),) * 2),
    "both entropies were divided by log F: a column has as many entries as there are latents alive, so C takes the "
    "logarithm of that.":
        lambda r: _qualities(r, bases=(r.shape[1], r.shape[1])),
    "dead latents were counted in the logarithm for C: they were to be left out altogether.":
        lambda r: _qualities(r, bases=(r.shape[1], len(r))),
    "D is a plain mean over the latents: weigh each row by its share of all importance, or a latent that hardly "
    "matters counts as much as the others.":
        lambda r: _qualities(r, weighted=False),
    "some are NaN: a dead latent's row is divided by its sum, which is 0. Leave it out first.":
        lambda r: _qualities(r, alive=False),
    "this is the normalised entropy itself: expected 1 minus it, so that one dark field gives 1.":
        lambda r: 1 - two_qualities(r),
    "some are NaN: 0 · log 0 counts as 0, and a computer says NaN.":
        lambda r: two_qualities(r) + torch.where((r[r.sum(1) > 0] == 0).any(), torch.nan, 0.0),
    "the rows were not made shares before their entropy: divide each by its sum.":
        lambda r: _qualities(r, shares=False),
}  # fmt: skip


def _with_scipy(importance):
    from scipy.stats import entropy

    kept = importance.detach().numpy()
    kept = kept[kept.sum(1) > 0]
    found = [
        np.average(1 - entropy(lines, axis=1, base=lines.shape[1]), weights=lines.sum(1)) for lines in (kept, kept.T)
    ]
    return torch.tensor(found, dtype=torch.float64)


QUALITIES_RIGHT = (_qualities, _with_scipy, lambda r: torch.stack([_qualities(r)[0], _qualities(r)[1]]))

# 01.4 -----------------------------------------------------------------------------------------------------------------

FOLDS = (4, 2, 1)  # how often a square, an ellipse and a heart look the same in one turn
STEPS = 39  # from the first of dSprites' 40 angles to the last, which is the first again


def shapes_and_steps(generator: torch.Generator) -> list[list[Tensor]]:
    """All shapes: at all angles but the first and the last, which are the same; at all; a random lot; and one."""
    shapes, steps = torch.cartesian_prod(torch.arange(3), torch.arange(40)).T
    inner = (steps > 0) & (steps < STEPS)
    some = torch.randperm(120, generator=generator)[:25]
    return [[shapes[inner], steps[inner]], [shapes, steps], [shapes[some], steps[some]], [shapes[-1:], steps[-1:]]]


def angle_code(shapes: Tensor, steps: Tensor) -> Tensor:
    rows = []
    for shape, step in zip(shapes.tolist(), steps.tolist(), strict=True):
        hand = complex(math.cos(2 * math.pi * step / STEPS), math.sin(2 * math.pi * step / STEPS)) ** FOLDS[shape]
        rows.append([hand.real, hand.imag])
    return torch.tensor(rows, dtype=torch.float64)


def _hand(shapes, steps, *, folds=FOLDS, count=STEPS, circle=2 * math.pi):
    angle = torch.tensor(folds, dtype=torch.float64)[shapes] * steps * circle / count
    return torch.stack([angle.cos(), angle.sin()], 1)


ANGLE_MISTAKES = {
    "all shapes have the hand of the heart: a square looks the same after a quarter of a turn, and an ellipse after "
    "half of one.":
        lambda shapes, steps: _hand(shapes, steps, folds=(1, 1, 1)),
    "40 angles were spread over the turn. The last is the first again, so there are 39 steps.":
        lambda shapes, steps: _hand(shapes, steps, count=40),
    "the square's hand goes round twice in a turn: it looks the same after a quarter, so four times.":
        lambda shapes, steps: _hand(shapes, steps, folds=(2, 2, 1)),
    "the ellipse looks the same after half a turn: its hand goes round twice.":
        either(
            lambda shapes, steps: _hand(shapes, steps, folds=(4, 1, 1)),
            lambda shapes, steps: _hand(shapes, steps, folds=(4, 4, 1)),
        ),
    "the heart looks the same after a whole turn only: its hand goes round once.":
        lambda shapes, steps: _hand(shapes, steps, folds=(4, 2, 2)),
    "the shapes are in another order: 0 is the square, 1 the ellipse and 2 the heart.":
        lambda shapes, steps: _hand(shapes, steps, folds=FOLDS[::-1]),
    "38 steps were made of the turn: 40 angles, of which the last is the first again, make 39.":
        lambda shapes, steps: _hand(shapes, steps, count=38),
    "the heart's hand stands still: it does turn, once in a whole turn.":
        lambda shapes, steps: _hand(shapes, steps, folds=(4, 2, 0)),
    "the angle was divided by the number of symmetries: the square's hand must go round *more* often, four times in "
    "one turn, to be back after a quarter.":
        lambda shapes, steps: _hand(shapes, steps, folds=(1 / 4, 1 / 2, 1)),
    "the sine comes first here: expected (cos, sin).": lambda shapes, steps: angle_code(shapes, steps).flip(1),
    "the hand goes round the other way: angles grow from (1, 0) towards (0, 1).":
        lambda shapes, steps: _hand(shapes, -steps),
    "degrees were given to cos and sin, which take radians.":
        lambda shapes, steps: _hand(shapes, steps, circle=360),
    "a turn is 2π, and this is half of it.": lambda shapes, steps: _hand(shapes, steps, circle=math.pi),
}  # fmt: skip


def _by_powers(shapes, steps):
    hand = torch.polar(torch.ones(len(steps), dtype=torch.float64), 2 * torch.pi * steps.double() / STEPS)
    return torch.view_as_real(hand ** torch.tensor(FOLDS)[shapes])


ANGLE_RIGHT = (
    _hand,
    _by_powers,
    lambda shapes, steps: _hand(shapes, torch.where(steps == 39, 0, steps)),
)

# 01.5 -----------------------------------------------------------------------------------------------------------------

READERS = {
    "tree, turned": "notices", "linear, turned": "does not", "neighbour, turned": "does not",
    "tree, stretched": "does not", "neighbour, stretched": "notices", "tree, bent": "does not",
    "linear, bent": "notices", "person, turned": "notices",
}  # fmt: skip
READERS_MISTAKES = {
    "tree, turned: it asks about one number at a time, and no number of the turned code is a factor.": "does not",
    "linear, turned: its weights turn along, (Qw)·(Qz) = w·z.": "notices",
    "neighbour, turned: a rotation keeps all distances, and it looks at nothing else.": "notices",
    "tree, stretched: a threshold on a number that is 30 times as large is 30 times as large. Nothing else changes.":
        "notices",
    "neighbour, stretched: the stretched latent outweighs all others in the distance, and knows nothing of the label.":
        "does not",
    "tree, bent: cubes keep the order of values, so every split of the labelled rooms is still there.": "notices",
    "linear, bent: it adds up the numbers themselves, and a sum of cubes is above 0 elsewhere than the sum was.":
        "does not",
    "person, turned: somebody who turns one dial at a time is a reader of single numbers, like the tree.": "does not",
}  # fmt: skip

# 01.6 -----------------------------------------------------------------------------------------------------------------

EVIDENCE = {
    "mixed row": "entangled", "clean rows": "neither", "linear classifier": "readable", "reconstructions": "readable",
    "independent": "neither", "two rooms": "entangled", "two latents": "neither", "score": "neither",
}  # fmt: skip
EVIDENCE_MISTAKES = {
    "mixed row: one latent, two factors. One such row is enough to convict.": either("readable", "neither"),
    "clean rows: from one room, with all other rooms unseen. That cannot acquit, and nothing was found to convict.":
        "entangled",
    "clean rows: the rows show what the decoder paints near one room, and not that every factor can be had from every "
    "code.":
        "readable",
    "linear classifier: it finds the factors in a turned code as well; entangled or not, they can be read off.":
        either("entangled", "neither"),
    "reconstructions: whoever has the code can decode it and look. The factors are in it, for a reader with a decoder.":
        either("entangled", "neither"),
    "independent: the perfect code is independent, and so are codes that mix everything: it speaks neither way.":
        either("entangled", "readable"),
    "two rooms: the latent means the wall here and the floor there, so it has not one factor.":
        either("readable", "neither"),
    "two latents: either of them serves the hue alone, so changing one changes one factor. Completeness objects, and "
    "was not asked.":
        "entangled",
    "two latents: nothing is said about the other factors; they may be missing.": "readable",
    "score: a number without an untrained network beside it, or the score of the factors themselves, says neither.":
        either("entangled", "readable"),
}  # fmt: skip

# ----------------------------------------------------------------------------------------------------------------------

EXERCISES = {
    "01.1": Function(
        reference=changed_factors, cases=places_in_grids, mistakes=CHANGED_MISTAKES, also_right=CHANGED_RIGHT
    ),
    "01.2": Function(reference=other_values, cases=values_and_draws, mistakes=OTHER_MISTAKES, also_right=OTHER_RIGHT),
    "01.3": Function(
        reference=two_qualities, cases=importances, mistakes=QUALITIES_MISTAKES, also_right=QUALITIES_RIGHT
    ),
    "01.4": Function(reference=angle_code, cases=shapes_and_steps, mistakes=ANGLE_MISTAKES, also_right=ANGLE_RIGHT),
    "01.5": words(
        READERS,
        ("notices", "does not"),
        READERS_MISTAKES,
        praise="right: a tree needs the order of single numbers, a neighbour distances, a linear classifier sums.",
    ),
    "01.6": words(
        EVIDENCE,
        ("entangled", "readable", "neither"),
        EVIDENCE_MISTAKES,
        praise="right: two convict, two show that nothing is missing, and none acquits.",
    ),
}
