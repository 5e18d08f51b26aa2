"""The BetaVAE and the FactorVAE score, against loops in numpy with draws of their own."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from course_lib import metrics
from course_lib.metrics.fixed_factor import points_with_fixed_factor

FACTORS, SIZE, GROUP = 4, 8, 64


def latents_at(tables, factors):
    """The rotated representation at factors (n, 4)."""
    index = (factors * SIZE ** np.arange(FACTORS - 1, -1, -1)).sum(-1)
    return tables["rotated"](torch.tensor(index)).numpy()


def groups(draws, n):
    for _ in range(n):
        fixed, factors = draws.integers(FACTORS), draws.integers(0, SIZE, (GROUP, 2, FACTORS))
        yield fixed, factors


def test_points_share_the_fixed_factor_and_nothing_else(small):
    fixed = torch.arange(4).repeat(500)
    points = points_with_fixed_factor(small.space, fixed, 16, torch.Generator().manual_seed(0))
    factors = small.space.factors(points)
    shared = (factors == factors[:, :1]).all(1)
    assert torch.equal(shared, torch.nn.functional.one_hot(fixed, 4).bool())
    for place in range(4):
        assert torch.bincount(factors[..., place].flatten()).double().std() < 250  # of 4000 each
        assert torch.bincount(factors[fixed == place, 0, place]).min() > 30  # of 62 each


def test_beta_vae_score_against_a_loop(tables):
    draws, points, labels = np.random.default_rng(0), [], []
    for fixed, factors in groups(draws, 3000):
        factors[:, 1, fixed] = factors[:, 0, fixed]
        latents = latents_at(tables, factors)
        points.append(np.abs(latents[:, 0] - latents[:, 1]).mean(0))
        labels.append(fixed)
    model = LogisticRegression(max_iter=1000).fit(points[:2000], labels[:2000])
    expected = model.score(points[2000:], labels[2000:])
    score = metrics.beta_vae_score(tables["rotated"], num_samples=2000, num_test=1000)
    assert float(score) == pytest.approx(expected, abs=0.05) and 0.5 < expected < 0.99


def test_factor_vae_score_against_a_loop(tables, known):
    draws, deviation = np.random.default_rng(1), known["rotated"].numpy().std(0)
    votes = np.zeros((2, FACTORS, FACTORS), int)
    for place, (fixed, factors) in enumerate(groups(draws, 2400)):
        factors[:, 0, fixed] = factors[0, 0, fixed]
        variance = np.var(latents_at(tables, factors[:, 0]), axis=0, ddof=1) / deviation**2
        votes[int(place >= 1600), variance.argmin(), fixed] += 1
    expected = votes[1][np.arange(FACTORS), votes[0].argmax(1)].sum() / votes[1].sum()
    score = metrics.factor_vae_score(tables["rotated"])
    assert float(score) == pytest.approx(expected, abs=0.06) and 0.5 < expected < 0.99
    np.testing.assert_allclose(score.matrix, votes[0] / 1600, atol=0.05)


def test_scale_does_not_matter_to_the_factor_vae_score(tables, small, known):
    scaled = known["rotated"] * torch.tensor([0.3, 1, 7, 2], dtype=torch.float64)
    score = metrics.factor_vae_score(metrics.Encodings.from_table(scaled, small))
    assert float(score) == float(metrics.factor_vae_score(tables["rotated"]))
