"""Explicitness and size: the curve's area by hand, probes against scikit-learn, codes that are easy or hard to read."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge

from course_lib import metrics
from course_lib.metrics import _dci_es

WEIGHTS = np.exp(np.arange(5))  # capacities 0, 1, 2, 3, 4


@pytest.mark.parametrize(
    ("losses", "explicitness"),
    [
        ([0.0, 0.0, 0.0, 0.0, 0.0], 1),  # the smallest probe sees all
        ([1.0, 1.0, 1.0, 1.0, 1.0], 1),  # nobody sees anything
        ([0.3, 0.3, 0.3, 0.3, 0.3], 1),  # the smallest probe sees what there is to see
        ([1.0, 0.75, 0.5, 0.25, 0.0], 0),  # a line from a constant answer to none
        ([1.0, 0.0, 0.0, 0.0, 0.0], 0.75),  # a triangle of ½, of Z = 2
        ([1.0, 1.0, 1.0, 1.0, 0.0], -0.75),  # 3 + ½ of 2
        ([0.6, 0.35, 0.2, 0.2, 0.2], 1 - (0.275 + 0.075) / 2),
    ],
)
def test_the_area_by_hand(losses, explicitness):
    assert _dci_es._explicitness(np.array(losses), WEIGHTS) == pytest.approx(explicitness)


@pytest.fixture(scope="module")
def points():
    """4,000 points of two factors of nine values each, from −1 to 1."""
    factors = np.random.default_rng(0).integers(0, 9, (4000, 2))
    return factors / 4 - 1, factors


def values(latents, factors, **options):
    return metrics.dci_es.from_samples(latents, factors, **options).values


def test_linear_codes_are_explicit_whatever_their_axes_and_scales(points):
    at, factors = points
    for mixing in (np.eye(2), [[0.8, 0.6], [-0.6, 0.8]], [[3.0, 0.0, 1.0], [0.0, 1e-3, 2.0]]):
        found = values(at @ np.array(mixing), factors)
        assert found["explicitness"] > 0.999 and found["informativeness"] > 0.999
        assert found["size"] == 2 / np.shape(mixing)[1]


def test_what_takes_a_large_probe_is_less_explicit(points):
    """On a circle a straight line finds less of the way around than random features do; a cube bends less."""
    at, factors = points
    circle = np.concatenate([np.cos(0.9 * np.pi * at), np.sin(0.9 * np.pi * at)], 1)
    bent, round_about = values(at**3, factors), values(circle, factors)
    assert 0.6 < round_about["explicitness"] < bent["explicitness"] < 0.98
    assert round_about["informativeness"] > 0.99 and bent["informativeness"] > 0.98


def test_a_sign_that_two_latents_share_is_not_for_small_probes():
    """The factor is whether two latents have the same sign: a linear probe sees nothing at all."""
    latents = np.random.default_rng(0).uniform(-1, 1, (6000, 2))
    score = metrics.dci_es.from_samples(latents, (latents[:, :1] * latents[:, 1:] > 0).astype(int))
    assert score.matrix.iloc[0, 0] > 0.98 and score.values["informativeness"] > 0.7
    assert score.values["explicitness"] < 0.75


def test_noise_is_explicit_and_uninformative(points):
    """What the score does not ask for: it goes with the informativeness."""
    found = values(np.random.default_rng(1).normal(size=(4000, 3)), points[1])
    assert found["explicitness"] > 0.99 and found["informativeness"] < 0.01 and found["size"] == 2 / 3


def test_the_probes_are_ridge_regressions(points):
    """Against scikit-learn's, tested on the points that the seed sets aside, each with the least loss so far."""
    at, factors = points
    latents = np.concatenate([np.tanh(3 * at @ [[0.8, 0.6], [-0.6, 0.8]]), at[:, :1] ** 2], 1)
    score = metrics.dci_es.from_samples(latents, factors, num_test=1000, seed=4)
    order = torch.randperm(4000, generator=torch.Generator().manual_seed(4)).numpy()
    (train, test), (known, asked) = (np.split(array[order], [3000]) for array in (latents, factors))
    mean, deviation = train.mean(0), train.std(0)
    sides = tuple((side - mean) / deviation for side in (train, test))
    random = _dci_es._fourier(sides, 4)
    least = np.ones(2)
    for row, features in enumerate((0, 2, 4, 8, 16, 32, 64, 128, 256, 512)):
        train_x, test_x = (np.concatenate([z, f[:, :features]], 1) for z, f in zip(sides, random, strict=True))
        answer = Ridge(alpha=3000 * 1e-6).fit(train_x, known).predict(test_x)
        error = ((asked - answer) ** 2).mean(0) / ((asked - known.mean(0)) ** 2).mean(0)
        least = np.minimum(least, error)
        np.testing.assert_allclose(score.matrix.iloc[row], least, rtol=1e-3, atol=1e-5)
    assert score.matrix.index[0] == 1 + 3 and score.matrix.index[-1] == 1 + 3 + 512
    assert score.values["informativeness"] == pytest.approx(1 - least.mean(), abs=1e-4)


def test_random_features_have_the_kernel_of_a_gaussian():
    """Their inner products come near exp(−‖z − z'‖² / 2D): 512 of them, to a few hundredths."""
    z = np.random.default_rng(0).normal(size=(60, 4))
    features, again = _dci_es._fourier((z, z[:3]), 0)
    squared = ((z[:, None] - z[None]) ** 2).sum(-1)
    error = features @ features.T / 512 - np.exp(-squared / 8)
    assert np.sqrt((error**2).mean()) < 0.05 and np.array_equal(again, features[:3])


def test_size_counts_what_varies(points):
    at, factors = points
    padded = np.concatenate([at, np.full((4000, 3), 0.5)], 1)
    assert values(padded, factors) == values(at, factors)
    constant = values(np.full((4000, 2), 0.5), factors)
    assert (constant["explicitness"], constant["informativeness"], constant["size"]) == (0, 0, 0)
