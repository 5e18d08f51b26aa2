"""β-VAEs at several prices and capacities that grow: shares of known reconstructions, when a factor counts as learnt,
controls, and what the plans weigh."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from course_lib.data import DSprites, XYSquares
from course_lib.distances import factor_importance, perceived_distance
from course_lib.frameworks import BetaVAE
from course_lib.models import mlp_vae
from course_replication import load_claims
from course_replication.arms import arm_named
from course_replication.measurements import prices
from course_replication.measurements.small_sprites import KEPT, SmallSprites
from course_replication.plans import metrics_of, parts_of

TINY = {"data": "XYSquares", "spacing": 1, "square_size": 2, "squares": 1, "image_size": 10, "network": "mlp",
        "hidden": [8], "latents": 2, "batch_size": 8, "learning_rate": 0.01}  # fmt: skip
PRICED = TINY | {"framework": "BetaVAE", "reconstruction": "mse", "reduction": "sum", "log_every": 10}
ANNEALED = TINY | {"framework": "AnnealedVAE", "reconstruction": "bce", "reduction": "sum", "capacity": 5}
SMALL = XYSquares(1, 2, squares=1, image_size=10)
CLAIMS = ("assumptions/burgess-figure-3", "assumptions/capacity-kept", "distances/section-2.3.1",
          "distances/section-3.5-order", "factorvae/section-2", "review/section-2.3")  # fmt: skip


@pytest.fixture(scope="module")
def sprites():
    return SmallSprites()


def test_small_sprites_are_block_means_of_dsprites(sprites):
    full, places = DSprites(), torch.tensor([0, 17, 5000, len(sprites) - 1])
    for place in places.tolist():
        values = [list(kept)[k] for kept, k in zip(KEPT, sprites.space.factors(torch.tensor(place)), strict=True)]
        image = full.images(full.space.index([int(value) for value in values]))[0].double().numpy()
        means = image.reshape(16, 4, 16, 4).mean((1, 3))
        np.testing.assert_allclose(sprites.images(torch.tensor(place))[0], means, atol=0.5)
    assert len(sprites) == 9_216 and sprites.shape == (1, 16, 16)


def test_small_sprites_keep_the_order_of_the_distances(sprites):
    """The thesis' order for dSprites: positions, scale, shape, orientation."""
    means = factor_importance(perceived_distance(sprites), sprites.space, torch.Generator().manual_seed(0), n=2_000)
    means = means["mean"]
    assert min(means["position_x"], means["position_y"]) > means["scale"] > means["shape"] > means["orientation"]


@pytest.mark.parametrize(("share", "kept", "left"), [(0.0, 0.0, 1.0), (0.5, 0.25, 0.25), (1.0, 1.0, 0.0)])
def test_shares_of_known_reconstructions(monkeypatch, share, kept, left):
    """The mean image keeps no distance and leaves all variance; half-way, a quarter of either is kept and left."""
    framework = BetaVAE(mlp_vae(SMALL, 2, hidden=(4,)))
    mean = SMALL.images(torch.arange(len(SMALL))).float().mean(0) / 255
    monkeypatch.setattr(framework, "reconstruct", lambda images: mean + share * (images / 255 - mean))
    found = prices.watcher(SMALL, 0)(framework, 0)
    assert [found[name] for name in SMALL.space.names] == pytest.approx([kept] * 2, abs=1e-6)
    assert prices.left_of(framework, SMALL, 0) == pytest.approx(left, abs=1e-6)


def test_a_factor_is_learnt_when_a_tenth_comes_back_for_the_first_time():
    rows = [{"step": 1, "a": 0.0, "b": 0.1, "c": 0}, {"step": 50, "a": 0.2, "b": 0.1, "c": 0},
            {"step": 200, "a": 0.05, "b": 0.11, "c": 0.02}]  # fmt: skip
    found = prices._lit(rows, "abc", steps=200, capacity=25.0)
    assert [found[f"step-learnt/{name}"] for name in "abc"] == [50, 200, 200]
    assert [found[f"capacity-learnt/{name}"] for name in "abc"] == [6.25, 25, 25]
    assert [found[f"step-learnt/{name}/0.05"] for name in "abc"] == [50, 1, 200]
    assert [found[f"capacity-learnt/{name}/0.2"] for name in "abc"] == [25, 25, 25]  # reached, and not exceeded
    assert [found[f"share/{name}"] for name in "abc"] == [0.05, 0.11, 0.02]


def test_prices_start_from_one_network_and_differ(context):
    found = prices.at_betas(context, betas={"low": 0.1, "high": 100.0}, steps=200, **PRICED)
    for score in ("mig", "reconstruction", "left", "kl", "factor-vae-score", "beta-vae-score"):
        assert found[f"control/untrained/{score}/low"] == found[f"control/untrained/{score}/high"]
    assert found["kl/low"] > 10 * found["kl/high"] and found["left/low"] < found["left/high"] - 0.1
    assert found["reconstruction/low"] < found["reconstruction/high"]
    assert found["mig/low"] > found["control/shuffled/mig/low"]


def test_side_by_side_or_alone(context, tmp_path, monkeypatch):
    together = prices.at_betas(context, betas={"one": 0.5, "two": 2.0}, steps=30, **PRICED)
    monkeypatch.setattr(prices, "fit_many", None)
    monkeypatch.setitem(prices.NETWORKS, "mlp", _called_conv)
    alone = prices.at_betas(
        replace(context, scratch=tmp_path / "alone"), betas={"one": 0.5, "two": 2.0}, steps=30, **PRICED
    )
    for name in ("reconstruction/one", "reconstruction/two", "kl/two"):
        assert alone[name] == pytest.approx(together[name], rel=1e-3)


def _called_conv(*arguments, **named):
    model = mlp_vae(*arguments, **named)
    model.config["architecture"] = "conv"
    return model


def test_the_target_is_followed_with_a_weight_and_not_without(context):
    found = prices.annealed(context, gammas={"strong": 300.0, "none": 0.0}, steps=600, **ANNEALED)
    assert found["kl-off-target/none"] > 3 * found["kl-off-target/strong"]
    assert found["control/untrained/kl-off-target/none"] == found["control/untrained/kl-off-target/strong"]
    assert found["control/untrained/kl-off-target/none"] == pytest.approx(2.5, abs=0.3)  # the mean of a ramp to 5
    for name in SMALL.space.names:
        assert found[f"control/untrained/step-learnt/{name}"] == 600
        assert found[f"capacity-learnt/{name}"] == pytest.approx(5 * found[f"step-learnt/{name}"] / 600)


def test_what_weighs_pixels_against_nats_follows_their_number():
    """A 16th of the pixels, a 16th of β and γ."""
    for small, full in (("priced-sums", "betas"), ("annealed", "gammas")):
        ours, theirs = (arm_named(scale, small).settings[full] for scale in ("small", "full"))
        assert ours == {name: value / 16 for name, value in theirs.items()}


def test_the_large_beta_is_the_largest_with_which_a_linear_vae_leaves_less_than_half(sprites):
    """Of half decades: from the images' principal components, of which as many as there are latents are used."""
    settings = arm_named("small", "priced-means").settings
    images = sprites.observations(torch.arange(len(sprites))).flatten(1).double()
    variances = torch.linalg.eigvalsh(torch.cov(images.T, correction=0)).flip(0)
    used = torch.arange(len(variances)) < settings["latents"]

    def left(beta):
        level = beta * len(variances) / settings["latents"] / 2
        return (torch.where(used, variances.clamp(max=level), variances).sum() / variances.sum()).item()

    assert left(0.316) < 0.5 < left(1.0)
    assert settings["betas"] == {"beta-high": 0.316, "beta-low": 0.00316}


@pytest.mark.parametrize("name", CLAIMS)
def test_plans_measure_what_the_claims_ask(name, context):
    claim = next(claim for claim in load_claims() if claim.id == name)
    for scale in ("small", "full"):
        assert parts_of(claim, scale)
    (part,) = parts_of(claim, "small")
    settings = part.settings | TINY | {"steps": 2}
    returned = getattr(prices, part.measurement.partition(".")[2])(context, **settings)
    factors = {
        f"{what}/{factor}{bar}"
        for what in ("capacity-learnt", "step-learnt")
        for factor in DSprites.space.names
        for bar in ("", "/0.05", "/0.2")
    }
    assert {*metrics_of(claim)} <= returned.keys() | factors
