"""The InfoGAN with a critic in place of the discriminator, its slope held at 1."""

import torch
from torch import Tensor

from course_lib.arguments import check_numbers
from course_lib.frameworks.info_gan import InfoGAN
from course_lib.losses import gradient_penalty
from course_lib.models import GAN


class InfoWGAN_GP(InfoGAN):
    r"""InfoWGAN-GP: `InfoGAN` with the Wasserstein distance between images and data, and a gradient penalty.

    .. math:: \mathcal{L}_G = \mathbb{E}_{p(c, \epsilon)}\bigl[-f(G(c, \epsilon)) -
        \lambda \log Q(c|G(c, \epsilon))\bigr]

    .. math:: \mathcal{L}_{f,Q} = \mathbb{E}_{p(c, \epsilon)}[f(G(c, \epsilon))] - \mathbb{E}_{p(x)}[f(x)] +
        \eta \, \mathbb{E}\bigl[(\|\nabla_{\hat x} f(\hat x)\|_2 - 1)^2\bigr] -
        \lambda \, \mathbb{E}_{p(c, \epsilon)}\bigl[\log Q(c|G(c, \epsilon))\bigr]

    x̂ lies between an image of the data and one of the generator, at a place that is uniform for each of them. Terms of
    the model: `generator`, `information` (already times λ); of the discriminator, here a critic f: `critic`, minus the
    estimated distance, `gradient_penalty` (already times η), `recognition`.

    Parameters
    ----------
    model : as in `InfoGAN`; its critic must not normalise over the batch, since the penalty is one of single images:
        mlp_gan(data), or conv_gan(data, normalisation="layer").
    information, discriminator_learning_rate, discriminator_turns : as in `InfoGAN`, but with five turns, as Gulrajani
        et al. have it.
    penalty : η, weight of the gradient penalty, at least 0.

    Source: Kim and Mnih 2018, Appendices G and H, Eq. 16 (which adds the penalty to what the critic maximises: the sign
    is wrong); Gulrajani et al. 2017, Improved training of Wasserstein GANs. Chapter 07.
    """

    def __init__(
        self,
        model: GAN,
        information: float = 1.0,
        *,
        penalty: float = 10.0,
        discriminator_learning_rate: float = 1e-4,
        discriminator_turns: int = 5,
    ):
        super().__init__(
            model,
            information,
            discriminator_learning_rate=discriminator_learning_rate,
            discriminator_turns=discriminator_turns,
        )
        if model.normalisation == "batch":
            raise ValueError(
                "model: got a GAN with batch normalisation in its critic; allowed are mlp_gan(data) and "
                "conv_gan(data, normalisation='layer')."
            )
        (penalty,) = check_numbers(0, penalty=penalty)
        self.keep(penalty=penalty)

    def discrimination(self, real: Tensor, drawn: Tensor, latents: Tensor, generator: torch.Generator) -> dict:
        def critic(pixels: Tensor) -> Tensor:
            return self.model.judge(pixels)[0]

        verdict, codes = self.model.judge(drawn)
        return {
            "critic": verdict.mean() - critic(real).mean(),
            "gradient_penalty": self.penalty * gradient_penalty(critic, real, drawn, generator),
            "recognition": self.surprise(codes, latents),
        }

    def deception(self, verdict: Tensor) -> Tensor:
        return -verdict.mean()
