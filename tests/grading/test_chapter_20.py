"""Chapter 20's exercises beyond what is tested for all chapters: other ways to be right, and to be wrong."""

import itertools

import pytest
import torch

from course_grading import correlations, registry
from course_grading.checks import ch20_learnt_losses as checks
from course_lib.losses.learnt_kernel import symmetrised
from course_lib.losses.soft_rank import soft_rank, spearman


def test_pooling_with_integer_weights_is_pooling_of_copies():
    draw = torch.Generator().manual_seed(0)
    targets = torch.randn(12, generator=draw, dtype=torch.float64)
    counts = torch.randint(1, 5, (12,), generator=draw)
    copies = targets.repeat_interleave(counts)
    whole = checks.isotonic(copies, torch.ones_like(copies))
    ours = checks.isotonic(targets, counts.double())
    torch.testing.assert_close(whole, ours.repeat_interleave(counts))


def test_the_hand_made_ranks_are_the_librarys():
    values = torch.tensor([1.9, 1.0, 8.0, 1.6], dtype=torch.float64)
    relative = (15 / 12) ** 0.5 / values.std(correction=0).item()
    torch.testing.assert_close(soft_rank(values, relative), torch.tensor(checks.BY_HAND, dtype=torch.float64))


def test_ranks_by_hand_in_other_forms(judged):
    right = checks.BY_HAND
    for answer in (right, torch.tensor(right), torch.tensor(right).numpy(), [2.4, 1.5, 4, 2.1]):
        assert judged("20.2", answer).passed
    for answer, words in (
        ([2.4, 1.5, 4.0], "got 3 entries"),
        ([1.0, 2.0, 3.0, 3.0], "add up to 9"),
        ([2.5, 1.4, 4.0, 2.1], "not the nearest"),
        ("2.4, 1.5, 4, 2.1", "got a str"),
        (["a", 1, 2, 3], "entry 0: got a str; expected one number"),
        ([float("nan"), 1.0, 2.0, 3.0], "finite"),
    ):
        verdict = judged("20.2", answer)
        assert not verdict.passed and words in verdict.message, verdict.message


def test_the_librarys_own_scale_is_another_question(judged):
    """What `soft_rank` gives at 1 is not the answer, and is named."""
    pasted = soft_rank(torch.tensor([1.9, 1.0, 8.0, 1.6]), 1.0)
    for answer in (pasted, [round(rank, 2) for rank in pasted.tolist()]):
        verdict = judged("20.2", answer)
        assert not verdict.passed and "relative to the spread" in verdict.message, verdict.message


@pytest.mark.parametrize("exercise", ["20.1", "20.4"])
def test_mistakes_keep_their_names_whatever_is_drawn(exercise, judged):
    """The first inputs are drawn until the usual mistakes differ on them, so that none is taken for another."""
    for wrong in registry.find(exercise).wrong:
        for seed in range(15):
            verdict = judged(exercise, wrong.answer, seed)
            assert not verdict.passed and wrong.message in verdict.message, (seed, verdict.message)


@pytest.mark.parametrize("order", list(itertools.permutations(checks.BY_HAND)))
def test_only_one_order_of_the_right_numbers_passes(order, judged):
    assert judged("20.2", list(order)).passed == (order == checks.BY_HAND)


def by_the_library(distance, truth):
    return spearman(distance, truth, 0.1)


def ordinal_from_one(distance, truth):
    exact = truth.argsort().argsort().double() + 1
    return correlations.pearson(checks.soft_ranks(distance), exact)


def on_noise(distance, truth):
    jitter = truth + 1e-9 * torch.arange(len(truth))
    return by_the_library(distance, jitter)


@pytest.mark.parametrize("wrong", [ordinal_from_one, on_noise])
def test_broken_ties_are_named(wrong, judged):
    for seed in range(5):
        verdict = judged("20.3", wrong, seed)
        assert not verdict.passed
    assert "ties share" in judged("20.3", ordinal_from_one).message


def test_the_planted_fault_learns_nothing():
    """Descent on it does not bring the distances into the truth's order; on the mended function it helps."""
    found = {}
    for name, function in (("planted", checks.argsort_once), ("mended", checks.rank_correlation)):
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


def test_from_there_the_soft_ranks_are_linear_and_not_before():
    values = torch.randn(9, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    last = checks.one_block_from(values).item()
    relative = (80 / 12) ** 0.5 / values.std(correction=0).item()
    for factor, linear in ((1.01, True), (0.97, False)):
        ranks = soft_rank(values, relative * last * factor)
        straight = values / (last * factor)
        assert torch.allclose(ranks - ranks.mean(), straight - straight.mean(), atol=1e-6) == linear


def test_symmetry_by_the_library_agrees():
    for (kernel,) in pooled_kernels():
        ours = (kernel - symmetrised(kernel)).square().sum() / kernel.square().sum()
        torch.testing.assert_close(checks.asymmetry(kernel), ours)


def pooled_kernels():
    return checks.kernels(torch.Generator().manual_seed(2))


def test_every_wrong_reading_is_explained(judged):
    for key in checks.TABLE:
        for word in checks.TABLE_WORDS:
            verdict = judged("20.6", {**checks.TABLE, key: word})
            assert verdict.passed == (word == checks.TABLE[key])
            assert verdict.passed or verdict.message.startswith(f"5 of 6 right. {key}: ")
