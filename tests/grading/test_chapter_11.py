"""Chapter 11's exercises beyond what is tested for all chapters: their examples, and what they have of the library."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import kstest, norm

from course_grading.checks import ch11_structured_priors as ch11
from course_lib.models import DiagonalGaussian
from course_lib.theory import LinearGaussian, LpNested, fit_factors


def test_the_example_of_the_draws():
    shares, inside = torch.tensor([[0.5, 0.5]]), torch.tensor([[[0.5, 0.5], [1.0, 0.0]]])
    signs = torch.tensor([[1.0, -1, 1, 1]])
    found = ch11.nested_draws(torch.tensor([2.0]), shares, inside, signs, 2.0, torch.tensor([1.0, 2.0]), 2.0)
    assert found[0].tolist() == pytest.approx([0.7071, -0.7071, 1.4142, 0], abs=5e-5)


def test_with_gamma_and_dirichlet_numbers_the_draws_have_the_law():
    """At exponents 2 and scale 2 they are standard normal."""
    draws, n = np.random.default_rng(0), 4000
    energy, shares = draws.gamma(2, size=n), draws.dirichlet([1, 1], size=n)
    inside = draws.dirichlet([0.5, 0.5], size=(n, 2))
    signs = draws.choice([-1.0, 1.0], size=(n, 4))
    numbers = map(torch.from_numpy, (energy, shares, inside, signs))
    z = ch11._draws(*numbers, 2.0, torch.tensor([2.0, 2.0]), 2.0)
    assert min(kstest(column, norm.cdf).pvalue for column in z.T.numpy()) > 1e-3


def test_the_draws_have_the_radius_that_was_drawn():
    for energy, shares, inside, signs, outer, inner, scale in ch11.trees(torch.Generator().manual_seed(1)):
        z = ch11.nested_draws(energy, shares, inside, signs, outer, inner, scale)
        law = LpNested([inside.shape[2]] * inside.shape[1], outer, inner, scale)
        torch.testing.assert_close(law.norm(z) ** outer / scale, energy)


def test_the_example_of_the_angles():
    corners = torch.tensor([[1.0, 1], [1, -1], [-1, 1], [-1, -1]], dtype=torch.float64)
    assert ch11.angle_costs(corners, 4.0, 2.0, [0, 45]).tolist() == pytest.approx([1, 2])
    assert ch11._turned(torch.tensor([[1.0, 0.0]]), 90)[0].tolist() == pytest.approx([0, 1], abs=1e-6)


def test_what_an_angle_costs_is_the_librarys_density():
    for points, p, scale, angles in ch11.clouds(torch.Generator().manual_seed(2)):
        law = LpNested((1, 1), p, p, scale)
        costs = torch.stack([-law.log_density(ch11._turned(points, degrees)).mean() for degrees in angles])
        torch.testing.assert_close(ch11.angle_costs(points, p, scale, angles), costs - law.log_normaliser())


def test_the_examples_of_the_divergence():
    zero, one = torch.zeros(1, 2, dtype=torch.float64), torch.ones(1, 2, dtype=torch.float64)
    for z, log_variance, expected in ((zero, zero, 0), (zero, 2 * one, -2), (one, zero, 0)):
        found = ch11.sampled_divergence(z, zero, log_variance, 2, 2.0, 2.0, 2.0)
        assert found.item() == pytest.approx(expected, abs=1e-12)


def test_the_divergence_is_the_librarys():
    for z, mean, log_variance, size, outer, inner, scale in ch11.codes(torch.Generator().manual_seed(3)):
        law = LpNested([size] * (z.shape[1] // size), outer, inner, scale)
        expected = DiagonalGaussian(mean, log_variance).log_density(z).sum(1) - law.log_density(z)
        found = ch11.sampled_divergence(z, mean, log_variance, size, outer, inner, scale)
        torch.testing.assert_close(found, expected)


def test_factor_analysis_on_paper_is_that_of_the_library():
    moments, start = np.diag([4.1, 1.1, 0.6, 0.15]), np.random.default_rng(0).normal(size=(4, 5))
    noise = np.full(4, 0.1)
    lengths = np.linalg.norm(fit_factors(moments, start, noise, beta=2.0).model.weights, axis=0)
    assert lengths.max() == pytest.approx(ch11.PAPER["longest"], abs=1e-3) and (lengths > 0.01).sum() == 3
    for beta, kept in ((ch11.PAPER["alone"] - 0.5, 2), (ch11.PAPER["alone"] + 0.5, 1)):
        lengths = np.linalg.norm(fit_factors(moments, start, noise, beta=beta).model.weights, axis=0)
        assert (lengths > 0.02).sum() == kept
    model = LinearGaussian(np.diag([2.0, 1.0, 0.5**0.5, 0.05**0.5]), noise).rotate(45)
    gap = model.log_likelihood() - model.free_energy()
    assert gap == pytest.approx(ch11.PAPER["gap"], abs=1e-9)


@pytest.mark.parametrize(
    ("name", "cloud", "outer", "inner"),
    [
        ("plain", "square", 2.0, 2.0), ("light", "square", 8.0, 8.0), ("heavy", "square", 1.2, 1.2),
        ("disc", "disc", 8.0, 8.0), ("block", "square", 8.0, 2.0), ("diamond", "diamond", 1.2, 1.2),
    ],
)  # fmt: skip
def test_who_decides_by_densities(name, cloud, outer, inner):
    """The mean log-density of a filled shape, as it is and turned by 45°."""
    line = torch.linspace(-1, 1, 201, dtype=torch.float64)
    points = torch.cartesian_prod(line, line)
    points = {
        "square": points, "disc": points[points.norm(dim=1) <= 1], "diamond": points[points.abs().sum(1) <= 1],
    }[cloud]  # fmt: skip
    law = LpNested((2,), outer, inner)
    points = points / points.std() * law.sample(20_000).std()
    gain = (law.log_density(points) - law.log_density(ch11._turned(points, 45))).mean().item()
    said = "any" if abs(gain) < 2e-3 else "upright" if gain > 0 else "corner"
    assert said == ch11.AXES[name]


def test_the_gap_decides_for_the_weighted_world():
    model = LinearGaussian(np.diag([2.0, 1.0]), [0.1, 0.1])
    assert model.free_energy() - model.rotate(45).free_energy() > 0.1
    equal = LinearGaussian(np.eye(2), [0.1, 0.1])
    assert equal.rotate(45).free_energy() == pytest.approx(equal.free_energy(), rel=1e-12)


def test_a_turned_square_has_a_total_correlation():
    """1 − ln 2 nats, by counting; the latents of an upright square are independent."""
    line = (torch.arange(1_000, dtype=torch.float64) + 0.5) / 500 - 1
    points = torch.cartesian_prod(line, line)
    for angle, expected in ((0, 0.0), (45, 1 - math.log(2))):
        turned = ch11._turned(points, angle)
        width, entropy = 0.02, 2 * math.log(2)  # of the square, of side 2
        marginals = [torch.histc(column, 150, -1.5, 1.5) / len(points) for column in turned.T]
        found = sum(-torch.xlogy(each, each / width).sum().item() for each in marginals) - entropy
        assert found == pytest.approx(expected, abs=0.01)
    assert ch11.AXES["taxed"] == "upright"


def test_words_in_any_case(judged):
    assert judged("11.5", {name: word.upper() for name, word in reversed(ch11.AXES.items())}).passed
