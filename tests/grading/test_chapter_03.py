"""Chapter 3's exercises beyond what is tested for all chapters: their examples, and the library's own answers."""

import pytest
import torch
from scipy.optimize import minimize

from course_grading.checks import ch03_beta_vae_and_capacity as ch03
from course_lib.frameworks import AnnealedVAE, BetaVAE, Step
from course_lib.models import mlp_vae
from course_replication.measurements.training import dataset

# 03.1 -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("variance", "beta"), [(8.0, 4.0), (3.0, 1.0), (2.0, 3.9), (1.0, 4.0)])
def test_the_best_linear_code_of_one_direction_by_search(variance, beta):
    """Over gain, weight and posterior variance, without any derivative set to zero."""

    def terms(parameters):
        gain, weight, log_variance = torch.tensor(parameters, dtype=torch.float64)
        spread = log_variance.exp()
        distortion = (1 - weight * gain) ** 2 * variance + weight**2 * spread
        return distortion, 0.5 * (gain**2 * variance + spread - 1 - log_variance)

    def loss(parameters):
        distortion, rate = terms(parameters)
        return (distortion + beta * rate).item()

    found = minimize(
        loss, [0.5, 0.5, -0.5], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 9999}
    )
    distortion, rate = (part.item() for part in terms(found.x))
    expected = ch03.under_water(torch.tensor([[variance]], dtype=torch.float64), beta)[0].tolist()
    assert [rate, distortion] == pytest.approx(expected, abs=1e-4)


def test_the_example_under_water():
    rate, distortion = ch03.under_water(torch.tensor([[8.0, 1.0]], dtype=torch.float64), 4.0)[0].tolist()
    assert (round(rate, 3), distortion) == (0.693, pytest.approx(3))


# 03.2 -----------------------------------------------------------------------------------------------------------------


def test_the_posterior_by_integration():
    looks, weight, noise = torch.tensor([[1.0, 3.0, 2.5]], dtype=torch.float64), 0.8, 0.6
    z = torch.linspace(-12, 12, 200_001, dtype=torch.float64)
    density = (-0.5 * z**2 - ((looks.T - weight * z) ** 2).sum(0) / (2 * noise)).exp()
    density = density / density.sum()
    mean = (density * z).sum()
    expected = [mean.item(), (density * (z - mean) ** 2).sum().item()]
    assert ch03.after_looks(looks, weight, noise)[0].tolist() == pytest.approx(expected, rel=1e-6)


def test_the_example_of_two_looks():
    found = ch03.after_looks(torch.tensor([[1.0, 3.0]], dtype=torch.float64), 1.0, 1.0)[0].tolist()
    assert found == pytest.approx([4 / 3, 1 / 3])


# 03.3 -----------------------------------------------------------------------------------------------------------------


def test_a_carried_price_has_the_same_gradients():
    """The library's β-VAE by sums on images whose pixels are repeated, and by means on the plain ones."""
    small = dataset("XYSquares", spacing=2, square_size=2, squares=1, image_size=16)
    images, model = small.observations(torch.arange(16)), mlp_vae(small, 3, hidden=(8,))
    beta = ch03.carried(*(torch.tensor([value], dtype=torch.float64) for value in (5.0, 1024, 10, 256, 3))).item()
    posterior = model.encode(images)
    decoded = model.decode(posterior.rsample(torch.Generator().manual_seed(0)))
    large = (decoded - images).repeat_interleave(2, 2).repeat_interleave(2, 3)
    kl = 0.5 * (posterior.mean.square() + posterior.variance - 1 - posterior.log_variance)
    theirs = large.square().flatten(1).sum(1).mean() + 5.0 * kl.sum(1).mean()
    step = Step(torch.tensor(0), 1, torch.Generator().manual_seed(0))
    ours = sum(BetaVAE(model, beta, reduction="mean").loss(images.unsqueeze(0), step).values())
    gradients = [torch.autograd.grad(loss, model.encoder[1].weight, retain_graph=True)[0] for loss in (theirs, ours)]
    torch.testing.assert_close(gradients[0], gradients[1] * 1024, rtol=1e-4, atol=1e-3)


def test_the_example_of_a_carried_price():
    found = ch03.carried(*(torch.tensor([value], dtype=torch.float64) for value in (4, 4096, 10, 256, 10))).item()
    assert round(found, 5) == 0.00977


# 03.4 -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [0, 30, 100, 400])
def test_the_capacity_loss_is_the_librarys(index):
    small = dataset("XYSquares", spacing=2, square_size=2, squares=1, image_size=16)
    images, model = small.observations(torch.arange(16)), mlp_vae(small, 3, hidden=(8,))
    step = Step(torch.tensor(index), 100, torch.Generator().manual_seed(0))
    theirs = sum(AnnealedVAE(model, 20.0, capacity=6, steps=100).loss(images.unsqueeze(0), step).values())
    posterior = model.encode(images)
    decoded = model.decode(posterior.rsample(torch.Generator().manual_seed(0)))
    ours = ch03.capacity_loss(decoded, images, *posterior, index, 100, 6.0, 20.0)
    torch.testing.assert_close(ours, theirs)


# 03.5 -----------------------------------------------------------------------------------------------------------------


def test_the_examples_of_entry_prices():
    images, factors = torch.tensor([[0.0], [4.0]], dtype=torch.float64), torch.tensor([[0], [1]])
    assert ch03.entry_prices(images, factors).tolist() == pytest.approx([8])
    apart = 3 * torch.eye(8, dtype=torch.float64)  # equal distances of 18: seven directions share the variance
    assert ch03.entry_prices(apart, torch.arange(8).unsqueeze(1)).tolist() == pytest.approx([2 * 9 / 8])


# 03.6 -----------------------------------------------------------------------------------------------------------------


def test_rows_in_any_case(judged):
    assert judged("03.6", {name.lower(): word.upper() for name, word in reversed(ch03.ROWS.items())}).passed
