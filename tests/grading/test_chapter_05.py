"""Chapter 5's exercises beyond what is tested for all chapters: their examples, and what they have of the library."""

import math

import pytest
import torch

from course_grading.checks import ch05_total_correlation as ch05
from course_lib.data import XYSquares
from course_lib.frameworks import BetaTCVAE, FactorVAE, Step
from course_lib.losses import aggregate_log_densities, kl_to_standard_normal, permuted_latents
from course_lib.models import DiagonalGaussian, mlp_vae


def test_the_stratified_estimate_is_the_librarys():
    for latents, mean, log_variance, size in ch05.batches(torch.Generator().manual_seed(0)):
        joint, marginals = aggregate_log_densities(latents, DiagonalGaussian(mean, log_variance), "mss", size)
        expected = (joint - marginals.sum(1)).mean()
        torch.testing.assert_close(ch05.stratified(latents, mean, log_variance, size), expected, rtol=1e-4, atol=1e-3)


def test_one_stratified_estimate_is_negative():
    for seed in range(50):
        assert ch05.stratified(*ch05.batches(torch.Generator().manual_seed(seed))[-1]) < -0.1


def test_the_example_of_the_stratified_estimate():
    mean = torch.tensor([[0.0, 0.0], [2.0, 2.0]])
    assert ch05.stratified(mean, mean, torch.zeros(2, 2), 2).item() == pytest.approx(0.4574, abs=5e-5)


def test_the_example_of_the_losses():
    one = [torch.tensor([value]) for value in (3.0, 2.0, -1.0)]
    found = ch05.three_losses(one[0], torch.tensor([[1.0, 0.5]]), *one[1:], torch.tensor(0.25), 10.0, 4.0)
    assert found.tolist() == pytest.approx([24.5, 0.2201, 5.25], abs=5e-5)


def test_the_losses_are_the_librarys():
    """FactorVAE's two players and the β-TCVAE on a batch, from the parts that the exercise hands out."""
    data = XYSquares(spacing=1, square_size=2, squares=1, image_size=10)
    images, others = data.observations(torch.arange(0, len(data), 2)), data.observations(torch.arange(1, len(data), 2))
    factor = FactorVAE(mlp_vae(data, 3, hidden=(8,)), gamma=7.0, hidden=(8,))
    chen = BetaTCVAE(factor.model, beta=5.0, estimator="mss")

    def draw():
        return torch.Generator().manual_seed(0)

    posterior = factor.model.encode(images)
    z, noise = posterior.rsample(draw()), draw()
    error = (factor.model.decode(z) - images).square().flatten(1).sum(1)
    joint, marginals = aggregate_log_densities(z, posterior, "mss", len(data))
    first = posterior.rsample(noise)
    second = permuted_latents(factor.model.encode(others).rsample(noise), noise)
    own, shuffled = factor.discriminator(first), factor.discriminator(second)
    found = ch05.three_losses(
        error, kl_to_standard_normal(posterior), own, shuffled, (joint - marginals.sum(1)).mean(), 7.0, 5.0
    )
    steps = [Step(torch.tensor(0), 1, draw(), player) for player in factor.players]
    theirs = [sum(factor.loss(torch.stack([images, others]), step).values()) for step in steps]
    theirs.append(sum(chen.loss(images[None], Step(torch.tensor(0), 1, draw())).values()))
    torch.testing.assert_close(found, torch.stack(theirs), rtol=1e-4, atol=1e-3)


def test_the_weights_of_the_example_and_their_rows():
    weights = ch05.stratified_weights(3, 4).exp().tolist()
    assert [pytest.approx(row) for row in weights] == [[0.25, 0.25, 0.5], [0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]
    for arguments in ch05.sizes(torch.Generator().manual_seed(0)):
        rows = ch05.stratified_weights(*arguments).exp().sum(1)
        torch.testing.assert_close(rows, torch.ones_like(rows))


def test_all_rows_of_the_planted_fault_but_one_sum_to_1():
    rows = ch05._strided(16, 100).exp().sum(1)
    assert ((rows - 1).abs() < 1e-12).sum() == 15


def test_biases_are_those_of_the_estimators():
    """On a batch of 64 of ten latents, with the dataset's size."""
    draw = torch.Generator().manual_seed(0)
    mean = torch.randn(64, 10, generator=draw, dtype=torch.float64)
    each = DiagonalGaussian(mean, torch.full_like(mean, -2.0)).log_density(mean[:, None])

    def estimate(weight, times=1):
        joint = (each.sum(2) + times * weight).logsumexp(1)
        return (joint - (each + weight).logsumexp(1).sum(1)).mean().item()

    batch = estimate(-math.log(64))
    found = {"mws": estimate(-math.log(64 * 737_280)), "forgotten": estimate(0.0)}
    found["latent-wise"] = estimate(-math.log(64), 10)
    for name, value in found.items():
        assert value - batch == pytest.approx(ch05.BIASES[name] - 3)


def test_the_examples_of_groups():
    covariance = torch.eye(3, dtype=torch.float64)
    covariance[0, 1] = covariance[1, 0] = 0.5
    for groups, expected in (([[0, 1], [2]], 0), ([[0], [1], [2]], 0.1438), ([[0, 2], [1]], 0.1438)):
        assert ch05.between_groups(covariance, groups).item() == pytest.approx(expected, abs=5e-5)


def test_effects_are_those_of_a_gaussian_cloud():
    root = torch.randn(4, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    covariance, turn = root @ root.T, torch.linalg.qr(root).Q
    scale = torch.diag(torch.tensor([2.0, -1, 5, 0.1], dtype=torch.float64))
    noise, total = torch.eye(5, dtype=torch.float64)[:, :4], torch.eye(5, 4, dtype=torch.float64)
    total[4, :2] = 1
    extra = torch.diag(torch.tensor([0.0, 0, 0, 0, 0.1], dtype=torch.float64))
    after = {
        "order": covariance[[2, 0, 3, 1]][:, [2, 0, 3, 1]],
        "scale": scale @ covariance @ scale,
        "turn": turn @ covariance @ turn.T,
        "noise": noise @ covariance @ noise.T + extra,
        "sum": total @ covariance @ total.T + extra,
    }
    before = ch05._total(covariance)
    for name, changed in after.items():
        stays = abs(ch05._total(changed) - before) < 1e-9
        assert ch05.EFFECTS[name] == ("stays" if stays else "changes")


def test_words_in_any_case(judged):
    assert judged("05.6", {name: word.upper() for name, word in reversed(ch05.EFFECTS.items())}).passed
