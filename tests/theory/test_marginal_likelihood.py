"""The importance-weighted bound on a linear-Gaussian model, whose log p(x) has a closed form."""

import pytest
import torch
from torch import nn
from torch.distributions import Bernoulli, MultivariateNormal

from course_lib.data import DSprites, XYSquares
from course_lib.frameworks import ISAVAE, BetaVAE
from course_lib.models import DiagonalGaussian, mlp_vae
from course_lib.theory import importance_weighted_bound

SHAPE, DIM = (1, 2, 3), 2


class Linear(nn.Module):
    """x = W z + noise of variance ½, with orthogonal columns, so that the posterior is a diagonal Gaussian.

    The encoder's mean and standard deviation are off by `shift` and the factor `stretch`.
    """

    def __init__(self, shift=0.0, stretch=1.0):
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.weight = torch.linalg.qr(torch.randn(6, DIM, generator=generator)).Q * torch.tensor([1.5, 0.5])
        self.shape, self.latent_dim, self.shift, self.stretch = SHAPE, DIM, shift, stretch
        self.register_buffer("pixel_mean", torch.zeros(1))
        self.register_buffer("pixel_std", torch.ones(1))

    def encode(self, observations):
        variance = 1 / (1 + 2 * self.weight.square().sum(0))
        mean = 2 * variance * (observations.flatten(1) @ self.weight) + self.shift
        return DiagonalGaussian(mean, (variance * self.stretch**2).log().expand_as(mean))

    def decode(self, latents):
        return (latents @ self.weight.T).view(-1, *SHAPE)


def drawn_images(n):
    generator = torch.Generator().manual_seed(1)
    clean = Linear().decode(torch.randn(n, DIM, generator=generator))
    return clean + 0.5**0.5 * torch.randn(clean.shape, generator=generator)


def truth(images):
    weight = Linear().weight.double()
    covariance = weight @ weight.T + 0.5 * torch.eye(6, dtype=torch.float64)
    return MultivariateNormal(torch.zeros(6, dtype=torch.float64), covariance).log_prob(images.flatten(1).double())


def repeated_bounds(framework, image, particles, times):
    """Independent estimates for one image: a batch gives every place its own noise."""
    return importance_weighted_bound(framework, image.expand(times, *SHAPE), particles=particles)


@pytest.mark.parametrize("particles", [1, 3, 700])
def test_with_the_exact_posterior_the_bound_is_the_truth(particles):
    images = drawn_images(8)
    bound = importance_weighted_bound(BetaVAE(Linear()), images, particles=particles)
    assert bound.dtype == torch.float64 and bound.shape == (8,)
    torch.testing.assert_close(bound, truth(images), rtol=0, atol=2e-5)


def test_with_a_wrong_posterior_the_bound_reaches_the_truth():
    images = drawn_images(40)
    bound = importance_weighted_bound(BetaVAE(Linear(shift=0.3, stretch=1.3)), images)
    deviation = bound - truth(images)
    assert deviation.abs().max() < 0.1
    assert deviation.mean().abs() < 4 * deviation.std() / 40**0.5 + 1e-3
    assert 1e-4 < deviation.std() < 0.03  # it is an estimate, and a close one


def test_the_framework_s_own_prior_counts():
    """With all exponents 2 and the scale 1 the prior is N(0, I/2), and so is the model's covariance smaller."""
    images = drawn_images(8)
    framework = ISAVAE(Linear(), outer=2.0, inner=2.0, scale=1.0)
    weight = Linear().weight.double()
    covariance = weight @ weight.T / 2 + 0.5 * torch.eye(6, dtype=torch.float64)
    law = MultivariateNormal(torch.zeros(6, dtype=torch.float64), covariance)
    bound = importance_weighted_bound(framework, images)
    torch.testing.assert_close(bound, law.log_prob(images.flatten(1).double()), rtol=0, atol=0.1)


def test_the_bound_rises_with_the_particles_and_stays_below_the_truth():
    framework, image = BetaVAE(Linear(shift=0.7, stretch=1.4)), drawn_images(1)
    bounds = [repeated_bounds(framework, image, particles, 1000) for particles in (1, 4, 16)]
    means, errors = zip(*((bound.mean(), bound.std() / 1000**0.5) for bound in bounds), strict=True)
    assert means[0] + 3 * (errors[0] + errors[1]) < means[1]
    assert means[1] + 3 * (errors[1] + errors[2]) < means[2]
    assert means[2] + 3 * errors[2] < truth(image)


def test_one_particle_gives_the_elbo():
    framework, image = BetaVAE(Linear(shift=0.3, stretch=1.3)), drawn_images(1)
    q = framework.model.encode(image)
    kl = 0.5 * (q.mean.square() + q.variance - 1 - q.log_variance).sum()
    square = framework.likelihood(framework.model.decode(q.mean), image).sum()
    expected_square = square + (q.variance * framework.model.weight.square().sum(0)).sum()  # E over q, in closed form
    elbo = -expected_square - 0.5 * 6 * torch.log(torch.tensor(torch.pi)) - kl
    bounds = repeated_bounds(framework, image, 1, 3000)
    assert (bounds.mean() - elbo).abs() < 4 * bounds.std() / 3000**0.5


def test_a_bernoulli_decoder_that_ignores_z_has_a_closed_form():
    data = DSprites()
    model = mlp_vae(data, 3, hidden=(8,))
    for weight in model.decoder.parameters():
        nn.init.zeros_(weight)
    final = [weight for weight in model.decoder.parameters() if weight.ndim == 1][-1]
    nn.init.constant_(final, -1.0)
    images = data.images([0, 100_000])
    expected = Bernoulli(logits=torch.tensor(-1.0)).log_prob(images / 255).double().flatten(1).sum(1)
    bound = importance_weighted_bound(BetaVAE(model, reconstruction="bce"), images, particles=2000)
    torch.testing.assert_close(bound, expected, rtol=1e-5, atol=0.2)


def test_neither_chunks_nor_company_change_a_value_and_seeds_do():
    data = XYSquares(2, 2, squares=2, image_size=16)
    framework, images = BetaVAE(mlp_vae(data, 3)), data.images([1, 2, 3])
    state = torch.get_rng_state()
    bound = importance_weighted_bound(framework, images, particles=50)
    in_chunks = importance_weighted_bound(framework, images, particles=50, chunk=7)
    torch.testing.assert_close(in_chunks, bound, rtol=1e-6, atol=1e-4)
    standardised = importance_weighted_bound(framework, data.observations([1, 2]), particles=50)
    torch.testing.assert_close(standardised, bound[:2], rtol=1e-6, atol=1e-4)
    assert not torch.allclose(importance_weighted_bound(framework, images, particles=50, seed=1), bound, rtol=1e-6)
    assert torch.equal(torch.get_rng_state(), state) and not bound.requires_grad


def test_a_loss_that_is_no_likelihood_is_refused():
    framework = BetaVAE(Linear())
    framework.likelihood.log_normaliser = None
    with pytest.raises(ValueError, match="framework: .*SquaredError.*allowed"):
        importance_weighted_bound(framework, drawn_images(1))


@pytest.mark.parametrize("arguments", [{"particles": 0}, {"chunk": 0}, {"seed": -1}])
def test_errors_name_the_argument(arguments):
    with pytest.raises(ValueError, match=next(iter(arguments))):
        importance_weighted_bound(BetaVAE(Linear()), drawn_images(1), **arguments)
