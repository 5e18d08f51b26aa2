"""What is not quite constant counts as constant, what is tested was not learnt, and other things easily overlooked."""

import numpy as np
import pytest
import torch

from course_lib import metrics
from course_lib.distances import round_distances
from course_lib.metrics import Encodings
from course_lib.metrics.encodings import settle
from course_lib.metrics.fixed_factor import mean_differences
from course_lib.metrics.samples import generator
from course_lib.metrics.trees import _starts


def noise_table(data, latent_dim, seed=0):
    draws = torch.Generator().manual_seed(seed)
    return Encodings.from_table(torch.randn(len(data), latent_dim, generator=draws), data)


def test_rounding_noise_in_a_constant_latent_changes_no_score(small, factors_of):
    """float32 latents: one follows a factor, three are constant but for their last digits."""
    draws = torch.Generator().manual_seed(0)
    one = (factors_of(small)[:, :1] / 8).float()
    rest = torch.ones(len(small), 3) * 0.7
    shaken = rest * (1 + 1e-7 * torch.randn(rest.shape, generator=draws))
    assert not torch.equal(rest, shaken)
    names = ("axis_alignment_ratio", "linearity_ratio", "distance_correlation", "mig", "modularity", "irs", "sap")
    names += ("gaussian_total_correlation", "wasserstein_correlation", "factor_vae_score", "downstream_logistic")
    still, moving = (Encodings.from_table(torch.cat([one, other], 1), small) for other in (rest, shaken))
    for name in names:
        score = getattr(metrics, name)
        assert float(score(moving)) == pytest.approx(float(score(still)), abs=1e-6), name
    assert metrics.axis_alignment_ratio(moving).values["y_G"] == 0


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_values_that_differ_by_rounding_are_one(tiny_grid, factors_of, dtype):
    """The sine of eight places has five values, 2, 2, 2, 1 and 1 of 8, and the cosine knows as much: the gap is 0."""
    data = tiny_grid(8, 4)
    turn = factors_of(data).double()[:, 0] * np.pi / 4
    sine, both = (
        Encodings.from_table(torch.stack(columns, 1).to(dtype), data)
        for columns in ([turn.sin()], [turn.sin(), turn.cos()])
    )
    assert len(sine(torch.arange(32)).unique()) > 5, "for rounding"
    assert metrics.mig(both, num_samples=4000).values["f0"] == pytest.approx(0, abs=0.01)
    assert metrics.mig(sine, num_samples=4000).values["f0"] == pytest.approx(0.75, abs=0.01)
    assert metrics.infomec(sine, num_samples=4000).values["infoe_f0"] == pytest.approx(0.75, abs=0.02)
    assert metrics.dci(sine, num_samples=2000, num_test=2000, jobs=1).values["informativeness_f0"] < 0.68  # 5 of 8


def test_a_collapsed_code_of_one_last_digit_has_no_votes(small, factors_of):
    ulp = torch.finfo(torch.float32).eps
    collapsed = 1 + ulp * (factors_of(small)[:, :2] > 3).float()
    assert float(metrics.factor_vae_score(Encodings.from_table(collapsed, small))) == 0


@pytest.mark.parametrize(("values", "left"), [(500, 250), (4000, 4000)])
def test_columns_of_many_values_are_left_alone(values, left):
    """Pairs that are as close as rounding: of few values each is one, of many some are so by chance."""
    column = torch.linspace(1, 2, values // 2, dtype=torch.float64)
    column = torch.cat([column, column * (1 + 1e-15)])[:, None]
    settled = settle(column)
    assert len(column.unique()) == values and len(settled.unique()) == left
    assert (settled - column).abs().max() < 1e-14


def test_fewer_than_a_hundred_levels_are_like_a_hundred():
    coarse, fine = _starts(10_000, 100), _starts(10_000, 256)
    assert all(np.array_equal(_starts(10_000, levels), coarse) for levels in (2, 8, 32, 99))
    assert len(coarse) == 565 and len(fine) == 627 and np.diff(fine).max() == 40  # about 10,000 / 256


@pytest.mark.parametrize("name", ["downstream_trees", "dci"])
def test_noise_predicts_nothing_about_images_that_were_set_aside(name, tiny_grid):
    """On 216 images drawn with replacement, a test on the same images would find noise to be informative."""
    data = tiny_grid(6, 6, 6)
    score = getattr(metrics, name)(noise_table(data, 5), num_samples=1000, num_test=500, jobs=1)
    informed = score.values["accuracy" if name == "downstream_trees" else "informativeness"]
    assert informed < 1 / 6 + 0.1


def test_the_factor_vae_score_is_not_tested_on_what_it_learnt(small):
    """Thirty latents of noise: the majority of few votes fits them well and says nothing about others."""
    values = metrics.factor_vae_score(noise_table(small, 30), num_samples=400, num_test=400).values
    assert values["train"] > values["test"] + 0.03 and values["test"] < 0.35


def test_the_factor_vae_score_does_not_prune_by_an_absolute_scale(small, factors_of):
    assert float(metrics.factor_vae_score(Encodings.from_table(factors_of(small) * 1e-3, small))) == 1


def test_the_beta_vae_score_averages_absolute_differences(small, factors_of):
    """Against a loop over pairs, with a latent of heavy tails, where squares would look different."""
    latents = torch.exp(factors_of(small))
    places = torch.arange(4)
    points, labels = mean_differences(Encodings.from_table(latents, small), places, 50, 8, generator(0))
    replay, again = mean_differences(Encodings.from_table(2 * latents, small), places, 50, 8, generator(0))
    assert (labels == again).all()
    np.testing.assert_allclose(replay, 2 * points, rtol=1e-12)  # of the first degree, and
    shifted, _ = mean_differences(Encodings.from_table(latents + 7, small), places, 50, 8, generator(0))
    np.testing.assert_allclose(shifted, points, rtol=1e-9, atol=1e-9)


def test_the_beta_vae_score_averages_over_pairs_and_does_not_add_up(tiny_grid, factors_of):
    """Two values: images differ by 0 where the factor is shared, else by 1 in half of the pairs, however many."""
    data = tiny_grid(2, 2)
    table = Encodings.from_table(factors_of(data), data)
    for pairs in (4, 400):
        points, labels = mean_differences(table, torch.arange(2), 200, pairs, generator(0))
        shared = np.eye(2, dtype=bool)[labels]
        assert (points[shared] == 0).all() and points[~shared].mean() == pytest.approx(0.5, abs=0.07)


def test_the_beta_vae_score_is_not_tested_on_what_it_learnt(small):
    values = metrics.beta_vae_score(noise_table(small, 33), num_samples=500, num_test=500, batch_size=4).values
    assert values["train"] > values["test"] + 0.05 and values["test"] < 0.35


def test_sap_of_one_latent_is_measured_against_the_most_frequent_value(tiny_grid):
    """One latent that tells two values apart: its accuracy is 1, and guessing has a half."""
    data = tiny_grid(2, 200)
    latents = data.space.factors(torch.arange(400))[:, :1] * 8.0 - 4
    score = metrics.sap(Encodings.from_table(latents, data))
    assert score.values["f0"] == pytest.approx(0.5, abs=0.1)


def test_the_distance_of_factors_is_the_one_asked_for(tiny_grid):
    """Sizes 2 and 9: by "l1" the long factor decides, scaled both count alike, and the ranks differ."""
    data = tiny_grid(2, 9)
    factors = data.space.factors(torch.arange(18)).double()
    table = Encodings.from_table(factors / torch.tensor([1.0, 8.0]), data)
    scaled, plain = (
        metrics.distance_correlation(table, by=by, loss=None).values["global"] for by in ("scaled_l1", "l1")
    )
    assert scaled == pytest.approx(1.0) and plain < 0.95


def test_small_but_real_differences_of_distances_keep_their_order():
    distances = torch.tensor([1.0, 1.0 + 1e-5, 0.5, 0.5 + 1e-9], dtype=torch.float64)
    ranks = round_distances(distances)
    assert ranks[1] > ranks[0] and ranks[2] == ranks[3]
    eighths = torch.arange(1, 129, dtype=torch.float64) / 128
    noisy = eighths * (1 + 1e-12 * torch.randn(128, generator=torch.Generator().manual_seed(0)))
    assert torch.equal(round_distances(eighths), round_distances(torch.cat([noisy[:-1], eighths[-1:]])))


def test_a_table_keeps_its_own_copy(small, factors_of):
    latents = factors_of(small)
    table = Encodings.from_table(latents, small)
    latents.zero_()
    assert float(metrics.mig(table)) > 0.9


@pytest.mark.parametrize(
    ("latents", "words"),
    [
        (np.empty((0, 3)), r"latents: got shape \(0, 3\)"),
        ("text", "latents: got 'text'; allowed are latents"),
        (np.array([["a"]]), r"latents: got array\(\[\['a'\]\]"),
        ([[1, 2], [3]], r"latents: got \[\[1, 2\], \[3\]\]; allowed are latents"),
    ],
)
def test_odd_latents_are_named(latents, words):
    with pytest.raises(ValueError, match=words):
        metrics.mig.from_samples(latents, np.zeros((1, 1), int))


def test_arrays_may_be_reversed_read_only_or_tables():
    draws = np.random.default_rng(0)
    latents, factors = draws.normal(size=(2000, 2)), draws.integers(3, size=(2000, 2))
    expected = float(metrics.mig.from_samples(latents, factors))
    frozen = latents.copy()
    frozen.flags.writeable = False
    assert float(metrics.mig.from_samples(frozen, factors)) == expected
    assert float(metrics.mig.from_samples(latents[::-1], np.ascontiguousarray(factors[::-1]))) == pytest.approx(
        expected
    )


def test_scores_may_be_one_name_or_names_of_ones_own(tables):
    table = tables["identity"]
    assert list(metrics.evaluate(table, scores="mig")) == ["mig"]
    assert float(metrics.evaluate(table, scores={"gap": "mig"})["gap"]) == float(metrics.mig(table))
    with pytest.raises(ValueError, match="scores: got two of the same name"):
        metrics.evaluate(table, scores=["mig", metrics.mig])


def test_sampled_representations_are_checked(tables):
    latents = np.random.default_rng(0).normal(size=(3000, 3))
    with pytest.raises(ValueError, match=r"log_variance: got shape \(3000, 1\); the latents are \(3000, 3\)"):
        metrics.gaussian_total_correlation.from_samples(latents, log_variance=np.zeros((3000, 1)))
    with pytest.raises(ValueError, match="posterior: got NoneType; allowed is a pair"):
        metrics.gaussian_total_correlation(tables["identity"], posterior=lambda images: None)


def test_figures_of_shares_go_from_0_to_1(tables):
    import matplotlib.pyplot as plt

    figure = metrics.axis_alignment_ratio(tables["identity"]).figure()
    assert figure.axes[0].images[0].get_clim() == (0.0, 1.0)
    plt.close(figure)
