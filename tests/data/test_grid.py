"""What a dataset's own `render` returns is checked, and so is whether its images can be standardised."""

import numpy as np
import pytest
import torch

from course_lib.data import XYSquares, check_data, standardise
from course_lib.data.grid import GridDataset
from course_lib.distances import perceived_distance
from course_lib.factors import FactorSpace
from course_lib.frameworks import BetaVAE
from course_lib.losses import LearntKernel
from course_lib.metrics import Encodings
from course_lib.models import conv_vae, mlp_vae
from course_lib.training import fit, fit_kernel
from course_lib.viz import to_rgb

INDEX = torch.arange(4)
RIGHT = XYSquares(2, 2, squares=2, image_size=16)


class Rendered(GridDataset):
    """The small XYSquares, what it draws changed by a function."""

    space, shape, mean, std = RIGHT.space, RIGHT.shape, RIGHT.mean, RIGHT.std

    def __init__(self, change=lambda images: images):
        self.change = change

    def render(self, index):
        return self.change(RIGHT.render(index))


WRONG = {
    "channels last": (lambda images: images.permute(0, 2, 3, 1), r"torch\.uint8 \(4, 16, 16, 2\)"),
    "floats": (lambda images: images / 255, r"torch\.float32 \(4, 2, 16, 16\)"),
    "int64": (lambda images: images.long(), r"torch\.int64"),
    "bool": (lambda images: images > 0, r"torch\.bool"),
    "no channel": (lambda images: images[:, 0], r"\(4, 16, 16\)"),
    "one too few": (lambda images: images[1:], r"\(3, 2, 16, 16\)"),
    "an array": (lambda images: images.numpy(), "ndarray"),
    "nothing": (lambda images: None, "NoneType"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_uint8_image_is_refused(name):
    change, words = WRONG[name]
    with pytest.raises(
        ValueError, match=rf"data: Rendered\(\) rendered .*{words}.*; expected torch\.uint8 \(4, 2, 16, 16\)"
    ):
        Rendered(change).images(INDEX)


ENTRANCES = {
    "observations": lambda data: data.observations(INDEX),
    "fit": lambda data: fit(BetaVAE(mlp_vae(RIGHT, 2)), data, steps=1, batch_size=4, device="cpu"),
    "fit_kernel": lambda data: fit_kernel(LearntKernel(1), data, steps=1, batch_size=4, pairs=4),
    "Encodings": lambda data: Encodings(lambda images: images.flatten(1).float(), data)(INDEX),
    "perceived_distance": lambda data: perceived_distance(data)(INDEX, INDEX),
}


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_images_are_checked_wherever_they_enter(entrance):
    ENTRANCES[entrance](Rendered())
    for change, _ in (WRONG["channels last"], WRONG["floats"]):
        with pytest.raises(ValueError, match=r"data: Rendered\(\) rendered"):
            ENTRANCES[entrance](Rendered(change))


def test_only_bytes_are_standardised_and_only_images_are_shown():
    mean, std = torch.tensor(RIGHT.mean), torch.tensor(RIGHT.std)
    with pytest.raises(ValueError, match=r"images: got dtype torch\.float32; allowed is uint8"):
        standardise(RIGHT.images(INDEX) / 255, mean, std)
    for wrong, words in (
        (torch.zeros(2, 1, 4, 4).long(), "int64"),
        (torch.zeros(4, 4), r"\(4, 4\)"),
        ("picture", "'picture'"),
    ):
        with pytest.raises(ValueError, match=f"images: got .*{words}"):
            to_rgb(wrong)
    np.testing.assert_array_equal(to_rgb(np.ones((2, 1, 4, 4))[::-1]), np.ones((2, 4, 4, 3)))


class Grey(GridDataset):
    """Images of one grey, all the same."""

    space, shape, mean, std = FactorSpace(("a",), (4,)), (1, 16, 16), (0.5,), (0.0,)

    def render(self, index):
        return torch.full((len(index), *self.shape), 128, dtype=torch.uint8)


@pytest.mark.parametrize("call", [
    check_data,
    mlp_vae,
    conv_vae,
    lambda data: data.observations([0]),
    lambda data: fit(BetaVAE(mlp_vae(RIGHT, 2)), data, steps=1),
])  # fmt: skip
def test_constant_images_cannot_be_standardised(call):
    with pytest.raises(ValueError, match=r"data: the std of Grey\(\) is \(0\.0,\); expected 1 numbers, each above 0"):
        call(Grey())


@pytest.mark.parametrize("std", [0.1, None, ("0.1", "0.1"), (0.1, 0.0), (0.1,), (0.1, float("nan")), (0.1, -0.1)])
def test_every_channel_needs_a_std(std):
    data = Rendered()
    data.std = std
    with pytest.raises(ValueError, match="data: the std of "):
        mlp_vae(data)
