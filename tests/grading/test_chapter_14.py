"""Chapter 14's exercises beyond what is tested for all chapters: other ways to be wrong, and what the tasks say."""

import itertools

import pytest
import torch
from scipy.stats import spearmanr

from course_grading.checks import ch14_perceived_distance as ch14

# 14.1 -----------------------------------------------------------------------------------------------------------------

PIXELS = (1, 2, 3)
NEARLY = {  # wrong answers that are nearly right on bright images
    "÷ 256": lambda a, b: ((a.float() - b.float()) / 256).square().mean(PIXELS),
    "int8": lambda a, b: ((a.to(torch.int8) - b.to(torch.int8)).float() / 255).square().mean(PIXELS),
    "N − 1": lambda a, b: ((a.float() - b.float()) / 255).square().sum(PIXELS) / (a[0].numel() - 1),
    "axis 1": lambda a, b: ((a.float() - b.float()) / 255).square().mean((0, 2, 3)),
}


@pytest.mark.parametrize("name", NEARLY)
def test_nearly_right_is_wrong(judged, name):
    for seed in range(10):
        assert not judged("14.1", NEARLY[name], seed).passed
        assert not judged("14.1h", NEARLY[name], seed).passed


# 14.2 -----------------------------------------------------------------------------------------------------------------


def by_column(first, second):
    squares = (first * first).sum(1)
    columns = [squares + row @ row - 2 * (first * row).sum(1) for row in second]
    return torch.stack(columns, 1) / first.shape[1]


def scaled_first(first, second):
    first, second = first / first.shape[1] ** 0.5, second / second.shape[1] ** 0.5
    return first.square().sum(1, keepdim=True) + second.square().sum(1) - 2 * first @ second.T


@pytest.mark.parametrize("wrong", [by_column, scaled_first])
def test_rounding_is_named_however_the_sums_are_taken(judged, wrong):
    for seed in range(5):
        verdict = judged("14.2", wrong, seed)
        assert not verdict.passed and ("rounding" in verdict.message or "planted fault" in verdict.message)


def absolute(first, second):
    return (first.unsqueeze(1) - second).abs().mean(2)


def fourth_powers(first, second):
    return (first.unsqueeze(1) - second).pow(4).mean(2)


def of_all_but_one(first, second):
    return (first.unsqueeze(1) - second).square().sum(2) / (first.shape[1] - 1)


@pytest.mark.parametrize("wrong", [absolute, fourth_powers, of_all_but_one])
def test_a_wrong_formula_is_not_called_rounding(judged, wrong):
    """Although on bright images that hardly differ it is off by less than rounding is."""
    for seed in range(5):
        for exercise in ("14.2", "14.2h"):
            verdict = judged(exercise, wrong, seed)
            assert not verdict.passed and "rounding" not in verdict.message


def in_bfloat16(first, second):
    return (first.bfloat16().unsqueeze(1) - second.bfloat16()).float().square().mean(2)


def summed_in_half(first, second):
    return (first.unsqueeze(1) - second).square().half().mean(2).float()


def given_in_half(first, second):
    return ch14.cross_distances(first, second).half().float()


@pytest.mark.parametrize("wrong", [in_bfloat16, summed_in_half, given_in_half])
def test_half_precision_is_not_enough_and_is_named(judged, wrong):
    for seed in range(20):
        verdict = judged("14.2", wrong, seed)
        assert not verdict.passed and not judged("14.2h", wrong, seed).passed
        assert any(words in verdict.message for words in ("half precision", "rounded", "planted fault"))


def centred(first, second):
    return ch14._gram(first - first.mean(0), second - first.mean(0))


def test_centring_is_no_cure(judged):
    for seed in range(20):
        verdict = judged("14.2", centred, seed)
        assert not verdict.passed and "centred first" in verdict.message


def test_the_planted_fault_shows():
    """Some distances come out negative, and others are off by more than they are large."""
    for seed in range(5):
        _, _, (first, second), *_ = ch14.bright_rows(torch.Generator().manual_seed(seed))
        wrong, right = ch14._gram(first, second), ch14.cross_distances(first, second)
        assert (wrong < 0).any() and ((wrong - right).abs() > 0.2 * right).any()


# 14.3 -----------------------------------------------------------------------------------------------------------------


def test_ranks_by_scipy_agree():
    for (matrices,) in ch14.factor_matrices(torch.Generator().manual_seed(1)):
        row, column = torch.triu_indices(*matrices.shape[1:], 1)
        for matrix, ours in zip(matrices, ch14.rank_correlations(matrices), strict=True):
            distances = matrix[row, column]
            if len(distances.unique()) > 1:
                theirs = spearmanr(column - row, distances).statistic
                assert ours.item() == pytest.approx(theirs, abs=1e-6)


# 14.4 -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", list(itertools.permutations(ch14.ORDER)))
def test_every_wrong_order_is_explained(judged, given):
    verdict = judged("14.4", list(given))
    assert verdict.passed == (given == ch14.ORDER)
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
    assert sorted(means, key=means.get, reverse=True) == list(ch14.ORDER)
    assert [round(means[name]) for name in ch14.ORDER] == [128, 69, 48, 4]  # as the hints and messages count


# 14.5 -----------------------------------------------------------------------------------------------------------------


def test_random_images_are_told_which_pair_is_nearest(judged):
    draw = torch.Generator().manual_seed(0)
    images = 255 * torch.randint(2, ch14.SHAPE, dtype=torch.uint8, generator=draw)
    verdict = judged("14.5", images)
    assert not verdict.passed and "the loss can still tell near from far" in verdict.message
