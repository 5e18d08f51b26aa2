"""Claims about mean-field inference in linear models: what it prefers among models that explain the data alike."""

import math

import numpy as np
import torch
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import ortho_group
from torch.distributions import MultivariateNormal, kl_divergence

from course_lib.losses import kl_to_standard_normal
from course_lib.models import DiagonalGaussian
from course_lib.theory import LinearGaussian, fit_sparse
from course_replication.runs import Context

# Two components along the axes, by their lengths, and the variance of the noise; each explains its own data best.
MODELS = tuple((lengths, noise) for lengths in ((3.0, 1.0), (1.0, 0.5), (3.0, 2.0)) for noise in (0.05, 0.5, 1.0))
ANGLES, BETAS = range(0, 91, 3), (1.0, 2.0, 5.0, 20.0)
CLOSE = 1e-9  # nats
TURNS = 10  # of a model's latents, beside the one at which its posterior factorises
FREEDOM = 3.5  # degrees of freedom of sparse latents
# Directions in degrees of three sparse components of length 1 in the plane, and the variance of the noise.
SPARSE = {"spread": ((0, 60, 120), 0.1), "narrow": ((20, 65, 110), 0.1), "noisy": ((0, 60, 120), 1.0)}
PRUNED = 0.05  # the length below which a component counts as pruned
RIGHT = 10  # degrees by which a right angle may be missed


def rotations(context: Context) -> dict[str, bool | float]:
    """The likelihood and the free energy of factor analysis as its two latents are rotated, for nine models."""
    constant, tight, lower, unequal, equal = [], [], [], [], []
    for lengths, noise in MODELS:
        likelihood, energy = _curves(np.diag(lengths), noise)
        constant.append(np.ptp(likelihood) < CLOSE)
        tight.append(np.abs(likelihood - energy)[[0, -1]].max() < CLOSE)
        lower.append((likelihood - energy)[1:-1].min() > 1e-5)
        unequal.append((np.diff(energy[: len(energy) // 2 + 1]) < 0).all())  # from 0° to 45°
        _, energy = _curves(np.diag([lengths[0]] * 2), noise)
        equal.append(np.ptp(energy) < CLOSE)
    example = LinearGaussian(np.diag([3.0, 1.0]), np.ones(2))
    return {
        "likelihood-constant-under-rotation": all(constant),
        "free-energy-equals-likelihood-at-multiples-of-90-degrees": all(tight),
        "free-energy-lower-in-between": all(lower),
        "elbo-falls-with-rotation-when-unequal": all(unequal),
        "elbo-unchanged-when-equal": all(equal),
        "free-energy/0-degrees": example.free_energy(),
        "free-energy/45-degrees": example.rotate(45).free_energy(example.covariance),
        "settings": len(constant),
    }


def pruning(context: Context) -> dict[str, bool | float]:
    """Three latents for data in the plane: two components in one direction share its variance as a² and 1 − a².

    For several lengths of the components and variances of the noise; the gap is that of the first.
    """
    found = [
        _shared(*setting) for setting in ((2, 1, 0.3), (1, 1, 1.0), (0.3, 2, 0.05), (5, 0.1, 0.01), (0.1, 0.1, 4.0))
    ]
    return {
        "likelihood-constant": all(np.ptp(likelihood) < CLOSE for likelihood, _ in found),
        "free-energy-highest-at-0": all((np.diff(energy) < 0).all() for _, energy in found),
        "bound-tight-at-0": all(abs(likelihood[0] - energy[0]) < CLOSE for likelihood, energy in found),
        "gap-at-one-half": found[0][0][-1] - found[0][1][-1],
        "settings": len(found),
    }


def _shared(first: float, second: float, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Likelihood and free energy as a third component takes a share, a² from 0 to ¼, of the first one's variance."""
    models = [
        LinearGaussian([[first * (1 - a**2) ** 0.5, 0, first * a], [0, second, 0]], [noise] * 2)
        for a in np.linspace(0, 0.5, 26)
    ]  # the third is the component that vanishes
    return tuple(np.array([getattr(model, name)() for model in models]) for name in ("log_likelihood", "free_energy"))


def weighting(context: Context) -> dict[str, bool | float]:
    """What β does to rotations: of the bound in the model whose likelihood has the power 1/β, as Appendix B.2 sees it.

    "objective" is F_β, which is β times that.
    """
    best, wider, bound, objective = [], [], {}, {}
    for lengths, noise in MODELS:
        spreads = []
        for beta in BETAS:
            _, energy = _curves(np.diag(lengths), noise, beta)
            peaks = np.flatnonzero(energy > energy.max() - CLOSE)
            best.append(set(peaks) == {0, len(energy) - 1})
            bound[lengths, noise, beta], objective[lengths, noise, beta] = np.ptp(energy) / beta, np.ptp(energy)
            _, precision = LinearGaussian(np.diag(lengths), [noise] * 2).posterior(beta)
            spreads.append(1 / np.diag(precision))
        wider.append((np.diff(spreads, axis=0) > 0).all())
    found = {f"amplitude/beta-{beta:g}": bound[*MODELS[0], beta] for beta in BETAS}
    found |= {f"objective/beta-{beta:g}": objective[*MODELS[0], beta] for beta in BETAS}
    falls = [all(np.diff([bound[*model, beta] for beta in BETAS]) < 0) for model in MODELS]
    return found | {
        "same-optimal-angle-for-every-beta": all(best),
        "posterior-wider-with-beta": all(wider),
        "amplitude-falls-in-every-model": all(falls),
        "settings": len(falls),
    }


def gap(context: Context) -> dict[str, bool | float]:
    """The bound against likelihood less the divergence of q from the exact posterior, for random models.

    The divergence is PyTorch's, of one Gaussian from another; the bound is also estimated by sampling. The last two
    models have no weights, and orthogonal ones: there is no gap. To turn the latents keeps the likelihood: the bound is
    highest, and at it, where the turned posterior factorises, at the axes of WᵀΨ⁻¹W.
    """
    draws, off, sampled, wins = np.random.default_rng(context.seed), [], [], []
    turns = [np.eye(3), *ortho_group.rvs(3, TURNS, random_state=context.seed)]
    for place in range(52):
        model = LinearGaussian(draws.normal(size=(3, 3)), draws.uniform(0.2, 1, 3))
        model = model if place < 50 else LinearGaussian((place - 50) * np.diag([3.0, 1.0, 0.5]), [0.5] * 3)
        _, precision = (torch.from_numpy(part) for part in model.posterior())
        exact = MultivariateNormal(torch.zeros(3).double(), precision_matrix=precision)
        found = MultivariateNormal(torch.zeros(3).double(), covariance_matrix=torch.diag(1 / precision.diag()))
        off.append(model.log_likelihood() - kl_divergence(found, exact).item() - model.free_energy())
        sampled.append(_sampled(model, draws) - model.free_energy())
        _, axes = np.linalg.eigh(precision.numpy())
        likelihood, best = model.log_likelihood(), LinearGaussian(model.weights @ axes, model.noise)
        turned = [LinearGaussian(model.weights @ turn, model.noise) for turn in turns]
        equal = all(abs(each.log_likelihood() - likelihood) < CLOSE for each in (best, *turned))
        lower = all(each.free_energy() < best.free_energy() + CLOSE for each in turned)
        wins.append(equal and lower and abs(best.free_energy() - likelihood) < CLOSE)
    error = np.std(sampled) / len(sampled) ** 0.5
    return {
        "bound-equals-likelihood-minus-gap": np.abs(off).max() < CLOSE,
        "of-equal-likelihoods-the-factorised-posterior-wins": all(wins),
        "bound-as-by-sampling": abs(np.mean(sampled)) < 4 * error,
        "largest-difference": np.abs(off).max(),
        "settings": len(off),
    }


def replicated(context: Context) -> dict[str, bool | float]:
    """Posteriors at β = 1/M and of data in which each observation is repeated M times.

    For linear models in closed form, and for a binary observation of one latent by numerical maximisation of both.
    """
    draws, off, repeats = np.random.default_rng(context.seed), [], (2, 3, 7, 1, 40)
    for times in repeats:
        weights, noise, x = draws.normal(size=(3, 2)), draws.uniform(0.2, 1, 3), draws.normal(size=3)
        gain, precision = LinearGaussian(weights, noise).posterior(1 / times)
        tiled, repeated = LinearGaussian(np.tile(weights, (times, 1)), np.tile(noise, times)).posterior()
        off += [np.abs(gain @ x - tiled @ np.tile(x, times)).max(), np.abs(precision - repeated).max()]
        weighted, several = (_binary_posterior(beta, copies) for beta, copies in ((1 / times, 1), (1.0, times)))
        off.append(np.abs(weighted - several).max())
    return {
        "same-optimum-as-replicated-data": max(off) < 1e-5,
        "largest-difference": max(off),
        "settings": len(repeats),
    }


def isotropic(context: Context) -> dict[str, bool]:
    """The library's KL of posteriors N(μ, s² I) and of N(R μ, s² I), for random rotations R in 6, 2 and 25 dimensions.

    When the latents' variances differ, the rotated posterior has no diagonal covariance; its diagonal has another KL.
    """
    draws, same, settings = context.generator, {"equal": [], "unequal": []}, (6, 2, 25)
    for dim in settings:
        rotation = torch.linalg.qr(torch.randn(dim, dim, generator=draws, dtype=torch.float64)).Q
        mean = torch.randn(200, dim, generator=draws, dtype=torch.float64)
        shared, own = torch.randn(200, 1, generator=draws).double(), torch.randn(200, dim, generator=draws).double()
        for name, log_variance in {"equal": shared.expand(-1, dim), "unequal": own}.items():
            turned = (log_variance.exp() @ rotation.square().T).log()  # the diagonal of R diag(s²) Rᵀ
            before = kl_to_standard_normal(DiagonalGaussian(mean, log_variance)).sum(1)
            after = kl_to_standard_normal(DiagonalGaussian(mean @ rotation.T, turned)).sum(1)
            same[name].append(torch.allclose(before, after, rtol=1e-9))
    return {
        "kl-of-rotated-isotropic-posteriors-equal": all(same["equal"]),
        "kl-when-unequal-equal": all(same["unequal"]),
        "settings": len(settings),
    }


def sparse(context: Context, num_points: int, datasets: int, steps: int) -> dict[str, bool | float]:
    """Three Student-t components in the plane, fitted from the truth at β = 1 and 5: by `SPARSE`, means over data.

    "kept" counts components, "overlap" is Σ (w_i·w_j)² / Σ |w_i|²|w_j|² over pairs, "angle" that of the two longest,
    "bias" how far the true directions are on average from the nearest that is kept, 90° if none is. "on-the-way" is
    β = 1 after 40 steps of the optimiser.
    """
    fits = {"beta-1": (1.0, steps), "beta-5": (5.0, steps), "on-the-way": (1.0, 40)}
    found: dict[str, list[float]] = {}
    for name, (degrees, noise) in SPARSE.items():
        for seed in range(context.seed, context.seed + datasets):
            x, truth = _sparse_data(degrees, noise, num_points, seed)
            learnt = {"truth": truth}
            for key, (beta, count) in fits.items():
                fit = fit_sparse(x, truth, [noise] * 2, beta=beta, degrees_of_freedom=FREEDOM, steps=count)
                learnt[key] = fit.weights
                found.setdefault(f"gain/{name}/{key}", []).append(fit.end - fit.start)
            for key, weights in learnt.items():
                for what, value in _described(weights, degrees).items():
                    found.setdefault(f"{what}/{name}/{key}", []).append(value)
    return _answers({key: np.array(values) for key, values in found.items()})


def _answers(found: dict[str, np.ndarray]) -> dict[str, bool | float]:
    straighter = [bool((found[f"overlap/{name}/truth"] > found[f"overlap/{name}/beta-1"]).all()) for name in SPARSE]
    two = {name: bool((found[f"kept/{name}/beta-5"] == 2).all()) for name in SPARSE}
    three = {name: bool((found[f"kept/{name}/beta-1"] == 3).all()) for name in SPARSE}
    right = {name: bool((np.abs(found[f"angle/{name}/beta-5"] - 90) < RIGHT).all()) for name in SPARSE}
    biases = {key: np.mean([found[f"bias/{name}/{key}"] for name in SPARSE]) for key in ("beta-1", "beta-5")}
    answers = {
        "more-orthogonal-than-the-truth": all(straighter),
        "vi-more-orthogonal-than-the-truth": all(straighter),
        "vi-keeps-three": all(three.values()),
        "beta-5-keeps-two": all(two.values()),
        "beta-5-orthogonal": all(right.values()),
        "settings": len(SPARSE),
    }
    for name in SPARSE:
        answers[f"beta-5-keeps-two/{name}"] = two[name]
        answers[f"beta-5-orthogonal/{name}"] = right[name]
        answers[f"two-at-a-right-angle-by-beta-5-alone/{name}"] = three[name] and two[name] and right[name]
    means = {key: values.mean() for key, values in found.items()}
    return answers | means | {f"bias/{key}": value for key, value in biases.items()}


def _curves(weights: np.ndarray, noise: float, beta: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Likelihood and free energy at each of `ANGLES`, for the data that the model explains best."""
    model = LinearGaussian(weights, [noise] * 2)
    turned = [model.rotate(degrees) for degrees in ANGLES]
    moments = model.covariance
    return (
        np.array([other.log_likelihood(moments) for other in turned]),
        np.array([other.free_energy(moments, beta) for other in turned]),
    )


def _sampled(model: LinearGaussian, draws: np.random.Generator) -> float:
    """The bound of observations and latents that are drawn: log p(x|z) + log p(z) − log q(z|x), from PyTorch."""
    gain, precision = model.posterior()
    x = torch.from_numpy(draws.multivariate_normal(np.zeros(3), model.covariance, 2000))
    normal = torch.distributions.Normal
    posterior = normal(x @ torch.from_numpy(gain).T, torch.from_numpy(1 / np.diag(precision)).sqrt())
    z = posterior.mean + posterior.stddev * torch.from_numpy(draws.normal(size=(2000, 3)))
    decoded = normal(z @ torch.from_numpy(model.weights).T, torch.from_numpy(model.noise).sqrt())
    terms = decoded.log_prob(x) + normal(0.0, 1.0).log_prob(z) - posterior.log_prob(z)
    return terms.sum(1).mean().item()


def _binary_posterior(beta: float, copies: int) -> np.ndarray:
    """Mean and log-deviation of the best Gaussian for one latent, seen as `copies` ones with probability σ(2 z − 1)."""
    nodes, shares = np.polynomial.hermite_e.hermegauss(60)

    def cost(parameters: np.ndarray) -> float:
        mean, log_deviation = parameters
        likelihood = np.log(expit(2 * (mean + math.exp(log_deviation) * nodes) - 1)) @ shares / shares.sum()
        divergence = 0.5 * (mean**2 + math.exp(2 * log_deviation) - 1) - log_deviation
        return beta * divergence - copies * likelihood

    return minimize(cost, np.zeros(2), tol=1e-14, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-15}).x


def _sparse_data(degrees, noise: float, num_points: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Observations (N, 2) and the weights (2, 3) behind them."""
    draws, angles = np.random.default_rng(seed), np.radians(degrees)
    weights = np.stack([np.cos(angles), np.sin(angles)])
    z = draws.standard_t(FREEDOM, size=(num_points, len(degrees)))
    return z @ weights.T + noise**0.5 * draws.normal(size=(num_points, 2)), weights


def _described(weights: np.ndarray, degrees) -> dict[str, float]:
    lengths, angles = np.linalg.norm(weights, axis=0), np.degrees(np.arctan2(weights[1], weights[0]))
    products, pairs = (weights.T @ weights) ** 2, np.triu_indices(len(degrees), 1)
    kept = lengths > PRUNED
    first, second = angles[np.argsort(lengths)[-2:]]
    turn = abs(np.asarray(degrees)[:, None] - angles[kept]) % 180
    return {
        "kept": kept.sum(),
        "overlap": products[pairs].sum() / max(np.outer(lengths**2, lengths**2)[pairs].sum(), 1e-300),
        "angle": abs(first - second) % 180,
        "bias": np.minimum(turn, 180 - turn).min(1, initial=90).mean(),
    }
