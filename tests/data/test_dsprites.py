"""dSprites against authentic frames, against a slow drawing of the same polygons, and against the published moments."""

from pathlib import Path

import numpy as np
import pytest
import torch

from course_lib.data import DSprites
from course_lib.sampling import singles

FRAMES = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "dsprites_frames.npz"


@pytest.fixture(scope="module")
def data():
    return DSprites()


@pytest.fixture(scope="module")
def frames():
    """163 authentic images, (N, 64, 64) of 0 and 1, and their factors (N, 5)."""
    if not FRAMES.exists():
        pytest.skip("the authentic frames (shared/data/dsprites_frames.npz beside the repository) are not here")
    with np.load(FRAMES) as file:
        return file["images"], file["factors"]


def drawn(factors):
    """The geometry in float64, one image at a time: every pixel centre against every edge of the polygon."""
    shape, scale, orientation, x, y = factors
    if shape == 0:
        polygon = [(-9.6, -9.6), (-9.6, 9.6), (9.6, 9.6), (9.6, -9.6)]
    elif shape == 1:
        angles = np.linspace(0, 2 * np.pi, 101)[:-1]
        polygon = [(12.768 * np.cos(t), 9.6 / 1.33 * np.sin(t)) for t in angles]
    else:
        angles = np.linspace(0, 2 * np.pi, 151)[:-1]
        waves = ((13, 1), (-5, 2), (-2, 3), (-1, 4))
        polygon = [
            (9.6 * np.sin(t) ** 3, 19.2 / 29 * sum(size * np.cos(k * t) for size, k in waves) + 1.44) for t in angles
        ]
    turn = np.exp(2j * np.pi * orientation / 39) * (5 + scale) / 10  # the complex plane has y upwards, like the sprite
    points = np.array([complex(*vertex) for vertex in polygon]) * turn
    points = np.stack([16 + 32 * x / 31 + points.real, 16 + 32 * y / 31 - points.imag], 1)
    points = np.floor(256 * points + 0.5) / 256  # exact from here on: multiples of 1/256, and of 1/65536 in products
    (x0, y0), (x1, y1) = points.T, np.roll(points, -1, 0).T
    centre_x, centre_y = np.arange(64)[None, :, None] + 0.5, np.arange(64)[:, None, None] + 0.5
    downwards, upwards = (y0 < centre_y) & (centre_y <= y1), (y1 < centre_y) & (centre_y <= y0)
    side = (centre_x - x0) * (y1 - y0) - (centre_y - y0) * (x1 - x0)  # positive on the right of a downward edge
    crossings = (downwards & (side >= 0)) | (upwards & (side <= 0))
    return 255 * (crossings.sum(2) % 2).astype(np.uint8)


def test_authentic_frames_are_reproduced(data, frames):
    images, factors = frames
    wrong = (data.images(data.space.index(factors))[:, 0].numpy() != 255 * images).sum((1, 2))
    assert len(wrong) == 163 and wrong.max() == 0


def test_images_equal_a_slow_drawing(data):
    """No pixel differs; one could only where a vertex is within 2⁻²⁴ px of the tie between two subpixels."""
    index = torch.cat(
        [shape * 245_760 + torch.randint(245_760, (100,), generator=generator(shape)) for shape in range(3)]
    )
    for image, factors in zip(data.images(index).numpy(), data.space.factors(index).tolist(), strict=True):
        np.testing.assert_array_equal(image[0], drawn(factors), err_msg=f"factors {factors}")


def test_moments_are_those_published_for_the_originals(data):
    """Every eleventh image: it meets all sprites at all positions alike, so five digits of the whole set show."""
    white = torch.cat(
        [data.images(index).flatten(1).sum(1) // 255 for index in torch.arange(0, len(data), 11).split(1024)]
    )
    share = white.double() / 4096
    mean, std = share.mean().item(), (share * (1 - share) * 4096 / 4095).sqrt().mean().item()
    assert mean == pytest.approx(data.mean[0], abs=2e-6) and std == pytest.approx(data.std[0], abs=2e-6)
    assert data.mean[0] == pytest.approx(0.042494423521890, abs=1e-9)
    assert data.std[0] == pytest.approx(0.195166458806261, abs=1e-8)


def test_images_are_white_on_black(data):
    images = data.images(singles(data.space, 100, generator(0)))
    assert images.dtype == torch.uint8 and images.shape == (100, 1, 64, 64)
    assert images.unique().tolist() == [0, 255]


def test_observations_are_standardised(data):
    index = singles(data.space, 10, generator(0))
    expected = (data.images(index).double() / 255 - data.mean[0]) / data.std[0]
    torch.testing.assert_close(data.observations(index), expected.float())


def test_first_and_last_orientation_are_the_same_image(data):
    points = data.space.factors(singles(data.space, 200, generator(1)))
    first, second, last = (points.clone() for _ in range(3))
    first[:, 2], second[:, 2], last[:, 2] = 0, 1, 39
    first, second, last = (data.images(data.space.index(factors)) for factors in (first, second, last))
    assert torch.equal(first, last)
    assert (first != second).flatten(1).any(1).all()


def test_factors_are_in_the_order_of_the_original(data):
    """Position x moves right, y down; scale grows; orientation turns counter-clockwise; the heart has its tip below."""
    assert data.space.names == ("shape", "scale", "orientation", "position_x", "position_y")
    assert data.space.sizes == (3, 6, 40, 32, 32) and len(data) == 737_280

    def extent(*factors):
        """top, left, bottom and right of the sprite."""
        y, x = data.images(data.space.index(factors))[0].nonzero().unbind(1)
        return [value.item() for value in (y.min(), x.min(), y.max(), x.max())]

    assert extent(0, 5, 0, 0, 0) == [6, 6, 25, 25]
    assert extent(0, 5, 0, 31, 0) == [6, 38, 25, 57]
    assert extent(0, 5, 0, 0, 31) == [38, 6, 57, 25]
    assert extent(0, 0, 0, 0, 0) == [11, 11, 20, 20]
    ellipse = data.images(data.space.index([1, 5, 4, 0, 0]))[0].nonzero()
    assert ellipse[ellipse[:, 1] > 20, 0].double().mean() < 15  # its right end has moved up
    heart = data.images(data.space.index([2, 5, 0, 0, 0]))[0]
    assert heart[25].sum() <= 2 * 255 < 10 * 255 < heart[8].sum()


def test_bytes_do_not_depend_on_the_batch(data):
    index = singles(data.space, 300, generator(2))
    images = data.images(index)
    order = torch.randperm(300, generator=generator(3))
    assert torch.equal(data.images(index[order]), images[order])
    assert torch.equal(data.images(index.view(3, 100)), images.view(3, 100, 1, 64, 64))
    for i in range(0, 300, 50):
        assert torch.equal(data.images(index[i]), images[i])
    assert data.images([]).shape == (0, 1, 64, 64)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_bytes_do_not_depend_on_the_device(data):
    index = singles(data.space, 20_000, generator(4))
    assert torch.equal(data.images(index.cuda()).cpu(), data.images(index))


@pytest.mark.parametrize("index", [-1, 737_280, 0.0, [1.5, 2.0]])
def test_a_wrong_index_is_an_error(data, index):
    with pytest.raises(ValueError, match="index: got"):
        data.images(index)


def generator(seed):
    return torch.Generator().manual_seed(seed)
