"""The networks: Table A.1 layer by layer, initial weights that depend on the seed alone, the Gaussian's moments."""

import pytest
import torch
from torch import nn

from course_lib.data import DSprites, XYSquares
from course_lib.models import GAN, VAE, DiagonalGaussian, Discriminator, conv_vae, mlp_vae

SMALL = XYSquares(2, 2, squares=2, image_size=16)


def shapes_through(network, batch):
    """The output shape of each convolution and linear layer."""
    shapes = []
    for layer in network:
        batch = layer(batch)
        if isinstance(layer, (nn.Conv2d, nn.ConvTranspose2d, nn.Linear)):
            shapes.append(tuple(batch.shape[1:]))
    return shapes


def test_conv_vae_is_table_a1():
    model = conv_vae(XYSquares(), latent_dim=9)
    assert shapes_through(model.encoder, torch.zeros(1, 3, 64, 64)) == [
        (32, 32, 32), (32, 16, 16), (64, 8, 8), (64, 4, 4), (256,), (18,),
    ]  # fmt: skip
    assert shapes_through(model.decoder, torch.zeros(1, 9)) == [
        (256,), (1024,), (64, 8, 8), (32, 16, 16), (32, 32, 32), (3, 64, 64),
    ]  # fmt: skip
    convolutions = [layer for layer in model.modules() if isinstance(layer, (nn.Conv2d, nn.ConvTranspose2d))]
    assert all(layer.kernel_size == (4, 4) and layer.stride == (2, 2) for layer in convolutions)
    assert isinstance(model.decoder[-1], nn.ConvTranspose2d), "the output has no activation"
    activations = sum(isinstance(layer, nn.ReLU) for layer in model.modules())
    assert activations == 5 + 5


def test_a_width_of_128_is_table_1_of_factor_vae():
    """The thesis' networks, and one of half the width between convolutions and latents, on dSprites."""
    data = DSprites()
    model = conv_vae(data, width=128)
    assert shapes_through(model.encoder, torch.zeros(1, 1, 64, 64)) == [
        (32, 32, 32), (32, 16, 16), (64, 8, 8), (64, 4, 4), (128,), (20,),
    ]  # fmt: skip
    assert shapes_through(model.decoder, torch.zeros(1, 10)) == [
        (128,), (1024,), (64, 8, 8), (32, 16, 16), (32, 32, 32), (1, 64, 64),
    ]  # fmt: skip
    again = VAE(**model.config)
    assert [weight.shape for weight in again.parameters()] == [weight.shape for weight in model.parameters()]
    assert conv_vae(data).config == conv_vae(data, width=256).config == model.config | {"hidden": []}
    with pytest.raises(ValueError, match="width: got 0"):
        conv_vae(data, width=0)


@pytest.mark.parametrize("build", [conv_vae, mlp_vae])
@pytest.mark.parametrize(
    "data", [SMALL, XYSquares(4, 4, squares=1, image_size=32), XYSquares()], ids=["16", "32", "64"]
)
def test_encode_and_decode_shapes(build, data):
    model = build(data, latent_dim=5)
    posterior = model.encode(data.observations([0, 1, 2]))
    assert posterior.mean.shape == posterior.log_variance.shape == (3, 5)
    assert model.decode(posterior.mean).shape == (3, *data.shape)


@pytest.mark.parametrize("build", [conv_vae, mlp_vae])
def test_weights_depend_on_the_seed_alone(build):
    torch.manual_seed(0)
    before = torch.get_rng_state()
    first = build(SMALL, seed=3)
    assert torch.equal(torch.get_rng_state(), before), "building a model must not touch the global generator"
    torch.manual_seed(1)
    again, other = build(SMALL, seed=3), build(SMALL, seed=4)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), again.parameters(), strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(first.parameters(), other.parameters(), strict=True))


@pytest.mark.parametrize("layer", [nn.Linear(300, 200), nn.Conv2d(8, 64, 4), nn.ConvTranspose2d(64, 8, 4)])
def test_initial_weights_have_pytorch_s_law(layer):
    from course_lib.models.networks import initialise

    bound, expected = layer.weight.abs().max(), layer.weight.std()
    initialise(layer, torch.Generator().manual_seed(0))
    torch.testing.assert_close(layer.weight.abs().max(), bound, rtol=1e-2, atol=0)
    torch.testing.assert_close(layer.weight.std(), expected, rtol=3e-2, atol=0)


def test_pixel_statistics_travel_with_the_weights():
    model = conv_vae(SMALL)
    torch.testing.assert_close(model.state_dict()["pixel_std"], torch.tensor(SMALL.std))
    torch.testing.assert_close(model.state_dict()["pixel_mean"], torch.tensor(SMALL.mean))


def test_samples_have_the_gaussian_s_moments():
    mean, variance = torch.tensor([[1.0, -2.0]]), torch.tensor([[0.25, 9.0]])
    posterior = DiagonalGaussian(mean.expand(200_000, 2), variance.log().expand(200_000, 2))
    samples = posterior.rsample(torch.Generator().manual_seed(0))
    torch.testing.assert_close(samples.mean(0), mean[0], rtol=0.02, atol=0.02)
    torch.testing.assert_close(samples.var(0), variance[0], rtol=0.02, atol=0)
    assert samples.T.corrcoef()[0, 1].abs() < 0.01
    torch.testing.assert_close(posterior.std[0], variance[0].sqrt())
    torch.testing.assert_close(posterior.variance[0], variance[0])


def test_samples_are_differentiable_in_mean_and_log_variance():
    mean = torch.zeros(4, 2, requires_grad=True)
    log_variance = torch.full((4, 2), -1.0, requires_grad=True)
    samples = DiagonalGaussian(mean, log_variance).rsample(torch.Generator().manual_seed(0))
    samples.sum().backward()
    torch.testing.assert_close(mean.grad, torch.ones(4, 2))
    torch.testing.assert_close(log_variance.grad, 0.5 * samples.detach())  # d(σε)/d log σ² = σε/2, and the mean is 0


def test_defaults_of_the_process_do_not_reach_the_model():
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    try:
        model = mlp_vae(SMALL)
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)
    kinds = {(tensor.dtype, tensor.device.type) for tensor in model.state_dict().values()}
    assert kinds == {(torch.float32, "cpu"), (torch.int64, "cpu")}  # whole numbers: the dataset's size


@pytest.mark.parametrize("latent_dim", [0, -1, 2.5])
def test_a_discriminator_of_no_latents_is_refused_by_name(latent_dim):
    with pytest.raises(ValueError, match=f"latent_dim: got {latent_dim}; allowed are integers from 1"):
        Discriminator(latent_dim)


def test_errors():
    with pytest.raises(ValueError, match=r"hidden\[1\]: got 0"):
        mlp_vae(SMALL, hidden=(5, 0))
    with pytest.raises(ValueError, match="seed: got -1"):
        mlp_vae(SMALL, seed=-1)
    with pytest.raises(ValueError, match="latent_dim: got 0"):
        mlp_vae(SMALL, 0)
    with pytest.raises(ValueError, match="data: got images of 24×24 pixels; conv_vae allows 64×64, 32×32 and 16×16"):
        conv_vae(XYSquares(2, 2, image_size=24))


@pytest.mark.parametrize(
    "build",
    [
        lambda shape: VAE("mlp", shape, 3, (8,)),
        lambda shape: VAE("conv", shape, 3),
        lambda shape: GAN("mlp", shape, 2, (), 3, (8,)),
        lambda shape: GAN("conv", shape, 2, (), 3, normalisation="batch"),
    ],
    ids=["mlp VAE", "conv VAE", "mlp GAN", "conv GAN"],
)
@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((1, 0, 16), r"shape\[1\]: got 0"),
        ((1.0, 16, 16), r"shape\[0\]: got 1.0"),
        ((1, 16, -4), r"shape\[2\]: got -4"),
        ((1, 2.5, 16), r"shape\[1\]: got 2.5"),
        ((True, 16, 16), r"shape\[0\]: got True"),
        (("a", 1, 1), r"shape\[0\]: got 'a'"),
        ((16, 16), r"shape: got \(16, 16\); allowed are three"),
        ((1, 1, 16, 16), "allowed are three integers"),
        (None, "shape: got None"),
        (5, "shape: got 5"),
    ],
)
def test_a_shape_that_no_image_has_is_refused_by_name(build, shape, words):
    with pytest.raises(ValueError, match=words):
        build(shape)


@pytest.mark.parametrize(
    ("build", "argument"),
    [
        (lambda: VAE("mlp", (1, 4, 4), 2**62), "latent_dim"),
        (lambda: VAE("mlp", (1, 4, 4), 2, (8, 2**62)), r"hidden\[1\]"),
        (lambda: VAE("mlp", (1, 4, 2**62), 2), r"shape\[2\]"),
        (lambda: GAN("mlp", (1, 4, 4), 2, (), 2**62, (8,)), "noise"),
        (lambda: GAN("mlp", (1, 4, 4), 2, (3, 2**62), 3, (8,)), r"categories\[1\]"),
    ],
)
def test_networks_that_no_memory_holds_are_refused_by_name(build, argument):
    with pytest.raises(ValueError, match=f"{argument}: got {2**62}; allowed are integers from . to 65,536"):
        build()


def test_one_width_is_all_that_a_conv_vae_takes():
    with pytest.raises(ValueError, match=r"hidden: got \[8, 8\]; allowed is the width of the one"):
        VAE("conv", (1, 16, 16), 3, (8, 8))
