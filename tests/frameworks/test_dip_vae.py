"""DIP-VAE against numpy.cov."""

import numpy as np
import pytest
import torch

from course_lib.frameworks import DIPVAE, BetaVAE
from course_lib.models import mlp_vae


@pytest.mark.parametrize("variant", ["I", "II"])
def test_terms_equal_numpy_s_covariance(variant, data, batch, at):
    framework, views = DIPVAE(mlp_vae(data, 4), variant, lambda_od=3.0, lambda_d=7.0), batch()
    terms, vae = framework.loss(views, at()), BetaVAE(framework.model).loss(views, at())
    with torch.no_grad():
        q = framework.model.encode(views[0])
    covariance = np.cov(q.mean.double().numpy(), rowvar=False, ddof=0)
    if variant == "II":
        covariance = covariance + np.diag(np.exp(q.log_variance.double().numpy()).mean(0))
    off = covariance - np.diag(np.diag(covariance))
    assert list(terms) == ["reconstruction", "kl", "off_diagonal", "diagonal"]
    assert terms["reconstruction"] == vae["reconstruction"] and terms["kl"] == vae["kl"]
    assert terms["off_diagonal"].item() == pytest.approx(3.0 * (off**2).sum(), rel=1e-4)
    assert terms["diagonal"].item() == pytest.approx(7.0 * ((np.diag(covariance) - 1) ** 2).sum(), rel=1e-4)


@pytest.mark.parametrize("variant", ["I", "II"])
def test_gradients_equal_torch_cov(variant, data, batch, at, gradient):
    framework, views = DIPVAE(mlp_vae(data, 4), variant), batch()
    terms = framework.loss(views, at())
    q = framework.model.encode(views[0])
    covariance = torch.cov(q.mean.T, correction=0)
    if variant == "II":
        covariance = covariance + torch.diag(q.variance.mean(0))
    squares = {"off_diagonal": 0.0, "diagonal": 0.0}
    for i in range(4):
        for j in range(4):
            name = "diagonal" if i == j else "off_diagonal"
            squares[name] = squares[name] + (covariance[i, j] - float(i == j)) ** 2
    for name, weight in (("off_diagonal", framework.lambda_od), ("diagonal", framework.lambda_d)):
        ours, theirs = gradient(terms[name], framework), gradient(weight * squares[name], framework)
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-5)


def test_every_latent_s_variance_counts_not_the_diagonal_of_a_batch(data, at, batch):
    """The fault: `diag` of the (B, D) variances takes image 0's first latent, image 1's second, and so on."""
    framework, views = DIPVAE(mlp_vae(data, 4), "II", lambda_od=0.0, lambda_d=1.0), batch()
    with torch.no_grad():
        framework.model.encoder[-1].weight.zero_()
        framework.model.encoder[-1].bias.copy_(torch.tensor([0.0] * 4 + [0.0, 1.0, 2.0, 3.0]))
    expected = sum((torch.tensor(float(k)).exp() - 1) ** 2 for k in range(4))
    torch.testing.assert_close(framework.loss(views, at())["diagonal"], expected)


@pytest.mark.parametrize(("variant", "lambda_d"), [("I", 50.0), ("II", 5.0)])
def test_defaults_are_the_paper_s(variant, lambda_d, data):
    assert DIPVAE(mlp_vae(data), variant, lambda_od=5.0).lambda_d == lambda_d
