"""What an encoder may return, and from where: the score is the same to 10⁻³."""

from copy import deepcopy

import numpy as np
import pytest
import torch

from course_lib import metrics
from course_lib.frameworks import BetaVAE
from course_lib.metrics import Encodings
from course_lib.models import mlp_vae

SCORES = sorted(metrics.SCORES)
FORMS = {
    "float64": lambda latents: latents.double(),
    "array": lambda latents: latents.numpy(),
    "array of float64, by columns": lambda latents: np.asfortranarray(latents.double().numpy()),
    "by columns": lambda latents: latents.T.contiguous().T,
    "every second": lambda latents: latents.repeat_interleave(2, 1)[:, ::2],
    "with gradient": lambda latents: torch.nn.Parameter(latents),
    "real parts of complex numbers": lambda latents: torch.complex(latents, latents).conj().real,
    "nested lists": lambda latents: latents.tolist(),
}


@pytest.fixture(scope="module")
def grid(tiny_grid):
    return tiny_grid(5, 4, 3)


def encode(images):
    """Latents (B, 4) that mix the factors and bend them."""
    factors = images.flatten(1).float()
    mixing = torch.tensor([[1.0, 0.3, 0.0, 0.5], [0.0, 1.0, 0.2, 0.0], [0.1, 0.0, 1.0, 0.7]])
    return torch.tanh(factors @ mixing * 0.4)


@pytest.fixture(scope="module")
def expected(grid, quick):
    return {name: quick(name, Encodings(encode, grid)).values for name in SCORES}


@pytest.mark.parametrize("form", FORMS)
def test_the_form_of_the_latents_does_not_matter(grid, quick, expected, form):
    table = Encodings(lambda images: FORMS[form](encode(images)), grid)
    for name in SCORES:
        assert quick(name, table).values == pytest.approx(expected[name], abs=1e-3), name


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_taken_as_it_is(grid, quick, dtype):
    """Rounded, and then as good as the same numbers in float32; only the rounding itself may change a score."""
    halves, singles = (
        Encodings(lambda images, last=last: encode(images).to(dtype).to(last), grid) for last in (dtype, torch.float32)
    )
    for name in SCORES:
        assert quick(name, halves).values == quick(name, singles).values, name


@pytest.fixture(scope="module")
def framework(grid):
    grid.std = (1 / 255,)  # pixels from 0 to 4 are then as far apart as those of an image
    return BetaVAE(mlp_vae(grid, 5))


@pytest.fixture(scope="module")
def usual(grid, framework, quick):
    table = Encodings(framework.encode, grid)
    return {name: quick(name, table).values for name in SCORES}


@pytest.mark.parametrize("batch_size", [1, 37])
def test_the_batch_size_does_not_matter(grid, framework, quick, usual, batch_size):
    """The products of matrices of another size round differently, and trees choose between nearly equal latents."""
    table = Encodings(framework.encode, grid, batch_size=batch_size)
    for name in SCORES:
        assert quick(name, table).values == pytest.approx(usual[name], abs=1e-3), name


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("where", ["model", "images", "both"])
def test_the_device_does_not_matter(grid, framework, quick, usual, where):
    framework = deepcopy(framework).to("cpu" if where == "images" else "cuda")
    table = Encodings(framework.encode, grid, device="cpu" if where == "model" else "cuda")
    for name in SCORES:
        assert quick(name, table).values == pytest.approx(usual[name], abs=1e-3), name


@pytest.mark.parametrize("score", [metrics.gaussian_total_correlation, metrics.wasserstein_correlation])
def test_a_framework_s_posterior_gives_the_sampled_representation(small, score):
    framework = BetaVAE(mlp_vae(small, 5))
    found = score(framework.encode, small, posterior=framework.posterior)
    index = torch.randint(4096, (10_000,), generator=torch.Generator().manual_seed(0))  # what seed 0 draws
    mean, log_variance = framework.model.encode(small.observations(index))
    expected = score.from_samples(mean.detach(), log_variance=log_variance.detach())
    assert found.values == pytest.approx(expected.values, rel=1e-4, abs=1e-7)
    assert {f"sampled_{name}" for name in score(framework.encode, small).values} <= found.values.keys()


def test_an_encoder_that_returns_a_gaussian_is_told_what_to_pass(grid, framework):
    with pytest.raises(ValueError, match="encode: got a DiagonalGaussian; allowed are latents"):
        metrics.mig(framework.posterior, grid)
