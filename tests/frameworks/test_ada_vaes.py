"""Ada-GVAE and Ada-ML-VAE against a loop over pairs and latents, and what their averages do to known posteriors."""

import math

import pytest
import torch
from torch.distributions import Normal, kl_divergence

from course_lib.factors import FactorSpace
from course_lib.frameworks import AdaGVAE, AdaMLVAE, BetaVAE
from course_lib.losses import shared_latents, symmetric_kl
from course_lib.models import DiagonalGaussian, mlp_vae
from course_lib.sampling import pairs


def averaged(kind, mean, variance):
    """Mean and variance of a shared latent, from the two of each."""
    if kind == "gvae":
        return mean.mean(), variance.mean()
    precision = 1 / variance
    product = (mean * precision).sum() / precision.sum(), 1 / precision.sum()
    return (product[0], 2 * product[1]) if kind == "harmonic" else product


def expected_terms(kind, framework, views, eps):
    """Pair by pair and latent by latent, as the paper's text says it."""
    q = framework.model.encode(views.flatten(0, 1))
    means, variances = q.mean.view(2, -1, 3), q.log_variance.exp().view(2, -1, 3)
    new_mean, new_variance = means.clone(), variances.clone()
    for b in range(means.shape[1]):
        first, second = (Normal(means[v, b], variances[v, b].sqrt()) for v in range(2))
        delta = 0.5 * kl_divergence(first, second) + 0.5 * kl_divergence(second, first)
        threshold = 0.5 * (delta.min() + delta.max())
        for d in range(3):
            if delta[d] < threshold:
                m, v = averaged(kind, means[:, b, d], variances[:, b, d])
                new_mean[:, b, d], new_variance[:, b, d] = m, v
    mean, variance = new_mean.flatten(0, 1), new_variance.flatten(0, 1)
    decoded = framework.model.decode(mean + variance.sqrt() * eps)
    reconstruction = ((decoded - views.flatten(0, 1)) ** 2).mean()
    return reconstruction, framework.beta * (0.5 * (mean**2 + variance - 1 - variance.log())).mean()


KINDS = {
    "gvae": lambda model: AdaGVAE(model, 2.0),
    "harmonic": lambda model: AdaMLVAE(model, 2.0),
    "product": lambda model: AdaMLVAE(model, 2.0, variance="product"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_terms_equal_the_loop_with_gradients(kind, data, batch, at, noise, gradient):
    framework, views = KINDS[kind](mlp_vae(data, 3)), batch(2)
    with torch.no_grad():  # spread the posteriors, so that averaging matters
        framework.model.encoder[-1].weight.mul_(30)
    terms = framework.loss(views, at())
    assert list(terms) == ["reconstruction", "kl"]
    for ours, theirs in zip(terms.values(), expected_terms(kind, framework, views, noise(16, 3)), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(gradient(ours, framework), gradient(theirs, framework), rtol=1e-3, atol=1e-5)


def random_gaussian(seed):
    return DiagonalGaussian(*torch.randn(2, 50, 4, generator=torch.Generator().manual_seed(seed)).double())


def test_symmetric_kl_equals_torch_s_two_divergences():
    first, second = random_gaussian(0), random_gaussian(1)
    p, q = (Normal(g.mean, (g.log_variance / 2).exp()) for g in (first, second))
    torch.testing.assert_close(symmetric_kl(first, second), 0.5 * kl_divergence(p, q) + 0.5 * kl_divergence(q, p))
    assert (symmetric_kl(first, first) == 0).all()


def test_variances_are_averaged_not_standard_deviations(data):
    """The fault: the thesis' Eq. 2.16 averages σ. For σ² = 1 and 9 that gives 4, the original 5."""
    first, second = (DiagonalGaussian(torch.zeros(1, 1), torch.full((1, 1), math.log(v))) for v in (1.0, 9.0))
    assert AdaGVAE(mlp_vae(data)).average(first, second).variance.item() == pytest.approx(5.0)


def test_equal_posteriors_stay_as_they_are_unless_the_product_is_asked_for(data):
    q = random_gaussian(0)
    for kind, factor in (("gvae", 1.0), ("harmonic", 1.0), ("product", 0.5)):
        average = KINDS[kind](mlp_vae(data)).average(q, q)
        torch.testing.assert_close(average.mean, q.mean)
        torch.testing.assert_close(average.variance, factor * q.variance)


def test_averages_of_extreme_variances_are_finite(data):
    first, second = (DiagonalGaussian(torch.ones(1, 1), torch.full((1, 1), v)) for v in (-200.0, 200.0))
    for build in KINDS.values():
        average = build(mlp_vae(data)).average(first, second)
        assert average.mean.item() == 1 and average.log_variance.isfinite().all()


def test_shared_is_strictly_below_the_threshold():
    """δ = 0, 1, 2 has τ = 1: the latent on the threshold is not shared; nor is any when all are equal."""
    differences = torch.tensor([[0.0, 1.0, 2.0], [3.0, 3.0, 3.0], [0.0, 0.0, 8.0]])
    expected = torch.tensor([[True, False, False], [False, False, False], [True, True, False]])
    assert torch.equal(shared_latents(differences), expected)
    assert not shared_latents(differences, 0.0).any()
    uneven = torch.rand(1000, 7, generator=torch.Generator().manual_seed(0))
    assert (shared_latents(uneven, 1.0).sum(1) == 6).all()  # at η = 1 all but the largest, to the last bit


def test_pairs_change_k_factors_each_really_and_k_is_uniform(data):
    """The faults: k drawn twice, so that k = 1 has half the pairs; "changed" factors that keep their value."""
    framework = AdaGVAE(mlp_vae(data))
    first, second = data.space.factors(framework.sample(data.space, 20_000, torch.Generator().manual_seed(0)))
    changed = (first != second).sum(1)
    shares = torch.bincount(changed, minlength=5)[1:].double() / 20_000
    assert changed.min() == 1 and (shares - 0.25).abs().max() < 4 * (0.25 * 0.75 / 20_000) ** 0.5


def test_the_range_of_k_is_an_argument_and_survives_saving(data, tmp_path):
    from course_lib.frameworks import load_framework

    framework = AdaGVAE(mlp_vae(data), k=(1, 3))
    framework.save(tmp_path / "model")
    restored = load_framework(tmp_path / "model")
    assert restored.k == (1, 3)
    indices = [f.sample(data.space, 500, torch.Generator().manual_seed(0)) for f in (framework, restored)]
    assert torch.equal(*indices) and (data.space.factors(indices[0]).diff(dim=0) != 0).sum(2).max() == 3
    assert torch.equal(indices[0], pairs(data.space, 500, torch.Generator().manual_seed(0), k=(1, 3)))


def test_two_generators_give_other_pairs():
    """The fault: workers that share a global generator repeat each other's pairs."""
    space = FactorSpace(("a", "b"), (50, 50))
    torch.manual_seed(0)
    first, second = (pairs(space, 200, torch.Generator().manual_seed(seed)) for seed in (0, 1))
    assert (first == second).float().mean() < 0.05


def test_a_pair_of_equal_images_is_a_beta_vae(data, batch, at):
    """Nothing is below a threshold of 0, and twice the same image costs what it costs once."""
    views = batch(1).expand(2, -1, -1, -1, -1)
    framework = AdaGVAE(mlp_vae(data, 3), 2.0)
    vae = BetaVAE(framework.model, 2.0, reduction="mean")
    assert framework.loss(views, at())["kl"].item() == pytest.approx(vae.loss(views[:1], at())["kl"].item(), rel=1e-5)
