"""What chapter 2's functions are called with, what is right, and the mistakes that people make in them.

A reference is computed with torch.distributions, not with the library's own terms.
"""

import math

import torch
from torch import Tensor
from torch.distributions import Normal, kl_divergence

from course_grading.exercise import Wrong

LOG_TWO_PI = math.log(2 * math.pi)


def posteriors(generator: torch.Generator) -> list[list[Tensor]]:
    """Means and log-variances: typical ones, one image, one latent, as many images as latents, extremes, float64."""
    shapes = ((5, 3), (1, 4), (6, 1), (4, 4), (2, 3))
    cases = [[torch.randn(shape, generator=generator), torch.randn(shape, generator=generator)] for shape in shapes]
    cases[-1][1] = torch.tensor([[-12.0, 0.0, 3.0], [-8.0, 2.0, 0.0]])
    cases.append([part.double() for part in cases[0]])
    return [[part.requires_grad_() for part in case] for case in cases]


def with_noise(generator: torch.Generator) -> list[list[Tensor]]:
    return [
        [mean, log_variance, torch.randn(mean.shape, generator=generator, dtype=mean.dtype)]
        for mean, log_variance in posteriors(generator)
    ]


# 02.1 -----------------------------------------------------------------------------------------------------------------


def kl_to_prior(mean: Tensor, log_variance: Tensor) -> Tensor:
    return kl_divergence(Normal(mean, (0.5 * log_variance).exp()), Normal(0.0, 1.0)).sum(1).to(mean.dtype)


def _elements(mean, log_variance):
    return 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance)


KL_WRONG = (
    Wrong(
        lambda m, v: (0.5 * (m**2 + (2 * v).exp() - 1 - 2 * v)).sum(1),
        "the log-variance was read as the logarithm of the standard deviation: log_variance.exp() is σ² already.",
    ),
    Wrong(
        lambda m, v: (0.5 * (m**2 + v - 1 - v.log())).sum(1),
        "got the KL with the variance where the log-variance was expected: σ² is log_variance.exp(), and log σ² is "
        "log_variance itself.",
    ),
    Wrong(
        lambda m, v: (0.5 * (m**2 + (0.5 * v).exp() - 1 - v)).sum(1),
        "the standard deviation stands where the variance belongs: σ² is log_variance.exp(), without a ½ inside.",
    ),
    Wrong(lambda m, v: 2 * _elements(m, v).sum(1), "the ½ in front is missing: every number is twice too large."),
    Wrong(
        lambda m, v: -_elements(m, v).sum(1),
        "the sign is turned round: a KL is never negative. The ELBO subtracts it; the function returns the KL itself.",
    ),
    Wrong(
        lambda m, v: (0.5 * (m**2 + v.exp() - v)).sum(1),
        "the −1 is missing: at μ = 0 and σ = 1 the KL must be 0.",
    ),
    Wrong(
        lambda m, v: (0.5 * (m**2 + v.exp() - 1 + v)).sum(1),
        "log σ² has the wrong sign: a narrow posterior must be dear, not cheap.",
    ),
    Wrong(
        lambda m, v: (0.5 * (v.exp() - 1 - v)).sum(1),
        "the means cost nothing: the term ½μ² is missing.",
    ),
    Wrong(
        lambda m, v: (0.5 * (m + v.exp() - 1 - v)).sum(1),
        "the mean has to be squared: μ², not μ.",
    ),
    Wrong(
        lambda m, v: (0.5 * ((1 + m**2) / v.exp() - 1 + v)).sum(1),
        "this is KL(prior ‖ posterior), the other way round: average over q, not over the prior.",
    ),
    Wrong(_elements, "got one number for each latent: the latents of an image add up, so sum over the second axis."),
    Wrong(lambda m, v: _elements(m, v).mean(1), "the latents were averaged; in the ELBO they add up: sum, not mean."),
    Wrong(lambda m, v: _elements(m, v).sum(0), "summed over the batch instead of the latents: the latents are axis 1."),
    Wrong(lambda m, v: _elements(m, v).sum(), "summed over everything: one number for each image is wanted, (B,)."),
    Wrong(lambda m, v: _elements(m, v).sum(1).mean(), "averaged over the batch: one number for each image is wanted."),
    Wrong(
        lambda m, v: _elements(m, v).sum(1).detach(),
        "the numbers are right, but they are detached: no gradient reaches the encoder.",
    ),
)

# 02.2 -----------------------------------------------------------------------------------------------------------------


def reparameterise(mean: Tensor, log_variance: Tensor, noise: Tensor) -> Tensor:
    return mean + torch.sqrt(torch.exp(log_variance)) * noise


SAMPLE_WRONG = (
    Wrong(
        lambda m, v, e: m + v.exp() * e,
        "the noise was multiplied by the variance: the standard deviation is its root, (0.5 * log_variance).exp().",
    ),
    Wrong(
        lambda m, v, e: m + v * e,
        "the noise was multiplied by the log-variance, which can be negative: turn it into σ first.",
    ),
    Wrong(
        lambda m, v, e: m + v.exp() ** 0.25 * e,
        "the root was taken twice: 0.5 * log_variance is log σ already, so its exp is σ.",
    ),
    Wrong(lambda m, v, e: m + e, "σ is missing: every sample has a spread of 1, whatever the encoder says."),
    Wrong(lambda m, v, e: m + 0 * v, "the noise is missing: this is the mean, not a sample."),
    Wrong(
        lambda m, v, e: (m + e) * (0.5 * v).exp(),
        "the mean was multiplied by σ too: only the noise is scaled.",
    ),
    Wrong(
        lambda m, v, e: m - (0.5 * v).exp() * e, "the noise was subtracted; the law is the same, the task says plus."
    ),
    Wrong(
        lambda m, v, e: m + (0.5 * v).exp() * e[:1],
        "all images share the noise of the first: each has its own row of it.",
    ),
    Wrong(
        lambda m, v, e: (m + (0.5 * v).exp() * e).detach(),
        "the sample is right, but no gradient passes: it was detached, or drawn under no_grad. That is what the trick "
        "is for.",
    ),
    Wrong(
        lambda m, v, e: m + (0.5 * v).exp().detach() * e,
        "the sample is right, but σ was detached: the encoder would never learn how sure to be.",
    ),
    Wrong(
        lambda m, v, e: m.detach() + (0.5 * v).exp() * e,
        "the sample is right, but the mean was detached: the encoder would never learn where to point.",
    ),
)

# 02.4 -----------------------------------------------------------------------------------------------------------------


def sampled_kl(mean: Tensor, log_variance: Tensor, noise: Tensor) -> Tensor:
    posterior = Normal(mean, torch.exp(log_variance).sqrt())
    latents = posterior.loc + posterior.scale * noise
    return (posterior.log_prob(latents) - Normal(0.0, 1.0).log_prob(latents)).sum(1).to(mean.dtype)


def _sampled(m, v, e, *, std=None, log_std=None, square=None, constant=0.0, prior=None):
    """The estimate with one part replaced: σ of the sample, log σ and the square in log q, a constant, log p."""
    z = m + ((0.5 * v).exp() if std is None else std) * e
    log_q = -0.5 * ((z - m) ** 2 / v.exp() if square is None else square(z)) - (0.5 * v if log_std is None else log_std)
    return (log_q - (-0.5 * z**2 if prior is None else prior(z)) + constant).sum(1)


SAMPLED_WRONG = (
    Wrong(
        lambda m, v, e: _sampled(m, v, e, log_std=v),
        "the planted fault is still there: one line takes log_variance for log σ. Which term of log N(z; μ, σ²) is it?",
    ),
    Wrong(
        lambda m, v, e: _sampled(m, v, e, std=v.exp(), log_std=v, square=lambda z: (z - m) ** 2 / (2 * v).exp()),
        "now log_variance is read as log σ everywhere. That is consistent, and another model: the encoder's second "
        "output is log σ². Only one line was wrong.",
    ),
    Wrong(
        lambda m, v, e: _sampled(m, v, e, std=v.exp()),
        "the sample was changed too: std = (0.5 * log_variance).exp() was right.",
    ),
    Wrong(
        lambda m, v, e: _sampled(m, v, e, std=v.exp(), log_std=v),
        "the sample was changed, which was right, and the line at fault was not.",
    ),
    Wrong(
        lambda m, v, e: _sampled(m, v, e, log_std=0 * v),
        "the term log σ was dropped: then a narrow density is not higher at its peak than a wide one.",
    ),
    Wrong(
        lambda m, v, e: _sampled(m, v, e, log_std=-0.5 * v),
        "log σ has the wrong sign: a narrow density is higher at its peak.",
    ),
    Wrong(
        lambda m, v, e: _sampled(m, v, e, log_std=0.25 * v),
        "log σ is ½ log σ²; here it was halved twice.",
    ),
    Wrong(
        lambda m, v, e: _sampled(m, v, e, log_std=(0.5 * v).exp()),
        "σ stands where log σ belongs.",
    ),
    Wrong(
        lambda m, v, e: -_sampled(m, v, e),
        "the difference is turned round: the KL averages log q − log p over samples of q.",
    ),
    Wrong(lambda m, v, e: _sampled(m, v, e).mean(), "averaged over the batch: one number for each image is wanted."),
    Wrong(
        lambda m, v, e: _elements(m, v).sum(1),
        "this is the closed form. Here the estimate from the given noise is wanted: mend the line that is wrong.",
    ),
)

# 02.7 -----------------------------------------------------------------------------------------------------------------


def decoded(generator: torch.Generator) -> list[list]:
    shapes = ((3, 2, 4, 4), (1, 1, 2, 3), (4, 4, 4, 4), (2, 3, 5, 5))
    cases = []
    for shape, std in zip(shapes, (0.5, 2.0, 1.0, 0.1), strict=True):
        images, decoded = (torch.randn(shape, generator=generator) for _ in range(2))
        cases.append([images, decoded.requires_grad_(), std])
    return cases


def log_likelihood(images: Tensor, decoded: Tensor, std: float) -> Tensor:
    return Normal(decoded, std).log_prob(images).flatten(1).sum(1)


def _gaussian(images, decoded, *, scale, constant):
    return (-scale * (images - decoded) ** 2 - constant).flatten(1).sum(1)


LIKELIHOOD_WRONG = (
    Wrong(
        lambda x, y, s: _gaussian(x, y, scale=1 / (2 * s * s), constant=0),
        "the constant is missing: without ½ log(2πs²) for each pixel it is no density, and its s cannot be learnt.",
    ),
    Wrong(
        lambda x, y, s: -_gaussian(x, y, scale=1 / (2 * s * s), constant=0.5 * LOG_TWO_PI + math.log(s)),
        "the sign is turned round: this is minus the log-likelihood, the loss.",
    ),
    Wrong(
        lambda x, y, s: _gaussian(x, y, scale=1 / (s * s), constant=0.5 * LOG_TWO_PI + math.log(s)),
        "the ½ in front of the squared error is missing.",
    ),
    Wrong(
        lambda x, y, s: _gaussian(x, y, scale=1 / (2 * s), constant=0.5 * LOG_TWO_PI + math.log(s)),
        "the squared error was divided by s: it is divided by the variance, s².",
    ),
    Wrong(
        lambda x, y, s: _gaussian(x, y, scale=1 / (2 * s * s), constant=LOG_TWO_PI + 2 * math.log(s)),
        "the ½ in front of log(2πσ²) is missing.",
    ),
    Wrong(
        lambda x, y, s: _gaussian(x, y, scale=1 / (2 * s * s), constant=0.5 * LOG_TWO_PI),
        "log σ is missing: only the 2π of the constant is there.",
    ),
    Wrong(
        lambda x, y, s: _gaussian(x, y, scale=1 / (2 * s * s), constant=0) - 0.5 * LOG_TWO_PI - math.log(s),
        "the constant was counted once for each image: every pixel has its own density, so it counts C·H·W times.",
    ),
    Wrong(
        lambda x, y, s: log_likelihood(x, y, s) / x[0].numel(),
        "averaged over the pixels: the log-densities of independent pixels add up.",
    ),
    Wrong(
        lambda x, y, s: log_likelihood(x, y, s).mean(),
        "averaged over the batch: one number for each image is wanted.",
    ),
    Wrong(
        lambda x, y, s: -((x - y) ** 2).flatten(1).mean(1),
        "this is minus the mean squared error: the likelihood also has σ, a ½, a constant, and a sum.",
    ),
)
