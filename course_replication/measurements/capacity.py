"""Claims about the VAE and its capacity: networks, reductions, and what the divergence from the prior says."""

import math

import numpy as np
import torch
from scipy.stats import norm
from torch import Tensor, nn

from course_lib.data import DSprites, Shapes3D, XYSquares
from course_lib.frameworks import BetaVAE
from course_lib.frameworks.framework import Step
from course_lib.losses import kl_to_standard_normal
from course_lib.models import VAE, DiagonalGaussian, conv_vae, mlp_vae
from course_replication.runs import Context

AXIS = np.linspace(-12, 12, 24_001)  # on which one-dimensional integrals are sums
CLOSE = 1e-9
SPREAD, NARROW = ([0.0, 1.0, 2.0, 3.0], [1.0] * 4), ([0.0] * 4, [1.0, 0.5, 0.1, 0.01])  # means and deviations
# Table A.1: kind of layer, what goes in and what comes out; 0 stands for the channels of an image, −1 for the latents.
ENCODER = (("conv", 0, 32), ("conv", 32, 32), ("conv", 32, 64), ("conv", 64, 64), ("linear", 1024, 256))
DECODER = (
    ("linear", -1, 256), ("linear", 256, 1024), ("upconv", 64, 64), ("upconv", 64, 32), ("upconv", 32, 32),
    ("upconv", 32, 0),
)  # fmt: skip


def layers(context: Context) -> dict[str, bool]:
    """The layers of the convolutional VAE, for 1 and 3 channels and 9 and 25 latents, against Table A.1."""
    good, tried = [], []
    for data in (DSprites(), Shapes3D()):
        for latents in (9, 25):
            model, sizes = conv_vae(data, latents), {0: data.shape[0], -1: latents}
            printed = [(kind, sizes.get(wide, wide), sizes.get(narrow, narrow)) for kind, wide, narrow in DECODER]
            good.append(_layers(model.decoder) == printed and _activations(model.decoder) == len(DECODER) - 1)
            printed = [(kind, sizes.get(wide, wide), sizes.get(narrow, narrow)) for kind, wide, narrow in ENCODER]
            good.append(_layers(model.encoder) == [*printed, ("linear", 256, 2 * latents)])
            good.append(_activations(model.encoder) == len(ENCODER))
            tried.append((data, latents))
    return {"layers-as-printed": all(good), "settings": len(tried)}


def reductions(context: Context) -> dict[str, bool | float]:
    """Gradients of a β-VAE by sums, and by means with β·Z/(C·H·W), which have to be C·H·W times smaller.

    For several channels, latents and β, of which β = 0 is one; angles are those of the first.
    """
    proportional, angles = [], []
    for channels, latents, beta in ((2, 5, 4.0), (1, 1, 0.1), (3, 20, 100.0), (1, 5, 0.0)):
        data = XYSquares(2, 2, squares=channels, image_size=16)
        pixels = math.prod(data.shape)
        images = data.observations(torch.arange(64)).unsqueeze(0)
        sums = _gradient(BetaVAE(mlp_vae(data, latents, hidden=(32,)), beta, reduction="sum"), images)
        means, other = (
            _gradient(BetaVAE(mlp_vae(data, latents, hidden=(32,)), weight, reduction="mean"), images)
            for weight in (beta * latents / pixels, beta)
        )
        largest = sums.abs().max().item()
        proportional.append(torch.allclose(means * pixels, sums, rtol=1e-4, atol=1e-4 * largest))
        angles.append((_degrees(other, sums), _degrees(means, sums)))
    return {
        "gradients-proportional": all(proportional),
        "angle-with-the-same-beta": angles[0][0],
        "angle-with-beta-changed": angles[0][1],
        "settings": len(proportional),
    }


def divergence(context: Context) -> dict[str, bool | float]:
    """The KL of one latent for an image, and the mean KL of eight images beside the information, by integration.

    Means spread at deviations of 1, .3 and .01, and deviations shrink at means of 0, 1 and 10.
    """
    same = _kl([0.0], [1.0])
    spread = [_kl(SPREAD[0], [deviation] * 4) for deviation in (1.0, 0.3, 0.01)]
    narrow = [_kl([mean] * 4, NARROW[1]) for mean in (0.0, 1.0, 10.0)]
    draws, gaps = np.random.default_rng(context.seed), []
    off = [same[1], *(error for _, error in [*spread, *narrow])]
    for scale in (0.05, 0.2, 0.5, 1.0, 2.0):
        means, deviations = draws.normal(0, 2 * scale, 8), scale * draws.uniform(0.5, 1.5, 8)
        values, error = _kl(means, deviations)
        off.append(error)
        gaps.append(values.mean() - _information(means, deviations))
    return {
        "zero-at-the-prior": abs(same[0].item()) < CLOSE,
        "rises-with-spread-means": all((np.diff(values) > 0).all() for values, _ in spread),
        "rises-with-smaller-variances": all((np.diff(values) > 0).all() for values, _ in narrow),
        "bounds-the-information": min(gaps) > 0,
        "smallest-gap-to-the-information": min(gaps),
        "closed-form-as-by-integration": max(off) < 1e-7,
        "settings": min(len(spread), len(narrow), len(gaps)),
    }


def overlap(context: Context) -> dict[str, bool]:
    """Two images' posteriors, wider and wider, or nearer and nearer: their mean KL and their common area.

    Wider at three distances, nearer at three deviations.
    """
    wider = [
        np.array([_pair(distance, deviation) for deviation in np.linspace(0.05, 1.0, 20)])
        for distance in (1.0, 0.1, 2.0)
    ]
    nearer = [
        np.array([_pair(distance, deviation) for distance in np.linspace(3.0, 0.0, 20)])
        for deviation in (0.3, 0.05, 1.0)
    ]
    return {
        "divergence-falls-with-wider-posteriors": all((np.diff(pairs[:, 0]) < 0).all() for pairs in wider),
        "divergence-falls-with-closer-means": all((np.diff(pairs[:, 0]) < 0).all() for pairs in nearer),
        "overlap-rises": all((np.diff(pairs[:, 1]) > 0).all() for pairs in [*wider, *nearer]),
        "settings": min(len(wider), len(nearer)),
    }


def loss_at_one(context: Context) -> dict[str, bool | float]:
    """The loss of `BetaVAE` with β = 1 against the negative ELBO with the same noise, from densities of SciPy.

    The KL is integrated latent by latent, and the likelihood is a normal density of variance ½ around the decoding. For
    8 images and 3 latents, a single image and one latent, and 16 images and 10 latents.
    """
    data, same, more = XYSquares(2, 2, squares=2, image_size=16), [], []
    for latents, num_images in ((3, 8), (1, 1), (10, 16)):
        images = data.observations(torch.arange(0, 4096, 4096 // num_images))
        losses, by_hand, kl = _two_losses(images, mlp_vae(data, latents, hidden=(32,), seed=context.seed), context.seed)
        same.append(math.isclose(losses[1.0], by_hand, rel_tol=1e-5))
        more.append(math.isclose(losses[4.0] - losses[1.0], 3 * kl, rel_tol=1e-3))
    return {"same-loss-at-beta-1": all(same), "three-more-divergences-at-beta-4": all(more), "settings": len(same)}


def _two_losses(images: Tensor, model: VAE, seed: int) -> tuple[dict[float, float], float, float]:
    """The losses with β = 1 and 4, the negative ELBO by hand, and the KL in it, all of the mean image."""
    terms = {beta: BetaVAE(model, beta).loss(images.unsqueeze(0), _step(seed)) for beta in (1.0, 4.0)}
    posterior = model.encode(images)
    noise = torch.empty_like(posterior.mean).normal_(generator=torch.Generator().manual_seed(seed))
    decoded = model.decode(posterior.mean + posterior.std * noise)
    normaliser = 0.5 * math.log(math.pi) * math.prod(images.shape[1:])
    likelihood = norm.logpdf(images.detach().numpy(), decoded.detach().numpy(), 0.5**0.5).sum() / len(images)
    kl = sum(
        _integrated_kl(mean, deviation)
        for mean, deviation in zip(posterior.mean.flatten().tolist(), posterior.std.flatten().tolist(), strict=True)
    ) / len(images)
    return {beta: sum(parts.values()).item() for beta, parts in terms.items()}, -likelihood - normaliser + kl, kl


def _layers(network: nn.Sequential) -> list[tuple[str, int, int]]:
    """Kind, width in and width out of each layer with weights; those of convolutions must be 4×4 with stride 2."""
    found = []
    for layer in network:
        if isinstance(layer, nn.Linear):
            found.append(("linear", layer.in_features, layer.out_features))
        elif isinstance(layer, nn.Conv2d | nn.ConvTranspose2d):
            kind = "conv" if isinstance(layer, nn.Conv2d) else "upconv"
            fits = layer.kernel_size == (4, 4) and layer.stride == (2, 2)
            found.append((kind if fits else "other", layer.in_channels, layer.out_channels))
    return found


def _activations(network: nn.Sequential) -> int:
    return sum(isinstance(layer, nn.ReLU) for layer in network)


def _step(seed: int) -> Step:
    return Step(torch.tensor(0), 1, torch.Generator().manual_seed(seed))


def _gradient(framework: BetaVAE, images: Tensor) -> Tensor:
    sum(framework.loss(images, _step(0)).values()).backward()
    return torch.cat([weight.grad.flatten() for weight in framework.model.parameters()])


def _degrees(first: Tensor, second: Tensor) -> float:
    cosine = torch.cosine_similarity(first.double(), second.double(), dim=0).clamp(-1, 1)
    return math.degrees(cosine.acos())


def _kl(means, deviations) -> tuple[np.ndarray, float]:
    """The library's KL from the prior of one latent for each image, (n,), and how far it is from its integral."""
    posterior = DiagonalGaussian(*(torch.tensor(part, dtype=torch.float64) for part in (means, 2 * np.log(deviations))))
    values = kl_to_standard_normal(posterior).numpy()
    integrals = [_integrated_kl(mean, deviation) for mean, deviation in zip(means, deviations, strict=True)]
    return values, np.abs(values - integrals).max()


def _integrated_kl(mean: float, deviation: float) -> float:
    """∫ q log (q/p) dz on a grid of the scale of q."""
    z = mean + deviation * AXIS
    density = norm.pdf(AXIS)
    return float((density * (norm.logpdf(AXIS) - math.log(deviation) - norm.logpdf(z))).sum() * (AXIS[1] - AXIS[0]))


def _information(means: np.ndarray, deviations: np.ndarray) -> float:
    """∫ of q(z|x) log q(z|x)/q(z), averaged over the images: the information of the code about the image, in nats."""
    densities = norm.pdf(AXIS, means[:, None], deviations[:, None])
    ratio = np.log(np.maximum(densities, 1e-300) / np.maximum(densities.mean(0), 1e-300))
    return float((densities * ratio).sum(1).mean() * (AXIS[1] - AXIS[0]))


def _pair(distance: float, deviation: float) -> tuple[float, float]:
    """Mean KL of N(±distance/2, deviation²) from the prior, and the area that the two densities share."""
    means = (-distance / 2, distance / 2)
    densities = norm.pdf(AXIS, np.array(means)[:, None], deviation)
    values, _ = _kl(means, (deviation,) * 2)
    return values.mean(), densities.min(0).sum() * (AXIS[1] - AXIS[0])
