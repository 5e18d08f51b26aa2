"""The β-VAE's objective against torch.distributions, and what every framework promises: encode, generate, save."""

import pytest
import torch
from torch.distributions import Independent, Normal, kl_divergence

from course_lib.data import XYSquares
from course_lib.frameworks import BetaVAE, Step, load_framework
from course_lib.models import DiagonalGaussian, conv_vae, mlp_vae
from course_lib.storage import write_tensors

DATA = XYSquares(2, 2, squares=2, image_size=16)
VIEWS = DATA.observations(torch.arange(100, 108)).unsqueeze(0)


def step(seed=0):
    return Step(torch.tensor(0), 10, torch.Generator().manual_seed(seed))


def gradients(framework, loss):
    return torch.cat([grad.flatten() for grad in torch.autograd.grad(loss, list(framework.parameters()))])


@pytest.mark.parametrize("beta", [0.0, 1.0, 4.0])
def test_loss_is_the_negative_elbo_of_torch_distributions(beta):
    framework = BetaVAE(mlp_vae(DATA, 3), beta)
    terms = framework.loss(VIEWS, step())
    q = framework.model.encode(VIEWS[0])
    noise = torch.randn(q.mean.shape, generator=torch.Generator().manual_seed(0))
    posterior = Independent(Normal(q.mean, torch.exp(q.log_variance / 2)), 1)
    decoded = framework.model.decode(q.mean + torch.exp(q.log_variance / 2) * noise)
    reconstruction = ((VIEWS[0] - decoded) ** 2).sum((1, 2, 3)).mean()
    kl = kl_divergence(posterior, Independent(Normal(torch.zeros_like(q.mean), 1.0), 1)).mean()
    assert list(terms) == ["reconstruction", "kl"]
    torch.testing.assert_close(terms["reconstruction"], reconstruction)
    torch.testing.assert_close(terms["kl"], beta * kl)
    ours = gradients(framework, sum(framework.loss(VIEWS, step()).values()))
    torch.testing.assert_close(ours, gradients(framework, reconstruction + beta * kl), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("reconstruction", ["mse", "bce"])
def test_reductions_give_one_gradient_up_to_scale(reconstruction):
    """β_mean = β_sum · D / (C·H·W): the two losses are then the same up to the factor 1 / (C·H·W)."""
    model, pixels = mlp_vae(DATA, 3), 2 * 16 * 16
    summed = BetaVAE(model, 4.0, reduction="sum", reconstruction=reconstruction)
    averaged = BetaVAE(model, 4.0 * 3 / pixels, reduction="mean", reconstruction=reconstruction)
    first, second = (gradients(f, sum(f.loss(VIEWS, step()).values())) for f in (summed, averaged))
    torch.testing.assert_close(first, second * pixels, rtol=1e-4, atol=1e-4)


def test_noise_comes_from_the_step_alone():
    framework = BetaVAE(mlp_vae(DATA, 3))
    losses = []
    for global_seed, noise_seed in ((0, 5), (1, 5), (1, 6)):
        torch.manual_seed(global_seed)
        losses.append(framework.loss(VIEWS, step(noise_seed))["reconstruction"].item())
    assert losses[0] == losses[1] != losses[2]


def test_encode_takes_raw_and_standardised_images():
    framework = BetaVAE(conv_vae(DATA, 3))
    raw, standardised = framework.encode(DATA.images([1, 2])), framework.encode(DATA.observations([1, 2]))
    torch.testing.assert_close(raw, standardised)
    torch.testing.assert_close(framework.encode(DATA.images([1, 2]).numpy()), raw)
    assert raw.shape == (2, 3) and not raw.requires_grad


def test_encode_is_the_mean_of_the_posterior():
    framework = BetaVAE(mlp_vae(DATA, 3))
    statistics = framework.model.encoder(DATA.observations([1, 2]))
    torch.testing.assert_close(framework.encode(DATA.images([1, 2])), statistics[:, :3])


def test_the_posterior_is_the_encoder_s_of_raw_and_standardised_images():
    framework = BetaVAE(mlp_vae(DATA, 3))
    statistics = framework.model.encoder(DATA.observations([1, 2]))
    for images in (DATA.images([1, 2]), DATA.images([1, 2]).numpy(), DATA.observations([1, 2]).double()):
        posterior = framework.posterior(images)
        assert isinstance(posterior, DiagonalGaussian) and not any(part.requires_grad for part in posterior)
        torch.testing.assert_close(torch.cat(posterior, 1), statistics.detach())
        assert torch.equal(posterior.mean, framework.encode(images))
    with pytest.raises(ValueError, match=r"images: got shape \(2, 2, 8, 8\); expected \(B, 2, 16, 16\)"):
        framework.posterior(DATA.images([1, 2])[..., :8, :8])


def test_generate_maps_the_decoder_s_output_back_to_pixels():
    latents = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    squared, crossed = (BetaVAE(mlp_vae(DATA, 3), reconstruction=name) for name in ("mse", "bce"))
    raw = squared.model.decoder(latents)
    std, mean = (torch.tensor(values).view(2, 1, 1) for values in (DATA.std, DATA.mean))
    torch.testing.assert_close(squared.generate(latents), (raw * std + mean).clamp(0, 1))
    torch.testing.assert_close(crossed.generate(latents), 1 / (1 + torch.exp(-raw)))


def test_an_argument_changed_later_is_saved_too(tmp_path):
    framework = BetaVAE(mlp_vae(DATA, 3), 1.0)
    framework.beta = 4.0
    framework.save(tmp_path / "model")
    assert load_framework(tmp_path / "model").beta == 4.0


@pytest.mark.parametrize("reconstruction", ["mse", "bce"])
def test_reconstructions_are_pixels(reconstruction):
    pixels = BetaVAE(mlp_vae(DATA, 3), reconstruction=reconstruction).reconstruct(DATA.images([1, 2]))
    assert pixels.shape == (2, *DATA.shape) and pixels.min() >= 0 and pixels.max() <= 1


@pytest.mark.parametrize("build", [mlp_vae, conv_vae])
def test_save_and_load_restore_the_framework(build, tmp_path):
    framework = BetaVAE(build(DATA, 3, seed=7), 4.0, reconstruction="bce", reduction="mean")
    framework.save(tmp_path / "model.safetensors")
    restored = load_framework(tmp_path / "model.safetensors")
    assert restored.arguments == framework.arguments and restored.beta == 4.0
    assert torch.equal(restored.encode(DATA.images([3])), framework.encode(DATA.images([3])))
    torch.testing.assert_close(
        restored.generate(torch.ones(1, 3)), framework.generate(torch.ones(1, 3)), rtol=0, atol=0
    )


def test_load_refuses_what_it_did_not_write(tmp_path):
    with pytest.raises(FileNotFoundError, match="path: .*absent is not there"):
        load_framework(tmp_path / "absent")
    (tmp_path / "text").write_text("not tensors")
    with pytest.raises(ValueError, match="path: .* is not a file written by course_lib"):
        load_framework(tmp_path / "text")
    write_tensors(tmp_path / "other", {"a": torch.zeros(1)}, {"framework": "Step"})
    with pytest.raises(ValueError, match="path: .* holds no framework"):
        load_framework(tmp_path / "other")
    framework = BetaVAE(mlp_vae(DATA, 3))
    shapeless = framework.config | {"model": framework.config["model"] | {"shape": []}}
    write_tensors(tmp_path / "shapeless", framework.state_dict(), shapeless)
    with pytest.raises(ValueError, match="path: .* is from another edition"):
        load_framework(tmp_path / "shapeless")
    write_tensors(tmp_path / "empty", {}, framework.config)
    with pytest.raises(ValueError, match="path: .* its weights do not fit its configuration"):
        load_framework(tmp_path / "empty")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: BetaVAE(mlp_vae(DATA), -1.0), "beta: got -1.0"),
        (lambda: BetaVAE(mlp_vae(DATA), float("nan")), "beta: got nan"),
        (lambda: BetaVAE(mlp_vae(DATA), "1"), "beta: got '1'"),
        (lambda: BetaVAE(mlp_vae(DATA), reduction="max"), "reduction: got 'max'; allowed are 'sum', 'mean'"),
        (lambda: BetaVAE(mlp_vae(DATA), reconstruction="l1"), "reconstruction: got 'l1'; allowed are 'mse', 'bce'"),
        (lambda: BetaVAE(mlp_vae(DATA)).encode(torch.zeros(1, 3, 16, 16)), r"images: got shape \(1, 3, 16, 16\)"),
        (lambda: BetaVAE(mlp_vae(DATA)).encode(DATA.images(0)), r"images: got shape \(2, 16, 16\)"),
        (lambda: BetaVAE(mlp_vae(DATA)).encode(torch.zeros(1, 2, 16, 16, dtype=torch.int64)), "images: got dtype"),
        (lambda: BetaVAE(mlp_vae(DATA)).encode(torch.full((1, 2, 16, 16), torch.nan)), "images: got numbers that are"),
        (lambda: BetaVAE(mlp_vae(DATA, 2)).generate([[0, 1e200]]), "latents: got numbers that are NaN or infinite"),
        (lambda: BetaVAE(mlp_vae(DATA, 2)).generate([[0, 1j]]), "latents: got dtype torch.complex128"),
        (lambda: BetaVAE(mlp_vae(DATA)).save(None), "path: got None; allowed is the path of a file"),
        (lambda: load_framework(5), "path: got 5; allowed is the path of a file"),
    ],
)
def test_errors_name_the_argument_and_what_is_allowed(call, words):
    with pytest.raises(ValueError, match=words):
        call()
