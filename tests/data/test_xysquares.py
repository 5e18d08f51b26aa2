"""XYSquares against a drawing loop, and against the thesis' published numbers."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import pearsonr, spearmanr

from course_lib.data import XYSquares
from course_lib.sampling import singles

PAIRS = 200_000


def drawn(factors, spacing, square_size, image_size):
    """The definition of datasets.md, one square at a time."""
    offset = (image_size - (square_size + 7 * spacing)) // 2
    image = np.zeros((len(factors) // 2, image_size, image_size), dtype=np.uint8)
    for channel, (x, y) in enumerate(zip(factors[::2], factors[1::2], strict=True)):
        left, top = offset + spacing * x, offset + spacing * y
        for row in range(top, top + square_size):
            for column in range(left, left + square_size):
                image[channel, row, column] = 255
    return image


@pytest.mark.parametrize("spacing", range(1, 9))
@pytest.mark.parametrize(("square_size", "squares", "image_size"), [(8, 3, 64), (4, 2, 64), (1, 1, 64), (2, 2, 16)])
def test_images_equal_a_drawing_loop(spacing, square_size, squares, image_size):
    if spacing > (image_size - square_size) // 7:
        with pytest.raises(ValueError, match=f"spacing: got {spacing}"):
            XYSquares(spacing, square_size, squares, image_size)
        return
    data = XYSquares(spacing, square_size, squares, image_size)
    index = singles(data.space, 20, torch.Generator().manual_seed(spacing))
    images = data.images(index)
    assert images.dtype == torch.uint8 and images.shape == (20, *data.shape)
    for image, factors in zip(images.numpy(), data.space.factors(index).tolist(), strict=True):
        np.testing.assert_array_equal(image, drawn(factors, spacing, square_size, image_size))


def test_default_offsets_are_those_of_the_thesis():
    corners = [XYSquares(spacing).images(0)[0].nonzero()[0].tolist() for spacing in range(8, 0, -1)]
    assert corners == [[offset, offset] for offset in (0, 3, 7, 10, 14, 17, 21, 24)]


def test_factors_alternate_x_and_y_for_red_green_and_blue():
    data = XYSquares()
    assert data.space.names == ("x_R", "y_R", "x_G", "y_G", "x_B", "y_B")
    green_right = data.images(data.space.index([0, 0, 3, 0, 0, 0]))
    assert green_right[1, 0, 24] == 255 and green_right[1, 0, 0] == 0 and green_right[0, 0, 0] == 255


def test_statistics_are_those_of_table_a2():
    data = XYSquares()
    assert data.mean == (0.015625,) * 3
    np.testing.assert_allclose(data.std, [0.124034734589209] * 3, rtol=0, atol=1e-15)  # as many digits as are printed
    index = singles(data.space, 500, torch.Generator().manual_seed(0))
    pixels = (data.images(index).double() / 255).flatten(2)
    torch.testing.assert_close(pixels.mean((0, 2)), torch.tensor(data.mean, dtype=torch.float64))
    torch.testing.assert_close(pixels.std(2).mean(0), torch.tensor(data.std, dtype=torch.float64))


def test_observations_are_standardised_pixels():
    data = XYSquares()
    index = torch.tensor([3, 70_000])
    expected = (data.images(index).double() / 255 - data.mean[0]) / data.std[0]
    torch.testing.assert_close(data.observations(index).double(), expected, rtol=1e-5, atol=1e-6)
    assert data.observations(index).dtype == torch.float32
    assert data.observations(index.view(2, 1)).shape == (2, 1, 3, 64, 64)


def test_an_index_gives_one_image_whatever_the_batch():
    data = XYSquares(5)
    index = singles(data.space, 64, torch.Generator().manual_seed(1))
    shuffled = torch.randperm(64, generator=torch.Generator().manual_seed(2))
    assert torch.equal(data.images(index)[shuffled], data.images(index[shuffled]))
    assert torch.equal(data.images(index)[5], data.images(index[5]))


def distances(data, pairs):
    """MSE over pixels and channels on [0, 1], the thesis' perceived distance: (2, n) indices → (n,)."""
    parts = pairs.split(2000, dim=1)
    changed = torch.cat([(data.images(a) != data.images(b)).flatten(1).sum(1, dtype=torch.int32) for a, b in parts])
    return changed.numpy() / math.prod(data.shape)  # pixels are 0 or 1


def traversal_pairs(data, n, seed, distinct):
    """Pairs that differ at most in x_R, both ends drawn from the traversal (Table 4.2) or distinct (Table 3.1)."""
    generator = torch.Generator().manual_seed(seed)
    start = singles(data.space, n, generator)
    start = start - data.space.factors(start)[:, 0] * data.space.strides[0]
    first = torch.randint(8, (n,), generator=generator)
    step = torch.randint(1 if distinct else 0, 8, (n,), generator=generator)
    second = (first + step) % 8
    ends = torch.stack([start + value * data.space.strides[0] for value in (first, second)])
    return ends, (first - second).abs().numpy()


@pytest.mark.slow
def test_distances_of_table_3_1():
    data = XYSquares()
    along, _ = traversal_pairs(data, PAIRS, 0, distinct=True)
    distance = distances(data, along)
    assert round(distance.mean(), 4) == 0.0104 and round(distance.std(), 4) == 0.0
    generator = torch.Generator().manual_seed(1)
    anywhere = torch.stack([singles(data.space, PAIRS, generator) for _ in range(2)])
    distance = distances(data, anywhere)
    assert abs(distance.mean() - 0.0308) < 1e-4 and abs(distance.std() - 0.0022) < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize(("spacing", "linear", "rank"), [(1, 1.00, 1.00), (8, 0.52, 0.58)])
def test_correlations_of_table_4_2(spacing, linear, rank):
    data = XYSquares(spacing)
    pairs, ground_truth = traversal_pairs(data, PAIRS, 2, distinct=False)
    distance = distances(data, pairs)
    assert abs(pearsonr(ground_truth, distance).statistic - linear) < 0.01
    assert abs(spearmanr(ground_truth, distance).statistic - rank) < 0.01


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (dict(spacing=0), "spacing: got 0; allowed are integers from 1"),
        (dict(spacing=9), "spacing: got 9; for squares of 8 in 64 pixels, 1 to 8 are allowed"),
        (dict(spacing=2.0), "spacing: got 2.0; allowed are integers"),
        (dict(spacing=True), "spacing: got True; allowed are integers"),
        (dict(squares=4), "squares: got 4; allowed are 1, 2 and 3"),
        (dict(square_size=0), "square_size: got 0"),
        (dict(square_size=60), "square_size: got 60; in 64 pixels, with 8 positions, at most 57 fits"),
        (dict(image_size=7), "image_size: got 7; allowed are integers from 8"),
    ],
)
def test_errors_name_the_argument_and_what_is_allowed(arguments, words):
    with pytest.raises(ValueError, match=words):
        XYSquares(**arguments)
