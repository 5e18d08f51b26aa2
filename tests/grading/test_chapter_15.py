"""Chapter 15's exercises beyond what is tested for all chapters: other ways to be right, and to be wrong."""

import itertools

import pytest
import torch
from torch.nn.functional import pad

from course_grading import registry
from course_grading.chapters import constant_distances, moving_squares, own_adversary
from course_grading.exercise import LocalAnswer
from course_lib.data import XYSquares
from course_lib.distances import correlations


def judged(exercise, answer, seed=0):
    return registry.find(exercise).judge(LocalAnswer(answer), seed)


def one_pair_at_a_time(first, second, spacing, side):
    found = []
    for (a, b), (c, d) in zip(first.tolist(), second.tolist(), strict=True):
        width, height = (max(side - spacing * abs(one - other), 0) for one, other in ((a, c), (b, d)))
        found.append(2 * side * side - 2 * width * height)
    return torch.tensor(found)


def from_the_library(first, second, spacing, side):
    """The dataset's own images, where they have such a dataset."""
    if first.max() > 7 or second.max() > 7:
        return moving_squares.differing_pixels(first, second, spacing, side)
    data = XYSquares(spacing, side, squares=1, image_size=7 * spacing + side + 3)
    drawn = [data.images(data.space.index(places)).flatten(1) for places in (first, second)]
    return (drawn[0] != drawn[1]).sum(1)


@pytest.mark.parametrize("right", [one_pair_at_a_time, from_the_library])
def test_other_ways_to_count(right):
    for seed in range(5):
        assert judged("15.1", right, seed).passed


def test_the_example_of_a_step_both_ways():
    first, second = torch.tensor([[0, 0]]), torch.tensor([[1, 1]])
    assert moving_squares.differing_pixels(first, second, 1, 2).item() == 6


def test_the_correlation_is_that_of_drawn_pairs():
    draw = torch.Generator().manual_seed(0)
    for f, mean, deviation in ((8, 2.0, 1.0), (3, 1.0, 0.3), (20, 5.0, 4.0)):
        i, j = torch.randint(f, (2, 400_000), generator=draw)
        noise = mean + deviation * torch.randn(400_000, generator=draw, dtype=torch.float64)
        found, _ = correlations((i - j).abs().double(), noise.where(i != j, 0).double())
        law = [torch.tensor([value], dtype=torch.float64) for value in (f, mean, deviation)]
        assert found == pytest.approx(constant_distances.self_pair_correlation(*law).item(), abs=0.006)


def test_the_examples_of_the_correlation():
    law = [torch.tensor(values, dtype=torch.float64) for values in ((8, 8), (2, 2), (0, 1))]
    assert constant_distances.self_pair_correlation(*law).tolist() == pytest.approx([0.5222, 0.3015], abs=5e-5)


def by_sums(values, mean, deviation):
    """From moments: E[Dd], E[d²] and so on."""
    apart = 1 - 1 / values
    gap, gap_square = (values**2 - 1) / (3 * values), (values**2 - 1) / 6
    covariance = mean * gap - gap * mean * apart
    variance = apart * (mean**2 + deviation**2) - (apart * mean) ** 2
    return covariance / ((gap_square - gap**2) * variance) ** 0.5


def in_float32(values, mean, deviation):
    return by_sums(values.float(), mean.float(), deviation.float())


def test_other_forms_of_the_correlation():
    assert all(judged("15.2", by_sums, seed).passed for seed in range(5))
    assert "torch.float64" in judged("15.2", in_float32).message


def drawn_whole(places, side, canvas):
    images = torch.zeros(places, canvas, canvas, dtype=torch.uint8)
    for image, left in zip(images, torch.linspace(0, canvas - side, places).double().add(1e-4).long(), strict=True):
        image[(canvas - side) // 2 :][:side, left : left + side] = 255
    return images


def padded(places, side, canvas):
    white = torch.full((side, side), 255, dtype=torch.uint8)
    top, bottom = (canvas - side) // 2, canvas - side - (canvas - side) // 2
    lefts = [place * (canvas - side) // (places - 1) for place in range(places)]
    return torch.stack([pad(white, (left, canvas - side - left, top, bottom)) for left in lefts])


@pytest.mark.parametrize("right", [drawn_whole, padded])
def test_other_ways_to_draw(right):
    for seed in range(5):
        verdict = judged("15.3", right, seed)
        assert verdict.passed, verdict


def test_what_is_wanted_does_not_leak_and_the_planted_fault_does():
    for arguments in moving_squares.rows_of_squares(torch.Generator().manual_seed(0)):
        spreads = []
        for draw in (moving_squares.row_of_squares, moving_squares.ROW_WRONG[0].answer):
            flat = draw(*arguments).flatten(1).double()
            table = (flat.unsqueeze(1) - flat).square().sum(2) / 255**2
            spreads.append(len(table[*torch.triu_indices(len(table), len(table), 1)].unique()))
        assert spreads[0] == 1 and (spreads[1] > 1 or arguments[0] <= 3)


def centring_matrix(distances):
    size = distances.shape[1]
    centre = torch.eye(size, dtype=distances.dtype) - 1 / size
    return torch.linalg.eigvalsh(-centre @ distances @ centre)[:, -1] / size


def unsymmetric(distances):
    """Only the rows are centred, but all eigenvalues of what is not symmetric are found: they are the right ones."""
    half = -(distances - distances.mean(2, keepdim=True)) / 2
    return 2 * torch.linalg.eigvals(half).real.amax(1) / distances.shape[1]


@pytest.mark.parametrize("right", [centring_matrix, unsymmetric])
def test_other_ways_to_the_price(right):
    for seed in range(5):
        assert judged("15.4", right, seed).passed


def test_the_price_is_that_of_the_images():
    for spacing in (1, 4, 8):
        images = XYSquares(spacing, squares=1).observations(torch.arange(64)).flatten(1).double()
        table = torch.cdist(images, images, compute_mode="donot_use_mm_for_euclid_dist").square()
        covariance = torch.cov(images[:, images.std(0) > 0].T, correction=0)
        expected = 2 * torch.linalg.eigvalsh(covariance)[-1].item()
        assert constant_distances.starting_price(table.unsqueeze(0)).item() == pytest.approx(expected, rel=1e-5)


def test_the_example_of_the_price():
    table = 8 * (1 - torch.eye(4, dtype=torch.float64)).unsqueeze(0)
    assert constant_distances.starting_price(table).item() == pytest.approx(2)


def lamps():
    images = torch.zeros(own_adversary.SHAPE, dtype=torch.uint8)
    for x, y in itertools.product(range(4), range(4)):
        images[x, y, 0, 0, x] = images[x, y, 0, 15, y] = 200
    return images


def on_a_photograph():
    scene = torch.randint(100, own_adversary.SHAPE[2:], dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    return own_adversary.RIGHT_GRID // 2 + scene


def dark_lamps():
    return 255 - lamps()


@pytest.mark.parametrize("make", [lamps, on_a_photograph, dark_lamps])
def test_other_adversaries_with_axes(make):
    assert judged("15.5", make()).passed


def test_an_adversary_without_axes_is_told_so():
    images = torch.zeros(own_adversary.SHAPE, dtype=torch.uint8)
    for place in range(16):  # any sixteen lamps: not only a square that moves
        images[place // 4, place % 4, 0, 3, place] = 255
    assert "the loss cannot tell x from y" in judged("15.5", images).message


def test_random_images_are_told_what_is_not_constant():
    draw = torch.Generator().manual_seed(0)
    images = torch.randint(256, own_adversary.SHAPE, dtype=torch.uint8, generator=draw)
    message = judged("15.5", images).message
    assert "along x the squared distances run from" in message and "slides" not in message


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
        name: own_adversary.REPAIRS[name] for name in found
    }


def test_choices_in_any_case_and_order():
    answer = {name: f" {word.upper()} " for name, word in reversed(own_adversary.REPAIRS.items())}
    assert judged("15.6", answer).passed
