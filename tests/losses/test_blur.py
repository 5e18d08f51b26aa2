"""Blurring by matrices against the direct convolution, written with the two-dimensional kernel."""

import pytest
import torch
from torch.nn.functional import conv2d

from course_lib.losses.blur import box_kernel, gaussian_kernel, separable_blur


@pytest.mark.parametrize("kernel", [box_kernel(3), gaussian_kernel(4), box_kernel(31), gaussian_kernel(31)])
@pytest.mark.parametrize("shape", [(2, 3, 64, 64), (1, 2, 16, 24)])
def test_equals_the_direct_convolution_with_zero_padding(kernel, shape):
    images = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    square = torch.outer(kernel.double(), kernel.double()).expand(shape[1], 1, -1, -1)
    direct = conv2d(images, square, padding=len(kernel) // 2, groups=shape[1])
    torch.testing.assert_close(separable_blur(images, kernel), direct, rtol=1e-10, atol=1e-12)


def test_kernels_sum_to_one_and_have_the_thesis_s_shape():
    assert len(box_kernel(31)) == 63 and box_kernel(31).unique().item() == pytest.approx(1 / 63)
    gaussian = gaussian_kernel(31)
    offsets = torch.arange(-31, 32)
    assert gaussian.sum().item() == pytest.approx(1, abs=1e-6)
    assert (gaussian[31] / gaussian[31 + 7]).item() == pytest.approx(torch.tensor(0.5 * (7 / 7.75) ** 2).exp().item())
    assert (gaussian * offsets).sum().item() == pytest.approx(0, abs=1e-6)
