"""Every way to blur against the direct convolution, written with the two-dimensional kernel."""

import pytest
import torch
from torch.nn.functional import conv2d

from course_lib.losses.blur import blur, box_kernel, dense_blur, fourier_blur, gaussian_kernel, separable_blur

WAYS = {"separable": separable_blur, "dense": dense_blur, "fourier": fourier_blur, "chosen": blur}
SHAPES = [(1, 2, 64, 64), (1, 2, 16, 24), (3, 1, 16, 16)]


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def direct(images, kernel):
    channels = images.shape[1]
    padding = [side // 2 for side in kernel.shape]
    return conv2d(images, kernel.expand(channels, 1, -1, -1), padding=padding, groups=channels)


@pytest.mark.parametrize("way", ["separable", "chosen"])
@pytest.mark.parametrize(
    "kernel", [box_kernel(3).double(), gaussian_kernel(4).double(), box_kernel(31).double(), random(9, seed=1)]
)
@pytest.mark.parametrize("shape", SHAPES)
def test_one_dimensional_kernels_equal_the_direct_convolution_with_zero_padding(way, kernel, shape):
    images = random(*shape)
    torch.testing.assert_close(
        WAYS[way](images, kernel), direct(images, torch.outer(kernel, kernel)), rtol=1e-10, atol=1e-11
    )


@pytest.mark.parametrize("way", ["dense", "fourier", "chosen"])
@pytest.mark.parametrize("sides", [(1, 1), (5, 5), (3, 9), (31, 31), (77, 33)])
@pytest.mark.parametrize("shape", SHAPES)
def test_two_dimensional_kernels_equal_the_direct_convolution_with_gradients(way, sides, shape):
    """The kernels have no symmetry, so that a flipped or transposed one would show; some reach beyond the image."""
    if way == "dense" and shape[-1] == 64:
        shape = (1, 2, 32, 24)  # the matrix of a 64 × 64 image would take a second
    images, kernel = random(*shape).requires_grad_(), random(*sides, seed=1).requires_grad_()
    ours, expected = WAYS[way](images, kernel), direct(images, kernel)
    torch.testing.assert_close(ours, expected, rtol=1e-9, atol=1e-9)
    weights = random(*shape, seed=2)
    gradients = [torch.autograd.grad((weights * blurred).sum(), (images, kernel)) for blurred in (ours, expected)]
    torch.testing.assert_close(*gradients, rtol=1e-9, atol=1e-9)


def test_autocast_does_not_round_the_blur():
    images, kernel = random(2, 1, 16, 16).float(), box_kernel(7)
    with torch.autocast("cpu", torch.bfloat16):
        inside = blur(images, kernel)
    assert torch.equal(inside, blur(images, kernel)) and inside.dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("kernel", [box_kernel(3), random(5, 9, seed=1)], ids=["separable", "two-dimensional"])
@pytest.mark.parametrize("size", [16, 40])
def test_half_types_are_blurred_to_their_own_precision(dtype, kernel, size):
    images, kernel = random(1, 2, size, size).to(dtype), kernel.to(dtype)
    found, expected = blur(images, kernel), blur(images.double(), kernel.double())
    assert found.dtype == dtype
    torch.testing.assert_close(
        found.double(), expected, rtol=0, atol=2 * torch.finfo(dtype).eps * expected.abs().max().item()
    )


def test_kernels_sum_to_one_and_have_the_thesis_s_shape():
    assert len(box_kernel(31)) == 63 and box_kernel(31).unique().item() == pytest.approx(1 / 63)
    gaussian = gaussian_kernel(31)
    offsets = torch.arange(-31, 32)
    assert gaussian.sum().item() == pytest.approx(1, abs=1e-6)
    assert (gaussian[31] / gaussian[31 + 7]).item() == pytest.approx(torch.tensor(0.5 * (7 / 7.75) ** 2).exp().item())
    assert (gaussian * offsets).sum().item() == pytest.approx(0, abs=1e-6)
