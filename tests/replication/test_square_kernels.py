"""Kernels that are trained without images: the same distances, gradients and scores as with them."""

from pathlib import Path

import pytest
import torch

from course_lib.data import XYSquares
from course_lib.losses import LearntKernel
from course_lib.training import fit_kernel
from course_replication import Context
from course_replication.measurements import kernels, square_kernels
from course_replication.measurements.square_kernels import SquaresKernel


@pytest.mark.parametrize("radius", [0, 3, 31, 63])
@pytest.mark.parametrize("grid", [(8, 8, 3, 64), (1, 8, 3, 64), (2, 2, 2, 16), (3, 5, 1, 33)])
def test_distances_and_gradients_are_those_of_the_images(radius, grid):
    data = XYSquares(*grid)
    generator = torch.Generator().manual_seed(radius)
    index = torch.randint(len(data), (64,), generator=generator)
    first, second = torch.randint(64, (2, 256), generator=generator)
    weights = torch.randn(256, generator=generator)
    found = []
    for kind in (LearntKernel, SquaresKernel):
        kernel = kind(radius, noise=0.5)
        distances = kernel.distances_in(data, index, first, second)
        (distances * weights).sum().backward()
        found.append((distances.detach(), kernel.weights.grad))
    (distances, gradient), (ours, our_gradient) = found
    assert torch.allclose(ours, distances, rtol=1e-4, atol=1e-6 * distances.max())
    assert torch.allclose(our_gradient, gradient, rtol=1e-3, atol=1e-5 * gradient.abs().max())


def test_a_training_is_that_with_images():
    data = XYSquares(2, 2, squares=2, image_size=16)
    trained = [kind(7) for kind in (LearntKernel, SquaresKernel)]
    for kernel in trained:
        fit_kernel(kernel, data, steps=20, batch_size=64, pairs=256, learning_rate=0.01)
    assert torch.allclose(*(kernel.kernel for kernel in trained), atol=1e-3)
    assert (trained[0].kernel - LearntKernel(7).kernel).abs().max() > 0.05


def test_scores_are_those_of_kernels_learnt_from_more_pairs(monkeypatch):
    settings = dict(radius=31, symmetry=1.0, steps=2, batch_size=16, pairs=32, learning_rate=0.001)
    context = Context(seed=0, device=torch.device("cpu"), scratch=Path("unused"))
    monkeypatch.setattr(square_kernels, "PAIRS", 640)
    monkeypatch.setattr(kernels, "PAIRS", 640)
    ours, theirs = square_kernels.learnt(context, **settings), kernels.learnt(context, **settings)
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        assert ours[name] == pytest.approx(value, abs=1e-3), name
