"""Trainings that are compared, and what is measured of one: each measure on networks whose answer is known."""

import math

import pytest
import torch

from course_lib.frameworks import BetaVAE
from course_lib.models import DiagonalGaussian, mlp_vae
from course_replication import load_claims
from course_replication.measurements import correlation_contrasts
from course_replication.measurements.few_sprites import FewSprites
from course_replication.plans import parts_of

DATA = FewSprites()
ALL = torch.arange(len(DATA))
CLAIMS = {claim.id: claim for claim in load_claims()}
TINY = {"steps": 2, "batch_size": 8, "log_every": 2}


def encoding(means, monkeypatch):
    """A framework that encodes image i as row i of means (N, D)."""
    framework = BetaVAE(mlp_vae(DATA, means.shape[1], hidden=(4,)))
    monkeypatch.setattr(framework, "posterior", lambda index: DiagonalGaussian(means[index], -20 + 0 * means[index]))
    monkeypatch.setattr(framework, "encode", lambda index: means[index])
    return framework


class ByIndex(FewSprites):
    """Images that are their own index, for networks that look nothing up."""

    def images(self, index):
        return index


def test_gaps_are_the_largest_less_the_smallest_of_the_base_and_its_changes(context):
    def trained(_, *, level, left=0.1):
        values = {name: level for name in correlation_contrasts.SCORED}
        controls = {f"control/{kind}/{name}": 2 * level for kind in ("untrained", "shuffled") for name in values}
        return values | controls | {"left": left, "control/untrained/left": 1.0}

    changes = {"more": [{"level": 0.4}, {"level": 0.9}], "worse": [{"left": 0.7}]}
    found = correlation_contrasts.compared(context, trained, changes, {"level": 0.5})
    assert found["mig-gap/more"] == pytest.approx(0.5) and found["mig-gap/worse"] == 0
    assert found["mig-gain/more"] == pytest.approx(0.4) and found["mig-gain/worse"] == 0
    assert found["control/shuffled/factor-vae-score-gap/more"] == pytest.approx(1.0)
    assert found["control/shuffled/factor-vae-score-gain/more"] == pytest.approx(0.8)
    assert found["left"] == 0.7 and found["control/untrained/left"] == 1.0


def test_latents_in_use_are_those_whose_means_move(monkeypatch):
    factors = DATA.space.factors(ALL).float()
    still = torch.cat([factors[:, :3], 1e-2 * factors[:, 3:], torch.ones(len(DATA), 2)], 1)
    framework = encoding(still, monkeypatch)
    assert correlation_contrasts._active(framework, ByIndex(), ALL) == 3


def test_codes_far_apart_in_every_latent_are_as_dependent_as_they_can_be(monkeypatch):
    """Of m codes that differ in each of D latents the total correlation is (D − 1) log m; of equal ones it is 0."""
    apart = torch.arange(len(DATA)).float()[:, None].repeat(1, 3)
    monkeypatch.setattr(correlation_contrasts, "reconstructed", lambda *_: {"left": 0.2})
    for means, size, expected in ((apart, 200, 2 * math.log(200)), (0 * apart, 200, 0.0)):
        found = correlation_contrasts._by_a_batch(encoding(means, monkeypatch), ByIndex(), 0, size)
        assert found["total-correlation/batch/own"] == pytest.approx(expected, abs=1e-3)
    assert found["total-correlation/batch/fresh"] == pytest.approx(0, abs=1e-3)


def test_factors_on_axes_are_aligned_and_two_that_are_turned_are_not(monkeypatch):
    factors = DATA.space.factors(ALL).float()
    factors = factors / factors.std(0)
    turned = factors.clone()
    turned[:, :2] = factors[:, :2] @ torch.tensor([[1.0, 1.0], [-1.0, 1.0]])
    monkeypatch.setattr(correlation_contrasts, "reconstructed", lambda *_: {"left": 0.2})
    names, found = DATA.space.names, {}
    for name, table in (("straight", factors), ("turned", turned)):
        framework = encoding(table, monkeypatch)
        monkeypatch.setattr(correlation_contrasts, "encodings", lambda one, _: _table(one))
        found[name] = correlation_contrasts._by_factor(framework, DATA, 0)
    assert all(found["straight"][f"axis-alignment/{name}"] == pytest.approx(1) for name in names)
    assert found["turned"][f"axis-alignment/{names[0]}"] < 0.6
    assert found["turned"][f"axis-alignment/{names[2]}"] == pytest.approx(1)


def _table(framework):
    from course_lib.metrics import Encodings

    return Encodings.from_table(framework.encode(ALL), DATA)


@pytest.mark.parametrize("name", ["factorvae/appendix-h-vae", "factorvae/figure-11-factors", "factorvae/figure-18"])
def test_controls_are_the_networks_before_their_training(context, name):
    part = parts_of(CLAIMS[name], "small")[-1] if name != "factorvae/figure-18" else parts_of(CLAIMS[name], "full")[0]
    measure = getattr(correlation_contrasts, part.measurement.split(".")[1])
    small = {"data": "FewSprites", "network": "small-mlp"} | ({"batch": 300} if "batch" in part.settings else {})
    still, trained = (
        measure(type(context)(3, context.device, context.scratch / str(steps)), **part.settings | small | own)
        for steps in (0, 30)
        for own in (TINY | {"steps": steps},)
    )
    controls = {key.removeprefix("control/untrained/"): value for key, value in trained.items() if "control" in key}
    assert controls and all(still[key] == controls[key] for key in controls if key in still)
    assert any(trained[key] != controls[key] for key in controls if key in trained) or "left" in controls
