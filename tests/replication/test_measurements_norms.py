"""Measurements of distances, by ℓ1 and ℓ2, along factors and in triplets."""

import pytest
import torch

from course_replication.measurements import norms


def test_contrast_in_many_dimensions(context, monkeypatch):
    found = norms.contrast(context, 20, 100)
    assert not found["l1-tells-more-apart"]
    assert found["l1-tells-more-apart-with-light-tails"] and found["l2-tells-more-apart-with-heavy-tails"]
    assert found["contrast-falls-with-dimension"] and found["laws-order-as-in-the-limit"]
    monkeypatch.setattr(norms, "_draw", lambda draws, law, size: draws.laplace(size=size))
    assert not norms.contrast(context, 20, 100)["l1-tells-more-apart-with-light-tails"]


def test_l1_agrees_with_the_factors(context, monkeypatch):
    found = norms.aligned(context, 3000)
    assert all(value for value in found.values() if isinstance(value, bool))
    monkeypatch.setattr(norms, "GRIDS", {"line": (8,)})  # of one factor both norms are the same
    found = norms.aligned(context, 3000)
    assert not found["l2-is-not"] and not found["l1-sees-a-rotation"]


def test_sizes_of_factors(context):
    found = norms.normalised(context)
    assert found["larger-factors-weigh-more"] and found["nearer-to-alike-after"] and found["first-to-last-alike"]
    assert found["as-in-closed-form"] and not found["alike-after"]
    assert found["largest-over-smallest/after"] == pytest.approx((3 / 2) / (41 / 40))


def test_orders_of_a_traversal(context, monkeypatch):
    found = norms.orders(context)
    assert found["constant-distances-allow-every-order"] and found["overlap-allows-one-and-its-reverse"]
    monkeypatch.setattr(norms, "perceived_distance", lambda data: lambda first, second: torch.ones(len(first)))
    assert not norms.orders(context)["overlap-allows-one-and-its-reverse"]


def test_triplets_are_put_in_order(context, monkeypatch):
    found = norms.swapped(context, 1000)
    assert all(found.values())
    monkeypatch.setattr(norms, "triplets", lambda space, n, generator, by: torch.zeros(3, n, dtype=torch.int64))
    found = norms.swapped(context, 1000)
    assert not found["without-ties-it-is-nearer"] and not found["every-anchor-is-drawn"]
