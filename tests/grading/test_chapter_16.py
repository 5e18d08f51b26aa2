"""Chapter 16's exercises beyond what is tested for all chapters: other ways to be right, and to be wrong."""

import re

import pytest
import torch
from torch import Tensor
from torch.fft import irfft2, rfft2
from torch.nn.functional import avg_pool2d, conv1d, pad

import notebook_io
from course_grading.checks import ch16_introducing_overlap as ch16
from course_lib.distances import correlations
from course_lib.losses.blur import blur, box_kernel

# 16.1 -----------------------------------------------------------------------------------------------------------------


def along_the_wrong_axis(images, radius):
    """Averages over the batch in place of the rows."""
    moved = images.transpose(0, 2)
    return ch16._mean_by_slices(moved, radius).transpose(0, 2)


def rows_counted_twice(images, radius):
    """The number of rows in a window, squared, as if there were as many columns."""
    kernel = torch.ones(2 * radius + 1)
    counts = conv1d(torch.ones(1, 1, images.shape[2]), kernel.view(1, 1, -1), padding=radius).view(-1, 1)
    return blur(images, kernel) / counts**2


def by_the_count_of_lit_pixels(images, radius):
    kernel = torch.ones(2 * radius + 1)
    return blur(images, kernel) / blur((images > 0).float(), kernel).clamp(min=1)


def test_a_black_pixel_counts(judged):
    """The task's own example tells: [0, 6, 3] would become [6, 4.5, 4.5]."""
    for seed in range(3):
        verdict = judged("16.1", by_the_count_of_lit_pixels, seed)
        assert not verdict.passed and "a black pixel of the image counts as any other" in verdict.message


@pytest.mark.parametrize("wrong", [along_the_wrong_axis, rows_counted_twice])
def test_other_wrong_means_fail(judged, wrong):
    for seed in range(3):
        verdict = judged("16.1", wrong, seed)
        assert not verdict.passed and "on images" in verdict.message


@pytest.mark.parametrize("exercise", ["16.1", "16.1h"])
def test_a_detached_blur_is_wrong(judged, exercise):
    """In the hidden check, too."""
    verdict = judged(exercise, lambda images, radius: ch16._mean_by_matrices(images.detach(), radius))
    assert not verdict.passed and "gradient" in verdict.message


# 16.2 -----------------------------------------------------------------------------------------------------------------


def test_the_reference_agrees_with_the_closed_form():
    """The brute force in whole numbers, and the formula that the solution derives."""
    for seed in range(10):
        for places, side in ch16.places_and_sides(torch.Generator().manual_seed(seed)):
            second = ch16._needed(places)
            formula = ((second - side + 2) // 2).clamp(min=0)
            assert torch.equal(ch16.smallest_radius(places, side), formula)


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


def test_a_width_is_told_that_it_is_one(judged):
    """In whichever way it was rounded."""
    for width in (
        lambda places, side: 2 * by_trying(places, side) + 1,
        lambda places, side: (ch16._needed(places) - side + 2).clamp(min=1),
    ):
        verdict = judged("16.2", width)
        assert not verdict.passed and "expected the radius" in verdict.message


def test_trying_every_radius_is_right(judged):
    for seed in range(3):
        assert judged("16.2", by_trying, seed).passed


# 16.3 -----------------------------------------------------------------------------------------------------------------


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
    for row, fault in {"right": "right", **ch16.ROWS}.items():
        error = 0.006 if row in "DE" else 0.06
        assert (printed[row] - from_place_2(fault)).abs().max() < error, row
    for row in "ABCDE":
        others = [fault for fault in LOSSES if fault != ch16.ROWS[row]]
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


def test_each_word_in_each_row_is_told_why_not(judged):
    for row, right in ch16.ROWS.items():
        for word in ch16.FAULTS:
            verdict = judged("16.3", {**ch16.ROWS, row: word})
            why_not = f"{row}: not '{word}', with which "
            assert verdict.passed if word == right else why_not in verdict.message


# 16.4 -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_random_patterns_are_told_a_window(judged, seed):
    verdict = judged("16.4", torch.rand(8, 8, generator=torch.Generator().manual_seed(seed)))
    assert not verdict.passed and "the window around row" in verdict.message


# 16.5 -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first, last", [(0, 15), (-15, 0), (1, 15), (-7, 8), (-8, 7)])
def test_other_rulers(judged, first, last):
    for scale in (1.0, 1 / 16, 50.0):
        assert judged("16.5", scale * ch16._box(first, last)).passed
    assert judged("16.5", ch16._box(first, last).long()).passed


@pytest.mark.parametrize("leak", [1e-5, 1e-4, 1e-3, 3e-3])
@pytest.mark.parametrize("place", [-15, -12, -8])
def test_a_small_leak_is_no_ruler(judged, leak, place):
    """Beside the window of 16; on the other side too. In float32 rounding hides no leak of this size."""
    kernel = ch16.RULER + leak * ch16._box(place, place)
    for wrong in (kernel, kernel.flip(0), kernel.double() / 16, kernel.tolist()):
        verdict = judged("16.5", wrong)
        assert not verdict.passed and "nearly a ruler" in verdict.message


def test_weights_that_rounding_has_touched_are_a_ruler(judged):
    weights = torch.tensor([0.1 * 3, 0.3] * 8, dtype=torch.float64)
    for dtype in (torch.float32, torch.float64):
        kernel = torch.cat([torch.zeros(15), weights / weights.sum()]).to(dtype)
        assert judged("16.5", kernel).passed


@pytest.mark.parametrize("seed", range(3))
def test_random_kernels_are_told_a_pair(judged, seed):
    verdict = judged("16.5", torch.rand(31, generator=torch.Generator().manual_seed(seed)))
    assert not verdict.passed and "no ruler: pixels" in verdict.message and "The weights differ" in verdict.message


# 16.6 -----------------------------------------------------------------------------------------------------------------


def factor_images() -> dict[str, Tensor]:
    """The five factors as the task describes them: name → float64 (values, channels, 64, 64)."""
    line = torch.arange(64)
    square = torch.zeros(1, 64, 64, dtype=torch.float64)
    square[:, 28:36, 28:36] = 1
    rook = torch.stack([square.roll(8 * value - 28, 2) for value in range(8)])
    dimmer = torch.stack([(0.3 + 0.1 * value) * square for value in range(8)])
    stripes = [((line.unsqueeze(1) + line + value) % 9 < 4).double().unsqueeze(0) for value in range(9)]
    lamp = torch.zeros(3, 3, 64, 64, dtype=torch.float64)
    lamp[torch.arange(3), torch.arange(3)] = square
    return {
        "rook": rook, "dimmer": dimmer, "grating": torch.stack(stripes), "lamp": lamp,
        "lottery": rook[[3, 6, 0, 4, 7, 1, 5, 2]],
    }  # fmt: skip


def blurred_share(images: Tensor) -> float:
    """The blurred term, weighted, as a multiple of the sharp one, over all pairs; radius 31."""
    sharp, soft = (pairs.mean().item() for pairs in _terms(images))
    return soft / sharp


def blurred_rank(images: Tensor) -> float:
    """Rank correlation of |i − j| with the blurred term over distinct pairs; 0 where all are equal."""
    first, second = torch.triu_indices(len(images), len(images), 1)
    _, soft = _terms(images)
    return correlations((second - first).double(), (soft / soft.max()).round(decimals=9))[1]


def _terms(images: Tensor) -> tuple[Tensor, Tensor]:
    """Of each distinct pair the sharp and the blurred sum of squares."""
    first, second = torch.triu_indices(len(images), len(images), 1)
    difference = images[first] - images[second]
    soft = 63 * avg_pool2d(difference, 63, 1, 31)
    return difference.square().sum((1, 2, 3)), soft.square().sum((1, 2, 3))


def test_the_five_factors_are_what_they_are_called():
    for name, images in factor_images().items():
        share, rank = blurred_share(images), blurred_rank(images)
        called = "nearly blind" if share < 0.01 else "in order" if rank > 0.9 else "no order"
        assert called == ch16.FACTORS[name]
        assert share < 0.01 or rank > 0.9 or abs(rank) < 0.5
