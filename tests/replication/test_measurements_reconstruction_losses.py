"""Measurements of reconstruction losses, with a network's blur turned around and a box that blurs nothing."""

import pytest
import torch

from course_lib.data import XYObject, XYSquares
from course_replication.measurements import reconstruction_losses


@pytest.fixture
def small(monkeypatch):
    """Two binary and two grey datasets that are drawn in no time."""
    names = {"DSprites": lambda: XYSquares(2, 2, squares=2, image_size=16), "Shapes3D": XYObject}
    for name, dataset in names.items():
        monkeypatch.setattr(reconstruction_losses, name, dataset)


def test_cross_entropy_on_grey_values(context, small):
    found = reconstruction_losses.grey_levels(context, 5)
    assert all(value for value in found.values() if isinstance(value, bool))
    assert found["cross-entropy-with-itself/xyobject"] > 0


def test_grey_images_that_are_binary_are_seen(context, small, monkeypatch):
    monkeypatch.setattr(reconstruction_losses, "XYObject", lambda: XYSquares(2, 2, squares=1, image_size=16))
    assert not reconstruction_losses.grey_levels(context, 5)["grey-images-are-not"]


def test_a_blur_alone(context):
    found = reconstruction_losses.blur_alone(context)
    for name in ("16", "32", "64", "widest"):
        assert found[f"left/alone/{name}"] > found[f"left/both/{name}"]
    assert found["left/alone/no-blur"] == found["left/both/no-blur"] == 0
    assert found["rank/64"] == 64 and found["rank/widest"] == 1


def test_what_is_left_is_what_gradient_descent_leaves(context, monkeypatch):
    """Twenty steps on the pixels themselves, by autograd, for the small box."""
    monkeypatch.setattr(reconstruction_losses, "STEPS", 20)
    found = reconstruction_losses.blur_alone(context)
    data = XYSquares(2, 2, squares=2, image_size=16)
    index = torch.randint(len(data), (10,), generator=context.generator)
    target = data.images(index).double() / 255
    offsets = torch.arange(16)
    weights = ((offsets[:, None] - offsets).abs() <= 7).double() / 15
    largest = 15**2 * torch.linalg.eigvalsh(weights).max() ** 4
    image = torch.zeros_like(target, requires_grad=True)
    for _ in range(20):
        difference = image - target
        loss = 15**2 * (weights @ difference @ weights).square().sum() / 2
        (gradient,) = torch.autograd.grad(loss, image)
        image = (image - gradient / largest).detach().requires_grad_()
    left = ((image - target).square().sum() / target.square().sum()).item()
    assert found["left/alone/16"] == pytest.approx(left, rel=1e-6)


def test_a_kernel_turned_around(context, monkeypatch):
    found = reconstruction_losses.turned_kernel(context, 3)
    assert all(value for value in found.values() if isinstance(value, bool))
    right = reconstruction_losses.blur
    monkeypatch.setattr(reconstruction_losses, "blur", lambda images, kernel: right(images, kernel.flip(0, 1)))
    assert not reconstruction_losses.turned_kernel(context, 3)["library-as-by-sums"]
