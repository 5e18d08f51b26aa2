"""The networks of a GAN whose codes can be read off its images, and the two functions that build them."""

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from course_lib.arguments import WIDEST, check_choice, check_integers, check_seed, check_shape, check_widths
from course_lib.data import GridDataset, check_data
from course_lib.models.gaussian import DiagonalGaussian
from course_lib.models.networks import COARSE, add_statistics, conv_channels, initialise, set_statistics

HALF = dict(kernel_size=4, stride=2, padding=1)  # of a convolution that halves the side, or doubles it
KEEP = dict(kernel_size=4, stride=1)  # of one that keeps it, once `MARGIN` is laid around
MARGIN = (1, 2, 1, 2)  # pixels on the left, right, above and below
LARGE, LARGE_COARSE = (64, 128, 256), 8  # Table 6: of the discriminator at 64×64, and the side of its last feature map
SLOPE = 0.1  # of leaky ReLUs below 0, as in Chen et al. 2016
NORMALISATIONS = ("batch", "layer")
VARIANCES = ("learnt", "fixed")
WIDTH = 128  # of the layers that read the codes, and in Table 5 of all that are fully connected


class Codes(NamedTuple):
    """Q(c|x): a Gaussian for the continuous codes, and for each categorical code its logits (B, J). Chapter 07."""

    continuous: DiagonalGaussian
    logits: tuple[Tensor, ...]

    @property
    def mean(self) -> Tensor:
        """The mean of Q, (B, C): of continuous codes their mean, of categorical ones (as one-hot) the probabilities."""
        return torch.cat([self.continuous.mean, *(logits.softmax(1) for logits in self.logits)], dim=1)

    def log_probability(self, codes: Tensor) -> Tensor:
        """log Q(c|x) of codes (B, C), categorical ones as one-hot: (B,), in nats."""
        sizes = [self.continuous.mean.shape[1], *(logits.shape[1] for logits in self.logits)]
        continuous, *categorical = codes.split(sizes, dim=1)
        total = self.continuous.log_density(continuous).sum(1)
        for one_hot, logits in zip(categorical, self.logits, strict=True):
            total = total + (one_hot * logits.log_softmax(1)).sum(1)
        return total


class GAN(nn.Module):
    """A generator, and a discriminator that shares its first layers with a network that reads the codes.

    Latents (B, latent_dim) are, in this order, the codes (`code_dim` of them: continuous ones from U(−1, 1), then
    categorical ones as one-hot vectors, their categories equally likely) and noise from N(0, I). Images are pixels in
    [0, 1], on both sides. It has no objective: `frameworks.InfoGAN` supplies it. Chapter 07.
    """

    def __init__(
        self,
        architecture: str,
        shape: Sequence[int],
        continuous: int,
        categories: Sequence[int],
        noise: int,
        hidden: Sequence[int] = (),
        normalisation: str | None = None,
        variance: str = "learnt",
        seed: int = 0,
    ):
        super().__init__()
        check_choice(("conv", "large", "mlp"), architecture=architecture)
        check_choice(VARIANCES, variance=variance)
        continuous, noise = check_integers(0, WIDEST, continuous=continuous, noise=noise)
        categories = check_categories(categories)
        self.shape, self.continuous, self.categories, self.noise = check_shape(shape), continuous, categories, noise
        self.code_dim = continuous + sum(categories)
        if self.code_dim == 0:
            raise ValueError("continuous: got 0 and no categories; allowed is at least one code of either kind.")
        self.latent_dim = self.code_dim + noise
        self.normalisation, self.variance, hidden = normalisation, variance, check_widths(hidden)
        statistics = self.code_dim + (continuous if variance == "learnt" else 0)
        self.config = dict(
            architecture=architecture, shape=list(self.shape), continuous=continuous, categories=categories
        )
        self.config |= dict(noise=noise, hidden=hidden, normalisation=normalisation, variance=variance)
        with torch.device("meta"):  # the layers' own initialisation would draw from the global generator
            if architecture == "mlp":
                networks = mlp_players(self.shape, self.latent_dim, statistics, hidden)
            else:
                networks = conv_players(self.shape, self.latent_dim, statistics, normalisation, architecture == "large")
            self.generator, shared, verdict, codes = networks
            self.discriminator = nn.ModuleDict({"shared": shared, "verdict": verdict, "codes": codes})
        self.to_empty(device="cpu").float()  # whatever the default device and type are
        initialise(self, torch.Generator().manual_seed(check_seed(seed)))
        add_statistics(self)

    def sample(self, n: int, generator: torch.Generator) -> Tensor:
        """n latents of the prior, (n, latent_dim), on the device of `generator`."""
        latents = torch.zeros(n, self.latent_dim, dtype=torch.float32, device=generator.device)
        continuous, *one_hots, noise = latents.split([self.continuous, *self.categories, self.noise], dim=1)
        continuous.uniform_(-1, 1, generator=generator)
        for one_hot in one_hots:
            one_hot.scatter_(1, torch.randint(one_hot.shape[1], (n, 1), generator=generator, device=latents.device), 1)
        noise.normal_(generator=generator)
        return latents

    def draw(self, latents: Tensor) -> Tensor:
        """Latents (B, latent_dim) → pixels in [0, 1], (B, C, H, W), in float32."""
        return self.generator(latents).float().sigmoid()

    def judge(self, pixels: Tensor) -> tuple[Tensor, Codes]:
        """Pixels (B, C, H, W) → the discriminator's output (B,), a logit or the value of a critic, and Q(c|x)."""
        shared = self.discriminator["shared"](pixels)
        statistics = self.discriminator["codes"](shared).float()
        mean, *logits, log_variance = statistics.split(
            [self.continuous, *self.categories, statistics.shape[1] - self.code_dim], dim=1
        )
        if self.variance == "fixed":
            log_variance = torch.zeros_like(mean)
        verdict = self.discriminator["verdict"](shared).float().squeeze(1)
        return verdict, Codes(DiagonalGaussian(mean, log_variance), tuple(logits))


def conv_players(
    shape: tuple[int, int, int], latent_dim: int, statistics: int, normalisation: str, large: bool = False
) -> list[nn.Module]:
    """Generator, shared layers, verdict and codes of Table 5 or, large, of Table 6: for 64, 32 or 16 pixels a side."""
    check_choice(NORMALISATIONS, normalisation=normalisation)
    channels, width, side, keeping = conv_channels(shape, "conv_gan"), WIDTH, COARSE, 0
    if large:
        channels, width, side, keeping = (shape[0], *LARGE[2 - len(channels) :]), 1024, LARGE_COARSE, 2
    last, flat, batch = channels[-1], channels[-1] * side**2, normalisation == "batch"
    generator = [nn.Linear(latent_dim, width), nn.BatchNorm1d(width), nn.ReLU()]
    generator += [nn.Linear(width, flat), nn.BatchNorm1d(flat), nn.ReLU(), nn.Unflatten(1, (last, side, side))]
    for _ in range(keeping):
        generator += [*keeps(last), nn.BatchNorm2d(last), nn.LeakyReLU(SLOPE)]
    for coarse, fine in zip(channels[:0:-1], channels[-2:0:-1], strict=False):
        generator += [nn.ConvTranspose2d(coarse, fine, **HALF), nn.BatchNorm2d(fine), nn.LeakyReLU(SLOPE)]
    generator.append(nn.ConvTranspose2d(channels[1], channels[0], **HALF))
    shared = [nn.Conv2d(*channels[:2], **HALF), nn.LeakyReLU(SLOPE)]
    layers = [([nn.Conv2d(*pair, **HALF)], pair[1]) for pair in zip(channels[1:], channels[2:], strict=False)]
    for convolution, out in [*layers, *((keeps(last), last) for _ in range(keeping))]:
        shared += [*convolution, *([nn.BatchNorm2d(out)] if batch else []), nn.LeakyReLU(SLOPE)]
    normalised = nn.BatchNorm1d(width) if batch else nn.LayerNorm(width)
    shared += [nn.Flatten(), nn.Linear(flat, width), normalised, nn.LeakyReLU(SLOPE)]
    codes = [nn.Linear(width, WIDTH), nn.BatchNorm1d(WIDTH), nn.LeakyReLU(SLOPE), nn.Linear(WIDTH, statistics)]
    return [nn.Sequential(*generator), nn.Sequential(*shared), nn.Linear(width, 1), nn.Sequential(*codes)]


def keeps(channels: int) -> list[nn.Module]:
    """A convolution, or a transposed one, which are alike at stride 1: as many channels, of the same side."""
    return [nn.ZeroPad2d(MARGIN), nn.Conv2d(channels, channels, **KEEP)]


def mlp_players(shape: tuple[int, int, int], latent_dim: int, statistics: int, hidden: list[int]) -> list[nn.Module]:
    """The same four, fully connected: shared layers of the given widths, mirrored by a generator that normalises."""
    widths = (prod(shape), *hidden)
    shared, generator = [nn.Flatten()], [nn.Unflatten(1, shape)]
    for wide, narrow in zip(widths, widths[1:], strict=False):
        shared += [nn.Linear(wide, narrow), nn.LeakyReLU(SLOPE)]
        generator = [nn.BatchNorm1d(narrow), nn.ReLU(), nn.Linear(narrow, wide), *generator]
    generator = nn.Sequential(nn.Linear(latent_dim, widths[-1]), *generator)
    return [generator, nn.Sequential(*shared), nn.Linear(widths[-1], 1), nn.Linear(widths[-1], statistics)]


def conv_gan(
    data: GridDataset,
    *,
    continuous: int = 4,
    categories: Sequence[int] = (3,),
    noise: int = 5,
    normalisation: str = "batch",
    variance: str = "learnt",
    large: bool = False,
    seed: int = 0,
) -> GAN:
    """The convolutional GAN of Kim and Mnih 2018, Table 5, for `data` at 64×64; with fewer layers at 32×32 and 16×16.

    continuous, categories, noise : the number of continuous codes, the number of categories of each categorical code,
        and the number of noise variables; those of the table, which is for dSprites.
    normalisation : "batch" as in the table, or "layer" for a critic: none after the convolutions of the discriminator,
        and over an image's own units in the layer that follows them (Appendix H).
    variance : of Q(c|x) for continuous codes: "learnt" as in the table, or "fixed" at 1. A learnt one rewards a
        generator that hides a continuous code in ever finer detail, at the cost of the categorical ones.
    large : the networks of Table 6 in place of those of Table 5: more layers, and four to eight times as wide. The
        table has 128 noise variables. What it does at the margins of a convolution that keeps the side is not printed;
        here a pixel is added on the left and above, two on the right and below.
    seed : of the initial weights.

    Raises ValueError when an argument is not as above. Chapter 07.
    """
    check_data(data)
    gan = GAN(
        "large" if large else "conv", data.shape, continuous, categories, noise, (), normalisation, variance, seed
    )
    return set_statistics(gan, data)


def mlp_gan(
    data: GridDataset,
    *,
    continuous: int = 2,
    categories: Sequence[int] = (10,),
    noise: int = 16,
    hidden: Sequence[int] = (128, 128),
    variance: str = "fixed",
    seed: int = 0,
) -> GAN:
    """A fully connected GAN for `data`: quick on a CPU when the images are small.

    `hidden` lists the widths of the discriminator's layers, mirrored by the generator. Only the generator normalises
    over the batch, so both frameworks take it; the rest is as in `conv_gan`. Chapter 07.
    """
    check_data(data)
    return set_statistics(GAN("mlp", data.shape, continuous, categories, noise, hidden, None, variance, seed), data)


def check_categories(categories: Iterable[int]) -> list[int]:
    """Each code's number of categories as Python integers; a ValueError unless they are integers from 2."""
    if not isinstance(categories, Iterable):
        raise ValueError(f"categories: got {categories!r}; allowed is a list of sizes, one per categorical code.")
    return [*check_integers(2, WIDEST, **{f"categories[{place}]": size for place, size in enumerate(categories)})]
