"""The GAN that has to tell its codes."""

from collections.abc import Iterator
from typing import NoReturn

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from course_lib.arguments import check_batch, check_instance, check_integers, check_numbers
from course_lib.factors import FactorSpace
from course_lib.frameworks.framework import Framework, Step, check_views
from course_lib.losses import discrimination, unstandardise
from course_lib.models import GAN, Codes
from course_lib.sampling import singles


class InfoGAN(Framework):
    r"""InfoGAN: a generator that deceives a discriminator, and from whose images its codes can be read.

    .. math:: \mathcal{L}_G = \mathbb{E}_{p(c, \epsilon)}\bigl[-\log D(G(c, \epsilon)) -
        \lambda \log Q(c|G(c, \epsilon))\bigr]

    .. math:: \mathcal{L}_{D,Q} = -\tfrac{1}{2} \mathbb{E}_{p(x)}[\log D(x)] - \tfrac{1}{2}
        \mathbb{E}_{p(c, \epsilon)}\bigl[\log(1 - D(G(c, \epsilon)))\bigr] -
        \lambda \, \mathbb{E}_{p(c, \epsilon)}\bigl[\log Q(c|G(c, \epsilon))\bigr]

    E log Q(c|G(c, ε)) + H(c) is a lower bound on what the images tell of the codes, I(c; G(c, ε)). Two players take
    turns: first the generator, then discriminator and Q, which share their first layers. Terms of the model:
    `generator`, `information` (already times λ); of the discriminator: `discriminator`, in nats, ln 2 when it cannot
    tell, and `recognition`, the same as `information` for images that are drawn anew.

    `encode` gives the mean of Q: the mean of each continuous code, then the probabilities of each categorical one.
    `generate` takes all latents, noise included, such as `model.sample` draws. A GAN has no likelihood and no
    posterior: it does not reconstruct, and `reconstruct` and `posterior` raise a ValueError that says so.

    Parameters
    ----------
    model : the generator, the discriminator and Q.
    information : λ, weight of the codes' log-probability, at least 0.
    discriminator_learning_rate : of the discriminator's and Q's Adam; the generator's is 1e-3. Both betas are 0.5 and
        0.999.
    discriminator_turns : how many turns the discriminator takes in each step, each on images of its own.

    Source: Chen et al. 2016, InfoGAN, Eq. 6; Kim and Mnih 2018, Appendices G and H, Eqs 13 to 15, the last of which has
    no maximum: −log D stands there for log(1 − D). As usual, the generator raises log D instead of lowering
    log(1 − D), whose gradient vanishes while D wins. Chapter 07.
    """

    players = ("model", "discriminator")
    network = GAN

    def __init__(
        self,
        model: GAN,
        information: float = 1.0,
        *,
        discriminator_learning_rate: float = 1e-4,
        discriminator_turns: int = 1,
    ):
        check_instance(GAN, "a GAN, such as mlp_gan(data)", model=model)
        nn.Module.__init__(self)  # not that of Framework, which makes a likelihood
        self.model = model
        (information,) = check_numbers(0, information=information)
        (rate,) = check_numbers(0, above=True, discriminator_learning_rate=discriminator_learning_rate)
        (turns,) = check_integers(1, discriminator_turns=discriminator_turns)
        self.keep(information=information, discriminator_learning_rate=rate, discriminator_turns=turns)
        self.players = ("model", *["discriminator"] * turns)

    def parameters_of(self, player: str) -> Iterator[nn.Parameter]:
        return (self.model.discriminator if player == "discriminator" else self.model.generator).parameters()

    def adam(self, player: str) -> dict:
        rate = self.discriminator_learning_rate if player == "discriminator" else self.learning_rate
        return {"lr": rate, "betas": (0.5, 0.999)}

    def sample(self, space: FactorSpace, batch_size: int, generator: torch.Generator) -> Tensor:
        """One batch for each turn of the discriminator."""
        turns = self.discriminator_turns
        return singles(space, turns * batch_size, generator).view(turns, batch_size)

    def loss(self, views: Tensor, step: Step) -> dict[str, Tensor]:
        check_batch(check_views(views, self.discriminator_turns).shape[1], "batch normalisation")
        self.model.train()
        real, latents = views[step.turn], self.model.sample(views.shape[1], step.generator)
        if step.player == "discriminator":
            with torch.no_grad():
                drawn = self.model.draw(latents)
            return self.discrimination(unstandardise(real, self.model), drawn, latents, step.generator)
        verdict, codes = self.model.judge(self.model.draw(latents))
        return {"generator": self.deception(verdict), "information": self.surprise(codes, latents)}

    def discrimination(self, real: Tensor, drawn: Tensor, latents: Tensor, generator: torch.Generator) -> dict:
        """The terms of discriminator and Q, by name: for pixels of the data, and pixels drawn from `latents`."""
        verdict, codes = self.model.judge(drawn)
        return {
            "discriminator": discrimination(self.model.judge(real)[0], verdict),
            "recognition": self.surprise(codes, latents),
        }

    def deception(self, verdict: Tensor) -> Tensor:
        """What the generator pays for the discriminator's verdict (B,) on its images."""
        return softplus(-verdict).mean()

    def surprise(self, codes: Codes, latents: Tensor) -> Tensor:
        """−λ log Q(c|x), in nats."""
        return -self.information * codes.log_probability(latents[:, : self.model.code_dim]).mean()

    @torch.no_grad()
    def encode(self, images) -> Tensor:
        """The mean of Q(c|x) (B, C) for images (B, C, H, W), taken as by every framework."""
        self.model.eval()
        return self.model.judge(unstandardise(self.standardise(images), self.model))[1].mean

    def pixels(self, latents: Tensor) -> Tensor:
        self.model.eval()
        return self.model.draw(latents)

    @property
    def likelihood(self) -> NoReturn:
        raise ValueError(
            f"framework: {type(self).__name__} is a GAN, without likelihood p(x|z) and posterior q(z|x): it neither "
            "reconstructs nor bounds log p(x). encode(images) gives the mean of Q(c|x), generate(latents) draws."
        )

    def posterior(self, images) -> NoReturn:
        """Raise a ValueError: a GAN has none."""
        return self.likelihood

    def reconstruct(self, images) -> NoReturn:
        """Raise a ValueError: a GAN cannot."""
        return self.likelihood
