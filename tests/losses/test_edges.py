"""Where exponentials overflow and kernels have one weight."""

import math

import numpy as np
import pytest
import torch

from course_lib.losses import (
    aggregate_log_densities,
    hard_rank,
    norm_distance,
    shared_latents,
    soft_rank,
    spearman,
    symmetric_kl,
    triplet_loss,
)
from course_lib.losses.blur import blur, box_kernel, gaussian_kernel
from course_lib.losses.reconstruction import overlap_kernel
from course_lib.losses.total_correlation import log_weights
from course_lib.models import DiagonalGaussian


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_posterior_is_at_no_distance_from_itself_however_narrow(dtype):
    log_variance = torch.tensor([[-1000.0, -720.0, -90.0, -88.0, 0.0, 90.0]], dtype=dtype, requires_grad=True)
    mean = torch.ones(1, 6, dtype=dtype, requires_grad=True)
    same = DiagonalGaussian(mean, log_variance)
    distance = symmetric_kl(same, same)
    assert torch.equal(distance, torch.zeros(1, 6, dtype=dtype))
    distance.sum().backward()
    assert mean.grad.isfinite().all() and log_variance.grad.isfinite().all()
    assert not shared_latents(distance).any()


def test_two_narrow_posteriors_are_as_far_apart_as_a_float_can_say():
    first = DiagonalGaussian(torch.zeros(1, 1), torch.full((1, 1), -95.0))
    second = DiagonalGaussian(torch.full((1, 1), 1e-10), torch.full((1, 1), -95.0))
    found = symmetric_kl(first, second).item()
    assert found == pytest.approx(0.25 * 1e-20 * torch.finfo(torch.float32).max / 2, rel=1e-4)


def test_an_ordinary_log_variance_gives_the_same_bits_as_the_formula():
    draw = torch.Generator().manual_seed(0)
    (a, b), (s, t) = torch.randn(2, 500, 3, generator=draw), 8 * torch.randn(2, 500, 3, generator=draw)
    plain = (0.5 * (s - t)).sinh().square() + 0.25 * (a - b).square() * ((-s).exp() + (-t).exp())
    assert torch.equal(symmetric_kl(DiagonalGaussian(a, s), DiagonalGaussian(b, t)), plain)


@pytest.mark.parametrize("kernel", [gaussian_kernel(0), box_kernel(0), gaussian_kernel(0, 2.0)])
def test_a_radius_of_0_blurs_nothing(kernel):
    images = torch.rand(2, 1, 4, 4, generator=torch.Generator().manual_seed(0))
    assert kernel.tolist() == [1.0] and torch.equal(blur(images, kernel), images)


@pytest.mark.parametrize("loss", ["mse-box", "mse-gaussian"])
def test_the_smallest_images_have_a_kernel_of_one_weight(loss):
    assert overlap_kernel(loss, 2).tolist() == [1.0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: gaussian_kernel(-1), "radius: got -1; allowed are integers from 0"),
        (lambda: gaussian_kernel(1.5), "radius: got 1.5"),
        (lambda: box_kernel(-1), "radius: got -1"),
        (lambda: gaussian_kernel(3, 0), "sigma: got 0; allowed are finite numbers above 0"),
        (lambda: gaussian_kernel(3, math.inf), "sigma: got inf"),
    ],
)
def test_kernels_name_what_does_not_fit(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_the_ranks_of_the_largest_numbers_are_those_of_small_ones():
    values = torch.tensor([1.7e308, -1.7e308, 0.0], dtype=torch.float64)
    assert soft_rank(values).tolist() == [3, 1, 2]
    assert spearman(values, torch.tensor([2.0, 0.0, 1.0], dtype=torch.float64)).item() == pytest.approx(1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: blur(torch.ones(1, 4, 4, dtype=torch.uint8), box_kernel(1)), "images: got torch.uint8"),
        (lambda: blur(np.ones((1, 4, 4)), box_kernel(1)), "images: got ndarray"),
        (lambda: blur(torch.ones(1, 4, 4), torch.ones(2)), r"kernel: got shape \(2,\); allowed are"),
        (lambda: blur(torch.ones(1, 4, 4), torch.ones(0)), r"kernel: got shape \(0,\)"),
        (lambda: blur(torch.ones(1, 4, 4), None), "kernel: got None; allowed is a tensor"),
        (lambda: blur(torch.ones(1, 4, 4), [1.0]), r"kernel: got \[1.0\]; allowed is a tensor"),
        (lambda: log_weights("mws", 8, None), "dataset_size: got None; allowed are integers from 1"),
        (lambda: log_weights("mws", 8, 0), "dataset_size: got 0"),
        (lambda: log_weights("mss", 8, 0.5), "dataset_size: got 0.5"),
        (lambda: soft_rank(np.ones(3)), "values: got .* allowed is a tensor"),
        (lambda: hard_rank(torch.ones(3) + 0j), "values: got dtype torch.complex64"),
        (lambda: spearman(torch.rand(2), torch.tensor([True, False])), "target: got dtype torch.bool"),
        (lambda: triplet_loss(torch.ones(2), torch.ones(2), float("nan")), "margin: got nan"),
        (lambda: norm_distance(torch.ones(1, 2), torch.ones(1, 2), 3), "norm: got 3; allowed are 1, 2"),
        (
            lambda: aggregate_log_densities(torch.ones(2, 1), DiagonalGaussian(*torch.ones(2, 2, 1)), "all", 9),
            "estimator: got 'all'; allowed are 'mws'",
        ),
    ],
)
def test_what_has_no_loss_is_refused_by_name(call, words):
    with pytest.raises(ValueError, match=words):
        call()
