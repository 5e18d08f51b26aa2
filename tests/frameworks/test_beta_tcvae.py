"""β-TCVAE: its three terms against a loop over samples, posteriors and latents, and what its weights add up to."""

import pytest
import torch
from torch.distributions import Normal

from course_lib.frameworks import BetaTCVAE, BetaVAE
from course_lib.models import mlp_vae


def brute_force(framework, images, eps, weight):
    """The latent terms by loops, in float64: weight(i, j) is w_ij."""
    q = framework.model.encode(images)
    mean, std = q.mean.double(), torch.exp(q.log_variance.double() / 2)
    z = mean + std * eps
    size, latents = z.shape
    mutual = total = dimension = 0.0
    for i in range(size):
        density = torch.stack([Normal(mean[j], std[j]).log_prob(z[i]).exp() for j in range(size)])  # (B, D)
        weights = torch.tensor([weight(i, j) for j in range(size)], dtype=torch.float64)
        log_joint = (weights * density.prod(1)).sum().log()
        log_marginals = sum((weights * density[:, d]).sum().log() for d in range(latents))
        log_prior = Normal(0.0, 1.0).log_prob(z[i]).sum()
        kl = 0.5 * (mean[i] ** 2 + std[i] ** 2 - 1 - 2 * std[i].log()).sum()
        mutual = mutual + kl - (log_joint - log_prior)
        total = total + log_joint - log_marginals
        dimension = dimension + log_marginals - log_prior
    return mutual / size, total / size, dimension / size


WEIGHTS = {
    "mws": lambda i, j: 1 / (8 * 1000),
    "mss": lambda i, j: 1 / 1000 if i == j else (1 - 1 / 1000) / 7,
    "batch": lambda i, j: 1 / 8,
}


@pytest.mark.parametrize("estimator", ["mws", "mss", "batch"])
def test_terms_equal_the_loops_with_gradients(estimator, data, batch, at, noise, gradient):
    framework, views = BetaTCVAE(mlp_vae(data, 3), 6.0, estimator=estimator, dataset_size=1000), batch()
    terms = framework.loss(views, at())
    mutual, total, dimension = brute_force(framework, views[0], noise(8, 3).double(), WEIGHTS[estimator])
    expected = {"mutual_information": mutual, "total_correlation": 6.0 * total, "dimension_wise_kl": dimension}
    assert list(terms) == ["reconstruction", *expected]
    for name, value in expected.items():
        torch.testing.assert_close(terms[name].double(), value, rtol=1e-4, atol=1e-5)
        ours, theirs = gradient(terms[name], framework), gradient(value, framework)
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("estimator", ["mws", "mss", "batch"])
def test_the_sum_is_rec_plus_kl_plus_beta_less_one_tc(estimator, reduction, data, batch, at):
    """The faults: β·KL + (β − 1)·TC, and a KL divided by the number of latents beside a TC that is not."""
    model, views = mlp_vae(data, 3), batch()
    terms = BetaTCVAE(model, 6.0, estimator=estimator, reduction=reduction).loss(views, at())
    vae = BetaVAE(model, 1.0, reduction=reduction).loss(views, at())
    expected = sum(vae.values()) + 5.0 / 6.0 * terms["total_correlation"]
    torch.testing.assert_close(sum(terms.values()), expected, rtol=1e-5, atol=1e-4)
    plain = BetaTCVAE(model, 1.0, estimator=estimator, reduction=reduction).loss(views, at())
    torch.testing.assert_close(sum(plain.values()), sum(vae.values()), rtol=1e-5, atol=1e-4)


def test_the_dataset_s_size_comes_with_the_model(data, batch, at):
    model = mlp_vae(data, 3)
    implicit, explicit = (BetaTCVAE(model, dataset_size=size).loss(batch(), at()) for size in (None, len(data)))
    other = BetaTCVAE(model, dataset_size=10 * len(data)).loss(batch(), at())
    assert implicit == explicit
    shift = 2.302585 * (3 - 1)  # MWS: log N once in the joint, D times in the marginals
    torch.testing.assert_close((other["total_correlation"] - implicit["total_correlation"]) / 6, torch.tensor(shift))
