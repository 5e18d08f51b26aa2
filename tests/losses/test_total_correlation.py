"""Estimators of the aggregate posterior: their weights, their bias on known Gaussians, and their numerics."""

import math

import pytest
import torch

from course_lib.losses import ESTIMATORS, aggregate_log_densities
from course_lib.losses.total_correlation import log_weights
from course_lib.models import DiagonalGaussian

IMAGES, BATCH = 4096, 256


def aggregate(latent_dim, log_variance, correlation, images=IMAGES):
    """Posteriors of `images` images, float64: means from a Gaussian whose coordinates are correlated alike."""
    covariance = torch.full((latent_dim, latent_dim), correlation, dtype=torch.float64).fill_diagonal_(1)
    normal = torch.randn(images, latent_dim, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    means = normal @ torch.linalg.cholesky(covariance).T
    return DiagonalGaussian(means, torch.full_like(means, log_variance))


def true_total_correlation(q, samples=1000):
    """E log q(z) / ∏ q(z_d) over samples of q(z), the density summed over all images: Monte Carlo, no estimator."""
    generator = torch.Generator().manual_seed(1)
    z = q.at(torch.randint(len(q.mean), (samples,), generator=generator)).rsample(generator)
    ratios = []
    for part in z.split(50):
        density = q.log_density(part.unsqueeze(1)).exp()
        ratios.append(density.prod(2).mean(1).log() - density.mean(1).log().sum(1))
    return torch.cat(ratios).mean().item()


def estimates(q, estimator, batches=12):
    generator = torch.Generator().manual_seed(2)
    values = []
    for _ in range(batches):
        posterior = q.at(torch.randperm(len(q.mean), generator=generator)[:BATCH])
        joint, marginals = aggregate_log_densities(posterior.rsample(generator), posterior, estimator, IMAGES)
        values.append((joint - marginals.sum(1)).mean().item())
    return sum(values) / len(values)


# What each estimator gives less the truth, in nats, between bounds that leave room for another draw of the means: the
# orders and sizes are the lesson, not the digits.
@pytest.mark.parametrize(
    ("case", "truth", "bias"),
    [
        ((6, -2.0, 0.0), (0.2, 0.4), {"mws": (40, 45), "mss": (-0.7, -0.2), "batch": (0.8, 1.3)}),
        ((6, -2.0, 0.5), (0.9, 1.3), {"mws": (40, 45), "mss": (-0.6, -0.1), "batch": (0.4, 1.0)}),
        ((10, -4.0, 0.1), (11, 12.5), {"mws": (75, 80), "mss": (0.0, 0.8), "batch": (2.0, 3.2)}),
    ],
)
def test_the_bias_table(case, truth, bias):
    q = aggregate(*case)
    true = true_total_correlation(q)
    assert truth[0] < true < truth[1]
    for estimator, (low, high) in bias.items():
        assert low < estimates(q, estimator) - true < high, estimator


def test_forgetting_to_divide_by_the_batch_is_worse_than_any_estimator():
    """Log-sum-exp without its 1/B subtracts log B once from the joint and D times from the marginals."""
    q = aggregate(6, -2.0, 0.0)
    without = estimates(q, "batch") - (6 - 1) * math.log(BATCH)
    assert -27 < without < -25.5


@pytest.mark.slow
def test_the_batch_estimate_fails_on_fresh_images():
    """Appendix D of the FactorVAE paper: with the batch's own samples all seems well, with fresh ones it collapses."""
    q, generator = aggregate(10, 2 * math.log(0.1), 0.0), torch.Generator().manual_seed(3)
    q = DiagonalGaussian(q.mean.float(), q.log_variance.float())
    batch, fresh = q.at(slice(0, 2000)), q.at(slice(2000, 4000))
    results = []
    for source in (batch, fresh):
        joint, marginals = aggregate_log_densities(source.rsample(generator), batch, "batch", IMAGES)
        results.append((joint - marginals.sum(1)).mean().item())
    assert 13 < results[0] < 17 and results[1] < -100


def test_rows_of_the_stratified_weights_sum_to_one():
    """The fault: placed by striding a flattened matrix, they land in the first column, and one row sums to 1.31."""
    weights = log_weights("mss", BATCH, IMAGES).double().exp()
    torch.testing.assert_close(weights.sum(1), torch.ones(BATCH, dtype=torch.float64), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(weights.diagonal(), torch.full((BATCH,), 1 / IMAGES, dtype=torch.float64))
    assert weights[0, 1] == weights[5, 0] == weights[7, 3]


def test_stratified_weights_average_the_paper_s_over_its_odd_one_out():
    """The paper: 1/N for the own sample, (N − M)/(N·M) for one other, 1/M for the rest, where M = B − 1."""
    batch, images = 8, 1000
    others = batch - 1
    paper = [1 / others] * (others - 1) + [(images - others) / (images * others)]
    assert log_weights("mss", batch, images)[0, 1].exp().item() == pytest.approx(sum(paper) / others, rel=1e-5)


def test_the_stratified_density_is_unbiased():
    """Over many batches, its average density comes to that of the whole dataset; the batch estimate's is too high."""
    q = aggregate(2, 0.0, 0.0, images=200)
    own = q.at(slice(0, 1))
    z = own.mean + 0.3
    exact = q.log_density(z).sum(1).exp().mean().item()
    generator, means = torch.Generator().manual_seed(0), {"mss": [], "batch": []}
    for _ in range(4000):
        others = 1 + torch.randperm(199, generator=generator)[:7]
        batch = q.at(torch.cat([torch.zeros(1, dtype=torch.int64), others]))
        for estimator, values in means.items():
            joint, _ = aggregate_log_densities(z.expand(8, -1), batch, estimator, 200)
            values.append(joint[0].exp().item())
    averages = {name: torch.tensor(values).mean().item() for name, values in means.items()}
    spread = torch.tensor(means["mss"]).std().item() / 4000**0.5
    assert abs(averages["mss"] - exact) < 4 * spread < 0.1 * exact
    assert averages["batch"] > exact + 10 * spread


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_narrow_posteriors_in_many_dimensions_stay_finite(estimator):
    q = aggregate(32, -8.0, 0.0, images=64)
    q = DiagonalGaussian(*(statistic.float().requires_grad_() for statistic in q))
    joint, marginals = aggregate_log_densities(q.rsample(torch.Generator().manual_seed(0)), q, estimator, 10**6)
    gradients = torch.autograd.grad((joint - marginals.sum(1)).mean(), q)
    assert joint.isfinite().all() and marginals.isfinite().all()
    assert all(gradient.isfinite().all() for gradient in gradients)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_dataset_s_size_may_be_a_tensor(estimator):
    ours, theirs = (log_weights(estimator, 8, size) for size in (1000, torch.tensor(1000)))
    torch.testing.assert_close(ours, theirs)


def test_the_batch_estimator_does_not_look_at_the_dataset_s_size():
    for size in (None, 0, torch.tensor(0)):
        assert torch.equal(log_weights("batch", 8, size), log_weights("batch", 8, 1000))
