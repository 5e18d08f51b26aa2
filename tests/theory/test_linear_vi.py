"""Mean-field inference in linear models: against integrals, samples and numerical maximisation."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.stats import multivariate_normal, norm, t

from course_lib.theory import LinearGaussian, fit_factors, fit_sparse, student_log_density
from course_lib.theory.linear_vi import expectation_rule, sparse_free_energy

MODEL = LinearGaussian([[1.0, 0.4], [-0.3, 0.8], [0.5, 0.5]], [0.3, 0.5, 0.2])


def bound(model, x, mean, spread, beta):
    """F_β of one observation for any q = N(mean, diag spread), term by term."""
    error = (x - model.weights @ mean) ** 2 + model.weights**2 @ spread
    reconstruction = norm.logpdf(0, scale=model.noise**0.5).sum() - 0.5 * (error / model.noise).sum()
    divergence = 0.5 * (mean**2 + spread - 1 - np.log(spread)).sum()
    return reconstruction - beta * divergence


def test_the_likelihood_is_that_of_a_normal_law():
    x = np.random.default_rng(0).normal(size=(20, 3))
    expected = multivariate_normal(np.zeros(3), MODEL.covariance).logpdf(x).mean()
    assert MODEL.log_likelihood(x.T @ x / len(x)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("beta", [0.5, 1.0, 5.0])
def test_no_other_diagonal_gaussian_has_a_higher_bound(beta):
    """q, and F_β, by numerical maximisation for one observation."""
    x = np.array([0.7, -1.1, 0.4])
    found = minimize(
        lambda v: -bound(MODEL, x, v[:2], np.exp(v[2:]), beta), np.zeros(4), method="BFGS", options={"gtol": 1e-9}
    )
    gain, precision = MODEL.posterior(beta)
    np.testing.assert_allclose(found.x[:2], gain @ x, atol=1e-5)
    np.testing.assert_allclose(np.exp(found.x[2:]), 1 / np.diag(precision), rtol=1e-5)
    assert MODEL.free_energy(np.outer(x, x), beta) == pytest.approx(-found.fun, abs=1e-9)


def test_the_exact_posterior_is_that_of_the_joint_normal_law():
    gain, precision = MODEL.posterior()
    cross = MODEL.weights.T @ np.linalg.inv(MODEL.covariance)
    np.testing.assert_allclose(gain, cross, atol=1e-12)
    np.testing.assert_allclose(np.linalg.inv(precision), np.eye(2) - cross @ MODEL.weights, atol=1e-12)


def test_beta_is_a_power_of_the_likelihood():
    """F_β is β times the bound with 1/β of each observation, that is, with the noise times β but for the constant."""
    beta, x = 4.0, np.array([0.7, -1.1, 0.4])
    rest = LinearGaussian(MODEL.weights, MODEL.noise * beta)
    constant = 0.5 * (beta * np.log(2 * np.pi * MODEL.noise * beta) - np.log(2 * np.pi * MODEL.noise)).sum()
    expected = beta * rest.free_energy(np.outer(x, x)) + constant
    assert MODEL.free_energy(np.outer(x, x), beta) == pytest.approx(expected, rel=1e-12)


def test_rotated_latents_leave_the_law_of_observations():
    turned = MODEL.rotate(30)
    np.testing.assert_allclose(turned.covariance, MODEL.covariance, atol=1e-14)
    np.testing.assert_allclose(turned.weights[:, 0], MODEL.weights @ [math.cos(math.pi / 6), 0.5], atol=1e-14)
    assert turned.free_energy() < MODEL.log_likelihood()


def test_the_students_density_is_scipys():
    z = torch.linspace(-8, 8, 33, dtype=torch.float64)
    np.testing.assert_allclose(student_log_density(z, 3.5), t(3.5).logpdf(z), rtol=1e-12)


def test_the_sparse_bound_equals_an_estimate_by_sampling():
    draws = np.random.default_rng(0)
    x, weights, noise = draws.normal(size=2), draws.normal(size=(2, 3)), np.array([0.5, 0.3])
    mean, spread = draws.normal(size=3), np.array([0.3, 0.5, 0.9])
    z = mean + spread * draws.normal(size=(400_000, 3))
    terms = norm.logpdf(x, z @ weights.T, noise**0.5).sum(1)
    terms += 2.0 * (t(3.5).logpdf(z) - norm.logpdf(z, mean, spread)).sum(1)
    tensors = [torch.from_numpy(value) for value in (x[None], weights, noise, mean[None], 2 * np.log(spread)[None])]
    found = sparse_free_energy(*tensors, (2.0, 3.5), expectation_rule()).item()
    assert found == pytest.approx(terms.mean(), abs=5 * terms.std() / 400_000**0.5)


def test_with_nearly_normal_latents_the_sparse_fit_is_the_linear_one():
    """ν = 10⁶, two latents: started at rotated weights, the fit turns to orthogonal ones, where the bound is tight."""
    model = LinearGaussian(np.diag([2.0, 1.0]), [0.2, 0.2])
    x = np.random.default_rng(0).multivariate_normal(np.zeros(2), model.covariance, 200)
    moments = x.T @ x / len(x)
    fit = fit_sparse(x, model.rotate(30).weights, model.noise, degrees_of_freedom=1e6)
    assert fit.start == pytest.approx(model.rotate(30).free_energy(moments), abs=1e-4)
    learnt = LinearGaussian(fit.weights, model.noise)
    assert fit.end == pytest.approx(learnt.free_energy(moments), abs=1e-4) and fit.end > fit.start
    assert learnt.log_likelihood(moments) - fit.end < 1e-3
    cosine = fit.weights[:, 0] @ fit.weights[:, 1] / np.linalg.norm(fit.weights, axis=0).prod()
    assert abs(cosine) < 0.02


def test_more_steps_never_lower_the_bound():
    draws = np.random.default_rng(0)
    weights = np.array([[1.0, 0.5, -0.5], [0.0, 0.9, 0.9]])
    x = draws.standard_t(3.5, size=(50, 3)) @ weights.T + 0.3 * draws.normal(size=(50, 2))
    ends = [fit_sparse(x, weights, [0.1, 0.1], steps=steps) for steps in (1, 5, 20, 80)]
    values = [ends[0].start] + [fit.end for fit in ends]
    assert all(later >= earlier - 1e-12 for earlier, later in zip(values, values[1:], strict=False))


@pytest.mark.parametrize("beta", [1.0, 2.0, 5.0])
def test_factors_learnt_with_equal_noise_are_the_principal_components(beta):
    """In closed form: orthogonal, of length √(Λ − β d), and without those of less variance than β d."""
    draws = np.random.default_rng(0)
    directions, variances, noise = np.linalg.qr(draws.normal(size=(4, 4)))[0], np.array([5, 2, 0.8, 0.3]), 0.2
    moments = directions * variances @ directions.T
    fit = fit_factors(moments, draws.normal(size=(4, 3)), [noise] * 4, beta=beta)
    left = (variances[:3] - beta * noise).clip(0)
    weights = fit.model.weights
    np.testing.assert_allclose(weights @ weights.T, directions[:, :3] * left @ directions[:, :3].T, atol=1e-4)
    np.testing.assert_allclose(np.sort(np.diag(weights.T @ weights))[::-1], left, atol=1e-4)
    assert fit.converged and (np.diff(fit.bounds) >= -1e-13).all()
    if beta == 1:
        assert fit.bounds[-1] == pytest.approx(fit.model.log_likelihood(moments), abs=1e-8)


def test_factors_learnt_with_unequal_noise_are_a_maximum():
    """No optimiser finds a higher bound from there, and the weights' gradient is 0."""
    draws = np.random.default_rng(1)
    noise, moments = np.array([0.2, 0.5, 0.3]), np.cov(draws.normal(size=(3, 9)))
    fit = fit_factors(moments, draws.normal(size=(3, 2)), noise, beta=1.5)

    def loss(flat):
        return -LinearGaussian(flat.reshape(3, 2), noise).free_energy(moments, 1.5)

    found = minimize(loss, fit.model.weights.ravel(), method="BFGS")
    assert fit.converged and -found.fun - fit.bounds[-1] < 1e-8
    np.testing.assert_allclose(np.abs(found.jac), 0, atol=1e-4)


def over_complete(degrees, n=120, seed=0):
    """Observations of three sparse components in the plane, with noise of variance .1, and their directions."""
    draws, angles = np.random.default_rng(seed), np.radians(degrees)
    weights = np.stack([np.cos(angles), np.sin(angles)])
    return draws.standard_t(3.5, size=(n, 3)) @ weights.T + 0.1**0.5 * draws.normal(size=(n, 2)), weights


def test_a_sparse_fit_that_has_converged_is_a_fixed_point():
    """The weights are the best for its posteriors, in closed form; and these the best for the weights, by search."""
    x, weights = over_complete((0, 60, 120), n=40)
    fit = fit_sparse(x, weights, [0.1, 0.1])
    assert fit.converged and fit.end > fit.start
    best = (x.T @ fit.mean) @ np.linalg.inv(fit.mean.T @ fit.mean + np.diag(fit.variance.sum(0)))
    np.testing.assert_allclose(fit.weights, best, atol=1e-4)
    tensors, rule = [torch.from_numpy(value) for value in (fit.weights, np.array([0.1, 0.1]))], expectation_rule()

    def loss(flat, place):
        q = torch.from_numpy(flat).view(2, 1, 3)
        return -sparse_free_energy(torch.from_numpy(x[[place]]), *tensors, q[0], q[1], (1.0, 3.5), rule).item()

    for place in (0, 7):
        here = np.concatenate([fit.mean[place], np.log(fit.variance[place])])
        assert loss(here, place) - minimize(loss, here, args=(place,), method="BFGS").fun < 1e-6


def test_the_bias_of_the_appendix_is_on_the_way():
    """At β = 1 three components are there after 40 steps, of which one goes in the end, as it does at β = 5."""
    x, weights = over_complete((0, 60, 120), n=80)
    lengths = {
        (beta, steps): np.sort(
            np.linalg.norm(fit_sparse(x, weights, [0.1] * 2, beta=beta, steps=steps).weights, axis=0)
        )
        for beta, steps in ((1.0, 40), (1.0, None), (5.0, None))
    }
    assert lengths[1.0, 40][0] > 0.5 and lengths[1.0, None][0] < 0.05 and lengths[5.0, None][0] < 0.05
    assert lengths[1.0, None][1] > 1 and lengths[5.0, None][1] > 1


def test_with_lengths_fixed_directions_spread():
    """Three directions 30° apart: none can go, and they move towards right angles."""
    x, weights = over_complete((0, 30, 60), n=300)
    fit = fit_sparse(x, weights, [0.1, 0.1], fixed_lengths=True)
    angles = np.sort(np.degrees(np.arctan2(fit.weights[1], fit.weights[0])) % 180)
    np.testing.assert_allclose(np.linalg.norm(fit.weights, axis=0), 1)
    gaps = np.sort(np.diff(np.append(angles, angles[0] + 180)))
    assert fit.converged and gaps[0] > 34 and gaps[2] < 105


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("noise", lambda: LinearGaussian([[1.0]], [0.0])),
        ("noise", lambda: LinearGaussian([[1.0]], [1.0, 1.0])),
        ("noise", lambda: LinearGaussian([1.0], [1.0])),
        ("beta", lambda: MODEL.free_energy(beta=0)),
        ("beta", lambda: fit_sparse(np.zeros((3, 2)), np.eye(2), [1, 1], beta=-1.0)),
        ("moments", lambda: fit_factors(np.eye(2), np.zeros((3, 2)), [1, 1, 1])),
        ("moments", lambda: fit_factors(np.triu(np.ones((2, 2))), np.eye(2), [1, 1])),
        ("noise", lambda: fit_factors(np.eye(2), np.eye(2), [1, 0])),
        ("beta", lambda: fit_factors(np.eye(2), np.eye(2), [1, 1], beta=0)),
        ("fixed_lengths", lambda: fit_sparse(np.zeros((3, 2)), np.eye(2), [1, 1], fixed_lengths=2)),
        ("steps", lambda: fit_sparse(np.zeros((3, 2)), np.eye(2), [1, 1], steps=0)),
        ("degrees_of_freedom", lambda: fit_sparse(np.zeros((3, 2)), np.eye(2), [1, 1], degrees_of_freedom=0)),
        ("weights", lambda: fit_sparse(np.zeros((3, 2)), np.eye(3), [1, 1])),
        ("weights", lambda: fit_sparse(np.zeros((3, 2)), np.eye(2), [1, 1, 1])),
    ],
)
def test_errors_name_the_argument(argument, call):
    with pytest.raises(ValueError, match=f"^{argument}: got .*allowed"):
        call()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: LinearGaussian([[np.nan]], [1.0]), "weights: got NaN"),
        (lambda: LinearGaussian([[1.0]], [np.inf]), "noise: got NaN or infinite"),
        (lambda: fit_sparse(np.full((4, 2), np.nan), np.ones((2, 1)), [1, 1]), "x: got NaN"),
        (lambda: fit_sparse(np.ones((4, 2)), np.ones((2, 1)), [0, 1]), "noise: got .* allowed are variances above 0"),
        (lambda: fit_sparse(np.ones((0, 2)), np.ones((2, 1)), [1, 1]), "noise: got .* for 0 observations"),
    ],
)
def test_what_cannot_be_fitted_is_refused_by_name(call, words):
    with pytest.raises(ValueError, match=words):
        call()
