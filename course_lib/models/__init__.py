"""Networks: the encoder and decoder that every framework trains, and the Gaussian between them."""

from course_lib.models.gaussian import DiagonalGaussian
from course_lib.models.vae import VAE, conv_vae, mlp_vae

__all__ = ["VAE", "DiagonalGaussian", "conv_vae", "mlp_vae"]
