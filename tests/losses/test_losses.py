"""Each term against an independent computation."""

import copy

import pytest
import torch
from torch.distributions import Bernoulli, Independent, Normal
from torch.nn.functional import conv2d

from course_lib.data import XYSquares
from course_lib.losses import (
    BinaryCrossEntropy,
    SquaredError,
    kl_to_standard_normal,
    reconstruction_loss,
    unstandardise,
)
from course_lib.models import DiagonalGaussian, mlp_vae

DATA = XYSquares(2, 2, squares=2, image_size=16)


def posterior(seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return DiagonalGaussian(*torch.randn(2, 5, 3, generator=generator, dtype=dtype))


def test_kl_equals_monte_carlo():
    q = posterior()
    samples = torch.stack([q.rsample(torch.Generator().manual_seed(seed)) for seed in range(20_000)])
    log_ratio = Normal(q.mean, q.std).log_prob(samples) - Normal(0, 1).log_prob(samples)
    error = log_ratio.std(0) / len(samples) ** 0.5
    assert ((kl_to_standard_normal(q) - log_ratio.mean(0)).abs() < 5 * error).all()


def test_kl_equals_pytorch_s_closed_form_with_gradients():
    q = DiagonalGaussian(*(tensor.requires_grad_() for tensor in posterior()))
    expected = torch.distributions.kl_divergence(Normal(q.mean, q.std), Normal(torch.zeros(5, 3), torch.ones(5, 3)))
    torch.testing.assert_close(kl_to_standard_normal(q), expected)
    ours, theirs = (torch.autograd.grad(kl.sum(), q, retain_graph=True) for kl in (kl_to_standard_normal(q), expected))
    torch.testing.assert_close(ours, theirs)


def test_kl_is_zero_at_the_prior_and_never_negative():
    zeros = torch.zeros(1, 1)
    assert kl_to_standard_normal(DiagonalGaussian(zeros, zeros)).item() == 0
    near = torch.linspace(-1e-3, 1e-3, 10_001).unsqueeze(1)  # in float32, 1 + log σ² − σ² is rounding noise here
    assert (kl_to_standard_normal(DiagonalGaussian(torch.zeros_like(near), near)) >= 0).all()


def test_kl_tells_variance_from_standard_deviation():
    """The classic fault, log σ read as log σ², changes the value: this is what the test above would catch."""
    q = posterior()
    assert not torch.allclose(
        kl_to_standard_normal(q), kl_to_standard_normal(q._replace(log_variance=2 * q.log_variance))
    )


def test_squared_error_is_a_gaussian_of_variance_one_half():
    images, decoded = torch.randn(2, 4, *DATA.shape, generator=torch.Generator().manual_seed(0))
    loss = SquaredError(mlp_vae(DATA))(decoded, images).flatten(1).sum(1)
    log_likelihood = Independent(Normal(decoded, 0.5**0.5), 3).log_prob(images)
    constant = 0.5 * images[0].numel() * torch.log(torch.tensor(torch.pi))
    torch.testing.assert_close(loss, -log_likelihood - constant, rtol=1e-5, atol=1e-3)


def test_binary_cross_entropy_is_a_bernoulli_on_the_original_pixels():
    model, index = mlp_vae(DATA), torch.arange(4)
    decoded = torch.randn(4, *DATA.shape, generator=torch.Generator().manual_seed(0)) * 3
    loss = BinaryCrossEntropy(model)(decoded, DATA.observations(index))
    expected = -Bernoulli(logits=decoded).log_prob(DATA.images(index) / 255)
    torch.testing.assert_close(loss, expected, rtol=1e-4, atol=1e-5)


def test_binary_cross_entropy_stays_finite_for_extreme_logits():
    model = mlp_vae(DATA)
    decoded = torch.full((1, *DATA.shape), 1e4)
    assert BinaryCrossEntropy(model)(decoded, DATA.observations([0])).isfinite().all()


@pytest.mark.parametrize("likelihood", [SquaredError, BinaryCrossEntropy])
def test_pixels_lie_between_0_and_1(likelihood):
    pixels = likelihood(mlp_vae(DATA)).pixels(torch.linspace(-50, 50, 2 * 256).view(1, 2, 16, 16))
    assert 0 <= pixels.min() < 1e-6 and 1 - 1e-6 < pixels.max() <= 1


def test_the_cross_entropy_of_two_images_takes_the_second_for_the_probability():
    """On grey images, where the two are not alike: −x log y − (1 − x) log(1 − y), x the first."""
    model = mlp_vae(DATA)
    x, y = torch.rand(2, 3, *DATA.shape, generator=torch.Generator().manual_seed(0)) * 0.8 + 0.1
    mean, std = model.pixel_mean.view(-1, 1, 1), model.pixel_std.view(-1, 1, 1)
    distance = BinaryCrossEntropy(model).distance((x - mean) / std, (y - mean) / std)
    torch.testing.assert_close(distance, -x * y.log() - (1 - x) * (1 - y).log(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kernel", ["mse-box", "mse-gaussian", "own"])
def test_blurred_squared_error_equals_the_direct_convolution(kernel):
    """At 16 pixels the radius is 7 and the weight 15²; a kernel of one's own carries its weight."""
    images, decoded = torch.randn(2, 3, *DATA.shape, generator=torch.Generator().manual_seed(0))
    own = torch.rand(5, 9, generator=torch.Generator().manual_seed(1))
    loss = reconstruction_loss(mlp_vae(DATA), own if kernel == "own" else kernel)
    line = torch.full((15,), 1 / 15) if kernel == "mse-box" else torch.exp(-0.5 * (torch.arange(-7, 8) / 1.75) ** 2)
    square, weight = (own, 1) if kernel == "own" else (torch.outer(line, line) / line.sum() ** 2, 15**2)
    padding = [side // 2 for side in square.shape]
    blurred = [conv2d(x, square.expand(2, 1, -1, -1), padding=padding, groups=2) for x in (images, decoded)]
    expected = (images - decoded) ** 2 + weight * (blurred[0] - blurred[1]) ** 2
    torch.testing.assert_close(loss(decoded, images), expected, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(loss.distance(images, decoded), expected, rtol=1e-4, atol=1e-4)


def test_the_statistics_stay_the_model_s_own():
    model = mlp_vae(DATA)
    loss = SquaredError(model)
    model.to(torch.float64).to(torch.float32)
    model.pixel_mean.fill_(0.25)
    assert loss.model.pixel_mean is model.pixel_mean and not list(loss.parameters())
    assert copy.deepcopy(loss).model is not model


def test_unstandardise_inverts_standardisation():
    restored = unstandardise(DATA.observations([5, 6]), mlp_vae(DATA))
    torch.testing.assert_close(restored, DATA.images([5, 6]) / 255, rtol=0, atol=1e-6)
