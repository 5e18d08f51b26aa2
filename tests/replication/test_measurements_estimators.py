"""Measurements of total correlation: each answers False when an estimator is replaced by a wrong one."""

import math

import pytest
import torch

from course_lib import metrics
from course_lib.metrics import Score
from course_replication.measurements import estimators


def fails(found, *answers):
    return all(not found[answer] for answer in answers)


def test_permuted_latents(context, monkeypatch):
    found = estimators.permuted(context, num_points=4000)
    assert found["marginals-kept"] and found["dependence-gone"]

    def rows(latents, generator):
        return latents[torch.randperm(len(latents), generator=generator)]

    monkeypatch.setattr(estimators, "permuted_latents", rows)
    found = estimators.permuted(context, num_points=4000)
    assert found["marginals-kept"] and fails(found, "dependence-gone")
    monkeypatch.setattr(estimators, "permuted_latents", lambda latents, generator: torch.randn(latents.shape).double())
    assert fails(estimators.permuted(context, num_points=4000), "marginals-kept")


def test_the_ideal_discriminator(context, monkeypatch):
    answer = "ideal-discriminator-gives-the-total-correlation"
    assert estimators.ideal_discriminator(context, num_points=100_000)[answer]
    monkeypatch.setattr(estimators, "permuted_latents", lambda latents, generator: latents)
    assert fails(estimators.ideal_discriminator(context, num_points=100_000), answer)


@pytest.mark.parametrize(
    ("name", "answer"),
    [("gaussian_total_correlation", "noise-has-total-correlation-0"), ("factor_vae_score", "noise-scores-at-chance")],
)
def test_no_total_correlation_is_not_enough(context, monkeypatch, name, answer):
    found = estimators.not_sufficient(context)
    assert found["noise-has-total-correlation-0"] and found["noise-scores-at-chance"]
    monkeypatch.setattr(metrics, name, lambda table, **settings: Score(name, 0.5, {}))
    assert fails(estimators.not_sufficient(context), answer)


def test_log_densities(context, monkeypatch):
    """The batch takes itself for the dataset, and MWS is log N below it."""
    monkeypatch.setattr(estimators, "IMAGES", 512)
    found = estimators.log_densities(context, batch_size=64, num_batches=5)
    exact = found["log-density/exact"]
    assert found["log-density/batch"] > exact > found["log-density/mws"]
    assert exact > found["log-density/batch-of-fresh-images"]
    assert found["log-density/mws"] == pytest.approx(found["log-density/batch"] - math.log(512), abs=1e-4)
    right = estimators.aggregate_log_densities
    monkeypatch.setattr(estimators, "aggregate_log_densities", lambda *arguments: right(*arguments[:2], "batch", 1))
    found = estimators.log_densities(context, batch_size=64, num_batches=5)
    assert not found["log-density/exact"] > found["log-density/mws"]


def test_the_exact_density_is_that_of_a_whole_dataset(context):
    means = torch.randn(50, 3, generator=context.generator)
    posterior = estimators.DiagonalGaussian(means, torch.full_like(means, -1.0))
    joint, _ = estimators.aggregate_log_densities(means, posterior, "batch", 50)
    assert estimators._mixture(means, posterior) == pytest.approx(joint.mean().item(), abs=1e-5)


def test_the_discriminator_does_not_see_gamma(context, monkeypatch):
    assert all(estimators.gamma_unseen(context).values())

    class Scaled(estimators.FactorVAE):
        def discrimination(self, *arguments):
            return self.gamma * super().discrimination(*arguments)

    monkeypatch.setattr(estimators, "FactorVAE", Scaled)
    assert fails(estimators.gamma_unseen(context), "discriminator-gradient-without-gamma")
