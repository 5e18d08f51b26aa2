"""Chapter 2, the variational auto-encoder: its terms, sampled and in closed form, and what β and a reduction do.

References are computed with torch.distributions in float64, not with the library's own terms.
"""

import math

import torch
from torch import Tensor
from torch.distributions import Independent, Laplace, Normal, kl_divergence

from course_grading.answers import keyed, number, real, word, words
from course_grading.exercise import Function, Plain, either
from course_lib.data import XYSquares
from course_lib.frameworks import BetaVAE, Step
from course_lib.losses import kl_to_standard_normal
from course_lib.models import mlp_vae

# 02.1 -----------------------------------------------------------------------------------------------------------------


def posteriors(generator: torch.Generator) -> list[list[Tensor]]:
    """Means and log-variances: typical ones, one image, one latent, as many images as latents, extremes, float64."""
    shapes = ((5, 3), (1, 4), (6, 1), (4, 4), (2, 3))
    cases = [[torch.randn(shape, generator=generator), torch.randn(shape, generator=generator)] for shape in shapes]
    cases[-1][1] = torch.tensor([[-8.5, 0.0, 3.0], [-8.0, 2.0, 0.0]])
    cases.append([part.double() for part in cases[0]])
    return [[part.requires_grad_() for part in case] for case in cases]


def kl_to_prior(mean: Tensor, log_variance: Tensor) -> Tensor:
    return kl_divergence(_posterior(mean, log_variance), Normal(0.0, 1.0)).sum(1).to(mean.dtype)


def _posterior(mean: Tensor, log_variance: Tensor) -> Normal:
    return Normal(mean.double(), log_variance.double().exp().sqrt())


def _elements(mean, log_variance):
    return 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance)


KL_MISTAKES = {
    "the log-variance was read as the logarithm of the standard deviation: log_variance.exp() is σ² already.":
        lambda m, v: (0.5 * (m**2 + (2 * v).exp() - 1 - 2 * v)).sum(1),
    "got the KL with the variance where the log-variance was expected: σ² is log_variance.exp(), and log σ² is "
    "log_variance itself.":
        lambda m, v: (0.5 * (m**2 + v - 1 - v.log())).sum(1),
    "the standard deviation stands where the variance belongs: σ² is log_variance.exp(), without a ½ inside.":
        lambda m, v: (0.5 * (m**2 + (0.5 * v).exp() - 1 - v)).sum(1),
    "the ½ in front is missing: every number is twice too large.": lambda m, v: 2 * _elements(m, v).sum(1),
    "the sign is turned round: a KL is never negative. The ELBO subtracts it; the function returns the KL itself.":
        lambda m, v: -_elements(m, v).sum(1),
    "the −1 is missing: at μ = 0 and σ = 1 the KL must be 0.": lambda m, v: (0.5 * (m**2 + v.exp() - v)).sum(1),
    "log σ² has the wrong sign: a narrow posterior must be dear, not cheap.":
        lambda m, v: (0.5 * (m**2 + v.exp() - 1 + v)).sum(1),
    "the means cost nothing: the term ½μ² is missing.": lambda m, v: (0.5 * (v.exp() - 1 - v)).sum(1),
    "the mean has to be squared: μ², not μ.": lambda m, v: (0.5 * (m + v.exp() - 1 - v)).sum(1),
    "|μ| stands where μ² belongs: a mean twice as far out costs four times as much.":
        lambda m, v: (0.5 * (m.abs() + v.exp() - 1 - v)).sum(1),
    "this is KL(prior ‖ posterior), the other way round: average over q, not over the prior.":
        lambda m, v: (0.5 * ((1 + m**2) / v.exp() - 1 + v)).sum(1),
    "got one number for each latent: the latents of an image add up, so sum over the second axis.": _elements,
    "the latents were averaged; in the ELBO they add up: sum, not mean.": lambda m, v: _elements(m, v).mean(1),
    "summed over the batch instead of the latents: the latents are axis 1.": lambda m, v: _elements(m, v).sum(0),
    "summed over everything: expected one number for each image, (B,).": lambda m, v: _elements(m, v).sum(),
    "averaged over the batch: expected one number for each image.": lambda m, v: _elements(m, v).sum(1).mean(),
    "the numbers are right, but they are detached: no gradient reaches the encoder.":
        lambda m, v: _elements(m, v).sum(1).detach(),
}  # fmt: skip

KL_RIGHT = (
    lambda m, v: -0.5 * torch.sum(1 + v - m.square() - torch.exp(v), dim=-1),
    lambda m, v: (torch.einsum("bd,bd->b", m, m) + (v.expm1() - v).sum(1)) / 2,
    lambda m, v: kl_divergence(Independent(Normal(m, (v / 2).exp()), 1), Independent(Normal(0 * m, 1 + 0 * v), 1)),
    lambda m, v: torch.stack([sum(latent) for latent in _elements(m, v)]),
)

# 02.2 -----------------------------------------------------------------------------------------------------------------


def with_noise(generator: torch.Generator) -> list[list[Tensor]]:
    return [
        [mean, log_variance, torch.randn(mean.shape, generator=generator, dtype=mean.dtype)]
        for mean, log_variance in posteriors(generator)
    ]


def reparameterise(mean: Tensor, log_variance: Tensor, noise: Tensor) -> Tensor:
    posterior = _posterior(mean, log_variance)
    return (posterior.loc + posterior.scale * noise).to(mean.dtype)


SAMPLE_MISTAKES = {
    "the noise was multiplied by the variance: the standard deviation is its root, (0.5 * log_variance).exp().":
        lambda m, v, e: m + v.exp() * e,
    "the noise was multiplied by the log-variance, which can be negative: turn it into σ first.":
        lambda m, v, e: m + v * e,
    "the root was taken twice: 0.5 * log_variance is log σ already, so its exp is σ.":
        lambda m, v, e: m + v.exp()**0.25 * e,
    "σ is missing: every sample has a spread of 1, whatever the encoder says.": lambda m, v, e: m + e,
    "the noise is missing: this is the mean, not a sample.": lambda m, v, e: m + 0 * v,
    "the mean was multiplied by σ too: only the noise is scaled.": lambda m, v, e: (m + e) * (0.5 * v).exp(),
    "the noise was subtracted; the law is the same, the task says plus.": lambda m, v, e: m - (0.5 * v).exp() * e,
    "all images share the noise of the first: each has its own row of it.": lambda m, v, e: m + (0.5 * v).exp() * e[:1],
    "the sample is right, but no gradient passes: it was detached, or drawn under no_grad. That is what the trick is "
    "for.":
        lambda m, v, e: (m + (0.5 * v).exp() * e).detach(),
    "the sample is right, but σ was detached: the encoder would never learn how sure to be.":
        lambda m, v, e: m + (0.5 * v).exp().detach() * e,
    "the sample is right, but the mean was detached: the encoder would never learn where to point.":
        lambda m, v, e: m.detach() + (0.5 * v).exp() * e,
}  # fmt: skip

SAMPLE_RIGHT = (
    lambda m, v, e: torch.addcmul(m, (v / 2).exp(), e),
    lambda m, v, e: torch.sqrt(torch.exp(v)) * e + m,
    lambda m, v, e: m + math.e ** (0.5 * v) * e,
    lambda m, v, e: torch.stack([mean + row.exp().pow(0.5) * noise for mean, row, noise in zip(m, v, e, strict=True)]),
)

# 02.3 -----------------------------------------------------------------------------------------------------------------

BETA_MISTAKES = {
    "β = 1 means another thing under each reduction: the two terms are divided by different numbers.": 1.0,
    "upside down: with means, a nat of code became dearer compared with the pixels, not cheaper.": 1 / 64,
    "the KL was averaged too: over the 8 latents.": 512.0,
    "only the latents were counted: the reconstruction is divided by its number of elements.": 8.0,
    "the channels were forgotten: an image has 2·16·16 elements.": 32.0,
    "neither the channels nor the latents were counted.": 256.0,
    "multiplied by the latents: the mean divides the KL by 8, which makes it cheaper again.": 4096.0,
}

# 02.4 -----------------------------------------------------------------------------------------------------------------


def sampled_kl(mean: Tensor, log_variance: Tensor, noise: Tensor) -> Tensor:
    posterior = _posterior(mean, log_variance)
    latents = posterior.loc + posterior.scale * noise
    return (posterior.log_prob(latents) - Normal(0.0, 1.0).log_prob(latents)).sum(1).to(mean.dtype)


def _sampled(m, v, e, *, std=None, log_std=None, square=None):
    """The estimate with one part replaced: σ of the sample, log σ, the square in log q."""
    z = m + ((0.5 * v).exp() if std is None else std) * e
    log_q = -0.5 * ((z - m) ** 2 / v.exp() if square is None else square(z)) - (0.5 * v if log_std is None else log_std)
    return (log_q + 0.5 * z**2).sum(1)


SAMPLED_MISTAKES = {
    "the planted fault is still there: one line takes log_variance for log σ. Which term of log N(z; μ, σ²) is it?":
        lambda m, v, e: _sampled(m, v, e, log_std=v),
    "now log_variance is read as log σ everywhere. That is consistent, and another model: the encoder's second output"
    " is log σ². Only one line was wrong.":
        lambda m, v, e: _sampled(m, v, e, std=v.exp(), log_std=v, square=lambda z: (z - m)**2 / (2 * v).exp()),
    "the sample was changed too: std = (0.5 * log_variance).exp() was right.":
        lambda m, v, e: _sampled(m, v, e, std=v.exp()),
    "the sample was changed, which was right, and the line at fault was not.":
        lambda m, v, e: _sampled(m, v, e, std=v.exp(), log_std=v),
    "the term log σ was dropped: then a narrow density is not higher at its peak than a wide one.":
        lambda m, v, e: _sampled(m, v, e, log_std=0 * v),
    "log σ has the wrong sign: a narrow density is higher at its peak.":
        lambda m, v, e: _sampled(m, v, e, log_std=-0.5 * v),
    "log σ is ½ log σ²; here it was halved twice.": lambda m, v, e: _sampled(m, v, e, log_std=0.25 * v),
    "σ stands where log σ belongs.": lambda m, v, e: _sampled(m, v, e, log_std=(0.5 * v).exp()),
    "the difference is turned round: the KL averages log q − log p over samples of q.":
        lambda m, v, e: -_sampled(m, v, e),
    "averaged over the batch: expected one number for each image.": lambda m, v, e: _sampled(m, v, e).mean(),
    "this is the closed form; expected the estimate from the given noise: mend the line that is wrong.":
        lambda m, v, e: _elements(m, v).sum(1),
}  # fmt: skip


def _by_distributions(m, v, e):
    posterior = Independent(Normal(m, v.exp().sqrt()), 1)
    z = posterior.mean + posterior.stddev * e
    return posterior.log_prob(z) - Normal(0.0, 1.0).log_prob(z).sum(1)


SAMPLED_RIGHT = (
    _by_distributions,
    lambda m, v, e: _sampled(m, v, e),
    lambda m, v, e: 0.5 * ((m + (v / 2).exp() * e) ** 2 - e**2 - v).sum(1),
)

# 02.5 -----------------------------------------------------------------------------------------------------------------

QUANTITIES = {"kl": "falls", "reconstruction": "rises", "loss": "rises", "used": "falls"}
PREDICTION_MISTAKES = {
    "kl: a higher price buys fewer nats. (β·KL may well rise; the KL itself does not.)": "rises",
    "kl: the price of each nat went up, so some no longer pay for themselves.": "stays",
    "reconstruction: fewer nats about the image cannot draw it better.": "falls",
    "reconstruction: what the code no longer says, the decoder has to guess.": "stays",
    "loss: it is the smallest sum that can be had at this β, and for every model that sum grows with β.": "falls",
    "loss: where the code is not empty, the same model costs more at a higher β.": "stays",
    "used: a latent that did not earn its price at a low β does not earn it at a high one.": "rises",
    "used: when the price rises 16-fold, the least useful latents no longer pay.": "stays",
}

# 02.6 -----------------------------------------------------------------------------------------------------------------

LATENTS, STEPS, BATCH_SIZE = 6, 200, 64
NATS = 0.05  # of all latents together: below this, a code is called collapsed
SLOWEST, FASTEST = 1e-4, 1e-2  # learning rates that are allowed

TOO_LARGE = "With a large β anybody can: stay within 0 to 1."
UNTRAINED = "A model that never trained has an empty code too, but it did not collapse."
FREE = "With β = 0 nothing asks the code to be cheap: this is the way to the most nats, not to none."
ORDINARY = "With sums and β of at most 1 this is an ordinary VAE: its nats pay for themselves."
TOO_SLOW = f"It is the learning rate: {STEPS} steps of this size do not empty the code, with {FASTEST:g} they do."
CHEAP = "The means point the right way, but a β this small takes back what they do: what is it worth in sums?"


def collapse_fault(settings) -> str | None:
    """Train with the settings and say why the code did not collapse, or None when it did."""
    given = keyed(settings, ("beta", "reduction", "learning_rate"))
    beta, rate = (real(given[key], key) for key in ("beta", "learning_rate"))
    reduction = word(given["reduction"], ("sum", "mean"), "reduction")
    if not 0 <= beta <= 1:
        return f"beta: got {beta:g}. {TOO_LARGE}"
    if not SLOWEST <= rate <= FASTEST:
        return f"learning_rate: got {rate:g}; allowed are {SLOWEST:g} to {FASTEST:g}. {UNTRAINED}"
    nats = trained_nats(beta, reduction, rate)
    if nats < NATS:
        return None
    held = f"The code holds {nats:.2f} nats for each image; below {NATS} counts as collapsed."
    return f"{_why(beta, reduction, rate)} {held}"


def trained_nats(beta: float, reduction: str, rate: float) -> float:
    """The KL to the prior after training, all latents together, in nats per image."""
    data = XYSquares(2, 2, squares=2, image_size=16)
    framework = BetaVAE(mlp_vae(data, LATENTS, hidden=(64,)), beta=beta, reduction=reduction)
    generator = torch.Generator().manual_seed(0)
    weights = list(framework.model.parameters())
    first, second = ([torch.zeros_like(weight) for weight in weights] for _ in range(2))
    for index in range(STEPS):
        with torch.enable_grad():
            views = data.observations(framework.sample(data.space, BATCH_SIZE, generator))
            terms = framework.loss(views, Step(torch.tensor(index), STEPS, generator))
            gradients = torch.autograd.grad(sum(terms.values()), weights)
        with torch.no_grad():
            _adam(weights, gradients, first, second, index + 1, rate)
    with torch.no_grad():
        posterior = framework.model.encode(data.observations(torch.arange(0, len(data), 8)))
        return kl_to_standard_normal(posterior).sum(1).mean().item()


def _adam(weights, gradients, first, second, step: int, rate: float) -> None:
    """One step of Adam in place. PyTorch's own loads its compiler first, which takes longer than the training."""
    torch._foreach_lerp_(first, gradients, 0.1)
    torch._foreach_lerp_(second, torch._foreach_mul(gradients, gradients), 0.001)
    spread = torch._foreach_sqrt(second)
    torch._foreach_div_(spread, (1 - 0.999**step) ** 0.5)
    torch._foreach_add_(spread, 1e-8)
    torch._foreach_addcdiv_(weights, first, spread, -rate / (1 - 0.9**step))


def _why(beta: float, reduction: str, rate: float) -> str:
    if beta == 0:
        return FREE
    if reduction == "sum":
        return ORDINARY
    return TOO_SLOW if rate < FASTEST and trained_nats(beta, reduction, FASTEST) < NATS else CHEAP


def _settings(beta, reduction, rate) -> dict:
    return {"beta": beta, "reduction": reduction, "learning_rate": rate}


COLLAPSE_MISTAKES = {
    ORDINARY: _settings(1.0, "sum", 1e-3),
    FREE: _settings(0.0, "sum", 1e-3),
    TOO_LARGE: _settings(100.0, "sum", 1e-3),
    UNTRAINED: either(_settings(1.0, "sum", 0.0), _settings(1.0, "mean", 5e-324), _settings(1.0, "mean", -1e-3)),
    CHEAP: either(_settings(6 / 512, "mean", 1e-3), _settings(5e-324, "mean", 1e-3)),
    TOO_SLOW: _settings(0.2, "mean", 1e-4),
    "expected one of 'sum', 'mean'": _settings(1.0, "none", 1e-3),
}

# 02.7 -----------------------------------------------------------------------------------------------------------------


def decoded(generator: torch.Generator) -> list[list]:
    shapes = ((3, 2, 4, 4), (1, 1, 2, 3), (4, 4, 4, 4), (2, 3, 5, 5))
    cases = []
    for shape, std in zip(shapes, (0.5, 2.0, 1.0, 0.1), strict=True):
        images, decoded = (torch.randn(shape, generator=generator) for _ in range(2))
        cases.append([images, decoded.requires_grad_(), std])
    return cases


def log_likelihood(images: Tensor, decoded: Tensor, std: float) -> Tensor:
    return Normal(decoded.double(), std).log_prob(images.double()).flatten(1).sum(1).to(images.dtype)


LOG_TWO_PI = math.log(2 * math.pi)


def _gaussian(images, decoded, *, scale, constant):
    return (-scale * (images - decoded) ** 2 - constant).flatten(1).sum(1)


LIKELIHOOD_MISTAKES = {
    "the constant is missing: without ½ log(2πs²) for each pixel it is no density, and its s cannot be learnt.":
        lambda x, y, s: _gaussian(x, y, scale=1 / (2 * s * s), constant=0),
    "the sign is turned round: this is minus the log-likelihood, the loss.":
        lambda x, y, s: -_gaussian(x, y, scale=1 / (2 * s * s), constant=0.5 * LOG_TWO_PI + math.log(s)),
    "the ½ in front of the squared error is missing.":
        lambda x, y, s: _gaussian(x, y, scale=1 / (s * s), constant=0.5 * LOG_TWO_PI + math.log(s)),
    "the squared error was divided by s: it is divided by the variance, s².":
        lambda x, y, s: _gaussian(x, y, scale=1 / (2 * s), constant=0.5 * LOG_TWO_PI + math.log(s)),
    "s was taken for the variance. It is the standard deviation: divide by 2s², and the constant is ½ log(2πs²).":
        lambda x, y, s: _gaussian(x, y, scale=1 / (2 * s), constant=0.5 * LOG_TWO_PI + 0.5 * math.log(s)),
    "the ½ in front of log(2πσ²) is missing.":
        lambda x, y, s: _gaussian(x, y, scale=1 / (2 * s * s), constant=LOG_TWO_PI + 2 * math.log(s)),
    "log σ is missing: only the 2π of the constant is there.":
        lambda x, y, s: _gaussian(x, y, scale=1 / (2 * s * s), constant=0.5 * LOG_TWO_PI),
    "the constant was counted once for each image: every pixel has its own density, so it counts C·H·W times.":
        lambda x, y, s: _gaussian(x, y, scale=1 / (2 * s * s), constant=0) - 0.5 * LOG_TWO_PI - math.log(s),
    "averaged over the pixels: the log-densities of independent pixels add up.":
        lambda x, y, s: log_likelihood(x, y, s) / x[0].numel(),
    "averaged over the batch: expected one number for each image.": lambda x, y, s: log_likelihood(x, y, s).mean(),
    "this is minus the mean squared error: the likelihood also has σ, a ½, a constant, and a sum.":
        lambda x, y, s: -((x - y)**2).flatten(1).mean(1),
}  # fmt: skip

LIKELIHOOD_RIGHT = (
    lambda x, y, s: Independent(Normal(y, torch.full_like(y, s)), 3).log_prob(x),
    lambda x, y, s: -(((x - y) / s).square() / 2 + math.log(s) + LOG_TWO_PI / 2).sum(dim=(1, 2, 3)),
    lambda x, y, s: -(((x - y).flatten(1).norm(dim=1) / s) ** 2) / 2 - x[0].numel() * (math.log(s) + LOG_TWO_PI / 2),
    lambda x, y, s: torch.stack([Normal(z, s).log_prob(image).sum() for image, z in zip(x, y, strict=True)]),
)

# 02.8 -----------------------------------------------------------------------------------------------------------------

GAP = {"from": "q(z|x)", "to": "p(z|x)", "change": "falls by 2"}
GAP_WORDS = ("q(z|x)", "p(z|x)", "p(z)", "p(x|z)", "falls by 2", "rises by 2", "falls by 4", "rises by 4", "stays")
GAP_MISTAKES = {
    "to: the divergence from the prior is a term inside the ELBO. The gap is to another distribution.": "p(z)",
    "to: p(x|z) is a distribution over images; the gap compares two over z.": "p(x|z)",
    "from: the other way round. The average is over what the encoder draws, so its q comes first.": "p(z|x)",
    "change: log p(x) = ELBO + gap. If the ELBO rises by more than log p(x), the gap falls.": "rises by 2",
    "change: the two were added; the gap is log p(x) less the ELBO.": "rises by 4",
    "change: it stays only where both sides rise by the same.": "stays",
}

# 02.9 -----------------------------------------------------------------------------------------------------------------

SCORES = {
    "A code": "yes", "A price": "no", "A test": "no", "B code": "yes", "B price": "yes", "B test": "yes",
    "C code": "no", "C price": "no", "C test": "yes",
}  # fmt: skip
SCORES_MISTAKES = {
    "A code: it does say so: the decoder is told nothing about which image to draw.": "no",
    "A price: its reason is the decoder's size. Nothing is said about what a nat costs or saves.": "yes",
    "A test: it names a cause and stops there. Nothing that could be seen would make it take that back.": "yes",
    "B code: its first sentence says so.": "no",
    "B price: its second sentence compares what a nat costs with what it saves, which is the point.": "no",
    "B test: it says what training with sums should do, and that it is wrong if that does not happen.": "no",
    "C code: it says the opposite: that the code is in order.": "yes",
    "C price: that the loss asks for a small KL is not yet that a nat costs more than it saves.": "yes",
    "C test: the explanation is wrong, and yet it says what would refute it: images that stay grey.": "no",
}

# 02.10 ----------------------------------------------------------------------------------------------------------------


def with_shares(generator: torch.Generator) -> list[list[Tensor]]:
    """Means, log-variances, and shares of the mass: typical ones, some near 0, 1 and ½, and float64."""
    cases = []
    for mean, log_variance in posteriors(generator):
        share = torch.rand(mean.shape, generator=generator, dtype=mean.dtype).clamp(1e-3, 1 - 1e-3)
        share[0, 0], share[-1, -1] = 1e-3, 0.999
        cases.append([mean, log_variance, share])
    cases[2][2][1, 0] = 0.5
    return cases


def laplace_sample(mean: Tensor, log_variance: Tensor, share: Tensor) -> Tensor:
    width = (log_variance.double().exp() / 2).sqrt()
    return Laplace(mean.double(), width).icdf(share.double()).to(mean.dtype)


def _steps(share: Tensor, *, twice: float = 2) -> Tensor:
    """How many widths a Laplace sample lies from its mean."""
    return -(share - 0.5).sign() * torch.log1p(-twice * (share - 0.5).abs())


def _width(log_variance: Tensor) -> Tensor:
    return (log_variance.exp() / 2).sqrt()


LAPLACE_MISTAKES = {
    "σ was taken for b: a Laplace density of width b has the variance 2b², so b = σ/√2.":
        lambda m, v, u: m + (0.5 * v).exp() * _steps(u),
    "the root is missing: σ² = 2b², so b is the root of σ²/2.": lambda m, v, u: m + v.exp() / 2 * _steps(u),
    "upside down: σ² = 2b² gives b = σ/√2, and this is σ·√2.": lambda m, v, u: m + (2 * v.exp()).sqrt() * _steps(u),
    "mirrored: u is the share of the mass *below* z, so a large u belongs to a large z.":
        lambda m, v, u: m - _width(v) * _steps(u),
    "this is a sample of the Gaussian with that mean and variance; the posterior here is a Laplace density.":
        lambda m, v, u: m + (0.5 * v).exp() * torch.special.ndtri(u),
    "u was used as if it were noise: it is a share of the mass. Which z has that share below it?":
        either(lambda m, v, u: m + (0.5 * v).exp() * u, lambda m, v, u: m + _width(v) * u),
    "this is an exponential law, the right half alone, stretched over all u: below u = ½ the sample lies to the left.":
        lambda m, v, u: m - _width(v) * torch.log1p(-u),
    "each half of the mass is ½: the logarithm is of 2u on the left, and of 2(1 − u) on the right.":
        lambda m, v, u: m + _width(v) * _steps(u, twice=1),
    "this is a logistic sample, log(u / (1 − u)): near the mean it is round, where a Laplace density has its peak.":
        lambda m, v, u: m + _width(v) * torch.logit(u),
    "both halves were sent to the right of the mean: left of it, below u = ½, the sign is the other one.":
        lambda m, v, u: m + _width(v) * _steps(u).abs(),
    "the sample is right, but no gradient passes: it was detached, or drawn under no_grad.":
        lambda m, v, u: (m + _width(v) * _steps(u)).detach(),
    "the sample is right, but its width was detached: the encoder would never learn how sure to be.":
        lambda m, v, u: m + _width(v).detach() * _steps(u),
}  # fmt: skip

LAPLACE_RIGHT = (
    lambda m, v, u: Laplace(m, (0.5 * (v - math.log(2))).exp()).icdf(u),
    lambda m, v, u: m + (0.5 * v).exp() / 2**0.5 * torch.where(u < 0.5, (2 * u).log(), -(2 - 2 * u).log()),
    lambda m, v, u: m + _width(v) * ((2 * u).clamp(max=1).log() - (2 - 2 * u).clamp(max=1).log()),
)

# ----------------------------------------------------------------------------------------------------------------------

EXERCISES = {
    "02.1": Function(reference=kl_to_prior, cases=posteriors, mistakes=KL_MISTAKES, also_right=KL_RIGHT),
    "02.2": Function(reference=reparameterise, cases=with_noise, mistakes=SAMPLE_MISTAKES, also_right=SAMPLE_RIGHT),
    "02.3": number(64.0, BETA_MISTAKES, praise="right: β_sum = β_mean · C·H·W / D = 512 / 8."),
    "02.4": Function(
        reference=sampled_kl,
        cases=with_noise,
        mistakes=SAMPLED_MISTAKES,
        tolerance=(1e-4, 1e-4),
        also_right=SAMPLED_RIGHT,
    ),
    "02.5": words(
        QUANTITIES,
        ("rises", "falls", "stays"),
        PREDICTION_MISTAKES,
        praise="right. Now run the next cell and see how far each of them moves.",
    ),
    "02.6": Plain(
        fault=collapse_fault,
        mistakes=COLLAPSE_MISTAKES,
        also_right=(
            _settings(torch.tensor(0.5), "Mean", torch.tensor([1e-3])),
            _settings(1, "mean", FASTEST),
            _settings(torch.tensor(1.0, requires_grad=True), " MEAN ", 2e-3),
        ),
        praise="right: trained, and yet not a twentieth of a nat in the code.",
    ),
    "02.7": Function(
        reference=log_likelihood,
        cases=decoded,
        mistakes=LIKELIHOOD_MISTAKES,
        tolerance=(1e-4, 1e-3),
        also_right=LIKELIHOOD_RIGHT,
    ),
    "02.8": words(GAP, GAP_WORDS, GAP_MISTAKES, praise="right: KL(q(z|x) ‖ p(z|x)) fell by 3 − 1 = 2 nats."),
    "02.9": words(
        SCORES,
        ("yes", "no"),
        SCORES_MISTAKES,
        praise="right: B has all three. A sees what happened and guesses why; C is wrong and would find out.",
    ),
    "02.10": Function(
        reference=laplace_sample,
        cases=with_shares,
        mistakes=LAPLACE_MISTAKES,
        tolerance=(1e-4, 1e-4),
        also_right=LAPLACE_RIGHT,
        praise="right: whatever law has a quantile function can be reparameterised.",
    ),
}
