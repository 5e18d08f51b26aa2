"""Claims that are equations: both sides are computed, by quadrature or in closed form, and compared."""

import numpy as np
import torch
from scipy.special import logsumexp
from scipy.stats import norm, rv_continuous, uniform

from course_lib.losses import aggregate_log_densities, kl_to_standard_normal
from course_lib.models import DiagonalGaussian
from course_lib.theory import Entangler
from course_replication.runs import Context

NODES = 150  # of a Gauss–Hermite rule, along each latent
NOISE = 0.5  # standard deviation of the observations around what is decoded


def two_models(context: Context) -> dict[str, bool | float]:
    """Equation 2.8: a decoder, and the same decoder of latents that Theorem 1's map has mixed, under one prior.

    The density of observations in the plane is integrated over the prior, at a grid of points, for both models; so are
    the means of their posteriors, which say to which latents a model ascribes an observation.
    """
    axis = np.linspace(-2, 3, 9)
    observed = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    apart, off = [], []
    for prior in ([norm()] * 2, [uniform(-1, 2)] * 2, [norm(0.5, 1), uniform(-1, 2)]):
        z, weights = _nodes(prior)
        first, second = (
            _densities(observed, decoded, z, weights) for decoded in (_decode(z), _decode(Entangler(prior).inverse(z)))
        )
        off.append(np.abs(first[0] / second[0] - 1).max())
        apart.append(np.abs(first[1] - second[1]).max(0).min())
    return {
        "same-marginal": max(off) < 1e-6,
        "different-latents": min(apart) > 0.5,
        "largest-relative-difference": max(off),
        "smallest-of-the-largest-shifts": min(apart),
        "settings": len(apart),
    }


def _nodes(prior: list[rv_continuous]) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 2) and weights (n,) with which a sum is an expectation under the prior."""
    scores, weights = np.polynomial.hermite_e.hermegauss(NODES)
    inner = np.abs(scores) < 7  # those farther out weigh nothing, and a bounded law would round them to its edge
    scores, weights = scores[inner], weights[inner]
    tails = norm.cdf(-np.abs(scores))
    columns = [np.where(scores > 0, law.isf(tails), law.ppf(tails)) for law in prior]
    points = np.stack(np.meshgrid(*columns, indexing="ij"), axis=-1).reshape(-1, len(prior))
    return points, np.outer(weights, weights).ravel() / weights.sum() ** 2


def _decode(z: np.ndarray) -> np.ndarray:
    """Some curved map of the plane to the plane."""
    return np.stack([z[:, 0] + 0.3 * z[:, 1] ** 2, z[:, 1] + 0.5 * np.sin(z[:, 0])], axis=1)


def _densities(observed, decoded, z, weights) -> tuple[np.ndarray, np.ndarray]:
    """p(x) at each observation, (m,), and the mean of p(z|x), (m, 2)."""
    squares = ((observed[:, None] - decoded) ** 2).sum(2)
    joint = np.exp(-squares / (2 * NOISE**2)) / (2 * np.pi * NOISE**2) * weights
    return joint.sum(1), joint @ z / joint.sum(1, keepdims=True)


def decomposition(context: Context) -> dict[str, bool | float]:
    """The mean KL of random posteriors of two latents against its parts, each integrated on a grid of the plane.

    Lemma 1 has two parts, the decomposition of Chen et al. three. The library's density of the aggregate posterior,
    from the whole dataset as one batch, is compared with the mixture at the points of the grid. The last two datasets
    are a single image, and images whose posteriors are all the prior.
    """
    draws, off, density_off = np.random.default_rng(context.seed), [], []
    settings = [(draws.normal(size=(5, 2)), draws.uniform(0.3, 1.0, size=(5, 2))) for _ in range(4)]
    settings += [(draws.normal(size=(1, 2)), draws.uniform(0.3, 1.0, size=(1, 2))), (np.zeros((3, 2)), np.ones((3, 2)))]
    for posteriors in settings:
        parts = _parts(*posteriors)
        kl = _closed_kl(*posteriors)
        off.append(kl - parts["information"] - parts["aggregate"])
        off.append(kl - parts["information"] - parts["total_correlation"] - parts["dimension_wise"])
        if len(posteriors[0]) > 1:  # the estimator asks for two codes
            density_off.append(_library_density(*posteriors))
    off = np.abs(off).max()
    return {
        "identity-to-rounding": off < 1e-9,
        "aggregate-density-as-in-the-library": max(density_off) < 1e-5,
        "largest-difference": off,
        "settings": len(settings),
    }


def bound(context: Context) -> dict[str, bool | float]:
    """FactorVAE's objective, with the exact total correlation, beside ELBO and likelihood, of a linear model.

    Latents N(0, I) in two dimensions, observations W z + noise in three; the posteriors N(A x, diag v) are random. All
    of it is Gaussian and in closed form; the ELBO is also integrated by sampling. The last two posteriors are the
    prior, whatever x is, and nearly points.
    """
    draws, above, sampled = np.random.default_rng(context.seed), [], []
    for place in range(202):
        weights, encoder = draws.normal(size=(3, 2)), 0.5 * draws.normal(size=(2, 3))
        noise, spread = draws.uniform(0.2, 1, 3), draws.uniform(0.05, 1, 2)
        if place >= 200:
            encoder, spread = (0 * encoder, np.ones(2)) if place == 200 else (encoder, np.full(2, 1e-4))
        covariance = weights @ weights.T + np.diag(noise)
        elbo = _linear_elbo(weights, noise, encoder, spread, covariance)
        aggregate = encoder @ covariance @ encoder.T + np.diag(spread)
        correlation = 0.5 * (np.log(np.diag(aggregate)).sum() - np.linalg.slogdet(aggregate)[1])
        likelihood = -0.5 * (np.linalg.slogdet(2 * np.pi * covariance)[1] + 3)
        above.append([elbo - likelihood, (elbo - 10 * correlation) - elbo])
        sampled.append(elbo - _sampled_elbo(weights, noise, encoder, spread, covariance, draws))
    return {
        "at-most-the-elbo": np.max(above) <= 1e-9,
        "elbo-as-by-sampling": np.abs(np.mean(sampled)) < 4 * np.std(sampled) / len(sampled) ** 0.5,
        "smallest-gap-to-the-likelihood": -np.max(above, axis=0)[0],
        "settings": len(above),
    }


def adversarial(context: Context) -> dict[str, bool | float]:
    """The AAE's objective, reconstruction less the KL of q(z), and the ELBO, against the likelihood, in one dimension.

    The encoder N(m x, v) is varied over a grid; observations are w z + noise, and all is Gaussian. Numbers without a
    name are those of a noise of variance .1; next to none and a hundred times the signal's are among the others.
    """
    found = {noise: _highest(noise) for noise in (0.1, 0.01, 1.0, 100.0)}
    likelihood, aae, elbo = found[0.1]
    return {
        "objective-above-the-likelihood-somewhere": all(high > known + 0.01 for known, high, _ in found.values()),
        "elbo-never-above": all(high <= known + 1e-12 for known, _, high in found.values()),
        "log-likelihood": likelihood,
        "highest/aae": aae,
        "highest/elbo": elbo,
        "settings": len(found),
    } | {f"excess/noise-{noise:g}": high - known for noise, (known, high, _) in found.items()}


def _highest(noise: float) -> tuple[float, float, float]:
    """The log-likelihood, and over a grid of encoders the highest objectives of AAE and VAE, for w = 1."""
    weight = 1.0
    variance, highest = weight**2 + noise, {"aae": -np.inf, "elbo": -np.inf}
    likelihood = -0.5 * (np.log(2 * np.pi * variance) + 1)
    for slope in np.linspace(0, 1.2, 121):
        for spread in np.geomspace(1e-4, 1, 81):
            error = (1 - weight * slope) ** 2 * variance + weight**2 * spread
            reconstruction = -0.5 * (np.log(2 * np.pi * noise) + error / noise)
            whole = slope**2 * variance + spread  # the variance of q(z)
            highest["aae"] = max(highest["aae"], reconstruction - _kl_of_variances(whole))
            each = _kl_of_variances(spread) + 0.5 * slope**2 * variance
            highest["elbo"] = max(highest["elbo"], reconstruction - each)
    return likelihood, highest["aae"], highest["elbo"]


def code_information(context: Context) -> dict[str, bool | float]:
    """InfoGAN's bound E log Q(c|x) + H(c) for a code of four values and observations N(2c, 1), by integration.

    Q is the true posterior, mixed with the uniform law or sharpened by a power. Also for observations N(½c, 1),
    N(3c, 1) and, which tell nothing, N(0, 1).
    """
    settings = [_bounds(steps) for steps in (2, 0.5, 3, 0)]
    information, tight, bounds = settings[0]
    return {
        "bound-below-information": all(
            value < told + 1e-9 for told, _, values in settings for value in values.values()
        ),
        "tight-at-the-posterior": all(np.isclose(best, told, rtol=0, atol=1e-9) for told, best, _ in settings),
        "information": information,
        "settings": len(settings),
    } | {f"bound/{name}": value for name, value in bounds.items()}


def _bounds(steps: float) -> tuple[float, float, dict[str, float]]:
    """The information of a code of four values and N(steps·c, 1), the bound at the posterior, and at other answers."""
    x = np.linspace(-10, 16, 26_001)
    joint = norm.pdf(x, steps * np.arange(4)[:, None], 1) / 4 * (x[1] - x[0])
    posterior = joint / joint.sum(0)
    information = (joint * np.log(joint / (joint.sum(0) / 4))).sum()
    answers = {f"mixed-{share}": (1 - share) * posterior + share / 4 for share in (0.01, 0.1, 0.5, 1.0)}
    for power in (0.5, 0.9, 1.1, 2.0):
        answers[f"power-{power}"] = posterior**power / (posterior**power).sum(0)
    bounds = {name: (joint * np.log(answer)).sum() + np.log(4) for name, answer in answers.items()}
    return information, (joint * np.log(posterior)).sum() + np.log(4), bounds


def _parts(means: np.ndarray, deviations: np.ndarray) -> dict[str, float]:
    """The parts of the mean KL in nats, by sums over a grid on which Gaussians are integrated to rounding."""
    z = np.linspace(-8, 8, 401)
    cell = (z[1] - z[0]) ** 2
    each = norm.logpdf(z, means[:, :, None], deviations[:, :, None])  # (image, latent, place)
    posteriors = each[:, 0, :, None] + each[:, 1, None, :]
    aggregate = logsumexp(posteriors, axis=0) - np.log(len(means))
    first, second = logsumexp(each, axis=0) - np.log(len(means))
    prior = norm.logpdf(z)[:, None] + norm.logpdf(z)
    density, product = np.exp(aggregate) * cell, first[:, None] + second
    return {
        "information": (np.exp(posteriors) * (posteriors - aggregate)).sum() * cell / len(means),
        "aggregate": (density * (aggregate - prior)).sum(),
        "total_correlation": (density * (aggregate - product)).sum(),
        "dimension_wise": (density * (product - prior)).sum(),
    }


def _closed_kl(means: np.ndarray, deviations: np.ndarray) -> float:
    posterior = DiagonalGaussian(torch.from_numpy(means), torch.from_numpy(2 * np.log(deviations)))
    return kl_to_standard_normal(posterior).sum(1).mean().item()


def _library_density(means: np.ndarray, deviations: np.ndarray) -> float:
    """How far the library's log-density of q(z) is from the mixture's, at the posteriors' means."""
    posterior = DiagonalGaussian(torch.from_numpy(means), torch.from_numpy(2 * np.log(deviations)))
    joint, _ = aggregate_log_densities(posterior.mean, posterior, "batch", len(means))
    each = norm.logpdf(means[:, None], means, deviations).sum(2)
    return np.abs(joint.numpy() - logsumexp(each, axis=1) + np.log(len(means))).max()


def _linear_elbo(weights, noise, encoder, spread, covariance) -> float:
    """E_x of the ELBO: the expected squared error and the KL of N(A x, diag v), x ~ N(0, covariance)."""
    residual = np.eye(3) - weights @ encoder
    error = np.diag(residual @ covariance @ residual.T + weights @ np.diag(spread) @ weights.T)
    reconstruction = -0.5 * (np.log(2 * np.pi * noise) + error / noise).sum()
    means = np.diag(encoder @ covariance @ encoder.T)
    return reconstruction - 0.5 * (means + spread - 1 - np.log(spread)).sum()


def _sampled_elbo(weights, noise, encoder, spread, covariance, draws) -> float:
    x = draws.multivariate_normal(np.zeros(3), covariance, 2000)
    mean = x @ encoder.T
    z = mean + np.sqrt(spread) * draws.normal(size=mean.shape)
    reconstruction = norm.logpdf(x, z @ weights.T, np.sqrt(noise)).sum(1)
    ratio = norm.logpdf(z).sum(1) - norm.logpdf(z, mean, np.sqrt(spread)).sum(1)
    return (reconstruction + ratio).mean()


def _kl_of_variances(variance: float) -> float:
    return 0.5 * (variance - 1 - np.log(variance))
