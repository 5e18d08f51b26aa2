"""Blurring an image channel by channel, with zeros around it: what gives a pixel-wise loss a sense of space.

A kernel is one-dimensional (2·radius + 1,), and then stands for its outer product with itself, or two-dimensional with
odd sides. All blurs are cross-correlations with zero padding and the same size, as in `torch.nn.functional.conv2d`.
"""

import torch
from scipy.fft import next_fast_len
from torch import Tensor
from torch.fft import irfft2, rfft2
from torch.nn.functional import conv1d, pad

from course_lib.arguments import check_instance, check_integers, check_numbers

DENSE = 24 * 24  # pixels up to which one dense matrix is quicker than Fourier transforms (benchmarks/blur.py)


def box_kernel(radius: int) -> Tensor:
    """The one-dimensional box, float32 (2·radius + 1,), summing to 1; its product with itself is the square box.

    Chapter 16.
    """
    (radius,) = check_integers(0, radius=radius)
    size = 2 * radius + 1
    return torch.full((size,), 1 / size)


def gaussian_kernel(radius: int, sigma: float | None = None) -> Tensor:
    """The one-dimensional Gaussian, float32 (2·radius + 1,), summing to 1; sigma in pixels, by default radius / 4.

    A radius of 0 is one weight, which blurs nothing. Chapter 16.
    """
    (radius,) = check_integers(0, radius=radius)
    (sigma,) = check_numbers(0, above=True, sigma=max(radius, 1) / 4 if sigma is None else sigma)
    weights = torch.exp(-0.5 * (torch.arange(-radius, radius + 1, dtype=torch.float64) / sigma) ** 2)
    return (weights / weights.sum()).float()


def blur(images: Tensor, kernel: Tensor) -> Tensor:
    """Each channel of images (..., H, W) blurred with `kernel`, the same shape; differentiable in both.

    Whichever way is quickest: two banded matrices for a one-dimensional kernel, else one dense matrix for small images
    and Fourier transforms for large ones. Always in the precision of `images`, whatever autocast surrounds the call;
    half types are transformed in float32. Raises ValueError for images or a kernel that do not fit. Chapter 16.
    """
    if not isinstance(images, Tensor) or not images.is_floating_point() or images.ndim < 2:
        got = f"{images.dtype} {tuple(images.shape)}" if isinstance(images, Tensor) else type(images).__name__
        raise ValueError(f"images: got {got}; allowed are floating-point tensors (..., H, W).")
    check_instance(Tensor, "a tensor", kernel=kernel)
    if kernel.ndim not in (1, 2) or any(side % 2 == 0 for side in kernel.shape):
        raise ValueError(f"kernel: got shape {tuple(kernel.shape)}; allowed are (k,) and (k, l) with odd sides.")
    with torch.autocast(images.device.type, enabled=False):
        kernel = kernel.to(images)
        if kernel.ndim == 1:
            return separable_blur(images, kernel)
        height, width = images.shape[-2:]
        return (dense_blur if height * width <= DENSE else fourier_blur)(images, kernel)


def separable_blur(images: Tensor, kernel: Tensor) -> Tensor:
    """A blur along one axis is a product with a banded matrix: two small matrix products, whatever the radius."""
    rows, columns = (blur_matrix(size, kernel.to(images)) for size in images.shape[-2:])
    return rows @ images @ columns.T


def blur_matrix(size: int, kernel: Tensor) -> Tensor:
    """The matrix (size, size) whose product with a signal is the signal blurred with `kernel` (2·radius + 1,)."""
    identity = torch.eye(size, dtype=kernel.dtype, device=kernel.device).unsqueeze(1)
    return conv1d(identity, kernel.view(1, 1, -1), padding=len(kernel) // 2).squeeze(1).T


def dense_blur(images: Tensor, kernel: Tensor) -> Tensor:
    """One matrix (H·W, H·W) for a two-dimensional kernel: entry (p, q) is what pixel q adds to pixel p."""
    height, width = images.shape[-2:]
    kernel, (down, right) = _within_reach(kernel, height, width)
    far = (width - 1 - right,) * 2 + (height - 1 - down,) * 2
    weights = pad(kernel, far).flatten()  # of every offset, from −(size − 1) to size − 1
    rows, columns = (torch.arange(size, device=kernel.device) for size in (height, width))
    down, right = (place.view(1, -1) - place.view(-1, 1) + len(place) - 1 for place in (rows, columns))
    offset = down.view(height, 1, height, 1) * (2 * width - 1) + right.view(1, width, 1, width)
    return (images.flatten(-2) @ weights[offset.flatten(2).flatten(0, 1)].T).view(images.shape)


def fourier_blur(images: Tensor, kernel: Tensor) -> Tensor:
    """A product of Fourier transforms, the images padded so that nothing reaches around the edge."""
    height, width = images.shape[-2:]
    dtype = images.dtype  # no half type has transforms for every size and device
    images, kernel = (each.to(torch.promote_types(dtype, torch.float32)) for each in (images, kernel))
    kernel, reach = _within_reach(kernel, height, width)
    size = [next_fast_len(side + far, real=True) for side, far in zip((height, width), reach, strict=True)]
    margins = (0, size[1] - kernel.shape[1], 0, size[0] - kernel.shape[0])
    folded = pad(kernel, margins).roll((-reach[0], -reach[1]), (0, 1))  # the centre at 0
    return irfft2(rfft2(images, size) * rfft2(folded).conj(), size)[..., :height, :width].to(dtype)


def _within_reach(kernel: Tensor, height: int, width: int) -> tuple[Tensor, tuple[int, int]]:
    """The part of the kernel that connects two pixels of an image, and how far it reaches: (down, right)."""
    centre = [side // 2 for side in kernel.shape]
    reach = tuple(min(middle, side - 1) for middle, side in zip(centre, (height, width), strict=True))
    rows, columns = (slice(middle - far, middle + far + 1) for middle, far in zip(centre, reach, strict=True))
    return kernel[rows, columns], reach
