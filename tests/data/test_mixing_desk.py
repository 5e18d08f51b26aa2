"""The mixing desk against a drawing loop, against counted pixels, and what its arguments refuse."""

import itertools

import numpy as np
import pytest
import torch

from course_lib.data import Fader, MixingDesk
from course_lib.distances import distance_matrix, perceived_distance

DESKS = [MixingDesk(), *(MixingDesk.variant(seed) for seed in range(5))]


def drawn(desk, places):
    """The definition, one pixel at a time."""
    image, left = np.zeros((desk.shape[1], desk.shape[2]), dtype=np.uint8), 0
    for fader, place in zip(desk.faders, places, strict=True):
        for row in range(place * fader.step, place * fader.step + fader.height):
            for column in range(left, left + fader.width):
                image[row % (fader.values * fader.step) if fader.wraps else row, column] = fader.grey
        left += fader.width + 1
    return image


@pytest.mark.parametrize("desk", DESKS, ids=["standard", *map(str, range(5))])
def test_images_equal_a_drawing_loop(desk):
    images = desk.images(torch.arange(len(desk)))
    points = itertools.product(*map(range, desk.space.sizes))
    for image, places in zip(images.numpy(), points, strict=True):
        np.testing.assert_array_equal(image[0], drawn(desk, places))


@pytest.mark.parametrize("desk", DESKS, ids=["standard", *map(str, range(5))])
def test_moments_are_those_of_all_images(desk):
    pixels = desk.images(torch.arange(len(desk))).double().flatten(1) / 255
    assert desk.mean[0] == pytest.approx(pixels.mean().item(), rel=1e-12)
    assert desk.std[0] == pytest.approx(pixels.std(1).mean().item(), rel=1e-12)


def test_the_standard_desk():
    desk = MixingDesk()
    assert desk.space.names == ("a", "b", "c", "d") and desk.space.sizes == (6, 4, 6, 6) and len(desk) == 864
    assert desk.shape == (1, 16, 16)


def test_the_four_kinds_of_distance():
    """Counted by hand: two rows for each pixel of a step, up to the whole cap; round the column the short way."""
    desk, draw = MixingDesk(), torch.Generator().manual_seed(0)
    table = {name: distance_matrix(perceived_distance(desk), desk.space, name, draw, n=3) * 256 for name in "abcd"}
    gap = abs(np.subtract.outer(np.arange(6), np.arange(6)))
    np.testing.assert_allclose(table["a"], 2 * 4 * gap, atol=1e-4)
    np.testing.assert_allclose(table["b"], 2 * 2 * 4 * (1 - np.eye(4)), atol=1e-4)
    turn = np.minimum(gap, 6 - gap)
    np.testing.assert_allclose(table["c"], 2 * 3 * np.minimum(2 * turn, 5), atol=1e-4)
    np.testing.assert_allclose(table["d"], 2 * 3 * gap * (110 / 255) ** 2, atol=1e-4)


def test_distances_of_faders_add():
    desk, perceive = MixingDesk(), perceived_distance(MixingDesk())
    first, second = torch.randint(len(desk), (2, 200), generator=torch.Generator().manual_seed(0))
    parts = 0
    for place in range(4):
        moved = desk.space.factors(first)
        moved[:, place] = desk.space.factors(second)[:, place]
        parts = parts + perceive(first, desk.space.index(moved))
    torch.testing.assert_close(parts, perceive(first, second), rtol=1e-6, atol=1e-9)


def test_a_variant_is_its_seed_and_has_one_fader_of_each_kind():
    assert repr(MixingDesk.variant(3)) == repr(MixingDesk.variant(3))
    assert len({repr(MixingDesk.variant(seed)) for seed in range(30)}) > 25
    for seed in range(30):
        faders = MixingDesk.variant(seed).faders
        assert sum(fader.wraps for fader in faders) == sum(fader.grey < 255 for fader in faders) == 1
        assert sum(fader.step >= fader.height for fader in faders) == 1
    orders = {tuple(fader.width for fader in MixingDesk.variant(seed).faders) for seed in range(60)}
    assert len(orders) == 12  # 4, 2, 3 and 3 in every arrangement


def test_options_build_the_same_desk_again():
    desk = MixingDesk.variant(1)
    assert repr(MixingDesk(**desk.options)) == repr(desk)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (dict(values=1, height=2, step=1, width=1), "values, grey: got 1"),
        (dict(values=3, height=2, step=1, width=1, grey=256), "and 256"),
        (dict(values=3, height=0, step=1, width=1), "height"),
        (dict(values=3, height=2, step=1.5, width=1), "step"),
        (dict(values=3, height=6, step=2, width=1, wraps=True), "height: got 6"),
        (dict(values=3, height=6, step=2, width=1, wraps="no"), "wraps"),
    ],
)
def test_faders_that_cannot_be_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        Fader(**arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (dict(faders=()), "faders: got 0"),
        (dict(faders=[Fader(2, 1, 1, 1)] * 9), "faders: got 9"),
        (dict(faders=3), "faders"),
        (dict(faders=[3]), r"faders\[0\]"),
        (dict(faders=[(2, 1, 1, 1), (6, 8)]), r"faders\[1\]: got 2 arguments; allowed are 4 to 6"),
        (dict(image_size=14), "image_size: got 14; these faders need 15 columns and 16 rows"),
    ],
)
def test_desks_that_cannot_be_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        MixingDesk(**arguments)
