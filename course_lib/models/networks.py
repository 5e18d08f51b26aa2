"""Encoders and decoders: images (B, C, H, W) → statistics (B, 2·D), latents (B, D) → images (B, C, H, W)."""

from collections.abc import Sequence
from math import prod

import torch
from torch import Tensor, nn

from course_lib.data import GridDataset

CHANNELS = (32, 32, 64, 64)  # of the encoder at 64×64, Table A.1 of the thesis; smaller images drop the first layers
COARSE = 4  # side of the last feature map
WIDTH = 256  # of the fully connected layer
NORMALISING = (nn.BatchNorm1d, nn.BatchNorm2d, nn.LayerNorm)


def conv_networks(shape: tuple[int, int, int], latent_dim: int, width: int = WIDTH) -> tuple[nn.Module, nn.Module]:
    """Encoder and decoder of Table A.1, for square images of 64, 32 or 16 pixels."""
    channels = conv_channels(shape, "conv_vae")
    flat = channels[-1] * COARSE**2
    encoder, decoder = [], []
    for fine, coarse in zip(channels, channels[1:], strict=False):
        encoder += [nn.Conv2d(fine, coarse, 4, stride=2, padding=1), nn.ReLU()]
        decoder = [nn.ReLU(), nn.ConvTranspose2d(coarse, fine, 4, stride=2, padding=1), *decoder]
    encoder += [nn.Flatten(), nn.Linear(flat, width), nn.ReLU(), nn.Linear(width, 2 * latent_dim)]
    unflatten = nn.Unflatten(1, (channels[-1], COARSE, COARSE))
    decoder = [nn.Linear(latent_dim, width), nn.ReLU(), nn.Linear(width, flat), unflatten, *decoder]
    return nn.Sequential(*encoder), nn.Sequential(*decoder)


def conv_channels(shape: tuple[int, int, int], builder: str) -> tuple[int, ...]:
    """The channels of the images and of each feature map; a ValueError for sides other than 64, 32 and 16 pixels."""
    layers = {64: 4, 32: 3, 16: 2}
    if shape[1] != shape[2] or shape[1] not in layers:
        raise ValueError(f"data: got images of {shape[1]}×{shape[2]} pixels; {builder} allows 64×64, 32×32 and 16×16.")
    return (shape[0], *CHANNELS[-layers[shape[1]] :])


def mlp_networks(shape: tuple[int, int, int], latent_dim: int, hidden: Sequence[int]) -> tuple[nn.Module, nn.Module]:
    """Fully connected encoder with hidden layers of the given widths, and its mirror image as the decoder."""
    widths = (prod(shape), *hidden)
    encoder, decoder = [nn.Flatten()], [nn.Unflatten(1, shape)]
    for wide, narrow in zip(widths, widths[1:], strict=False):
        encoder += [nn.Linear(wide, narrow), nn.ReLU()]
        decoder = [nn.ReLU(), nn.Linear(narrow, wide), *decoder]
    encoder += [nn.Linear(widths[-1], 2 * latent_dim)]
    return nn.Sequential(*encoder), nn.Sequential(nn.Linear(latent_dim, widths[-1]), *decoder)


@torch.no_grad()
def initialise(network: nn.Module, generator: torch.Generator) -> None:
    """PyTorch's default weights, U(−1/√fan_in, 1/√fan_in) for weight and bias alike, drawn from `generator`.

    Layers that normalise start as PyTorch starts them too: as the identity, their averages at 0 and 1.
    """
    for layer in network.modules():
        weight: Tensor | None = getattr(layer, "weight", None)
        if isinstance(layer, NORMALISING):
            layer.reset_parameters()
        elif weight is not None:
            bound = weight[0].numel() ** -0.5
            weight.uniform_(-bound, bound, generator=generator)
            layer.bias.uniform_(-bound, bound, generator=generator)


def add_statistics(network: nn.Module) -> None:
    """What of the data travels with the weights: buffers `pixel_mean` and `pixel_std`, (C,), and `dataset_size`, ()."""
    channels = network.shape[0]
    network.register_buffer("pixel_mean", torch.zeros(channels, dtype=torch.float32, device="cpu"))
    network.register_buffer("pixel_std", torch.ones(channels, dtype=torch.float32, device="cpu"))
    network.register_buffer("dataset_size", torch.zeros((), dtype=torch.int64, device="cpu"))


def set_statistics(network: nn.Module, data: GridDataset) -> nn.Module:
    """The network, once its buffers hold the statistics of `data`."""
    for buffer, values in ((network.pixel_mean, data.mean), (network.pixel_std, data.std)):
        buffer.copy_(torch.tensor(values, dtype=torch.float32, device="cpu"))
    network.dataset_size.fill_(len(data))
    return network
