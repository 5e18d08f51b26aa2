"""XYObject and XYObject (Shades) against a drawing loop, against each other and against the thesis' moments."""

import numpy as np
import pytest
import torch

from course_lib.data import XYObject, XYObjectShades
from course_lib.sampling import singles

RAINBOW = "red", "yellow", "green", "cyan", "blue", "magenta"
LIT = {"red": "R", "yellow": "RG", "green": "G", "cyan": "GB", "blue": "B", "magenta": "RB"}


def drawn(x, y, scale, intensity, hue):
    """The definition of datasets.md, one pixel at a time."""
    image = np.zeros((3, 64, 64), dtype=np.uint8)
    size = 7 + 2 * scale
    left, top = (2 * factor + (15 - size) // 2 for factor in (x, y))
    for channel in LIT[RAINBOW[hue]]:
        for row in range(top, top + size):
            for column in range(left, left + size):
                image["RGB".index(channel), row, column] = (63, 127, 191, 255)[intensity]
    return image


def test_factors_are_those_of_the_thesis():
    data, shades = XYObject(), XYObjectShades()
    assert data.space.names == ("x", "y", "scale", "colour") and data.space.sizes == (25, 25, 5, 24)
    assert shades.space.names == ("x", "y", "scale", "intensity", "colour")
    assert shades.space.sizes == (25, 25, 5, 4, 6) and len(data) == len(shades) == 75_000
    assert data.shape == shades.shape == (3, 64, 64)


def test_images_equal_a_drawing_loop():
    data, shades = XYObject(), XYObjectShades()
    index = singles(data.space, 300, torch.Generator().manual_seed(0))
    images = data.images(index)
    assert images.dtype == torch.uint8 and images.shape == (300, 3, 64, 64)
    for image, (x, y, scale, colour) in zip(images.numpy(), data.space.factors(index).tolist(), strict=True):
        np.testing.assert_array_equal(image, drawn(x, y, scale, colour // 6, colour % 6))
    for image, factors in zip(shades.images(index).numpy(), shades.space.factors(index).tolist(), strict=True):
        np.testing.assert_array_equal(image, drawn(*factors))


def test_corners_of_the_grid():
    """The largest square touches the upper and the left edge but leaves the last row and column free."""
    white = [XYObject().images([x, y, 4, 18] @ strides(XYObject()))[0].nonzero() for x, y in ((0, 0), (24, 24), (3, 0))]
    extents = [[*pixels.min(0).values.tolist(), *pixels.max(0).values.tolist()] for pixels in white]
    assert extents == [[0, 0, 14, 14], [48, 48, 62, 62], [0, 6, 14, 20]]  # top, left, bottom, right


def strides(data):
    return np.array(data.space.strides)


def test_both_datasets_hold_the_same_images_under_colour_6_intensity_plus_hue():
    data, shades = XYObject(), XYObjectShades()
    points = shades.space.factors(torch.arange(0, 75_000, 7))
    mixed = torch.cat([points[:, :3], 6 * points[:, 3:4] + points[:, 4:]], 1)
    assert torch.equal(data.images(data.space.index(mixed)), shades.images(shades.space.index(points)))
    assert torch.equal(data.space.index(mixed), shades.space.index(points))  # and in the same order


def test_all_images_differ():
    data = XYObject()
    one = data.images(data.space.index([[12, 12, scale, colour] for scale in range(5) for colour in range(24)]))
    assert len(one.flatten(1).unique(dim=0)) == 120
    moved = data.images(data.space.index([[x, y, 2, 0] for x in range(25) for y in range(25)]))
    assert len(moved.flatten(1).unique(dim=0)) == 625


def test_a_small_variant_equals_a_drawing_loop():
    """Every image of a grid on which no two numbers of the default stay: sides, spacing, positions and edges."""
    data = XYObject(9, 2, 3, (2, 4, 6))
    twin = XYObjectShades(9, 2, 3, (2, 4, 6))
    assert data.space.sizes == (2, 2, 3, 24) and twin.space.sizes == (2, 2, 3, 4, 6)
    images = data.images(torch.arange(len(data)))
    assert torch.equal(images, twin.images(torch.arange(len(data))))
    for image, (x, y, scale, colour) in zip(images, data.space.factors(torch.arange(len(data))).tolist(), strict=True):
        side = 2 + 2 * scale
        left, top = (3 * place + 2 - scale for place in (x, y))
        expected = torch.zeros(3, 9, 9, dtype=torch.uint8)
        for channel in LIT[RAINBOW[colour % 6]]:
            expected["RGB".index(channel), top : top + side, left : left + side] = (63, 127, 191, 255)[colour // 6]
        assert torch.equal(image, expected)
    pixels = (images.double() / 255).flatten(2)
    np.testing.assert_allclose(pixels.mean((0, 2)), data.mean, rtol=1e-12)
    np.testing.assert_allclose(pixels.std(2).mean(0), data.std, rtol=1e-12)


def test_options_build_the_same_again():
    data = XYObjectShades(16, 8, 1, [3, 5, 7])
    again = XYObjectShades(**data.options)
    assert repr(data) == "XYObjectShades(image_size=16, positions=8, spacing=1, sizes=(3, 5, 7))" == repr(again)
    assert (again.space, again.shape, again.mean, again.std) == (data.space, data.shape, data.mean, data.std)
    assert len(data) == 4608 and XYObject().space != data.space


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"image_size": 62}, "image_size: got 62; .* allowed from 63"),
        ({"image_size": 1, "positions": 1, "sizes": (1,)}, "image_size: got 1"),
        ({"spacing": 0}, "spacing: got 0"),
        ({"positions": 2.0}, "positions: got 2.0"),
        ({"sizes": (3, 4)}, r"sizes: got \(3, 4\); allowed are growing sides"),
        ({"sizes": (5, 3)}, "sizes: got"),
        ({"sizes": ()}, "sizes: got"),
        ({"sizes": (0, 2)}, r"sizes\[0\]: got 0"),
    ],
)
def test_a_grid_that_does_not_fit_is_an_error(changes, message):
    with pytest.raises(ValueError, match=message):
        XYObject(**changes)


@pytest.mark.parametrize("dataset", [XYObject, XYObjectShades])
def test_moments_are_those_of_table_a2(dataset):
    """To seven digits of those printed: the thesis summed in single precision. And exactly those of the images."""
    data = dataset()
    for published, moments in ((0.009818761549013, data.mean), (0.052632363725246, data.std)):
        assert len(moments) == 3 and all(abs(moment / published - 1) < 5e-8 for moment in moments)
    index = torch.arange(120) + 120 * torch.randint(625, (120,), generator=torch.Generator().manual_seed(1))
    pixels = (data.images(index).double() / 255).flatten(2)  # all scales and colours, each anywhere
    np.testing.assert_allclose(pixels.mean((0, 2)), data.mean, rtol=1e-12)
    np.testing.assert_allclose(pixels.std(2).mean(0), data.std, rtol=1e-12)


def test_observations_are_standardised():
    data = XYObject()
    index = torch.tensor([5, 74_999])
    expected = (data.images(index).double() / 255 - data.mean[0]) / data.std[0]
    torch.testing.assert_close(data.observations(index).double(), expected, rtol=1e-5, atol=1e-5)


def test_bytes_do_not_depend_on_the_batch():
    data = XYObjectShades()
    index = singles(data.space, 60, torch.Generator().manual_seed(2))
    order = torch.randperm(60, generator=torch.Generator().manual_seed(3))
    assert torch.equal(data.images(index[order]), data.images(index)[order])
    assert torch.equal(data.images(index.view(3, 20))[2, 5], data.images(index[45]))
    assert data.images([]).shape == (0, 3, 64, 64)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_bytes_do_not_depend_on_the_device():
    data = XYObject()
    index = torch.arange(0, 75_000, 5)
    assert torch.equal(data.images(index.cuda()).cpu(), data.images(index))


@pytest.mark.parametrize("index", [-1, 75_000, 0.0])
def test_a_wrong_index_is_an_error(index):
    with pytest.raises(ValueError, match="index: got"):
        XYObject().images(index)


def test_wrong_factors_are_an_error():
    with pytest.raises(ValueError, match="colour got values from 24 to 24; allowed are 0 to 23"):
        XYObject().space.index([0, 0, 0, 24])
    with pytest.raises(ValueError, match="intensity got values from 4 to 4; allowed are 0 to 3"):
        XYObjectShades().space.index([0, 0, 0, 4, 0])


def test_no_sizes_are_refused_by_name():
    with pytest.raises(ValueError, match="sizes: got None; allowed is growing sides"):
        XYObject(sizes=None)
