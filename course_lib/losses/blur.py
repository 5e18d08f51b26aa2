"""Blurring an image channel by channel, with zeros around it: what gives a pixel-wise loss a sense of space."""

import torch
from torch import Tensor
from torch.nn.functional import conv1d


def box_kernel(radius: int) -> Tensor:
    """The one-dimensional box, float32 (2·radius + 1,), summing to 1; its product with itself is the square box."""
    size = 2 * radius + 1
    return torch.full((size,), 1 / size)


def gaussian_kernel(radius: int, sigma: float | None = None) -> Tensor:
    """The one-dimensional Gaussian, float32 (2·radius + 1,), summing to 1; sigma in pixels, by default radius / 4."""
    sigma = radius / 4 if sigma is None else sigma
    weights = torch.exp(-0.5 * (torch.arange(-radius, radius + 1, dtype=torch.float64) / sigma) ** 2)
    return (weights / weights.sum()).float()


def separable_blur(images: Tensor, kernel: Tensor) -> Tensor:
    """Convolve each channel with the outer product of `kernel` (2·radius + 1,) with itself: (..., H, W) → the same.

    Zero padding, same size. A blur along one axis is a product with a banded matrix, so it costs two small matrix
    products, whatever the radius.
    """
    rows, columns = (blur_matrix(size, kernel.to(images)) for size in images.shape[-2:])
    return rows @ images @ columns.T


def blur_matrix(size: int, kernel: Tensor) -> Tensor:
    """The matrix (size, size) whose product with a signal is its convolution with `kernel`, zeros outside."""
    identity = torch.eye(size, dtype=kernel.dtype, device=kernel.device).unsqueeze(1)
    return conv1d(identity, kernel.view(1, 1, -1), padding=len(kernel) // 2).squeeze(1)
