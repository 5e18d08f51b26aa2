"""Claims about how scores are defined: which variances, which mean, which normaliser, and what a score of 1 means."""

import numpy as np
import torch

from course_lib import metrics
from course_lib.data import XYSquares
from course_lib.metrics import Encodings
from course_replication.runs import Context

ROUNDING = 1e-9
TRAVERSALS = 200
SIZES = (2, 3, 5, 9, 25)  # numbers of latents


def two_components(context: Context) -> dict[str, bool | float]:
    """The linearity ratio over all principal variances and over the two largest, as latents are added.

    Added latents are constant, or noise as strong as a tenth of the first direction's variance; the first two
    directions have variances 1 and 0.5, or, in the last setting, the first three are alike.
    """
    dead = {size: _two_ways([1.0, 0.5] + [0.0] * (size - 2)) for size in SIZES}
    noisy = {size: _two_ways([1.0, 0.1] + [0.1] * (size - 2)) for size in SIZES}
    alike = _two_ways([1.0, 1.0, 1.0] + [0.0] * 22)
    codes = torch.randn(8, 2, generator=context.generator, dtype=torch.float64)
    by_library = [_linearity(torch.cat([codes, codes.new_zeros(8, size - 2)], 1)) for size in SIZES]
    variances = np.sort(np.linalg.eigvalsh(np.cov(codes.numpy().T)))[::-1]
    by_hand = [_two_ways([*variances] + [0.0] * (size - 2))[0] for size in SIZES]
    return {
        "two-largest-do-not-see-the-number-of-latents": np.ptp([two for _, two in [*dead.values()]]) < ROUNDING
        and np.ptp([two for _, two in noisy.values()]) < ROUNDING,
        "all-of-them-do": np.ptp([every for every, _ in dead.values()]) > 0.1
        and np.ptp([every for every, _ in noisy.values()]) > 0.1,
        "two-largest-score-higher-with-noise": all(two > every for size, (every, two) in noisy.items() if size > 2),
        "more-noisy-latents-score-lower": bool((np.diff([every for every, _ in noisy.values()]) < 0).all()),
        "more-constant-latents-score-lower": bool((np.diff([every for every, _ in dead.values()]) < 0).all()),
        "library-as-by-hand": np.allclose(by_library, by_hand, atol=ROUNDING),
        "settings": min(len(dead), len(noisy)),
        "all/three-alike-of-25": alike[0],
        "two-largest/three-alike-of-25": alike[1],
        "all/constant-25": dead[25][0],
        "all/noisy-25": noisy[25][0],
    }


def perfect_alignment(context: Context) -> dict[str, bool | float]:
    """The axis-alignment ratio of codes of two factors, and which latent each factor moves most.

    "one-latent" writes both factors into one latent, "sum" adds them up there; "changing" moves another latent along
    every other traversal of x. Equation 4.4 is a mean of ratios; beside it stands the ratio of the mean variances.
    """
    data = XYSquares(2, 2, squares=1, image_size=16)
    x, y = data.space.factors(torch.arange(len(data))).double().T
    zero, even = torch.zeros_like(x), y % 2 == 0
    codes = {
        "factors": [x, y],
        "one-latent": [8 * x + y, zero],
        "sum": [x + y, zero, zero],
        "changing": [torch.where(even, x, zero), torch.where(even, zero, x), y],
    }
    found, off, shared = {}, [], []
    for name, columns in codes.items():
        code = torch.stack(columns, 1)
        score = metrics.axis_alignment_ratio(
            Encodings.from_table(code, data), seed=context.seed, num_samples=TRAVERSALS
        )
        lines = [code.view(8, 8, -1).transpose(0, axis).numpy() for axis in (1, 0)]
        moved = {int(traversals.var(1).mean(0).argmax()) for traversals in lines}
        shared.append(float(score) > 1 - ROUNDING and len(moved) < 2)
        ratio, of_means = _of_traversals(lines[0])
        off.append(abs(ratio - score.values["x_R"]))
        found |= {
            f"axis-alignment/{name}": float(score),
            f"axis-alignment-of-x/{name}": ratio,
            f"ratio-of-means-of-x/{name}": of_means,
            f"latents-moved-most/{name}": len(moved),
        }
    return found | {
        "a-score-of-1-means-a-latent-for-each-factor": not any(shared),
        "a-factor-at-1-is-in-one-latent": found["axis-alignment-of-x/changing"] < 1 - ROUNDING,
        "factors-score-1": found["axis-alignment/factors"] > 1 - ROUNDING,
        "library-as-the-mean-of-ratios": max(off) < ROUNDING,
        "ratio-of-means-sees-it": found["ratio-of-means-of-x/changing"] < 0.5,
        "settings": len(codes),
    }


def geometric(context: Context) -> dict[str, bool | float]:
    """The geometric mean of factors' scores beside the arithmetic one, and what one low score does to each."""
    draws = np.random.default_rng(context.seed)
    below, drops = [], []
    for size in (2, 3, 6, 10):
        for scores in draws.uniform(0.05, 1, (50, size)):
            below.append(scores.mean() - np.exp(np.log(scores).mean()))
            lower = scores.copy()
            lower[0] /= 10
            drops.append((lower.prod() / scores.prod()) ** (1 / size) - lower.mean() / scores.mean())
    zeros = [np.array([0.0] + [1.0] * (size - 1)) for size in (3, 2, 6, 10)]
    negative = np.array([-0.5, -0.5, 1.0])  # two correlations below 0
    return {
        "at-most-the-arithmetic-mean": min(below) >= -ROUNDING,
        "0-if-one-is-0": all(zero.prod() ** (1 / len(zero)) == 0 < zero.mean() for zero in zeros),
        "share-to-which-a-tenth-of-one-score-costs-more": float(np.mean(np.array(drops) < 0)),
        "score-of-two-negative-correlations": negative.prod() ** (1 / 3),
        "settings": min(len(below), len(zeros)),
    }


def mig_normaliser(context: Context) -> dict[str, bool | float]:
    """The gap of information over the factor's entropy, as the MIG is defined, and over the sum of information.

    Codes of two factors of 8 values: themselves, half of the values told apart, each told twice, and a rotation.
    """
    data = XYSquares(2, 2, squares=1, image_size=16)
    factors = data.space.factors(torch.arange(len(data)))
    x, y = factors.numpy().T
    codes = {
        "factors": np.stack([x, y], 1),
        "half-told": np.stack([x // 4, y // 4], 1),
        "told-twice": np.stack([x, y, x, y], 1),
        "sums": np.stack([x + y, x - y], 1),
        "one-and-a-half": np.stack([x, y, x // 4, y // 4], 1),
    }
    found, off = {}, []
    for name, code in codes.items():
        information = np.array([[_information(latent, factor) for latent in code.T] for factor in (x, y)])
        first, second = np.sort(information, axis=1)[:, ::-1][:, :2].T
        found[f"by-entropy/{name}"] = ((first - second) / np.log(8)).mean()
        found[f"by-sum/{name}"] = ((first - second) / information.sum(1)).mean()
        often = torch.from_numpy(code).repeat(20, 1), factors.repeat(20, 1)  # the score warns of fewer samples
        off.append(abs(found[f"by-entropy/{name}"] - float(metrics.mig.from_samples(*often))))
    same = [abs(found[f"by-entropy/{name}"] - found[f"by-sum/{name}"]) < ROUNDING for name in codes]
    return found | {
        "normalised-by-the-sum-is-the-mig": all(same),
        "library-normalises-by-the-entropy": max(off) < 1e-6,
        "settings": len(codes),
    }


def _two_ways(variances: list[float]) -> tuple[float, float]:
    """The ratio over all variances, Equation 4.8, and the same over the two largest, as if there were no others."""
    largest = np.sort(variances)[::-1]
    size = len(largest)
    every = (largest[0] / largest.sum() - 1 / size) / (1 - 1 / size)
    return every, (largest[0] / largest[:2].sum() - 1 / 2) / (1 / 2)


def _linearity(traversal: torch.Tensor) -> float:
    """The library's, of a code in which every traversal along x is the given one (8, D)."""
    data = XYSquares(2, 2, squares=1, image_size=16)
    table = Encodings.from_table(traversal[data.space.factors(torch.arange(len(data)))[:, 0]], data)
    return metrics.linearity_ratio(table, num_samples=TRAVERSALS).values["x_R"]


def _of_traversals(points: np.ndarray) -> tuple[float, float]:
    """Equation 4.5 of traversals (n, f, D): from the mean of their ratios, and from the ratio of mean variances."""
    variances, size = points.var(1), points.shape[2]
    ratios = variances.max(1) / variances.sum(1)
    means = variances.mean(0)
    return tuple((ratio - 1 / size) / (1 - 1 / size) for ratio in (ratios.mean(), means.max() / means.sum()))


def _information(first: np.ndarray, second: np.ndarray) -> float:
    """Mutual information of two columns of integers, in nats, from their counts."""
    joint = np.zeros((np.ptp(first) + 1, np.ptp(second) + 1))
    np.add.at(joint, (first - first.min(), second - second.min()), 1 / len(first))
    product = np.outer(joint.sum(1), joint.sum(0))
    held = joint > 0
    return float((joint[held] * np.log(joint[held] / product[held])).sum())
