"""Chapter 22's exercises beyond what is tested for all chapters: their examples, and other routes to an answer."""

from itertools import permutations

import pytest
import torch

from course_grading.checks import ch22_after_2019 as ch22
from course_lib import metrics
from course_replication.measurements.later_codes import matching

# 22.1 -----------------------------------------------------------------------------------------------------------------


def test_the_best_pairing_is_that_of_the_assignment():
    draw = torch.Generator().manual_seed(0)
    for size in (2, 3, 4):
        codes, factors = torch.randn(2, 50, size, generator=draw, dtype=torch.float64)
        assert ch22.best_match(codes, factors).item() == pytest.approx(matching(codes.numpy(), factors.numpy()))


def test_in_every_case_the_greedy_pairing_is_worse():
    for codes, factors in ch22.codes_and_factors(torch.Generator().manual_seed(0)):
        assert ch22._greedy(codes, factors) < ch22.best_match(codes, factors) - 0.01


# 22.2 -----------------------------------------------------------------------------------------------------------------


def test_modularity_is_the_librarys():
    draw = torch.Generator().manual_seed(0)
    factors = torch.randint(4, (3000, 3), generator=draw)
    codes = torch.stack([factors[:, 0], factors[:, 1] + 4 * (factors[:, 2] > 1), factors[:, 2] // 2], 1)
    score = metrics.infomec.from_samples(codes.numpy(), factors.numpy())
    shares = torch.from_numpy(score.matrix.to_numpy().copy())
    assert ch22.modularity(shares).item() == pytest.approx(score.values["infom"], abs=1e-9)


def test_the_example_of_modularity():
    table = torch.tensor([[0.8, 0], [0.3, 0.3], [0, 0]], dtype=torch.float64)
    assert ch22.modularity(table).item() == pytest.approx(0.5)


# 22.3 -----------------------------------------------------------------------------------------------------------------


def test_dead_latents_pay_and_the_planted_fault_lets_them():
    codes = torch.tensor([-3.0, 3.0]).expand(64, 2)
    (planted, *_) = ch22.PENALTY_MISTAKES.values()
    assert ch22.spread_penalty(codes).item() == pytest.approx(2 * 0.999) and planted(codes).item() == 0


def test_the_example_of_the_penalty():
    assert ch22.spread_penalty(torch.tensor([[0.0, 0], [0, 4]])).item() == pytest.approx(0.999)


# 22.4 -----------------------------------------------------------------------------------------------------------------


def test_products_are_completed():
    draw = torch.Generator().manual_seed(0)
    down, across = (torch.rand(n, 5, generator=draw, dtype=torch.float64) + 0.1 for n in (4, 3))
    whole = down.unsqueeze(1) * across
    assert torch.allclose(ch22.products(whole[0], whole[:, 0]), whole)


# 22.5 -----------------------------------------------------------------------------------------------------------------


def test_how_many_orders_there_are():
    flat = [each for each in permutations(range(8)) if sum(i * value for i, value in enumerate(each)) == 98]
    parted = [each for each in flat if all(abs(a - b) > 1 for a, b in zip(each, each[1:], strict=False))]
    assert (len(flat), len(parted)) == (936, 248) and tuple(ch22.ORDER) in parted


def test_each_condition_earns_half(judged):
    only_flat, only_parted = [0, 3, 7, 6, 4, 2, 5, 1], [0, 2, 4, 6, 1, 3, 5, 7]
    for order in (only_flat, only_parted):
        verdict = judged("22.5", order)
        assert not verdict.passed and verdict.points(2) == 1


# 22.6 -----------------------------------------------------------------------------------------------------------------


def test_every_report_has_a_word_of_its_own(judged):
    assert len({*ch22.CONTROLS.values()}) == len(ch22.CONTROLS) == 7
    verdict = judged("22.6", ch22.CONTROLS | {"linear": "full support", "sums": "explicitness"})
    assert not verdict.passed and 0 < verdict.points(7) < 7
