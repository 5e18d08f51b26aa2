"""Generators that tell their codes: InfoGAN and InfoWGAN-GP on digits, those that scikit-learn ships or MNIST, and on
sprites.

A GAN does not reconstruct. What stands in for it, so that one can see whether it has learnt: of DRAWN images that it
draws, the nearest to each image of the data; "left" is the share of the pixels' variance that they leave. Settings are
called as in the claims, so that deviations from a paper's are found by name.
"""

from collections.abc import Callable, Mapping, Sequence

import torch
from sklearn.datasets import load_digits
from torch import Tensor

import course_lib.frameworks
from course_lib.data import MNIST, GridDataset
from course_lib.factors import FactorSpace
from course_lib.frameworks import Framework, InfoGAN, InfoWGAN_GP
from course_lib.metrics import Encodings
from course_lib.models import GAN, conv_gan, mlp_gan
from course_replication.measurements import correlation_contrasts, total_correlation
from course_replication.measurements.in_memory import InMemory
from course_replication.measurements.training import (
    OF_DATA,
    Exchanged,
    dataset,
    encodings,
    report,
    some_of,
    take,
    train,
)
from course_replication.runs import Context

Scores = dict[str, float]
DRAWN = 10_000  # images drawn, of which the nearest is looked for
CONVOLUTIONAL = ("conv", "large-conv")  # networks
WIDTHS = {"small-mlp": (128, 128), "larger-mlp": (256, 256, 256)}  # of the layers of others
LOOKS = 20  # times that the discriminator is looked at on the way
LATE = 5  # of them, at the end
IMAGES = 10_000  # that stand for all of a large dataset


class Digits(InMemory):
    """The 1,797 handwritten digits of scikit-learn, 8×8 pixels. Their one factor is which image it is: `labels` (N,)
    are no factor of a grid."""

    space = FactorSpace(("image",), (1797,))
    source = "Optical recognition of handwritten digits, as scikit-learn ships it"
    licence = "CC BY 4.0"
    citation = "E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning Repository."

    def __init__(self):
        bunch = load_digits()
        self.labels = torch.tensor(bunch.target)
        super().__init__(torch.tensor(bunch.images * 255 / 16).round().to(torch.uint8).unsqueeze(1))


def digits(context: Context, *, data: str = Digits.__name__, **settings) -> Scores:
    """Train a GAN on digits and look where the class of its digits is kept.

    data : "Digits", or "MNIST", of which 10,000 images stand for all in what is looked at.
    settings : `network`, "small-mlp", "larger-mlp", "conv" or "large-conv"; `framework`, "InfoGAN" or "InfoWGAN_GP";
        `continuous_codes`, `categories`, the number of them, and `noise`; `information_weight`, λ; `variance` of Q,
        "fixed" or "learnt"; `generator_learning_rate`, `discriminator_learning_rate`, `discriminator_turns`; `penalty`,
        of an InfoWGAN-GP; `steps`, `batch_size`.

    "digit-purity" is the share of the data's digits that belong to the class which is the most frequent in their
    category, as Q sees it. "digit-in-categories", "-continuous" and "-noise" are the shares of drawn images whose class
    changes when these latents alone are drawn anew; "digit-changes-with-noise" the same for latents whose codes Q has
    read off the data. The class of an image is that of the nearest of the data. "discriminator-real-share" is the
    share of all inputs, half of them drawn, that the discriminator calls real; of a critic, those above the middle
    between its means of both; "…/late" that in the last quarter of the training.
    """
    data, seed = {each.__name__: each for each in (Digits, MNIST)}[data](), context.seed
    untrained, framework = (gan_of(data, seed, **settings) for _ in range(2))
    images, labels = looked_at(data, seed)
    every = settings["steps"] // LOOKS
    fitting = {name: settings[name] for name in ("steps", "batch_size")}
    fitting |= {"learning_rate": settings["generator_learning_rate"], "log_every": every}
    watch = watched(images.to(context.device), seed, every)
    history = train(context, framework, data, context.scratch / "model.safetensors", fitting, [watch])
    framework.to("cpu")
    shares = history.to_frame()["discriminator-real-share"].dropna()
    late = {"discriminator-real-share/late": shares.iloc[-LATE:].mean(), "discriminator-real-share": shares.mean()}
    after = where_the_class_is(framework, images, labels, seed)
    before = where_the_class_is(untrained, images, labels, seed)
    share = real_share(untrained, images, seed)
    before |= dict.fromkeys(late, share)
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(seed))
    shuffled = {"digit-purity": purity(categories_of(framework, images)[order], labels)}
    return report(after | late | {"settings": 1}, before, shuffled)


def looked_at(data: Digits | MNIST, seed: int) -> tuple[Tensor, Tensor]:
    """All images and their classes, or IMAGES of them, drawn by lot, where there are more."""
    index = some_of(data, IMAGES, seed)
    return data.images(index), data.labels[index]


def gaps(context: Context, *, changes: Mapping[str, Sequence[Mapping]], **settings) -> Scores:
    """How far apart the scores of GANs are: "factor-vae-score-gap/NAME" is the largest less the smallest of the GAN of
    the settings and those with each of the changes, "factor-vae-score-gain/NAME" the largest with a change less that of
    the settings; controls are those of the same networks.

    settings : of `sprites`. changes : name → for each further training, what of the settings is another.
    "left" is the largest share of the pixels' variance that one of all trainings leaves.
    """
    return correlation_contrasts.compared(context, sprites, changes, settings)


def sprites(context: Context, **settings) -> Scores:
    """Train a GAN, or a VAE, on sprites and score its code, as `total_correlation.scores` does.

    settings : as in `digits`, with `data`, a dataset as in `training.scores`; with a `framework` other than the two
        GANs those of `total_correlation.scores`.

    "sample-diversity" is the share of the images that are the nearest to at least one drawn image, four being drawn for
    each image. What a VAE draws is decoded from its prior.
    """
    settings, seed = dict(settings), context.seed
    data = dataset(**take(settings, OF_DATA))
    fitting = {name: settings[name] for name in ("steps", "batch_size")} | {"log_every": settings["steps"]}
    gan = settings["framework"] in (InfoGAN.__name__, InfoWGAN_GP.__name__)
    fitting["learning_rate"] = settings["generator_learning_rate"] if gan else settings.pop("learning_rate")
    settings = settings if gan else {name: value for name, value in settings.items() if name not in fitting}
    made = gan_of if gan else total_correlation.framework_of
    untrained, framework = (made(data, seed, **settings).to(context.device) for _ in range(2))
    before = scored(untrained, data, seed)
    train(context, framework, data, context.scratch / "model.safetensors", fitting)
    after = scored(framework, data, seed)
    order = torch.randperm(len(data), generator=torch.Generator().manual_seed(seed))
    shuffled = total_correlation.code_scores(Exchanged(encodings(framework, data), order), seed)
    return report(after | {"settings": 1}, before, shuffled)


def gan_of(
    data: GridDataset, seed: int, *, framework: str, continuous_codes: int, categories: int, noise: int,
    information_weight: float, discriminator_learning_rate: float, discriminator_turns: int, network: str = "small-mlp",
    penalty: float = 10.0, variance: str = "fixed", **of_fit,
) -> InfoGAN:  # fmt: skip
    """The GAN that settings describe, its networks not trained yet; 0 categories are no categorical code."""
    kind = getattr(course_lib.frameworks, framework)
    codes = dict(continuous=continuous_codes, categories=(categories,) if categories else (), noise=noise)
    model = model_of(data, network, kind is InfoWGAN_GP, variance=variance, seed=seed, **codes)
    own = {"penalty": penalty} if kind is InfoWGAN_GP else {}
    return kind(
        model, information_weight, discriminator_learning_rate=discriminator_learning_rate,
        discriminator_turns=discriminator_turns, **own,
    )  # fmt: skip


def model_of(data: GridDataset, network: str, critic: bool, **options) -> GAN:
    if network in CONVOLUTIONAL:
        large = network == "large-conv"
        return conv_gan(data, normalisation="layer" if critic else "batch", large=large, **options)
    return mlp_gan(data, hidden=WIDTHS[network], **options)


@torch.no_grad()
def where_the_class_is(framework: InfoGAN, images: Tensor, labels: Tensor, seed: int) -> Scores:
    """What `digits` says of one model, but for what happened on the way."""
    model, real = framework.model, images.flatten(1) / 255
    z, anew = (model.sample(2000, torch.Generator().manual_seed(2 * seed + turn)) for turn in (0, 1))
    drawn = framework.pixels(z)
    first = labels[nearest(drawn.flatten(1), real)]
    found = {"digit-purity": purity(categories_of(framework, images), labels), "left": left(framework, images, seed)}
    start, stop = model.continuous, model.code_dim
    groups = {"continuous": slice(0, start), "categories": slice(start, stop), "noise": slice(stop, None)}
    for name, columns in groups.items():
        changed = z.clone()
        changed[:, columns] = anew[:, columns]
        second = labels[nearest(framework.pixels(changed).flatten(1), real)]
        found[f"digit-in-{name}"] = (second != first).double().mean().item()
    both = []
    for latents in (z, anew):  # the codes of the data, with two draws of the noise
        own = read_codes(framework, images[: len(latents)])
        both.append(labels[nearest(framework.pixels(torch.cat([own, latents[: len(own), stop:]], 1)).flatten(1), real)])
    return found | {"digit-changes-with-noise": (both[0] != both[1]).double().mean().item()}


def read_codes(framework: InfoGAN, images: Tensor) -> Tensor:
    """What Q takes for the codes of images, (B, C): the means, and the likeliest category as a one-hot vector."""
    codes, start = framework.encode(images).clone(), framework.model.continuous
    if framework.model.categories:
        best = codes[:, start:].argmax(1)
        codes[:, start:] = torch.nn.functional.one_hot(best, codes.shape[1] - start)
    return codes


def categories_of(framework: InfoGAN, images: Tensor) -> Tensor:
    """The likeliest category of each image, as Q sees it."""
    return framework.encode(images)[:, framework.model.continuous :].argmax(1)


def purity(categories: Tensor, labels: Tensor) -> float:
    """The share of images whose class is the most frequent one in their category."""
    table = torch.zeros(int(categories.max()) + 1, int(labels.max()) + 1)
    table.index_put_((categories, labels), torch.ones(len(labels)), accumulate=True)
    return (table.amax(1).sum() / len(labels)).item()


def nearest(points: Tensor, among: Tensor) -> Tensor:
    """For each of the points (n, P) the place of the nearest of `among` (m, P)."""
    return torch.cat([torch.cdist(part, among).argmin(1) for part in points.split(1000)])


def drawings(framework: Framework, n: int, seed: int) -> Tensor:
    """n images that the framework draws, as pixels (n, P)."""
    model, device = framework.model, framework.model.pixel_mean.device
    draws = torch.Generator(device).manual_seed(seed)
    gan = isinstance(framework, InfoGAN)
    z = model.sample(n, draws) if gan else torch.randn(n, model.latent_dim, generator=draws, device=device)
    return torch.cat([framework.generate(part).flatten(1) for part in z.split(1000)])


@torch.no_grad()
def left(framework: Framework, images: Tensor, seed: int) -> float:
    """The share of the pixels' variance that the nearest of DRAWN drawn images leave."""
    real, drawn = images.flatten(1) / 255, drawings(framework, DRAWN, seed)
    near = torch.cat([torch.cdist(part, drawn).amin(1) for part in real.split(1000)])
    return (near.square().sum() / (real - real.mean(0)).square().sum()).item()


@torch.no_grad()
def real_share(framework: InfoGAN, images: Tensor, seed: int) -> float:
    """The share of inputs, half of them drawn, that a discriminator calls real; see `digits`."""
    framework.model.eval()
    z = framework.model.sample(len(images), torch.Generator(images.device).manual_seed(seed))
    real, drawn = (framework.model.judge(pixels)[0] for pixels in (images / 255, framework.pixels(z)))
    middle = (real.mean() + drawn.mean()) / 2 if isinstance(framework, InfoWGAN_GP) else 0.0
    return (torch.cat([real, drawn]) > middle).double().mean().item()


def watched(images: Tensor, seed: int, every: int) -> Callable[[InfoGAN, int], Scores | None]:
    """A callback of `fit` that looks at the discriminator every so many steps."""

    def watch(framework: InfoGAN, step: int) -> Scores | None:
        return None if step % every else {"discriminator-real-share": real_share(framework, images, seed)}

    return watch


@torch.no_grad()
def scored(framework: Framework, data: GridDataset, seed: int) -> Scores:
    """The scores of the code, which of a GAN is Q's mean, and how near and how diverse the drawn images are."""
    index = torch.randperm(len(data), generator=torch.Generator().manual_seed(seed))[:IMAGES]
    images = data.images(index.to(framework.model.pixel_mean.device))
    hit = nearest(drawings(framework, 4 * len(images), seed), images.flatten(1) / 255).unique()
    found = {"left": left(framework, images, seed), "sample-diversity": len(hit) / len(images)}
    return found | total_correlation.code_scores(Encodings(framework.encode, data), seed)
