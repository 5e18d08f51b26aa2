"""The scan for the largest β that reconstructs: what counts as left over, where the scan stops, and its plan."""

from dataclasses import replace

import pytest
import torch

from course_lib.data import XYSquares
from course_lib.frameworks import BetaVAE
from course_lib.models import mlp_vae
from course_replication import load_claims
from course_replication.arms import arm_named
from course_replication.comparisons import renamed
from course_replication.measurements import largest_beta, training
from course_replication.plans import deviations_of, metrics_of, parts_of

DATA = XYSquares(2, 2, squares=2, image_size=16)
CLAIM = next(claim for claim in load_claims() if claim.id == "distances/table-a.6-beta")
SETTINGS = arm_named("small", "largest-beta").settings | {"spacing": 2}
BETAS = SETTINGS["betas"]
TINY = SETTINGS | {"framework": "BetaVAE", "steps": 3, "batch_size": 16}


@pytest.mark.parametrize(("share", "left"), [(0.0, 1.0), (0.5, 0.25), (1.0, 0.0)])
def test_left_over_of_known_reconstructions(monkeypatch, share, left):
    """The mean image leaves all of the variance, half-way between it and the image a quarter."""
    data = XYSquares(1, 3, squares=2, image_size=12)  # whose mean image is not a constant
    framework = BetaVAE(mlp_vae(data, 2, hidden=(4,)), reconstruction="mse")
    images = data.observations(torch.arange(len(data)))
    mean = images.mean(0)
    monkeypatch.setattr(framework.model, "decode", lambda latents: mean + share * (images - mean))
    assert largest_beta.left_over(framework, data) == pytest.approx(left, abs=1e-6)


@pytest.mark.parametrize(("limit", "best", "tried"), [(0.2, 0.1, 3), (2.0, 1.0, 1), (0.002, 0.001, 7), (0.0, 0.0, 7)])
def test_the_scan_goes_down_to_the_first_that_reconstructs(context, monkeypatch, limit, best, tried):
    """Networks that reconstruct if β is below a limit: which β is best, and how many are trained."""
    trained = []
    monkeypatch.setattr(largest_beta, "train", lambda _, framework, *rest: trained.append(framework.beta))
    monkeypatch.setattr(largest_beta, "left_over", lambda framework, data, seed: 0.4 if framework.beta < limit else 0.6)
    found = largest_beta.scan(context, **TINY | {"betas": BETAS[::-1]})
    assert found["beta-best"] == best and trained == BETAS[:tried]
    assert found.keys() >= {f"left/beta-{beta:g}" for beta in trained}


def test_half_left_is_not_reconstructed(context, monkeypatch):
    monkeypatch.setattr(largest_beta, "train", lambda *_: None)
    monkeypatch.setattr(largest_beta, "left_over", lambda *_: largest_beta.LEFT)
    assert largest_beta.scan(context, **TINY)["beta-best"] == 0


def test_the_control_is_the_network_before_its_training(context, tmp_path):
    still = largest_beta.scan(context, **TINY | {"betas": [0.1], "steps": 0})
    assert still["left/beta-0.1"] == still["control/untrained/left/beta-0.1"] > 0.9
    two = {"betas": [0.1, 0.01]}
    moved = largest_beta.scan(replace(context, scratch=tmp_path / "moved"), **TINY | two)
    again = largest_beta.scan(replace(context, scratch=tmp_path / "again"), **TINY | two)
    assert moved == again and moved["control/untrained/left/beta-0.1"] == still["control/untrained/left/beta-0.1"]
    assert len({moved["left/beta-0.1"], moved["left/beta-0.01"], still["left/beta-0.1"]}) == 3


def test_a_kernel_is_trained_once_and_belongs_to_the_loss(context, monkeypatch):
    asked, losses = [], []

    def kernel(data, seed, steps):
        asked.append((repr(data), seed, steps))
        return torch.ones(15, 15) / 15

    monkeypatch.setattr(training, "small_kernel", kernel)
    monkeypatch.setattr(largest_beta, "train", lambda _, framework, *rest: losses.append(framework.likelihood.kernel))
    largest_beta.scan(context, **TINY | {"reconstruction": "learnt", "kernel_steps": 9, "betas": [0.1, 0.01]})
    assert asked == [(repr(DATA), 0, 9)] and all(torch.equal(loss, torch.ones(15, 15) / 15) for loss in losses)
    assert len(losses) == 2


def test_the_plan_measures_what_the_claim_asks_for_and_says_what_is_smaller(context):
    found, parts = largest_beta.scan(context, **TINY | {"betas": [0.1]}), parts_of(CLAIM, "small")
    assert {*metrics_of(CLAIM)} == {renamed(part.name, "beta-best") for part in parts} and "beta-best" in found
    assert [part.settings["reconstruction"] for part in parts] == CLAIM.settings["reconstruction"]
    for part in parts:
        assert (part.scale, part.seeds, part.measurement) == ("small", 5, "largest_beta.scan")
        assert {note.partition(":")[0] for note in deviations_of(CLAIM, part)} >= {"steps", "latents"}
        assert ("kernel_steps" in part.settings) == (part.settings["reconstruction"] == "learnt")
