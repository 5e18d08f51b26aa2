"""FactorVAE: the density ratio against a known one, two players that leave each other alone, and the permutation."""

import copy

import torch
from torch.nn.functional import cross_entropy
from torch.optim import Adam

from course_lib.frameworks import FactorVAE, Step
from course_lib.losses import permuted_latents
from course_lib.models import Discriminator, mlp_vae
from course_lib.training import fit
from course_lib.training.trainer import adam


def small(data, **options):
    return FactorVAE(mlp_vae(data, 3), 5.0, hidden=(16, 16), **options)


def test_the_model_s_terms(data, batch, at, noise, gradient):
    framework, views = small(data), batch(2)
    terms = framework.loss(views, at())
    q = framework.model.encode(views[0])
    z = q.mean + torch.exp(q.log_variance / 2) * noise(8, 3)
    probability = framework.discriminator.layers(z).softmax(1)[:, 0]
    expected = {
        "reconstruction": ((views[0] - framework.model.decode(z)) ** 2).sum((1, 2, 3)).mean(),
        "kl": 0.5 * (q.mean**2 + q.log_variance.exp() - 1 - q.log_variance).sum(1).mean(),
        "total_correlation": 5.0 * torch.log(probability / (1 - probability)).mean(),
    }
    assert list(terms) == list(expected)
    for name, value in expected.items():
        torch.testing.assert_close(terms[name], value, rtol=1e-4, atol=1e-5)
        ours, theirs = gradient(terms[name], framework.model), gradient(value, framework.model)
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4)


def test_the_discriminator_s_loss_is_a_cross_entropy_over_two_batches(data, batch, at, noise):
    framework, views = small(data), batch(2)
    (loss,) = framework.loss(views, at(player="discriminator")).values()
    generator = torch.Generator().manual_seed(0)
    samples = []
    for images in views:
        q = framework.model.encode(images)
        samples.append(q.mean + torch.exp(q.log_variance / 2) * torch.randn(8, 3, generator=generator))
    second = permuted_latents(samples[1], generator)
    classes = torch.tensor([0] * 8 + [1] * 8)
    expected = cross_entropy(framework.discriminator.layers(torch.cat([samples[0], second])), classes)
    torch.testing.assert_close(loss, expected)


def test_the_discriminator_s_loss_does_not_reach_the_encoder(data, batch, at):
    """The fault: without a stop, the encoder learns to help the discriminator."""
    framework = small(data)
    (loss,) = framework.loss(batch(2), at(player="discriminator")).values()
    gradients = torch.autograd.grad(loss, list(framework.model.parameters()), allow_unused=True)
    assert all(gradient is None for gradient in gradients)


def test_the_encoder_moves_the_same_with_and_without_the_discriminator_s_turn(data):
    """One step: the model plays first, so that what the discriminator does afterwards cannot matter."""

    class Idle(FactorVAE):
        players = ("model",)

    both, alone = small(data), Idle(mlp_vae(data, 3), 5.0, hidden=(16, 16))
    for framework in (both, alone):
        fit(framework, data, steps=1, batch_size=16, device="cpu")
    for first, second in zip(both.model.parameters(), alone.model.parameters(), strict=True):
        assert torch.equal(first, second)
    fresh = Discriminator(3, (16, 16))
    assert torch.equal(alone.discriminator.layers[0].weight, fresh.layers[0].weight)
    assert not torch.equal(both.discriminator.layers[0].weight, fresh.layers[0].weight)


def test_many_steps_run_and_each_player_has_its_own_adam(data):
    """The fault of other loops: from the second step on, weights have changed in place under a kept graph."""
    framework = small(data, discriminator_learning_rate=1e-3)
    frame = fit(framework, data, steps=5, batch_size=16, learning_rate=1e-2, log_every=1, device="cpu").to_frame()
    assert list(frame) == ["loss", "reconstruction", "kl", "total_correlation", "discriminator", "seconds"]
    terms = frame[["reconstruction", "kl", "total_correlation"]].sum(axis=1)
    torch.testing.assert_close(torch.tensor(frame.loss.to_numpy()), torch.tensor(terms.to_numpy()))
    assert framework.adam("discriminator") == {"lr": 1e-3, "betas": (0.5, 0.9)}
    assert framework.adam("model") == {"lr": 1e-4, "betas": (0.9, 0.999)}
    groups = {player: adam(framework, player).param_groups[0] for player in framework.players}
    assert (groups["discriminator"]["lr"], groups["discriminator"]["betas"]) == (1e-3, (0.5, 0.9))
    assert (groups["model"]["lr"], groups["model"]["betas"]) == (1e-4, (0.9, 0.999))
    first = framework.discriminator.layers[0].weight - Discriminator(3, (16, 16)).layers[0].weight
    assert first.abs().max() <= 5 * 1e-3 * 1.01  # Adam moves a weight by about its learning rate


def test_the_ratio_has_the_right_sign_and_size():
    """On a dependent Gaussian, D rises above ½ on joint samples, and E log D/(1 − D) comes near the known TC."""
    correlation, generator = 0.95, torch.Generator().manual_seed(0)
    discriminator = Discriminator(2, (64, 64))
    optimiser = Adam(discriminator.parameters(), lr=3e-3, betas=(0.5, 0.9))

    def joint(n=512):
        z = torch.randn(n, 2, generator=generator)
        return torch.stack([z[:, 0], correlation * z[:, 0] + (1 - correlation**2) ** 0.5 * z[:, 1]], dim=1)

    class Fixed(FactorVAE):
        """A framework whose encoder returns what it is given."""

        def __init__(self, discriminator):
            torch.nn.Module.__init__(self)
            self.discriminator, self.model = discriminator, self

        def encode(self, latents):
            from course_lib.models import DiagonalGaussian

            return DiagonalGaussian(latents, torch.full_like(latents, -40.0))

    framework = Fixed(discriminator)
    for _ in range(200):
        step = Step(torch.tensor(0), 1, generator, "discriminator")
        (loss,) = framework.loss(torch.stack([joint(), joint()]), step).values()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    held_out = joint(20_000)
    true = -0.5 * torch.log(torch.tensor(1 - correlation**2))
    with torch.no_grad():
        estimate = discriminator(held_out).mean()
        independent = discriminator(permuted_latents(held_out, generator)).mean()
    assert 0.7 * true < estimate < 1.1 * true and independent < -true


def test_the_permutation_keeps_marginals_and_breaks_dependence():
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(5000, 1, generator=generator).repeat(1, 3) + torch.tensor([0.0, 1.0, 2.0])
    permuted = permuted_latents(z, generator)
    assert torch.equal(permuted.sort(0).values, z.sort(0).values)
    assert (torch.corrcoef(permuted.T) - torch.eye(3)).abs().max() < 0.06
    assert not torch.equal(permuted, z)


def test_the_two_batches_are_independent(data):
    views = small(data).sample(data.space, 4096, torch.Generator().manual_seed(0))
    assert views.shape == (2, 4096) and (views[0] == views[1]).float().mean() < 0.01


def test_copies_and_seeds(data):
    framework = small(data)
    weight = framework.discriminator.layers[0].weight
    assert torch.equal(copy.deepcopy(framework).discriminator.layers[0].weight, weight)
    assert not torch.equal(small(data, seed=1).discriminator.layers[0].weight, weight)
    layers = FactorVAE(mlp_vae(data, 3)).discriminator.layers
    assert [layer.out_features for layer in layers if hasattr(layer, "out_features")] == [1000] * 6 + [2]
    assert {layer.negative_slope for layer in layers if hasattr(layer, "negative_slope")} == {0.2}
