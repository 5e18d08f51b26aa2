"""Distances and what is measured with them, against loops in numpy."""

import numpy as np
import pytest
import torch
from scipy.ndimage import convolve
from scipy.stats import pearsonr, spearmanr

from course_lib.data import DSprites, XYSquares
from course_lib.distances import (
    correlation_table,
    correlations,
    cumulative_proportion,
    distance_matrix,
    distance_samples,
    factor_importance,
    ground_truth_distance,
    latent_distance,
    perceived_distance,
)
from course_lib.factors import FactorSpace
from course_lib.losses.blur import gaussian_kernel

DATA = XYSquares(1, 2, squares=2, image_size=16)
ODD = XYSquares(1, 8, squares=1, image_size=15)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def mse(data, a, b):
    first, second = (data.images(int(index)).numpy() / 255 for index in (a, b))
    return np.mean((first - second) ** 2)


def test_ground_truth_distance_is_the_l1_distance_of_factors():
    first, second = torch.randint(len(DATA), (2, 100), generator=generator())
    expected = (DATA.space.factors(first) - DATA.space.factors(second)).abs().sum(1)
    assert torch.equal(ground_truth_distance(DATA.space)(first, second), expected.double())


@pytest.mark.parametrize("data", [DATA, DSprites()], ids=["xysquares", "dsprites"])
def test_perceived_distance_is_the_mse_on_pixels_from_0_to_1(data):
    first, second = torch.randint(len(data), (2, 1500), generator=generator())  # more than are rendered at a time
    ours = perceived_distance(data)(first, second)
    expected = [mse(data, a, b) for a, b in zip(first[::50], second[::50], strict=True)]
    np.testing.assert_allclose(ours[::50], expected, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "kernel"), [("mse-box", np.full(63, 1 / 63)), ("mse-gaussian", gaussian_kernel(31))])
def test_blurred_distance_adds_the_mse_of_blurred_images(loss, kernel):
    data = XYSquares()
    square = np.outer(kernel, kernel)
    for a, b in [(0, 5), (1000, 200_000)]:
        images = [data.images(index).numpy() / 255 for index in (a, b)]
        blurred = [np.stack([convolve(channel, square, mode="constant") for channel in image]) for image in images]
        expected = mse(data, a, b) + 63**2 * np.mean((blurred[0] - blurred[1]) ** 2)
        assert perceived_distance(data, loss=loss)(torch.tensor([a]), torch.tensor([b])).item() == pytest.approx(
            expected, rel=1e-4
        )


@pytest.mark.parametrize("norm", [1, 2])
def test_latent_distance(norm):
    def encode(images):
        return images.flatten(1)[:, :40].float()

    first, second = torch.randint(len(DATA), (2, 1500), generator=generator())
    expected = np.linalg.norm((encode(DATA.images(first)) - encode(DATA.images(second))).numpy(), norm, axis=1)
    np.testing.assert_allclose(latent_distance(encode, DATA, norm=norm)(first, second), expected, rtol=1e-5)


def test_distance_matrix_is_the_mean_over_traversals():
    matrix = distance_matrix(perceived_distance(DATA), DATA.space, "y_G", generator(1), n=20)
    from course_lib.sampling import traversals

    points = traversals(DATA.space, "y_G", 20, generator(1))
    expected = np.mean([[[mse(DATA, u, v) for v in row] for u in row] for row in points], axis=0)
    np.testing.assert_allclose(matrix, expected, rtol=1e-5, atol=1e-9)
    truth = distance_matrix(ground_truth_distance(DATA.space), DATA.space, 0, generator(1), n=3)
    np.testing.assert_array_equal(truth, np.abs(np.subtract.outer(np.arange(8), np.arange(8))))


def test_factor_importance_sorts_the_means_and_ends_with_random():
    def distance(first, second):
        a, b = DSprites.space.factors(first), DSprites.space.factors(second)
        return ((a != b).double() * torch.tensor([3.0, 5.0, 1.0, 4.0, 2.0])).sum(1)

    table = factor_importance(distance, DSprites.space, generator(2), n=2_000)
    assert table.index.tolist() == ["scale", "position_x", "shape", "position_y", "orientation", "random"]
    assert table["mean"].tolist()[:5] == [5, 4, 3, 2, 1] and (table["std"][:5] == 0).all()
    assert 10 < table.loc["random", "mean"] < 15


def test_samples_and_their_cumulative_proportion():
    samples = distance_samples(ground_truth_distance(DATA.space), DATA.space, generator(3), n=500)
    assert list(samples) == ["x_R", "y_R", "x_G", "y_G", "random"]
    thresholds = torch.arange(9)
    expected = [(samples["x_R"] <= threshold).double().mean() for threshold in thresholds]
    np.testing.assert_allclose(cumulative_proportion(samples["x_R"], thresholds), expected)
    assert expected[0] == 0 and expected[-1] == 1


def test_correlation_table_of_a_distance_that_is_the_truth_squared():
    def distance(first, second):
        return ground_truth_distance(DATA.space)(first, second) ** 2

    table = correlation_table(distance, DATA.space, generator(4), n=5_000)
    assert table.index.tolist() == [*DATA.space.names, "random"] and list(table) == ["linear", "rank"]
    assert (table["rank"] > 1 - 1e-9).all() and (table["linear"] < 0.99).all() and (table["linear"] > 0.9).all()


def test_correlation_table_takes_another_ground_truth_and_another_protocol():
    def distance(first, second):
        return ground_truth_distance(DATA.space, by="differing")(first, second)

    tables = [correlation_table(distance, DATA.space, generator(4), n=5_000, by=by) for by in ("differing", "l1")]
    assert (tables[0] > 1 - 1e-9).all().all() and (tables[1].loc["random"] < 0.9).all()
    constant = perceived_distance(XYSquares(2, 2, squares=2, image_size=16))
    loose, batched = (
        correlation_table(constant, DATA.space, generator(5), n=20_000, batch_size=size) for size in (None, 4)
    )
    assert batched.loc["random", "rank"] > loose.loc["random", "rank"] + 0.1  # one pair in four is a self-pair


def test_distances_carry_no_gradient():
    weight = torch.ones(40, requires_grad=True)
    distance = latent_distance(lambda images: images.flatten(1)[:, :40] * weight, DATA)
    assert not distance(torch.tensor([1]), torch.tensor([2])).requires_grad


def test_self_pairs_alone_make_a_correlation():
    """At spacing 8 all distances but 0 are equal: what is left without self-pairs is no correlation at all."""
    distance = perceived_distance(XYSquares(2, 2, squares=2, image_size=16))
    published = correlation_table(distance, DATA.space, generator(5), n=20_000)
    distinct = correlation_table(distance, DATA.space, generator(5), n=20_000, self_pairs=False)
    assert abs(published.loc["x_R", "rank"] - 0.58) < 0.02
    assert (distinct.loc[list(DATA.space.names)] == 0).all().all()


def test_equal_distances_stay_equal_through_rounding():
    """A turned one-hot code: any two places of a factor are √2 apart, but for the last digit."""
    space = FactorSpace(["x", "y"], [8, 8])
    turn = torch.linalg.qr(torch.randn(16, 16, generator=generator(1), dtype=torch.float64))[0]
    code = (torch.eye(8, dtype=torch.float64)[space.factors(torch.arange(64))]).flatten(1) @ turn

    def distance(first, second):
        return (code[first] - code[second]).norm(dim=1)

    table = correlation_table(distance, space, generator(2), n=2000, self_pairs=False)
    assert (table.loc[["x", "y"]].to_numpy() == 0).all() and table.loc["random", "rank"] > 0.3


def test_correlations_come_from_scipy_and_are_0_for_constants():
    first, second = torch.randn(2, 50, generator=generator(6), dtype=torch.float64)
    assert correlations(first, second) == (pearsonr(first, second).statistic, spearmanr(first, second).statistic)
    assert correlations(first, torch.ones(50)) == (0.0, 0.0)


def test_a_factor_called_random_keeps_its_row():
    space = FactorSpace(("random", "other"), (5, 3))
    truth = ground_truth_distance(space)
    assert list(distance_samples(truth, space, generator(), n=10)) == ["random (factor)", "other", "random"]
    assert factor_importance(truth, space, generator(), n=10).index.tolist()[2] == "random"
    assert correlation_table(truth, space, generator(), n=10).index.tolist() == ["random (factor)", "other", "random"]


def test_arrays_lists_and_latents_of_whole_numbers():
    first, second = np.arange(4)[::-1], [5, 6, 7, 8]
    indices = torch.tensor([3, 2, 1, 0]), torch.tensor(second)
    assert torch.equal(perceived_distance(DATA)(first, second), perceived_distance(DATA)(*indices))
    reference = latent_distance(lambda images: images.flatten(1).double(), DATA)(*indices)
    for encode in (lambda images: images.flatten(1), lambda images: images.flatten(1).numpy()):
        assert torch.equal(latent_distance(encode, DATA)(first, second), reference)
    assert correlations(first, np.array(second)) == correlations(*map(torch.tensor, (first.copy(), second)))
    assert cumulative_proportion([1, 2, 3], [2]).tolist() == [2 / 3]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: perceived_distance(None), "data: got None"),
        (lambda: latent_distance(None, DATA), "encode: got None"),
        (lambda: perceived_distance(DATA)([1, 2], [3]), r"second: got shape \(1,\) beside \(2,\)"),
        (lambda: correlation_table(lambda a, b: a * np.nan, DATA.space, generator(), n=5), "distance: got NaN"),
        (lambda: factor_importance(lambda a, b: a[:1], DATA.space, generator(), n=5), r"distance: got shape \(1,\)"),
        (lambda: correlations([1, 2], [1, np.inf]), "first, second: got NaN or infinite"),
        (lambda: correlations([1, 2], [1, 2, 3]), r"second: got shape \(3,\) beside \(2,\)"),
        (lambda: correlations([], []), r"second: got shape \(0,\)"),
        (lambda: cumulative_proportion([], [1.0]), r"values: got shape \(0,\)"),
        (lambda: perceived_distance(DATA, loss="l1"), "loss: got 'l1'; allowed are 'mse', 'mse-box', 'mse-gaussian'"),
        (lambda: latent_distance(lambda x: x, DATA, norm=3), "norm: got 3; allowed are 1, 2"),
        (lambda: correlation_table(lambda a, b: a, DATA.space, generator(), n=1), "n: got 1"),
        (lambda: perceived_distance(ODD, loss="mse-box"), "loss: got 'mse-box' for 15×15 pixels; allowed are equal"),
        (lambda: ground_truth_distance(DATA.space, by="l2"), "by: got 'l2'; allowed are 'scaled_l1'"),
        (lambda: ground_truth_distance(DATA), "space: got XYSquares; allowed is a FactorSpace"),
        (lambda: distance_matrix(lambda a, b: a, DATA, 0, generator()), "space: got XYSquares"),
        (lambda: distance_samples(lambda a, b: a, DATA, generator()), "space: got XYSquares"),
    ],
)
def test_errors_name_the_argument_and_what_is_allowed(call, words):
    with pytest.raises(ValueError, match=words):
        call()
