"""Chapter 9's exercises beyond what is tested for all chapters: their examples, and what they have of the library."""

import math

import numpy as np
import pytest
import torch

from course_grading.checks import ch09_common_assumptions as ch09
from course_lib import metrics
from course_lib.data import NoisyDSprites


def draws():
    return torch.Generator().manual_seed(0)


@pytest.mark.filterwarnings("ignore:.*samples are too few")
def test_two_correlations_are_the_librarys():
    for mean, log_variance in ch09.posteriors(draws()):
        score = metrics.gaussian_total_correlation.from_samples(mean)
        assert ch09.two_correlations(mean, log_variance)[0].item() == pytest.approx(float(score), abs=1e-6)


def test_samples_are_drawn_from_the_second_covariance():
    mean, log_variance = ch09.posteriors(draws())[0]
    noise = torch.randn(4000, *mean.shape, generator=draws(), dtype=torch.float64)
    points = (mean + (log_variance / 2).exp() * noise).flatten(0, 1)
    expected = -torch.corrcoef(points.T).logdet() / 2
    assert ch09.two_correlations(mean, log_variance)[1].item() == pytest.approx(expected.item(), abs=0.01)


def test_noise_never_raises_a_total_correlation():
    for seed in range(30):
        for mean, log_variance in ch09.posteriors(torch.Generator().manual_seed(seed)):
            of_means, of_samples = ch09.two_correlations(mean, log_variance)
            assert of_samples <= of_means + 1e-12


def test_the_examples_of_total_correlations():
    line = torch.tensor([-1.0, 1, 1, -1], dtype=torch.float64)
    flat = torch.stack([line, torch.zeros(4, dtype=torch.float64)], 1)
    assert ch09.two_correlations(flat, torch.zeros(4, 2).double()).tolist() == pytest.approx([0, 0], abs=1e-12)
    assert ch09.two_correlations(torch.stack([line, line], 1), torch.zeros(4, 2).double())[0] > 15


def test_the_example_of_shares_and_what_chance_is_over_all_orders():
    score, label = torch.tensor([1.0, 2, 3, 6], dtype=torch.float64), torch.tensor([5, 5, 9, 9])
    assert ch09.share_and_chance(score, label).tolist() == pytest.approx([9 / 14, 1 / 3])
    score, label = ch09.labelled(draws())[1]
    draw = draws()
    orders = [torch.randperm(len(label), generator=draw) for _ in range(4000)]
    found = torch.stack([ch09.share_and_chance(score, label[order]) for order in orders])
    assert found[:, 0].mean().item() == pytest.approx(found[0, 1].item(), abs=0.01)


def test_the_example_of_ranks():
    first, second = torch.tensor([0.1, 0.5, 0.5, 0.9]).double(), torch.tensor([1.0, 2, 3, 4]).double()
    assert ch09.rank_correlation(first, second).item() == pytest.approx(0.9487, abs=5e-5)


def test_the_example_of_the_split_and_that_no_test_image_is_learnt():
    assert ch09.honest(torch.tensor([3, 1, 3, 2, 1, 4]), 2).tolist() == [3, 3, 2]
    for index, test in ch09.chosen(draws()):
        assert not np.isin(ch09.honest(index, test), index[-test:]).any()


def test_the_example_of_transfer_and_a_choice_that_is_worth_nothing():
    source = torch.tensor([[0.1, 0.2], [0.5, 0.3], [0, 0.9]]).double()
    target = torch.tensor([[0.2, 0.4], [0.4, 0.6], [0.3, 0.3]]).double()
    assert ch09.better_than_chance(source, target).item() == 0.25
    rates = [ch09.better_than_chance(*torch.rand(2, 5, 3, generator=torch.Generator().manual_seed(seed)).double())
             for seed in range(300)]  # fmt: skip
    assert torch.stack(rates).mean().item() == pytest.approx(0.5, abs=0.05)


def test_each_wrong_way_to_choose_has_a_result_of_its_own():
    for seed in range(20):
        source, target = ch09.studies(torch.Generator().manual_seed(seed))[0]
        right = ch09.better_than_chance(source, target)
        assert source.mean(1).argmax() > 0
        for numbers in (source.median(1).values, source[:, 0], source.amax(1), source.mean(1) + target.mean(1)):
            twin = numbers[:, None]  # a study of one seed, in which these are the scores
            assert ch09.better_than_chance(twin, target) != right


def test_the_ratio_of_the_report_is_high_for_a_code_that_says_nothing():
    noise = torch.randn(3000, 3, generator=draws())
    factors = torch.randint(4, (3000, 2), generator=draws())
    score = metrics.downstream_logistic.from_samples(noise, factors)
    assert score.values["efficiency"] > 0.9 and ch09.JUDGED["fewer samples"] == "not shown"


def test_backgrounds_of_the_examples_and_of_drawn_ones():
    coin = torch.tensor([0.0, 1.0]).double(), torch.tensor([0.5, 0.5]).double()
    assert ch09.average_and_scatter(*coin, 12, 1).tolist() == pytest.approx([0.5, 0.1443], abs=5e-5)
    assert ch09.average_and_scatter(*coin, 12, 3).tolist() == pytest.approx([0.5, 0.25])
    for level, chance, numbers, alike in ch09.backgrounds(draws())[:4]:
        drawn = chance.multinomial(20_000 * numbers // alike, replacement=True, generator=draws())
        images = level[drawn].view(20_000, -1).repeat_interleave(alike, 1)
        apart = (images[::2] - images[1::2]).square().mean(1)
        expected = ch09.average_and_scatter(level, chance, numbers, alike)
        assert [apart.mean().item(), apart.std().item()] == pytest.approx(expected.tolist(), rel=0.05)


def test_the_background_of_noisy_sprites():
    *_, (level, chance, numbers, alike), (*_, colours) = ch09.backgrounds(draws())
    noise, colour = (ch09.average_and_scatter(level, chance, numbers, each).tolist() for each in (alike, colours))
    one = math.sqrt(7 / 180)  # the scatter of (u − v)², u and v from U(0, 1): 1/15 − 1/36 is its square
    assert [round(one, 3), round(one / math.sqrt(12_288), 4), round(one / math.sqrt(3), 3)] == [0.197, 0.0018, 0.114]
    assert [round(1 / 6 / 4, 3), round(one / math.sqrt(3) / 4, 3)] == [0.042, 0.028]  # of half a colour
    assert noise == pytest.approx([1 / 6, one / math.sqrt(12_288)], rel=0.01)  # levels of bytes are nearly as good
    assert colour == pytest.approx([1 / 6, one / math.sqrt(3)], rel=0.01) and round(colour[1] / noise[1]) == 64
    index = torch.randperm(737_280, generator=draws())[:2_000]
    corner = NoisyDSprites().images(index)[:, :, :2].double() / 255  # the upper two rows, which no sprite reaches
    assert (corner[::2] - corner[1::2]).square().mean().item() == pytest.approx(noise[0], rel=0.01)
