"""Measurements of triplets and shared latents: each answers False when the rule is replaced by a wrong one."""

import pytest
import torch

from course_replication.measurements import sharing


def fails(found, *answers):
    return all(not found[answer] for answer in answers)


def test_margins(context, monkeypatch):
    assert all(sharing.margins(context).values())

    def leaky(near, far, psi):
        return (near - far).exp() if psi is None else torch.nn.functional.leaky_relu(psi + near - far)

    monkeypatch.setattr(sharing, "triplet_loss", leaky)
    assert fails(sharing.margins(context), "hard-is-0-beyond-the-margin", "soft-is-positive")
    monkeypatch.setattr(sharing, "triplet_loss", lambda near, far, psi: (near - far - 1).relu())
    assert fails(sharing.margins(context), "soft-is-positive", "soft-gradient-falls")


def test_distinct_distances(context):
    """The corner is at every sum of six differences up to 7, and at every number of differing factors."""
    found = sharing.coarseness(context)
    assert found["distinct-values/l1"] == 6 * 7 + 1 and found["distinct-values/differing"] == 6 + 1
    space = sharing.XYSquares().space
    first, second, third, fourth = torch.randint(len(space), (4, 200_000), generator=context.generator)
    for name in ("l1", "differing"):
        equal = sharing.factor_distance(space, first, second, by=name) == sharing.factor_distance(
            space, third, fourth, by=name
        )
        assert found[f"ties/{name}"] == pytest.approx(equal.double().mean().item(), abs=0.005)


def test_orders_by_divergence_and_by_means(context, monkeypatch):
    found = sharing.reversed_orders(context, num_triplets=2000)
    assert found["an-order-that-reverses"] and found["equation-5.14-equals-5.13"]

    def one_direction(first, second):
        squares = first.variance + (first.mean - second.mean).square()
        return 0.5 * (squares / second.variance - 1 + second.log_variance - first.log_variance)

    monkeypatch.setattr(sharing, "symmetric_kl", one_direction)
    assert fails(sharing.reversed_orders(context, num_triplets=2000), "equation-5.14-equals-5.13")
    monkeypatch.setattr(sharing, "symmetric_kl", lambda first, second: (first.mean - second.mean).abs())
    assert fails(sharing.reversed_orders(context, num_triplets=2000), "an-order-that-reverses")


def test_strengths(context, monkeypatch):
    found = sharing.strengths(context, num_pairs=300)
    assert found["none-shared-at-0"] and found["original-threshold-at-one-half"]
    monkeypatch.setattr(sharing, "shared_latents", lambda values, eta: values <= values.mean(1, keepdim=True))
    assert fails(sharing.strengths(context, num_pairs=300), "none-shared-at-0", "original-threshold-at-one-half")


def test_masks_of_plain_codes(context, monkeypatch):
    found = sharing.plain_codes(context, num_pairs=100)
    assert found["same-mask-from-means-and-from-codes"] and not found["same-mask-by-kl"]
    framework = sharing.AdaTripletVAE
    monkeypatch.setattr(sharing, "AdaTripletVAE", lambda model, **settings: framework(model, differences="kl"))
    assert fails(sharing.plain_codes(context, num_pairs=100), "same-mask-from-means-and-from-codes")


def test_gradients_of_averaged_latents(context, monkeypatch):
    assert all(sharing.averaged_gradients(context, num_pairs=20).values())
    monkeypatch.setattr(sharing, "_weighted", lambda mean, *_: (mean[0] - mean[1]).abs().sum(1))
    assert fails(sharing.averaged_gradients(context, num_pairs=20), "gradient-through-weighted-latents")
    monkeypatch.setattr(sharing, "norm_distance", lambda first, second, norm: (first + second).sum(1))
    assert fails(sharing.averaged_gradients(context, num_pairs=20), "no-gradient-through-averaged-latents")


def test_the_right_k(context, monkeypatch):
    """0, 1 and 10: 1 is below half of the range."""
    found = sharing.right_k(context, num_pairs=1000)
    assert found["right-k-when-changes-are-alike"] and not found["right-k-when-changes-differ"]
    monkeypatch.setattr(sharing, "shared_latents", lambda divergence: divergence == 0)
    assert sharing.right_k(context, num_pairs=1000)["right-k-when-changes-differ"]
    monkeypatch.setattr(sharing, "shared_latents", lambda divergence: divergence < 0)
    assert fails(sharing.right_k(context, num_pairs=1000), "right-k-when-changes-are-alike")


def test_how_many_factors_change(context, monkeypatch):
    found = sharing.changed_factors(context, num_pairs=20_000)
    assert found["k-uniform"] and found["changed-factors-differ"]

    def redrawn(space, n, generator, k=None, pairs=sharing.pairs):
        """Each "changed" factor takes any of its values, so that some stay."""
        first, second = pairs(space, n, generator, k=k)
        other = space.factors(torch.randint(len(space), (n,), generator=generator))
        first, second = space.factors(first), space.factors(second)
        return torch.stack([space.index(first), space.index(torch.where(first != second, other, first))])

    monkeypatch.setattr(sharing, "pairs", redrawn)
    assert fails(sharing.changed_factors(context, num_pairs=20_000), "k-uniform", "changed-factors-differ")
