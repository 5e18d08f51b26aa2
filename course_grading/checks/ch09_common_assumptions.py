"""Chapter 9: two total correlations, shares of variance, ranks, an honest split, transfer, and backgrounds."""

import math

import numpy as np
import torch
from scipy.stats import spearmanr
from torch import Tensor

from course_grading.answers import words
from course_grading.correlations import pearson, ranks
from course_grading.exercise import Function, either

# 09.1 -----------------------------------------------------------------------------------------------------------------


def posteriors(generator: torch.Generator) -> list[list[Tensor]]:
    """Means and log-variances: of dependent latents, on scales far from 1, with constant latents, of one."""
    cases = []
    for size, dim, dead in ((400, 3, 0), (50, 5, 2), (300, 2, 1), (40, 1, 0)):
        root = torch.randn(dim, dim, generator=generator, dtype=torch.float64)
        mean = torch.randn(size, dim, generator=generator, dtype=torch.float64) @ root
        mean = mean / mean.std(0) * torch.logspace(-3.25, 1, dim, dtype=torch.float64) + 3
        mean[:, :dead] = torch.arange(dead).double() - 0.5
        cases.append([mean, torch.randn(size, dim, generator=generator, dtype=torch.float64) - 1])
    return cases


def two_correlations(mean: Tensor, log_variance: Tensor) -> Tensor:
    """By correlation matrices of NumPy: minus half the logarithm of their determinant."""
    mean, noise = mean.numpy(), log_variance.exp().mean(0).numpy()
    sigma = np.atleast_2d(np.cov(mean.T, ddof=0))
    found = []
    for matrix in (sigma, sigma + np.diag(noise)):
        kept = np.ptp(mean, axis=0) > 0 if matrix is sigma else np.full(len(sigma), True)
        matrix = matrix[kept][:, kept]
        scale = np.sqrt(np.diag(matrix))
        found.append(-np.linalg.slogdet(matrix / scale[:, None] / scale)[1] / 2)
    return torch.tensor(found)


def _both(
    mean, log_variance, noise=None, half=0.5, base=1.0, least=0.0, diagonal=None, use=torch.logdet, add=True, less=0
):
    """The two numbers, with one thing done otherwise."""
    centred = mean - mean.mean(0)
    sigma = centred.T @ centred / (len(mean) - less)
    noise = log_variance.exp().mean(0) if noise is None else noise(log_variance)
    found = []
    for matrix in (sigma, sigma + noise.diag() if add else noise.diag() + 0 * sigma):
        kept = matrix.diagonal() > least
        matrix = matrix[kept][:, kept]
        own = matrix.diagonal().log().sum() if diagonal is None else diagonal(matrix)
        found.append(half * (own - use(matrix)) / base)
    return torch.stack(found)


TWO_MISTAKES = {
    "the planted fault is still there: a constant latent has variance 0, and log 0 − log 0 is not a number. Leave it "
    "out of the means' matrix.":
        lambda m, v: _both(m, v, least=-1),
    "a constant latent makes the number 0: only its own part is 0, the others still depend on each other.":
        lambda m, v: torch.nan_to_num(_both(m, v, least=-1), nan=0.0, posinf=0.0, neginf=0.0),
    "latents of a small variance were left out as well: only a constant one has no part in a dependence, since a "
    "correlation has no scale.":
        either(*(lambda m, v, least=least: _both(m, v, least=least) for least in (0.01, 1e-3, 1e-4, 1e-5, 1e-6))),
    "the covariances divide by N here, and yours by N − 1.": lambda m, v: _both(m, v, less=1),
    "log_variance was read as the logarithm of the standard deviation: its exponential is the variance.":
        lambda m, v: _both(m, v, noise=lambda each: (2 * each).exp().mean(0)),
    "standard deviations were added to variances: add the variance of the noise.":
        lambda m, v: _both(m, v, noise=lambda each: (each / 2).exp().mean(0)),
    "the noise is the mean of the variances; here the log-variances were averaged first.":
        lambda m, v: _both(m, v, noise=lambda each: each.mean(0).exp()),
    "the samples have the covariance of the means: the noise of the posteriors is missing.":
        lambda m, v: _both(m, v, noise=lambda each: 0 * each[0] + 1e-300).nan_to_num(),
    "the samples' matrix is the noise alone: samples are means plus noise.": lambda m, v: _both(m, v, add=False),
    "the ½ is missing: twice too much.": lambda m, v: _both(m, v, half=1.0),
    "in bits: expected nats.": lambda m, v: _both(m, v, base=math.log(2)),
    "the sign is turned: a total correlation is not negative.": lambda m, v: _both(m, v, half=-0.5),
    "samples and means have changed places: the means come first.": lambda m, v: _both(m, v).flip(0),
}  # fmt: skip

TWO_RIGHT = (
    _both,
    lambda m, v: two_correlations(m, v).clone(),
    lambda m, v: torch.stack(
        [
            -torch.linalg.slogdet(torch.corrcoef(x.T).reshape(x.shape[1], -1))[1] / 2
            for x in (m[:, m.std(0) > 0], _widened(m, v))
        ]
    ),
)


def _widened(mean, log_variance):
    """Points whose covariance is that of the samples, without drawing: each mean, moved by ± the noise."""
    step = (log_variance.exp().mean(0) * mean.shape[1]).sqrt().diag()
    return torch.cat([mean + sign * row for row in step for sign in (-1, 1)])


# 09.2 -----------------------------------------------------------------------------------------------------------------


def labelled(generator: torch.Generator) -> list[list[Tensor]]:
    """Scores with the labels of methods: of unequal groups, of labels with gaps, far from 0."""
    cases = []
    for size, groups, level in ((30, 3, 0.0), (11, 4, 100.0), (90, 6, 0.5), (8, 2, -3.0)):
        label = torch.randint(groups, (size,), generator=generator)
        label[:groups] = torch.arange(groups)
        score = level + torch.rand(size, generator=generator, dtype=torch.float64) + 0.3 * label
        cases.append([score, 7 * label - 2])
    return cases


def share_and_chance(score: Tensor, label: Tensor) -> Tensor:
    mean, total, between = score.mean(), 0.0, 0.0
    kinds = label.unique()
    for kind in kinds:
        own = score[label == kind]
        between += len(own) * float((own.mean() - mean) ** 2)
    total = float(((score - mean) ** 2).sum())
    return torch.tensor([between / total, (len(kinds) - 1) / (len(score) - 1)], dtype=torch.float64)


def _means(score, label):
    return torch.stack([score[label == kind].mean() for kind in label.unique()])


def _shared(score, label, weigh=True, ratio=lambda between, total: between / total, chance=None, spread=1):
    kinds, place = label.unique(return_inverse=True)
    own = torch.stack([score[place == kind].mean() for kind in range(len(kinds))])
    count = torch.bincount(place).double() if weigh else torch.full_like(own, len(score) / len(kinds))
    between = (count * (own - score.mean()).abs() ** 2).sum()
    total = (score - score.mean()).square().sum()
    k, n = len(kinds), len(score)
    return torch.stack(
        [ratio(between, total), torch.tensor((k - 1) / (n - 1) if chance is None else chance(k, n)).double()]
    )


SHARE_MISTAKES = {
    "groups were weighted alike: a mean of ten models counts for ten.":
        either(lambda s, g: _shared(s, g, weigh=False),
               lambda s, g: torch.stack([_means(s, g).var() / s.var(), _shared(s, g)[1]])),
    "one of the two variances divides by n and the other by n − 1.":
        lambda s, g: torch.stack([_shared(s, g)[0] * (len(s) - 1) / len(s), _shared(s, g)[1]]),
    "the two have changed places: the share of the method comes first.": lambda s, g: _shared(s, g).flip(0),
    "chance was taken off the share, as in an adjusted R²: the share itself is asked for, and chance beside it.":
        lambda s, g: torch.stack([(_shared(s, g)[0] - _shared(s, g)[1]) / (1 - _shared(s, g)[1]), _shared(s, g)[1]]),
    "chance is (k − 1)/(n − 1); here it is k/(n − 1).": lambda s, g: _shared(s, g, chance=lambda k, n: k / (n - 1)),
    "chance is (k − 1)/(n − 1); 1/k is how often a label drawn by lot is right.":
        lambda s, g: _shared(s, g, chance=lambda k, n: 1 / k),
    "between was divided by within: the share is of the total.":
        lambda s, g: _shared(s, g, ratio=lambda b, t: b / (t - b)),
    "this is the share that the method does not explain: subtract from 1.":
        lambda s, g: _shared(s, g, ratio=lambda b, t: 1 - b / t),
    "this is a ratio of standard deviations: variances are asked for.":
        lambda s, g: _shared(s, g, ratio=lambda b, t: (b / t).sqrt()),
    "the total is that about 0: subtract the mean of all scores first.":
        lambda s, g: torch.stack([1 - (1 - _shared(s, g)[0]) * (s - s.mean()).square().sum() / s.square().sum(),
                                  _shared(s, g)[1]]),
    "the label was taken for a number and a line was fitted: a method is a name.":
        lambda s, g: torch.stack([torch.corrcoef(torch.stack([s, g.double()]))[0, 1] ** 2, _shared(s, g)[1]]),
    "chance is (k − 1)/(n − 1), with k groups and n models; here it is k/n.":
        lambda s, g: _shared(s, g, chance=lambda k, n: k / n),
    "chance is (k − 1)/(n − 1); here it is (k − 1)/n.": lambda s, g: _shared(s, g, chance=lambda k, n: (k - 1) / n),
    "chance is not 0: the means of groups drawn by lot differ too.":
        lambda s, g: _shared(s, g, chance=lambda k, n: 0.0),
    "chance counts the groups that occur, and here one more than the largest label.":
        lambda s, g: torch.stack([_shared(s, g)[0], (g.max() - g.min()).double() / (len(s) - 1)]),
    "chance is what is left: that is (n − k)/(n − 1), the seed's.":
        lambda s, g: _shared(s, g, chance=lambda k, n: (n - k) / (n - 1)),
}  # fmt: skip


def _by_rest(score, label):
    rest = sum(float(score[label == kind].var(correction=0)) * int((label == kind).sum()) for kind in label.unique())
    chance = (label.unique().numel() - 1) / (score.numel() - 1)
    return torch.tensor([1 - rest / float(score.var(correction=0)) / len(score), chance], dtype=torch.float64)


def _by_columns(score, label):
    kinds = torch.unique(label)
    member = (label[:, None] == kinds).double()
    fitted = member @ ((member.T @ score) / member.sum(0))
    return torch.stack([fitted.var() / score.var(), torch.tensor((len(kinds) - 1) / (len(score) - 1)).double()])


# 09.3 -----------------------------------------------------------------------------------------------------------------


def columns(generator: torch.Generator) -> list[list[Tensor]]:
    """Two scores of the same models: noisy copies, bent, with ties, against each other."""
    cases = []
    for size, sign, step in ((30, 1, 0), (24, -1, 0), (40, 1, 4), (25, 1, 2)):
        first = torch.rand(size, generator=generator, dtype=torch.float64)
        second = sign * first**5 + 0.1 * torch.rand(size, generator=generator, dtype=torch.float64)
        if step:  # scores that agree in many models, as accuracies do
            first, second = (first * step).round() / step, (second * step).round() / step
            first[:2], second[:2] = torch.tensor([0.0, 1.0]).double(), torch.tensor([0.0, 1.0]).double()
        cases.append([first, second])
    return cases


def rank_correlation(first: Tensor, second: Tensor) -> Tensor:
    return torch.tensor(spearmanr(first.numpy(), second.numpy()).statistic, dtype=torch.float64)


def _kendall(first, second):
    signs = (first[:, None] - first).sign() * (second[:, None] - second).sign()
    return signs.sum() / (len(first) * (len(first) - 1))


def _formula(first, second):
    """1 − 6 Σ d² / (n³ − n), which holds without ties alone."""
    n = len(first)
    return 1 - 6 * (ranks(first) - ranks(second)).square().sum() / (n**3 - n)


RANK_MISTAKES = {
    "this is the correlation of the values: rank them first.": pearson,
    "argsort says who stands at a place; the rank says at which place one stands. It takes argsort twice.":
        lambda a, b: pearson(a.argsort(), b.argsort()),
    "ties were broken by the order in which the models are listed: give them the mean of their ranks.":
        either(lambda a, b: pearson(ranks(a, "ordinal"), ranks(b, "ordinal")),
               lambda a, b: pearson(a.argsort().argsort(), b.argsort().argsort())),
    "ties have the smallest of their ranks here: give them the mean.":
        lambda a, b: pearson(ranks(a, "min"), ranks(b, "min")),
    "ties have the largest of their ranks here: give them the mean.":
        lambda a, b: pearson(ranks(a, "max"), ranks(b, "max")),
    "this is the covariance of the ranks: divide by their standard deviations.":
        either(*(lambda a, b, less=less: torch.cov(torch.stack([ranks(a), ranks(b)]), correction=less)[0, 1]
                 for less in (0, 1))),
    "ties count as one place, so that later ranks move up: give them the mean of the ranks that they fill.":
        lambda a, b: pearson(ranks(a, "dense"), ranks(b, "dense")),
    "this is Kendall's coefficient, which counts pairs: Spearman's correlates ranks.": _kendall,
    "1 − 6 Σ d²/(n³ − n) holds without ties alone.": _formula,
    "the sign is turned: one of the two was ranked from the other end.":
        lambda a, b: -rank_correlation(a, b),
    "the sign is gone: scores may also disagree.": lambda a, b: rank_correlation(a, b).abs(),
    "this is the square: the share of the ranks' variance, without a sign.":
        lambda a, b: rank_correlation(a, b).square(),
    "one of the two was ranked and the other was not.": lambda a, b: pearson(ranks(a), b),
}  # fmt: skip

RANK_RIGHT = (
    lambda a, b: pearson(ranks(a), ranks(b)),
    lambda a, b: pearson(*(((x[:, None] > x).sum(1) + 0.5 * (x[:, None] == x).sum(1)).double() for x in (a, b))),
    lambda a, b: pearson(*((x[:, None] - x).sign().sum(1) for x in (a, b))),
)

# 09.4 -----------------------------------------------------------------------------------------------------------------


def chosen(generator: torch.Generator) -> list[list]:
    """Drawn examples, and how many of them are for the test; few images, so that the same one is drawn often."""
    cases = []
    for images, drawn, test in ((20, 60, 12), (6, 30, 10), (50, 50, 20), (8, 12, 3)):
        index = torch.randint(images, (drawn,), generator=generator)
        index[-test], index[-1], index[-2] = images, images + 1, index[1 - test]  # an end of the test is there once
        twice = [index[-1] + 1] * 2  # which stays
        index[:6] = torch.stack([index[-test], *twice, index[-1], index[-test], index[-2]])
        cases.append([index, test])
    return cases


def honest(index: Tensor, num_test: int) -> Tensor:
    tested = set(index[-num_test:].tolist())
    return torch.tensor([image for image in index[:-num_test].tolist() if image not in tested], dtype=torch.int64)


HONEST_MISTAKES = {
    "the planted fault is still there: an image that is drawn twice is learnt from and tested on.":
        lambda i, n: i[:-n],
    "the test's own images were kept and the others dropped: it is the other way round.":
        lambda i, n: i[:-n][torch.isin(i[:-n], i[-n:])],
    "the first are the test here: the last ones are.":
        lambda i, n: i[n:][~torch.isin(i[n:], i[:n])],
    "each image is learnt from once: whoever is drawn twice counts twice, and only the test's images are to go.":
        either(lambda i, n: honest(i, n).unique(),
               lambda i, n: torch.tensor([*dict.fromkeys(honest(i, n).tolist())], dtype=torch.int64)),
    "this says of each draw whether it may stay: return the draws that stay.":
        lambda i, n: ~torch.isin(i[:-n], i[-n:]),
    "the images are sorted: keep the order in which they were drawn, since the first 100 are learnt from as well.":
        lambda i, n: honest(i, n).sort().values,
    "only images at the same place were compared: look for each image anywhere in the test.":
        lambda i, n: i[:-n][i[:-n] != i[-n:].repeat(len(i))[: len(i) - n]],
    "the places are given here: expected the images that are drawn there.":
        lambda i, n: torch.nonzero(~torch.isin(i[:-n], i[-n:]))[:, 0],
    "the test was compared with its first image alone.": lambda i, n: i[:-n][i[:-n] != i[-n]],
    "all draws are kept, the test too.": lambda i, n: i,
}  # fmt: skip

HONEST_RIGHT = (
    lambda i, n: i[:-n][~torch.isin(i[:-n], i[-n:])],
    lambda i, n: i[: len(i) - n][(i[: len(i) - n, None] != i[None, -n:]).all(1)],
    lambda i, n: torch.from_numpy(i.numpy()[:-n][~np.isin(i.numpy()[:-n], i.numpy()[-n:])]),
)

# 09.5 -----------------------------------------------------------------------------------------------------------------


def _study(generator: torch.Generator, configurations: int, seeds: int, others: int) -> list[Tensor]:
    source = torch.rand(configurations, seeds, generator=generator, dtype=torch.float64)
    target = torch.rand(configurations, others, generator=generator, dtype=torch.float64).mul(5).round() / 5
    return [source, target]


SOURCE = (  # of the first study: rows that wrong ways to choose would take; the second is the right choice
    (0.35, 0.35, 0.35, 0.35, 0.35),
    (0.62, 0.62, 0.62, 0.95, 0.95),
    (0.30, 0.30, 0.30, 0.30, 1.40),  # the best single model
    (0.20, 0.20, 0.80, 0.80, 0.80),  # the best median
    (1.00, 0.30, 0.30, 0.30, 0.30),  # the best first seed
    (0.05, 0.05, 0.05, 0.05, 0.05),
    (0.20, 0.20, 0.20, 0.20, 0.20),  # the best on the target
    (0.50, 0.50, 0.50, 0.85, 0.85),  # the best on both together
    (0.65, 0.65, 0.65, 0.65, 0.65),  # the best worst seed
    (0.10, 0.10, 0.10, 0.10, 0.10),  # nobody's choice
)
TARGET = (0.6, 0.3, 0.1, 0.5, 0.2, 0.4, 1.2, 0.9, 0.8, 0.7)


def _telling(generator: torch.Generator) -> list[Tensor]:
    """A study in which each wrong way to choose has a result of its own, and the right choice is not the first row."""
    order = torch.randperm(len(SOURCE) - 1, generator=generator).tolist()
    order.insert(4, len(SOURCE) - 1)  # the fifth seed has the best mean over configurations: that row is no other's
    source = torch.tensor(SOURCE, dtype=torch.float64)[order]
    target = torch.tensor(TARGET, dtype=torch.float64)[order, None].repeat(1, 4)
    source += 0.02 * torch.rand(source.shape, generator=generator, dtype=torch.float64)
    target += torch.randint(-1, 2, target.shape, generator=generator) / 10
    return [source, (10 * target).round() / 10]


def studies(generator: torch.Generator) -> list[list[Tensor]]:
    """Scores (configurations, seeds) on a source and on a target, unequal numbers of seeds, and ties in the target."""
    first = _telling(generator)
    while not _tells_apart(*first):
        first = _telling(generator)
    return [first] + [_study(generator, *sizes) for sizes in ((3, 5, 2), (2, 3, 3), (10, 1, 3))]


def better_than_chance(source: Tensor, target: Tensor) -> Tensor:
    best, wins, count = max(range(len(source)), key=lambda place: float(source[place].mean())), 0.0, 0
    for place, row in enumerate(target.tolist()):
        for own in target[best].tolist():
            for other in row if place != best else []:
                wins += 1.0 if own > other else 0.5 if own == other else 0.0
                count += 1
    return torch.tensor(wins / count, dtype=torch.float64)


def _rate(source, target, choose=lambda s: s.mean(1).argmax(), tie=0.5, others=True, mean=False):
    best = choose(source)
    own, rest = target[best], target
    if others:
        rest = torch.cat([target[:best], target[best + 1 :]])
    if mean:
        own, rest = own.mean()[None], rest.mean(1)
    gap = own[:, None] - rest.flatten()
    return ((gap > 0).double() + tie * (gap == 0).double()).mean()


OTHER_CHOICES = {
    "the choice was made on the target, which is what was to be predicted: choose on the source.":
        lambda s, t: t.mean(1),
    "the target had a part in the choice, and it is what was to be predicted: choose on the source alone.":
        lambda s, t: s.mean(1) + t.mean(1),
    "the configuration of the best single model was chosen: take the best mean over seeds.":
        lambda s, t: s.max(1).values,
    "the worst seed of each made the choice: take the best mean over all of them.": lambda s, t: s.min(1).values,
    "the best median was chosen: take the best mean over seeds.": lambda s, t: s.median(1).values,
    "one seed made the choice: take the best mean over all of them.": lambda s, t: s[:, 0],
    "the worst configuration was chosen: higher is better.": lambda s, t: -s.mean(1),
}  # fmt: skip


def _tells_apart(source, target) -> bool:
    """Whether each mistake has a result of its own, and the right choice is not the first row."""
    results = [_rate(source, target), *(wrong(source, target) for wrong in TRANSFER_MISTAKES.values())]
    distinct = {round(float(result), 9) for result in results}
    return len(distinct) == len(results) and int(source.mean(1).argmax()) > 0


def _by(numbers):
    return lambda s, t: _rate(s, t, choose=lambda _: int(numbers(s, t).argmax()))


def _against(source, target, gap_of):
    best = source.mean(1).argmax()
    gap = gap_of(target[best], target[torch.arange(len(target)) != best])
    return ((gap > 0).double() + (gap == 0).double() / 2).mean()


TRANSFER_MISTAKES = {sentence: _by(numbers) for sentence, numbers in OTHER_CHOICES.items()} | {
    "ties count nothing here: each is half a win, or a score that is always the same would lose.":
        lambda s, t: _rate(s, t, tie=0.0),
    "ties count as wins here: each is half a win.": lambda s, t: _rate(s, t, tie=1.0),
    "the test was made on the source: the target says how good the choice is.": lambda s, t: _rate(s, s),
    "the chosen configuration also played against itself: it meets the others.":
        lambda s, t: _rate(s, t, others=False),
    "means of configurations were compared: single models are, each seed of one with each of the other.":
        lambda s, t: _rate(s, t, mean=True),
    "each seed met the same seed of the others alone: seeds have nothing to do with each other, so each meets each.":
        lambda s, t: _against(s, t, lambda own, rest: own - rest),
    "only the best seed of the chosen configuration was compared: each of its seeds is.":
        lambda s, t: _against(s, t, lambda own, rest: own.max() - rest),
    "wins less losses, from −1 to 1: the share of wins is asked for, and a tie is half a win.":
        lambda s, t: 2 * _rate(s, t) - 1,
    "the mean over configurations was taken, and a seed chosen: rows are configurations.":
        lambda s, t: _rate(s, t, choose=lambda each: each.mean(0).argmax() % len(t)),
    "in percent: expected a share from 0 to 1.": lambda s, t: 100 * _rate(s, t),
    "this is how often it loses: wins are asked for.": lambda s, t: 1 - _rate(s, t),
}  # fmt: skip


def _by_ranks(source, target):
    """Mann and Whitney's statistic, from ranks."""
    best = source.mean(1).argmax()
    own, rest = target[best], target[torch.arange(len(target)) != best].flatten()
    places = ranks(torch.cat([own, rest]))[: len(own)]
    return (places.sum() - len(own) * (len(own) + 1) / 2) / (len(own) * len(rest))


TRANSFER_RIGHT = (
    _rate,
    _by_ranks,
    lambda s, t: torch.as_tensor(float(better_than_chance(s, t)), dtype=torch.float64),
)

# 09.6 -----------------------------------------------------------------------------------------------------------------

JUDGED = {
    "method": "shown",
    "seed": "shown",
    "no difference": "not shown",
    "independent": "not shown",
    "recipe": "not shown",
    "fewer samples": "not shown",
}
JUDGED_MISTAKES = {
    "method: 25 % is five times what labels drawn by lot get, and none of 1,000 shuffles came near.": "not shown",
    "seed: two models that differ in nothing else are .20 apart, which is a fact about these two and is all that is "
    "claimed.": "not shown",
    "no difference: a p of .3 from five seeds is no evidence of equality: the interval reaches to .1.": "shown",
    "independent: a Gaussian has no total correlation when nothing is linearly dependent, and dependence may be of "
    "another kind.": "shown",
    "recipe: the same models were used to choose and to praise: the best of many is high by luck too.": "shown",
    "fewer samples: the ratio is 1 for a code that says nothing as well: look at both accuracies.": "shown",
}

# 09.7 -----------------------------------------------------------------------------------------------------------------


def backgrounds(generator: torch.Generator) -> list[list]:
    """Levels with their chances, how many numbers, and how many are alike: some, none, all, one never drawn, bytes."""
    cases = []
    for size, numbers, alike in ((4, 24, 4), (7, 60, 1), (3, 15, 15), (5, 36, 3)):
        level = torch.rand(size, generator=generator, dtype=torch.float64)
        chance = torch.rand(size, generator=generator, dtype=torch.float64) + 0.1
        if numbers == 36:
            level, chance[1] = 2 - 5 * level, 0.0
        cases.append([level, chance / chance.sum(), numbers, alike])
    grey = torch.arange(256, dtype=torch.float64) / 255
    return cases + [[grey, torch.full_like(grey, 1 / 256), 12_288, alike] for alike in (1, 4_096)]


def average_and_scatter(level: Tensor, chance: Tensor, numbers: int, alike: int) -> Tensor:
    """By central moments: for u and v drawn apart, E(u − v)² is 2 m₂ and its variance 2 m₄ + 2 m₂²."""
    level, chance = level.numpy(), chance.numpy()
    centred = level - chance @ level
    second, fourth = chance @ centred**2, chance @ centred**4
    return torch.tensor([2 * second, math.sqrt((2 * fourth + 2 * second**2) / (numbers // alike))], dtype=torch.float64)


def _weighed(level, chance, numbers, alike, power=2.0, equal=False, about=True, distinct=False, draws=None, end=None):
    """Average and scatter, with one thing done otherwise."""
    chance = torch.full_like(chance, 1 / len(chance)) if equal else chance
    apart, weight = (level[:, None] - level).abs() ** power, chance[:, None] * chance
    if distinct:
        weight = weight * (1 - torch.eye(len(level), dtype=torch.float64))
        weight = weight / weight.sum()
    average = (weight * apart).sum()
    one = (weight * (apart - average * about).square()).sum()
    count = numbers / alike if draws is None else draws(numbers, alike)
    return torch.stack([average, (one / count).sqrt() if end is None else end(one, count, average)])


def _one_background(level, chance, numbers, alike):
    """As if the other background were the mean level everywhere."""
    apart = (level - chance @ level).square()
    average = chance @ apart
    return torch.stack([average, (chance @ (apart - average).square() * alike / numbers).sqrt()])


BACKGROUND_MISTAKES = {
    "numbers that are alike were counted as independent draws: only groups average out.":
        lambda v, c, n, a: _weighed(v, c, n, a, draws=lambda n, a: n),
    "this is the scatter of a single squared difference: the distance is the mean of one for each group.":
        lambda v, c, n, a: _weighed(v, c, n, a, draws=lambda n, a: 1),
    "there are numbers / alike groups; here their number was taken to be alike.":
        lambda v, c, n, a: _weighed(v, c, n, a, draws=lambda n, a: a),
    "the scatter was multiplied by the root of the number of groups: a mean scatters less than one draw.":
        lambda v, c, n, a: _weighed(v, c, n, a, draws=lambda n, a: a / n),
    "the second is the variance: take its root.":
        lambda v, c, n, a: _weighed(v, c, n, a, end=lambda one, count, _: one / count),
    "the scatter was divided by the number of groups: the variance is, and the scatter by its root.":
        lambda v, c, n, a: _weighed(v, c, n, a, end=lambda one, count, _: one.sqrt() / count),
    "the variance of a squared difference is taken about its mean: the average has to be subtracted.":
        lambda v, c, n, a: _weighed(v, c, n, a, about=False),
    "the scatter is that of the levels or of their differences: that of the squared differences is asked for.":
        either(lambda v, c, n, a: _weighed(v, c, n, a, end=lambda one, count, average: (average / 2 / count).sqrt()),
               lambda v, c, n, a: _weighed(v, c, n, a, end=lambda one, count, average: (average / count).sqrt())),
    "average · √2 / √groups holds for levels from a normal law: here the levels are given.":
        lambda v, c, n, a: _weighed(v, c, n, a, end=lambda one, count, average: average * (2 / count) ** 0.5),
    "the average is the variance of a level: two backgrounds vary, which makes twice as much.":
        lambda v, c, n, a: _weighed(v, c, n, a) * torch.tensor([0.5, 1.0], dtype=torch.float64),
    "one background was held to its mean, or both numbers halved: two backgrounds vary.":
        either(lambda v, c, n, a: _weighed(v, c, n, a) / 2, _one_background),
    "the levels were taken to be equally likely: each has its own chance.":
        lambda v, c, n, a: _weighed(v, c, n, a, equal=True),
    "pairs of equal levels were left out: two backgrounds drawn apart may agree.":
        lambda v, c, n, a: _weighed(v, c, n, a, distinct=True),
    "differences were not squared.": lambda v, c, n, a: _weighed(v, c, n, a, power=1.0),
    "the average was divided by the number of groups: it does not depend on that, only the scatter does.":
        lambda v, c, n, a: _weighed(v, c, n, a) * torch.tensor([a / n, 1.0], dtype=torch.float64),
    "this is the sum over all numbers: the distance is their mean.": lambda v, c, n, a: _weighed(v, c, n, a) * n,
    "the two have changed places: the average comes first.": lambda v, c, n, a: _weighed(v, c, n, a).flip(0),
}  # fmt: skip


def _pair_by_pair(level, chance, numbers, alike):
    drawn = [*zip(level.tolist(), chance.tolist(), strict=True)]
    pairs = [(p * q, (u - v) ** 2) for u, p in drawn for v, q in drawn]
    average = sum(weight * value for weight, value in pairs)
    variance = sum(weight * (value - average) ** 2 for weight, value in pairs)
    return torch.tensor([average, math.sqrt(variance / (numbers // alike))], dtype=torch.float64)


def _by_products(level, chance, numbers, alike):
    """By raw moments of the squared difference, from those of a level: of (u − v)² and of (u − v)⁴."""
    one, two, three, four = (chance @ (level - level[0]) ** power for power in (1, 2, 3, 4))
    average, fourth = 2 * (two - one**2), 2 * four - 8 * one * three + 6 * two**2
    return torch.stack([average, ((fourth - average**2) * (alike / numbers)) ** 0.5])


BACKGROUND_RIGHT = (
    _weighed,
    _pair_by_pair,
    _by_products,
)

EXERCISES = {
    "09.1": Function(
        reference=two_correlations, cases=posteriors, mistakes=TWO_MISTAKES, also_right=TWO_RIGHT,
        praise="right: and the second is never the larger one.",
    ),
    "09.2": Function(
        reference=share_and_chance, cases=labelled, mistakes=SHARE_MISTAKES, also_right=(_shared, _by_rest, _by_columns)
    ),
    "09.3": Function(reference=rank_correlation, cases=columns, mistakes=RANK_MISTAKES, also_right=RANK_RIGHT),
    "09.4": Function(reference=honest, cases=chosen, mistakes=HONEST_MISTAKES, also_right=HONEST_RIGHT),
    "09.5": Function(
        reference=better_than_chance, cases=studies, mistakes=TRANSFER_MISTAKES, also_right=TRANSFER_RIGHT
    ),
    "09.6": words(JUDGED, ("shown", "not shown"), JUDGED_MISTAKES),
    "09.7": Function(
        reference=average_and_scatter, cases=backgrounds, mistakes=BACKGROUND_MISTAKES, also_right=BACKGROUND_RIGHT,
        praise="right: the average does not know which numbers are alike, and the scatter does.",
    ),
}  # fmt: skip
