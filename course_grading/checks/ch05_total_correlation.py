"""Chapter 5, total correlation: estimated from a batch, in losses, weighted, biased, between groups, and left alone."""

import math

import numpy as np
import torch
from torch import Tensor
from torch.distributions import MultivariateNormal, Normal
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

from course_grading.answers import numbers, words
from course_grading.exercise import Function

# 05.1 -----------------------------------------------------------------------------------------------------------------


def batches(generator: torch.Generator) -> list[list]:
    """Codes with the posteriors that they come from: wide, narrow, many latents, two images, as many as latents.

    In the last batch the others hardly reach a code, so that the estimate is negative, as no divergence is.
    """
    cases = []
    kinds = ((7, 3, -1.0, 50), (4, 4, -3.0, 4096), (2, 2, 0.0, 2), (9, 160, -4.0, 1000), (20, 6, -2.0, 10**6))
    for size, dim, width, images in kinds:
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


def _estimate(z, m, v, weights, latent_wise=False, axis=1, reduce=torch.mean, height=1, over=torch.sum):
    """The estimate with other log-weights (B, B), added once for each latent, or mixed along another axis."""
    each = -0.5 * ((z[:, None] - m).square() / v.exp() + height * v + math.log(2 * math.pi))
    joint = ((weights[:, :, None] + each).sum(2) if latent_wise else weights + each.sum(2)).logsumexp(axis)
    return reduce(joint - over((weights[:, :, None] + each).logsumexp(axis), 1))


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
    "in bits: expected nats.": lambda z, m, v, n: _estimate(z, m, v, _mss(z, n)) / math.log(2),
    "the batch was summed: expected the mean.": lambda z, m, v, n: _estimate(z, m, v, _mss(z, n), reduce=torch.sum),
    "one number for each code: expected their mean.":
        lambda z, m, v, n: _estimate(z, m, v, _mss(z, n), reduce=lambda each: each),
    "the logarithm was taken of sums of densities, which are 0 in single precision for narrow posteriors: stay in "
    "logarithms, with logsumexp.":
        lambda z, m, v, n: _by_densities(z, m, v, _mss(z, n)),
    "the numbers are right, but they are detached: no gradient reaches the encoder.":
        lambda z, m, v, n: stratified(z, m, v, n).detach(),
    "the others share 1 − 1/N among B − 1 of them, and here they share it among B.":
        lambda z, m, v, n: _estimate(z, m, v, _level(z, math.log((1 - 1 / n) / len(z))).fill_diagonal_(-math.log(n))),
    "the others have 1/(B − 1) each: with the own 1/N a row sums to more than 1. They share 1 − 1/N.":
        lambda z, m, v, n: _estimate(z, m, v, _level(z, -math.log(len(z) - 1)).fill_diagonal_(-math.log(n))),
    "a code's own posterior has the weight 1/B: it is 1/N.":
        lambda z, m, v, n: _estimate(z, m, v, _mss(z, n).fill_diagonal_(-math.log(len(z)))),
    "the weights of the own and of the other posteriors are exchanged.":
        lambda z, m, v, n: _estimate(
            z, m, v, _level(z, -math.log(n)).fill_diagonal_(math.log((1 - 1 / n) / (len(z) - 1)))
        ),
    "weights were added to log-densities: add their logarithms.":
        lambda z, m, v, n: _estimate(z, m, v, _mss(z, n).exp()),
    "the densities have no ½ log σ²: posteriors of different widths cannot be mixed without it.":
        lambda z, m, v, n: _estimate(z, m, v, _mss(z, n), height=0),
    "the marginals' logarithms were averaged over the latents: they are summed.":
        lambda z, m, v, n: _estimate(z, m, v, _mss(z, n), over=torch.mean),
    "one of the others has less than the rest, as in the published estimator: here all of them share alike.":
        lambda z, m, v, n: _estimate(z, m, v, stratified_weights(len(z), n).to(z.dtype) if len(z) > 2 else _mss(z, n)),
    "negative estimates were cut off at 0: a divergence is never negative, and this estimate of one can be.":
        lambda z, m, v, n: _estimate(z, m, v, _mss(z, n)).clamp(min=0),
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


def parts_of_losses(generator: torch.Generator) -> list[list]:
    """Errors, nats and logits of a batch: several, one image, one latent; a discriminator that is very sure."""
    cases = []
    for size, dim, sure, gamma, beta in ((6, 4, 1.0, 10.0, 4.0), (1, 3, 2.0, 0.5, 1.5), (5, 1, 1.0, 40.0, 6.0),
                                         (7, 2, 60.0, 3.0, 2.5)):  # fmt: skip
        error, nats = 20 + torch.randn(size, generator=generator), torch.rand(size, dim, generator=generator) + 0.1
        own, shuffled = sure * (torch.randn(2, size, generator=generator) + 0.3)
        correlation = torch.rand((), generator=generator) + 0.2
        parts = [error, nats, own, shuffled, correlation]
        cases.append([*(part.requires_grad_() for part in parts), gamma, beta])
    return cases


def three_losses(error, nats, own, shuffled, correlation, gamma, beta):
    """In double precision, from probabilities' logarithms."""
    error, nats, own, shuffled = (part.double() for part in (error, nats, own, shuffled))
    vae = torch.stack([error[k] + nats[k].sum() for k in range(len(error))])
    kim = (vae + gamma * own).sum() / len(own)
    right = torch.cat([torch.nn.functional.logsigmoid(own), torch.nn.functional.logsigmoid(-shuffled)])
    chen = vae.sum() / len(own) + (beta - 1) * correlation.double()
    return torch.stack([kim, -right.sum() / len(right), chen]).to(correlation.dtype)


def _three(kim=None, player=None, chen=None, kl=lambda nats: nats.sum(1), over=torch.mean):
    """The three losses, some of them replaced by functions of error, KL (B,), logits, correlation and weight."""
    kim = kim or (lambda e, k, own, other, gamma: e + k + gamma * own)
    player = player or (lambda own, other: (softplus(-own) + softplus(other)) / 2)
    chen = chen or (lambda e, k, tc, beta: e + k + (beta - 1) * tc)

    def answer(error, nats, own, shuffled, correlation, gamma, beta):
        k = kl(nats)
        each = kim(error, k, own, shuffled, gamma), player(own, shuffled), chen(error, k, correlation, beta)
        return torch.stack([over(part) for part in each])

    return answer


LOSSES_MISTAKES = {
    "FactorVAE: the sign of the logit is turned: it is positive where codes look dependent, and that is punished.":
        _three(kim=lambda e, k, t, o, g: e + k - g * t),
    "FactorVAE: this punishes log D, the logarithm of a probability; the ratio is D/(1 − D), whose logarithm is the "
    "logit itself.":
        _three(kim=lambda e, k, t, o, g: e + k - g * softplus(-t)),
    "FactorVAE: this is −log(1 − D), as a generator is trained against a discriminator; here the logit itself is "
    "the penalty.":
        _three(kim=lambda e, k, t, o, g: e + k + g * softplus(t)),
    "FactorVAE: the probability D stands where the logit belongs.":
        _three(kim=lambda e, k, t, o, g: e + k + g * t.sigmoid()),
    "FactorVAE: the logits of the permuted codes were taken: the model is judged by its own codes.":
        _three(kim=lambda e, k, t, o, g: e + k + g * o),
    "FactorVAE: the difference of both logits was taken: only those of the codes belong there.":
        _three(kim=lambda e, k, t, o, g: e + k + g * (t - o)),
    "FactorVAE: γ weighs the KL too here: its weight is 1.": _three(kim=lambda e, k, t, o, g: e + g * (k + t)),
    "FactorVAE: the KL is missing: the penalty is added to a whole VAE.": _three(kim=lambda e, k, t, o, g: e + g * t),
    "FactorVAE: γ − 1 stands where γ belongs: β = 1 + γ is that of the β-TCVAE.":
        _three(kim=lambda e, k, t, o, g: e + k + (g - 1) * t),
    "discriminator: the labels are exchanged: a large logit is to mean a code, not a permuted one.":
        _three(player=lambda t, o: (softplus(t) + softplus(-o)) / 2),
    "discriminator: its two means were added, which is twice the mean over all 2B.":
        _three(player=lambda t, o: softplus(-t) + softplus(o)),
    "discriminator: only the codes count here: the permuted ones are its other half.":
        _three(player=lambda t, o: softplus(-t)),
    "discriminator: a sigmoid was taken of a probability: what comes in are logits.":
        _three(player=lambda t, o: (softplus(-t.sigmoid()) + softplus(o.sigmoid())) / 2),
    "discriminator: it is trained to make the ratio small, as the model is; it is to tell the two apart.":
        _three(player=lambda t, o: t),
    "discriminator: its logarithms are those of probabilities that were rounded to 0 or 1: stay with logits, as in "
    "binary_cross_entropy_with_logits.":
        _three(player=lambda t, o: -(t.sigmoid().log() + (1 - o.sigmoid()).log()) / 2),
    "β-TCVAE: the whole KL holds the total correlation once already, so β − 1 times it has to be added.":
        _three(chen=lambda e, k, c, b: e + k + b * c),
    "β-TCVAE: β · KL + (β − 1) · TC taxes everything, and the total correlation twice: the KL has the weight 1.":
        _three(chen=lambda e, k, c, b: e + b * k + (b - 1) * c),
    "β-TCVAE: this is the β-VAE: β weighs the total correlation only.": _three(chen=lambda e, k, c, b: e + b * k),
    "β-TCVAE: the KL is missing: its other parts keep their weight of 1.":
        _three(chen=lambda e, k, c, b: e + (b - 1) * c),
    "β-TCVAE: the sign is turned: dependence is punished.": _three(chen=lambda e, k, c, b: e + k - (b - 1) * c),
    "the KL was averaged over the latents: it is their sum.": _three(kl=lambda nats: nats.mean(1)),
    "the batch was summed: each loss is a mean over its codes.": _three(over=torch.sum),
    "the two losses of FactorVAE are exchanged: the model's comes first.": lambda *parts: _three()(*parts)[[1, 0, 2]],
    "no gradient reaches the encoder through the logits: they were detached.":
        lambda e, n, t, o, c, g, b: _three()(e, n, t.detach(), o.detach(), c, g, b),
}  # fmt: skip

LOSSES_RIGHT = (
    _three(),
    lambda e, n, t, o, c, g, b: torch.stack([
        (e + n.sum(1) + g * t).mean(),
        binary_cross_entropy_with_logits(torch.cat([t, o]), torch.cat([torch.ones_like(t), torch.zeros_like(o)])),
        e.mean() + n.sum() / len(n) + (b - 1) * c,
    ]),
    lambda e, n, t, o, c, g, b: torch.stack([
        e.mean() + n.sum(1).mean() + g * t.mean(),
        (torch.logaddexp(torch.zeros_like(t), -t).mean() + torch.logaddexp(torch.zeros_like(o), o).mean()) / 2,
        e.mean() + (n.sum(1).mean() - c) + b * c,  # information and marginals, and β times the correlation
    ]),
)  # fmt: skip

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
    "all others share alike, as in exercise 05.1: here the next one stands for what is left over, 1/M − 1/N.":
        lambda b, n: torch.full((b, b), (1 - 1 / n) / (b - 1), dtype=torch.float64).fill_diagonal_(1 / n).log(),
    "the left-over weight is 1/M + 1/N: it is less than 1/M, and not more.":
        lambda b, n: _placed(b, n, left=1 / (b - 1) + 1 / n),
    "logarithms to another base: expected the natural one.": lambda b, n: stratified_weights(b, n) / math.log(10),
    "own and left-over weight are exchanged.":
        lambda b, n: _placed(b, n, step=0, left=1 / (b - 1) - 1 / n) if n == 2 * (b - 1)
        else _placed(b, n, own=1 / (b - 1) - 1 / n, left=1 / n),
    "these are the weights: expected their logarithms.": lambda b, n: stratified_weights(b, n).exp(),
    "got torch.float32; expected float64.": lambda b, n: stratified_weights(b, n).float(),
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
    "mws: the joint logarithm alone was corrected: the ten of the marginals are lower too.": 3 - LN_N,
    "mws: the logarithm is that of base 10: nats have the natural one.": 3 + 9 * math.log10(737_280),
    "forgotten: this is the bias alone: the batch estimate of 3 has to be added.": -9 * LN_B,
    "forgotten: the joint logarithm alone was corrected: the ten of the marginals rise too.": 3 + LN_B,
    "forgotten: the logarithm is that of base 10: nats have the natural one.": 3 - 9 * math.log10(64),
    "forgotten: the sign is turned: without 1/B every density is too large, and ten of them are subtracted.":
        3 + 9 * LN_B,
    "forgotten: 9 ln B in all: the joint density gains one.": 3 - 10 * LN_B,
    "forgotten: B is missing, not N.": 3 - 9 * LN_N,
    "latent-wise: the sign is turned: the joint density has ten times ln 1/B, which is negative.": 3 + 9 * LN_B,
    "latent-wise: one of the ten belongs there: 9 too many.": 3 - 10 * LN_B,
    "latent-wise: this is the bias alone: the batch estimate of 3 has to be added.": -9 * LN_B,
    "latent-wise: the joint density has nine ln 1/B too many, so it is not what it was.": 3.0,
    "ceiling: the joint log-density alone is asked for, and only once.": 9 * (LN_N - LN_B),
    "ceiling: the quotient of the two weights is N/B, not B.": LN_B,
    "ceiling: the logarithm is that of base 10: nats have the natural one.": math.log10(737_280 / 64),
    "ceiling: with the sign: too high by ln N − ln B.": LN_B - LN_N,
    "ceiling: that is ln N: its own posterior counts 1/B, and not 1.": LN_N,
    "ceiling: this is the factor, N/B: expected its logarithm.": 737_280 / 64,
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
    "the ½ belongs to both: here the joint entropy has none.":
        lambda s, g: between_groups(s, g) - s.logdet() / 2,
    "the ½ belongs to both: here the groups' entropies have none.":
        lambda s, g: between_groups(s, g) + sum(s[group][:, group].logdet() for group in g) / 2,
    "this is a sum over pairs of latents: pairs do not add up to the dependence of groups.":
        lambda s, g: _by_pairs(s, g),
    "this is the mean over groups: expected their sum.": lambda s, g: between_groups(s, g) / len(g),
    "in bits: expected nats.": lambda s, g: between_groups(s, g) / math.log(2),
    "the entropies of the groups were added, and the joint one is not subtracted.":
        lambda s, g: between_groups(s, g) + _entropy(s),
    "dependence is measured by squared covariances here: it is a divergence that is asked for.":
        lambda s, g: (s.square().sum() - sum(s[group][:, group].square().sum() for group in g)) / 2,
}  # fmt: skip


def _by_pairs(covariance, groups):
    """The information of each two latents of different groups, added up."""
    label = torch.tensor(
        [next(name for name, group in enumerate(groups) if j in group) for j in range(len(covariance))]
    )
    scale = covariance.diagonal().sqrt()
    squares = (covariance / scale / scale[:, None]).square()
    return -torch.log1p(-squares[label[:, None] > label]).sum() / 2


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
    "05.2": Function(reference=three_losses, cases=parts_of_losses, mistakes=LOSSES_MISTAKES, also_right=LOSSES_RIGHT),
    "05.3": Function(reference=stratified_weights, cases=sizes, mistakes=WEIGHTS_MISTAKES, also_right=WEIGHTS_RIGHT),
    "05.4": numbers(BIASES, BIASES_MISTAKES, tolerance=0.02, praise="right: constants, all but the last."),
    "05.5": Function(reference=between_groups, cases=grouped, mistakes=GROUPS_MISTAKES, also_right=GROUPS_RIGHT),
    "05.6": words(
        EFFECTS, ("stays", "changes"), EFFECTS_MISTAKES, praise="right: it is a property of the cloud of codes."
    ),
}
