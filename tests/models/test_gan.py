"""The GAN's networks: Table 5 layer by layer, latents with the laws of their codes, Q against torch.distributions."""

from functools import partial

import pytest
import torch
from scipy.stats import kstest
from torch import nn
from torch.distributions import Categorical, Normal

from course_lib.data import DSprites, XYSquares
from course_lib.models import GAN, conv_gan, mlp_gan

SMALL = XYSquares(2, 2, squares=2, image_size=16)


def printed(network, batch):
    """What a table would print: sizes after each layer with weights, and the names of what follows it."""
    lines = []
    for layer in network:
        batch = layer(batch)
        if isinstance(layer, (nn.Conv2d, nn.ConvTranspose2d, nn.Linear)):
            lines.append([tuple(batch.shape[1:])])
        elif not isinstance(layer, (nn.Flatten, nn.Unflatten, nn.ZeroPad2d)):
            lines[-1].append(type(layer).__name__)
    return [tuple(line) for line in lines]


def test_conv_gan_is_table_5():
    gan = conv_gan(DSprites())
    shared, verdict, codes = (gan.discriminator[name] for name in ("shared", "verdict", "codes"))
    assert printed(shared, torch.zeros(2, 1, 64, 64)) == [
        ((32, 32, 32), "LeakyReLU"),
        ((32, 16, 16), "BatchNorm2d", "LeakyReLU"),
        ((64, 8, 8), "BatchNorm2d", "LeakyReLU"),
        ((64, 4, 4), "BatchNorm2d", "LeakyReLU"),
        ((128,), "BatchNorm1d", "LeakyReLU"),
    ]
    assert (verdict.in_features, verdict.out_features) == (128, 1)
    assert printed(codes, torch.zeros(2, 128)) == [((128,), "BatchNorm1d", "LeakyReLU"), ((4 * 2 + 1 * 3,),)]
    assert gan.latent_dim == 12 and gan.code_dim == 7
    assert printed(gan.generator, torch.zeros(2, 12)) == [
        ((128,), "BatchNorm1d", "ReLU"),
        ((1024,), "BatchNorm1d", "ReLU"),
        ((64, 8, 8), "BatchNorm2d", "LeakyReLU"),
        ((32, 16, 16), "BatchNorm2d", "LeakyReLU"),
        ((32, 32, 32), "BatchNorm2d", "LeakyReLU"),
        ((1, 64, 64),),  # and the sigmoid, in `draw`
    ]
    convolutions = [layer for layer in gan.modules() if isinstance(layer, (nn.Conv2d, nn.ConvTranspose2d))]
    assert all(layer.kernel_size == (4, 4) and layer.stride == (2, 2) for layer in convolutions)


def test_large_conv_gan_is_table_6():
    gan = conv_gan(DSprites(), noise=128, large=True)
    shared, verdict, codes = (gan.discriminator[name] for name in ("shared", "verdict", "codes"))
    assert printed(shared, torch.zeros(2, 1, 64, 64)) == [
        ((64, 32, 32), "LeakyReLU"),
        ((128, 16, 16), "BatchNorm2d", "LeakyReLU"),
        ((256, 8, 8), "BatchNorm2d", "LeakyReLU"),
        ((256, 8, 8), "BatchNorm2d", "LeakyReLU"),
        ((256, 8, 8), "BatchNorm2d", "LeakyReLU"),
        ((1024,), "BatchNorm1d", "LeakyReLU"),
    ]
    assert (verdict.in_features, verdict.out_features) == (1024, 1)
    assert printed(codes, torch.zeros(2, 1024)) == [((128,), "BatchNorm1d", "LeakyReLU"), ((4 * 2 + 1 * 3,),)]
    assert gan.latent_dim == 136 - 1  # the table prints 136, yet 4 codes, 3 categories and 128 noise variables are 135
    assert printed(gan.generator, torch.zeros(2, 135)) == [
        ((1024,), "BatchNorm1d", "ReLU"),
        ((8 * 8 * 256,), "BatchNorm1d", "ReLU"),
        ((256, 8, 8), "BatchNorm2d", "LeakyReLU"),
        ((256, 8, 8), "BatchNorm2d", "LeakyReLU"),
        ((128, 16, 16), "BatchNorm2d", "LeakyReLU"),
        ((64, 32, 32), "BatchNorm2d", "LeakyReLU"),
        ((1, 64, 64),),
    ]
    convolutions = [layer for layer in gan.modules() if isinstance(layer, (nn.Conv2d, nn.ConvTranspose2d))]
    assert all(layer.kernel_size == (4, 4) for layer in convolutions)
    assert [layer.stride[0] for layer in convolutions] == [1, 1, 2, 2, 2, 2, 2, 2, 1, 1]


def test_a_critic_has_no_batch_normalisation_where_it_judges():
    gan = conv_gan(DSprites(), normalisation="layer")
    assert [line[1:] for line in printed(gan.discriminator["shared"], torch.zeros(2, 1, 64, 64))] == [
        ("LeakyReLU",), ("LeakyReLU",), ("LeakyReLU",), ("LeakyReLU",), ("LayerNorm", "LeakyReLU"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "data", [SMALL, XYSquares(4, 4, squares=1, image_size=32), XYSquares()], ids=["16", "32", "64"]
)
@pytest.mark.parametrize("build", [conv_gan, mlp_gan])
@pytest.mark.parametrize("variance", ["learnt", "fixed"])
def test_shapes_of_images_verdicts_and_codes(build, data, variance):
    gan = build(data, continuous=2, categories=(3, 4), noise=5, variance=variance)
    images = gan.draw(gan.sample(6, torch.Generator()))
    assert images.shape == (6, *data.shape) and 0 <= images.min() and images.max() <= 1
    verdict, codes = gan.judge(images)
    assert verdict.shape == (6,) and codes.mean.shape == (6, 9) and gan.code_dim == 9 and gan.latent_dim == 14
    assert bool((codes.continuous.log_variance == 0).all()) == (variance == "fixed")


def test_latents_have_the_laws_of_their_codes():
    gan = mlp_gan(SMALL, continuous=1, categories=(3, 2), noise=2)
    z = gan.sample(20_000, torch.Generator().manual_seed(0))
    continuous, first, second, noise = z.split([1, 3, 2, 2], dim=1)
    assert kstest((continuous[:, 0].numpy() + 1) / 2, "uniform").pvalue > 1e-3
    for one_hot, size in ((first, 3), (second, 2)):
        assert set(one_hot.unique().tolist()) == {0.0, 1.0} and (one_hot.sum(1) == 1).all()
        torch.testing.assert_close(one_hot.mean(0), torch.full((size,), 1 / size), rtol=0, atol=0.015)
    assert all(kstest(column.numpy(), "norm").pvalue > 1e-3 for column in noise.T)
    assert (torch.corrcoef(z[:, [0, 1, 4, 6, 7]].T) - torch.eye(5)).abs().max() < 0.03
    assert torch.equal(z, gan.sample(20_000, torch.Generator().manual_seed(0)))


def test_log_probabilities_of_codes_with_gradients():
    gan = mlp_gan(SMALL, continuous=2, categories=(3, 4), variance="learnt")
    z = gan.sample(8, torch.Generator().manual_seed(0))
    _, q = gan.judge(gan.draw(z))
    codes = z[:, : gan.code_dim]
    expected = Normal(q.continuous.mean, q.continuous.std).log_prob(codes[:, :2]).sum(1)
    for logits, one_hot in zip(q.logits, codes[:, 2:].split([3, 4], dim=1), strict=True):
        expected = expected + Categorical(logits=logits).log_prob(one_hot.argmax(1))
    found = q.log_probability(codes)
    torch.testing.assert_close(found, expected)
    weights = [*gan.generator.parameters(), *gan.discriminator["codes"].parameters()]
    ours, theirs = (torch.autograd.grad(value.sum(), weights, retain_graph=True) for value in (found, expected))
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    probabilities = [Categorical(logits=logits).probs for logits in q.logits]
    torch.testing.assert_close(q.mean, torch.cat([q.continuous.mean, *probabilities], 1))


@pytest.mark.parametrize("build", [conv_gan, mlp_gan, partial(conv_gan, large=True)])
def test_weights_depend_on_the_seed_alone_and_normalisation_starts_as_the_identity(build):
    torch.manual_seed(0)
    before = torch.get_rng_state()
    first = build(SMALL, seed=3)
    assert torch.equal(torch.get_rng_state(), before)
    again, other = build(SMALL, seed=3).state_dict(), build(SMALL, seed=4).state_dict()
    assert all(torch.equal(value, again[name]) for name, value in first.state_dict().items())
    assert not torch.equal(other["generator.0.weight"], again["generator.0.weight"])
    for layer in first.modules():
        if isinstance(layer, (nn.BatchNorm1d, nn.BatchNorm2d)):
            assert (layer.weight == 1).all() and (layer.bias == 0).all() and layer.num_batches_tracked == 0
            assert (layer.running_mean == 0).all() and (layer.running_var == 1).all()
    torch.testing.assert_close(first.pixel_mean, torch.tensor(SMALL.mean))
    assert first.dataset_size == len(SMALL)


def test_a_gan_is_built_again_from_its_configuration():
    layered = conv_gan(SMALL, normalisation="layer", variance="fixed")
    for gan in (layered, mlp_gan(SMALL, categories=(), hidden=(7,)), conv_gan(SMALL, large=True)):
        again = GAN(**gan.config)
        again.load_state_dict(gan.state_dict())
        assert again.config == gan.config


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mlp_gan(SMALL, continuous=-1), "continuous: got -1"),
        (lambda: mlp_gan(SMALL, continuous=0, categories=()), "continuous: got 0 and no categories; allowed is at"),
        (lambda: mlp_gan(SMALL, categories=10), "categories: got 10; allowed is a list of sizes"),
        (lambda: mlp_gan(SMALL, categories=(3, 1)), r"categories\[1\]: got 1; allowed are integers from 2"),
        (lambda: mlp_gan(SMALL, noise=1.5), "noise: got 1.5"),
        (lambda: mlp_gan(SMALL, hidden=(0,)), r"hidden\[0\]: got 0"),
        (lambda: mlp_gan(SMALL, variance="unit"), "variance: got 'unit'; allowed are 'learnt', 'fixed'"),
        (lambda: mlp_gan(SMALL, seed=-1), "seed: got -1"),
        (lambda: conv_gan(SMALL, normalisation="none"), "normalisation: got 'none'; allowed are 'batch', 'layer'"),
        (lambda: conv_gan(XYSquares(2, 2, image_size=24)), "data: got images of 24×24 pixels; conv_gan allows"),
        (lambda: mlp_gan("digits"), "data: got 'digits'"),
    ],
)
def test_errors_name_the_argument_and_what_is_allowed(call, words):
    with pytest.raises(ValueError, match=words):
        call()
