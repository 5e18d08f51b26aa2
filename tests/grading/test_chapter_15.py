"""Chapter 15's exercises beyond what is tested for all chapters: other ways to be right, and to be wrong."""

import pytest
import torch

from course_grading.checks import ch15_xysquares as ch15
from course_lib.data import XYSquares
from course_lib.distances import correlations

# 15.1 -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("spacing", "side"), [(3, 8), (1, 5), (5, 2)])
def test_the_pixels_are_those_of_the_dataset(spacing, side):
    """The library's own images, in which a square of any side moves."""
    data = XYSquares(spacing, side, squares=1, image_size=7 * spacing + side + 3)
    first, second = torch.randint(8, (2, 50, 2), generator=torch.Generator().manual_seed(0))
    drawn = [data.images(data.space.index(places)).flatten(1) for places in (first, second)]
    assert torch.equal(ch15.differing_pixels(first, second, spacing, side), (drawn[0] != drawn[1]).sum(1))


def test_the_example_of_a_step_both_ways():
    first, second = torch.tensor([[0, 0]]), torch.tensor([[1, 1]])
    assert ch15.differing_pixels(first, second, 1, 2).item() == 6


# 15.2 -----------------------------------------------------------------------------------------------------------------


def test_the_correlation_is_that_of_drawn_pairs():
    draw = torch.Generator().manual_seed(0)
    for f, mean, deviation in ((8, 2.0, 1.0), (3, 1.0, 0.3), (20, 5.0, 4.0)):
        i, j = torch.randint(f, (2, 400_000), generator=draw)
        noise = mean + deviation * torch.randn(400_000, generator=draw, dtype=torch.float64)
        found, _ = correlations((i - j).abs().double(), noise.where(i != j, 0).double())
        law = [torch.tensor([value], dtype=torch.float64) for value in (f, mean, deviation)]
        assert found == pytest.approx(ch15.self_pair_correlation(*law).item(), abs=0.006)


def test_the_examples_of_the_correlation():
    law = [torch.tensor(values, dtype=torch.float64) for values in ((8, 8), (2, 2), (0, 1))]
    assert ch15.self_pair_correlation(*law).tolist() == pytest.approx([0.5222, 0.3015], abs=5e-5)


def in_float32(values, mean, deviation):
    return ch15._by_moments(values.float(), mean.float(), deviation.float())


def test_single_precision_is_named(judged):
    assert "torch.float64" in judged("15.2", in_float32).message


# 15.3 -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_left_edges_by_linspace_are_wrong_somewhere(judged, dtype):
    def by_linspace(places, side, canvas):
        return ch15._row(torch.linspace(0, canvas - side, places, dtype=dtype).long(), side, canvas)

    for exercise in ("15.3", "15.3h"):
        verdict = judged(exercise, by_linspace)
        assert not verdict.passed and "computed as floats" in verdict.message


def test_what_is_wanted_does_not_leak_and_the_planted_fault_does():
    (planted, *_) = ch15.ROW_MISTAKES.values()
    for arguments in ch15.rows_of_squares(torch.Generator().manual_seed(0)):
        spreads = []
        for draw in (ch15.row_of_squares, planted):
            flat = draw(*arguments).flatten(1).double()
            table = (flat.unsqueeze(1) - flat).square().sum(2) / 255**2
            spreads.append(len(table[*torch.triu_indices(len(table), len(table), 1)].unique()))
        assert spreads[0] == 1 and (spreads[1] > 1 or arguments[0] <= 3)


# 15.4 -----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_price_is_that_of_the_images():
    for spacing in (1, 4, 8):
        images = XYSquares(spacing, squares=1).observations(torch.arange(64)).flatten(1).double()
        table = torch.cdist(images, images, compute_mode="donot_use_mm_for_euclid_dist").square()
        covariance = torch.cov(images[:, images.std(0) > 0].T, correction=0)
        expected = 2 * torch.linalg.eigvalsh(covariance)[-1].item()
        assert ch15.starting_price(table.unsqueeze(0)).item() == pytest.approx(expected, rel=1e-5)


def test_the_example_of_the_price():
    table = 8 * (1 - torch.eye(4, dtype=torch.float64)).unsqueeze(0)
    assert ch15.starting_price(table).item() == pytest.approx(2)


# 15.5 -----------------------------------------------------------------------------------------------------------------


def test_an_adversary_without_axes_is_told_so(judged):
    images = torch.zeros(ch15.SHAPE, dtype=torch.uint8)
    for place in range(16):  # any sixteen lamps: not only a square that moves
        images[place // 4, place % 4, 0, 3, place] = 255
    assert "the loss cannot tell x from y" in judged("15.5", images).message


def test_random_images_are_told_what_is_not_constant(judged):
    draw = torch.Generator().manual_seed(0)
    images = torch.randint(256, ch15.SHAPE, dtype=torch.uint8, generator=draw)
    message = judged("15.5", images).message
    assert "along x the squared distances run from" in message and "slides" not in message


# 15.6 -----------------------------------------------------------------------------------------------------------------


def ordered(images):
    """Whether neighbours are nearer than all others, in some pair of places."""
    flat = images.flatten(1).double()
    table = (flat.unsqueeze(1) - flat).square().sum(2)
    return bool((table.diagonal(1) < table[0, -1]).all())


def along_red(data):
    return data.images(data.space.traversal("x_R", data.space.index([0, 4, 3, 3]))).float()


def test_what_the_repairs_do_to_the_distances():
    row = along_red(XYSquares(2, 2, squares=2, image_size=16))
    tail = sum(row.roll(-shift, 3) * (1 - shift / 5) * (torch.arange(16) < 16 - shift) for shift in range(1, 5))
    between = torch.zeros(15, 1, 16, 16)
    for place in range(15):
        between[place, 0, 8:10, place : place + 2] = 255
    found = {
        "larger": ordered(along_red(XYSquares(2, 3, squares=2, image_size=17))),
        "coarser": ordered(along_red(XYSquares(3, 3, squares=2, image_size=24))),
        "negative": ordered(255 - row),
        "photograph": ordered(row + 50 * torch.rand(16, 16, generator=torch.Generator().manual_seed(0))),
        "tail": ordered((row + tail).clamp(max=255)),
        "between": ordered(between),
    }
    assert {name: "order" if value else "no order" for name, value in found.items()} == {
        name: ch15.REPAIRS[name] for name in found
    }


def test_choices_in_any_case_and_order(judged):
    answer = {name: f" {word.upper()} ".replace("O O", "O-O") for name, word in reversed(ch15.REPAIRS.items())}
    assert judged("15.6", answer).passed
