"""Mean-field variational inference in linear models, where all but one integral is in closed form."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from course_lib.arguments import check_integers, check_numbers, float_array

NODES = 16  # of the Gauss–Hermite rule for the expected log-density of a Student-t prior


class LinearGaussian:
    r"""Factor analysis, x = W z + ε with z ~ N(0, I) and ε ~ N(0, diag d), and its best mean-field posterior.

    .. math:: F_\beta = E_q[\log p(x|z)] - \beta \, \mathrm{KL}(q \,\|\, \mathcal{N}(0, I)), \qquad
        q(z|x) = \mathcal{N}\bigl(P^{-1} W^\top D^{-1} x / \beta, \; \mathrm{diag}(P)^{-1}\bigr), \qquad
        P = I + W^\top D^{-1} W / \beta

    P is the precision of the exact posterior when the likelihood is raised to the power 1/β, as if each x had been seen
    1/β times. Of all diagonal Gaussians q is the one with the highest F_β. All values are in nats for one observation,
    averaged over observations of which only the second moments matter.

    weights : W, (X, K). noise : d, (X,), variances above 0. Raises ValueError for other shapes or values.

    Source: Stühmer, Turner and Nowozin, Independent subspace analysis for unsupervised learning of disentangled
    representations, 2020, Appendices B.1 and B.2. (Their Eq. 16 is F_1 of the q above; F_β itself is β times the bound
    of the model with the changed likelihood.) Chapter 11.
    """

    def __init__(self, weights, noise):
        self.weights, self.noise = float_array(weights, "weights"), float_array(noise, "noise")
        _check_finite(weights=self.weights, noise=self.noise)
        if self.weights.ndim != 2 or self.noise.shape != self.weights.shape[:1] or not (self.noise > 0).all():
            raise ValueError(
                f"noise: got {noise!r} for weights of shape {self.weights.shape}; allowed are positive variances (X,) "
                "for weights (X, K)."
            )

    @property
    def covariance(self) -> np.ndarray:
        """Of the observations, (X, X)."""
        return self.weights @ self.weights.T + np.diag(self.noise)

    def rotate(self, degrees: float) -> "LinearGaussian":
        """The model with its first two latents rotated into each other: the same law of observations."""
        angle, turn = math.radians(degrees), np.eye(self.weights.shape[1])
        turn[:2, :2] = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
        return type(self)(self.weights @ turn, self.noise)

    def posterior(self, beta: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        """How the posterior mean depends on x, (K, X), and the precision P, (K, K)."""
        (beta,) = check_numbers(0, above=True, beta=beta)
        precision = np.eye(self.weights.shape[1]) + self.weights.T @ (self.weights / self.noise[:, None]) / beta
        return np.linalg.solve(precision, (self.weights / self.noise[:, None]).T) / beta, precision

    def log_likelihood(self, moments: np.ndarray | None = None) -> float:
        """The mean of log p(x) over observations with second moments (X, X), by default the model's own."""
        covariance = self.covariance
        moments = covariance if moments is None else moments
        return float(
            -0.5 * (np.linalg.slogdet(2 * np.pi * covariance)[1] + np.trace(np.linalg.solve(covariance, moments)))
        )

    def free_energy(self, moments: np.ndarray | None = None, beta: float = 1.0) -> float:
        """The mean of the highest F_β over such observations; at most the log-likelihood if β ≥ 1."""
        reconstruction, divergence = self.terms(moments, beta)
        return reconstruction - beta * divergence

    def terms(self, moments: np.ndarray | None = None, beta: float = 1.0) -> tuple[float, float]:
        """E_q[log p(x|z)] and KL(q ‖ p), averaged likewise, for the q that is best at this β."""
        moments = self.covariance if moments is None else moments
        gain, precision = self.posterior(beta)
        spread = 1 / np.diag(precision)
        residual = np.eye(len(self.noise)) - self.weights @ gain
        error = np.diag(residual @ moments @ residual.T) + self.weights**2 @ spread
        reconstruction = -0.5 * (np.log(2 * np.pi * self.noise) + error / self.noise).sum()
        divergence = 0.5 * (np.diag(gain @ moments @ gain.T) + spread - 1 - np.log(spread)).sum()
        return float(reconstruction), float(divergence)


def _check_finite(**arrays) -> None:
    """Raise a ValueError naming the first of `arrays` that holds NaN or infinite numbers."""
    for argument, values in arrays.items():
        if not np.isfinite(np.asarray(values)).all():
            raise ValueError(f"{argument}: got NaN or infinite numbers; allowed are finite ones.")


class SparseFit(NamedTuple):
    """What `fit_sparse` found: weights (X, K), and F_β in nats for one observation, at the start and in the end.

    Chapter 11.
    """

    weights: np.ndarray
    start: float
    end: float


def fit_sparse(
    x, weights, noise: Sequence[float], *, beta: float = 1.0, degrees_of_freedom: float = 3.5, steps: int = 480
) -> SparseFit:
    """Fit the weights of x = W z + ε with Student-t latents by mean-field inference, from the given weights.

    Each observation has a Gaussian posterior of its own, with a diagonal covariance. First they are fitted to the given
    weights, then weights and posteriors together maximise F_β, by L-BFGS with a line search: no step lowers it.

    x : observations (N, X). weights : (X, K). noise : variances (X,), which stay. beta : above 0.
    steps : of L-BFGS for the weights, in rounds of 80 in which it starts afresh.

    Source: as of `LinearGaussian`, Appendices B.7 and B.8 (which has ν = 3.5 and integrates on a grid). Chapter 11.
    """
    beta, freedom = check_numbers(0, above=True, beta=beta, degrees_of_freedom=degrees_of_freedom)
    check_integers(1, steps=steps)
    given = {"x": x, "weights": weights, "noise": noise}
    x, start, noise = (torch.from_numpy(float_array(value, name)) for name, value in given.items())
    _check_finite(x=x, weights=start, noise=noise)
    if not (noise > 0).all() or not len(x):
        raise ValueError(f"noise: got {noise.tolist()} for {len(x)} observations; allowed are variances above 0.")
    if x.ndim != 2 or start.ndim != 2 or len(start) != x.shape[1] or noise.shape != (x.shape[1],):
        raise ValueError(
            f"weights: got shape {tuple(start.shape)} and noise {tuple(noise.shape)} for observations "
            f"{tuple(x.shape)}; allowed are (X, K) and (X,) for (N, X)."
        )
    rule = expectation_rule()
    learnt = start.clone().requires_grad_()
    mean = torch.linalg.lstsq(start, x.T).solution.T.contiguous().requires_grad_()  # the shortest z with W z = x
    log_variance = torch.full_like(mean, -1.0).requires_grad_()

    def loss() -> Tensor:
        return -sparse_free_energy(x, learnt, noise, mean, log_variance, (beta, freedom), rule)

    _maximise([mean, log_variance], loss, 240)
    before = -loss().item()
    for done in range(0, steps, 80):
        _maximise([learnt, mean, log_variance], loss, min(80, steps - done))
    return SparseFit(learnt.detach().numpy(), before, -loss().item())


def sparse_free_energy(x, weights, noise, mean, log_variance, beta_and_freedom, rule) -> Tensor:
    (beta, freedom), (nodes, shares) = beta_and_freedom, rule
    error = (x - mean @ weights.T).square() + log_variance.exp() @ weights.square().T
    reconstruction = -0.5 * ((2 * math.pi * noise).log() + error / noise).sum(1)
    points = mean.unsqueeze(2) + (0.5 * log_variance).exp().unsqueeze(2) * nodes
    prior = (student_log_density(points, freedom) * shares).sum((1, 2))
    entropy = 0.5 * (log_variance + math.log(2 * math.pi * math.e)).sum(1)
    return (reconstruction + beta * (prior + entropy)).mean()


def student_log_density(z: Tensor, degrees_of_freedom: float) -> Tensor:
    """The log-density of Student's t distribution at z, in nats, elementwise. Chapter 11."""
    half = 0.5 * (degrees_of_freedom + 1)
    constant = math.lgamma(half) - math.lgamma(half - 0.5) - 0.5 * math.log(degrees_of_freedom * math.pi)
    return constant - half * (z.square() / degrees_of_freedom).log1p()


def expectation_rule() -> tuple[Tensor, Tensor]:
    """Points and shares with which a sum is an expectation under N(0, 1)."""
    nodes, shares = np.polynomial.hermite_e.hermegauss(NODES)
    return torch.from_numpy(nodes), torch.from_numpy(shares / shares.sum())


def _maximise(parameters: list[Tensor], loss, steps: int) -> None:
    settings = dict(history_size=20, line_search_fn="strong_wolfe", tolerance_grad=1e-7, tolerance_change=1e-10)
    optimiser = torch.optim.LBFGS(parameters, max_iter=steps, **settings)

    def closure() -> Tensor:
        optimiser.zero_grad()
        value = loss()
        value.backward(inputs=parameters)
        return value

    optimiser.step(closure)
