"""The pair of networks behind every framework of the course, and the two functions that build it."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from course_lib.arguments import WIDEST, check_choice, check_integers, check_seed, check_shape, check_widths
from course_lib.data import GridDataset, check_data
from course_lib.models.gaussian import DiagonalGaussian
from course_lib.models.networks import WIDTH, add_statistics, conv_networks, initialise, mlp_networks, set_statistics


class VAE(nn.Module):
    """An encoder that returns a Gaussian for each image and a decoder that maps a latent vector back to an image.

    It has no objective: frameworks (`course_lib.frameworks`) supply it. The statistics of the data travel with the
    weights (buffers `pixel_mean` and `pixel_std`, (C,), and `dataset_size`, ()), so a saved model needs no dataset.
    Chapter 02.
    """

    def __init__(
        self, architecture: str, shape: Sequence[int], latent_dim: int, hidden: Sequence[int] = (), seed: int = 0
    ):
        super().__init__()
        (latent_dim,) = check_integers(1, WIDEST, latent_dim=latent_dim)
        hidden = check_widths(hidden)
        check_choice(("conv", "mlp"), architecture=architecture)
        if architecture == "conv" and len(hidden) > 1:
            raise ValueError(f"hidden: got {hidden}; allowed is the width of the one fully connected layer, or none.")
        self.shape, self.latent_dim = check_shape(shape), latent_dim
        self.config = dict(architecture=architecture, shape=list(self.shape), latent_dim=latent_dim, hidden=hidden)
        with torch.device("meta"):  # the layers' own initialisation would draw from the global generator
            if architecture == "conv":
                self.encoder, self.decoder = conv_networks(self.shape, latent_dim, *hidden)
            else:
                self.encoder, self.decoder = mlp_networks(self.shape, latent_dim, hidden)
        self.to_empty(device="cpu").float()  # whatever the default device and type are
        initialise(self, torch.Generator().manual_seed(check_seed(seed)))
        add_statistics(self)

    def encode(self, observations: Tensor) -> DiagonalGaussian:
        """Standardised images (B, C, H, W) → the posterior q(z|x) of each, mean and log-variance (B, D) in float32."""
        return DiagonalGaussian(*self.encoder(observations).float().chunk(2, dim=1))

    def decode(self, latents: Tensor) -> Tensor:
        """Latents (B, D) → the decoder's raw output (B, C, H, W) in float32: no output activation."""
        return self.decoder(latents).float()


def conv_vae(data: GridDataset, latent_dim: int = 10, *, width: int = WIDTH, seed: int = 0) -> VAE:
    """The convolutional VAE of the thesis' Table A.1 for `data` at 64×64; with fewer layers at 32×32 and 16×16.

    About 0.77 million weights at 64×64. `width` is that of the fully connected layers: 256 as in the thesis and in
    Tables 2 and 3 of Kim and Mnih 2018, where 128 are the networks of its Table 1, for dSprites. `seed` fixes the
    initial weights. Chapter 02.
    """
    check_data(data)
    (width,) = check_integers(1, WIDEST, width=width)
    hidden = () if width == WIDTH else (width,)
    return set_statistics(VAE("conv", data.shape, latent_dim, hidden, seed), data)


def mlp_vae(data: GridDataset, latent_dim: int = 10, *, hidden: Sequence[int] = (256, 256), seed: int = 0) -> VAE:
    """A fully connected VAE for `data`: no spatial bias, and quick on a CPU when the images are small.

    `hidden` lists the widths of the encoder's hidden layers, mirrored by the decoder; `seed` fixes the initial weights.
    Chapter 02.
    """
    check_data(data)
    return set_statistics(VAE("mlp", data.shape, latent_dim, hidden, seed), data)
