"""AAE and FactorVAE's variant: their terms by hand, an adversary that is kept apart, and codes that reach the prior."""

import pytest
import torch
from torch.nn.functional import binary_cross_entropy
from torch.optim import Adam

from course_lib.frameworks import AAE, FactorVAE, FactorVAEToPrior
from course_lib.losses import discrimination
from course_lib.models import Discriminator, mlp_vae
from course_lib.training import fit
from course_lib.training.trainer import adam

SMALL = dict(hidden=(16, 16))
both = pytest.mark.parametrize("kind", [AAE, FactorVAEToPrior])


def samples(framework, images, noise):
    q = framework.model.encode(images)
    return q, q.mean + torch.exp(q.log_variance / 2) * noise(*q.mean.shape)


@both
def test_the_model_s_terms(kind, data, batch, at, noise, gradient):
    framework, views = kind(mlp_vae(data, 3), 5.0, **SMALL), batch()
    terms = framework.loss(views, at())
    q, z = samples(framework, views[0], noise)
    probability = framework.discriminator.layers(z).softmax(1)[:, 0]
    expected = {
        "reconstruction": ((views[0] - framework.model.decode(z)) ** 2).sum((1, 2, 3)).mean(),
        "kl": 0.5 * (q.mean**2 + q.log_variance.exp() - 1 - q.log_variance).sum(1).mean(),
        "aggregate_kl": 5.0 * torch.log(probability / (1 - probability)).mean(),
    }
    if kind is AAE:  # no KL of the single posterior: with one, it is Eq. 12
        del expected["kl"]
    assert list(terms) == list(expected)
    for name, value in expected.items():
        torch.testing.assert_close(terms[name], value, rtol=1e-4, atol=1e-5)
        ours, theirs = gradient(terms[name], framework.model), gradient(value, framework.model)
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4)


@both
def test_the_discriminator_tells_codes_from_the_prior(kind, data, batch, at, gradient):
    """One batch, codes first and samples of N(0, I) after; permuted codes in their place would be FactorVAE."""
    framework, views = kind(mlp_vae(data, 3), **SMALL), batch()
    (loss,) = framework.loss(views, at(player="discriminator")).values()
    generator = torch.Generator().manual_seed(0)
    q = framework.model.encode(views[0])
    codes = (q.mean + torch.exp(q.log_variance / 2) * torch.randn(8, 3, generator=generator)).detach()
    prior = torch.randn(8, 3, generator=generator)
    probability = framework.discriminator.layers(torch.cat([codes, prior])).softmax(1)[:, 0]
    expected = binary_cross_entropy(probability, torch.tensor([1.0] * 8 + [0.0] * 8))
    torch.testing.assert_close(loss, expected)
    ours, theirs = (gradient(value, framework.discriminator) for value in (loss, expected))
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)


@both
def test_the_discriminator_s_loss_does_not_reach_the_encoder(kind, data, batch, at):
    """The fault: without a stop, the encoder learns to help the discriminator."""
    framework = kind(mlp_vae(data, 3), **SMALL)
    (loss,) = framework.loss(batch(), at(player="discriminator")).values()
    gradients = torch.autograd.grad(loss, list(framework.model.parameters()), allow_unused=True)
    assert all(gradient is None for gradient in gradients)


@both
def test_with_no_weight_they_are_auto_encoder_and_vae(kind, data, batch, at):
    terms = kind(mlp_vae(data, 3), 0.0, **SMALL).loss(batch(), at())
    vae = FactorVAE(mlp_vae(data, 3), 0.0, **SMALL).loss(batch(2), at())
    assert terms.pop("aggregate_kl") == 0
    assert terms == {name: vae[name] for name in terms}


def test_players_have_their_own_adam(data):
    framework = AAE(mlp_vae(data, 3), discriminator_learning_rate=1e-3, **SMALL)
    groups = {player: adam(framework, player).param_groups[0] for player in framework.players}
    assert (groups["discriminator"]["lr"], groups["discriminator"]["betas"]) == (1e-3, (0.5, 0.9))
    assert (groups["model"]["lr"], groups["model"]["betas"]) == (1e-4, (0.9, 0.999))
    assert AAE(mlp_vae(data, 3)).hidden == [1000] * 6


def test_the_ratio_has_the_right_sign_and_size():
    """For codes N(1, I) against N(0, I), E log D / (1 − D) comes near the known KL, ½ nat per latent."""
    generator, discriminator = torch.Generator().manual_seed(0), Discriminator(2, (32, 32))
    optimiser = Adam(discriminator.parameters(), lr=3e-3, betas=(0.5, 0.9))
    for _ in range(300):
        codes, prior = torch.randn(2, 512, 2, generator=generator)
        loss = discrimination(discriminator(codes + 1), discriminator(prior))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        estimate = discriminator(torch.randn(20_000, 2, generator=generator) + 1).mean().item()
    assert estimate == pytest.approx(1.0, abs=0.15)


def test_an_aae_brings_its_codes_to_the_prior(data):
    """400 steps: mean 0 and variance 1 over the data, where an auto-encoder without the term goes its own way."""
    strayed = {}
    for gamma in (0.0, 100.0):
        framework = AAE(mlp_vae(data, 3, hidden=(32,)), gamma, discriminator_learning_rate=1e-3, hidden=(32, 32))
        fit(framework, data, steps=400, batch_size=64, learning_rate=1e-3, device="cpu")
        q = framework.posterior(data.images(torch.arange(len(data))))
        strayed[gamma] = (q.mean.var(0) + q.variance.mean(0) - 1).abs().max().item() + q.mean.mean(0).abs().max().item()
    assert strayed[100.0] < 1 < 3 < strayed[0.0]
