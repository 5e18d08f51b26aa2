"""The trained runs: deterministic, resumable, with honest controls, and measuring all that their claims ask for."""

import json
from dataclasses import replace
from functools import partial

import pandas
import pytest
import torch

from course_lib import metrics
from course_lib.data import XYSquares
from course_lib.frameworks import SCHEDULES, AdaTripletVAE, BetaVAE, TripletVAE
from course_lib.metrics import Encodings
from course_lib.models import mlp_vae
from course_lib.sampling import factor_distance
from course_lib.training import fit
from course_replication import Context, load_claims
from course_replication.arms import arm_named
from course_replication.comparisons import renamed
from course_replication.measurements import combined, kernels, trained_scores, training
from course_replication.measurements.trained_scores import (
    matrix_rank,
    of_latents,
    table_scores,
    trajectory_scores,
    variation,
)
from course_replication.plans import metrics_of, parts_of

CLAIMS = {claim.id: claim for claim in load_claims()}
DATA = XYSquares(2, 2, squares=2, image_size=16)
TINY = {"steps": 4, "batch_size": 16, "log_every": 1, "watch_every": 2}
ALL = torch.arange(len(DATA))


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Watched every second step, scored on fewer samples, and nothing kept from an earlier test."""
    made_cheap(monkeypatch)


def made_cheap(patch):
    patch.setattr(trained_scores, "TRAVERSALS", 20)
    for score, n in (("distance_correlation", 1000), ("linearity_ratio", 100), ("axis_alignment_ratio", 100)):
        patch.setattr(metrics, score, partial(getattr(metrics, score), num_samples=n))


@pytest.fixture
def context(tmp_path):
    return Context(3, torch.device("cpu"), tmp_path / "scratch")


def arm(*names, **changes):
    return arm_named("small", names).settings | changes


def tiny(*names, **changes):
    return arm(*names, **changes) | TINY


# ---- a training


def test_the_same_again_bit_for_bit(context, monkeypatch, tmp_path):
    settings = tiny("ada-tvae")
    first = training.scores(context, **settings)
    torch.manual_seed(99)
    again = training.scores(replace(context, scratch=tmp_path / "elsewhere"), **settings)
    assert json.dumps(first) == json.dumps(again)
    other = training.scores(replace(context, seed=4, scratch=tmp_path / "other"), **settings)
    assert other["rank"] != first["rank"]


def test_a_training_goes_on_from_its_checkpoint(context, monkeypatch, tmp_path):
    settings = tiny("ada-tvae")
    whole = training.scores(replace(context, scratch=tmp_path / "whole"), **settings)
    monkeypatch.setattr(training, "CHECKPOINT_EVERY", 3)
    steps = []

    def killed(*arguments, callbacks, **settings):
        def count(framework, step):
            steps.append(step)
            if step == 4 and steps.count(4) == 1:
                raise KeyboardInterrupt

        return fit(*arguments, callbacks=[*callbacks, count], **settings)

    monkeypatch.setattr(training, "fit", killed)
    with pytest.raises(KeyboardInterrupt):
        training.scores(context, **settings)
    resumed = training.scores(context, **settings)
    assert steps == [1, 2, 3, 4, 4], "it went on after the checkpoint of step 3"
    assert json.dumps(whole) == json.dumps(resumed)


def test_a_process_does_not_repeat_a_training(context, monkeypatch):
    settings = tiny("beta-vae")
    first = training.scores(context, **settings)
    monkeypatch.setattr(training, "fit", None)
    assert training.scores(context, **settings) == first
    with pytest.raises(TypeError):
        training.scores(context, **settings | {"beta": 0.02})


def test_controls_are_what_they_say(context):
    """Untrained is the network of that seed before any step; shuffled tells nothing about the factors."""
    settings = tiny("beta-vae") | {"steps": 0}
    still = training.scores(context, **settings)
    untrained = table_scores(training.encodings(BetaVAE(mlp_vae(DATA, 7, seed=3)), DATA), 3, "mse")
    trained = training.scores(context, **tiny("beta-vae") | {"steps": 40, "batch_size": 64})
    for name, value in untrained.items():
        assert still[name] == still[f"control/untrained/{name}"] == trained[f"control/untrained/{name}"] == value
    assert any(trained[name] != value for name, value in untrained.items())
    perfect = DATA.space.factors(ALL).float()
    places = torch.randperm(len(DATA), generator=torch.Generator().manual_seed(3))
    shuffled = table_scores(Encodings.from_table(perfect[places], DATA), 3, "mse")
    assert shuffled["rank-distinct"] < 0.05 and abs(shuffled["rank-global"]) < 0.05 and shuffled["mig"] < 0.02


def test_dci_is_measured_where_asked_for(context, monkeypatch):
    monkeypatch.setattr(training, "dci_score", lambda table, seed, points: {"dci": float(points)} if points else {})
    training._untrained_dci.cache_clear()
    with_dci = training.scores(context, **tiny("beta-vae") | {"dci": 12})
    training._untrained_dci.cache_clear()
    assert with_dci["dci"] == with_dci["control/untrained/dci"] == 12
    assert "dci" not in training.scores(context, **tiny("beta-vae"))


# ---- what settings mean


def test_settings_reach_the_framework():
    soft = training.framework_of(DATA, 0, **framework(arm("ada-tvae", triplet="soft", scale=3, sampler="l1", norm=2)))
    assert (soft.margin, soft.alpha, soft.by, soft.norm, soft.reduction) == (None, 3, "l1", 2, "mean")
    assert soft.shared_weight == (1.0, 0.5) and soft.strength == 0.5
    changed = training.framework_of(DATA, 0, **framework(arm("ada-tvae", strength=0.8, shared_weight=0.5)))
    assert changed.shared_weight == 0.5 and changed.strength == 0.8 and changed.margin == 10
    learnt = training.framework_of(DATA, 0, **framework(arm("beta-vae", "learnt", kernel_steps=1)))
    assert learnt.reconstruction == "kernel" and learnt.likelihood.kernel.shape == (15, 15)


def framework(settings):
    others = (*training.OF_DATA, *training.OF_FIT, "dci", "watch_every")
    return {name: value for name, value in settings.items() if name not in others}


def test_the_threshold_schedule_is_the_triplet_vae():
    """Why one training serves both, bit for bit."""
    plain, threshold = (
        build(mlp_vae(DATA, 7, seed=1)) for build in (TripletVAE, lambda m: AdaTripletVAE(m, **SCHEDULES["threshold"]))
    )
    for each in (plain, threshold):
        fit(each, DATA, steps=5, batch_size=16, seed=1, device="cpu")
    assert all(torch.equal(a, b) for a, b in zip(plain.parameters(), threshold.parameters(), strict=True))


def test_float_triplets_are_wrong_only_about_ties():
    sampled = training.framework_of(DATA, 0, **framework(arm("ada-tvae", framework="FloatTripletVAE")))
    triplets = sampled.sample(DATA.space, 20_000, torch.Generator().manual_seed(0))
    near, far = (factor_distance(DATA.space, triplets[0], other, by="scaled_l1") for other in triplets[1:])
    assert triplets.shape == (3, 20_000) and (near <= far).all()
    assert 0.001 < (near == far).double().mean() < 0.05


# ---- scores


def test_matrices_and_variation_of_known_representations():
    factors = DATA.space.factors(ALL).double()
    line, onehot = (Encodings.from_table(z, DATA) for z in (factors, torch.eye(8)[factors.long()].flatten(1).double()))
    assert matrix_rank(of_latents(line), DATA, 0) == pytest.approx(1) and matrix_rank(of_latents(onehot), DATA, 0) == 0
    assert variation(of_latents(onehot), DATA, 0) == pytest.approx(0, abs=1e-12)
    gaps = torch.tensor([float(b - a) for a in range(8) for b in range(a + 1, 8)])
    assert variation(of_latents(line), DATA, 0) == pytest.approx(float(gaps.std() / gaps.mean()))
    still = Encodings.from_table(torch.zeros(len(DATA), 2), DATA)
    assert variation(of_latents(still), DATA, 0) == 0 and matrix_rank(of_latents(still), DATA, 0) == 0


def test_the_way_there_by_hand():
    axis = {100: 0.75, 200: 0.95, 300: 0.6}
    loss = {step: 1.0 for step in range(10, 310, 10)} | {250: 1.3, 280: 1.1, 20: 9.0}
    rows = [
        {"step": step, "reconstruction": value}
        | ({"rank": 0.1, "linearity": 0.3, "axis-alignment": axis[step]} if step in axis else {})
        for step, value in loss.items()
    ]
    found = trajectory_scores(pandas.DataFrame(rows).set_index("step"), 300)
    assert found["axis-alignment-peak"] == 0.95 and found["axis-alignment-fall"] == pytest.approx(0.35)
    assert found["steps-to-aligned"] == 200 and found["linearity-peak"] == 0.3
    assert found["steps-to-aligned/0.8"] == 200 and found["steps-to-aligned/0.7"] == 100
    assert found["reconstruction-spikes"] == pytest.approx(100 / 27)  # of 27 records after the first tenth
    assert trajectory_scores(pandas.DataFrame(rows[:9]).set_index("step"), 300) == {}


def test_gaps_ranges_and_slopes(context, monkeypatch):
    fake = {"linearity": 0.5, "reconstruction": 0.2, "control/untrained/linearity": 0.1}
    monkeypatch.setattr(
        combined, "scores", lambda _, place, **other: {name: value + place for name, value in fake.items()}
    )
    one, two = ({"place": place, "spacing": spacing, "square_size": 2} for place, spacing in ((0.0, 2), (0.1, 1)))
    found = combined.gaps(context, [one, two])
    assert found["linearity-gap"] == pytest.approx(0.1) and found["reconstruction-gap"] == pytest.approx(0.1 / 0.25)
    assert combined.ranges(context, [one, two, one])["linearity-gap"] == pytest.approx(0.1)
    assert combined.slopes(context, [one, two])["linearity-slope"] == pytest.approx(-0.2)


# ---- kernels

KERNEL = {"steps": 2, "batch_size": 8, "pairs": 16, "learning_rate": 0.001, "symmetry": 1.0, "radius": 31}


def test_kernels_measure_what_their_claims_ask_for(context, monkeypatch):
    monkeypatch.setattr(kernels, "PAIRS", 64)
    measured = {
        "kernels.learnt": kernels.learnt(context, **KERNEL),
        "kernels.handmade": kernels.handmade(context, "box", 31),
    }
    assert measured["kernels.learnt"] == kernels.learnt(context, **KERNEL)
    for claim in CLAIMS.values():
        parts = [part for part in parts_of(claim, "small") if part.measurement in measured]
        found = {renamed(part.name, metric) for part in parts for metric in measured[part.measurement]}
        assert not parts or {*metrics_of(claim)} <= found


def test_spectra_of_known_kernels():
    comb = torch.zeros(63, 63)
    comb[::8, ::8] = 1
    impulse = torch.zeros(63, 63)
    impulse[31, 31] = 1
    assert kernels.power_at_the_grid(comb, 8) == pytest.approx(1)
    assert kernels.power_at_the_grid(impulse, 8) == pytest.approx(63 / 4095)  # of 64 grid frequencies, one is the mean
    wave = torch.cos(2 * torch.pi * torch.arange(64) / 64).expand(1, 1, 64, 64)
    assert kernels.low_frequency_share(wave) == pytest.approx(1)
    fine = torch.cos(torch.pi * torch.arange(64)).expand(1, 1, 64, 64)
    assert kernels.low_frequency_share(fine) == pytest.approx(0, abs=1e-9)


def test_handmade_kernels_are_those_of_table_6_1(context, monkeypatch):
    monkeypatch.setattr(kernels, "PAIRS", 64)
    found = kernels.handmade(context, "box", 31)
    assert [found["factors/linear"], found["factors/rank"]] == pytest.approx([0.96, 0.97], abs=0.005)
