"""Dead and duplicated latents, one latent and many, ties, constant factors, half precision: the documented value."""

import numpy as np
import pytest
import torch

from course_lib import metrics
from course_lib.metrics import Encodings

FAST = sorted(set(metrics.SCORES) - {"dci", "downstream_trees"})
TREES = ("dci", "downstream_trees")
DEPEND_ON_D = {"linearity_ratio", "axis_alignment_ratio", "axis_orientation_ratio"}


def padded(latents, where):
    zeros = torch.full((len(latents), 2), 0.3, dtype=latents.dtype)
    return {"after": torch.cat([latents, zeros, zeros], 1), "before": torch.cat([zeros, zeros, latents], 1)}[where]


@pytest.mark.parametrize("where", ["after", "before"])
@pytest.mark.parametrize("name", sorted(set(metrics.SCORES) - DEPEND_ON_D))
def test_dead_latents_change_nothing(tiny_grid, factors_of, quick, name, where):
    data = tiny_grid(4, 2, 5)
    latents = factors_of(data) + 0.3 * torch.randn(40, 3, generator=torch.Generator().manual_seed(0)).double()
    latents = latents @ torch.tensor([[1, 0.5, 0], [0, 1, 0], [0.2, 0, 1.0]], dtype=torch.float64)
    alone, together = (quick(name, Encodings.from_table(z, data)) for z in (latents, padded(latents, where)))
    shift = 4 if where == "before" else 0
    for key, value in alone.values.items():
        key = f"z{int(key[1:]) + shift}" if key[0] == "z" else key
        assert together.values[key] == value, key
    assert 0 < float(alone)
    if alone.matrix is not None and alone.matrix.index.name == "latent":
        matrix = together.matrix.to_numpy()
        np.testing.assert_array_equal(matrix[shift : shift + 3], alone.matrix)
        assert not np.delete(matrix, range(shift, shift + 3), axis=0).any()


def test_dead_latents_raise_the_ratios_that_count_them(tables, small, known):
    with_dead = Encodings.from_table(padded(known["duplicated"], "after"), small)
    assert float(metrics.axis_alignment_ratio(with_dead)) == pytest.approx((1 / 2 - 1 / 12) / (1 - 1 / 12))
    assert float(metrics.axis_alignment_ratio(with_dead)) > float(metrics.axis_alignment_ratio(tables["duplicated"]))


def test_a_latent_on_a_large_scale_does_not_prune_the_others(small, known):
    """With a threshold relative to the largest deviation, all other latents would go, and the score with them."""
    scaled = known["identity"] * torch.tensor([30.0, 1, 1, 1], dtype=torch.float64)
    score = metrics.factor_vae_score(Encodings.from_table(scaled, small))
    assert float(score) == 1 and score.settings["latents"] == 4


def test_a_latent_that_collapsed_to_the_prior_is_pruned(small, known):
    noise = 0.01 * torch.randn(len(small), 1, generator=torch.Generator().manual_seed(0)).double()
    score = metrics.factor_vae_score(Encodings.from_table(torch.cat([known["identity"], noise], 1), small))
    assert float(score) == 1 and score.settings["latents"] == 4 and (score.matrix.loc["z4"] == 0).all()


@pytest.mark.parametrize("latent_dim", [1, 2, 33, 64])
@pytest.mark.parametrize("name", [*FAST, *TREES])
def test_any_number_of_latents(tiny_grid, factors_of, quick, name, latent_dim):
    data = tiny_grid(3, 2)
    mixing = torch.randn(2, latent_dim, generator=torch.Generator().manual_seed(1)).double()
    table = Encodings.from_table(factors_of(data) @ mixing, data)
    for key, value in quick(name, table).values.items():
        assert not np.isnan(value) and (np.isfinite(value) or "total_correlation" in key), key


def test_one_latent(tiny_grid, factors_of):
    data = tiny_grid(4, 3)
    table = Encodings.from_table(factors_of(data)[:, :1], data)
    assert float(metrics.linearity_ratio(table)) == float(metrics.axis_alignment_ratio(table)) == 0
    for ratio in (metrics.linearity_ratio, metrics.axis_alignment_ratio, metrics.axis_orientation_ratio):
        assert ratio(table).values["f0"] == 1 and ratio(table).values["f1"] == 0  # it moves, it does not
    assert metrics.mig(table).values["f0"] == pytest.approx(1) and metrics.mig(table).values["f1"] < 0.01
    assert float(metrics.gaussian_total_correlation(table)) == 0
    dci = metrics.dci(table, num_samples=500, num_test=100).values
    assert dci["completeness"] == 1 and dci["disentanglement"] >= 0


@pytest.mark.parametrize("name", [*FAST, *TREES])
def test_factors_with_one_value_are_left_out(tiny_grid, factors_of, quick, name):
    without, data = tiny_grid(4, 3), tiny_grid(4, 1, 3)
    latents = factors_of(without) + 0.1
    expected, found = (quick(name, Encodings.from_table(latents, grid)).values for grid in (without, data))
    renamed = {key.replace("f1", "f2"): value for key, value in expected.items()}
    assert found == renamed


@pytest.mark.parametrize("name", [*FAST, *TREES])
def test_nothing_to_encode_is_an_error_that_says_so(tiny_grid, factors_of, quick, name):
    data = tiny_grid(1, 1)
    if "correlation" in name and "distance" not in name:
        assert quick(name, Encodings.from_table(factors_of(data), data)).values  # it looks at no factor
    else:
        with pytest.raises(ValueError, match="factors: got constant ones only; at least one factor must take two"):
            quick(name, Encodings.from_table(factors_of(data), data))


@pytest.mark.parametrize("name", FAST)
def test_half_precision(small, known, quick, name):
    """Multiples of 1/8 are exact in float16, so every score must be the same to the bit."""
    half = Encodings.from_table(known["identity"].half(), small)
    single = Encodings.from_table(known["identity"].float(), small)
    assert quick(name, half).values == quick(name, single).values


def test_a_motionless_traversal_has_ratio_0_whatever_rounding_does(tiny_grid, factors_of):
    """Along f1 only half of the traversals move: 0.1 · 3 copies have a rounded mean, which must not count as motion."""
    data = tiny_grid(2, 3)
    factors = factors_of(data)
    moving = torch.stack([factors[:, 1] * factors[:, 0], torch.full((6,), 0.1, dtype=torch.float64)], 1)
    score = metrics.axis_alignment_ratio(Encodings.from_table(moving, data), num_samples=4000)
    assert score.values["f1"] == pytest.approx(0.5, abs=0.04)


def test_equal_distances_stay_equal_through_rounding(tiny_grid, factors_of):
    """Along a factor, a rotated grid has few distances; rounding errors must not put them in an order."""
    data = tiny_grid(8, 8, 8)
    angle = torch.linalg.qr(torch.randn(3, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64))[0]
    score = metrics.distance_correlation(Encodings.from_table(factors_of(data) @ angle, data), loss=None)
    assert float(score) == pytest.approx(1, abs=1e-12)


def test_factors_of_two_values_do_not_spoil_the_distinct_mean(tiny_grid, factors_of):
    data = tiny_grid(2, 5)
    values = metrics.distance_correlation(Encodings.from_table(factors_of(data), data)).values
    assert values["distinct_f0"] == 0 and values["distinct_factors"] == values["distinct_f1"] == pytest.approx(1)
