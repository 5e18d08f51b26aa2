"""Explicitness and size: how large a probe it takes to read the factors, and how many latents there are."""

import math

import numpy as np
import pandas
import torch

from course_lib.metrics.samples import Samples, as_samples, draw_samples, generator, warn_if_few
from course_lib.metrics.scale import centre, standardised
from course_lib.metrics.score import Score, with_factors, with_twin

FEATURES = (0, 2, 4, 8, 16, 32, 64, 128, 256, 512)  # random ones of each probe, besides the latents themselves
PENALTY = 1e-6  # on squared weights, for each point: it settles what the points leave open


def from_samples(latents, factors, *, num_test: int | None = None, seed: int = 0, names=None) -> Score:
    """Explicitness and size of latents (n, D) for factors, integers (n, F); see `dci_es`.

    The probes are tested on `num_test` points (None: a third of them) that `seed` draws, and learnt from the others.
    """
    samples = as_samples(latents, factors, names).shuffled(num_test, seed)
    return _measure(samples, num_test, seed)


def _measure(samples: Samples, num_test: int | None, seed: int) -> Score:
    kept = samples.kept()
    train, test = kept.split(num_test)
    warn_if_few(len(train.latents), FEATURES[-1], "explicitness")
    losses = _losses(train, test, seed)
    weights = [1 + kept.latents.shape[1] + features for features in FEATURES]
    explicit = [_explicitness(column, weights) for column in losses.T] if kept.latents.size else [0.0] * len(kept.names)
    values = {"explicitness": float(np.mean(explicit)), "informativeness": float(1 - losses[-1].mean())}
    values["size"] = len(kept.names) / kept.latents.shape[1] if kept.latents.size else 0.0
    named = {f"explicitness_{name}": float(value) for name, value in zip(kept.names, explicit, strict=True)}
    settings = {"train": len(train.latents), "test": len(test.latents), "seed": seed}
    rows, columns = pandas.Index(weights, name="weights of the probe"), pandas.Index(kept.names, name="factor")
    curve = pandas.DataFrame(losses, index=rows, columns=columns)
    return Score("explicitness", values["explicitness"], with_factors(values, named), settings, curve, "loss")


@with_twin(from_samples)
def dci_es(encode, data=None, seed: int = 0, *, num_samples: int = 10_000, num_test: int = 5_000) -> Score:
    r"""How large a probe does it take to read the factors? The E and the S of DCI-ES; higher is better.

    .. math:: E = \frac{1}{F} \sum_k \Bigl( 1 - \frac{1}{Z} \int_{\kappa_1}^{\kappa_T}
        \bigl( \ell_k(\kappa) - \ell_k(\kappa_T) \bigr) \, d\kappa \Bigr), \qquad
        Z = \tfrac{1}{2} (\kappa_T - \kappa_1) \, \ell_b, \qquad S = F / D

    ℓ(κ) is the loss of a probe of capacity κ, the logarithm of its number of weights. E is 1 when the smallest probe
    loses as little as the largest, 0 when the loss falls along a line from ℓ_b, that of a constant answer, to none, and
    −1 when only the largest probe sees anything.

    The probes are one family of those that the source compares: ridge regressions of the factor's value on the latents,
    standardised, and on 0, 2, 4, …, 512 random Fourier features √2 cos(ω·z + φ), ω from N(0, I/D) and φ uniform. The
    smallest is linear; the source has no linear part there. The loss is the squared error on `num_test` other points as
    a share of the variance, so that ℓ_b = 1. A probe may answer what a smaller one does, or a constant: its loss is the
    least so far. A factor whose values have no order is read as if they had one.

    E does not ask whether anything is read: of latents of noise it is 1, and of those that none of the probes can read.
    So it goes with the informativeness, 1 − ℓ(κ_T) on average over the factors, which is a share of variance here and
    not the accuracy of `dci`.

    encode : images uint8 (B, C, H, W) → latents (B, D), or `Encodings`, which bring their own data.
    values : "explicitness" (the headline), "informativeness", "size", and "explicitness_" of each factor. matrix: the
        losses, probes × factors.

    Constant latents and factors are left out, and D and F count the others; latents that are all constant score 0.
    Source: Eastwood et al., DCI-ES: an extended disentanglement framework with connections to identifiability, 2023,
    Section 4, with Z as in the authors' code. Chapter 22.
    """
    samples = draw_samples(encode, data, num_samples, seed, num_test)
    return _measure(as_samples(*samples), num_test, seed)


def _explicitness(losses, weights) -> float:
    """E of one curve: losses (T,), which never rise, of probes with so many weights (T,)."""
    capacity, excess = np.log(weights), np.asarray(losses) - losses[-1]
    area = (np.diff(capacity) * (excess[1:] + excess[:-1]) / 2).sum()
    return float(1 - 2 * area / (capacity[-1] - capacity[0]))


def _losses(train: Samples, test: Samples, seed: int) -> np.ndarray:
    """The least loss up to each probe, for each factor: (T, F), from 0 to 1."""
    dim = train.latents.shape[1]
    if dim == 0:
        return np.ones((len(FEATURES), len(train.names)))
    latents = standardised(train.latents, test.latents)
    points, test_points = centre(*map(np.hstack, zip(latents, _fourier(latents, seed), strict=True)))
    factors, test_factors = _offsets(train.factors, test.factors)
    gram, moments = points.T @ points / len(points), points.T @ factors / len(points)
    spread, losses = (test_factors**2).mean(0), []
    for size in (dim + features for features in FEATURES):
        weights = np.linalg.solve(gram[:size, :size] + PENALTY * np.eye(size), moments[:size])
        error = ((test_factors - test_points[:, :size] @ weights) ** 2).mean(0)
        losses.append(np.where(spread > 0, error / np.where(spread > 0, spread, 1), 1.0))
    return np.minimum.accumulate(np.minimum(losses, 1.0), axis=0)


def _offsets(factors: np.ndarray, others: np.ndarray) -> list[np.ndarray]:
    """Factors (n, F) and others, less the first's mean; counted from the lowest, exact for all integers."""
    low = np.minimum(factors.min(0), others.min(0)).astype(np.uint64)
    steps = [(side.astype(np.uint64) - low).astype(np.float64) for side in (factors, others)]
    return [side - steps[0].mean(0) for side in steps]


def _fourier(sides: tuple[np.ndarray, np.ndarray], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Random Fourier features (n, 512) of standardised latents (n, D), the same for both sides."""
    draws, dim = generator(seed), sides[0].shape[1]
    frequencies = torch.randn(dim, FEATURES[-1], generator=draws, dtype=torch.float64).numpy() / math.sqrt(dim)
    phases = 2 * math.pi * torch.rand(FEATURES[-1], generator=draws, dtype=torch.float64).numpy()
    return tuple(math.sqrt(2) * np.cos(side @ frequencies + phases) for side in sides)
