"""Chapter 20's exercises beyond what is tested for all chapters: other ways to be right, and to be wrong."""

import itertools

import pytest
import torch
from scipy.optimize import isotonic_regression
from scipy.stats import rankdata

from course_grading import registry
from course_grading.chapters import kernel_answers, pooled_ranks
from course_grading.exercise import LocalAnswer
from course_lib.losses.learnt_kernel import symmetrised
from course_lib.losses.soft_rank import soft_rank, spearman


def judged(exercise, answer, seed=0):
    return registry.find(exercise).judge(LocalAnswer(answer), seed)


def by_min_max(targets, weights):
    """The closed form: the largest over starts of the smallest mean over ends."""
    sums, masses = (weights * targets).cumsum(0), weights.cumsum(0)
    size = len(targets)
    fit = []
    for i in range(size):
        lows = []
        for j in range(i + 1):
            before, mass = (sums[j - 1], masses[j - 1]) if j else (0, 0)
            lows.append(min((sums[k] - before) / (masses[k] - mass) for k in range(i, size)))
        fit.append(max(lows))
    return torch.stack([torch.as_tensor(value) for value in fit])


def by_scipy(targets, weights):
    return torch.from_numpy(isotonic_regression(targets.numpy(), weights=weights.numpy()).x.copy())


@pytest.mark.parametrize("right", [by_min_max, by_scipy])
def test_other_ways_to_pool(right):
    for seed in range(5):
        assert judged("20.1", right, seed).passed


def test_pooling_with_integer_weights_is_pooling_of_copies():
    draw = torch.Generator().manual_seed(0)
    targets = torch.randn(12, generator=draw, dtype=torch.float64)
    counts = torch.randint(1, 5, (12,), generator=draw)
    copies = targets.repeat_interleave(counts)
    whole = pooled_ranks.isotonic(copies, torch.ones_like(copies))
    ours = pooled_ranks.isotonic(targets, counts.double())
    torch.testing.assert_close(whole, ours.repeat_interleave(counts))


def test_the_hand_made_ranks_are_the_librarys():
    values = torch.tensor([1.9, 1.0, 8.0, 1.6], dtype=torch.float64)
    relative = (15 / 12) ** 0.5 / values.std(correction=0).item()
    torch.testing.assert_close(soft_rank(values, relative), torch.tensor(kernel_answers.BY_HAND, dtype=torch.float64))


def test_ranks_by_hand_in_other_forms():
    right = kernel_answers.BY_HAND
    for answer in (right, torch.tensor(right), torch.tensor(right).numpy(), [2.4, 1.5, 4, 2.1]):
        assert judged("20.2", answer).passed
    for answer, words in (
        ([2.4, 1.5, 4.0], "got 3 entries"),
        ([1.0, 2.0, 3.0, 3.0], "add up to 9"),
        ([2.5, 1.4, 4.0, 2.1], "not the nearest"),
        ("2.4, 1.5, 4, 2.1", "got a str"),
        (["a", 1, 2, 3], "four numbers"),
        ([float("nan"), 1.0, 2.0, 3.0], "finite"),
    ):
        verdict = judged("20.2", answer)
        assert not verdict.passed and words in verdict.message, verdict.message


def test_the_librarys_own_scale_is_another_question():
    """What `soft_rank` gives at 1 is not the answer, and is named."""
    pasted = soft_rank(torch.tensor([1.9, 1.0, 8.0, 1.6]), 1.0)
    for answer in (pasted, [round(rank, 2) for rank in pasted.tolist()]):
        verdict = judged("20.2", answer)
        assert not verdict.passed and "relative to the spread" in verdict.message, verdict.message


@pytest.mark.parametrize("exercise", ["20.1", "20.4"])
def test_mistakes_keep_their_names_whatever_is_drawn(exercise):
    """The first inputs are drawn until the usual mistakes differ on them, so that none is taken for another."""
    for wrong in registry.find(exercise).wrong:
        for seed in range(15):
            verdict = judged(exercise, wrong.answer, seed)
            assert not verdict.passed and wrong.message in verdict.message, (seed, verdict.message)


@pytest.mark.parametrize("order", list(itertools.permutations(kernel_answers.BY_HAND)))
def test_only_one_order_of_the_right_numbers_passes(order):
    assert judged("20.2", list(order)).passed == (order == kernel_answers.BY_HAND)


def by_the_library(distance, truth):
    return spearman(distance, truth, 0.1)


def by_scipys_ranks(distance, truth):
    exact = torch.from_numpy(rankdata(truth.numpy()))
    return torch.corrcoef(torch.stack([soft_rank(distance, 0.1), exact]))[0, 1]


def by_counting(distance, truth):
    exact = (truth.unsqueeze(1) > truth).sum(1) + ((truth.unsqueeze(1) == truth).sum(1) + 1) / 2
    return torch.cosine_similarity(soft_rank(distance, 0.1) - (len(truth) + 1) / 2, exact - exact.mean(), dim=0)


@pytest.mark.parametrize("right", [by_the_library, by_scipys_ranks, by_counting])
def test_other_rank_correlations(right):
    for seed in range(5):
        assert judged("20.3", right, seed).passed


def ordinal_from_one(distance, truth):
    exact = truth.argsort().argsort().double() + 1
    return pooled_ranks._pearson(pooled_ranks.soft_ranks(distance), exact)


def on_noise(distance, truth):
    jitter = truth + 1e-9 * torch.arange(len(truth))
    return by_the_library(distance, jitter)


@pytest.mark.parametrize("wrong", [ordinal_from_one, on_noise])
def test_broken_ties_are_named(wrong):
    for seed in range(5):
        verdict = judged("20.3", wrong, seed)
        assert not verdict.passed
    assert "ties share" in judged("20.3", ordinal_from_one).message


def test_the_planted_fault_learns_nothing():
    """Descent on it does not bring the distances into the truth's order; on the mended function it helps."""
    found = {}
    for name, function in (("planted", pooled_ranks.argsort_once), ("mended", pooled_ranks.rank_correlation)):
        draw = torch.Generator().manual_seed(3)
        truth = torch.randint(4, (40,), generator=draw).double()
        distance = torch.randn(40, generator=draw, dtype=torch.float64).requires_grad_()
        optimiser = torch.optim.Adam([distance], lr=0.05)
        for _ in range(100):
            optimiser.zero_grad()
            (-function(distance, truth)).backward()
            optimiser.step()
        found[name] = spearman(distance.detach(), truth, 1e-6).item()
    assert found["planted"] < 0.2 and found["mended"] > 0.5


def by_search(values):
    """Bisection on the number of blocks."""
    ordered = values.sort().values
    places = torch.arange(1, len(values) + 1)
    low, high = 0.0, 2 * (ordered[-1] - ordered[0]).item() + 1e-300
    for _ in range(200):
        middle = (low + high) / 2
        blocks = len(isotonic_regression((ordered / middle - places).numpy()).blocks) - 1 if middle > 0 else 2
        low, high = (low, middle) if blocks == 1 else (middle, high)
    return torch.tensor(high, dtype=values.dtype)


def with_a_loop(values):
    ordered = sorted(values.tolist())
    n, mean = len(ordered), sum(ordered) / len(ordered)
    bounds = [2 * (mean - sum(ordered[:k]) / k) / (n - k) for k in range(1, n)]
    return torch.tensor(max(*bounds, 0.0), dtype=values.dtype)


@pytest.mark.parametrize("right", [by_search, with_a_loop])
def test_other_ways_to_the_last_block(right):
    for seed in range(3):
        assert judged("20.4", right, seed).passed


def test_from_there_the_soft_ranks_are_linear_and_not_before():
    values = torch.randn(9, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    last = pooled_ranks.one_block_from(values).item()
    relative = (80 / 12) ** 0.5 / values.std(correction=0).item()
    for factor, linear in ((1.01, True), (0.97, False)):
        ranks = soft_rank(values, relative * last * factor)
        straight = values / (last * factor)
        assert torch.allclose(ranks - ranks.mean(), straight - straight.mean(), atol=1e-6) == linear


def test_symmetry_by_the_library_agrees():
    for (kernel,) in pooled_kernels():
        ours = (kernel - symmetrised(kernel)).square().sum() / kernel.square().sum()
        torch.testing.assert_close(kernel_answers.asymmetry(kernel), ours)


def pooled_kernels():
    return kernel_answers.kernels(torch.Generator().manual_seed(2))


def by_flips(kernel):
    """A transposition and two flips make the group as well."""
    mean = sum(k.flip(axes) for k in (kernel, kernel.T) for axes in ((), (0,), (1,), (0, 1))) / 8
    return ((kernel - mean) ** 2).sum() / (kernel**2).sum()


def one_minus(kernel):
    """What is kept is perpendicular to what is not."""
    return 1 - symmetrised(kernel).square().sum() / kernel.square().sum()


@pytest.mark.parametrize("right", [by_flips, one_minus])
def test_other_measures_of_asymmetry(right):
    for seed in range(5):
        assert judged("20.5", right, seed).passed


def test_every_wrong_reading_is_explained():
    for key in kernel_answers.TABLE:
        for word in kernel_answers.TABLE_WORDS:
            verdict = judged("20.6", {**kernel_answers.TABLE, key: word})
            assert verdict.passed == (word == kernel_answers.TABLE[key])
            assert verdict.passed or verdict.message.startswith(f"{key}: ")
