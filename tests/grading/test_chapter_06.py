"""Chapter 6's exercises beyond what is tested for all chapters: their examples, and what they have of the library."""

import math

import pytest
import torch

from course_grading.checks import ch06_moments_and_adversaries as ch06
from course_lib.data import XYSquares
from course_lib.frameworks import DIPVAE, Step
from course_lib.losses import kl_to_standard_normal
from course_lib.metrics import gaussian_total_correlation
from course_lib.models import DiagonalGaussian, mlp_vae


@pytest.mark.parametrize("variant", ["I", "II"])
def test_the_penalty_is_the_librarys(variant):
    data = XYSquares(2, 2, squares=1, image_size=16)
    framework = DIPVAE(mlp_vae(data, 4), variant, lambda_od=3.0)
    images = data.observations(torch.arange(10))
    terms = framework.loss(images[None], Step(torch.tensor(0), 1, torch.Generator().manual_seed(0)))
    q = framework.model.encode(images)
    ours = ch06.penalty(q.mean, q.log_variance, variant, 3.0, 30.0 if variant == "I" else 3.0)
    torch.testing.assert_close(ours, terms["off_diagonal"] + terms["diagonal"])


def test_the_examples_of_the_penalty():
    mean, log_variance = torch.tensor([[1.0, 1.0], [-1.0, -1.0]]), torch.zeros(2, 2)
    assert ch06.penalty(mean, log_variance, "I", 2, 3).item() == pytest.approx(4)
    assert ch06.penalty(mean, log_variance, "II", 2, 3).item() == pytest.approx(10)


def test_the_example_of_the_diagonal():
    mean = torch.tensor([[1.0, 0], [-1, 0], [0, 0]])
    log_variance = torch.tensor([[1.0, 4], [3, 4], [2, 1]]).log()
    found = ch06.covariance_of_samples(mean, log_variance)
    torch.testing.assert_close(found, torch.tensor([[8 / 3, 0], [0, 3]]))
    planted = next(iter(ch06.DIAGONAL_MISTAKES.values()))(mean, log_variance)
    torch.testing.assert_close(planted, torch.tensor([[5 / 3, 0], [0, 4]]))


def test_the_planted_diagonal_is_right_on_average():
    """Which is why it goes unnoticed: over shuffled batches its mean is the mean variance."""
    draw = torch.Generator().manual_seed(0)
    mean, log_variance = torch.zeros(6, 3), torch.randn(6, 3, generator=draw)
    planted = next(iter(ch06.DIAGONAL_MISTAKES.values()))
    shuffled = [planted(mean, log_variance[torch.randperm(6, generator=draw)]) for _ in range(20_000)]
    torch.testing.assert_close(torch.stack(shuffled).mean(0), log_variance.exp().mean(0).diag(), rtol=0.03, atol=0.01)


def test_the_bill_of_a_perfect_vae_is_that_of_its_samples():
    """Means and exact posteriors of many drawn observations."""
    draw, signal = torch.Generator().manual_seed(0), torch.tensor(ch06.SIGNAL, dtype=torch.float64)
    latents = torch.randn(400_000, 4, generator=draw, dtype=torch.float64)
    seen = signal.sqrt() * latents + torch.randn(latents.shape, generator=draw, dtype=torch.float64)
    variance = 1 / (1 + signal)
    q = DiagonalGaussian(variance * signal.sqrt() * seen, variance.log().expand(latents.shape))
    covariance = torch.cov(q.mean.T, correction=0)
    charged = ch06._charged(covariance, 2.5, 25.0), ch06._charged(covariance + variance.diag(), 2.5, 2.5)
    assert charged[0].item() == pytest.approx(ch06.BILL["I"], rel=0.01)
    assert charged[1].item() == pytest.approx(0, abs=1e-3)
    assert kl_to_standard_normal(q).sum(1).mean().item() == pytest.approx(ch06.BILL["information"], rel=0.01)


def test_gamma_is_the_exchange_rate():
    covariance = torch.eye(3, dtype=torch.float64) + 0.01 * torch.tensor([[1.0, 2, 0], [2, -1, 1], [0, 1, 2]])
    divergence = (covariance.trace() - 3 - covariance.logdet()) / 2
    assert (ch06._charged(covariance, 2.5, 2.5) / divergence).item() == pytest.approx(ch06.BILL["gamma"], rel=0.03)


def test_the_mixture_is_that_of_samples_and_of_its_example():
    example = ch06.covariance_of_mixture(
        torch.tensor([[1.0, 0], [-1, 0]]).double(),
        torch.tensor([[[1.0, 0], [1, 1]], [[1, 0], [0, 1]]]).double(),
        torch.tensor([0.5, 0.5]).double(),
    )
    torch.testing.assert_close(example, torch.tensor([[2, 0.5], [0.5, 1.5]]).double())
    draw = torch.Generator().manual_seed(0)
    mean, factor, weights = ch06.mixtures(draw)[0]
    own = torch.multinomial(weights, 400_000, replacement=True, generator=draw)
    noise = torch.randn(400_000, 3, generator=draw, dtype=torch.float64)
    z = mean[own] + torch.einsum("nij,nj->ni", factor[own], noise)
    torch.testing.assert_close(ch06.covariance_of_mixture(mean, factor, weights), torch.cov(z.T), rtol=0.03, atol=0.03)


def test_the_divergence_of_the_example_is_negative_and_on_many_samples_it_is_right():
    mean = torch.tensor([[1.0], [-1.0]])
    assert ch06.aggregate_kl(mean, mean, torch.zeros(2, 1)).item() == pytest.approx(-0.0662, abs=5e-5)
    draw, one = torch.Generator().manual_seed(0), torch.tensor([[0.5, -1.0]])
    log_variance = torch.tensor([[-1.0, 0.3]])
    z = DiagonalGaussian(one.expand(200_000, 2), log_variance.expand(200_000, 2)).rsample(draw)
    expected = kl_to_standard_normal(DiagonalGaussian(one, log_variance)).sum().item()  # one image: nothing is mixed
    assert ch06.aggregate_kl(z, one, log_variance).item() == pytest.approx(expected, rel=0.02)


def test_objections_are_those_of_a_large_cloud():
    """By moments, by the total correlation of Gaussians, and by each latent's own law."""
    z = torch.randn(400_000, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    first, second = z.T
    c, s = math.cos(math.pi / 6), math.sin(math.pi / 6)
    clouds = {
        "turned": z @ torch.tensor([[c, s], [-s, c]]).double(),
        "moved": z + torch.tensor([2.0, 0]),
        "repeated": torch.stack([first, first], 1),
        "sign": torch.stack([first, second * first.sign()], 1),
        "squared": torch.stack([first, (first**2 - 1) / 2**0.5], 1),
        "stretched": 3 * z,
    }
    for name, cloud in clouds.items():
        moments = ch06._charged(torch.cov(cloud.T), 1, 1) > 0.01
        skew = ((cloud**2).prod(1).mean() - 1).abs() > 0.05 or cloud.mean(0).abs().max() > 0.05
        known = {"none": (False, False), "adversary": (False, True), "all": (True, True)}[ch06.OBJECTIONS[name]]
        assert (bool(moments), bool(moments or skew)) == known, name
    classes = torch.bucketize(z, torch.tensor([-0.5, 0.5], dtype=torch.float64))
    assert float(gaussian_total_correlation.from_samples(clouds["squared"], classes)) < 0.001  # it sees moments too


def test_words_in_any_case(judged):
    assert judged("06.6", {name: word.upper() for name, word in reversed(ch06.OBJECTIONS.items())}).passed
