"""A term that compares the images of a batch is refused where there is one image, instead of vanishing silently."""

import pytest
import torch

from course_lib.data import XYSquares
from course_lib.frameworks import DIPVAE, ISATCVAE, BetaTCVAE, BetaVAE, FactorVAE, InfoGAN, TripletVAE
from course_lib.losses import aggregate_log_densities, permuted_latents
from course_lib.models import DiagonalGaussian, conv_gan, mlp_gan, mlp_vae
from course_lib.sampling import batch_triplets
from course_lib.training import fit

DATA = XYSquares(2, 2, squares=2, image_size=16)
COMPARING = {
    "DIP-VAE I": lambda model: DIPVAE(model),
    "DIP-VAE II": lambda model: DIPVAE(model, "II"),
    "mws": lambda model: BetaTCVAE(model, estimator="mws"),
    "mss": lambda model: BetaTCVAE(model, estimator="mss"),
    "batch": lambda model: BetaTCVAE(model, estimator="batch"),
    "ISA-TCVAE": lambda model: ISATCVAE(model),
    "FactorVAE": lambda model: FactorVAE(model, hidden=(4,)),
    "perceived triplets": lambda model: TripletVAE(model, by="perceived"),
}


@pytest.mark.parametrize("name", COMPARING)
def test_a_batch_of_one_is_refused_and_a_batch_of_two_is_not(name):
    run = dict(steps=1, device="cpu")
    with pytest.raises(ValueError, match="batch_size: got 1; .*allow.* integers from 2"):
        fit(COMPARING[name](mlp_vae(DATA, 2)), DATA, batch_size=1, **run)
    assert fit(COMPARING[name](mlp_vae(DATA, 2)), DATA, batch_size=2, **run).steps == 1


def test_batch_normalisation_refuses_it_too():
    run = dict(steps=1, device="cpu")
    for gan in (conv_gan(DATA), mlp_gan(DATA)):
        with pytest.raises(ValueError, match="batch_size: got 1; batch normalisation, a statistic .* integers from 2"):
            fit(InfoGAN(gan), DATA, batch_size=1, **run)
        assert fit(InfoGAN(gan), DATA, batch_size=2, **run).steps == 1


def test_other_frameworks_may_have_batches_of_one():
    assert fit(BetaVAE(mlp_vae(DATA, 2)), DATA, batch_size=1, steps=1, device="cpu").steps == 1


@pytest.mark.parametrize("estimator", ["mws", "mss", "batch"])
def test_the_terms_themselves_refuse_it(estimator):
    one, draw = torch.zeros(1, 3), torch.Generator()
    with pytest.raises(ValueError, match="batch_size: got 1"):
        aggregate_log_densities(one, DiagonalGaussian(one, one), estimator, 100)
    with pytest.raises(ValueError, match="batch_size: got 1"):
        permuted_latents(one, draw)
    with pytest.raises(ValueError, match="batch_size: got 1"):
        batch_triplets(1, 5, draw, lambda first, second: torch.zeros(5))
