"""What chapter 16's local mean is called with, what is right (by pooling, in float64), and the mistakes made in it."""

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, pad

from course_grading.exercise import Wrong


def images_and_radii(generator: torch.Generator) -> list[list]:
    """Images with a radius each, the first to be differentiated; windows larger than the image, and of one pixel; the
    task's example, and images with many black pixels."""
    cases = []
    for shape, radius in (
        ((2, 3, 6, 9), 1),
        ((1, 1, 5, 5), 2),
        ((3, 2, 4, 7), 5),
        ((2, 1, 4, 4), 0),
        ((1, 2, 8, 6), 3),
    ):
        cases.append([torch.rand(shape, generator=generator) + 0.5, radius])
    cases[0][0].requires_grad_()
    black = torch.rand(2, 1, 7, 8, generator=generator) * (torch.rand(2, 1, 7, 8, generator=generator) > 0.6)
    return [*cases, [torch.tensor([[[[0.0, 6.0, 3.0]]]]), 1], [black, 1]]


def local_mean(images: Tensor, radius: int) -> Tensor:
    return _pooled(images.double(), radius, inside=True).float()


def _pooled(images: Tensor, radius: int, inside: bool = False) -> Tensor:
    return avg_pool2d(images, 2 * radius + 1, stride=1, padding=radius, count_include_pad=not inside)


def _outside(images: Tensor, radius: int, mode: str) -> Tensor:
    """Windows over something else than zeros, pixel by pixel, so that any radius works."""
    rows, columns = (_places(size, radius, mode) for size in images.shape[-2:])
    return avg_pool2d(images[..., rows, :][..., columns], 2 * radius + 1, stride=1)


def _places(size: int, radius: int, mode: str) -> Tensor:
    place = torch.arange(-radius, size + radius)
    if mode == "replicate":
        return place.clamp(0, size - 1)
    if mode == "circular":
        return place % size
    around = place % max(2 * size - 2, 1)
    return torch.minimum(around, 2 * size - 2 - around)


def _one_short(images: Tensor, radius: int) -> Tensor:
    """Windows from −radius to radius − 1."""
    ones = torch.ones_like(images)
    sums, counts = (_shifted_sum(values, radius, radius - 1) for values in (images, ones))
    return sums / counts.clamp(min=1)


def _shifted_sum(images: Tensor, before: int, after: int) -> Tensor:
    around = pad(images, (before, max(after, 0)) * 2)
    height, width = images.shape[-2:]
    moves = range(before + after + 1)
    parts = [around[..., y : y + height, x : x + width] for y in moves for x in moves]
    return sum(parts) if parts else torch.zeros_like(images)


MEAN_WRONG = (
    Wrong(
        _pooled,
        "zeros were averaged in at the edge, which makes it darker: divide by the number of pixels that the window has "
        "inside the image, not by (2·radius + 1)².",
    ),
    Wrong(
        lambda images, radius: _outside(images, radius, "replicate"),
        "the edge was repeated outside: average over the pixels inside the image only.",
    ),
    Wrong(
        lambda images, radius: _outside(images, radius, "reflect"),
        "the image was mirrored outside: average over the pixels inside the image only.",
    ),
    Wrong(
        lambda images, radius: _outside(images, radius, "circular"),
        "the window comes round from the other side (a Fourier transform without a margin does that, and torch.roll): "
        "average over the pixels inside the image only.",
    ),
    Wrong(
        _one_short,
        "the window is one pixel short: from −radius to +radius, both included, is 2·radius + 1. (A slice a:b leaves "
        "b out.)",
    ),
    Wrong(
        lambda images, radius: _shifted_sum(images, radius, radius),
        "these are sums: divide by the number of pixels in the window.",
    ),
    Wrong(
        lambda images, radius: (
            _shifted_sum(images, radius, radius) / _shifted_sum((images != 0).float(), radius, radius).clamp(min=1)
        ),
        "divided by the number of pixels that are not 0: a black pixel of the image counts as any other, and only what "
        "lies outside does not.",
    ),
    Wrong(
        lambda images, radius: avg_pool2d(images, (1, 2 * radius + 1), 1, (0, radius), count_include_pad=False),
        "only averaged along the rows: the window is square, and along the columns it does the same.",
    ),
    Wrong(
        lambda images, radius: avg_pool2d(images, (2 * radius + 1, 1), 1, (radius, 0), count_include_pad=False),
        "only averaged along the columns: the window is square, and along the rows it does the same.",
    ),
    Wrong(
        lambda images, radius: local_mean(images, radius).mean(1, keepdim=True).expand_as(images),
        "averaged over the channels too: each channel is blurred by itself.",
    ),
    Wrong(
        lambda images, radius: local_mean(local_mean(images, radius), radius),
        "averaged twice: that is a window with a triangle's weights, twice as wide.",
    ),
    Wrong(
        lambda images, radius: local_mean(images, 2 * radius),
        "the windows are twice as wide as they should be: a radius reaches that far to each side.",
    ),
    Wrong(
        lambda images, radius: local_mean(images.detach(), radius).requires_grad_(images.requires_grad) * 1,
        "the gradient for images is missing: a loss is trained through its blur. Leave out detach, .data and numpy.",
    ),
)
