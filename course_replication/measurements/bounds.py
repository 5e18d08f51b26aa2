"""Claims about objectives as bounds: their signs, their two forms, their weights, and which of them are the same."""

from collections.abc import Iterator

import numpy as np
from scipy.stats import norm

from course_replication.runs import Context

ROUNDING = 1e-8
PLACES = np.linspace(-12, 12, 4001)  # of one latent; what lies outside weighs nothing
CELL = PLACES[1] - PLACES[0]
# The mean of x given z, its standard deviation, and the x that is observed. The last decoder ignores its latent.
MODELS = {
    "line": (lambda z: 1.5 * z, 0.7, 1.0),
    "bend": (lambda z: np.tanh(2 * z) + 0.2 * z, 0.4, 0.3),
    "two-sided": (lambda z: z**2, 0.5, 1.0),
    "idle": (lambda z: 0 * z, 1.0, 0.8),
}


def printed_signs(context: Context) -> dict[str, bool | float]:
    """Equations 2.2 and 2.3 of the thesis, taken at their word: where their sum is smallest, and where the bound is.

    Over a grid of Gaussian posteriors of one latent; the bound is highest where the divergence from the true posterior
    is smallest, which is integrated on its own.
    """
    by_sum, by_minus_sum, off = [], [], []
    for _, evidence, reconstruction, prior_gap, true_gap in _posteriors():
        printed = reconstruction - prior_gap  # L_rec = E log p(x|z), L_reg = −KL
        by_sum.append(printed.argmin() == true_gap.argmin())
        by_minus_sum.append((-printed).argmin() == true_gap.argmin())
        off.append(np.abs(printed - (evidence - true_gap)).max())
    return {
        "minimising-the-printed-sum-maximises-the-bound": all(by_sum),
        "minimising-minus-the-printed-sum-does": all(by_minus_sum),
        "printed-sum-is-the-bound": max(off) < ROUNDING,
        "largest-difference": max(off),
        "settings": len(off),
    }


def two_forms(context: Context) -> dict[str, bool | float]:
    """−log p(x) + KL(q ‖ p(z|x)) against −E log p(x|z) + KL(q ‖ p(z)), for every model and posterior of the grid."""
    off = [
        np.abs((-evidence + true_gap) - (-reconstruction + prior_gap)).max()
        for _, evidence, reconstruction, prior_gap, true_gap in _posteriors()
    ]
    return {"forms-are-equal": max(off) < ROUNDING, "largest-difference": max(off), "settings": len(off)}


def weighted(context: Context) -> dict[str, bool | float]:
    """E log p(x|z) − β KL, for the best of a grid of posteriors, less log p(x): for β from 0 to 20."""
    margins, off = {}, []
    for name, evidence, reconstruction, prior_gap, true_gap in _posteriors():
        off.append(np.abs(reconstruction - prior_gap - evidence + true_gap).max())
        for beta in (0.0, 0.5, 0.9, 1.0, 1.5, 4.0, 20.0):
            margins[name, beta] = (reconstruction - beta * prior_gap).max() - evidence
    above = {beta: max(margins[name, beta] for name in MODELS) for _, beta in margins}
    return {
        "at-most-the-likelihood-from-beta-1": all(value <= ROUNDING for beta, value in above.items() if beta >= 1),
        "the-elbo-at-beta-1": max(off) < ROUNDING,
        "above-the-likelihood-somewhere-below-1": all(value > 0.01 for beta, value in above.items() if beta < 1),
        "settings": len(off),
    } | {f"highest-above-the-likelihood/beta-{beta:g}": value for beta, value in above.items()}


def same_objective(context: Context) -> dict[str, bool | float]:
    """FactorVAE's KL + γ TC and β-TCVAE's three parts, by sums over tables of images and of two discrete latents.

    Each image has a law of the two latents: independent ones, as of a mean-field encoder, dependent ones, certain
    ones, and, as the edge, a single image, whose total correlation is 0 if its latents are independent.
    """
    same, other, correlations = [], [], []
    for posteriors, prior in _tables(np.random.default_rng(context.seed)):
        parts = _parts(posteriors, prior)
        correlations.append(parts["total_correlation"])
        for beta in (1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0):
            ours = parts["information"] + beta * parts["total_correlation"] + parts["dimension_wise"]
            theirs = [parts["kl"] + gamma * parts["total_correlation"] for gamma in (beta - 1, beta)]
            same.append(abs(ours - theirs[0]))
            other.append(abs(ours - theirs[1]) - parts["total_correlation"])
    return {
        "same-objective-at-gamma-beta-minus-1": max(same) < ROUNDING,
        "at-gamma-beta-they-differ-by-the-total-correlation": np.abs(other).max() < ROUNDING < max(correlations),
        "largest-difference": max(same),
        "largest-total-correlation": max(correlations),
        "settings": len(correlations),
    }


def index_information(context: Context) -> dict[str, bool | float]:
    """The information of code and index, and of code and image, where some images occur twice or more in a dataset."""
    draws, apart, below = np.random.default_rng(context.seed), [], []
    for copies in ([1, 1, 1, 1], [2, 1, 1], [3, 2, 1, 1], [5]):
        each = draws.dirichlet(np.ones(6), size=len(copies))
        by_index = _information(np.repeat(each, copies, axis=0), np.full(sum(copies), 1 / sum(copies)))
        by_image = _information(each, np.array(copies) / sum(copies))
        apart.append(abs(by_index - by_image))
        below.append(np.log(sum(copies)) - by_index)
    return {
        "index-and-image-tell-the-same": max(apart) < ROUNDING,
        "at-most-the-logarithm-of-n": min(below) >= -ROUNDING,
        "largest-difference": max(apart),
        "settings": len(apart),
    }


def _posteriors() -> Iterator[tuple[str, float, np.ndarray, np.ndarray, np.ndarray]]:
    """Of each model: log p(x), and of each posterior E log p(x|z), KL(q ‖ p(z)) and KL(q ‖ p(z|x)), by sums."""
    means, spreads = (axis.ravel() for axis in np.meshgrid(np.linspace(-2, 2, 21), np.geomspace(0.1, 1.5, 15)))
    log_q = norm.logpdf(PLACES, means[:, None], spreads[:, None])
    q = np.exp(log_q) * CELL
    prior = norm.logpdf(PLACES)
    for name, (decode, noise, x) in MODELS.items():
        likelihood = norm.logpdf(x, decode(PLACES), noise)
        evidence = np.log((np.exp(likelihood + prior) * CELL).sum())
        true = likelihood + prior - evidence
        yield name, evidence, q @ likelihood, (q * (log_q - prior)).sum(1), (q * (log_q - true)).sum(1)


def _tables(draws: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Laws of two latents with 3 and 4 values for each image, (N, 3, 4), and a prior (3, 4)."""
    prior = np.outer(draws.dirichlet(np.ones(3)), draws.dirichlet(np.ones(4)))
    for num_images in (1, 2, 7):
        first, second = draws.dirichlet(np.ones(3), num_images), draws.dirichlet(np.ones(4), num_images)
        yield first[:, :, None] * second[:, None, :], prior
    yield draws.dirichlet(np.ones(12), 5).reshape(5, 3, 4), prior
    certain = np.zeros((3, 3, 4))
    certain[range(3), range(3), range(3)] = 1
    yield certain, prior


def _parts(posteriors: np.ndarray, prior: np.ndarray) -> dict[str, float]:
    aggregate = posteriors.mean(0)
    first, second = aggregate.sum(1), aggregate.sum(0)
    return {
        "kl": np.mean([_divergence(each, prior) for each in posteriors]),
        "information": np.mean([_divergence(each, aggregate) for each in posteriors]),
        "total_correlation": _divergence(aggregate, np.outer(first, second)),
        "dimension_wise": _divergence(first, prior.sum(1)) + _divergence(second, prior.sum(0)),
    }


def _information(laws: np.ndarray, weights: np.ndarray) -> float:
    """Of a choice with these weights and of what is drawn from the chosen law, in nats."""
    return float(weights @ [_divergence(law, weights @ laws) for law in laws])


def _divergence(law: np.ndarray, other: np.ndarray) -> float:
    held = law > 0
    return float((law[held] * np.log(law[held] / other[held])).sum())
