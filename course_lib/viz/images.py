"""Figures made of images: what the data looks like, what a model reconstructs, what each latent does."""

from collections.abc import Iterable

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from course_lib.arguments import as_tensor, check_instance, check_integers, check_numbers
from course_lib.data import GridDataset
from course_lib.frameworks import Framework
from course_lib.losses import kl_to_standard_normal

FRAMEWORK, DATA = "a framework, such as BetaVAE(conv_vae(data))", "a dataset of course_lib.data"
FARTHEST, MOST_COLUMNS = 1e6, 1000  # standard deviations from the mean; pictures side by side


def to_rgb(images) -> np.ndarray:
    """Images (..., C, H, W), uint8 or float in [0, 1], with 1 to 3 channels → float (..., H, W, 3) in [0, 1].

    One channel becomes grey; of two channels the first is red and the second green. Floats beyond [0, 1] are cut off.
    Raises ValueError for other types, other numbers of channels and NaN, which no picture shows.
    """
    images = as_tensor(images, "images", "images (..., C, H, W)").detach().cpu()
    if images.ndim < 3 or (images.dtype != torch.uint8 and not images.is_floating_point()):
        got = f"{images.dtype} {tuple(images.shape)}"
        raise ValueError(f"images: got {got}; allowed are uint8, and floats in [0, 1], (..., C, H, W).")
    images = images.float() / 255 if images.dtype == torch.uint8 else images.float()
    channels = images.shape[-3]
    if channels not in (1, 2, 3):
        raise ValueError(f"images: got {channels} channels; 1, 2 or 3 can be shown.")
    if images.isnan().any():
        raise ValueError(f"images: got NaN for {int(images.isnan().sum())} pixels; allowed are floats in [0, 1].")
    if channels == 1:
        images = images.expand(*images.shape[:-3], 3, *images.shape[-2:])
    elif channels == 2:
        images = torch.cat([images, torch.zeros_like(images[..., :1, :, :])], dim=-3)
    return images.movedim(-3, -1).clamp(0, 1).numpy()


def image_rows(rows, labels, *, columns=None, title: str | None = None, size: float = 0.8) -> Figure:
    """Rows of images, (R, N, C, H, W) or a list of R tensors (N, C, H, W), each with a label on its left.

    columns : N headings, optional. size : inches per image.

    Raises ValueError for rows that hold no image or something else, and unless there is one label for each.
    """
    check_instance(Iterable, "rows of images (N, C, H, W)", rows=rows)
    rows, labels = [_row(images, place) for place, images in enumerate(rows)], check_words("labels", labels)
    if not rows or len(rows) != len(labels):
        raise ValueError(
            f"rows: got {len(rows)} with {len(labels)} labels; allowed are one or more, each with its own."
        )
    headings = [] if columns is None else check_words("columns", columns)
    (size,) = check_numbers(0, size=size, above=True)
    count = max(len(row) for row in rows)
    figure, axes = plt.subplots(len(rows), count, figsize=(size * count + 1.2, size * len(rows) + 0.4), squeeze=False)
    for line, row, label in zip(axes, rows, labels, strict=True):
        for axis in line:
            axis.set(xticks=[], yticks=[])
            axis.spines[:].set_visible(False)
        for axis, image in zip(line, row, strict=False):
            axis.imshow(image)
        line[0].set_ylabel(label, rotation=0, ha="right", va="center")
    for axis, heading in zip(axes[0], headings, strict=False):
        axis.set_title(heading, loc="center", fontsize=9)
    figure.subplots_adjust(wspace=0.06, hspace=0.06)
    if title:
        figure.suptitle(title)
    return figure


def _row(images, place: int) -> np.ndarray:
    """One row of images, (N, C, H, W) → (N, H, W, 3), or a ValueError that names it."""
    pixels = to_rgb(images)
    if pixels.ndim != 4 or not len(pixels):
        raise ValueError(
            f"rows[{place}]: got images of shape {tuple(np.shape(images))}; allowed is (N, C, H, W), N > 0."
        )
    return pixels


def check_words(argument: str, values: Iterable | None) -> list[str]:
    """`values` as words; a ValueError naming `argument` unless there are some that can be listed."""
    check_instance(Iterable, "a list of words or numbers", **{argument: values})
    return [str(value) for value in values]


def factor_traversals(data: GridDataset, index: int = 0, *, columns: int = 8) -> Figure:
    """One row per factor of `data`, at most `columns` of its values; all else stays as in the image at `index`."""
    check_instance(GridDataset, DATA, data=data)
    (columns,) = check_integers(1, columns=columns)
    rows = []
    for factor in range(len(data.space.sizes)):
        points = data.space.traversal(factor, index)
        chosen = torch.linspace(0, len(points) - 1, min(columns, len(points))).round().long()
        rows.append(data.images(points[chosen]))
    return image_rows(rows, data.space.names)


def reconstructions(framework: Framework, data: GridDataset, index) -> Figure:
    """The images at `index` (B,) above what the framework makes of them through the mean representation.

    Raises ValueError unless `index` holds one index or more in a row.
    """
    check_instance(Framework, FRAMEWORK, framework=framework)
    check_instance(GridDataset, DATA, data=data)
    if data.space.check_index(index).numel() == 0 or data.space.check_index(index).ndim != 1:
        raise ValueError(f"index: got {index!r}; allowed are one or more indices in a row, (B,).")
    images = data.images(index)
    return image_rows([images, framework.reconstruct(images)], ["data", "reconstruction"])


def latent_traversals(
    framework: Framework, data: GridDataset, index: int = 0, *, span: float = 2.0, columns: int = 7
) -> Figure:
    """One row per latent: it moves from −span to +span (in standard deviations of the prior), the others stay.

    The others stay at the mean representation of the image at `index`. Rows are sorted by the latent's mean KL (nats)
    on 1,000 images, given at the left: a latent near 0 nats carries nothing, and its row does not move.
    """
    latents, cost, values, images = move_latents(framework, data, index, span, columns)
    labels = [f"$z_{{{latent}}}$  {price:.1f} nats" for latent, price in zip(latents, cost, strict=True)]
    return image_rows(images, labels, columns=[format_signed(value) for value in values])


def move_latents(
    framework: Framework, data: GridDataset, index: int, span: float, columns: int
) -> tuple[list[int], list[float], list[float], Tensor]:
    """What `latent_traversals` shows: the latents in their order and the mean KL of each, the values that each takes,
    and the images (D, columns, C, H, W), pixels in [0, 1]."""
    check_instance(Framework, FRAMEWORK, framework=framework)
    check_instance(GridDataset, DATA, data=data)
    (span,), (columns,) = (
        check_numbers(0, FARTHEST, span=span, above=True),
        check_integers(1, MOST_COLUMNS, columns=columns),
    )
    start = data.space.check_index(index)
    if start.ndim != 0:
        raise ValueError(f"index: got shape {tuple(start.shape)}; the latents start from one image.")
    latents, cost = by_mean_kl(framework, data)
    values = torch.linspace(-span, span, columns)
    start = framework.encode(data.images(start.view(1))).cpu()
    points = start.repeat(len(latents), columns, 1)  # (rows, columns, D)
    for row, latent in enumerate(latents):
        points[row, :, latent] = values
    images = framework.generate(points.flatten(0, 1)).unflatten(0, (len(latents), columns))
    return latents, cost, values.tolist(), images


@torch.no_grad()
def by_mean_kl(framework: Framework, data: GridDataset) -> tuple[list[int], list[float]]:
    """The latents, the most costly first, and the mean of each one's KL to the prior on 1,000 images, in nats."""
    device = framework.model.pixel_mean.device
    sample = torch.randint(len(data), (1000,), generator=torch.Generator().manual_seed(0)).to(device)
    cost = kl_to_standard_normal(framework.posterior(data.observations(sample))).mean(0).cpu()
    order = cost.argsort(descending=True)
    return order.tolist(), cost[order].tolist()


def format_signed(value: float) -> str:
    """A value with its sign and one digit; zero has none."""
    return f"{value:+.1f}".replace("-0.0", "0.0").replace("+0.0", "0.0")
