"""Measurements of discriminators' objectives, with updates and penalties that are wrong."""

import pytest
import torch

from course_lib.frameworks import FactorVAE
from course_replication.measurements import adversarial_objectives


def test_the_updates_of_algorithm_2(context):
    found = adversarial_objectives.updates(context)
    assert found["model-steps-as-printed"] and found["discriminator-steps-as-printed"]
    assert found["discriminator-never-moves-the-encoder"]


def test_a_flipped_discriminator_and_a_leak_are_seen(context, monkeypatch):
    def leaking(self, images, others, step):
        joint = self.model.encode(images).rsample(step.generator)
        return 0.5 * torch.nn.functional.softplus(self.discriminator(joint)).mean()

    monkeypatch.setattr(FactorVAE, "discrimination", leaking)
    found = adversarial_objectives.updates(context)
    assert not found["discriminator-steps-as-printed"] and not found["discriminator-never-moves-the-encoder"]
    assert found["model-steps-as-printed"]


def test_the_printed_objective_is_not_that_of_the_gan(context, monkeypatch):
    found = adversarial_objectives.printed_gan(context)
    assert not found["same-best-discriminator"] and not found["printed-objective-is-bounded"]
    assert found["original-as-in-closed-form"]
    assert found["highest/printed/equal"] == pytest.approx(0, abs=1e-12)
    monkeypatch.setattr(adversarial_objectives, "LAWS", {"overlapping": ([0.6, 0.3], [0.1, 0.9])})
    assert not adversarial_objectives.printed_gan(context)["original-as-in-closed-form"]  # it is no law


def test_the_printed_sign_of_the_penalty(context, monkeypatch):
    found = adversarial_objectives.printed_penalty(context)
    assert not found["printed-sign-has-a-maximum"] and found["the-other-sign-has-one-near-norm-1"]
    monkeypatch.setattr(adversarial_objectives, "PENALTY", -10.0)
    assert adversarial_objectives.printed_penalty(context)["printed-sign-has-a-maximum"]
