"""What is computed from one trained VAE: each measure against another way to it, and against known representations."""

import numpy as np
import pytest
import torch
from scipy.special import logsumexp
from scipy.stats import norm

from course_lib.data import XYSquares
from course_lib.frameworks import BetaVAE
from course_lib.losses import aggregate_log_densities
from course_lib.metrics import Encodings
from course_lib.models import DiagonalGaussian, mlp_vae
from course_replication import load_claims
from course_replication.measurements import fixed_model, score_settings, trained_scores
from course_replication.plans import deviations_of, parts_of
from course_replication.verdicts import metrics_of

DATA = XYSquares(2, 2, squares=2, image_size=16)
SPACE, ALL = DATA.space, torch.arange(len(DATA))
PLANS = {claim.id: parts_of(claim, "small") for claim in load_claims()}
CLAIMS = {
    claim.id: claim
    for claim in load_claims()
    if any(part.measurement == "fixed_model.examined" for part in PLANS[claim.id])
}


@pytest.fixture
def smaller(monkeypatch):
    """Classifiers that see little, twice; what is left is their logic."""
    for name, value in {"REPEATS": 2, "PAIRS": (2, 4, 8), "ITERATIONS": (10, 300), "IMAGES": (5, 10)}.items():
        monkeypatch.setattr(score_settings, name, value)
    monkeypatch.setattr(trained_scores, "TRAVERSALS", 20)


def draws(seed=0):
    return torch.Generator().manual_seed(seed)


def perfect_and_noise():
    factors = SPACE.factors(ALL).float() / 2
    return [Encodings.from_table(latents, DATA) for latents in (factors, torch.randn(factors.shape, generator=draws()))]


# ---- the classifier of the older score


def test_factors_are_told_and_noise_is_not(smaller):
    perfect, noise = score_settings.settings_scores(perfect_and_noise(), seed=3)
    assert score_settings.settings_scores(perfect_and_noise()[:1], seed=3) == [pytest.approx(perfect)]
    assert perfect["beta-vae-score/iterations-300"] > 0.95 and perfect["factor-vae-score"] > 0.95
    assert perfect["beta-vae-score/iterations-300"] > perfect["beta-vae-score/iterations-10"]
    assert abs(noise["beta-vae-score/iterations-300"] - 0.25) < 0.05 and noise["factor-vae-score"] < 0.35


def test_the_classifier_is_that_of_an_automatic_gradient(smaller, monkeypatch):
    """The same points, a linear layer, cross-entropy and Adagrad: the same accuracies."""
    monkeypatch.setattr(score_settings, "ITERATIONS", (30,))
    kept, right = [], score_settings._points
    monkeypatch.setattr(score_settings, "_points", lambda *given: kept.append((given[2], right(*given))) or kept[-1][1])
    found = score_settings.classified(perfect_and_noise(), draws())
    labels, points = torch.cat([label for label, _ in kept]), torch.cat([point for _, point in kept], 2)
    layer = torch.nn.Linear(4, 4)
    for weight in layer.parameters():
        torch.nn.init.zeros_(weight)
    optimiser = torch.optim.Adagrad(layer.parameters(), lr=0.01)
    largest = points[0, -1]
    for step in range(30):
        seen = slice(10 * step, 10 * step + 10)
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(layer(largest[seen]), labels[seen]).backward()
        optimiser.step()
    correct = (layer(largest[300:]).argmax(1) == labels[300:]).double()
    assert found.shape == (2, 3, 1, 2)
    assert found[0, -1, 0].tolist() == pytest.approx([correct[:800].mean().item(), correct.mean().item()], abs=2e-3)


def test_points_agree_in_the_factor_and_begin_with_those_of_fewer_pairs(smaller):
    fixed = torch.tensor([0, 1, 2, 3] * 5)
    latents = SPACE.factors(ALL).double().unsqueeze(1)
    points = score_settings._points(latents, SPACE, fixed, draws())
    assert points.shape == (1, 3, 20, 4)
    assert torch.equal(points[0, 2] == 0, fixed.unsqueeze(1) == torch.arange(4))
    index = score_settings.points_with_fixed_factor(SPACE, fixed.repeat_interleave(8), 2, draws())
    apart = (latents[index[:, 0], 0] - latents[index[:, 1], 0]).abs().view(20, 8, 4)
    assert torch.equal(points[0, 0], apart[:, :2].mean(1)) and torch.equal(points[0, 2], apart.mean(1))


def test_the_summary_by_hand(monkeypatch):
    monkeypatch.setattr(score_settings, "ITERATIONS", (1, 2))
    accuracies = np.zeros((2, 2, 2, 2))  # repeats, L, iterations, points
    accuracies[:, 0, 0, 0], accuracies[:, 1, :, 0] = 0.1, [[0.3, 0.5], [0.5, 0.9]]
    accuracies[:, 1, 1, 1] = [0.6, 0.8]
    votes = np.array([[[0.5, 0.7]], [[0.7, 0.7]]])
    found = score_settings._summary(accuracies, votes)
    assert found == pytest.approx({
        "beta-vae-score/iterations-1": 0.4, "beta-vae-score/iterations-2": 0.7,
        "spread/points-800": 0.08**0.5, "spread/points-3200": 0.02**0.5,
        "spread-gap/points-800-and-3200": 0.08**0.5 - 0.02**0.5,
        "range/beta-vae-score": 0.7, "range/factor-vae-score": 0.1, "factor-vae-score": 0.7,
    })  # fmt: skip


# ---- the batch's total correlation


def test_the_estimate_is_that_of_scipy_and_of_the_library():
    generator = draws()
    posterior = DiagonalGaussian(torch.randn(300, 3, generator=generator), torch.randn(300, 3, generator=generator))
    latents = posterior.rsample(generator)
    found = fixed_model.estimate(latents, posterior)
    densities = norm.logpdf(
        latents[:, None].double(), posterior.mean.double(), (posterior.log_variance.double() / 2).exp()
    )
    joint, marginals = logsumexp(densities.sum(2), 1), logsumexp(densities, 1)
    assert found == pytest.approx(float((joint - marginals.sum(1)).mean() + 2 * np.log(300)), rel=1e-6)
    joint, marginals = aggregate_log_densities(latents, posterior, "batch", 300)
    assert found == pytest.approx((joint - marginals.sum(1)).mean().item(), abs=1e-4)


def test_fresh_codes_fall_into_the_tails_of_sharp_posteriors(monkeypatch):
    """As definitions of the total correlation have it: own codes far above the truth, fresh ones below 0."""
    framework = BetaVAE(mlp_vae(DATA, 10, hidden=(8,)))
    means = torch.randn(len(DATA), 10, generator=draws())
    found = {}
    for deviation in (0.1, 3.0):
        posterior = DiagonalGaussian(means, torch.full_like(means, 2 * np.log(deviation)))
        monkeypatch.setattr(framework, "posterior", lambda images, posterior=posterior: posterior)
        found[deviation] = fixed_model.total_correlations(framework, DATA, 0)
    sharp, wide = found[0.1], found[3.0]
    assert sharp["total-correlation/batch/own"] > 5 and sharp["total-correlation/batch/fresh"] < -50
    assert max(map(abs, wide.values())) < 0.1, "posteriors that all overlap are known from any batch"


# ---- levels, and the whole


def test_levels_of_a_network_that_keeps_or_loses_the_distances(monkeypatch, smaller):
    framework = BetaVAE(mlp_vae(DATA, 4, hidden=(8,)), reconstruction="mse-box")
    factors = SPACE.factors(ALL).float()
    for means, agrees in ((factors, True), (factors[torch.randperm(len(DATA), generator=draws())], False)):
        posterior = DiagonalGaussian(means, torch.zeros_like(means))
        monkeypatch.setattr(framework, "posterior", lambda images, posterior=posterior: posterior)
        monkeypatch.setattr(framework.model, "decode", lambda latents: DATA.observations(SPACE.index(latents.long())))
        found = fixed_model.levels(framework, DATA, 0)
        assert all((value > 0.9) == agrees and abs(value) > 0.9 or not agrees for value in found.values())
        assert agrees or max(map(abs, found.values())) < 0.6


def test_one_run_measures_all_that_the_claims_ask_for_with_controls(context, smaller, monkeypatch):
    monkeypatch.setattr(score_settings, "ITERATIONS", (1000, 10_000))
    monkeypatch.setattr(score_settings, "BATCH", 1)
    settings = PLANS["factorvae/figure-16"][0].settings | {"steps": 2, "batch_size": 16}
    found = fixed_model.examined(context, **settings)
    for name, claim in CLAIMS.items():
        asked = {*metrics_of(claim)}
        assert asked | {f"control/untrained/{metric}" for metric in asked} <= found.keys()
        (part,) = PLANS[name]
        assert (part.scale, part.seeds) == ("small", 5) and len(deviations_of(claim, part)) >= 6
    assert len({PLANS[name][0].run(0).id for name in CLAIMS}) == 1, "five claims, one training"
