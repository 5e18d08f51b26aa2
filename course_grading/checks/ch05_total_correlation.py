"""Chapter 5, total correlation: estimated from a batch, permuted, weighted, biased, between groups, and left alone."""

import math

import numpy as np
import torch
from torch import Tensor
from torch.distributions import MultivariateNormal, Normal

from course_grading.answers import numbers, words
from course_grading.exercise import Function

# 05.1 -----------------------------------------------------------------------------------------------------------------


def batches(generator: torch.Generator) -> list[list]:
    """Codes with the posteriors that they come from: wide, narrow, many latents, two images, as many as latents."""
    cases = []
    for size, dim, width, images in ((7, 3, -1.0, 50), (4, 4, -3.0, 4096), (2, 2, 0.0, 2), (9, 48, -8.0, 1000)):
        mean = torch.randn(size, dim, generator=generator)
        log_variance = width + 0.3 * torch.randn(size, dim, generator=generator)
        noise = torch.randn(size, dim, generator=generator)
        parts = [mean + (log_variance / 2).exp() * noise, mean, log_variance]
        cases.append([*(part.requires_grad_() for part in parts), images])
    return cases


def stratified(latents: Tensor, mean: Tensor, log_variance: Tensor, size: int) -> Tensor:
    count, found = len(latents), []
    posterior = Normal(mean.double(), (log_variance.double() / 2).exp())
    for own, z in enumerate(latents.double()):
        each = posterior.log_prob(z)  # (B, D)
        log_weight = torch.full((count, 1), math.log((1 - 1 / size) / (count - 1)), dtype=torch.float64)
        log_weight[own] = -math.log(size)
        marginals = torch.logsumexp(log_weight + each, 0).sum()
        found.append(torch.logsumexp(log_weight[:, 0] + each.sum(1), 0) - marginals)
    return torch.stack(found).mean().to(latents.dtype)


def _estimate(z, m, v, weights, latent_wise=False, axis=1, reduce=torch.mean):
    """The estimate with other log-weights (B, B), added once for each latent, or mixed along another axis."""
    each = -0.5 * ((z[:, None] - m).square() / v.exp() + v + math.log(2 * math.pi))
    joint = ((weights[:, :, None] + each).sum(2) if latent_wise else weights + each.sum(2)).logsumexp(axis)
    return reduce(joint - (weights[:, :, None] + each).logsumexp(axis).sum(1))


def _mss(z, size):
    count = len(z)
    weights = torch.full((count, count), math.log((1 - 1 / size) / (count - 1)), dtype=z.dtype)
    return weights.fill_diagonal_(-math.log(size))


def _level(z, value):
    return torch.full((len(z), len(z)), value, dtype=z.dtype)


STRATIFIED_MISTAKES = {
    "the weights are those of MWS, 1/(NB) for all: that is too high by (D − 1) ln N and more.":
        lambda z, m, v, n: _estimate(z, m, v, _level(z, -math.log(n * len(z)))),
    "all weights are 1/B, the batch estimate: a code's own posterior should count 1/N.":
        lambda z, m, v, n: _estimate(z, m, v, _level(z, -math.log(len(z)))),
    "the weights are missing: a mixture averages, and logsumexp adds up.":
        lambda z, m, v, n: _estimate(z, m, v, _level(z, 0.0)),
    "the log-weight was added once for each latent of the joint density: it belongs to a posterior, so add it once, "
    "after the sum over latents.":
        lambda z, m, v, n: _estimate(z, m, v, _mss(z, n), latent_wise=True),
    "the mixture runs over the codes in place of the posteriors: sum over the axis of the posteriors.":
        lambda z, m, v, n: _estimate(z, m, v, _mss(z, n), axis=0),
    "log_variance was read as the logarithm of the standard deviation: log_variance.exp() is σ².":
        lambda z, m, v, n: _estimate(z, m, 2 * v, _mss(z, n)),
    "the marginals are in the place of the joint, and the other way round: the sign is turned.":
        lambda z, m, v, n: -_estimate(z, m, v, _mss(z, n)),
    "the batch was summed: the mean is wanted.": lambda z, m, v, n: _estimate(z, m, v, _mss(z, n), reduce=torch.sum),
    "one number for each code: their mean is wanted.":
        lambda z, m, v, n: _estimate(z, m, v, _mss(z, n), reduce=lambda each: each),
    "the logarithm was taken of sums of densities, which are 0 in single precision for narrow posteriors: stay in "
    "logarithms, with logsumexp.":
        lambda z, m, v, n: _by_densities(z, m, v, _mss(z, n)),
    "the numbers are right, but they are detached: no gradient reaches the encoder.":
        lambda z, m, v, n: stratified(z, m, v, n).detach(),
    "the others share 1 − 1/N among B − 1 of them, and here they share it among B.":
        lambda z, m, v, n: _estimate(z, m, v, _level(z, math.log((1 - 1 / n) / len(z))).fill_diagonal_(-math.log(n))),
}  # fmt: skip


def _by_densities(z, m, v, weights):
    each = (-0.5 * ((z[:, None] - m).square() / v.exp() + v + math.log(2 * math.pi))).exp()
    joint = (weights.exp() * each.prod(2)).sum(1)
    return (joint.log() - (weights.exp()[:, :, None] * each).sum(1).log().sum(1)).mean()


STRATIFIED_RIGHT = (
    lambda z, m, v, n: _estimate(z, m, v, _mss(z, n)),
    lambda z, m, v, n: _estimate(z.double(), m.double(), v.double(), _mss(z.double(), n)).float(),
    # without the weights' common part, which is put back at the end
    lambda z, m, v, n: _estimate(z, m, v, _mss(z, n) + 3) + 3 * (z.shape[1] - 1),
)

# 05.2 -----------------------------------------------------------------------------------------------------------------


def codes_and_orders(generator: torch.Generator) -> list[list[Tensor]]:
    """Codes with an order for each latent; as many codes as latents, one latent, two codes."""
    cases = []
    for size, dim in ((6, 3), (4, 4), (5, 1), (9, 2)):
        latents = torch.randn(size, dim, generator=generator)
        orders = torch.stack([torch.randperm(size, generator=generator) for _ in range(dim)], 1)
        orders[:, 0] = torch.arange(1, size + 1) % size  # a turn by one, which is not its own inverse
        cases.append([latents, orders])
    return cases


def permuted(latents: Tensor, orders: Tensor) -> Tensor:
    rows = [[latents[order, j].item() for j, order in enumerate(row)] for row in orders.tolist()]
    return torch.tensor(rows)


PERMUTED_MISTAKES = {
    "whole codes were permuted, all latents in the order of the first: each latent has an order of its own.":
        lambda z, o: z[o[:, 0]],
    "whole codes were permuted, all latents in the order of the last: each latent has an order of its own.":
        lambda z, o: z[o[:, -1]],
    "got three axes: z[orders] takes a whole code for every entry. One index for the row and one for the latent.":
        lambda z, o: z[o],
    "the order was applied the other way round: row i takes the code number orders[i, j].":
        lambda z, o: torch.empty_like(z).scatter(0, o, z),
    "the codes are as they came: nothing was permuted.": lambda z, o: z.clone(),
    "the latents were sorted, which is no random order: small values would stand beside small ones.":
        lambda z, o: z.sort(0).values,
    "the result is transposed: rows are codes.": lambda z, o: z.gather(0, o).T,
    "the first latent kept its order: all are permuted.":
        lambda z, o: torch.cat([z[:, :1], z.gather(0, o)[:, 1:]], 1),
    "these are the orders: the codes in that order are wanted.": lambda z, o: o.to(z.dtype),
}  # fmt: skip

PERMUTED_RIGHT = (
    lambda z, o: z.gather(0, o),
    lambda z, o: z[o, torch.arange(z.shape[1])],
    lambda z, o: torch.stack([column[order] for column, order in zip(z.T, o.T, strict=True)], 1),
    lambda z, o: torch.from_numpy(np.take_along_axis(z.numpy(), o.numpy(), 0)),
)

# 05.3 -----------------------------------------------------------------------------------------------------------------


def sizes(generator: torch.Generator) -> list[list[int]]:
    more = int(torch.randint(0, 9, (), generator=generator))
    return [[3, 7], [5, 20 + more], [4, 4], [8, 737_280], [16, 100 + more]]


def stratified_weights(batch_size: int, size: int) -> Tensor:
    others = batch_size - 1
    rows = []
    for row in range(batch_size):
        weights = [1 / others] * batch_size
        weights[row], weights[(row + 1) % batch_size] = 1 / size, 1 / others - 1 / size
        rows.append(weights)
    return torch.tensor(rows, dtype=torch.float64).log()


def _strided(batch_size: int, size: int, corner: bool = True) -> Tensor:
    """The planted fault."""
    others = batch_size - 1
    weights = torch.full((batch_size, batch_size), 1 / others, dtype=torch.float64)
    left = (size - others) / (size * others)
    weights.view(-1)[:: others + 1], weights.view(-1)[1 :: others + 1] = 1 / size, left
    if corner:
        weights[others - 1, 0] = left
    return weights.log()


def _placed(batch_size, size, step=1, wrap=True, others=None, own=None, left=None):
    """The weights with another column for what is left over, or other values."""
    rest = batch_size - 1
    weights = torch.full((batch_size, batch_size), 1 / rest if others is None else others, dtype=torch.float64)
    row = torch.arange(batch_size)
    weights[row, row] = 1 / size if own is None else own
    row = row if wrap else row[:-1]
    weights[row, (row + step) % batch_size] = (size - rest) / (size * rest) if left is None else left
    return weights.log()


WEIGHTS_MISTAKES = {
    "the planted fault is still there: the own weights stand in the first column, since a stride of B walks down a "
    "column. They belong on the diagonal.":
        _strided,
    "the corner is mended and the fault is not: the own weights stand in the first column, not on the diagonal.":
        lambda b, n: _strided(b, n, corner=False),
    "the last row has no left-over weight: its next posterior is the first, column 0.":
        lambda b, n: _placed(b, n, wrap=False),
    "the left-over weight stands before the own one: the next column is i + 1.": lambda b, n: _placed(b, n, step=-1),
    "M is B − 1, and here it is B.":
        lambda b, n: _placed(b, n, others=1 / b, left=1 / b - 1 / n) if n > b else _placed(b, n, others=1 / b),
    "the left-over weight is missing: the next posterior has 1/M as the others have, and rows sum to more than 1.":
        lambda b, n: _placed(b, n, left=1 / (b - 1)),
    "own and left-over weight are exchanged.":
        lambda b, n: _placed(b, n, step=0, left=1 / (b - 1) - 1 / n) if n == 2 * (b - 1)
        else _placed(b, n, own=1 / (b - 1) - 1 / n, left=1 / n),
    "these are the weights: their logarithms are wanted.": lambda b, n: stratified_weights(b, n).exp(),
    "got torch.float32, and float64 is wanted.": lambda b, n: stratified_weights(b, n).float(),
}  # fmt: skip

WEIGHTS_RIGHT = (
    _placed,
    lambda b, n: sum(
        value * torch.eye(b, dtype=torch.float64).roll(shift, 1)
        for shift, value in enumerate([1 / n, 1 / (b - 1) - 1 / n, *[1 / (b - 1)] * (b - 2)])
    ).log(),
    lambda b, n: torch.from_numpy(np.log(np.exp(stratified_weights(b, n).numpy()))),
)

# 05.4 -----------------------------------------------------------------------------------------------------------------

LN_N, LN_B = math.log(737_280), math.log(64)
BIASES = {"mws": 3 + 9 * LN_N, "forgotten": 3 - 9 * LN_B, "latent-wise": 3 - 9 * LN_B, "ceiling": LN_N - LN_B}
BIASES_MISTAKES = {
    "mws: the sign is turned: each of ten marginals is lower, and they are subtracted.": 3 - 9 * LN_N,
    "mws: D logarithms rise and the joint one falls: 9 ln N in all, not 10.": 3 + 10 * LN_N,
    "mws: weights are 1/(NB) in place of 1/B, so the quotient is N, not NB.": 3 + 9 * (LN_N + LN_B),
    "mws: this is the bias alone: the batch estimate of 3 has to be added.": 9 * LN_N,
    "forgotten: the sign is turned: without 1/B every density is too large, and ten of them are subtracted.":
        3 + 9 * LN_B,
    "forgotten: 9 ln B in all: the joint density gains one.": 3 - 10 * LN_B,
    "forgotten: B is missing, not N.": 3 - 9 * LN_N,
    "latent-wise: the sign is turned: the joint density has ten times ln 1/B, which is negative.": 3 + 9 * LN_B,
    "latent-wise: one of the ten belongs there: 9 too many.": 3 - 10 * LN_B,
    "ceiling: with the sign: too high by ln N − ln B.": LN_B - LN_N,
    "ceiling: that is ln N: its own posterior counts 1/B, and not 1.": LN_N,
    "ceiling: this is the factor, N/B: its logarithm is wanted.": 737_280 / 64,
}  # fmt: skip

# 05.5 -----------------------------------------------------------------------------------------------------------------


def grouped(generator: torch.Generator) -> list[list]:
    """Covariances with groups: of two, of unequal sizes, in any order, of one each, all in one; scales far from 1."""
    cases = []
    for groups in ([[0, 1], [2], [3]], [[2, 0], [1]], [[0], [1], [2]], [[1, 3, 4], [0, 2]], [[0, 1, 2]]):
        dim = sum(map(len, groups))
        root = torch.randn(dim, dim + 2, generator=generator, dtype=torch.float64)
        scale = torch.logspace(-1, 1, dim, dtype=torch.float64)
        covariance = (root @ root.T) * scale[:, None] * scale
        cases.append([(covariance + covariance.T) / 2, groups])
    return cases


def _entropy(covariance: Tensor) -> Tensor:
    return MultivariateNormal(torch.zeros(len(covariance), dtype=torch.float64), covariance).entropy()


def between_groups(covariance: Tensor, groups: list) -> Tensor:
    blocks = [covariance[torch.tensor(group)[:, None], torch.tensor(group)] for group in groups]
    return sum(map(_entropy, blocks)) - _entropy(covariance)


def _total(covariance):
    return (covariance.diagonal().log().sum() - covariance.logdet()) / 2


GROUPS_MISTAKES = {
    "this is the total correlation of all latents: what is dependent within a group must not count.":
        lambda s, g: _total(s),
    "this is what is within the groups: between them is the rest of the total correlation.":
        lambda s, g: _total(s) - between_groups(s, g),
    "the ½ is missing: twice too much.": lambda s, g: 2 * between_groups(s, g),
    "the sign is turned: the joint entropy is the smaller one.": lambda s, g: -between_groups(s, g),
    "the blocks are those of a group's rows in the inverse: marginals of a Gaussian have the block of the covariance.":
        lambda s, g: (
            -sum(torch.linalg.inv(s)[group][:, group].logdet() for group in g) - s.logdet()
        ) / 2,
    "determinants were subtracted without their logarithms.":
        lambda s, g: (sum(s[group][:, group].det() for group in g) - s.det()) / 2,
    "the groups were taken for neighbours in the list of latents: take the latents that a group names.":
        lambda s, g: _by_position(s, g),
    "in bits: nats are wanted.": lambda s, g: between_groups(s, g) / math.log(2),
    "the entropies of the groups were added, and the joint one is not subtracted.":
        lambda s, g: between_groups(s, g) + _entropy(s),
    "dependence is measured by squared covariances here: it is a divergence that is asked for.":
        lambda s, g: (s.square().sum() - sum(s[group][:, group].square().sum() for group in g)) / 2,
}  # fmt: skip


def _by_position(covariance, groups):
    start, blocks = 0, []
    for group in groups:
        blocks.append(covariance[start : start + len(group), start : start + len(group)])
        start += len(group)
    return (sum(block.logdet() for block in blocks) - covariance.logdet()) / 2


GROUPS_RIGHT = (
    lambda s, g: (sum(s[group][:, group].logdet() for group in g) - s.logdet()) / 2,
    lambda s, g: (_blocked(s, g).logdet() - s.logdet()) / 2,
    lambda s, g: torch.tensor(
        (sum(np.linalg.slogdet(s.numpy()[np.ix_(group, group)])[1] for group in g) - np.linalg.slogdet(s.numpy())[1])
        / 2
    ),
)


def _blocked(covariance, groups):
    """The covariance with what is between the groups set to 0: that of the product of the groups' laws."""
    label = torch.empty(len(covariance), dtype=torch.int64)
    for name, group in enumerate(groups):
        label[torch.tensor(group)] = name
    return covariance * (label[:, None] == label)


# 05.6 -----------------------------------------------------------------------------------------------------------------

EFFECTS = dict.fromkeys(("order", "scale", "bend"), "stays") | {
    "turn": "changes", "noise": "stays", "sum": "changes", "shuffle": "stays",
}  # fmt: skip
EFFECTS_MISTAKES = {
    "order: joint and product law have the same latents, in whatever order.": "changes",
    "scale: both laws are stretched by the same factors, and a divergence does not see it.": "changes",
    "bend: each latent is treated by itself and the cube can be undone: both laws change alike.": "changes",
    "turn: a rotation mixes latents. Only a Gaussian with equal variances is the same before and after, and its "
    "latents do not depend on each other.":
        "stays",
    "noise: what is independent of everything is a factor of both laws.": "changes",
    "sum: the fifth latent is all but determined by two of the others.": "stays",
    "shuffle: the cloud of codes is the same cloud. The total correlation does not know whose a code is.": "changes",
}  # fmt: skip

# ----------------------------------------------------------------------------------------------------------------------

EXERCISES = {
    "05.1": Function(reference=stratified, cases=batches, mistakes=STRATIFIED_MISTAKES, also_right=STRATIFIED_RIGHT),
    "05.2": Function(reference=permuted, cases=codes_and_orders, mistakes=PERMUTED_MISTAKES, also_right=PERMUTED_RIGHT),
    "05.3": Function(reference=stratified_weights, cases=sizes, mistakes=WEIGHTS_MISTAKES, also_right=WEIGHTS_RIGHT),
    "05.4": numbers(BIASES, BIASES_MISTAKES, tolerance=0.02, praise="right: constants, all but the last."),
    "05.5": Function(reference=between_groups, cases=grouped, mistakes=GROUPS_MISTAKES, also_right=GROUPS_RIGHT),
    "05.6": words(
        EFFECTS, ("stays", "changes"), EFFECTS_MISTAKES, praise="right: it is a property of the cloud of codes."
    ),
}
