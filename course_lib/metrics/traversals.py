"""What the linearity and the axis-alignment ratio share: how much of a traversal's variance one direction holds."""

from collections.abc import Callable

import numpy as np
import pandas
import torch

from course_lib.arguments import MOST, check_integers
from course_lib.metrics.encodings import as_table, rounding
from course_lib.metrics.grids import grid_rows, whole_traversals
from course_lib.metrics.samples import generator, require_variation, warn_if_few
from course_lib.metrics.scale import powers
from course_lib.metrics.score import Score, geometric_mean, with_factors
from course_lib.sampling import traversals

SMALLEST = 100  # traversals: their mean is then known to .05 at worst
CHUNK = 2**17  # representations held at a time

Directions = Callable[[np.ndarray], np.ndarray]


def variances(points: np.ndarray) -> np.ndarray:
    """The variance of each latent over each traversal, times f: centred (n, f, D) → (n, D)."""
    return (points**2).sum(1)


def principal_variances(points: np.ndarray) -> np.ndarray:
    """The variance along each principal axis of each traversal, times f: centred (n, f, D) → (n, min(f, D))."""
    return np.linalg.svd(points, compute_uv=False) ** 2


def ratio_score(name: str, directions: Directions, encode, data, seed: int, num_samples: int) -> Score:
    """The score whose factor value is the mean over traversals of (r − 1/D)/(1 − 1/D), r = max / Σ of `directions`."""
    check_integers(1, MOST, num_samples=num_samples)
    warn_if_few(num_samples, SMALLEST, name)
    table, draws = as_table(encode, data), generator(seed)
    varying = [factor for factor, size in zip(table.space.names, table.space.sizes, strict=True) if size > 1]
    require_variation(varying)
    ratios = {}
    for factor in varying:
        index = traversals(table.space, factor, num_samples, draws)
        ratios[factor] = _mean_ratio(table, index, directions)
    return _named(name, ratios, {"traversals": num_samples, "seed": seed})


def ratio_from_samples(name: str, directions: Directions, latents, factors, names=None) -> Score:
    """The score of a table, from each of its whole traversals once: no random draw is left in it."""
    rows, ratios, fewest = grid_rows(latents, factors, names), {}, MOST
    for factor in rows.varying:
        index = whole_traversals(rows, factor, name)
        ratios[factor] = _mean_ratio(rows.latents.__getitem__, index, directions)
        fewest = min(fewest, len(index))
    return _named(name, ratios, {"traversals": fewest})


def _named(name: str, ratios: dict[str, float], settings: dict) -> Score:
    headline = geometric_mean(ratios.values())
    matrix = pandas.DataFrame([ratios], index=["ratio"]).rename_axis("factor", axis=1)
    return Score(name, headline, with_factors({"factors": headline}, ratios), settings, matrix, "")


def _ratios(points: torch.Tensor, directions: Directions) -> np.ndarray:
    """The normalised ratio of each traversal (n, f, D): 0 if it does not move, 1 if it moves and D = 1."""
    latent_dim, noise = points.shape[2], rounding(points).numpy()
    points = points.double().numpy()
    points = points - points[:, :1]  # exactly 0 where nothing moves, which the mean alone would not be
    points[np.broadcast_to(np.ptp(points, axis=1, keepdims=True) <= noise, points.shape)] = 0
    moves = np.abs(points).max((1, 2)) > 0
    points = points[moves] - points[moves].mean(1, keepdims=True)
    values = directions(np.ldexp(points, -powers(points, (1, 2))[:, None, None]))
    ratio = values.max(1) / values.sum(1)
    result = np.zeros(len(moves))
    result[moves] = (ratio - 1 / latent_dim) / (1 - 1 / latent_dim) if latent_dim > 1 else 1.0
    return result


def _mean_ratio(table: Callable[[torch.Tensor], torch.Tensor], index: torch.Tensor, directions: Directions) -> float:
    """The mean ratio of traversals (n, f), whose representations `table` gives, so many at a time as fit."""
    parts = index.split(max(CHUNK // index.shape[1], 1))
    return float(np.concatenate([_ratios(table(part), directions) for part in parts]).mean())
