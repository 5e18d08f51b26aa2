"""Mean-field variational inference in linear models, where all but one integral is in closed form."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from course_lib.arguments import check_choice, check_integers, check_numbers, float_array

NODES = 32  # of the Gauss–Hermite rule for E_q[log t]: off by less than 1e-8 nats for σ ≤ 1, by 2e-6 at 1.5 (ν = 3.5)
ROUND = 80  # steps of L-BFGS after which it starts afresh
GAIN = 1e-9  # nats for one observation that a round has to bring
MOST = 200  # rounds, or thousands of iterations, after which a fit gives up on convergence


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


class FactorFit(NamedTuple):
    """What `fit_factors` found: the model, F_β in nats for one observation after each iteration, and whether it ended.

    Chapter 11.
    """

    model: LinearGaussian
    bounds: np.ndarray
    converged: bool


def fit_factors(moments, weights, noise, *, beta: float = 1.0, tolerance: float = 1e-12) -> FactorFit:
    r"""Learn the weights of factor analysis by variational Bayes to convergence, from the given ones.

    .. math:: q \leftarrow \arg\max_q F_\beta(q, W), \qquad W \leftarrow C G^\top (G C G^\top + S)^{-1}

    Each iteration takes the best diagonal Gaussians, in closed form (with means G x and variances S, see
    `LinearGaussian`), and then the best weights for them, so that no iteration lowers F_β. With equal noise d the best
    weights of all are W = U (Λ − β d)^½, with the variances Λ and directions U of the principal components: orthogonal,
    and without those of a variance below β d. The likelihood would be as high with any rotation.

    moments : C, the second moments of the observations, (X, X). weights : (X, K). noise : variances (X,), which stay.
    beta : above 0. tolerance : nats for one observation; an iteration that gains less is the last.

    Raises ValueError for other shapes or values. A column of weights that is 0 stays 0.

    Source: as of `LinearGaussian`, Appendices B.2 to B.5; the best weights, after Tipping and Bishop 1999 and Lucas
    et al., Don't blame the ELBO! A linear VAE perspective on posterior collapse, 2019. Chapter 11.
    """
    beta, tolerance = check_numbers(0, above=True, beta=beta, tolerance=tolerance)
    model, moments = LinearGaussian(weights, noise), float_array(moments, "moments")
    if moments.shape != (len(model.noise),) * 2 or not np.allclose(moments, moments.T):
        size = len(model.noise)
        raise ValueError(f"moments: got shape {moments.shape}; allowed is a symmetric matrix ({size}, {size}).")
    bounds = [model.free_energy(moments, beta)]
    for _ in range(1000 * MOST):
        gain, precision = model.posterior(beta)
        cross = moments @ gain.T
        weights = np.linalg.solve(gain @ cross + np.diag(1 / np.diag(precision)), cross.T).T
        model = LinearGaussian(weights, model.noise)
        bounds.append(model.free_energy(moments, beta))
        if bounds[-1] - bounds[-2] < tolerance:
            return FactorFit(model, np.array(bounds), True)
    return FactorFit(model, np.array(bounds), False)


def _check_finite(**arrays) -> None:
    """Raise a ValueError naming the first of `arrays` that holds NaN or infinite numbers."""
    for argument, values in arrays.items():
        if not np.isfinite(np.asarray(values)).all():
            raise ValueError(f"{argument}: got NaN or infinite numbers; allowed are finite ones.")


class SparseFit(NamedTuple):
    """What `fit_sparse` found: weights (X, K), and F_β in nats for one observation, at the start and in the end.

    mean, variance : of each observation's posterior, (N, K). converged : whether the last round gained nothing.

    Chapter 11.
    """

    weights: np.ndarray
    start: float
    end: float
    mean: np.ndarray | None = None
    variance: np.ndarray | None = None
    converged: bool = False


def fit_sparse(
    x,
    weights,
    noise: Sequence[float],
    *,
    beta: float = 1.0,
    degrees_of_freedom: float = 3.5,
    steps: int | None = None,
    fixed_lengths: bool = False,
) -> SparseFit:
    """Fit the weights of x = W z + ε with Student-t latents by mean-field inference, from the given weights.

    Each observation has a Gaussian posterior of its own, with a diagonal covariance. First they are fitted to the given
    weights, then weights and posteriors together maximise F_β, by L-BFGS with a line search: no step lowers it.

    x : observations (N, X). weights : (X, K). noise : variances (X,), which stay. beta : above 0.
    steps : of L-BFGS for the weights, in rounds of 80 in which it starts afresh; None goes on to convergence, when a
        round gains less than 1e-9 nats for one observation. That matters: of three components in the plane at β = 1 all
        are there after 40 steps, and one is pruned in the end.
    fixed_lengths : whether the columns of W keep their lengths, so that none can be pruned and only directions are
        learnt.

    Source: as of `LinearGaussian`, Appendices B.7 and B.8 (which has ν = 3.5 and integrates on a grid). Chapter 11.
    """
    beta, freedom = check_numbers(0, above=True, beta=beta, degrees_of_freedom=degrees_of_freedom)
    if steps is not None:
        check_integers(1, steps=steps)
    check_choice((False, True), fixed_lengths=fixed_lengths)
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
    rule, lengths = expectation_rule(), start.norm(dim=0)
    learnt = start.clone().requires_grad_()
    mean = torch.linalg.lstsq(start, x.T).solution.T.contiguous().requires_grad_()  # the shortest z with W z = x
    log_variance = torch.full_like(mean, -1.0).requires_grad_()

    def current() -> Tensor:
        return learnt * (lengths / learnt.norm(dim=0)) if fixed_lengths else learnt

    def loss() -> Tensor:
        return -sparse_free_energy(x, current(), noise, mean, log_variance, (beta, freedom), rule)

    _maximise([mean, log_variance], loss, 3 * ROUND)
    bounds = [-loss().item()]
    for done in range(0, MOST * ROUND if steps is None else steps, ROUND):
        _maximise([learnt, mean, log_variance], loss, ROUND if steps is None else min(ROUND, steps - done))
        bounds.append(-loss().item())
        if steps is None and bounds[-1] - bounds[-2] < GAIN:
            break
    weights, mean, variance = (tensor.detach().numpy() for tensor in (current(), mean, log_variance.exp()))
    return SparseFit(weights, bounds[0], bounds[-1], mean, variance, bounds[-1] - bounds[-2] < GAIN)


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
