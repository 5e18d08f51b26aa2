"""Networks: the encoder and decoder that every framework trains, the Gaussian between them, and what plays against."""

from course_lib.models.discriminator import Discriminator
from course_lib.models.gan import GAN, Codes, conv_gan, mlp_gan
from course_lib.models.gaussian import DiagonalGaussian
from course_lib.models.vae import VAE, conv_vae, mlp_vae

__all__ = ["GAN", "VAE", "Codes", "DiagonalGaussian", "Discriminator", "conv_gan", "conv_vae", "mlp_gan", "mlp_vae"]
