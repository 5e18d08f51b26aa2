"""Scores of arrays do not depend on the order of the rows, and say when a value is tested that was never learnt."""

import warnings

import numpy as np
import pytest
import torch

from course_lib import metrics
from course_lib.metrics import Encodings

LEARNT = {  # scores that learn from some rows and are tested on others → options, the value, its least on this grid
    "downstream_logistic": ({}, "accuracy", 0.99),
    "downstream_trees": (dict(jobs=1, num_few=50), "accuracy", 0.99),
    "dci": (dict(jobs=1), "informativeness", 0.99),
    "modularity": ({}, "explicitness", 0.5),
    "infomec": ({}, "infoe", 0.95),
    "dci_es": ({}, "informativeness", 0.99),
    "sap": ({}, "discrete", 0.12),
}


@pytest.fixture(scope="module")
def grid():
    """The rows of a grid of 6 × 4 factors, each 40 times, in order: latents that follow them, and the factors."""
    factors = np.stack(np.unravel_index(np.arange(960) // 40, (6, 4)), 1)
    return factors / 2 + 0.02 * np.random.default_rng(0).normal(size=factors.shape), factors


def twin(name, arrays, **options):
    return getattr(metrics, name).from_samples(*arrays, **LEARNT[name][0], **options)


@pytest.mark.parametrize("name", LEARNT)
def test_rows_in_the_order_of_a_grid_score_like_shuffled_ones(grid, name):
    """In order, the last third holds values of the first factor of which the first two thirds have none."""
    _, value, least = LEARNT[name]
    order = np.random.default_rng(1).permutation(len(grid[0]))
    listed, shuffled = (twin(name, arrays).values[value] for arrays in (grid, [array[order] for array in grid]))
    assert listed >= least and listed == pytest.approx(shuffled, abs=0.05)


@pytest.mark.parametrize("name", LEARNT)
def test_the_seed_draws_the_test_points_and_says_so(grid, name):
    noisy = grid[0] + np.random.default_rng(2).normal(size=grid[0].shape), grid[1]
    first, again, other = (twin(name, noisy, seed=seed) for seed in (3, 3, 4))
    assert first.values == again.values != other.values and first.settings["seed"] == 3
    with pytest.raises(ValueError, match="seed: got -1"):
        twin(name, noisy, seed=-1)


@pytest.mark.parametrize("name", LEARNT)
def test_a_value_that_is_tested_and_not_learnt_is_warned_of(grid, name):
    """One row alone has the value: whatever half it falls into, the seeds below find it among the test points."""
    latents, factors = grid[0].copy(), grid[1].copy()
    factors[5, 0] = 99
    said = set()
    for seed in range(4):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            twin(name, (latents, factors), seed=seed, num_test=480, names=["height", "hue"])
        said |= {any("height has values among the test points" in str(each.message) for each in caught)}
        assert not any("hue has values" in str(each.message) for each in caught)
        assert all(each.filename == __file__ for each in caught)
    assert said == {True, False}


def test_few_rows_are_called_few_and_not_num_samples(grid):
    with pytest.warns(UserWarning, match="^24 samples are too few for the MIG score") as caught:
        metrics.mig.from_samples(grid[0][::40], grid[1][::40])
    assert "num_samples" not in str(caught[0].message)


@pytest.mark.parametrize("name", LEARNT)
def test_two_rows_are_refused_as_two_rows(name):
    with pytest.raises(ValueError, match="latents: got 2 points; to learn from some and test on others, 3 are needed"):
        getattr(metrics, name).from_samples(np.eye(2), np.eye(2, dtype=int))


FAR = [
    np.array([-6 * 10**18, 0, 6 * 10**18]),  # the difference of the ends does not fit in 64 bits
    2**62 + np.arange(3),  # in which float64 has no two different numbers
    np.array([-(2**63), -1, 2**63 - 1]),
]


@pytest.mark.slow
@pytest.mark.parametrize("values", FAR, ids=["far apart", "far away", "the ends"])
def test_the_largest_integers_are_factors_like_others(values):
    rows = np.stack(np.unravel_index(np.arange(1200) % 12, (3, 4)), 1)
    latents, far = rows + 0.1 * np.random.default_rng(0).normal(size=rows.shape), rows.copy()
    far[:, 0] = values[rows[:, 0]]
    for name in ("mig", "mutual_information", "irs", "modularity", "sap", "dci", "infomec", "dci_es"):
        near, found = (getattr(metrics, name).from_samples(latents, factors) for factors in (rows, far))
        assert found.values == pytest.approx(near.values, abs=1e-5), name


NAMES = ["global", "factors", "discrete", "continuous", "mean", "mig", "linearity", "axis_alignment", "few", "train"]


@pytest.mark.parametrize("name", sorted(set(metrics.SCORES) - {"dci", "downstream_trees", "beta_vae_score"}))
def test_no_name_of_a_factor_changes_the_headline(tiny_grid, factors_of, quick, name):
    plain, odd = tiny_grid(*[2] * 5, 3), tiny_grid(*[2] * 5, 3)
    latents = (
        factors_of(plain) @ torch.linalg.qr(torch.randn(6, 6, generator=torch.Generator().manual_seed(0)).double())[0]
    )
    for chosen in (NAMES[:6], [*NAMES[6:], "x", "distinct_factors"]):
        odd.space = type(plain.space)(chosen, plain.space.sizes)
        expected, found = (quick(name, Encodings.from_table(latents, data)) for data in (plain, odd))
        assert float(found) == float(expected) == next(iter(found.values.values()))
        assert list(found.values.values()) == list(expected.values.values())


@pytest.mark.parametrize("name", ["dci", "downstream_trees"])
def test_a_factor_called_train_or_few_keeps_its_value_beside_the_score_s(grid, name):
    named = twin(name, grid, names=["train", "few"]).values
    assert list(named.values()) == list(twin(name, grid, names=["a", "b"]).values.values())
    assert sum(key.endswith(" (factor)") for key in named) == 1


@pytest.mark.parametrize("name", ["beta_vae_score", "factor_vae_score", "dci", "infomec", "irs", "modularity"])
def test_a_single_factor_leaves_nothing_to_tell_apart(tiny_grid, factors_of, quick, name):
    data = tiny_grid(1, 5)
    table = Encodings.from_table(factors_of(data), data)
    with pytest.warns(UserWarning, match="Only one factor varies"):
        assert float(quick(name, table)) == pytest.approx(1.0)


def test_the_beta_vae_score_falls_with_the_scale_as_its_docstring_says(reference):
    """The penalty sees the scale; the numbers stand in the docstring."""
    table = reference["identity"]
    data, latents = table.data, table(torch.arange(len(table)))
    found = [float(metrics.beta_vae_score(Encodings.from_table(latents * scale, data))) for scale in (1, 1e-2, 1e-3)]
    assert found == pytest.approx([1.0, 0.51, 0.17], abs=0.005)
