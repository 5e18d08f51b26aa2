"""Chapter 10, weak supervision: blocks, shared latents, an average, a chance, pairs from a film, and what follows."""

import itertools
import math

import numpy as np
import torch
from torch import Tensor

from course_grading.answers import words
from course_grading.exercise import Function, either

# 10.1 -----------------------------------------------------------------------------------------------------------------

KINDS = [
    [(0, 0, 1, 0, 1, 1), (1, 1, 1, 0, 0, 0), (0, 0, 0, 0, 1, 0)],  # on which every mistake has a result of its own
    [(1, 1, 0, 1), (0, 0, 1, 1)],
    [(0, 1, 1, 1), (1, 1, 0, 1), (0, 1, 1, 1)],  # three told apart though none changes alone; two never rest
    [(1, 0, 0, 0, 1), (0, 1, 0, 0, 0), (0, 0, 0, 1, 0), (1, 1, 0, 0, 1)],
    [(1, 0, 1), (1, 1, 1)],  # one of the two changes without the other, and never the reverse
]


def kinds_of_pairs(generator: torch.Generator) -> list[list[Tensor]]:
    """Kinds that tie factors together, share a single one, or never change one; and random ones."""
    cases = [torch.tensor(rows, dtype=torch.bool) for rows in KINDS]
    drawn = torch.rand(3, 7, generator=generator) < 0.5
    drawn[:, 5], drawn[:, 6] = drawn[:, 1], drawn[:, 0]
    return [[case] for case in (*cases, drawn)]


def first_of_block(changes: Tensor) -> Tensor:
    seen = {}
    for factor, column in enumerate(changes.T.tolist()):
        seen.setdefault(tuple(column), factor)
    return torch.tensor([seen[tuple(column)] for column in changes.T.tolist()])


def _blocks(joined) -> Tensor:
    """The first factor that each is joined to, for a relation (F, F) that each has to itself."""
    return joined.int().argmax(1)


def _apart(changes):
    """Whether some kind changes the one factor and not the other, (F, F)."""
    return (changes[:, :, None] & ~changes[:, None, :]).any(0)


def _alone(changes):
    alone = changes[changes.sum(1) == 1].any(0)
    joined = (~alone[:, None] & ~alone) | torch.eye(len(alone), dtype=torch.bool)
    return _blocks(joined)


def _linked(changes):
    joined = (changes[:, :, None] & changes[:, None, :]).any(0) | torch.eye(changes.shape[1], dtype=torch.bool)
    for _ in range(changes.shape[1]):
        joined = (joined.double() @ joined.double()) > 0
    return _blocks(joined)


BLOCK_MISTAKES = {
    "a factor need not change alone to stand in a block of its own: it is enough that kinds part it from the others.":
        _alone,
    "factors that once change together are not tied: another kind may part them.": _linked,
    "a block is what no kind parts, in either direction: these two are parted, though only one of them can be changed "
    "without the other.":
        lambda c: _blocks(~(_apart(c) & _apart(c).T)),
    "blocks were numbered 0, 1, 2, …: the number of the first factor in the block is asked for.":
        either(lambda c: torch.unique(c.T, dim=0, return_inverse=True)[1],
               lambda c: torch.unique(first_of_block(c), return_inverse=True)[1]),
    "this is the last factor of the block: the first is asked for.":
        lambda c: c.shape[1] - 1 - (c[:, :, None] == c[:, None]).all(0).flip(1).int().argmax(1),
    "how often a factor changes says nothing: two that change in different kinds are in different blocks.":
        lambda c: _blocks(c.sum(0)[:, None] == c.sum(0)),
    "this asks whether *some* kind treats the two alike: all kinds have to.":
        lambda c: _blocks((c[:, :, None] == c[:, None]).any(0)),
    "this is the size of the block: the number of its first factor is asked for.":
        lambda c: (c[:, :, None] == c[:, None]).all(0).sum(1),
}  # fmt: skip

# 10.2 -----------------------------------------------------------------------------------------------------------------


def posterior_pairs(generator: torch.Generator) -> list[list[Tensor]]:
    """Posteriors of pairs with widths of many sizes, and k from none to all."""
    cases = []
    for batch, latents in ((60, 4), (40, 7), (5, 1)):
        mean = torch.randn(2, batch, latents, generator=generator, dtype=torch.float64)
        log_variance = 1.5 * torch.randn(2, batch, latents, generator=generator, dtype=torch.float64) - 1
        k = torch.randint(latents + 1, (batch,), generator=generator)
        k[:2] = torch.tensor([0, latents])
        cases.append([mean, log_variance, k])
    return cases


def _divergence(mean, log_variance, way=0.5):
    """`way` of KL(first ‖ second) and the rest of the reverse, from logarithms of ratios."""
    first = torch.distributions.Normal(mean[0], (log_variance[0] / 2).exp())
    second = torch.distributions.Normal(mean[1], (log_variance[1] / 2).exp())
    kl = torch.distributions.kl_divergence
    return way * kl(first, second) + (1 - way) * kl(second, first)


def told_shared(mean: Tensor, log_variance: Tensor, k: Tensor) -> Tensor:
    """By a loop that takes out the largest, k times."""
    delta, shared = _divergence(mean, log_variance).clone(), torch.ones(mean.shape[1:], dtype=torch.bool)
    for pair, count in enumerate(k.tolist()):
        for _ in range(count):
            largest = int(delta[pair].argmax())
            shared[pair, largest], delta[pair, largest] = False, -1.0
    return shared


def _beyond(delta, k):
    return delta.argsort(1, descending=True).argsort(1) >= k[:, None]


def _guessed(mean, log_variance, k):
    delta = _divergence(mean, log_variance)
    return delta < (delta.amin(1, keepdim=True) + delta.amax(1, keepdim=True)) / 2


TOLD_MISTAKES = {
    "this is the guess, half-way between least and most: here k is told.": _guessed,
    "the mask is turned round: True where the latent is shared.": lambda m, v, k: ~told_shared(m, v, k),
    "k latents are shared here: k have *changed*, and all others are shared.":
        lambda m, v, k: told_shared(m, v, m.shape[2] - k),
    "the k that differ least were taken for changed.": lambda m, v, k: ~_beyond(_divergence(m, v), m.shape[2] - k),
    "this is one direction of the divergence: take the mean of both.":
        either(lambda m, v, k: _beyond(_divergence(m, v, 1.0), k), lambda m, v, k: _beyond(_divergence(m, v, 0.0), k)),
    "the means alone were compared: a wide posterior makes a difference small.":
        lambda m, v, k: _beyond((m[0] - m[1]).abs(), k),
    "log_variance was read as the logarithm of the standard deviation: its exponential is the variance.":
        lambda m, v, k: _beyond(_divergence(m, 2 * v), k),
    "a standard deviation stands where the variance belongs.": lambda m, v, k: _beyond(_divergence(m, v / 2), k),
    "argsort says who stands at a place; the place of each latent takes argsort twice.":
        lambda m, v, k: _divergence(m, v).argsort(1, descending=True) >= k[:, None],
    "one k for all pairs: each has its own.": lambda m, v, k: told_shared(m, v, k.max().expand(len(k))),
    "one latent too few is shared: those from place k on, counted from 0.":
        lambda m, v, k: _beyond(_divergence(m, v), k + 1),
}  # fmt: skip

TOLD_RIGHT = (
    lambda m, v, k: _beyond(_divergence(m, v), k),
    lambda m, v, k: (_divergence(m, v)[:, :, None] < _divergence(m, v)[:, None]).sum(2) >= k[:, None],
    lambda m, v, k: torch.from_numpy(
        np.argsort(np.argsort(-_divergence(m, v).numpy(), axis=1), axis=1) >= k.numpy()[:, None]
    ),
)

# 10.3 -----------------------------------------------------------------------------------------------------------------


def two_posteriors(generator: torch.Generator) -> list[list[Tensor]]:
    """Pairs of posteriors, of unequal widths, narrow ones, and one latent; both need gradients."""
    cases = []
    for shape, level in (((2, 6, 4), 0.0), ((2, 3, 2), -4.0), ((2, 1, 1), 1.0)):
        mean = torch.randn(shape, generator=generator, dtype=torch.float64)
        log_variance = level + 2 * torch.randn(shape, generator=generator, dtype=torch.float64)
        cases.append([mean.requires_grad_(), log_variance.requires_grad_()])
    return cases


def arithmetic_average(mean: Tensor, log_variance: Tensor) -> Tensor:
    """By a sum of exponentials in logarithms."""
    spread = torch.logaddexp(log_variance[0], log_variance[1]) - math.log(2)
    return torch.stack([(mean[0] + mean[1]) / 2, spread])


def _averaged(spread, middle=lambda m, v: m.mean(0)):
    return lambda m, v: torch.stack([middle(m, v), spread(m, v)])


def _precise(m, v):
    return ((-v).exp() * m).sum(0) / (-v).exp().sum(0)


AVERAGE_MISTAKES = {
    "the planted fault is still there: standard deviations are averaged. Average the variances.":
        _averaged(lambda m, v: 2 * (v / 2).exp().mean(0).log()),
    "the log-variances were averaged: that is the geometric mean of the variances.": _averaged(lambda m, v: v.mean(0)),
    "this is the variance: its logarithm is asked for.": _averaged(lambda m, v: v.exp().mean(0)),
    "this is the standard deviation: the logarithm of the variance is asked for.":
        _averaged(lambda m, v: v.exp().mean(0).sqrt()),
    "this is the logarithm of the standard deviation: that of the variance is asked for.":
        _averaged(lambda m, v: v.exp().mean(0).log() / 2),
    "the variances were added and not averaged: two equal posteriors have to stay as they are.":
        _averaged(lambda m, v: v.exp().sum(0).log()),
    "log_variance was read as the logarithm of the standard deviation: its exponential is the variance.":
        _averaged(lambda m, v: (2 * v).exp().mean(0).log()),
    "this is Ada-ML-VAE, which weights the means by their precision.":
        either(_averaged(lambda m, v: -(-v).exp().mean(0).log(), _precise),
               _averaged(lambda m, v: -(-v).exp().sum(0).log(), _precise),
               _averaged(lambda m, v: v.exp().mean(0).log(), _precise)),
    "the harmonic mean of the variances belongs to Ada-ML-VAE; here it is the arithmetic one.":
        _averaged(lambda m, v: -(-v).exp().mean(0).log()),
    "the variance of the average of two independent variables is a quarter of the sum: here the *posterior* is "
    "averaged, not a variable.":
        _averaged(lambda m, v: (v.exp().sum(0) / 4).log()),
    "the spread of the two means was added: a mixture of the two posteriors has that variance, the shared one has not.":
        _averaged(lambda m, v: (v.exp().mean(0) + m.var(0, correction=0)).log()),
    "the values are right, but they are detached: the encoder learns through the average.":
        lambda m, v: arithmetic_average(m, v).detach(),
    "mean and log-variance have changed places.": lambda m, v: arithmetic_average(m, v).flip(0),
}  # fmt: skip

AVERAGE_RIGHT = (
    _averaged(lambda m, v: v.exp().mean(0).log()),
    lambda m, v: torch.stack([m.sum(0) / 2, torch.logsumexp(v, 0) - math.log(2)]),
    lambda m, v: torch.stack([torch.lerp(m[0], m[1], 0.5), v[0] + torch.log1p((v[1] - v[0]).exp()) - math.log(2)]),
)

# 10.4 -----------------------------------------------------------------------------------------------------------------


def settings_of_chance(generator: torch.Generator) -> list[list]:
    """Few values and many, one change and several; bounds that no change meets, but in the fourth, which meets them."""
    eta = 0.55 + 0.2 * torch.rand(1, generator=generator).item() + 1e-3
    return [[9, 3, 0.65], [3, 2, 0.6], [8, 3, 0.5**0.5], [5, 2, 0.5], [6, 1, 0.7], [7, 4, eta], [2, 3, 0.9]]


def chance_by_counting(f: int, k: int, eta: float) -> Tensor:
    """All k-tuples of ordered pairs of different values, one by one by their sizes."""
    sizes = [abs(a - b) for a in range(f) for b in range(f) if a != b]
    counts = {size: sizes.count(size) for size in set(sizes)}
    found = 0
    for changes in itertools.product(counts, repeat=k):
        if min(changes) >= eta * max(changes):
            found += math.prod(counts[size] for size in changes)
    return torch.tensor(found / len(sizes) ** k, dtype=torch.float64)


def _chance(f, k, eta, share=None, reach=None, minus=True, most=None):
    """The sum over the largest change, with one thing done otherwise."""
    steps = torch.arange(1, f, dtype=torch.float64)
    share = 2 * (f - steps) / (f * (f - 1)) if share is None else share(f, steps)
    reach = reach or (lambda steps, m: steps >= eta * m)
    found = torch.zeros((), dtype=torch.float64)
    for m, own in zip(steps, share, strict=True):
        near = (share * (steps <= m) * reach(steps, m)).sum()
        found = found + near**k - ((near - own) ** k if minus else 0)
    return found


def _around_a_circle(f, k, eta):
    share = torch.bincount(torch.tensor([min(s, f - s) for s in range(1, f)]), minlength=f)[1:].double() / (f - 1)
    return _chance(f, k, eta, share=lambda *_: share)


CHANCE_MISTAKES = {
    "changes were taken to be of all sizes alike: of f (f − 1) ordered pairs of values 2 (f − s) are s steps apart.":
        lambda f, k, e: _chance(f, k, e, share=lambda f, s: torch.full_like(s, 1 / (f - 1))),
    "a changed factor was allowed to stay where it is: its chance of s steps is 2 (f − s) in f (f − 1), not in f².":
        either(lambda f, k, e: _chance(f, k, e, share=lambda f, s: 2 * (f - s) / f**2),
               lambda f, k, e: _chance(f, k, e) + (1 / f) ** k),
    "a change of exactly η times the largest is recognised: at least, not more.":
        lambda f, k, e: _chance(f, k, e, reach=lambda s, m: (s > e * m) | (s == m)),
    "differences were squared: this rule compares them as they are.":
        lambda f, k, e: _chance(f, k, e, reach=lambda s, m: s >= e**0.5 * m),
    "η was squared: a change is held against η times the largest.":
        lambda f, k, e: _chance(f, k, e, reach=lambda s, m: s >= e * e * m),
    "this counts tuples below each bound again and again: take off those in which the largest does not occur.":
        lambda f, k, e: _chance(f, k, e, minus=False),
    "this is the chance that all changes are alike.":
        lambda f, k, e: _chance(f, k, e, reach=lambda s, m: s == m),
    "the largest possible change was taken for the largest of the pair.":
        lambda f, k, e: torch.tensor(
            sum(2 * (f - s) / (f * (f - 1)) for s in range(1, f) if s >= e * (f - 1)) ** k, dtype=torch.float64
        ),
    "this is the chance of *not* recognising all: subtract from 1.": lambda f, k, e: 1 - _chance(f, k, e),
    "the values were joined to a circle: from the first to the last are f − 1 steps.": _around_a_circle,
    "this is the chance for two changes, whatever k is.": lambda f, k, e: _chance(f, 2, e),
}  # fmt: skip

CHANCE_RIGHT = (
    lambda f, k, e: _chance(f, k, e),
    lambda f, k, e: chance_by_counting(f, k, e).clone(),
    lambda f, k, e: torch.as_tensor(float(_chance(f, k, e)), dtype=torch.float64),
)

# 10.5 -----------------------------------------------------------------------------------------------------------------


def films(generator: torch.Generator) -> list[list]:
    """Films whose factors step, rest and come back; one of two factors, a short one, and a slow one."""
    cases = [[torch.tensor([[0, 0], [0, 1], [1, 0], [0, 1]]), 2]]
    for frames, factors, pace, most in ((60, 3, 0.4, 5), (12, 2, 0.5, 11), (200, 4, 0.08, 7)):
        steps = torch.randint(-1, 2, (frames, factors), generator=generator)
        steps = steps * (torch.rand(frames, factors, generator=generator) < pace)
        cases.append([steps.cumsum(0) % 3, most])
    return cases


def usable_share(factors: Tensor, most: int) -> Tensor:
    frames, found = factors.tolist(), []
    for gap in range(1, most + 1):
        pairs = [(frames[t], frames[t + gap]) for t in range(len(frames) - gap)]
        kept = [any(a != b for a, b in zip(*pair, strict=True)) and any(a == b for a, b in zip(*pair, strict=True))
                for pair in pairs]  # fmt: skip
        found.append(sum(kept) / len(kept))
    return torch.tensor(found, dtype=torch.float64)


def _film(factors, most, keep=None, gaps=None, moved=None):
    """The shares at each gap, with one thing done otherwise."""
    keep = (lambda k, n: (k > 0) & (k < n)) if keep is None else keep
    moved = (lambda y, g: y[g:] != y[:-g]) if moved is None else moved
    gaps = range(1, most + 1) if gaps is None else gaps
    return torch.stack([keep(moved(factors, gap).sum(1), factors.shape[1]).double().mean() for gap in gaps])


def _on_the_way(y, gap):
    steps = (y[1:] != y[:-1]).int()
    return torch.stack([steps[t : t + gap].any(0) for t in range(len(y) - gap)])


FILM_MISTAKES = {
    "two frames without any change count as usable here: something has to have changed.":
        lambda y, most: _film(y, most, lambda k, n: k < n),
    "pairs in which everything has changed count as usable here: something has to be shared.":
        lambda y, most: _film(y, most, lambda k, n: k > 0),
    "only pairs with k = 1 were counted: up to F − 1 changes are usable.":
        lambda y, most: _film(y, most, lambda k, n: (k == 1) & (n > 1)) if y.shape[1] > 2 else _film(y, most) + 1,
    "the film was joined end to start: the last frames have no partner.":
        lambda y, most: _film(y, most, moved=lambda y, g: y.roll(-g, 0) != y),
    "what changed on the way was counted: compare the two frames themselves.":
        lambda y, most: _film(y, most, moved=_on_the_way),
    "the gaps start at 0: a frame beside itself is no pair.":
        lambda y, most: torch.cat([torch.zeros(1, dtype=torch.float64), _film(y, most)[:-1]]),
    "pairs that overlap were left out: all t count for which both frames exist.":
        lambda y, most: _film(y, most, moved=lambda y, g: (y[g:] != y[:-g])[::2]),
    "this is the mean number of changes, not the share of usable pairs.":
        lambda y, most: torch.stack([(y[g:] != y[:-g]).sum(1).double().mean() for g in range(1, most + 1)]),
    "shares are of the pairs that exist at that gap, T − g, and not of all frames.":
        lambda y, most: _film(y, most) * (len(y) - torch.arange(1, most + 1)) / len(y),
    "this is the share of pairs that are *not* usable.": lambda y, most: 1 - _film(y, most),
}  # fmt: skip

FILM_RIGHT = (
    lambda y, most: _film(y, most),
    lambda y, most: torch.tensor([np.mean([0 < k < y.shape[1] for k in (y[g:] != y[:-g]).sum(1).tolist()])
                                  for g in range(1, most + 1)]),
    lambda y, most: torch.from_numpy(np.array([
        ((y[g:] != y[:-g]).any(1) & (y[g:] == y[:-g]).any(1)).double().mean().item() for g in range(1, most + 1)])),
)  # fmt: skip

# 10.6 -----------------------------------------------------------------------------------------------------------------

FOLLOWS = {
    "axes": "follows",
    "order": "does not follow",
    "unsupervised": "does not follow",
    "count": "does not follow",
    "tied": "follows",
    "worse": "does not follow",
}
FOLLOWS_MISTAKES = {
    "axes: nothing but the pairs differs between the two groups, and their scores do not overlap.": "does not follow",
    "order: MIG asks which latent knows a factor, and gives shuffled values full marks.": "follows",
    "unsupervised: to change one factor at a time one has to know the factors.": "follows",
    "count: one factor may be split over two latents, and pairs do not mind.": "follows",
    "tied: no pair changes one and not the other, so they form a block.": "does not follow",
    "worse: the method averages something in every pair; where nothing is shared, all of that is wrong.": "follows",
}

# ----------------------------------------------------------------------------------------------------------------------

EXERCISES = {
    "10.1": Function(
        reference=first_of_block,
        cases=kinds_of_pairs,
        mistakes=BLOCK_MISTAKES,
        also_right=(
            lambda c: _blocks(~(_apart(c) | _apart(c).T)),
            lambda c: _blocks((c[:, :, None] == c[:, None]).all(0)),
            lambda c: torch.tensor([next(j for j in range(c.shape[1]) if torch.equal(c[:, i], c[:, j]))
                                    for i in range(c.shape[1])]),
        ),
        praise="right: a block is what no pair parts.",
    ),
    "10.2": Function(reference=told_shared, cases=posterior_pairs, mistakes=TOLD_MISTAKES, also_right=TOLD_RIGHT),
    "10.3": Function(
        reference=arithmetic_average,
        cases=two_posteriors,
        mistakes=AVERAGE_MISTAKES,
        also_right=AVERAGE_RIGHT,
        praise="right: two equal posteriors stay as they are, and a wide one counts for more than in print.",
    ),
    "10.4": Function(
        reference=chance_by_counting, cases=settings_of_chance, mistakes=CHANCE_MISTAKES, also_right=CHANCE_RIGHT
    ),
    "10.5": Function(
        reference=usable_share,
        cases=films,
        mistakes=FILM_MISTAKES,
        also_right=FILM_RIGHT,
        praise="right. Which gap is best only somebody can say who knows the factors.",
    ),
    "10.6": words(FOLLOWS, ("follows", "does not follow"), FOLLOWS_MISTAKES),
}  # fmt: skip
