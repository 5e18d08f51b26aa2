"""Latents on scales whose squares overflow or vanish: the documented value, or one clear error, and no warning."""

import numpy as np
import pytest
import torch

from course_lib import metrics
from course_lib.metrics import Encodings
from course_lib.metrics.scale import cap, centre, lift, powers, unit

SCORES = sorted(metrics.SCORES)
TREES = {"dci", "downstream_trees"}  # take long
PENALISED = {  # value → the score that has it, through a penalty on weights
    "beta_vae_score": {"test", "train"},
    "sap": {"discrete", "f0", "f1", "f2"},
    "modularity": {"explicitness", "auc", "explicitness_f0", "explicitness_f1", "explicitness_f2"},
    "wasserstein_correlation": {"wasserstein"},  # a distance: it has the square of the latents' unit
}
EXTREMES = [1e-300, 1e-170, 1e-38, 1e38, 1e160, 1e299]


@pytest.fixture(scope="module")
def grid(tiny_grid):
    return tiny_grid(4, 2, 5)


@pytest.fixture(scope="module")
def latents(grid, factors_of):
    noise = torch.randn(40, 3, generator=torch.Generator().manual_seed(0)).double()
    mixing = torch.tensor([[1, 0.5, 0], [0, 1, 0], [0.2, 0, 1.0]], dtype=torch.float64)
    return factors_of(grid) @ mixing + 0.3 * noise


@pytest.fixture(scope="module")
def values(grid, latents, quick):
    """values(name, scale): of a score whose latents are multiplied by `scale`, one number or one for each."""
    known = {}

    def values(name, scale=1.0):
        key = name, str(scale)
        if key not in known:
            table = Encodings.from_table(latents * torch.tensor(scale, dtype=torch.float64), grid)
            known[key] = quick(name, table).values
        return known[key]

    return values


def free(name, values):
    """The values that no penalty and no unit ties to the scale."""
    return {key: value for key, value in values.items() if key not in PENALISED.get(name, ())}


@pytest.mark.parametrize(
    ("name", "scale"),
    [(name, scale) for name in SCORES for scale in (EXTREMES if name not in TREES else (1e-170, 1e160))],
)
def test_no_scale_changes_what_does_not_depend_on_it(values, name, scale):
    assert free(name, values(name, scale)) == pytest.approx(free(name, values(name)), rel=1e-9)


@pytest.mark.parametrize("name", ["beta_vae_score", "sap", "modularity"])
def test_a_penalty_means_nothing_on_large_scales(values, name):
    """From latents of 100, whose penalty is 10⁻⁴ of that of 1, to those on which solvers go astray or never return."""
    for scale in (1e6, 1e38, 1e160, 1e299):
        assert values(name, scale) == pytest.approx(values(name, 100), abs=2e-3)


def test_a_penalty_is_all_on_small_scales(values):
    for scale in (1e-300, 1e-170, 1e-38):
        assert values("beta_vae_score", scale)["test"] < 0.4 and values("sap", scale)["discrete"] == 0.0
        # the area under the curve asks for an order only, and the weights still point somewhere
        assert values("modularity", scale)["auc"] == pytest.approx(values("modularity", 1e-4)["auc"], abs=1e-3)
    assert values("modularity", 1e-170)["auc"] > 0.8


def test_a_distance_leaves_the_range_of_floats(values):
    assert values("wasserstein_correlation", 1e160)["wasserstein"] == float("inf")
    assert values("wasserstein_correlation", 1e-170)["wasserstein"] == 0.0
    assert values("wasserstein_correlation", 1e38)["wasserstein"] == pytest.approx(
        1e76 * values("wasserstein_correlation")["wasserstein"]
    )


@pytest.mark.parametrize(
    "name", ["gaussian_total_correlation", "mig", "mutual_information", "sap", "modularity", "dci", "downstream_trees",
             "downstream_logistic", "dci_es"],
)  # fmt: skip
def test_latents_of_very_different_scales(values, name):
    """To these, each latent's own scale is all the same."""
    assert free(name, values(name, [1e-170, 1.0, 1e160])) == pytest.approx(free(name, values(name)), rel=1e-9)


@pytest.mark.parametrize("name", SCORES)
def test_the_largest_latent_decides_the_others_and_nothing_is_lost(values, name):
    mixed = values(name, [1e-170, 1.0, 1e160])
    assert all(value == value for value in mixed.values())
    if name == "irs":
        assert mixed["irs"] == mixed["z2"] and mixed["z0"] == pytest.approx(values("irs")["z0"])
    if name == "factor_vae_score":
        assert mixed["test"] == values(name, [0.0, 1.0, 1.0])["test"]  # the first has collapsed


@pytest.mark.parametrize("power", [-115, 124])
@pytest.mark.parametrize("name", SCORES)
def test_scales_of_single_precision(grid, latents, quick, name, power):
    single = latents.float()
    single = single / 2.0 ** int(powers(single.numpy(), (0, 1)))
    sides = (Encodings.from_table(part, grid) for part in (single, single * 2.0**power))
    expected, found = (free(name, quick(name, side).values) for side in sides)
    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", SCORES)
def test_beyond_the_range_is_an_error(grid, latents, quick, name):
    with pytest.raises(ValueError, match=r"encode: got latents beyond ±1e\+300 for 40 of 40 images"):
        quick(name, Encodings(lambda images: torch.full((len(images), 3), -1.7e308, dtype=torch.float64), grid))


def test_samples_beyond_the_range_are_an_error(latents):
    with pytest.raises(ValueError, match="log_variance: got up to 1600; samples must stay below 1e\\+300"):
        metrics.wasserstein_correlation.from_samples(latents.repeat(10, 1), log_variance=np.full((400, 3), 1600.0))


def test_powers_of_two_round_nothing():
    values = np.array([[3.0, 0.0, -1e-170], [-5.0, 0.0, 1e-200]])
    assert powers(values).tolist() == [3, 0, -564] and np.abs(unit(values)).max(0).tolist()[:2] == [5 / 8, 0]
    assert (np.ldexp(unit(values), powers(values)) == values).all()


def test_only_what_is_too_large_or_too_small_is_brought_nearer():
    latents, others = np.array([[1.0, 4096.0], [-2.0, 0.0]]), np.array([[7.0, 8192.0]])
    less, less_of_others = cap(latents, others)
    np.testing.assert_array_equal(less, [[1, 512], [-2, 0]])
    np.testing.assert_array_equal(less_of_others, [[7, 1024]])
    for same, given in zip(lift(latents, others), (latents, others), strict=True):
        np.testing.assert_array_equal(same, given)
    more, more_of_others = lift(latents * 2.0**-30, others * 2.0**-30)
    np.testing.assert_array_equal(more * 2.0**23, latents)  # one power for all: their proportions remain
    np.testing.assert_array_equal(more_of_others * 2.0**23, others)
    np.testing.assert_array_equal(centre(latents, others)[1], [[7.5, 8192 - 2048]])
