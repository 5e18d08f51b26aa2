"""Chapter 14's exercises beyond what is tested for all chapters: other ways to be right, and to be wrong."""

import itertools

import pytest
import torch
from scipy.stats import spearmanr

from course_grading import registry
from course_grading.chapters import distance_functions, level_factor
from course_grading.exercise import LocalAnswer


def judged(exercise, answer, seed=0):
    return registry.find(exercise).judge(LocalAnswer(answer), seed)


def in_float64(first, second):
    first, second = first.double(), second.double()
    squares = first.square().sum(1, keepdim=True) + second.square().sum(1)
    return ((squares - 2 * first @ second.T) / first.shape[1]).float()


def broadcast(first, second):
    return (first.unsqueeze(1) - second).square().mean(2)


@pytest.mark.parametrize("right", [in_float64, broadcast])
def test_other_ways_to_keep_the_digits(right):
    for seed in range(20):
        assert judged("14.2", right, seed).passed


def by_column(first, second):
    squares = (first * first).sum(1)
    columns = [squares + row @ row - 2 * (first * row).sum(1) for row in second]
    return torch.stack(columns, 1) / first.shape[1]


def scaled_first(first, second):
    first, second = first / first.shape[1] ** 0.5, second / second.shape[1] ** 0.5
    return first.square().sum(1, keepdim=True) + second.square().sum(1) - 2 * first @ second.T


@pytest.mark.parametrize("wrong", [by_column, scaled_first])
def test_rounding_is_named_however_the_sums_are_taken(wrong):
    for seed in range(5):
        verdict = judged("14.2", wrong, seed)
        assert not verdict.passed and ("rounding" in verdict.message or "planted fault" in verdict.message)


def centred(first, second):
    return distance_functions._gram(first - first.mean(0), second - first.mean(0))


def test_centring_is_no_cure():
    for seed in range(20):
        verdict = judged("14.2", centred, seed)
        assert not verdict.passed and "centred first" in verdict.message


def test_the_planted_fault_shows():
    """Some distances come out negative, and others are off by more than they are large."""
    for seed in range(5):
        first, second = distance_functions.bright_rows(torch.Generator().manual_seed(seed))[0]
        wrong, right = distance_functions._gram(first, second), broadcast(first, second)
        assert (wrong < 0).any() and ((wrong - right).abs() > 0.2 * right).any()


def test_ranks_by_scipy_agree():
    for (matrices,) in distance_functions.factor_matrices(torch.Generator().manual_seed(1)):
        row, column = torch.triu_indices(*matrices.shape[1:], 1)
        for matrix, ours in zip(matrices, distance_functions.rank_correlations(matrices), strict=True):
            distances = matrix[row, column]
            if len(distances.unique()) > 1:
                theirs = spearmanr(column - row, distances).statistic
                assert ours.item() == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("given", list(itertools.permutations(level_factor.ORDER)))
def test_every_wrong_order_is_explained(given):
    verdict = judged("14.4", list(given))
    assert verdict.passed == (given == level_factor.ORDER)
    assert verdict.passed or " and " in verdict.message or "turned round" in verdict.message


def test_the_order_is_that_of_the_pixels():
    def square(left=0, side=8, brightness=1.0):
        image = torch.zeros(64, 64)
        image[:side, left : left + side] = brightness
        return image

    factors = {
        "leap": [square(left=8 * k) for k in range(8)],
        "creep": [square(left=k) for k in range(8)],
        "grow": [square(side=8 + k) for k in range(8)],
        "dim": [square(brightness=1 - k / 14) for k in range(8)],
    }
    stacks = {name: torch.stack(images) for name, images in factors.items()}
    means = {name: (stack.unsqueeze(1) - stack).square().sum().item() / 56 for name, stack in stacks.items()}
    assert sorted(means, key=means.get, reverse=True) == list(level_factor.ORDER)
    assert [round(means[name]) for name in level_factor.ORDER] == [128, 69, 48, 4]  # as the hints and messages count


def all_with_one_pixel_of_their_own():
    images = torch.zeros(level_factor.SHAPE, dtype=torch.uint8)
    images[:, 0, 0, 8] = 255
    images[torch.arange(8), 0, 0, torch.arange(8)] = 255
    return images


def all_but_one_pixel():
    images = torch.full(level_factor.SHAPE, 255, dtype=torch.uint8)
    images[torch.arange(8), 0, 3, torch.arange(8)] = 0
    return images


def rows_of_a_hadamard_matrix():
    matrix = torch.ones(1, 1)
    for _ in range(4):
        matrix = torch.cat([torch.cat([matrix, matrix], 1), torch.cat([matrix, -matrix], 1)])
    images = torch.zeros(level_factor.SHAPE, dtype=torch.uint8)
    images[:, 0] = (matrix[1:9] > 0).unsqueeze(1) * torch.tensor(255, dtype=torch.uint8)
    return images


@pytest.mark.parametrize("make", [all_with_one_pixel_of_their_own, all_but_one_pixel, rows_of_a_hadamard_matrix])
def test_other_constructions(make):
    assert judged("14.5", make()).passed


def test_random_images_are_told_which_pair_is_nearest():
    draw = torch.Generator().manual_seed(0)
    images = 255 * torch.randint(2, level_factor.SHAPE, dtype=torch.uint8, generator=draw)
    verdict = judged("14.5", images)
    assert not verdict.passed and "the loss can still tell near from far" in verdict.message
