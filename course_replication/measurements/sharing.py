"""Claims about triplets and shared latents: which the rules take for shared, and what their losses' gradients do."""

import math

import numpy as np
import torch
from scipy.stats import chisquare
from torch import Tensor

from course_lib.data import DSprites, Shapes3D, XYSquares
from course_lib.factors import FactorSpace
from course_lib.frameworks import AdaTripletVAE
from course_lib.frameworks.framework import Step
from course_lib.losses import norm_distance, shared_latents, symmetric_kl, triplet_loss
from course_lib.models import DiagonalGaussian, mlp_vae
from course_lib.sampling import factor_distance, pairs
from course_replication.runs import Context

LATENTS = 10
SMALL = 1e-6  # a step of finite differences, in float64


def margins(context: Context) -> dict[str, bool]:
    """Equations 5.1 and 5.2 at distances to the negative from 0 to 60, against NumPy and finite differences.

    For a positive 3, 0 and 6 away and margins of 10, ½ and 30.
    """
    found = [_margins(near, margin) for near, margin in ((3.0, 10.0), (0.0, 0.5), (6.0, 30.0))]
    return {name: all(each[name] for each in found) for name in found[0]} | {"settings": len(found)}


def _margins(distance: float, margin: float) -> dict[str, bool]:
    far = torch.linspace(0, 60, 601, dtype=torch.float64)
    near = torch.full_like(far, distance)
    hard, soft = (triplet_loss(near, far, psi).numpy() for psi in (margin, None))
    hard_slope, soft_slope = (
        ((triplet_loss(near, far + SMALL, psi) - triplet_loss(near, far - SMALL, psi)) / (2 * SMALL)).numpy()
        for psi in (margin, None)
    )
    beyond, within = far.numpy() > distance + margin + SMALL, far.numpy() < distance + margin - 0.05
    closed = np.logaddexp(0, (near - far).numpy())
    return {
        "hard-is-0-beyond-the-margin": bool((hard[beyond] == 0).all() and (hard_slope[beyond] == 0).all()),
        "soft-is-positive": bool((soft > 0).all() and np.allclose(soft, closed, rtol=1e-12, atol=0)),
        "soft-gradient-falls": bool((np.diff(soft) < 0).all() and (np.diff(np.abs(soft_slope[:200])) < 0).all()),
        "hard-gradient-is-1-within": bool(np.allclose(hard_slope[within], -1, atol=1e-6)),
    }


def coarseness(context: Context) -> dict[str, float]:
    """How many values distances from a corner of XYSquares take, and how often those of two random pairs are equal.

    The values are counted on other grids as well. The edge are factors of two values, on which both are the same.
    """
    space, found = XYSquares().space, {}
    corner = torch.zeros(len(space), dtype=torch.int64)
    for name in ("l1", "differing"):
        found[f"distinct-values/{name}"] = len(
            factor_distance(space, corner, torch.arange(len(space)), by=name).unique()
        )
    for name, one in {
        "l1": np.bincount([abs(a - b) for a in range(8) for b in range(8)]),
        "differing": [8, 56],
    }.items():
        share = np.ones(1)
        for _ in space.sizes:  # the law of a sum of six independent differences
            share = np.convolve(share, np.asarray(one) / 64)
        found[f"ties/{name}"] = float((share**2).sum())
    grids, values = {"dsprites": (3, 6, 40, 32, 32), "pair": (3, 3), "one": (8,), "binary": (2, 2, 2)}, {}
    for grid, sizes in grids.items():
        space = FactorSpace([f"factor-{place}" for place in range(len(sizes))], list(sizes))
        corner = torch.zeros(len(space), dtype=torch.int64)
        for name in ("l1", "differing"):
            distances = factor_distance(space, corner, torch.arange(len(space)), by=name)
            found[f"distinct-values/{name}/{grid}"] = len(distances.unique())
        values[grid] = [found[f"distinct-values/{name}/{grid}"] for name in ("l1", "differing")]
    values["xysquares"] = [found[f"distinct-values/{name}"] for name in ("l1", "differing")]
    return found | {
        "l1-is-finer": all(fine > coarse for grid, (fine, coarse) in values.items() if grid != "binary"),
        "the-same-for-two-values": values["binary"][0] == values["binary"][1],
        "settings": len(values),
    }


def reversed_orders(context: Context, num_triplets: int) -> dict[str, bool | float]:
    """Random anchors, positives and negatives of one latent: their order by symmetric KL and by means (5.13 to 5.15).

    Equation 5.14 is evaluated as printed; the divergence of 5.13 by the library. The logarithms of the variances have a
    deviation of 1, then of .1 and of 2; with none the orders are the same, which is the edge.
    """
    draws, found = context.generator, {}
    for scale in (1.0, 0.1, 2.0, 0.0):
        found[scale] = _orders(*torch.randn(2, 3, num_triplets, 1, generator=draws, dtype=torch.float64), scale)
    reverse = found[1.0][0]
    return {
        "an-order-that-reverses": all(min(shares) > 0 for scale, (shares, _) in found.items() if scale > 0),
        "equation-5.14-equals-5.13": all(same for _, same in found.values()),
        "share/nearer-by-kl-only": reverse[0],
        "share/nearer-by-means-only": reverse[1],
        "none-reverses-with-one-variance": max(found[0.0][0]) == 0,
        "settings": sum(scale > 0 for scale in found),
    }


def _orders(means: Tensor, spreads: Tensor, scale: float) -> tuple[list[float], bool]:
    """The shares of triplets that only one of the two orders, and whether Equation 5.14 orders them as the KL does."""
    spreads = scale * spreads
    anchor, positive, negative = map(DiagonalGaussian, means, spreads)
    by_kl = symmetric_kl(anchor, positive) <= symmetric_kl(anchor, negative)
    by_means = (means[0] - means[1]).abs() <= (means[0] - means[2]).abs()
    a, p, n = spreads.exp()  # variances
    printed = ((a + p) * (means[0] - means[1]) ** 2 + a**2 + p**2) / p <= (
        (a + n) * (means[0] - means[2]) ** 2 + a**2 + n**2
    ) / n
    shares = [(by_kl & ~by_means).double().mean().item(), (~by_kl & by_means).double().mean().item()]
    return shares, torch.equal(printed, by_kl)


def strengths(context: Context, num_pairs: int) -> dict[str, bool | float]:
    """The mask at η = 0 and η = ½ for random differences, ties and zeros among them, against loops over numbers.

    Of 10 latents, whose shares are given, and of 1, 2 and 25.
    """
    draws, none, half, rising, found = context.generator, [], [], [], {}
    for latents in (LATENTS, 1, 2, 25):
        differences = torch.randn(num_pairs, latents, generator=draws).exp()
        differences[::3] = torch.randint(4, differences[::3].shape, generator=draws).float()
        original = [[value < (min(row) + max(row)) / 2 for value in row] for row in differences.tolist()]
        shares = {eta: shared_latents(differences, eta).double().mean().item() for eta in (0.0, 0.25, 0.5, 0.75, 1.0)}
        none.append(shares[0.0] == 0)
        half.append(shared_latents(differences, 0.5).tolist() == original)
        rising.append(sorted(shares.values()) == [*shares.values()])
        found = found or {f"shared/strength-{eta}": share for eta, share in shares.items()}
    return found | {
        "none-shared-at-0": all(none),
        "original-threshold-at-one-half": all(half),
        "more-are-shared-the-stronger": all(rising),
        "settings": len(none),
    }


def plain_codes(context: Context, num_pairs: int) -> dict[str, bool]:
    """Whether a posterior's variances change which latents the Ada-TVAE weights: by distances that it weights.

    Codes of an auto-encoder are means without variances, taken for 1 here. With the KL the variances do matter. Of 10
    latents, of 2 and of 25, and of 3 with variances of many sizes.
    """
    draws, settings = context.generator, ((LATENTS, 1.0), (2, 1.0), (25, 1.0), (3, 10.0))
    found = [
        _plain_codes(*torch.randn(2, 2, num_pairs, latents, generator=draws, dtype=torch.float64), scale)
        for latents, scale in settings
    ]
    return {
        "same-mask-from-means-and-from-codes": all(same for same, _ in found),
        "same-mask-by-kl": any(same for _, same in found),
        "settings": len(found),
    }


def _plain_codes(mean: Tensor, log_variance: Tensor, scale: float) -> tuple[bool, bool]:
    """Whether the variances change nothing, by absolute differences and by the KL."""
    log_variance = scale * log_variance
    same = {}
    for differences in ("absolute", "kl"):
        found = [_weighted(mean, spread, differences) for spread in (log_variance, torch.zeros_like(mean))]
        same[differences] = torch.equal(*found)
    gaps = (mean[0] - mean[1]).abs()
    threshold = (gaps.amin(1, keepdim=True) + gaps.amax(1, keepdim=True)) / 2
    expected = torch.where(gaps < threshold, gaps / 2, gaps).sum(1)
    by_hand = torch.allclose(_weighted(mean, log_variance, "absolute"), expected, rtol=1e-12)
    return same["absolute"] and by_hand, same["kl"]


def averaged_gradients(context: Context, num_pairs: int) -> dict[str, bool]:
    """Finite differences of the anchor–negative distance, shared latents averaged before it, or weighted in it.

    Of 10 latents, of 2, where one is shared, and of 25.
    """
    draws = context.generator
    found = [
        _gradients(torch.randn(2, num_pairs, latents, generator=draws, dtype=torch.float64))
        for latents in (LATENTS, 2, 25)
    ]
    return {name: all(each[name] for each in found) for name in found[0]} | {"settings": len(found)}


def _gradients(mean: Tensor) -> dict[str, bool]:
    shared = shared_latents((mean[0] - mean[1]).abs())

    def averaged(mean: Tensor) -> Tensor:
        anchor, negative = torch.where(shared, mean.mean(0), mean)
        return norm_distance(anchor, negative, 1)

    slopes = {"averaged": _slopes(averaged, mean), "weighted": _slopes(lambda mean: _weighted(mean, 0 * mean), mean)}
    weights = torch.where(shared, 0.5, 1.0).double().expand(2, -1, -1)
    others = slopes["averaged"][:, ~shared].abs()
    return {
        "no-gradient-through-averaged-latents": slopes["averaged"][:, shared].abs().max().item() < 1e-7,
        "gradient-through-weighted-latents": torch.allclose(slopes["weighted"].abs(), weights, atol=1e-7),
        "gradient-through-the-others": torch.allclose(others, torch.ones_like(others), atol=1e-7),
    }


def right_k(context: Context, num_pairs: int) -> dict[str, bool | float]:
    """How often a perfectly disentangled encoder's latents are taken for what they are, by half of the divergences.

    Latent i is factor i of XYSquares with a deviation of ½; a pair's changed factors all change by one step, or each by
    any.
    """
    space, draws, found = XYSquares().space, context.generator, {}
    for name in ("alike", "differ"):
        index = pairs(space, num_pairs, draws)
        first, second = space.factors(index).double()
        changed = first != second
        if name == "alike":
            second = first + changed
        spread = torch.full_like(first, 2 * math.log(0.5))
        divergence = symmetric_kl(DiagonalGaussian(first, spread), DiagonalGaussian(second, spread))
        found[name] = (shared_latents(divergence) == ~changed).all(1).double().mean().item()
    return {
        "right-k-when-changes-are-alike": found["alike"] == 1,
        "right-k-when-changes-differ": found["differ"] == 1,
        "share-right/alike": found["alike"],
        "share-right/differ": found["differ"],
        "settings": len(found),
    }


def changed_factors(context: Context, num_pairs: int) -> dict[str, bool | float]:
    """How many factors differ in the pairs of the Ada-GVAE: counted, with χ² tests that each k, and each factor, is
    as frequent. That a changed factor really differs shows where k is asked for: exactly k differ in every pair.
    """
    p_values, exactly, tried = [], [], (XYSquares(), DSprites(), Shapes3D(), XYSquares(2, 2, squares=1, image_size=16))
    for data in tried:
        space, most = data.space, len(data.space.sizes)
        differing = _differing(space, pairs(space, num_pairs, context.generator))
        p_values.append(chisquare(np.bincount(differing.sum(1), minlength=most + 1)[1:]).pvalue)
        p_values.append(chisquare(differing.sum(0)).pvalue)
        for k in range(1, most + 1):
            exactly.append(
                (_differing(space, pairs(space, num_pairs // most, context.generator, k=k)).sum(1) == k).all()
            )
    return {
        "k-uniform": min(p_values) > 1e-3,
        "changed-factors-differ": all(exactly),
        "smallest-p-value": min(p_values),
        "settings": len(tried),
    }


def _differing(space: FactorSpace, pair: Tensor) -> np.ndarray:
    """Which factors of each pair differ: bool (n, F)."""
    first, second = space.factors(pair)
    return (first != second).numpy()


def _weighted(mean: Tensor, log_variance: Tensor, differences: str = "absolute") -> Tensor:
    """The Ada-TVAE's distances from anchors to negatives, mean (2, n, D) → (n,), with ω = η = ½."""
    model = mlp_vae(XYSquares(2, 2, squares=1, image_size=16), mean.shape[2], hidden=())
    framework = AdaTripletVAE(model, shared_weight=0.5, strength=0.5, differences=differences)
    step = Step(torch.tensor(0), 1, torch.Generator())
    return framework.negative_distance(*map(DiagonalGaussian, mean, log_variance), step)


def _slopes(distance, mean: Tensor) -> Tensor:
    """The derivative of each pair's distance by each latent of its anchor and negative: (2, n, D)."""
    slopes = torch.empty_like(mean)
    for view in range(2):
        for latent in range(mean.shape[2]):
            step = torch.zeros_like(mean)
            step[view, :, latent] = SMALL
            slopes[view, :, latent] = (distance(mean + step) - distance(mean - step)) / (2 * SMALL)
    return slopes
