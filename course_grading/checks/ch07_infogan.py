"""Chapter 7, InfoGAN: a bound, a mixed code, a critic's loss, what codes pay, a probe, and what is paid."""

import math

import numpy as np
import torch
from torch import Tensor
from torch.distributions import Categorical, Normal
from torch.nn.functional import cross_entropy

from course_grading.answers import numbers, words
from course_grading.exercise import Function, either

# 07.1 -----------------------------------------------------------------------------------------------------------------


def worlds(generator: torch.Generator) -> list[list[Tensor]]:
    """Tables p(c, x) with answers: of unequal secrets, with impossible images, and with a reader who is never sure."""
    cases = []
    for secrets, images, holes in ((3, 5, False), (4, 4, True), (2, 9, True), (5, 3, False)):
        joint = torch.rand(secrets, images, generator=generator, dtype=torch.float64) ** 2 + 0.01
        answers = torch.rand(secrets, images, generator=generator, dtype=torch.float64) + 0.1
        if holes:
            joint[0, 1:], joint[1, 0] = 0, 0
            answers[1, 0] = 0
        cases.append([joint / joint.sum(), answers / answers.sum(0)])
    return cases


def told(joint: Tensor, answers: Tensor) -> Tensor:
    information = entropy = reward = 0.0
    prior, images = joint.sum(1).tolist(), joint.sum(0).tolist()
    for c, row in enumerate(joint.tolist()):
        entropy -= prior[c] * math.log(prior[c])
        for x, p in enumerate(row):
            if p > 0:
                information += p * math.log(p / (prior[c] * images[x]))
                reward += p * math.log(answers[c, x].item())
    return torch.tensor([information, entropy + reward], dtype=torch.float64)


def _entropy(joint):
    return torch.special.entr(joint.sum(1)).sum()


def _changed(joint, answers, information=None, bound=None):
    right = told(joint, answers)
    return torch.stack([right[0] if information is None else information, right[1] if bound is None else bound])


def _reward(joint, answers):
    return torch.special.xlogy(joint, answers).sum()


TOLD_MISTAKES = {
    "the bound lacks the entropy of the secrets: H(c) + E log Q.":
        lambda p, q: _changed(p, q, bound=_reward(p, q)),
    "H(c) is not ln K here: the secrets are not equally likely. Take the table's own row sums.":
        lambda p, q: _changed(p, q, bound=_reward(p, q) + math.log(len(p))),
    "the entropy has the wrong sign: it is added, and positive.":
        lambda p, q: _changed(p, q, bound=_reward(p, q) - _entropy(p)),
    "every image counts alike here: the mean of log Q is over p(c, x).":
        lambda p, q: _changed(p, q, bound=_entropy(p) + torch.special.xlogy((p > 0) / (p > 0).sum(), q).sum()),
    "this is the logarithm of the mean of Q: expected the mean of the logarithm.":
        lambda p, q: _changed(p, q, bound=_entropy(p) + (p * q).sum().log()),
    "0 · log 0 is 0, and not NaN: impossible pairs add nothing.":
        lambda p, q: torch.stack([
            (p * (p / (p.sum(1, keepdim=True) * p.sum(0))).log()).sum(), _entropy(p) + (p * q.log()).sum(),
        ]),
    "the gap stands in the place of the bound.": lambda p, q: _changed(p, q, bound=told(p, q)[0] - told(p, q)[1]),
    "the two are exchanged: the information comes first.": lambda p, q: told(p, q).flip(0),
    "in bits: expected nats.": lambda p, q: told(p, q) / math.log(2),
    "a bound may be negative: do not cut it off at 0.":
        lambda p, q: _changed(p, q, bound=told(p, q)[1].clamp(min=0)),
    "the first number is minus the joint entropy: divide by the product of the marginals inside the logarithm.":
        lambda p, q: _changed(p, q, information=torch.special.xlogy(p, p).sum()),
    "the first number is the information less H(c), that is −H(c|x).":
        lambda p, q: _changed(p, q, information=told(p, q)[0] - _entropy(p)),
    "the entropy is that of the images: the sums over the images, row by row, are the secrets' prior.":
        lambda p, q: _changed(p, q, bound=_reward(p, q) + torch.special.entr(p.sum(0)).sum()),
    "the logarithms are weighed as if secrets and images were independent: their mean is over p(c, x).":
        lambda p, q: _changed(
            p, q, bound=_entropy(p) + torch.special.xlogy(p.sum(1, keepdim=True) * p.sum(0), q).sum()
        ),
    "each secret counts alike here, by p(x|c): the mean of log Q is over p(c, x).":
        lambda p, q: _changed(
            p, q, bound=_entropy(p) + torch.special.xlogy(p / p.sum(1, keepdim=True), q).sum(1).mean()
        ),
    "the first number is −H(x|c): the images' probabilities are missing below the fraction.":
        lambda p, q: _changed(p, q, information=torch.special.xlogy(p, p / p.sum(1, keepdim=True)).sum()),
    "the first number takes the secrets for equally likely: take the table's own row sums.":
        lambda p, q: _changed(p, q, information=torch.special.xlogy(p, p / p.sum(0)).sum() + math.log(len(p))),
    "the gap is taken from H(c): it lies below the information.":
        lambda p, q: _changed(p, q, bound=_entropy(p) - (told(p, q)[0] - told(p, q)[1])),
    "both numbers are the bound: the information does not depend on the reader.":
        lambda p, q: told(p, q)[1].repeat(2),
    "the bound uses the posterior: it belongs to the reader's answers.":
        lambda p, q: _changed(p, q, bound=_entropy(p) + torch.special.xlogy(p, p / p.sum(0)).sum()),
}  # fmt: skip


def _by_numpy(p, q):
    c, x, seen = p.sum(1, keepdims=True), p.sum(0), p > 0
    reward = (p[seen] * np.log(q[seen])).sum()
    return np.array([(p[seen] * np.log((p / (c * x))[seen])).sum(), reward - (c * np.log(c)).sum()])


TOLD_RIGHT = (
    lambda p, q: torch.stack([
        torch.special.entr(p.sum(1)).sum() + torch.special.entr(p.sum(0)).sum() - torch.special.entr(p).sum(),
        _entropy(p) + _reward(p, q),
    ]),
    lambda p, q: torch.from_numpy(_by_numpy(p.numpy(), q.numpy())),
    lambda p, q: _changed(
        p, q, bound=told(p, q)[0] - torch.special.xlogy(p, torch.where(p > 0, p / p.sum(0) / q, 1.0)).sum()
    ),
)  # fmt: skip

# 07.2 -----------------------------------------------------------------------------------------------------------------


def mixed_codes(generator: torch.Generator) -> list[list[Tensor]]:
    """Outputs of a reader with codes: two and ten, one and three, as many codes as images, logits in the hundreds."""
    cases = []
    for images, continuous, categories, size in ((5, 2, 10, 1), (4, 1, 3, 1), (3, 3, 3, 1), (6, 4, 3, 100)):
        statistics = torch.randn(images, 2 * continuous + categories, generator=generator)
        codes = 2 * torch.rand(images, continuous, generator=generator) - 1
        category = torch.randint(categories, (images,), generator=generator)
        if size > 1:  # the first image's own category is out of the question
            statistics[0, 2 * continuous :] = size
            statistics[0, 2 * continuous + category[0]] = -size
        cases.append([statistics.requires_grad_(), codes, category])
    return cases


def log_probability(statistics: Tensor, continuous: Tensor, category: Tensor) -> Tensor:
    n = continuous.shape[1]
    mean, log_variance, logits = statistics.split([n, n, statistics.shape[1] - 2 * n], dim=1)
    gaussian = Normal(mean, (0.5 * log_variance).exp()).log_prob(continuous).sum(1)
    return gaussian + Categorical(logits=logits).log_prob(category)


def _mixed(s, c, k, *, variance=None, log_weight=0.5, constant=0.5, swapped=False, of_category=None, of_codes=None):
    n = c.shape[1]
    first, second, logits = s.split([n, n, s.shape[1] - 2 * n], dim=1)
    mean, log_variance = (second, first) if swapped else (first, second)
    spread = log_variance.exp() if variance is None else variance(log_variance)
    each = -(c - mean).square() / (2 * spread) - log_weight * log_variance - constant * math.log(2 * math.pi)
    codes = each.sum(1) if of_codes is None else of_codes(each)
    gathered = logits.log_softmax(1).gather(1, k[:, None]).squeeze(1)
    return codes + (gathered if of_category is None else of_category(logits, k))


MIXED_MISTAKES = {
    "log σ² was taken for log σ: the variance is exp(log σ²), and −½ log σ² stands beside it.":
        lambda s, c, k: _mixed(s, c, k, variance=lambda lv: (2 * lv).exp(), log_weight=1.0),
    "the square is divided by σ: expected the variance.":
        lambda s, c, k: _mixed(s, c, k, variance=lambda lv: (lv / 2).exp()),
    "the square is multiplied by the variance: divide.":
        lambda s, c, k: _mixed(s, c, k, variance=lambda lv: (-lv).exp()),
    "the ½ before log σ² is missing.": lambda s, c, k: _mixed(s, c, k, log_weight=1.0),
    "log σ² does not occur beside the square: a density with a wide Gaussian is low.":
        lambda s, c, k: _mixed(s, c, k, log_weight=0.0),
    "½ log 2π for each continuous code is missing.": lambda s, c, k: _mixed(s, c, k, constant=0.0),
    "σ is 1 here: it is learnt, the second n outputs are log σ².":
        lambda s, c, k: _mixed(s, c, k, variance=torch.ones_like, log_weight=0.0),
    "means and log-variances are exchanged: the means come first.":
        lambda s, c, k: _mixed(s, c, k, swapped=True),
    "the mean over the continuous codes was taken: log-probabilities of independent codes add up.":
        lambda s, c, k: _mixed(s, c, k, of_codes=lambda each: each.mean(1)),
    "the logits were not normalised: log-softmax over the categories.":
        lambda s, c, k: _mixed(s, c, k, of_category=lambda logits, k: logits.gather(1, k[:, None]).squeeze(1)),
    "the softmax runs over the images: it is over the categories.":
        lambda s, c, k: _mixed(
            s, c, k, of_category=lambda logits, k: logits.log_softmax(0).gather(1, k[:, None]).squeeze(1)
        ),
    "the category's probability is added, and not its logarithm.":
        lambda s, c, k: _mixed(
            s, c, k, of_category=lambda logits, k: logits.softmax(1).gather(1, k[:, None]).squeeze(1)
        ),
    "this is the likeliest category's probability: expected that of the code.":
        lambda s, c, k: _mixed(s, c, k, of_category=lambda logits, k: logits.log_softmax(1).amax(1)),
    "softmax and then a logarithm: with logits in the hundreds that is −inf. There is a log-softmax.":
        lambda s, c, k: _mixed(
            s, c, k, of_category=lambda logits, k: logits.softmax(1).log().gather(1, k[:, None]).squeeze(1)
        ),
    "the sign is turned: expected a log-probability, not a loss.": lambda s, c, k: -log_probability(s, c, k),
    "the mean over the images was taken: expected one number for each.":
        lambda s, c, k: log_probability(s, c, k).mean(),
    "a small constant beside the softmax hides how unlikely the category is: there is a log-softmax.":
        lambda s, c, k: _mixed(
            s, c, k, of_category=lambda logits, k: (logits.softmax(1) + 1e-12).log().gather(1, k[:, None]).squeeze(1)
        ),
    "the softmax runs over all outputs: the logits are those behind the 2n others.":
        lambda s, c, k: _mixed(
            s, c, k,
            of_category=lambda _, k: s.log_softmax(1).gather(1, 2 * c.shape[1] + k[:, None]).squeeze(1),
        ),
    "the ½ of the Gaussian is missing.": lambda s, c, k: _mixed(s, c, k, of_codes=lambda each: 2 * each.sum(1)),
    "the category is missing.": lambda s, c, k: _mixed(s, c, k, of_category=lambda logits, k: 0.0),
    "the continuous codes are missing.": lambda s, c, k: _mixed(s, c, k, of_codes=lambda each: 0.0 * each.sum(1)),
    "no gradient reaches the reader's outputs: something is detached.":
        lambda s, c, k: log_probability(s.detach(), c, k) + 0 * s.sum(),
}  # fmt: skip

MIXED_RIGHT = (
    _mixed,
    lambda s, c, k: _mixed(s, c, k, of_category=lambda logits, k: -cross_entropy(logits, k, reduction="none")),
    lambda s, c, k: torch.stack([
        sum(Normal(row[j], (row[len(code) + j] / 2).exp()).log_prob(code[j]) for j in range(len(code)))
        + row[2 * len(code) :].log_softmax(0)[place]
        for row, code, place in zip(s, c, k, strict=True)
    ]),
)  # fmt: skip

# 07.3 -----------------------------------------------------------------------------------------------------------------


def critics(generator: torch.Generator) -> list[list]:
    """A critic's values with its slopes, one of them 0 everywhere, others far below and above 1."""
    cases = []
    for shape, eta in (((5, 1, 4, 4), 10.0), ((3, 3, 2, 2), 10.0), ((4, 1, 8, 8), 0.5), ((2, 2, 3, 3), 1.0)):
        slopes = torch.randn(*shape, generator=generator)
        slopes = slopes * torch.logspace(-2, 0, len(slopes)).view(-1, 1, 1, 1)
        slopes[0] = 0
        values = [torch.randn(shape[0], generator=generator).requires_grad_() for _ in range(2)]
        cases.append([*values, slopes.requires_grad_(), eta])
    return cases


def critic_loss(on_data: Tensor, on_drawn: Tensor, slopes: Tensor, eta: float) -> Tensor:
    penalty = sum((torch.linalg.vector_norm(slope) - 1) ** 2 for slope in slopes) / len(slopes)
    return on_drawn.mean() - on_data.mean() + eta * penalty


def _lengths(slopes, root=torch.sqrt, mean=False):
    squares = slopes.flatten(1).square()
    return root(squares.mean(1) if mean else squares.sum(1))


def _critic(a, b, s, eta, sign=1.0, lengths=None, of=lambda length: (length - 1).square().mean()):
    length = torch.linalg.vector_norm(s.flatten(1), dim=1) if lengths is None else lengths(s)
    return b.mean() - a.mean() + sign * eta * of(length)


CRITIC_MISTAKES = {
    "both planted faults are still there: the penalty is subtracted from what is minimised, and where the slope is 0 "
    "its gradient is NaN.":
        lambda a, b, s, e: _critic(a, b, s, e, -1.0, _lengths),
    "the penalty is subtracted from what is minimised: the steeper the critic the better. It has to be added.":
        lambda a, b, s, e: _critic(a, b, s, e, -1.0),
    "where the slope is 0 the gradient is NaN, since that of a root at 0 is infinite. torch.linalg.vector_norm gives "
    "0 there.":
        lambda a, b, s, e: _critic(a, b, s, e, lengths=_lengths),
    "data and drawings are exchanged: the critic is to be high on data, and this is minimised.":
        lambda a, b, s, e: _critic(b, a, s, e),
    "the slope's length is a root of a sum over the image's values, not of their mean.":
        lambda a, b, s, e: _critic(a, b, s, e, lengths=lambda s: torch.linalg.vector_norm(s.flatten(1), dim=1)
                                   / s[0].numel() ** 0.5),
    "one length for the whole batch was taken: each image has its own.":
        lambda a, b, s, e: _critic(a, b, s, e, lengths=lambda s: torch.linalg.vector_norm(s)[None]),
    "one length for each channel was taken: an image has one.":
        lambda a, b, s, e: _critic(a, b, s, e, lengths=lambda s: torch.linalg.vector_norm(s.flatten(2), dim=2)),
    "one length for each pixel, over its channels, was taken: an image has one.":
        lambda a, b, s, e: _critic(a, b, s, e, lengths=lambda s: torch.linalg.vector_norm(s, dim=1)),
    "the length is held at 1, not at 0: subtract 1 before you square.":
        lambda a, b, s, e: _critic(a, b, s, e, of=lambda length: length.square().mean()),
    "1 is subtracted from the squared length: from the length, and then squared.":
        lambda a, b, s, e: _critic(a, b, s, e, of=lambda length: (length.square() - 1).square().mean()),
    "the difference from 1 is squared in the paper: its absolute value is something else.":
        lambda a, b, s, e: _critic(a, b, s, e, of=lambda length: (length - 1).abs().mean()),
    "the mean length was compared with 1: each image's own is.":
        lambda a, b, s, e: _critic(a, b, s, e, of=lambda length: (length.mean() - 1).square()),
    "only slopes above 1 are punished here, which is another method's penalty: slopes below 1 are, too.":
        lambda a, b, s, e: _critic(a, b, s, e, of=lambda length: (length - 1).clamp(min=0).square().mean()),
    "the penalty is summed over the images: expected its mean.":
        lambda a, b, s, e: _critic(a, b, s, e, of=lambda length: (length - 1).square().sum()),
    "all signs are turned: this is what the critic maximises; expected its loss.":
        lambda a, b, s, e: -_critic(a, b, s, e),
    "where the slope is 0 the penalty is left out: such an image is as far from 1 as 0 is, and counts.":
        lambda a, b, s, e: _critic(a, b, s[s.flatten(1).abs().sum(1) > 0], e),
    "the length is a root of squares: the sum of absolute values is another one.":
        lambda a, b, s, e: _critic(a, b, s, e, lengths=lambda s: s.flatten(1).abs().sum(1)),
    "the penalty is halved: there is no ½.": lambda a, b, s, e: _critic(a, b, s, e / 2),
    "the penalty is missing.": lambda a, b, s, e: _critic(a, b, s, 0.0),
    "the critic's values are missing: this is the penalty alone.":
        lambda a, b, s, e: _critic(a, b, s, e) - (b.mean() - a.mean()),
    "the critic's values are summed over the images: expected their means.":
        lambda a, b, s, e: _critic(a, b, s, e) + (len(a) - 1) * (b.mean() - a.mean()),
    "η is missing.": lambda a, b, s, e: _critic(a, b, s, 1.0),
    "no gradient reaches the slopes: something is detached, and the penalty teaches the critic nothing.":
        lambda a, b, s, e: _critic(a, b, s.detach(), e) + 0 * s.sum(),
}  # fmt: skip

CRITIC_RIGHT = (
    _critic,
    lambda a, b, s, e: (b - a).mean() + e * (s.flatten(1).norm(dim=1) - 1).pow(2).mean(),
    lambda a, b, s, e: _critic(a, b, s, e, lengths=lambda s: _lengths(s, lambda square: (square + 1e-14).sqrt())),
    lambda a, b, s, e: (b - a + e * (torch.linalg.vector_norm(s, dim=(1, 2, 3)) - 1) ** 2).mean(),
)

# 07.4 -----------------------------------------------------------------------------------------------------------------

LN_3, ROOT = math.log(3), 0.5 * math.log(2 * math.pi)
WORTH = {
    "category": LN_3,
    "fixed": 4 / 6,
    "bound": LN_3 + 4 * (math.log(2) - ROOT),
    "learnt": 4 * (math.log(3**-0.5) - math.log(0.01)),
    "break-even": 3**-1.5,
}
WORTH_MISTAKES = {
    "category: that is ln 10: the code has three values.": math.log(10),
    "category: in bits: expected nats.": math.log2(3),
    "category: a perfect answer has log Q = 0, and that of a reader who knows nothing is −ln 3.": 0.0,
    "category: that is the smallest log Q: the difference is positive.": -LN_3,
    "fixed: that is one code's, or four of U(0, 1): there are four codes, of variance 1/3.": 1 / 6,
    "fixed: the ½ before the square is missing.": 4 / 3,
    "fixed: the variance of U(−1, 1) is 1/3, its range squared 4: expected E[c²].": either(4 / 2, 4 * 4 / 2),
    "bound: the entropies of the continuous codes are missing, ln 2 each.": LN_3 - 4 * ROOT,
    "bound: the entropy of the category is missing: its own reward is 0, and H(c) has both.": 4 * (math.log(2) - ROOT),
    "bound: ½ ln 2π is paid by each of the four codes, even to a perfect reader.": either(
        LN_3 + 4 * math.log(2), LN_3 + 4 * math.log(2) - ROOT
    ),
    "bound: H(c) is missing altogether: ln 3, and ln 2 for each continuous code.": -4 * ROOT,
    "bound: ln 10: the code has three values.": math.log(10) + 4 * (math.log(2) - ROOT),
    "bound: that is the pay above a reader who knows nothing: the bound is H(c) + L.": LN_3 + 4 / 6,
    "bound: that is the category's entropy, or its pay: the continuous codes have a part in the bound.": LN_3,
    "bound: without the ½: the density of a Gaussian at its middle is 1/√(2π).": LN_3 + 4 * (math.log(2) - 2 * ROOT),
    "bound: a perfect reader's μ is c: there is no 1/6 to be subtracted.": LN_3 + 4 * (math.log(2) - ROOT - 1 / 6),
    "bound: that is one continuous code: there are four.": LN_3 + math.log(2) - ROOT,
    "learnt: that is one code's: there are four.": WORTH["learnt"] / 4,
    "learnt: that is the pay with σ = 1: here σ falls with the error.": 2 * (1 / 3 - 1e-4),
    "learnt: that is the bound, with ln 2 for each code: expected the difference from a reader who knows nothing.":
        4 * (math.log(2) - ROOT - 0.5 - math.log(0.01)),
    "learnt: .01 is the root already: do not square it alone.": 4 * (-0.5 * LN_3 - math.log(1e-4)),
    "learnt: a reader who knows nothing errs by 1/√3, not by 1: the first σ is not 1.": -4 * math.log(0.01),
    "learnt: a reader who knows nothing errs by 1/√3, root mean square: its square is 1/3.": 4 * (
        math.log(1 / 3) - math.log(0.01)
    ),
    "learnt: the constants cancel, the same −½ (1 + ln 2π) stands in both.": either(
        -4 * (math.log(0.01) + ROOT + 0.5), -4 * (math.log(0.01) + ROOT)
    ),
    "learnt: the ½ is used up: ln σ² = 2 ln σ.": either(WORTH["learnt"] / 2, 2 * WORTH["learnt"]),
    "learnt: the sign is turned: a smaller error pays more.": -WORTH["learnt"],
    "break-even: all four codes together were asked: one is.": 3**-0.75,
    "break-even: start from a reader who knows nothing and errs by 1/√3, not by 1.": 1 / 3,
    "break-even: that is where it pays nothing yet, the error of a reader who knows nothing.": 3**-0.5,
    "break-even: with ln 10 for the category: it has three values.": 3**-0.5 / 10,
    "break-even: that is the square of the error: expected its root.": 3**-3,
}  # fmt: skip

# 07.5 -----------------------------------------------------------------------------------------------------------------


def probes(generator: torch.Generator) -> list[list[Tensor]]:
    """Logits with labels: of unequal classes, with a class that does not occur, useless ones, overconfident ones."""
    cases = []
    for images, classes, size in ((13, 3, 1.0), (9, 4, 2.0), (6, 6, 0.5), (8, 3, 300.0)):
        labels = (torch.rand(images, generator=generator) ** 2 * (classes - 1)).long()  # the last one never
        labels[:2] = torch.tensor([0, 1])
        logits = size * torch.randn(images, classes, generator=generator, dtype=torch.float64)
        logits[0, 0] += 3.0
        cases.append([logits, labels])
    return cases


def information_of_probe(logits: Tensor, labels: Tensor) -> Tensor:
    shares = [labels.tolist().count(label) / len(labels) for label in set(labels.tolist())]
    rows = zip(logits.tolist(), labels.tolist(), strict=True)
    reward = sum(
        row[label] - max(row) - math.log(sum(math.exp(each - max(row)) for each in row)) for row, label in rows
    )
    entropy = -sum(share * math.log(share) for share in shares)
    return torch.tensor(entropy + reward / len(labels), dtype=torch.float64)


def _label_entropy(labels, classes=None):
    shares = labels.bincount() / len(labels)
    return torch.special.entr(shares.double()).sum()


PROBE_MISTAKES = {
    "the entropy of the labels is missing: this is minus the cross-entropy.": lambda z, y: -cross_entropy(z, y),
    "the sign is turned: this is the cross-entropy.": lambda z, y: cross_entropy(z, y),
    "the labels are not equally frequent: H(y) is not ln K.": lambda z, y: math.log(z.shape[1]) - cross_entropy(z, y),
    "H(y) is that of the labels as they occur: a class that does not occur adds nothing, and ln of the classes that do "
    "occur is their entropy only if all are as frequent.":
        lambda z, y: math.log(len(y.unique())) - cross_entropy(z, y),
    "H(y) is that of the probe's own mean answer: it is the labels' entropy.":
        lambda z, y: torch.special.entr(z.softmax(1).mean(0)).sum() - cross_entropy(z, y),
    "in bits: expected nats.": lambda z, y: information_of_probe(z, y) / math.log(2),
    "a bound may be negative, and this one says then that the probe is bad: do not cut it off at 0.":
        lambda z, y: information_of_probe(z, y).clamp(min=0),
    "the softmax was applied twice: cross_entropy takes logits.":
        lambda z, y: _label_entropy(y) - cross_entropy(z.softmax(1), y),
    "this is the accuracy: an answer is paid by its log-probability.":
        lambda z, y: (z.argmax(1) == y).double().mean(),
    "the sum over the images was taken: expected the mean.":
        lambda z, y: _label_entropy(y) - cross_entropy(z, y, reduction="sum"),
    "it was divided by H(y), which makes a share of it: expected nats.":
        lambda z, y: information_of_probe(z, y) / _label_entropy(y),
    "this is the logarithm of the mean probability: expected the mean of the logarithms.":
        lambda z, y: _label_entropy(y) + z.softmax(1).gather(1, y[:, None]).mean().log(),
    "H(y) is that of the probe's decisions: it is the labels' entropy.":
        lambda z, y: torch.special.entr(z.argmax(1).bincount() / len(y)).sum() - cross_entropy(z, y),
    "each class counts alike here: the mean is over the images.":
        lambda z, y: _label_entropy(y) - cross_entropy(
            z, y, weight=1 / y.bincount(minlength=z.shape[1]).clamp(min=1).to(z.dtype)
        ),
    "the logits were taken for log-probabilities: log-softmax first.":
        lambda z, y: _label_entropy(y) + z.gather(1, y[:, None]).mean(),
    "the softmax runs over the images: it is over the classes.":
        lambda z, y: _label_entropy(y) + z.log_softmax(0).gather(1, y[:, None]).mean(),
    "the cross-entropy is added: the reward is minus it.": lambda z, y: _label_entropy(y) + cross_entropy(z, y),
    "the sign of all is turned: this is the cross-entropy less H(y).": lambda z, y: -information_of_probe(z, y),
    "the probe's doubt was subtracted, the entropy of its answers: what counts is the probability of the right label.":
        lambda z, y: _label_entropy(y) - torch.special.entr(z.softmax(1)).sum(1).mean(),
    "softmax and then a logarithm: an overconfident probe gives −inf. There is a log-softmax.":
        lambda z, y: _label_entropy(y) + z.softmax(1).float().log().gather(1, y[:, None]).mean(),
}  # fmt: skip

PROBE_RIGHT = (
    lambda z, y: _label_entropy(y) - cross_entropy(z, y),
    lambda z, y: _label_entropy(y) + Categorical(logits=z).log_prob(y).mean(),
    lambda z, y: _label_entropy(y) + (z - z.logsumexp(1, keepdim=True))[torch.arange(len(y)), y].mean(),
    lambda z, y: (
        torch.special.entr(torch.stack([(y == k).double().mean() for k in range(z.shape[1])])).sum()
        + z.log_softmax(1)[torch.arange(len(y)), y].mean()
    ),
)

# 07.6 -----------------------------------------------------------------------------------------------------------------

PAY = {
    "rename": "stays", "mirror": "stays", "turn": "stays", "cut": "stays", "one image": "stays", "deal": "stays",
    "merge": "falls", "toss": "falls",
}  # fmt: skip
PAY_MISTAKES = {
    "rename: the reader learns the new names.": "falls",
    "mirror: a reader who reads −c can answer c.": "falls",
    "turn: the reader can turn back. That the axes are mixed costs nothing.": "falls",
    "cut: the reader may be any function, and each value is drawn by one other.": "falls",
    "one image: what counts is that secrets can be told apart. Variety is the discriminator's business.": "falls",
    "deal: an image that belongs to one secret tells it, whatever the deal means.": "falls",
    "merge: two secrets with the same images cannot be told apart.": "stays",
    "toss: the reader cannot know how the coin fell, so the sign of the code is lost.": "stays",
}

# ----------------------------------------------------------------------------------------------------------------------

EXERCISES = {
    "07.1": Function(reference=told, cases=worlds, mistakes=TOLD_MISTAKES, also_right=TOLD_RIGHT),
    "07.2": Function(reference=log_probability, cases=mixed_codes, mistakes=MIXED_MISTAKES, also_right=MIXED_RIGHT),
    "07.3": Function(reference=critic_loss, cases=critics, mistakes=CRITIC_MISTAKES, also_right=CRITIC_RIGHT),
    "07.4": numbers(WORTH, WORTH_MISTAKES, tolerance=0.002, praise="right: it matters which of the two is in use."),
    "07.5": Function(
        reference=information_of_probe, cases=probes, mistakes=PROBE_MISTAKES, also_right=PROBE_RIGHT,
        tolerance=(1e-5, 1e-6),
    ),
    "07.6": words(PAY, ("stays", "falls"), PAY_MISTAKES, praise="right: it pays for telling, and not for meaning."),
}  # fmt: skip
