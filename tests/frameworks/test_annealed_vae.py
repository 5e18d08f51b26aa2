"""AnnealedVAE against its equation, written with torch.distributions."""

import pytest
import torch
from torch.distributions import Independent, Normal, kl_divergence

from course_lib.frameworks import AnnealedVAE, BetaVAE
from course_lib.models import mlp_vae


def kl_of(framework, images):
    q = framework.model.encode(images)
    prior = Normal(torch.zeros_like(q.mean), 1.0)
    return kl_divergence(Independent(Normal(q.mean, torch.exp(q.log_variance / 2)), 1), Independent(prior, 1)).mean()


@pytest.mark.parametrize(("index", "capacity"), [(0, 0.0), (30, 3.0), (50, 5.0), (1000, 5.0)])
def test_deviation_from_a_capacity_that_rises_and_stays(index, capacity, data, batch, at, gradient):
    framework = AnnealedVAE(mlp_vae(data, 3), 20.0, capacity=5.0, steps=50)
    views = batch()
    terms, reconstruction = framework.loss(views, at(index)), BetaVAE(framework.model).loss(views, at(index))
    deviation = 20.0 * (kl_of(framework, views[0]) - capacity).abs()
    assert list(terms) == ["reconstruction", "capacity"]
    torch.testing.assert_close(terms["reconstruction"], reconstruction["reconstruction"])
    torch.testing.assert_close(terms["capacity"], deviation)
    torch.testing.assert_close(
        gradient(terms["capacity"], framework), gradient(deviation, framework), rtol=1e-4, atol=1e-5
    )


def test_both_sides_of_the_capacity_are_costly(data, batch, at, gradient):
    """Below C the KL is pushed up, above it down: the gradients of the two are opposite."""
    low, high = (AnnealedVAE(mlp_vae(data, 3), capacity=capacity, steps=1) for capacity in (100.0, 0.0))
    up, down = (gradient(f.loss(batch(), at(5))["capacity"], f) for f in (low, high))
    torch.testing.assert_close(up, -down)


def test_pixel_means_do_not_change_what_gamma_and_capacity_mean(data, batch, at, gradient):
    """The fault: means over pixels beside a KL in nats make γ = 1000 a thousand times as strong."""
    model, pixels = mlp_vae(data, 3), 2 * 16 * 16
    summed = AnnealedVAE(model, 20.0, capacity=5.0, steps=50)
    averaged = AnnealedVAE(model, 20.0 * 3 / pixels, capacity=5.0, steps=50, reduction="mean")
    first, second = (gradient(sum(f.loss(batch(), at(30)).values()), f) for f in (summed, averaged))
    torch.testing.assert_close(first, second * pixels, rtol=1e-4, atol=1e-4)


def test_defaults_are_the_paper_s(data):
    assert AnnealedVAE(mlp_vae(data)).arguments == dict(
        gamma=1000.0, capacity=25.0, steps=100_000, reconstruction="mse", reduction="sum"
    )
