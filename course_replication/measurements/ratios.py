"""Claims about the linearity and the axis-alignment ratio, on traversals whose variances are known."""

import math

import numpy as np
import torch

from course_lib import metrics
from course_lib.data import XYSquares
from course_lib.metrics import Encodings
from course_replication.runs import Context

SIZES = (2, 3, 5, 9, 25)  # numbers of latents
ROUNDING = 1e-9
TRAVERSALS = 100
NOISE = 0.1  # of each code, where 1 is a step of the factor
BENDS = {"line": 0.0, "quarter-turn": 0.25, "half-turn": 0.5, "bent": 1.0}  # how far a traversal turns


def normalised(context: Context) -> dict[str, bool]:
    """Traversals in which all latents vary alike, and in which one does, for 2 to 25 latents (Equation 4.5).

    Eight points have no more than seven directions, so the principal variances are all alike for up to seven latents.
    """
    values = torch.arange(8, dtype=torch.float64).unsqueeze(1)
    alike = [metrics.axis_alignment_ratio(_table(values.expand(8, dim)), num_samples=TRAVERSALS) for dim in SIZES]
    alike += [metrics.linearity_ratio(_table(_orthogonal(dim)), num_samples=TRAVERSALS) for dim in range(2, 8)]
    one = [
        score(_table(values * torch.eye(dim, dtype=torch.float64)[dim // 2]), num_samples=TRAVERSALS)
        for dim in SIZES
        for score in (metrics.axis_alignment_ratio, metrics.linearity_ratio)
    ]
    return {
        "equal-variances-give-0": all(abs(score.values["x_R"]) < ROUNDING for score in alike),
        "one-variance-gives-1": all(abs(score.values["x_R"] - 1) < ROUNDING for score in one),
        "as-by-hand-in-between": _as_by_hand(context.generator),
        "settings": min(len(alike), len(one)),
    }


def known_codes(context: Context) -> dict[str, bool | float]:
    """The ratios of noisy codes of x along an axis or turned by 45°, and along a line or bent (Figures 4.1 and 4.2).

    The numbers are those of a noise of a tenth of a step; less, none, and a whole step are tried as well.
    """
    draws, data = context.generator, _data()
    settings = [
        _known_codes(level * torch.randn(len(data), 2, generator=draws, dtype=torch.float64))
        for level in (NOISE, 0.0, 0.5, 1.0)
    ]
    return settings[0] | {
        "aligned-above-rotated": all(
            found["axis-alignment/aligned"] > 0.5 > found["axis-alignment/rotated"] for found in settings
        ),
        "line-above-bent": all(found["linearity/line"] > 0.5 > found["linearity/bent"] for found in settings),
        "settings": len(settings),
    }


def _known_codes(noise: torch.Tensor) -> dict[str, bool | float]:
    data = _data()
    steps = data.space.factors(torch.arange(len(data)))[:, 0].double()
    line = torch.stack([steps, torch.zeros_like(steps)], 1) + noise
    turn = torch.tensor([[1.0, 1.0], [-1.0, 1.0]], dtype=torch.float64) / math.sqrt(2)
    found, by_hand = {}, []
    for name, codes in {"aligned": line, "rotated": line @ turn}.items():
        score = metrics.axis_alignment_ratio(Encodings.from_table(codes, data), num_samples=TRAVERSALS, seed=0)
        found[f"axis-alignment/{name}"] = score.values["x_R"]
        by_hand.append(_of_all_traversals(codes, np.var) - score.values["x_R"])
    for name, turns in BENDS.items():
        codes = _arc(steps, turns) + noise
        score = metrics.linearity_ratio(Encodings.from_table(codes, data), num_samples=TRAVERSALS, seed=0)
        found[f"linearity/{name}"] = score.values["x_R"]
        by_hand.append(_of_all_traversals(codes, _principal) - score.values["x_R"])
    return found | {"as-over-all-traversals": max(map(abs, by_hand)) < 0.01}  # the scores draw 100 of the 8


def orientation(context: Context) -> dict[str, bool | float]:
    """The orientation ratio of ellipses of several widths, turned by 0 to 90°: |cos 2θ| in the plane."""
    found = {}
    for width in (0.0, 0.1, 0.5, 0.9):
        for degrees in range(0, 91, 5):
            table = _table(_ellipse(width, math.radians(degrees)))
            found[width, degrees] = metrics.axis_orientation_ratio(table, num_samples=TRAVERSALS).values["x_R"]
    closed = {key: abs(math.cos(2 * math.radians(key[1]))) for key in found}
    return {
        "at-most-1": all(-ROUNDING < value < 1 + ROUNDING for value in found.values()),
        "same-for-every-width": all(abs(value - found[0.0, key[1]]) < ROUNDING for key, value in found.items()),
        "cosine-of-twice-the-angle": all(abs(found[key] - closed[key]) < ROUNDING for key in found),
        "orientation/0-degrees": found[0.5, 0],
        "orientation/45-degrees": found[0.5, 45],
        "settings": len({width for width, _ in found}),
    }


def _data() -> XYSquares:
    """A grid of x and y, each with 8 values."""
    return XYSquares(2, 2, squares=1, image_size=16)


def _table(traversal: torch.Tensor) -> Encodings:
    """Every traversal along x is the given one (8, D), whatever y is."""
    data = _data()
    return Encodings.from_table(traversal[data.space.factors(torch.arange(len(data)))[:, 0]], data)


def _orthogonal(dim: int) -> torch.Tensor:
    """Eight points with the same variance in every direction of `dim` ≤ 7: cosines of different frequencies (8, D)."""
    place = (torch.arange(8, dtype=torch.float64) + 0.5).unsqueeze(1)
    return (math.pi / 8 * place * torch.arange(1, dim + 1)).cos()


def _as_by_hand(generator: torch.Generator) -> bool:
    """For random traversals, both ratios from the covariance matrix, Equations 4.4 to 4.8 line by line."""
    agree = []
    for dim in SIZES:
        points = torch.randn(8, dim, generator=generator, dtype=torch.float64) * torch.arange(1, dim + 1)
        for score, variances in ((metrics.axis_alignment_ratio, np.var), (metrics.linearity_ratio, _principal)):
            found = score(_table(points), num_samples=TRAVERSALS).values["x_R"]
            agree.append(abs(_ratio(points.numpy(), variances) - found) < ROUNDING)
    return all(agree)


def _ratio(points: np.ndarray, variances) -> float:
    parts, dim = variances(points, axis=0), points.shape[1]
    return (parts.max() / parts.sum() - 1 / dim) / (1 - 1 / dim)


def _principal(points: np.ndarray, axis: int) -> np.ndarray:
    return np.linalg.eigvalsh(np.cov(points.T, bias=True))


def _of_all_traversals(codes: torch.Tensor, variances) -> float:
    """The mean ratio over the 8 traversals along x; x varies more slowly than y."""
    return float(np.mean([_ratio(points, variances) for points in codes.view(8, 8, -1).transpose(0, 1).numpy()]))


def _arc(steps: torch.Tensor, turns: float) -> torch.Tensor:
    """Points at distances of 1 along an arc in the plane that turns by so much from the first to the last (n, 2).

    A full turn ends a step before its start, so that the eight points lie evenly on a circle.
    """
    if turns == 0:
        return torch.stack([steps, torch.zeros_like(steps)], 1)
    angle = 2 * math.pi * turns * steps / 8
    return 8 / (2 * math.pi * turns) * torch.stack([angle.cos(), angle.sin()], 1)


def _ellipse(width: float, angle: float) -> torch.Tensor:
    turn = 2 * math.pi / 8 * torch.arange(8, dtype=torch.float64)
    points = torch.stack([turn.cos(), width * turn.sin()], 1)
    rotation = [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
    return points @ torch.tensor(rotation, dtype=torch.float64)
