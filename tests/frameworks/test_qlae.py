"""QLAE: its terms and gradients by hand, the values that it learns, what its weight decay shrinks, what it is not."""

import pytest
import torch
from torch.optim import SGD

from course_lib.frameworks import QLAE, BetaVAE, load_framework
from course_lib.losses import unstandardise
from course_lib.models import mlp_vae
from course_lib.training import fit
from course_lib.training.trainer import adam


@pytest.fixture
def framework(data):
    """With a codebook that is neither even nor sorted, so that its order cannot stand in for its values."""
    framework = QLAE(mlp_vae(data, 3), 4, quantisation=0.3, commitment=0.7)
    with torch.no_grad():
        framework.codebook.copy_(
            torch.tensor([[0.2, -0.1, 0.0, 0.05], [0.1, -0.3, 0.02, -0.02], [1.0, 0.3, -1.0, 0.0]])
        )
    return framework


def quantised(framework, latents):
    """Value by value, in Python."""
    rows = framework.codebook.tolist()

    def nearest(latent):
        return [min(row, key=lambda value: abs(value - z)) for z, row in zip(latent, rows, strict=True)]

    return torch.tensor([nearest(latent) for latent in latents.tolist()])


def test_each_latent_takes_the_nearest_value_of_its_own_codebook(framework):
    latents = torch.randn(500, 3, generator=torch.Generator().manual_seed(0))
    assert torch.equal(framework.quantise(latents), quantised(framework, latents))
    assert torch.equal(framework.quantise(framework.codebook.T), framework.codebook.T)  # a value is its own


def test_between_two_values_the_first_is_taken(data):
    framework = QLAE(mlp_vae(data, 2), 2)
    assert framework.codebook.tolist() == [[-0.5, 0.5]] * 2  # evenly from −½ to ½
    assert framework.quantise(torch.zeros(1, 2)).tolist() == [[-0.5, -0.5]]


def test_terms_by_hand(framework, batch, at):
    (images,) = batch()
    latents = framework.model.encode(images).mean
    codes = quantised(framework, latents)
    pixels = unstandardise(images, framework.model)
    chance = framework.model.decode(codes).sigmoid()
    expected = {
        "reconstruction": -(pixels * chance.log() + (1 - pixels) * (1 - chance).log()).mean(),
        "quantisation": 0.3 * ((latents - codes) ** 2).mean(),
        "commitment": 0.7 * ((latents - codes) ** 2).mean(),
    }
    terms = framework.loss(batch(), at())
    assert list(terms) == list(expected)
    for name, value in expected.items():
        torch.testing.assert_close(terms[name], value, rtol=1e-4, atol=1e-6)


def test_gradients_go_where_they_should(framework, batch, at):
    """Straight through to e(x) as if it were z; the codebook has those of its own term alone."""
    (images,), model = batch(), framework.model
    latents = model.encode(images).mean
    codes = quantised(framework, latents).requires_grad_()
    likelihood = framework.likelihood(model.decode(codes), images).mean()
    (at_codes,) = torch.autograd.grad(likelihood, codes)
    weights = [*model.encoder.parameters(), framework.codebook]

    def grads(loss, retain=True):
        found = torch.autograd.grad(loss, weights, allow_unused=True, retain_graph=retain)
        return [torch.zeros_like(w) if g is None else g for g, w in zip(found, weights, strict=True)]

    terms = framework.loss(batch(), at())
    through, away = latents * at_codes, 2 * 0.7 * (latents - codes).detach() * latents / latents.numel()
    for name, surrogate in (("reconstruction", through), ("commitment", away)):
        for ours, theirs in zip(grads(terms[name]), grads(surrogate.sum()), strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-7)
    *encoder, codebook = grads(terms["quantisation"])
    assert not any(gradient.any() for gradient in encoder)
    expected = torch.zeros_like(codebook)
    for row in range(len(latents)):
        for d in range(3):
            place = framework.codebook[d].tolist().index(codes[row, d].item())
            expected[d, place] += 2 * 0.3 * (codes[row, d] - latents[row, d]).item() / latents.numel()
    torch.testing.assert_close(codebook, expected, rtol=1e-4, atol=1e-8)
    assert not grads(terms["reconstruction"])[-1].any() and not grads(terms["commitment"])[-1].any()


def test_the_codebook_settles_on_the_means_of_what_it_is_given(data):
    """Gradient descent on the second term alone is k-means: each value ends at the mean of its latents."""
    framework = QLAE(mlp_vae(data, 1), 2)
    latents = torch.tensor([[-0.9], [-0.7], [0.1], [0.3], [0.8]])
    optimiser = SGD([framework.codebook], lr=0.1)
    for _ in range(300):
        optimiser.zero_grad()
        (latents - framework.quantise(latents)).square().sum().backward()
        optimiser.step()
    torch.testing.assert_close(framework.codebook.detach(), torch.tensor([[-0.8, 0.4]]), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("decay", [0.0, 0.5])
def test_weight_decay_shrinks_the_networks_alone_and_apart_from_the_gradient(data, decay):
    """Without gradients a step of AdamW multiplies by 1 − lr · decay, and Adam's L2 penalty would not."""
    framework = QLAE(mlp_vae(data, 3), weight_decay=decay)
    before = {name: weight.detach().clone() for name, weight in framework.named_parameters()}
    optimiser = adam(framework, "model")
    for weight in framework.parameters():
        weight.grad = torch.zeros_like(weight)
    optimiser.step()
    for name, weight in framework.named_parameters():
        share = 1 - 1e-3 * decay if name.endswith("weight") else 1
        torch.testing.assert_close(weight.detach(), share * before[name], rtol=1e-6, atol=0)
    assert sum(len(group["params"]) for group in optimiser.param_groups) == len(before)


def test_a_learning_rate_is_for_all_weights(data):
    """Of both groups, those that are decayed and those that are spared: with next to none, nothing moves."""
    framework = QLAE(mlp_vae(data, 3))
    before = [weight.detach().clone() for weight in framework.parameters()]
    fit(framework, data, steps=3, batch_size=16, learning_rate=1e-30, device="cpu")
    assert all(torch.equal(one, other) for one, other in zip(framework.parameters(), before, strict=True))


def test_it_learns_and_its_codes_have_few_values(data, tmp_path):
    """300 steps: the codes vary, no latent has more than n values, and images come back better than grey."""
    framework = QLAE(mlp_vae(data, 4, hidden=(64,)), 6)
    frame = fit(framework, data, steps=300, batch_size=64, device="cpu").to_frame()
    images = data.images(torch.arange(512))
    codes = framework.encode(images)
    assert codes.shape == (512, 4) and max(len(column.unique()) for column in codes.T) <= 6
    assert len(codes.unique(dim=0)) > 20 and frame.reconstruction.iloc[-1] < 0.6 * frame.reconstruction.iloc[0]
    framework.save(tmp_path / "model")
    restored = load_framework(tmp_path / "model")
    assert torch.equal(restored.encode(images), codes)
    assert torch.equal(restored.reconstruct(images), framework.generate(codes))


def test_it_has_no_posterior_and_says_so(data):
    framework = QLAE(mlp_vae(data, 3))
    for call in (framework.posterior, framework.log_prior):
        with pytest.raises(ValueError, match="framework: QLAE is an auto-encoder without prior p"):
            call(data.images([0, 1]))


def test_the_reconstruction_is_that_of_an_auto_encoder_whose_latents_are_values(data, batch, at):
    """A codebook of what the encoder says takes the quantisation away: the terms of the other two are 0."""
    framework = QLAE(mlp_vae(data, 3), 8)
    latents = framework.model.encode(batch()[0]).mean.detach()
    framework.codebook.data.copy_(latents.T)
    terms = framework.loss(batch(), at())
    assert terms["quantisation"] == terms["commitment"] == 0
    plain = BetaVAE(framework.model, reconstruction="bce", reduction="mean")
    expected = plain.reduce(plain.likelihood(plain.model.decode(latents), batch()[0]))
    assert terms["reconstruction"].item() == pytest.approx(expected.item(), rel=1e-6)
