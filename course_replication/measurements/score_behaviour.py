"""Claims about what scores are: their bounds, what they are built from, and what they cost."""

import math
import time
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import torch
from scipy.special import gammaln, rel_entr
from scipy.stats import ortho_group

from course_lib import metrics
from course_lib.data import DSprites, XYSquares
from course_lib.frameworks import BetaVAE
from course_lib.models import conv_vae
from course_lib.sampling import singles
from course_replication.runs import Context

NEAR_ONE = 0.99  # what "near 1" is taken to mean
SAME = 1e-9  # rounding, between two ways to the same number
BINS = 20
OLD_STEPS, OLD_BATCH, OLD_PAIRS, OLD_TEST = 10_000, 10, 200, 800  # the BetaVAE score of Kim and Mnih, Appendix B
NEW_VOTES, NEW_IMAGES = 800, 100  # and their own


def mig_bounds(context: Context, num_random: int) -> dict[str, bool | float]:
    """MIG of known representations of a grid of 4 factors, and of random ones, beside MIG from tables of counts."""
    found, counted = [], []
    for latents, factors in _representations(context.seed, num_random):
        found.append(float(metrics.mig.from_samples(latents, factors, bins=BINS)))
        counted.append(_mig_from_counts(latents, factors))
    data = _grid()
    identity = float(metrics.mig(metrics.Encodings.from_table(_factors(data) / 8, data), seed=context.seed))
    values, identities = found + counted, [identity]
    for squares in (1, 3):  # 2 and 6 factors, each twice as large as the one before, and upside down
        data = XYSquares(2, 2, squares=squares, image_size=16)
        code = -_factors(data) * 2.0 ** np.arange(2 * squares)
        identities.append(float(metrics.mig(metrics.Encodings.from_table(code, data), seed=context.seed)))
    return {
        "at-least-0": min(values) >= 0,
        "at-most-1": max(values) <= 1 + SAME,
        "identity-near-1": min(identities) > NEAR_ONE,
        "identity": identity,
        "smallest": min(values),
        "largest": max(values),
        "as-from-tables-of-counts": np.allclose(found, counted, rtol=0, atol=SAME),
        "settings": min(len(found), len(identities)),
    }


def dci_entropy(context: Context) -> dict[str, float]:
    """The entropy, in nats, of importances of four latents for a factor: all alike, and nearly all in one.

    It is counted: the logarithm of the number of arrangements of a long sequence with these shares, for each letter.
    Also of 2 and 25 latents.
    """
    importances = {"peaked": (0.97, 0.01, 0.01, 0.01), "uniform": (0.25,) * 4}
    found = {f"entropy/{name}": _arrangements(np.array(shares)) for name, shares in importances.items()}
    sizes = (4, 2, 25)
    for size in sizes[1:]:
        found[f"entropy/peaked/{size}"] = _arrangements(np.array([1 - 0.01 * (size - 1)] + [0.01] * (size - 1)))
        found[f"entropy/uniform/{size}"] = _arrangements(np.full(size, 1 / size))
    return found | {"settings": len(sizes)}


def sap_gap(context: Context, num_points: int) -> dict[str, bool | float]:
    """SAP's continuous value against regressions of each factor on each latent, solved by least squares."""
    data = _grid()
    index = singles(data.space, num_points, context.generator)
    factors = data.space.factors(index).numpy()
    turn = ortho_group.rvs(4, random_state=context.seed)
    noise = torch.randn(num_points, 4, generator=context.generator, dtype=torch.float64).numpy()
    found, expected, discrete = [], [], []
    for latents in (factors / 8, factors / 8 @ turn, factors + noise, factors[:, :3] + noise[:, :3]):
        values = metrics.sap.from_samples(latents, factors).values
        found.append(values["continuous"])
        discrete.append(values["discrete"])
        expected.append(_gap_of_regressions(latents, factors))
    return {
        "gap-of-the-two-best": np.allclose(found, expected, rtol=0, atol=SAME),
        "between-0-and-1": all(0 <= value <= 1 for value in found + discrete),
        "continuous/factors": found[0],
        "continuous/rotated": found[1],
        "discrete/factors": discrete[0],
        "settings": len(found),
    }


def pairs_variance(context: Context) -> dict[str, bool]:
    """Equation 4 with squared differences against the variance around the mean: in fractions, and for floats."""
    draws = np.random.default_rng(context.seed)
    whole = [[Fraction(int(value)) for value in draws.integers(-1000, 1000, n)] for n in (2, 3, 10, 100)]
    whole.append([Fraction(7)] * 5)  # no variance
    exact = all(_over_pairs(values) == _around_the_mean(values) for values in whole)
    real = [draws.normal(3, scale, n) for n in (2, 10, 300) for scale in (1e-3, 1.0, 1e3)]
    rounded = all(math.isclose(_over_pairs(values), np.var(values, ddof=1), rel_tol=1e-12) for values in real)
    return {"identity-to-rounding": exact and rounded, "settings": len(whole) + len(real)}


def minutes(context: Context, timed: int) -> dict[str, float]:
    """Minutes that the images of either score take to draw and to encode here, as the paper sets the scores.

    A few points of each are timed, and the time is multiplied. The older classifier's own steps are left out: they are
    cheap beside the 4,000 images that each of them needs.
    """
    data = DSprites()
    encode = BetaVAE(conv_vae(data, 10, seed=context.seed)).encode
    older = OLD_STEPS * OLD_BATCH + OLD_TEST, 2 * OLD_PAIRS
    found = {}
    for name, (points, images) in {"beta-vae-score": older, "factor-vae-score": (NEW_VOTES, NEW_IMAGES)}.items():
        seconds = _timed(
            lambda images=images: encode(data.images(singles(data.space, images, context.generator))), timed
        )
        found[f"minutes/{name}"] = points * seconds / 60
        found[f"images/{name}"] = points * images
    return found


def _grid() -> XYSquares:
    return XYSquares(2, 2, squares=2, image_size=16)


def _factors(data: XYSquares) -> np.ndarray:
    return data.space.factors(torch.arange(len(data))).numpy()


def _representations(seed: int, num_random: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Latents and factors: the grid's factors, turned, noisy, doubled, joined, missed; then any with any."""
    factors, draws = _factors(_grid()), np.random.default_rng(seed)
    noise = draws.normal(size=factors.shape)
    turned = factors @ ortho_group.rvs(4, random_state=seed)
    joined = factors[:, ::2] + 8 * factors[:, 1::2]
    doubled = np.repeat(factors, 2, axis=1)
    for latents in (factors, turned, factors + noise, noise, doubled, joined, factors[:, :1], 0 * factors):
        yield latents, factors
    for _ in range(num_random):
        factors = draws.integers(draws.integers(2, 9), size=(2000, draws.integers(1, 5)))
        mixed = factors @ draws.normal(size=(factors.shape[1], draws.integers(1, 6)))
        yield mixed + draws.exponential() * draws.normal(size=mixed.shape), factors


def _mig_from_counts(latents: np.ndarray, factors: np.ndarray) -> float:
    """MIG from two-way tables: information is the divergence of the table from the product of its margins."""
    gaps = []
    for factor in factors.T:
        information = []
        for latent in latents.T:
            table = np.histogram2d(latent, factor, bins=(BINS, np.arange(factor.max() + 2) - 0.5))[0] / len(factor)
            information.append(rel_entr(table, table.sum(1, keepdims=True) * table.sum(0)).sum())
        shares = np.bincount(factor) / len(factor)
        first, second, *_ = sorted([*information, 0.0], reverse=True)
        gaps.append((first - second) / rel_entr(shares, 1).sum() * -1)
    return float(np.mean(gaps))


def _arrangements(shares: np.ndarray, length: float = 1e12) -> float:
    return float((gammaln(length + 1) - gammaln(length * shares + 1).sum()) / length)


def _gap_of_regressions(latents: np.ndarray, factors: np.ndarray) -> float:
    gaps = []
    for factor in factors.T:
        explained = []
        for latent in latents.T:
            line = np.stack([latent, np.ones(len(latent))], axis=1)
            rest = factor - line @ np.linalg.lstsq(line, factor)[0]
            explained.append(1 - rest.var() / factor.var())
        second, first = sorted(explained)[-2:]
        gaps.append(first - second)
    return float(np.mean(gaps))


def _over_pairs(values):
    """Equation 4: the sum over all ordered pairs, divided by 2 N (N − 1)."""
    n = len(values)
    return sum((first - second) ** 2 for first in values for second in values) / (2 * n * (n - 1))


def _around_the_mean(values: list[Fraction]) -> Fraction:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _timed(task: Callable, times: int) -> float:
    """Seconds of processor time of one call, after one that does not count."""
    task()
    started = time.process_time()
    for _ in range(times):
        task()
    return (time.process_time() - started) / times
