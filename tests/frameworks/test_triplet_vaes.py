"""The triplet frameworks against loops over triplets, and the parts of the thesis' argument that can be checked."""

import pytest
import torch
from torch.nn.functional import mse_loss

from course_lib.frameworks import SCHEDULES, AdaTripletVAE, BetaVAE, TripletVAE
from course_lib.losses import norm_distance, triplet_loss
from course_lib.models import mlp_vae
from course_lib.sampling import factor_distance, triplets


def wide(model):
    """The same model with posterior means far apart, so that hinges are active for some triplets only."""
    with torch.no_grad():
        model.encoder[-1].weight.mul_(40)
    return model


def triplet_term(framework, views, weigh=None):
    """α times the mean loss, one triplet at a time, from the means (8 per view)."""
    means = framework.model.encode(views.flatten(0, 1)).mean.view(3, -1, 3)
    total = 0.0
    for anchor, positive, negative in zip(*means, strict=True):
        weights = torch.ones(3) if weigh is None else weigh(anchor, negative)
        power = framework.norm
        near = (anchor - positive).abs().pow(power).sum() ** (1 / power)
        far = (weights * (anchor - negative).abs()).pow(power).sum() ** (1 / power)
        if framework.margin is None:
            total = total + torch.log(1 + torch.exp(near - far))
        else:
            total = total + torch.clamp(framework.margin + near - far, min=0)
    return framework.alpha * total / means.shape[1]


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("margin", [None, 0.5])
def test_terms_equal_the_loop_with_gradients(margin, norm, data, batch, at, gradient):
    framework = TripletVAE(wide(mlp_vae(data, 3)), 0.1, alpha=3.0, margin=margin, norm=norm)
    views = batch(3)
    terms = framework.loss(views, at())
    assert list(terms) == ["reconstruction", "kl", "triplet"]
    vae = BetaVAE(framework.model, 0.1, reduction="mean").loss(views.flatten(0, 1).unsqueeze(0), at())
    expected = vae | {"triplet": triplet_term(framework, views)}
    if margin is not None:
        means = framework.model.encode(views.flatten(0, 1)).mean.view(3, -1, 3)
        active = margin + norm_distance(means[0], means[1], norm) > norm_distance(means[0], means[2], norm)
        assert 0 < active.sum() < 8
    for name, value in expected.items():
        torch.testing.assert_close(terms[name], value, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(gradient(terms[name], framework), gradient(value, framework), rtol=1e-3, atol=1e-5)


def test_the_vae_part_is_a_third_of_three(data, batch, at):
    """⅓ Σ over the three images, not their sum."""
    views = batch(1).expand(3, -1, -1, -1, -1)
    framework = TripletVAE(mlp_vae(data, 3), 2.0, reduction="sum")
    once = BetaVAE(framework.model, 2.0).loss(views[:1], at())
    assert framework.loss(views, at())["kl"].item() == pytest.approx(once["kl"].item(), rel=1e-5)


def test_without_the_decoder_s_gradient_the_encoder_learns_from_the_other_terms_alone(data, batch, at, gradient):
    on, off = (TripletVAE(mlp_vae(data, 3), decoder_gradient=flag) for flag in (True, False))
    losses = [framework.loss(batch(3), at()) for framework in (on, off)]
    assert losses[0] == losses[1]
    reconstruction = [
        gradient(loss["reconstruction"], f.model.encoder) for loss, f in zip(losses, (on, off), strict=True)
    ]
    assert reconstruction[0].abs().max() > 0 and reconstruction[1].abs().max() == 0
    decoder = [gradient(loss["reconstruction"], f.model.decoder) for loss, f in zip(losses, (on, off), strict=True)]
    torch.testing.assert_close(*decoder)
    others = [
        gradient(loss["kl"] + loss["triplet"], f.model.encoder) for loss, f in zip(losses, (on, off), strict=True)
    ]
    torch.testing.assert_close(*others)


@pytest.mark.parametrize("by", ["scaled_l1", "l1", "differing"])
def test_batches_are_triplets_in_the_order_asked_for(by, data):
    sample = TripletVAE(mlp_vae(data), by=by).sample(data.space, 100, torch.Generator().manual_seed(0))
    assert torch.equal(sample, triplets(data.space, 100, torch.Generator().manual_seed(0), by=by))
    anchor, positive, negative = sample
    near, far = (factor_distance(data.space, anchor, other, by=by) for other in (positive, negative))
    assert (near < far).all()


@pytest.mark.parametrize("reconstruction", ["mse", "mse-box", "bce"])
def test_perceived_triplets_are_ordered_by_the_reconstruction_loss(reconstruction, data, batch, at):
    framework = TripletVAE(mlp_vae(data), by="perceived", num_triplets=200, reconstruction=reconstruction)
    assert framework.sample(data.space, 8, torch.Generator().manual_seed(0)).shape == (1, 8)
    images = batch(1)[0]
    anchor, positive, negative = framework.places(images, at())
    assert len(anchor) == 200 and anchor.max() == 7
    if reconstruction == "mse":
        near = [mse_loss(images[a], images[p]) for a, p in zip(anchor, positive, strict=True)]
        far = [mse_loss(images[a], images[n]) for a, n in zip(anchor, negative, strict=True)]
    else:
        loss = framework.likelihood.distance
        near, far = (
            [loss(images[a : a + 1], images[o : o + 1]).sum() for a, o in zip(anchor, other, strict=True)]
            for other in (positive, negative)
        )
    assert all(n <= f + 1e-4 for n, f in zip(near, far, strict=True))
    assert framework.loss(batch(1), at())["triplet"].isfinite()


def test_perceived_triplets_equal_given_ones(data, batch, at):
    """The same triplets, formed inside the batch or handed over as three views, cost the same."""
    framework, views = TripletVAE(wide(mlp_vae(data, 3)), by="perceived", num_triplets=50), batch(1)
    step = at()
    term = framework.loss(views, step)["triplet"]
    q = framework.model.encode(views[0])
    step = at()
    q.rsample(step.generator)  # the noise is drawn before the triplets
    anchor, positive, negative = (q.mean[p] for p in framework.places(views[0], step))
    losses = triplet_loss(norm_distance(anchor, positive, 1), norm_distance(anchor, negative, 1), 10.0)
    torch.testing.assert_close(term, losses.mean())


def weigher(index, total, shared_weight, strength):
    def at(value):
        start, end = value if isinstance(value, tuple) else (value, value)
        return start + (end - start) * index / total

    def weigh(anchor, negative):
        delta = (anchor - negative).abs().detach()
        eta, omega = at(strength), at(shared_weight)
        threshold = (1 - eta) * delta.min() + eta * delta.max()
        return torch.where(delta < threshold, omega, 1.0)

    return weigh


def test_schedules_are_table_5_2():
    """Shared weight and averaging strength of schedules 1 to 5, start and end of each."""
    weight = [(1.0, 1.0), (1.0, 0.5), (1.0, 0.0), (1.0, 0.5), (1.0, 0.0)]
    strength = [(0.0, 0.5), (0.5, 0.5), (0.5, 0.5), (0.0, 0.5), (0.0, 0.5)]
    for schedule, *expected in zip(SCHEDULES.values(), weight, strength, strict=True):
        assert list(schedule) == ["shared_weight", "strength"]
        assert [value if isinstance(value, tuple) else (value, value) for value in schedule.values()] == expected


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("index", [0, 37, 100])
@pytest.mark.parametrize("norm", [1, 2])
def test_adaptive_terms_equal_the_loop_with_gradients(name, index, norm, data, batch, at, gradient):
    framework = AdaTripletVAE(wide(mlp_vae(data, 3)), margin=0.5, norm=norm, **SCHEDULES[name])
    views = batch(3)
    terms = framework.loss(views, at(index))
    expected = triplet_term(framework, views, weigher(index, 100, **SCHEDULES[name]))
    torch.testing.assert_close(terms["triplet"], expected, rtol=1e-4, atol=1e-5)
    ours, theirs = gradient(terms["triplet"], framework), gradient(expected, framework)
    torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-5)


def test_only_the_negative_s_distance_is_weighted(data, batch, at):
    """With ω = 0 and η = 1 only the largest difference to the negative is left; the positive's stays whole."""
    framework = AdaTripletVAE(wide(mlp_vae(data, 3)), margin=100.0, shared_weight=0.0, strength=1.0)
    views = batch(3)
    anchor, positive, negative = framework.model.encode(views.flatten(0, 1)).mean.view(3, -1, 3)
    near, far = (anchor - positive).abs().sum(1), (anchor - negative).abs().amax(1)
    torch.testing.assert_close(framework.loss(views, at())["triplet"], (100 + near - far).mean())


def test_a_shared_weight_of_one_is_the_plain_triplet_loss(data, batch, at):
    """So is the first schedule of Table 5.2, whatever its threshold does: by Eq. 5.19 it cannot matter."""
    model, views = wide(mlp_vae(data, 3)), batch(3)
    plain = TripletVAE(model).loss(views, at(60))["triplet"]
    assert AdaTripletVAE(model, **SCHEDULES["threshold"]).loss(views, at(60))["triplet"] == plain
    assert AdaTripletVAE(model).loss(views, at(0))["triplet"] == plain  # the default starts there
    assert AdaTripletVAE(model).loss(views, at(60))["triplet"] > plain


def test_differences_by_kl_see_the_variances(data, batch, at):
    """Two latents equally far apart: by the means both count in full, by the KL the uncertain one is shared."""
    model = mlp_vae(data, 2)
    framework = AdaTripletVAE(model, shared_weight=0.0, strength=0.5, differences="kl")
    from course_lib.models import DiagonalGaussian

    anchor = DiagonalGaussian(torch.zeros(1, 2), torch.tensor([[0.0, 3.0]]))
    negative = DiagonalGaussian(torch.ones(1, 2), torch.tensor([[0.0, 3.0]]))
    assert framework.negative_distance(anchor, negative, at()).item() == 1.0
    framework.differences = "absolute"
    assert framework.negative_distance(anchor, negative, at()).item() == 2.0


def test_averaging_kills_the_gradient_that_weighting_keeps():
    """Section 5.4.3: a shared latent that is averaged has no gradient left to be pushed apart by."""
    anchor, negative = torch.tensor([[0.0, 0.0]], requires_grad=True), torch.tensor([[0.1, 3.0]])
    mask = torch.tensor([[True, False]])
    mean = 0.5 * (anchor + negative)
    averaged = norm_distance(torch.where(mask, mean, anchor), torch.where(mask, mean, negative), 1)
    weighted = norm_distance(torch.where(mask, 0.5, 1.0) * anchor, torch.where(mask, 0.5, 1.0) * negative, 1)
    assert torch.autograd.grad(averaged.sum(), anchor)[0].tolist() == [[0.0, -1.0]]
    assert torch.autograd.grad(weighted.sum(), anchor)[0].tolist() == [[-0.5, -1.0]]


@pytest.mark.parametrize("norm", [1, 2])
def test_equal_points_have_a_gradient_of_zero_not_nan(norm):
    point = torch.ones(1, 3, requires_grad=True)
    distance = norm_distance(point, torch.ones(1, 3), norm)
    assert distance.item() == 0 and torch.autograd.grad(distance.sum(), point)[0].abs().max() == 0


def test_the_soft_loss_neither_overflows_nor_vanishes():
    near, far = torch.tensor([500.0, 0.0]), torch.tensor([0.0, 50.0])
    loss = triplet_loss(near, far, None)
    assert loss[0] == 500 and 0 < loss[1] < 1e-20


def test_defaults_are_the_thesis_s(data):
    arguments = AdaTripletVAE(mlp_vae(data)).arguments
    assert arguments == dict(
        beta=0.01, alpha=1.0, margin=10.0, norm=1, by="scaled_l1", num_triplets=512, decoder_gradient=True,
        reconstruction="mse", reduction="mean", shared_weight=(1.0, 0.5), strength=0.5, differences="absolute",
    )  # fmt: skip
    assert AdaTripletVAE.learning_rate == 1e-3
