"""Theorem 1's map: it keeps the joint law, entangles every pair of latents, and is undone to the last digits."""

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cdist
from scipy.stats import expon, kstest, laplace, norm, ortho_group, poisson, uniform

from course_lib.theory import Entangler

MIXED = [uniform(-1, 2), norm(3, 2), expon(), laplace()]
PRIORS = {"uniform": [uniform()] * 2, "normal": [norm()] * 3, "mixed": MIXED, "high": [norm()] * 9 + [laplace()]}


def sample(prior, n, seed=0):
    generator = np.random.default_rng(seed)
    return np.stack([law.rvs(n, random_state=generator) for law in prior], axis=1)


def two_sample_p_value(first, second, permutations=199):
    """Energy distance between two samples of vectors (n, d), as a permutation test (Székely and Rizzo 2004)."""
    pooled, n = np.concatenate([first, second]), len(first)
    pooled = pooled / pooled.std(0)
    distances = cdist(pooled, pooled)
    generator = np.random.default_rng(0)
    signs = np.concatenate([np.ones(n), -np.ones(len(second))])
    signs = np.stack([signs] + [generator.permutation(signs) for _ in range(permutations)])
    energies = -np.einsum("pi,pi->p", signs @ distances, signs)
    return (energies >= energies[0]).mean()


@pytest.mark.parametrize("alpha", [0.1, 0.25, 0.45])
@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
def test_the_joint_law_is_kept(prior, alpha):
    moved = Entangler(prior, alpha)(sample(prior, 500))
    assert two_sample_p_value(moved, sample(prior, 500, seed=1)) > 0.005
    for law, column in zip(prior, moved.T, strict=True):
        assert kstest(column, law.cdf).pvalue > 1e-3


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
def test_the_coordinates_stay_independent(prior):
    """Against the same points with each column shuffled on its own, which makes any sample independent."""
    moved = Entangler(prior, 0.25)(sample(prior, 500, seed=2))
    generator = np.random.default_rng(3)
    shuffled = np.stack([generator.permutation(column) for column in moved.T], axis=1)
    assert two_sample_p_value(moved, shuffled) > 0.005


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
def test_the_two_sample_test_sees_a_copula_that_keeps_the_marginals_only(prior):
    dim = len(prior)
    covariance = np.full((dim, dim), 0.7) + 0.3 * np.eye(dim)
    scores = np.random.default_rng(0).multivariate_normal(np.zeros(dim), covariance, 500)
    dependent = np.stack([law.ppf(norm.cdf(score)) for law, score in zip(prior, scores.T, strict=True)], axis=1)
    for law, column in zip(prior, dependent.T, strict=True):
        assert kstest(column, law.cdf).pvalue > 1e-3
    assert two_sample_p_value(dependent, sample(prior, 500, seed=1)) <= 0.01


def test_the_two_sample_test_sees_the_missing_factor_of_the_printed_matrix():
    entangler = Entangler.normal(2, 0.25)
    printed = np.diag(np.diag(entangler.matrix)) + 0.5 * (entangler.matrix - np.diag(np.diag(entangler.matrix)))
    z = sample(entangler.prior, 500)
    assert two_sample_p_value(z @ printed.T, sample(entangler.prior, 500, seed=1)) <= 0.01


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 0.25, 1 / 3, 0.499])
def test_the_matrix_is_a_reflection_without_zeros(alpha):
    for dim in range(2, 51):
        entangler = Entangler.normal(dim, alpha)
        matrix = entangler.matrix
        np.testing.assert_allclose(matrix @ matrix.T, np.eye(dim), atol=1e-14)
        assert np.linalg.det(matrix) == pytest.approx(-1)
        assert np.abs(matrix).min() > 1e-4
        assert np.cos(entangler.angle) == pytest.approx(matrix[0, 0]) and 0 < entangler.angle < np.pi / 2


def test_the_smallest_case_by_hand():
    """α = ¼, d = 2: v = (½, √¾), so A = [[½, −√¾], [−√¾, −½]], an angle of 60°."""
    entangler = Entangler.normal(2, 0.25)
    side = 0.75**0.5
    np.testing.assert_allclose(entangler.matrix, [[0.5, -side], [-side, -0.5]], atol=1e-15)
    assert np.degrees(entangler.angle) == pytest.approx(60)
    np.testing.assert_allclose(entangler([[1.0, 0.0]]), [[0.5, -side]], atol=1e-14)
    centre = Entangler.uniform(2)([[0.5, 0.5]])
    np.testing.assert_allclose(centre, [[0.5, 0.5]], atol=1e-15)


def grid(low, high, dim, size=9):
    return np.stack(np.meshgrid(*[np.linspace(low, high, size)] * dim), axis=-1).reshape(-1, dim)


@pytest.mark.parametrize(
    ("entangler", "points", "tolerance"),
    [
        (Entangler.normal(2, 0.2), grid(-3, 3, 2), 1e-13),
        (Entangler.normal(4, 0.2), grid(-8, 8, 4, 5), 1e-12),
        (Entangler.uniform(3, 0.4), grid(0.01, 0.99, 3), 1e-13),
        (Entangler(MIXED, 0.3), sample(MIXED, 1000), 1e-11),
        (Entangler.normal(50, 0.1), sample([norm()] * 50, 1000), 1e-12),
    ],
    ids=["normal to 3", "normal to 8", "uniform", "mixed", "50 dimensions"],
)
def test_the_inverse_undoes_the_map(entangler, points, tolerance):
    np.testing.assert_allclose(entangler.inverse(entangler(points)), points, rtol=0, atol=tolerance)
    np.testing.assert_allclose(entangler(entangler.inverse(points)), points, rtol=0, atol=tolerance)


def test_for_a_normal_prior_the_map_is_the_matrix_far_into_the_tails():
    entangler = Entangler.normal(3, 0.2)
    points = grid(-16, 16, 3)
    np.testing.assert_allclose(entangler(points), points @ entangler.matrix, rtol=1e-12, atol=1e-12)


def test_long_upper_tails_are_kept_too():
    """A cumulative probability rounds to 1 at an exponential 37; the survival function goes on."""
    entangler = Entangler([expon(), laplace()], 0.2)
    points = np.stack([np.linspace(1, 200, 50), np.linspace(-200, 200, 50)], axis=1)
    np.testing.assert_allclose(entangler.inverse(entangler(points)), points, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
def test_the_jacobian_equals_finite_differences(prior):
    entangler, points, step = Entangler(prior, 0.2), sample(prior, 50), 1e-6
    points = np.stack([law.ppf(0.02 + 0.96 * law.cdf(x)) for law, x in zip(prior, points.T, strict=True)], axis=1)
    moves = step * np.eye(len(prior))
    columns = [(entangler(points + move) - entangler(points - move)) / (2 * step) for move in moves]
    np.testing.assert_allclose(entangler.jacobian(points), np.stack(columns, axis=2), rtol=1e-5, atol=1e-7)


def test_the_jacobian_equals_autograd():
    """The composition once more, in PyTorch, for an exponential and a Laplace latent."""
    entangler, z = Entangler([expon(), laplace()], 0.3), np.array([[0.7, 0.4], [1.9, -1.2]])
    laws = [torch.distributions.Exponential(1.0), torch.distributions.Laplace(0.0, 1.0)]
    standard, matrix = torch.distributions.Normal(0.0, 1.0), torch.from_numpy(entangler.matrix)

    def composed(point):
        scores = torch.stack([standard.icdf(law.cdf(x)) for law, x in zip(laws, point, strict=True)])
        return torch.stack([law.icdf(standard.cdf(x)) for law, x in zip(laws, matrix @ scores, strict=True)])

    points = torch.from_numpy(z)
    np.testing.assert_allclose(entangler(z), torch.stack([composed(point) for point in points]), rtol=1e-12)
    expected = torch.stack([torch.autograd.functional.jacobian(composed, point) for point in points])
    np.testing.assert_allclose(entangler.jacobian(z), expected, rtol=1e-10)


@pytest.mark.parametrize("prior", [[uniform()] * 2, [norm()] * 2, [uniform()] * 3, MIXED], ids=range(4))
def test_no_partial_derivative_is_zero_on_a_grid(prior):
    quantiles = grid(0.01, 0.99, len(prior))
    points = np.stack([law.ppf(column) for law, column in zip(prior, quantiles.T, strict=True)], axis=1)
    jacobian = Entangler(prior, 0.25).jacobian(points)
    assert np.isfinite(jacobian).all() and np.abs(jacobian).min() > 1e-8
    assert (np.sign(jacobian) == np.sign(Entangler(prior, 0.25).matrix)).all()


def test_different_alphas_give_different_maps():
    z = sample([uniform()] * 2, 20)
    images = [Entangler.uniform(2, alpha)(z) for alpha in np.linspace(0.05, 0.45, 9)]
    assert min(np.abs(a - b).max() for a, b in zip(images, images[1:], strict=False)) > 0.01


def test_tensors_are_taken_and_arrays_returned():
    z = torch.randn(4, 2, generator=torch.Generator().manual_seed(0))
    moved = Entangler.normal(2)(z)
    assert isinstance(moved, np.ndarray) and moved.dtype == np.float64 and moved.shape == (4, 2)


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("prior", lambda: Entangler([norm()])),
        ("prior", lambda: Entangler([])),
        ("prior", lambda: Entangler(norm())),
        ("prior", lambda: Entangler([norm(), poisson(3)])),
        ("prior", lambda: Entangler([norm(), ortho_group(3)])),
        ("dim", lambda: Entangler.normal(1)),
        ("dim", lambda: Entangler.uniform(2.5)),
        ("alpha", lambda: Entangler.normal(2, 0.5)),
        ("alpha", lambda: Entangler.normal(2, 0)),
        ("alpha", lambda: Entangler.normal(2, float("nan"))),
        ("alpha", lambda: Entangler.normal(2, "small")),
        ("z", lambda: Entangler.normal(2)(np.zeros((4, 3)))),
        ("z", lambda: Entangler.normal(2)(np.zeros(2))),
        ("z", lambda: Entangler.normal(2)([[0, np.nan]])),
        ("z", lambda: Entangler.uniform(2)([[0.5, 1.0]])),
        ("z", lambda: Entangler.uniform(2).jacobian([[-0.1, 0.5]])),
    ],
)
def test_errors_name_the_argument(argument, call):
    with pytest.raises(ValueError, match=f"^{argument}: got .*allowed"):
        call()
