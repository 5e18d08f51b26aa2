"""Chapter 6, moments and adversaries: penalties, a diagonal, a perfect VAE, oblique clouds, a divergence, blindness."""

import math

import numpy as np
import torch
from torch import Tensor
from torch.distributions import Independent, MixtureSameFamily, MultivariateNormal, Normal

from course_grading.answers import numbers, words
from course_grading.exercise import Function, either

# 06.1 -----------------------------------------------------------------------------------------------------------------


def weighted_batches(generator: torch.Generator) -> list[list]:
    """Batches of dependent latents of unequal widths: both variants, one latent, a weight of 0, as many as latents."""
    cases, kinds = [], ((6, 3, "I", 2.0, 5.0), (5, 4, "II", 3.0, 1.5), (4, 4, "II", 0.0, 2.0), (7, 1, "I", 1.0, 4.0))
    for size, dim, variant, od, d in (*kinds, (9, 2, "II", 2.5, 2.5), (3, 5, "I", 2.5, 25.0)):
        mean = 0.5 + torch.randn(size, dim, generator=generator) + torch.randn(size, 1, generator=generator)
        log_variance = torch.randn(size, dim, generator=generator)
        cases.append([mean.requires_grad_(), log_variance.requires_grad_(), variant, od, d])
    return cases


def penalty(mean: Tensor, log_variance: Tensor, variant: str, lambda_od: float, lambda_d: float) -> Tensor:
    size, dim = mean.shape
    total = mean.new_zeros(())
    for i in range(dim):
        for j in range(dim):
            entry = (mean[:, i] * mean[:, j]).mean() - mean[:, i].mean() * mean[:, j].mean()
            if i != j:
                total = total + lambda_od * entry**2
            else:
                total = (
                    total + lambda_d * (entry + (log_variance[:, i].exp().mean() if variant == "II" else 0) - 1) ** 2
                )
    return total


def _between(mean, divisor=0, centred=True):
    around = mean - mean.mean(0) if centred else mean
    return around.T @ around / (len(mean) - divisor)


def _charged(covariance, od, d, goal=1.0, power=2, half=False):
    diagonal = covariance.diagonal()
    off = covariance - torch.diag(diagonal)
    off = off.triu() if half else off
    off = off.abs() if power == 1 else off
    return od * (off**power).sum() + d * ((diagonal - goal).abs() ** power).sum()


def _within(log_variance, variant, wide=1.0):
    return (wide * log_variance).exp().mean(0).diag() * (variant == "II")


def _dip(m, v, variant, od, d, *, divisor=0, centred=True, wide=1.0, **charge):
    return _charged(_between(m, divisor, centred) + _within(v, variant, wide), od, d, **charge)


PENALTY_MISTAKES = {
    "I has the posteriors' variances on its diagonal: I matches the means, II the samples. Are the two exchanged?":
        either(
            lambda m, v, k, od, d: _dip(m, v, "I" if k == "II" else "II", od, d),
            lambda m, v, k, od, d: _dip(m, v, "II", od, d),
        ),
    "the two weights are exchanged: λ_od belongs to the entries off the diagonal.":
        lambda m, v, k, od, d: _dip(m, v, k, d, od),
    "each pair of latents counts once here: the sum runs over i ≠ j, so twice.":
        lambda m, v, k, od, d: _dip(m, v, k, od, d, half=True),
    "the covariance was divided by B − 1: the batch's is divided by B.":
        lambda m, v, k, od, d: _dip(m, v, k, od, d, divisor=1),
    "the means were not centred: a covariance is around the mean.":
        lambda m, v, k, od, d: _dip(m, v, k, od, d, centred=False),
    "log_variance was read as the logarithm of the standard deviation: log_variance.exp() is σ².":
        lambda m, v, k, od, d: _dip(m, v, k, od, d, wide=2.0),
    "standard deviations were added to the diagonal: variances add up.":
        lambda m, v, k, od, d: _dip(m, v, k, od, d, wide=0.5),
    "absolute values in place of squares.": lambda m, v, k, od, d: _dip(m, v, k, od, d, power=1),
    "the diagonal is pulled towards 0: towards 1 is asked.": lambda m, v, k, od, d: _dip(m, v, k, od, d, goal=0.0),
    "the covariance is that of the means for II too: the samples have the mean variance of the posteriors on top.":
        lambda m, v, k, od, d: _dip(m, v, "I", od, d),
    "only the off-diagonal part is there: the diagonal has its own.": lambda m, v, k, od, d: _dip(m, v, k, od, 0.0),
    "only the diagonal part is there: covariances off the diagonal are charged too.":
        lambda m, v, k, od, d: _dip(m, v, k, 0.0, d),
    "the diagonal is charged by λ_od as well: take it off before squaring.":
        lambda m, v, k, od, d: (
            _dip(m, v, k, od, d) + od * (_between(m) + _within(v, k)).diagonal().square().sum()
        ),
    "the sums are divided by the number of latents: expected sums.":
        lambda m, v, k, od, d: _dip(m, v, k, od, d) / m.shape[1],
    "correlations in place of covariances.": lambda m, v, k, od, d: _by_correlations(m, v, k, od, d),
    "II took the diagonal of the variances (B, D), one image's for each latent: expected their mean over the batch.":
        lambda m, v, k, od, d: _charged(_between(m) + (v.exp().diag().diag() if k == "II" else 0), od, d),
    "the mean variances were added to every row: they belong on the diagonal alone.":
        lambda m, v, k, od, d: _charged(_between(m) + (v.exp().mean(0) if k == "II" else 0), od, d),
    "the log-variances were averaged before the exponential: average variances.":
        lambda m, v, k, od, d: _charged(_between(m) + (v.mean(0).exp().diag() if k == "II" else 0), od, d),
    "log-variances were added to the diagonal: expected variances.":
        lambda m, v, k, od, d: _charged(_between(m) + (v.mean(0).diag() if k == "II" else 0), od, d),
    "the sum over the batch was not divided by B.":
        lambda m, v, k, od, d: _charged(len(m) * _between(m) + _within(v, k), od, d),
    "the entries of the matrix were averaged: expected sums.":
        lambda m, v, k, od, d: _dip(m, v, k, od, d) / m.shape[1] ** 2,
    "the entries were summed before they were squared: square each.":
        lambda m, v, k, od, d: _summed_first(_between(m) + _within(v, k), od, d),
    "the sign is turned: the penalty is added to a loss, and is not negative.":
        lambda m, v, k, od, d: -_dip(m, v, k, od, d),
    "the mean of the squares was taken of single images: the covariance is one matrix for the batch.":
        lambda m, v, k, od, d: _by_images(m, v, k, od, d),
    "the numbers are right, but they are detached: no gradient reaches the encoder.":
        lambda m, v, k, od, d: penalty(m, v, k, od, d).detach(),
    "got one number for each latent: expected their sum.":
        lambda m, v, k, od, d: _dip(m, v, k, od, d).expand(m.shape[1] + 1),
}  # fmt: skip


def _summed_first(covariance, od, d):
    diagonal = covariance.diagonal()
    return od * (covariance.sum() - diagonal.sum()) ** 2 + d * (diagonal - 1).sum() ** 2


def _by_correlations(m, v, k, od, d):
    whole = _between(m) + _within(v, k)
    scale = whole.diagonal().sqrt()
    return _charged(whole / scale / scale[:, None], od, 0.0) + _charged(whole, 0.0, d)


def _by_images(m, v, k, od, d):
    around = m - m.mean(0)
    each = around[:, :, None] * around[:, None, :] + (v.exp().diag_embed() if k == "II" else 0)
    return torch.stack([_charged(one, od, d) for one in each]).mean()


PENALTY_RIGHT = (
    _dip,
    lambda m, v, k, od, d: _charged(torch.cov(m.T, correction=0).reshape(2 * m.shape[1:]) + _within(v, k), od, d),
    lambda m, v, k, od, d: _by_identity(m, v, k, od, d),
)


def _by_identity(m, v, k, od, d):
    """One matrix of weights times the squared distance from the identity."""
    eye = torch.eye(m.shape[1], dtype=m.dtype)
    around = m - m.mean(0, keepdim=True)
    whole = torch.einsum("ni,nj->ij", around, around) / m.shape[0]
    whole = whole + (eye * v.exp().mean(0) if k == "II" else 0)
    return ((od * (1 - eye) + d * eye) * (whole - eye) ** 2).sum()


# 06.2 -----------------------------------------------------------------------------------------------------------------


def posteriors(generator: torch.Generator) -> list[list[Tensor]]:
    """More images than latents, as many, one latent."""
    cases = []
    for size, dim in ((5, 3), (4, 4), (6, 1), (9, 2)):
        mean = 1 + torch.randn(size, dim, generator=generator)
        cases.append([mean, torch.randn(size, dim, generator=generator)])
    return cases


def covariance_of_samples(mean: Tensor, log_variance: Tensor) -> Tensor:
    whole = np.atleast_2d(np.cov(mean.double().numpy().T, bias=True))
    return torch.from_numpy(whole + np.diag(np.exp(log_variance.double().numpy()).mean(0))).to(mean.dtype)


DIAGONAL_MISTAKES = {
    "the planted fault is still there: diag of (B, D) takes one variance from each of D images; expected the mean over "
    "all images.":
        lambda m, v: _between(m) + torch.diag(torch.diag(v.exp())),
    "the mean variances were added to every row: they belong on the diagonal alone.":
        lambda m, v: _between(m) + v.exp().mean(0),
    "the variances were summed over the images: expected their mean.":
        lambda m, v: _between(m) + v.exp().sum(0).diag(),
    "the log-variances were averaged before the exponential: average variances.":
        lambda m, v: _between(m) + v.mean(0).exp().diag(),
    "log_variance was read as the logarithm of the standard deviation: log_variance.exp() is σ².":
        lambda m, v: _between(m) + (2 * v).exp().mean(0).diag(),
    "standard deviations were put on the diagonal: variances add up.":
        lambda m, v: _between(m) + (v / 2).exp().mean(0).diag(),
    "this is the covariance of the means: the variance within the clouds is missing.": lambda m, v: _between(m),
    "this is what is within the clouds: the covariance of the means is missing.":
        lambda m, v: v.exp().mean(0).diag(),
    "log-variances stand on the diagonal: expected variances.": lambda m, v: _between(m) + v.mean(0).diag(),
    "the variances were averaged over latents and images: each latent has its own.":
        lambda m, v: _between(m) + v.exp().mean() * torch.eye(m.shape[1])
        if m.shape[1] > 1 else _between(m) + v.exp().sum(),
    "the means were not centred: a covariance is around the mean.":
        lambda m, v: _between(m, centred=False) + v.exp().mean(0).diag(),
    "only the diagonal is there: latents covary between the clouds.":
        lambda m, v: (_between(m).diagonal() + v.exp().mean(0)).diag(),
    "the covariance between the clouds was divided by B − 1: by B.":
        lambda m, v: _between(m, 1) + v.exp().mean(0).diag(),
}  # fmt: skip

DIAGONAL_RIGHT = (
    lambda m, v: _between(m) + v.exp().mean(0).diag(),
    lambda m, v: _between(m) + v.exp().diag_embed().mean(0),
    lambda m, v: torch.cov(m.T, correction=0).reshape(2 * m.shape[1:]) + torch.eye(m.shape[1]) * v.exp().mean(0),
    lambda m, v: (m.T @ m / len(m) - torch.outer(m.mean(0), m.mean(0))) + torch.diag(v.exp().mean(0)),
)

# 06.3 -----------------------------------------------------------------------------------------------------------------

SIGNAL = (0, 1, 3, 9)
BILL = {
    "I": 25 * sum((1 + each) ** -2 for each in SIGNAL),
    "II": 0.0,
    "idle": 25.0,
    "information": 0.5 * math.log(math.prod(1 + each for each in SIGNAL)),
    "gamma": 10.0,
}
BILL_MISTAKES = {
    "I: λ_d is ten times λ_od for I, so 25; here it is 2.5.": 2.5 * 1.3225,
    "I: the squares are missing: I pays (Var μ − 1)² = σ⁴ for each latent, not σ².": 25 * 1.85,
    "I: this is the charge for variances of 0 in place of 1: it is (Var μ − 1)², and Var μ = 1 − σ².":
        25 * sum((1 - 1 / (1 + each)) ** 2 for each in SIGNAL),
    "I: the idle latent is missing, which pays the most.": 25 * 0.3225,
    "I: latents were averaged: the penalty is a sum.": 25 * 1.3225 / 4,
    "I: a perfect VAE has means of variance 1 − σ², not 1: that is what I charges for.": 0.0,
    "I: the weight is missing: times 25.": 1.3225,
    "II: the samples of a perfect VAE have the covariance I, and nothing is left to pay. This is what the means would "
    "pay at λ_d = 2.5.":
        2.5 * 1.3225,
    "II: with the variance of the means in place of the samples', and λ_d = 25: II looks at the samples.": 25 * 1.3225,
    "idle: λ_d is ten times λ_od for I.": 2.5,
    "idle: a latent whose means do not vary is as far from variance 1 as can be: it pays λ_d.": 0.0,
    "idle: the weight is missing.": 1.0,
    "information: the ½ is missing.": math.log(80),
    "information: the sign is turned: a posterior narrower than the prior costs nats.": -0.5 * math.log(80),
    "information: in bits: expected nats.": 0.5 * math.log2(80),
    "information: the logarithm is that of base 10: nats have the natural one.": 0.5 * math.log10(80),
    "information: the terms before the logarithm cancel, since Var μ + σ² = 1; here Var μ is missing.":
        0.5 * (math.log(80) + 1.85 - 4),
    "information: this is the mean over the latents: expected their sum.": 0.5 * math.log(80) / 4,
    "gamma: a quarter of the squares is the divergence, so γ is four times λ, not a quarter of it.": 0.625,
    "gamma: a quarter and not a half: γ = 4 λ.": 5.0,
    "gamma: the rate is not 1: γ = 4 λ.": 2.5,
    "gamma: with λ_d of I: II has 2.5 for both.": 100.0,
    "gamma: 1 + γ is what the total correlation costs in all; γ itself is 4 λ.": 11.0,
    "gamma: ten is the paper's ratio of λ_d to λ_od in I; the rate is 4 λ.": 25.0,
}  # fmt: skip

# 06.4 -----------------------------------------------------------------------------------------------------------------


def mixtures(generator: torch.Generator) -> list[list[Tensor]]:
    """Unequal weights, one of them 0; full factors; one image; one latent; as many images as latents."""
    cases = []
    for size, dim in ((4, 3), (3, 3), (1, 2), (5, 1), (6, 2)):
        mean = 2 + torch.randn(size, dim, generator=generator, dtype=torch.float64)
        factor = torch.randn(size, dim, dim, generator=generator, dtype=torch.float64).tril()
        weights = torch.rand(size, generator=generator, dtype=torch.float64) + 0.1
        weights[-1] *= size == 1 or dim != 2
        cases.append([mean, factor, weights / weights.sum()])
    return cases


def covariance_of_mixture(mean: Tensor, factor: Tensor, weights: Tensor) -> Tensor:
    second = sum(
        weight * (MultivariateNormal(m, torch.eye(len(m), dtype=m.dtype)).mean.outer(m) + lower @ lower.mT)
        for m, lower, weight in zip(mean, factor, weights, strict=True)
    )
    centre = (weights[:, None] * mean).sum(0)
    return second - centre.outer(centre)


def _mixed(m, f, w, *, around=None, within=None, between=True):
    centred = m - (w @ m if around is None else around)
    inner = torch.einsum("n,nij,nkj->ik", w, f, f) if within is None else within
    return inner + (centred.T @ (w[:, None] * centred) if between else 0)


MIXTURE_MISTAKES = {
    "the means were centred around their plain mean: images have weights, and so has the centre.":
        lambda m, f, w: _mixed(m, f, w, around=m.mean(0)),
    "the means were not centred.": lambda m, f, w: _mixed(m, f, w, around=torch.zeros(m.shape[1], dtype=m.dtype)),
    "all images count alike: use the weights.":
        lambda m, f, w: _mixed(m, f, torch.full_like(w, 1 / len(w))),
    "the covariance within a cloud is L Lᵀ; here it is Lᵀ L.":
        lambda m, f, w: _mixed(m, f, w, within=torch.einsum("n,nji,njk->ik", w, f, f)),
    "L itself was averaged: the covariance within a cloud is L Lᵀ.":
        lambda m, f, w: _mixed(m, f, w, within=torch.einsum("n,nij->ij", w, f)),
    "L was averaged before it was multiplied: average L Lᵀ.":
        lambda m, f, w: _mixed(m, f, w, within=torch.einsum("n,nij->ij", w, f) @ torch.einsum("n,nij->ij", w, f).mT),
    "only the diagonal of what is within the clouds was kept: these clouds are oblique.":
        lambda m, f, w: _mixed(m, f, w, within=torch.einsum("n,nij,nkj->ik", w, f, f).diagonal().diag()),
    "what is within the clouds is missing.":
        lambda m, f, w: _mixed(m, f, w, within=torch.zeros(2 * m.shape[1:], dtype=m.dtype)),
    "what is between the clouds is missing.": lambda m, f, w: _mixed(m, f, w, between=False),
    "the weights were squared within the clouds.":
        lambda m, f, w: _mixed(m, f, w, within=torch.einsum("n,nij,nkj->ik", w.square(), f, f)),
    "the sum was divided by the number of images: the weights sum to 1 already.":
        lambda m, f, w: _mixed(m, f, w) / len(w),
    "the entries of L were squared one by one: the product is that of matrices.":
        lambda m, f, w: _mixed(m, f, w, within=torch.einsum("n,nij->ij", w, f.square())),
    "got torch.float32; expected float64.": lambda m, f, w: _mixed(m, f, w).float(),
}  # fmt: skip

MIXTURE_RIGHT = (
    _mixed,
    lambda m, f, w: (
        torch.cov(m.T, correction=0, aweights=w).reshape(2 * m.shape[1:]) + (w[:, None, None] * (f @ f.mT)).sum(0)
    ),
    lambda m, f, w: torch.from_numpy(
        np.einsum("n,nij->ij", w.numpy(), f.numpy() @ np.swapaxes(f.numpy(), 1, 2))
        + (m.numpy() - w.numpy() @ m.numpy()).T @ np.diag(w.numpy()) @ (m.numpy() - w.numpy() @ m.numpy())
    ),
)

# 06.5 -----------------------------------------------------------------------------------------------------------------


def clouds(generator: torch.Generator) -> list[list[Tensor]]:
    """Samples of mixtures: wide, narrow in many latents, one image, more samples than images and fewer, negative."""
    cases = []
    for samples, images, dim, width in (
        (7, 5, 3, -1.0),
        (4, 6, 160, -3.0),
        (5, 1, 2, 0.5),
        (6, 6, 6, -2.0),
        (3, 8, 1, 0.0),
    ):
        mean = 0.3 + torch.randn(images, dim, generator=generator)
        log_variance = width + 0.5 * torch.randn(images, dim, generator=generator)
        own = torch.randint(images, (samples,), generator=generator)
        noise = torch.randn(samples, dim, generator=generator)
        latents = mean[own] + (log_variance[own] / 2).exp() * noise
        cases.append([part.requires_grad_() for part in (latents, mean, log_variance)])
    mean = torch.tensor([[1.0], [-1.0]])
    return [*cases, [part.requires_grad_() for part in (mean.clone(), mean.clone(), torch.zeros(2, 1))]]


def aggregate_kl(latents: Tensor, mean: Tensor, log_variance: Tensor) -> Tensor:
    each = Independent(Normal(mean.double(), (log_variance.double() / 2).exp()), 1)
    mixture = MixtureSameFamily(torch.distributions.Categorical(torch.ones(len(mean), dtype=torch.float64)), each)
    prior = Normal(0.0, 1.0).log_prob(latents.double()).sum(1)
    return (mixture.log_prob(latents.double()) - prior).mean().to(latents.dtype)


def _aggregate(z, m, v, *, axis=1, size=None, height=1.0, half=0.5, prior=1.0, reduce=torch.mean, constant=0.0):
    each = -half * ((z[:, None] - m).square() / v.exp() + height * v).sum(2)
    mixture = each.logsumexp(axis) - math.log(len(m) if size is None else size)
    square = 0.5 * z.square().sum(1) if len(mixture) == len(z) else 0.5 * z.square().sum(1).mean()
    return reduce(mixture + prior * (square + constant))


def _kl(m, v):
    return 0.5 * (m.square() + v.exp() - 1 - v).sum(1).mean()


DIVERGENCE_MISTAKES = {
    "the ln N is missing: q(z) is a mean of densities, and logsumexp adds up.":
        lambda z, m, v: _aggregate(z, m, v, size=1),
    "ln S was subtracted in place of ln N: the mixture has N parts.":
        lambda z, m, v: _aggregate(z, m, v, size=len(z)) if len(z) != len(m) else _aggregate(z, m, v, size=1),
    "this is the mean KL of the single posteriors, which an AAE does not pay: it is larger by the information.":
        lambda z, m, v: _kl(m, v) + 0 * z.sum(),
    "the latents were mixed each by itself and summed: that is the dimension-wise KL, without the total correlation.":
        lambda z, m, v: _latentwise(z, m, v),
    "the sign is turned: ln q(z) − ln p(z).": lambda z, m, v: -_aggregate(z, m, v),
    "the prior is missing: this is ln q(z) alone, less a constant.": lambda z, m, v: _aggregate(z, m, v, prior=0.0),
    "ln p(z) was added: it is subtracted.": lambda z, m, v: _aggregate(z, m, v, prior=-1.0),
    "log_variance was read as the logarithm of the standard deviation: log_variance.exp() is σ².":
        lambda z, m, v: _aggregate(z, m, 2 * v),
    "the densities have no ½ log σ²: posteriors of different widths cannot be mixed without it.":
        lambda z, m, v: _aggregate(z, m, v, height=0.0),
    "the ½ is missing in the logarithms of the posteriors' densities.":
        lambda z, m, v: _aggregate(z, m, v, half=1.0),
    "ln 2π stands in one of the two densities only: it belongs in both, and cancels.":
        lambda z, m, v: _aggregate(z, m, v, constant=0.5 * z.shape[1] * math.log(2 * math.pi)),
    "the samples were summed: expected the mean.": lambda z, m, v: _aggregate(z, m, v, reduce=torch.sum),
    "one number for each sample: expected their mean.": lambda z, m, v: _aggregate(z, m, v, reduce=lambda each: each),
    "in bits: expected nats.": lambda z, m, v: _aggregate(z, m, v) / math.log(2),
    "negative estimates were cut off at 0: a divergence is never negative, and this estimate of one can be.":
        lambda z, m, v: _aggregate(z, m, v).clamp(min=0),
    "the numbers are right, but they are detached: no gradient reaches the encoder.":
        lambda z, m, v: aggregate_kl(z, m, v).detach(),
    "the logarithm was taken of sums of densities, which are 0 in single precision for narrow posteriors: stay in "
    "logarithms, with logsumexp.":
        lambda z, m, v: _by_densities(z, m, v),
    "the mean of log-densities was taken: expected the logarithm of a mean of densities.":
        lambda z, m, v: (
            -0.5 * ((z[:, None] - m).square() / v.exp() + v).sum(2).mean() + 0.5 * z.square().sum(1).mean()
        ),
    "the result is divided by the number of latents: the divergence is of whole codes.":
        lambda z, m, v: _aggregate(z, m, v) / z.shape[1],
}  # fmt: skip


def _latentwise(z, m, v):
    each = -0.5 * ((z[:, None] - m).square() / v.exp() + v)
    return (each.logsumexp(1) - math.log(len(m)) + 0.5 * z.square()).sum(1).mean()


def _by_densities(z, m, v):
    each = (-0.5 * ((z[:, None] - m).square() / v.exp() + v + math.log(2 * math.pi))).exp().prod(2)
    prior = (-0.5 * (z.square() + math.log(2 * math.pi))).exp().prod(1)
    return (each.mean(1) / prior).log().mean()


DIVERGENCE_RIGHT = (
    _aggregate,
    lambda z, m, v: _aggregate(z.double(), m.double(), v.double()).float(),
    lambda z, m, v: torch.stack([_one(sample, m, v) for sample in z]).mean(),
)


def _one(sample, m, v):
    each = Normal(m, (v / 2).exp()).log_prob(sample).sum(1)
    return (each - math.log(len(m))).logsumexp(0) - Normal(0.0, 1.0).log_prob(sample).sum()


# 06.6 -----------------------------------------------------------------------------------------------------------------

OBJECTIONS = {
    "turned": "none", "moved": "adversary", "silent": "DIP-I", "repeated": "all",
    "sign": "none", "squared": "adversary", "dealt": "none", "stretched": "all",
}  # fmt: skip
ALLOWED = ("none", "DIP-I", "adversary", "all")
TURN = "a turned standard normal cloud is the same cloud."
DEALT = "the cloud is the same cloud. No penalty on codes knows whose a code is."
SIGN = "given the first latent, the second is still standard normal, whatever sign it gets: the cloud is the same."
OBJECTION_MISTAKES = {
    f"turned: {TURN}": either("DIP-I", "adversary", "all"),
    "moved: a mean does not occur in a covariance, so neither DIP-VAE sees it.": either("all", "DIP-I"),
    "moved: the prior has mean 0, and the adversary compares whole laws.": "none",
    "silent: the cloud is the prior itself, so that II and the adversary are content.": either("all", "adversary"),
    "silent: the means do not vary, and I wants them to have variance 1.": "none",
    "repeated: a covariance of 1 is charged by both variants, and the adversary sees a line in place of a cloud.":
        either("none", "DIP-I", "adversary"),
    f"sign: {SIGN}": either("DIP-I", "adversary", "all"),
    "squared: it is uncorrelated with the first latent and has variance 1: DIP-VAE is content.": either("all", "DIP-I"),
    "squared: the latents determine each other, and the second is no bell curve: the adversary objects.": "none",
    f"dealt: {DEALT}": either("DIP-I", "adversary", "all"),
    "stretched: both variants charge variances of 9, and no prior has them.": either("none", "DIP-I", "adversary"),
}  # fmt: skip

# ----------------------------------------------------------------------------------------------------------------------

EXERCISES = {
    "06.1": Function(reference=penalty, cases=weighted_batches, mistakes=PENALTY_MISTAKES, also_right=PENALTY_RIGHT),
    "06.2": Function(
        reference=covariance_of_samples, cases=posteriors, mistakes=DIAGONAL_MISTAKES, also_right=DIAGONAL_RIGHT
    ),
    "06.3": numbers(BILL, BILL_MISTAKES, tolerance=0.02, praise="right: I charges a perfect VAE, and II does not."),
    "06.4": Function(
        reference=covariance_of_mixture, cases=mixtures, mistakes=MIXTURE_MISTAKES, also_right=MIXTURE_RIGHT
    ),
    "06.5": Function(reference=aggregate_kl, cases=clouds, mistakes=DIVERGENCE_MISTAKES, also_right=DIVERGENCE_RIGHT),
    "06.6": words(OBJECTIONS, ALLOWED, OBJECTION_MISTAKES, praise="right: none of them knows whose a code is."),
}
