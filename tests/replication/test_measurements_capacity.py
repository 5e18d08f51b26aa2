"""Measurements of networks, reductions and divergences: each answers False when one side is replaced by a wrong one."""

import pytest
import torch
from torch import nn

from course_replication.measurements import capacity


def fails(found, *answers):
    return all(not found[answer] for answer in answers)


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model.encoder.__setitem__(2, nn.Conv2d(32, 48, 4, stride=2, padding=1)),
        lambda model: model.encoder.__setitem__(2, nn.Conv2d(32, 32, 3, stride=2, padding=1)),
        lambda model: model.encoder.__setitem__(1, nn.Identity()),
        lambda model: model.decoder.__setitem__(0, nn.Linear(model.latent_dim, 128)),
        lambda model: model.decoder.append(nn.ReLU()),
    ],
)
def test_a_layer_that_is_not_as_printed_is_seen(context, monkeypatch, change):
    assert capacity.layers(context)["layers-as-printed"]
    right = capacity.conv_vae

    def changed(*arguments):
        model = right(*arguments)
        change(model)
        return model

    monkeypatch.setattr(capacity, "conv_vae", changed)
    assert fails(capacity.layers(context), "layers-as-printed")


def test_reductions(context, monkeypatch):
    found = capacity.reductions(context)
    assert found["gradients-proportional"] and found["angle-with-the-same-beta"] > 10 > found["angle-with-beta-changed"]
    framework = capacity.BetaVAE
    monkeypatch.setattr(capacity, "BetaVAE", lambda model, beta, **settings: framework(model, 4.0, **settings))
    assert fails(capacity.reductions(context), "gradients-proportional")


def test_divergence(context, monkeypatch):
    found = capacity.divergence(context)
    assert all(value for name, value in found.items() if name != "smallest-gap-to-the-information")
    right = capacity.kl_to_standard_normal
    monkeypatch.setattr(capacity, "kl_to_standard_normal", lambda posterior: 0.1 * right(posterior) + 0.1)
    answers = ("zero-at-the-prior", "bounds-the-information", "closed-form-as-by-integration")
    assert fails(capacity.divergence(context), *answers)
    monkeypatch.setattr(capacity, "kl_to_standard_normal", lambda posterior: -right(posterior))
    assert fails(capacity.divergence(context), "rises-with-spread-means", "rises-with-smaller-variances")


def test_overlap(context, monkeypatch):
    assert all(capacity.overlap(context).values())
    right = capacity.kl_to_standard_normal
    monkeypatch.setattr(capacity, "kl_to_standard_normal", lambda posterior: -right(posterior))
    answers = ("divergence-falls-with-wider-posteriors", "divergence-falls-with-closer-means")
    assert fails(capacity.overlap(context), *answers)
    monkeypatch.setattr(capacity, "AXIS", capacity.AXIS + 100)  # where nothing overlaps
    assert fails(capacity.overlap(context), "overlap-rises")


def test_the_loss_at_one(context, monkeypatch):
    assert all(capacity.loss_at_one(context).values())
    framework = capacity.BetaVAE
    monkeypatch.setattr(capacity, "BetaVAE", lambda model, beta: framework(model, beta + 0.1 * beta))
    assert fails(capacity.loss_at_one(context), "same-loss-at-beta-1", "three-more-divergences-at-beta-4")


def test_information_of_two_images_far_apart_is_one_bit():
    means, deviations = torch.tensor([-5.0, 5.0]).numpy(), torch.tensor([0.1, 0.1]).numpy()
    assert capacity._information(means, deviations) == pytest.approx(0.6931472, abs=1e-6)
