"""InfoGAN and InfoWGAN-GP: terms by hand, players that leave each other alone, turns, and what a GAN cannot do."""

import pytest
import torch
from torch import nn
from torch.distributions import Categorical, Normal
from torch.nn.functional import binary_cross_entropy

from course_lib.frameworks import InfoGAN, InfoWGAN_GP, load_framework
from course_lib.models import conv_gan, mlp_gan
from course_lib.theory import importance_weighted_bound
from course_lib.training import fit
from course_lib.training.trainer import adam
from course_lib.viz import latent_traversals

CODES = dict(continuous=2, categories=(3,), noise=2)
both = pytest.mark.parametrize("kind", [InfoGAN, InfoWGAN_GP])


def small(kind, data, information=0.5, **options):
    return kind(mlp_gan(data, hidden=(16, 16), variance="learnt", **CODES), information, **options)


def played(framework, generator):
    """The generator's images in [0, 1], and −E log Q of the codes they were drawn from, by torch.distributions."""
    z = framework.model.sample(8, generator)
    continuous, categories = z[:, :2], z[:, 2:5].argmax(1)
    images = torch.sigmoid(framework.model.generator(z))
    networks = framework.model.discriminator
    statistics = networks["codes"](networks["shared"](images))
    mean, logits, log_variance = statistics.split([2, 3, 2], dim=1)
    log_q = Normal(mean, torch.exp(log_variance / 2)).log_prob(continuous).sum(1)
    return images, -(log_q + Categorical(logits=logits).log_prob(categories)).mean()


def output(framework, images):
    networks = framework.model.discriminator
    return networks["verdict"](networks["shared"](images)).squeeze(1)


def same(terms, expected, framework, gradient, module):
    assert list(terms) == list(expected)
    for name, value in expected.items():
        torch.testing.assert_close(terms[name], value, rtol=1e-4, atol=1e-5)
        ours, theirs = gradient(terms[name], module(framework)), gradient(value, module(framework))
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4)


@both
def test_the_generator_s_terms(kind, data, batch, at, gradient):
    framework = small(kind, data)
    terms = framework.loss(batch(framework.discriminator_turns), at())
    images, surprise = played(framework, torch.Generator().manual_seed(0))
    value = output(framework, images)
    expected = {
        "generator": -value.mean() if kind is InfoWGAN_GP else -value.sigmoid().log().mean(),
        "information": 0.5 * surprise,
    }
    same(terms, expected, framework, gradient, lambda framework: framework.model.generator)


@both
def test_the_discriminator_s_terms(kind, data, batch, at, gradient):
    framework, generator = small(kind, data), torch.Generator().manual_seed(0)
    views = batch(framework.discriminator_turns)
    terms = framework.loss(views, at(player="discriminator"))
    images, surprise = played(framework, generator)
    images = images.detach()
    real = data.images(torch.randperm(len(data), generator=torch.Generator().manual_seed(0))[:8]) / 255
    if kind is InfoGAN:
        probability = output(framework, torch.cat([real, images])).sigmoid()
        expected = {"discriminator": binary_cross_entropy(probability, torch.tensor([1.0] * 8 + [0.0] * 8))}
    else:
        share = torch.rand(8, 1, 1, 1, generator=generator)
        between = (share * real + (1 - share) * images).requires_grad_()
        slopes = [
            torch.autograd.grad(output(framework, between)[i], between, create_graph=True)[0][i] for i in range(8)
        ]
        norms = torch.stack([slope.square().sum().sqrt() for slope in slopes])
        expected = {
            "critic": output(framework, images).mean() - output(framework, real).mean(),
            "gradient_penalty": 10 * (norms - 1).square().mean(),  # added to what is minimised
        }
    expected["recognition"] = 0.5 * surprise
    same(terms, expected, framework, gradient, lambda framework: framework.model.discriminator)


@both
def test_no_player_s_loss_moves_the_other(kind, data):
    framework = small(kind, data)
    before = {name: weight.clone() for name, weight in framework.named_parameters()}
    for alone, still in (("model", "model.discriminator"), ("discriminator", "model.generator")):
        framework.load_state_dict(before, strict=False)
        framework.players = (alone,)
        fit(framework, data, steps=2, batch_size=8, device="cpu")
        moved = {name for name, weight in framework.named_parameters() if not torch.equal(weight, before[name])}
        assert moved and not any(name.startswith(still) for name in moved)


@both
def test_the_discriminator_s_terms_do_not_reach_the_generator(kind, data, batch, at):
    framework = small(kind, data)
    loss = sum(framework.loss(batch(framework.discriminator_turns), at(player="discriminator")).values())
    found = torch.autograd.grad(loss, [*framework.model.generator.parameters()], allow_unused=True)
    assert all(gradient is None for gradient in found)


def test_a_critic_without_slope_trains_on(data):
    """The fault: a gradient penalty whose own gradient is NaN where the critic is flat."""
    framework = small(InfoWGAN_GP, data, discriminator_turns=1)
    nn.init.zeros_(framework.model.discriminator["verdict"].weight)
    frame = fit(framework, data, steps=5, batch_size=8, log_every=1, device="cpu").to_frame()
    assert frame.gradient_penalty.iloc[0] == 10 and frame.notna().all(axis=None)


@both
def test_turns_and_rates(kind, data):
    framework = small(kind, data, discriminator_turns=3)
    seen, plain = [], framework.loss

    def loss(views, step):
        seen.append((step.player, step.turn, views[step.turn]))
        return plain(views, step)

    framework.loss = loss
    frame = fit(framework, data, steps=2, batch_size=8, log_every=1, device="cpu").to_frame()
    order = [("model", 0), ("discriminator", 0), ("discriminator", 1), ("discriminator", 2)]
    assert [(player, turn) for player, turn, _ in seen] == 2 * order
    assert not torch.equal(seen[1][2], seen[2][2]) and not torch.equal(seen[2][2], seen[3][2])
    torch.testing.assert_close(
        torch.tensor(frame.loss.to_numpy()), torch.tensor((frame.generator + frame.information).to_numpy())
    )
    assert framework.adam("model") == {"lr": 1e-3, "betas": (0.5, 0.999)}
    assert framework.adam("discriminator") == {"lr": 1e-4, "betas": (0.5, 0.999)}
    sizes = [len(adam(framework, player).param_groups[0]["params"]) for player in ("model", "discriminator")]
    assert sum(sizes) == len([*framework.parameters()])
    assert (InfoGAN(mlp_gan(data)).discriminator_turns, InfoWGAN_GP(mlp_gan(data)).discriminator_turns) == (1, 5)


@both
def test_codes_are_the_mean_of_q(kind, data):
    framework, index = small(kind, data), torch.arange(10)
    codes = framework.encode(data.images(index))
    networks = framework.model.discriminator
    statistics = networks["codes"](networks["shared"](data.images(index) / 255))
    expected = torch.cat([statistics[:, :2], statistics[:, 2:5].softmax(1)], 1)
    torch.testing.assert_close(codes, expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(framework.encode(data.observations(index)), codes)
    assert not codes.requires_grad


@pytest.mark.parametrize("kind, normalisation", [(InfoGAN, "batch"), (InfoWGAN_GP, "layer")])
def test_an_image_is_encoded_by_itself_and_looking_changes_no_training(kind, normalisation, data, tmp_path):
    """The fault: batch normalisation left in its training mode, so that codes depend on the batch, and shift it."""

    def built():
        return kind(conv_gan(data, normalisation=normalisation, **CODES))

    run = dict(steps=4, batch_size=8, log_every=1, device="cpu", precision="float32")
    images, z = data.images(torch.arange(20)), built().model.sample(5, torch.Generator().manual_seed(0))
    watched, alone = built(), built()
    fit(alone, data, **run)
    fit(
        watched,
        data,
        callbacks=[lambda framework, _: [framework.encode(images), framework.generate(z)] and None],
        **run,
    )
    watched.eval()  # nor does the mode in which it was left
    fit(watched, data, **run)
    fit(alone, data, **run)
    pairs = zip(watched.state_dict().values(), alone.state_dict().values(), strict=True)
    assert all(torch.equal(first, second) for first, second in pairs)
    torch.testing.assert_close(watched.encode(images)[:3], watched.encode(images[:3]))
    torch.testing.assert_close(watched.generate(z)[:2], watched.generate(z[:2]))
    watched.save(tmp_path / "gan")
    torch.testing.assert_close(load_framework(tmp_path / "gan").encode(images), watched.encode(images))


@both
def test_what_a_gan_cannot_do_it_says(kind, data):
    framework, images = small(kind, data), data.images([0, 1])
    calls = [
        lambda: framework.reconstruct(images),
        lambda: framework.posterior(images),
        lambda: importance_weighted_bound(framework, images),
        lambda: latent_traversals(framework, data),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=f"framework: {kind.__name__} is a GAN, without likelihood .*encode.*Q"):
            call()


def test_images_are_drawn_from_all_latents(data):
    framework = small(InfoGAN, data)
    latents = framework.model.sample(4, torch.Generator())
    images = framework.generate(latents)
    assert images.shape == (4, *data.shape) and 0 <= images.min() and images.max() <= 1 and not images.requires_grad
    with pytest.raises(ValueError, match=r"latents: got shape \(4, 5\); expected \(B, 7\)"):
        framework.generate(latents[:, :5])
