"""Claims about the total correlation and its estimators: what a discriminator, a permutation or a batch can tell."""

import math

import numpy as np
import torch
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from course_lib import metrics
from course_lib.data import XYSquares
from course_lib.frameworks import FactorVAE
from course_lib.frameworks.framework import Step
from course_lib.losses import aggregate_log_densities, permuted_latents
from course_lib.metrics import Encodings
from course_lib.models import DiagonalGaussian, mlp_vae
from course_replication.runs import Context

IMAGES, LATENTS = 2048, 6  # of the dataset whose aggregate posterior is estimated
CHANCE = 0.05


def permuted(context: Context, num_points: int) -> dict[str, bool | float]:
    """Three latents that depend on each other, before and after `permuted_latents`: their values and their laws.

    Dependence is the mutual information of each pair, each latent in 10 bins; a χ² law says how much noise has. Beside
    curved dependence, whose information is given, there is weak linear dependence, and one latent three times.
    """
    noise = torch.randn(num_points, 3, generator=context.generator, dtype=torch.float64)
    first = noise[:, 0]
    codes = {
        "curved": torch.stack([first, first + 0.5 * noise[:, 1], first.square() + 0.3 * noise[:, 2]], 1),
        "linear": noise + first[:, None],
        "copies": first[:, None].repeat(1, 3),
    }
    noise_level = (81 + 4 * math.sqrt(2 * 81)) / (2 * num_points)  # 81 degrees of freedom, four deviations above
    kept, gone, information = [], [], []
    for latents in codes.values():
        shuffled = permuted_latents(latents, context.generator)
        before, after = (_pairwise_information(values) for values in (latents, shuffled))
        kept.append(torch.equal(latents.sort(0).values, shuffled.sort(0).values))
        gone.append(max(after) < noise_level < min(before))
        information.append((min(before), max(after)))
    return {
        "marginals-kept": all(kept),
        "dependence-gone": all(gone),
        "information/before": information[0][0],
        "information/after": information[0][1],
        "settings": len(kept),
    }


def ideal_discriminator(context: Context, num_points: int) -> dict[str, bool | float]:
    """The mean log-ratio of a discriminator of Gaussian latents, beside the total correlation in closed form.

    In one case the ratio is that of the true densities; in the other a logistic regression on squares and products,
    which contain the ideal discriminator, learns it from codes and `permuted_latents` of other codes. The second law is
    of latents that are independent already, the third of weak dependence; numbers are the first's.
    """
    laws = (0.8, 0.3, 0.1), (0.0, 0.0, 0.0), (0.2, -0.1, 0.1)
    found = [_by_discriminators(*law, num_points, context) for law in laws]
    exact, true, learnt = found[0]
    return {
        "ideal-discriminator-gives-the-total-correlation": all(
            max(abs(true - exact), abs(learnt - exact)) < 0.02 for exact, true, learnt in found
        ),
        "total-correlation/exact": exact,
        "total-correlation/true-ratio": true,
        "total-correlation/learnt-ratio": learnt,
        "settings": len(found),
    }


def _by_discriminators(
    first: float, second: float, third: float, num_points: int, context: Context
) -> tuple[float, float, float]:
    """The total correlation of three Gaussian latents with these correlations: exact, by the true ratio, and learnt."""
    covariance = np.array([[1.0, first, second], [first, 1.0, third], [second, third, 1.0]])
    exact = -0.5 * np.linalg.slogdet(covariance)[1]
    factor = torch.from_numpy(np.linalg.cholesky(covariance))
    joint, other = torch.randn(2, num_points, 3, generator=context.generator, dtype=torch.float64) @ factor.T
    independent = permuted_latents(other, context.generator)
    classifier = LogisticRegression(C=1e4, max_iter=1000)
    classifier.fit(np.concatenate([_squares(joint), _squares(independent)]), np.repeat([1, 0], num_points))
    learnt = classifier.decision_function(_squares(joint)).mean()
    precision = np.linalg.inv(covariance) - np.eye(3)
    ratio = exact - 0.5 * np.einsum("ni,ij,nj->n", joint, precision, joint)
    return exact, ratio.mean(), learnt


def not_sufficient(context: Context) -> dict[str, bool | float]:
    """Total correlation, FactorVAE score and MIG of noise, and of one latent that is all that varies.

    "noise-2" has two latents; "factor" is a single latent that holds a factor, alone among four.
    """
    data = XYSquares(2, 2, squares=2, image_size=16)
    noise = torch.randn(len(data), 4, generator=context.generator, dtype=torch.float64)
    single = noise * torch.tensor([1.0, 0.0, 0.0, 0.0])
    found, codes = {}, {"noise": noise, "single": single}
    codes["noise-2"] = torch.randn(len(data), 2, generator=context.generator, dtype=torch.float64)
    codes["factor"] = torch.zeros_like(noise)
    codes["factor"][:, 0] = data.space.factors(torch.arange(len(data)))[:, 1].double()
    for name, latents in codes.items():
        table = Encodings.from_table(latents, data)
        found[f"total-correlation/{name}"] = float(metrics.gaussian_total_correlation(table, seed=context.seed))
        found[f"factor-vae-score/{name}"] = float(metrics.factor_vae_score(table, seed=context.seed))
        found[f"mig/{name}"] = float(metrics.mig(table, seed=context.seed))
    scores = [found[f"factor-vae-score/{name}"] for name in codes]
    return found | {
        "noise-has-total-correlation-0": max(found[f"total-correlation/{name}"] for name in codes) < 0.01,
        "noise-scores-at-chance": all(abs(score - 1 / 4) < CHANCE for score in scores) and found["mig/noise"] < 0.01,
        "settings": len(codes),
    }


def log_densities(context: Context, batch_size: int, num_batches: int) -> dict[str, float]:
    """The mean log-density of codes under the aggregate posterior of 2,048 images: exact, and as batches estimate it.

    "mws", "mss" and "batch" come from the library, "batch-of-fresh-images" from images that the codes did not come
    from. "exact" is the mixture of all images, from SciPy's densities. The numbers are those of posteriors of variance
    e⁻², the batches as asked for; wider and narrower ones and other batches are tried for a few batches more.
    """
    draws = context.generator
    means = torch.randn(IMAGES, LATENTS, generator=draws)
    first = _estimates(means, -2.0, batch_size, num_batches, draws)
    settings = [first]
    for log_variance, size in ((0.0, 64), (-6.0, 64), (-2.0, 16), (-2.0, 256)):
        settings.append(_estimates(means, log_variance, size, 5, draws))
    return {f"log-density/{name}": value for name, value in first.items()} | {
        "mws-is-lower": all(found["exact"] > found["mws"] for found in settings),
        "fresh-images-are-lower": all(found["exact"] > found["batch-of-fresh-images"] for found in settings),
        "settings": len(settings),
    }


def _estimates(
    means: Tensor, log_variance: float, batch_size: int, num_batches: int, draws: torch.Generator
) -> dict[str, float]:
    everything = DiagonalGaussian(means, torch.full_like(means, log_variance))
    found = {name: [] for name in ("exact", "mws", "mss", "batch", "batch-of-fresh-images")}
    for _ in range(num_batches):
        order = torch.randperm(IMAGES, generator=draws)
        here, fresh = everything.at(order[:batch_size]), everything.at(order[batch_size : 2 * batch_size])
        latents = here.rsample(draws)
        found["exact"].append(_mixture(latents, everything))
        found["batch-of-fresh-images"].append(_mixture(latents, fresh))
        for name in ("mws", "mss", "batch"):
            joint, _ = aggregate_log_densities(latents, here, name, IMAGES)
            found[name].append(joint.double().mean().item())
    return {name: float(np.mean(values)) for name, values in found.items()}


def gamma_unseen(context: Context) -> dict[str, bool | float]:
    """The gradients of FactorVAE's two players at γ = 1 and at 100, 0 and 6.4, from equal weights and noise."""
    data = XYSquares(2, 2, squares=2, image_size=16)
    views = data.observations(torch.arange(0, 4096, 64).view(2, 32))
    gradients, others = {}, (100.0, 0.0, 6.4)
    for gamma in (1.0, *others):
        framework = FactorVAE(mlp_vae(data, 4, hidden=(32,)), gamma, hidden=(16, 16))
        for player in framework.players:
            step = Step(torch.tensor(0), 1, torch.Generator().manual_seed(context.seed), player)
            framework.zero_grad()
            sum(framework.loss(views, step).values()).backward()
            weights = framework.parameters_of(player)
            gradients[gamma, player] = torch.cat([weight.grad.flatten() for weight in weights])
    moved = {
        player: [(gradients[1.0, player] - gradients[gamma, player]).abs().max().item() for gamma in others]
        for player in ("model", "discriminator")
    }
    there = gradients[1.0, "discriminator"].abs().max().item() > 0
    return {
        "discriminator-gradient-without-gamma": max(moved["discriminator"]) == 0 and there,
        "model-gradient-with-gamma": min(moved["model"]) > 0,
        "settings": len(moved["discriminator"]),
    }


def _pairwise_information(latents: Tensor) -> list[float]:
    """The plug-in mutual information of each two columns, each in 10 bins that hold equally many, in nats."""
    ranks = latents.argsort(0).argsort(0).numpy() * 10 // len(latents)
    found = []
    for first, second in ((0, 1), (0, 2), (1, 2)):
        table = np.histogram2d(ranks[:, first], ranks[:, second], bins=10)[0] / len(latents)
        found.append(float((table * np.log(np.where(table > 0, table * 100, 1))).sum()))  # each margin is 1/10
    return found


def _squares(latents: Tensor) -> np.ndarray:
    """All squares and products of three latents: (n, 3) → (n, 6)."""
    values = latents.numpy()
    return np.stack([values[:, i] * values[:, j] for i in range(3) for j in range(i, 3)], axis=1)


def _mixture(latents: Tensor, posterior: DiagonalGaussian) -> float:
    """The mean of log 1/N Σ_n q(z|x_n) at the latents."""
    density = norm.logpdf(latents.numpy()[:, None], posterior.mean.numpy(), posterior.std.numpy()).sum(2)
    return float(np.logaddexp.reduce(density, axis=1).mean() - math.log(density.shape[1]))
