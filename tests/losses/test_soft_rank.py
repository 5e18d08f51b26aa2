"""Soft ranks against SciPy's ranks, a projection by another route, published values, and themselves on another path."""

import importlib
from itertools import permutations

import numpy as np
import pytest
import torch
from scipy.optimize import isotonic_regression, nnls
from scipy.stats import pearsonr, rankdata, spearmanr
from torch.autograd import gradcheck

from course_lib.losses.soft_rank import hard_rank, min_max_regression, pool_adjacent_violators, soft_rank, spearman

MODULE = importlib.import_module("course_lib.losses.soft_rank")


def normal(*shape, seed=0, dtype=torch.float64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def tied(*shape, levels=10, seed=0):
    return torch.randint(levels, shape, generator=torch.Generator().manual_seed(seed)).double()


def absolute(values, strength):
    """The relative regularisation that equals `strength` in the paper's units, where values count as they are."""
    n = values.shape[-1]
    return strength * ((n**2 - 1) / 12) ** 0.5 / values.std(correction=0).item()


@pytest.mark.parametrize(("strength", "expected"), [(1.0, [3, 1, 2]), (2.0, [3, 1.25, 1.75])])
def test_values_that_the_authors_print(strength, expected):
    """From the README of their code, https://github.com/google-research/fast-soft-sort."""
    values = torch.tensor([5.0, 1.0, 2.0], dtype=torch.float64)
    ranks = soft_rank(values, absolute(values, strength))
    torch.testing.assert_close(ranks, torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("strength", [0.05, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_it_is_the_projection_on_the_permutahedron(n, strength):
    """As weights of the n! corners, found by non-negative least squares."""
    corners = np.array(list(permutations(range(1, n + 1)))).T
    for values in (normal(n, seed=1), normal(n, seed=2) + 5, (torch.arange(n) == 1).double()):
        scaled = values.numpy() / strength
        scaled = scaled - scaled.mean() + (n + 1) / 2  # the permutahedron lies in the plane of this mean
        weights, _ = nnls(np.vstack([corners, 1e6 * np.ones(corners.shape[1])]), np.append(scaled, 1e6))
        ranks = soft_rank(values, absolute(values, strength))
        np.testing.assert_allclose(ranks, corners @ weights, atol=1e-6)


@pytest.mark.parametrize("regression", [pool_adjacent_violators, min_max_regression])
@pytest.mark.parametrize("n", [1, 2, 64, 700])
def test_isotonic_regression_equals_scipy_s(regression, n):
    for targets in (normal(n), normal(n) + torch.arange(n) / n, tied(n), -torch.arange(n).double(), normal(n) * 1e6):
        expected = torch.from_numpy(isotonic_regression(targets.numpy()).x)
        torch.testing.assert_close(regression(targets), expected, rtol=1e-10, atol=1e-10)
    rows = normal(2, 3, n)
    torch.testing.assert_close(regression(rows)[1, 2], regression(rows[1, 2]), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("regression", [pool_adjacent_violators, min_max_regression])
def test_a_large_offset_costs_isotonic_regression_no_digits_of_its_own(regression):
    torch.testing.assert_close(regression(normal(700) + 2**30) - 2**30, regression(normal(700)), rtol=0, atol=1e-6)


@pytest.mark.parametrize("n", [2, 3, 64, 512, 4096])
@pytest.mark.parametrize("regularisation", [1e-9, 1e-6])
def test_the_limit_of_a_small_regularisation_is_rankdata(n, regularisation):
    for values in (normal(n), tied(n), tied(n, levels=3) * 1e-3, torch.exp(normal(n)), tied(n).float()):
        ranks = soft_rank(values, regularisation)
        np.testing.assert_allclose(ranks, rankdata(values), atol=1e-6)
        np.testing.assert_array_equal(hard_rank(values), rankdata(values))


def test_evenly_spaced_values_are_their_own_ranks_up_to_1_and_shrink_above():
    values = torch.arange(1, 101, dtype=torch.float64)[torch.randperm(100, generator=torch.Generator().manual_seed(0))]
    for regularisation in (0.01, 0.5, 0.9999, 1.0):
        torch.testing.assert_close(soft_rank(3 * values - 7, regularisation), values, rtol=0, atol=1e-9)
    torch.testing.assert_close(soft_rank(values, 4.0), 50.5 + (values - 50.5) / 4)


def test_rounding_does_not_split_a_block():
    """Evenly spaced values at strength 1 are one block on the verge of falling apart: the derivative is that of one."""
    values = torch.arange(100, dtype=torch.float64) / 7
    on, above = (torch.autograd.functional.jacobian(lambda v, s=s: soft_rank(v, s), values) for s in (1.0, 1.00001))
    torch.testing.assert_close(on, above, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("regularisation", [0.03, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("shape", [(2,), (12,), (3, 9), (2, 2, 6)])
def test_gradients_by_finite_differences(shape, regularisation):
    values = normal(*shape, seed=4).requires_grad_()
    assert gradcheck(lambda values: soft_rank(values, regularisation), values)
    assert gradcheck(lambda values: spearman(values, normal(*shape, seed=5), regularisation), values)


def test_with_fixed_scale_the_derivative_centres_each_block():
    """Two well-separated groups of close values: ∂r/∂θ is (I − 11ᵀ/m)/ε on each, 0 between them."""
    scale = 1e6  # two distant outliers, which make up the whole spread and so fix the scale
    group = torch.tensor([0.0, 0.1, 0.3], dtype=torch.float64)
    values = torch.cat([-torch.tensor([scale]), group, 10 + group, torch.tensor([scale])]).double()
    strength = 1.0
    jacobian = torch.autograd.functional.jacobian(lambda v: soft_rank(v, absolute(values, strength)), values)
    centring = torch.eye(3) - 1 / 3
    expected = torch.block_diag(torch.zeros(1, 1), centring, centring, torch.zeros(1, 1)).double()
    torch.testing.assert_close(jacobian, expected, rtol=0, atol=1e-5)


CASES = {
    "normal": normal,
    "ties": tied,
    "few levels": lambda n: tied(n, levels=2),
    "half tied": lambda n: torch.cat([normal(n // 2), torch.zeros(n - n // 2).double()]),
    "heavy tails": lambda n: normal(n) ** 5,
    "evenly spaced": lambda n: torch.arange(n).double(),
    "constant": lambda n: torch.full((n,), 0.1).double(),
    "float32": lambda n: normal(n, dtype=torch.float32),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    ("n", "strengths"), [(64, [1e-3, 0.1, 1.0, 3.0]), (600, [1e-3, 0.1, 1.0, 3.0]), (1025, [0.5]), (4096, [1.0])]
)
def test_the_path_for_other_devices_gives_the_same(monkeypatch, n, strengths, case):
    values, target = CASES[case](n).requires_grad_(), normal(n, seed=9)

    def results():
        for strength in strengths:
            ranks = soft_rank(values, strength)
            yield ranks
            yield from torch.autograd.grad((ranks * target).sum() / n, values)

    here = list(results())
    monkeypatch.setattr(MODULE, "pool_adjacent_violators", min_max_regression)
    torch.testing.assert_close(list(results()), here, rtol=1e-5, atol=1e-5)


def test_away_from_a_cpu_nothing_depends_on_the_data():
    """Tensors without data refuse every step that would have to look at it, as a CUDA graph does."""
    prediction = torch.empty(3, 1000, device="meta", requires_grad=True)
    correlation = spearman(prediction, torch.empty(3, 1000, dtype=torch.int64, device="meta"))
    correlation.sum().backward()
    assert correlation.shape == (3,) and prediction.grad.shape == prediction.shape


@pytest.mark.parametrize("n", [2, 7, 512])
@pytest.mark.parametrize("constant", [0.0, 0.1, -1e30, 1e-30])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_constant_input_has_the_mean_rank_no_correlation_and_no_gradient(n, constant, dtype):
    values = torch.full((n,), constant, dtype=dtype, requires_grad=True)
    ranks, correlation = soft_rank(values), spearman(values, normal(n))
    assert (ranks == (n + 1) / 2).all() and correlation == 0
    for output in (ranks, correlation):
        (gradient,) = torch.autograd.grad((output * normal(n)).sum(), values)
        assert (gradient == 0).all()
    varied = normal(n, dtype=dtype).requires_grad_()
    correlation = spearman(varied, values.detach())
    assert correlation == 0 and (torch.autograd.grad(correlation, varied)[0] == 0).all()


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 7.0, 1e6])
def test_scale_and_shift_change_nothing(scale):
    values = normal(50).requires_grad_()
    other = (values.detach() * scale + scale * 3).requires_grad_()
    torch.testing.assert_close(soft_rank(other, 0.5), soft_rank(values, 0.5))
    (expected,), (got,) = (torch.autograd.grad(spearman(x, normal(50, seed=1), 0.5), x) for x in (values, other))
    torch.testing.assert_close(got * scale, expected)
    assert abs(got.sum() * scale) < 1e-12 and abs((got * other).sum()) < 1e-12


def test_the_regularisation_means_the_same_for_every_n():
    """Of equally distributed values, soft ranks as a share of n barely depend on n."""
    quantiles = ((torch.arange(n, dtype=torch.float64) + 0.5) / n for n in (200, 2000))
    small, large = (soft_rank(torch.special.ndtri(quantile)) / len(quantile) for quantile in quantiles)
    torch.testing.assert_close(large.view(200, 10).mean(1), small, rtol=0, atol=0.01)


def test_float32_at_4096():
    values = normal(4096, dtype=torch.float32).requires_grad_()
    exact = values.detach().double().requires_grad_()
    ranks = soft_rank(values)
    assert ranks.dtype == torch.float32
    torch.testing.assert_close(ranks, soft_rank(exact).float())
    gradients = [torch.autograd.grad(spearman(x, normal(4096, seed=1)), x)[0].float() for x in (values, exact)]
    torch.testing.assert_close(*gradients, rtol=1e-5, atol=1e-9)
    assert soft_rank(normal(9).bfloat16()).dtype == torch.float32


@pytest.mark.parametrize("n", [2, 64, 4096])
def test_spearman_tends_to_scipy_s(n):
    for prediction, target in ((normal(n), normal(n, seed=1)), (normal(n) + tied(n), tied(n)), (-tied(n), tied(n))):
        if target.unique().numel() > 1:
            expected = spearmanr(prediction, target).statistic
            assert spearman(prediction, target, 1e-9).item() == pytest.approx(expected, abs=1e-9)
            assert spearman(prediction, target).item() == pytest.approx(expected, abs=0.05 if n > 2 else 1e-9)


def test_spearman_of_a_large_regularisation_correlates_the_values_themselves():
    prediction, target = torch.exp(normal(200)), normal(200) + normal(200, seed=1)
    expected = pearsonr(prediction, rankdata(target)).statistic
    assert spearman(prediction, target, 1e3).item() == pytest.approx(expected)
    assert abs(expected - spearmanr(prediction, target).statistic) > 0.1


def test_spearman_of_rows_and_of_integers():
    prediction, target = normal(2, 3, 40), tied(2, 3, 40).long()
    correlation = spearman(prediction, target)
    assert correlation.shape == (2, 3)
    torch.testing.assert_close(correlation[1, 2], spearman(prediction[1, 2], target[1, 2].double()))


@pytest.mark.parametrize("regularisation", [0.1, 1.0])
def test_climbing_it_learns_a_ranking(regularisation):
    """Eight weights, of which the target wants two: from a correlation near 0 to a perfect order."""
    features, weights = normal(256, 8).exp(), (normal(8, seed=3) * 0.1).requires_grad_()
    target = (features[:, 0] + 2 * features[:, 1]) ** 3
    optimiser = torch.optim.Adam([weights], lr=0.03)
    for _ in range(200):
        optimiser.zero_grad()
        (-spearman(features @ weights, target, regularisation)).backward()
        optimiser.step()
    assert spearmanr((features @ weights).detach(), target).statistic > 0.97


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("values", lambda: soft_rank(torch.ones(1))),
        ("values", lambda: soft_rank(torch.tensor(1.0))),
        ("values", lambda: soft_rank(torch.arange(4))),
        ("values", lambda: soft_rank(torch.tensor([1.0, float("nan")]))),
        ("values", lambda: hard_rank(torch.tensor([1.0, float("inf")]))),
        ("regularisation", lambda: soft_rank(torch.ones(3), 0.0)),
        ("regularisation", lambda: soft_rank(torch.ones(3), -1.0)),
        ("regularisation", lambda: spearman(torch.ones(3), torch.ones(3), float("nan"))),
        ("target", lambda: spearman(torch.ones(3), torch.ones(4))),
        ("target", lambda: spearman(torch.ones(3), torch.ones(3, requires_grad=True))),
        ("target", lambda: spearman(torch.ones(2), torch.tensor([1.0, float("inf")]))),
        ("prediction", lambda: spearman(torch.ones(1), torch.ones(1))),
        ("prediction", lambda: spearman(torch.tensor([1.0, float("inf")]), torch.ones(2))),
    ],
)
def test_errors_name_the_argument(argument, call):
    with pytest.raises(ValueError, match=f"^{argument}: got"):
        call()
