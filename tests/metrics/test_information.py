"""Entropy and mutual information, against scipy and scikit-learn."""

import numpy as np
import pytest
from scipy.stats import entropy as scipy_entropy
from sklearn.metrics import mutual_info_score

from course_lib.metrics import information
from course_lib.metrics.information import (
    discretise,
    entropy,
    information_matrix,
    information_of,
    smallest_sample,
)


@pytest.fixture
def draws():
    return np.random.default_rng(0)


def test_entropy_is_scipys_in_nats(draws):
    values = draws.integers(-3, 5, 500)
    assert entropy(values) == pytest.approx(scipy_entropy(np.unique(values, return_counts=True)[1]))
    assert entropy(np.zeros(10, int)) == 0


def test_mutual_information_is_scikit_learns(draws):
    first = draws.integers(-5, 7, 1000)
    others = np.stack([draws.integers(-2, 3, 1000), first // 3, first, np.zeros(1000, int)], 1)
    expected = [mutual_info_score(first, second) for second in others.T]
    assert information_of(first[:, None], others)[0] == pytest.approx(expected, abs=1e-12)
    assert information_of(others, first[:, None])[:, 0] == pytest.approx(expected, abs=1e-12)


def test_bins_have_equal_width(draws):
    latents = np.stack([draws.normal(size=1000), draws.exponential(size=1000) * 1e-6, np.full(1000, 0.3)], 1)
    codes = discretise(latents, 20)
    for code, latent in zip(codes.T[:2], latents.T, strict=False):
        np.testing.assert_array_equal(np.bincount(code, minlength=20), np.histogram(latent, 20)[0])
    assert (codes[:, 2] == 0).all() and codes.max() == 19


def test_the_matrix_has_latents_in_rows(draws):
    factors = draws.integers(0, 6, (2000, 2))
    latents = np.stack([factors[:, 1] + 0.0, draws.normal(size=2000), factors[:, 0] * 2.0], 1)
    matrix = information_matrix(latents, factors)
    assert matrix.shape == (3, 2) and matrix.argmax(1).tolist()[::2] == [1, 0]
    assert matrix[0, 1] == pytest.approx(entropy(factors[:, 1])) and matrix[1].max() < 0.05


def test_the_smallest_sample_bounds_the_bias_at_independence(draws):
    factors = draws.integers(0, 8, (4000, 1))
    smallest = int(np.ceil(smallest_sample(factors)))
    assert smallest == pytest.approx(19 * 7 / (0.1 * np.log(8)), rel=0.01)
    biases = []
    for _ in range(20):
        chosen = draws.integers(0, 4000, smallest)
        biases.append(information_matrix(draws.random((smallest, 1)), factors[chosen])[0, 0] / np.log(8))
    assert np.mean(biases) == pytest.approx(0.05, rel=0.15)


def test_information_counted_and_sorted_is_the_same_to_the_last_bit(monkeypatch):
    """A large joint table is not held: its values are sorted, as in the definition."""
    draw = np.random.default_rng(0)
    latents, factors = draw.normal(size=(500, 3)), draw.integers(-(2**60), 2**60, size=(500, 2))
    factors[:, 1] %= 5
    counted = information_matrix(latents, factors, 7)
    codes = discretise(latents, 7)
    by_definition = [
        [entropy(code) + entropy(factor) - entropy(np.unique(np.stack([code, factor]), axis=1, return_inverse=True)[1])
         for factor in factors.T] for code in codes.T
    ]  # fmt: skip
    monkeypatch.setattr(information, "MOST_CELLS", -500)
    assert np.array_equal(counted, by_definition) and np.array_equal(counted, information_matrix(latents, factors, 7))
