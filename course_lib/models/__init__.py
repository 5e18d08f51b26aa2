"""Networks: the encoder and decoder that every framework trains, the Gaussian between them, and what plays against."""

from course_lib.models.discriminator import Discriminator
from course_lib.models.gaussian import DiagonalGaussian
from course_lib.models.vae import VAE, conv_vae, mlp_vae

__all__ = ["VAE", "DiagonalGaussian", "Discriminator", "conv_vae", "mlp_vae"]
