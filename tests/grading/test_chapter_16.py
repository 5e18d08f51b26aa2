"""Chapter 16's exercises beyond what is tested for all chapters: other ways to be right, and to be wrong."""

import re

import pytest
import torch
from torch.fft import irfft2, rfft2
from torch.nn.functional import conv1d, pad

import notebook_io
from course_grading import registry
from course_grading.chapters import blind_and_straight, faulty_distances, radius_for_places
from course_grading.exercise import LocalAnswer
from course_lib.losses.blur import blur, box_kernel


def judged(exercise, answer, seed=0):
    return registry.find(exercise).judge(LocalAnswer(answer), seed)


def by_the_library(images, radius):
    kernel = torch.ones(2 * radius + 1)
    return blur(images, kernel) / blur(torch.ones_like(images), kernel)


def by_loops(images, radius):
    rows = []
    for y in range(images.shape[2]):
        for x in range(images.shape[3]):
            window = images[:, :, max(y - radius, 0) : y + radius + 1, max(x - radius, 0) : x + radius + 1]
            rows.append(window.mean((2, 3)))
    return torch.stack(rows, 2).view_as(images)


@pytest.mark.parametrize("right", [by_the_library, by_loops])
def test_other_local_means(right):
    for seed in range(5):
        assert judged("16.1", right, seed).passed


def along_the_wrong_axis(images, radius):
    """Averages over the batch in place of the rows."""
    moved = images.transpose(0, 2)
    return by_loops(moved, radius).transpose(0, 2)


def rows_counted_twice(images, radius):
    """The number of rows in a window, squared, as if there were as many columns."""
    kernel = torch.ones(2 * radius + 1)
    counts = conv1d(torch.ones(1, 1, images.shape[2]), kernel.view(1, 1, -1), padding=radius).view(-1, 1)
    return blur(images, kernel) / counts**2


def by_the_count_of_lit_pixels(images, radius):
    kernel = torch.ones(2 * radius + 1)
    return blur(images, kernel) / blur((images > 0).float(), kernel).clamp(min=1)


def test_a_black_pixel_counts():
    """The task's own example tells: [0, 6, 3] would become [6, 4.5, 4.5]."""
    for seed in range(3):
        verdict = judged("16.1", by_the_count_of_lit_pixels, seed)
        assert not verdict.passed and "a black pixel of the image counts as any other" in verdict.message


@pytest.mark.parametrize("wrong", [along_the_wrong_axis, rows_counted_twice])
def test_other_wrong_means_fail(wrong):
    for seed in range(3):
        verdict = judged("16.1", wrong, seed)
        assert not verdict.passed and "on images" in verdict.message


def test_the_reference_agrees_with_the_closed_form():
    """The brute force in whole numbers, and the formula that the solution derives."""
    for seed in range(10):
        for places, side in radius_for_places.places_and_sides(torch.Generator().manual_seed(seed)):
            second = radius_for_places._needed(places)
            formula = ((second - side + 2) // 2).clamp(min=0)
            assert torch.equal(radius_for_places.smallest_radius(places, side), formula)


def by_trying(places, side):
    """With blurred bars in floating point, on a line that is long enough, rounded."""
    found = []
    for row in places.tolist():
        radius = 0
        while not _in_order(row, side, radius):
            radius += 1
        found.append(radius)
    return torch.tensor(found)


def _in_order(row, side, radius):
    line = torch.zeros(len(row), 1, max(row) + side + 2 * radius, dtype=torch.float64)
    for bar, place in zip(line, row, strict=True):
        bar[0, place : place + side] = 1
    blurred = conv1d(pad(line, (2 * radius, 0)), torch.ones(1, 1, 2 * radius + 1, dtype=torch.float64))[:, 0]
    for first in range(len(row)):
        distance = (blurred - blurred[first]).square().sum(1).tolist()
        pairs = sorted((abs(place - row[first]), far) for place, far in zip(row, distance, strict=True))
        if any(near[0] < far[0] and near[1] >= far[1] - 1e-6 for near, far in zip(pairs, pairs[1:], strict=False)):
            return False
    return True


def test_a_width_is_told_that_it_is_one():
    """In whichever way it was rounded."""
    for width in (
        lambda places, side: 2 * by_trying(places, side) + 1,
        lambda places, side: (radius_for_places._needed(places) - side + 2).clamp(min=1),
    ):
        verdict = judged("16.2", width)
        assert not verdict.passed and "the radius is wanted" in verdict.message


def test_trying_every_radius_is_right():
    for seed in range(3):
        assert judged("16.2", by_trying, seed).passed


def squares_in_a_row():
    """XYSquares' square at its eight places, in rows 24 to 31: float64 (8, 64, 64)."""
    images = torch.zeros(8, 64, 64, dtype=torch.float64)
    for place in range(8):
        images[place, 24:32, 8 * place : 8 * place + 8] = 1
    return images


def outside(images, mode):
    around = pad(images.unsqueeze(0), (31,) * 4, mode=mode).squeeze(0)
    return soft(around)[..., 31:-31, 31:-31]


def by_fourier(images, canvas):
    """On a square canvas of that side, all of it kept."""
    box = torch.zeros(canvas, canvas, dtype=torch.float64)
    box[:63, :63] = 1 / 63
    return irfft2(rfft2(images, (canvas, canvas)) * rfft2(box), (canvas, canvas))


def soft(images):
    """The blur, times 63: with its share of the weight."""
    return 63 * blur(images, box_kernel(31).double())


LOSSES = {  # of the places' images and place 2's: the blurred term, before it is summed over pixels
    "right": lambda a, b: soft(a - b).square(),
    "edge repeated": lambda a, b: outside(a - b, "replicate").square(),
    "mirrored": lambda a, b: outside(a - b, "reflect").square(),
    "wrapped round": lambda a, b: by_fourier(a - b, 64).square(),
    "margin kept": lambda a, b: by_fourier(a - b, 126).square(),
    "squared first": lambda a, b: 63 * soft((a - b).square()),
    "one blurred": lambda a, b: (63 * a - soft(b)).square(),
    "weight missing": lambda a, b: soft(a - b).square() / 63**2,
}


def from_place_2(fault):
    images = squares_in_a_row()
    blurred = LOSSES[fault](images, images[2].expand_as(images)).sum((1, 2))
    return (images - images[2]).square().sum((1, 2)) + blurred


@pytest.fixture(scope="module")
def printed():
    """The rows of the task's table: name → eight numbers."""
    notebook = notebook_io.read(notebook_io.ROOT / "exercises/solutions/16_introducing_overlap.ipynb")
    task = next(cell.source for cell in notebook.cells if cell.id == "task-3")
    rows = re.findall(r"^\| (right|[A-E]) \| (.+) \|$", task, re.MULTILINE)
    return {
        name: torch.tensor([float(cell) for cell in cells.split(" | ")], dtype=torch.float64) for name, cells in rows
    }


def test_the_rows_are_what_the_faults_make(printed):
    assert set(printed) == {"right", *"ABCDE"}
    for row, fault in {"right": "right", **faulty_distances.ROWS}.items():
        error = 0.006 if row in "DE" else 0.06
        assert (printed[row] - from_place_2(fault)).abs().max() < error, row
    for row in "ABCDE":
        others = [fault for fault in LOSSES if fault != faulty_distances.ROWS[row]]
        assert all((printed[row] - from_place_2(fault)).abs().max() > 10 for fault in others)


def test_what_is_said_of_the_faults(printed):
    """In the messages and in the reasons."""
    right, mirrored = printed["right"], from_place_2("mirrored")
    other = torch.arange(8) != 2
    ratio = mirrored[other] / right[other]
    assert 1.9 < ratio.min() and 4 < ratio.max() < 5
    assert torch.equal(printed["A"][1:7], right[1:7])
    steps = printed["C"][3:].diff()
    assert (steps - 996.9).abs().max() < 0.06 and printed["C"][0] == printed["C"][4]
    assert from_place_2("one blurred")[2] > 1e5
    assert from_place_2("wrapped round")[other].std() < 1e-6


def test_each_word_in_each_row_is_told_why_not():
    for row, right in faulty_distances.ROWS.items():
        for word in faulty_distances.WORDS:
            verdict = judged("16.3", {**faulty_distances.ROWS, row: word})
            assert verdict.passed if word == right else verdict.message.startswith(f"{row}: not '{word}', with which ")


def random_null_pattern(seed):
    """Rows that are multiples of 1, −1, 0, …, plus columns that are."""
    line = blind_and_straight.PATTERN[0]
    rows, columns = torch.rand(2, 8, generator=torch.Generator().manual_seed(seed)) + 0.5
    pattern = torch.outer(rows, line) + torch.outer(line, columns)
    return pattern / pattern.abs().max()


@pytest.mark.parametrize("seed", range(3))
def test_other_patterns(seed):
    assert judged("16.4", random_null_pattern(seed)).passed
    assert judged("16.4", random_null_pattern(seed).double()).passed
    assert judged("16.4", blind_and_straight.PATTERN.long()).passed


@pytest.mark.parametrize("seed", range(3))
def test_random_patterns_are_told_a_window(seed):
    verdict = judged("16.4", torch.rand(8, 8, generator=torch.Generator().manual_seed(seed)))
    assert not verdict.passed and "the window around row" in verdict.message


@pytest.mark.parametrize("first, last", [(0, 15), (-15, 0), (1, 15), (-7, 8), (-8, 7)])
def test_other_rulers(first, last):
    for scale in (1.0, 1 / 16, 50.0):
        assert judged("16.5", scale * blind_and_straight._box(first, last)).passed
    assert judged("16.5", blind_and_straight._box(first, last).long()).passed


@pytest.mark.parametrize("seed", range(3))
def test_random_kernels_are_told_a_pair(seed):
    verdict = judged("16.5", torch.rand(31, generator=torch.Generator().manual_seed(seed)))
    assert not verdict.passed and "no ruler: pixels" in verdict.message and "The weights differ" in verdict.message


def test_the_five_factors_are_what_they_are_called():
    for name, images in blind_and_straight.factor_images().items():
        share, rank = blind_and_straight.blurred_share(images), blind_and_straight.blurred_rank(images)
        called = "nearly blind" if share < 0.01 else "in order" if rank > 0.9 else "no order"
        assert called == blind_and_straight.FACTORS[name]
        assert share < 0.01 or rank > 0.9 or abs(rank) < 0.5
