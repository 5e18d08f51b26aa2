"""Chapter 13's exercises beyond what is tested for all chapters: their examples, and other routes to what is right."""

import math

import numpy as np
import pytest
import torch

from course_grading.checks import ch13_scale as ch13
from course_lib import metrics, scaling


def draws():
    return torch.Generator().manual_seed(0)


def test_intervals_are_the_librarys_and_the_example_is_right():
    for sizes, scores in ch13.curves(draws()):
        found = ch13.exponent_with_interval(sizes, scores).tolist()
        assert found[0] == pytest.approx(scaling.power_law(sizes, scores).exponent)
        assert tuple(found[1:]) == pytest.approx(scaling.exponent_interval(sizes, scores))
    example = torch.tensor([0.0, 1, 2]).double().exp(), torch.tensor([0.0, 1, 3]).double().exp()
    assert ch13.exponent_with_interval(*example).tolist() == pytest.approx([1.5, -2.168, 5.168], abs=5e-4)


def test_the_example_of_seeds_and_a_bootstrap_by_them():
    sizes, scores = torch.tensor([1.0, 10]).double(), torch.tensor([[1.0, 10], [3, 3]]).double()
    kept = torch.tensor([[0, 0], [0, 1], [1, 1]])
    assert ch13.resampled_exponents(sizes, scores, kept).tolist() == pytest.approx([1, 0.5119, 0], abs=5e-5)
    sizes, scores, _ = ch13.resamples(draws())[0]
    generator = np.random.default_rng(3)
    kept = torch.tensor(np.array([generator.integers(len(scores), size=len(scores)) for _ in range(30)]))
    expected = scaling.bootstrap(sizes, scores, draws=30, seed=3)
    np.testing.assert_allclose(ch13.resampled_exponents(sizes, scores, kept), expected)


def test_bins_are_those_of_float32_and_do_not_move():
    """A jitter of rounding's size moves the bins of the planted function, and not those of the right one."""
    (codes, bins), (jittered, _), *_ = ch13.codes_to_bin(draws())
    moving = codes[:, [0, 1, 2, 4, 5]], jittered[:, [0, 1, 2, 4, 5]]
    assert torch.equal(*(ch13.binned(each, bins) for each in moving))
    assert not torch.equal(*(ch13._planted(each, bins) for each in moving))
    wave = torch.tensor([[0.0], [1], [1e-16], [-1]]).double()
    for sign in (1, -1):
        wave[2] = sign * 1e-16
        assert ch13.binned(wave, 2).flatten().tolist() == [1, 1, 1, 0]


def test_so_many_seeds_are_two_standard_errors():
    bend, scatter = torch.tensor([[1.0], [0.9]]).double()
    assert ch13.seeds_for_a_bend(bend, scatter, torch.tensor([0.0, 1, 2]).double().exp()).tolist() == [20]
    bend, scatter, sizes = ch13.bends(draws())[1]
    (needed, *_), x = ch13.seeds_for_a_bend(bend, scatter, sizes).tolist(), sizes.log().numpy()
    noise = np.random.default_rng(0).normal(0, scatter[0].item() / math.sqrt(needed), (20_000, len(x)))
    found = np.polyfit(x, (0.3 * x + bend[0].item() / 2 * x**2 + noise).T, 2)[0]
    assert abs(found.mean()) / found.std() == pytest.approx(2, rel=0.05) and needed > 20


@pytest.mark.filterwarnings("ignore:.*samples are too few")
def test_what_is_right_has_a_mig_of_nothing_by_the_librarys_count():
    assert float(metrics.mig.from_samples(ch13.PAIRED, ch13.GRID)) < 0.01
    assert float(metrics.mig.from_samples(ch13.GRID.double(), ch13.GRID)) == pytest.approx(1)
    assert ch13.gap_fault(ch13.PAIRED) is None
    turn = torch.linalg.qr(torch.randn(3, 3, generator=draws()).double())[0]
    assert "the gap of factor" in ch13.gap_fault(ch13.GRID.double() @ turn)
