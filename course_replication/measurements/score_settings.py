"""Two scores of known representations under other settings than their own: how much these matter.

The score of Higgins et al. is computed as it was before there were solvers for it: by a linear classifier that sees ten
points at a time (Kim and Mnih 2018, Appendix B). Each score is repeated with `REPEATS` seeds on one representation.
"""

import warnings

import numpy as np
import torch
from torch import Tensor

from course_lib.factors import FactorSpace
from course_lib.metrics import Encodings, factor_vae_score
from course_lib.metrics.fixed_factor import draw_factors, points_with_fixed_factor, varying_factors

REPEATS = 10
PAIRS = (50, 100, 200)  # L of the BetaVAE score, of which the last is the paper's, as in all that follows
ITERATIONS, BATCH, RATE = (1000, 10_000), 10, 0.01  # of its classifier
TESTED = (800, 3200)  # points that it is tested on
IMAGES, VOTES = (25, 50, 100), (80, 800)  # L and the number of votes of the FactorVAE score: as far apart
CHUNK = 512  # points drawn at a time


def settings_scores(tables: list[Encodings], seed: int) -> list[dict[str, float]]:
    """For each representation, means, deviations and ranges of both scores; draws are shared.

    "beta-vae-score/iterations-1000" is a mean over repeats at L = 200; "spread/points-800" a deviation over repeats of
    the fully trained classifier; a range is that of means, over `PAIRS` and `ITERATIONS`, or `IMAGES` and `VOTES`.
    """
    seeds = range(seed * REPEATS, (seed + 1) * REPEATS)
    accuracies = np.stack([classified(tables, torch.Generator().manual_seed(each)) for each in seeds])
    return [_summary(accuracies[:, place], _voted(table, seeds)) for place, table in enumerate(tables)]


def classified(tables: list[Encodings], draws: torch.Generator) -> np.ndarray:
    """Accuracies (tables, L, iterations, points) of linear classifiers by Adagrad; the last axis is as `TESTED`."""
    space, everything = tables[0].space, torch.arange(len(tables[0]))
    factors, count = varying_factors(space), ITERATIONS[-1] * BATCH
    latents = torch.stack([table(everything) for table in tables], 1)
    labels = draw_factors(factors, count + TESTED[-1], draws)
    points = torch.cat([_points(latents, space, part, draws) for part in labels.split(CHUNK)], 2).flatten(0, 1)
    target = torch.searchsorted(factors, labels)
    wanted = torch.nn.functional.one_hot(target, len(factors)).float()
    weight = torch.zeros(len(points), points.shape[2] + 1, len(factors))
    optimiser, found = torch.optim.Adagrad([weight], lr=RATE), []
    for step in range(ITERATIONS[-1]):
        seen = slice(step * BATCH, (step + 1) * BATCH)
        error = _logits(points[:, seen], weight).softmax(2) - wanted[seen]
        weight.grad = torch.cat([points[:, seen].mT @ error, error.sum(1, keepdim=True)], 1) / BATCH
        optimiser.step()
        if step + 1 in ITERATIONS:
            right = _logits(points[:, count:], weight).argmax(2) == target[count:]
            found.append(torch.stack([right[:, :n].double().mean(1) for n in TESTED], 1))
    return torch.stack(found, 1).view(len(tables), len(PAIRS), len(ITERATIONS), len(TESTED)).numpy()


def _points(latents: Tensor, space: FactorSpace, fixed: Tensor, draws: torch.Generator) -> Tensor:
    """Mean absolute differences (tables, L, n, D) of pairs that agree in the factors `fixed` (n,).

    latents : of all images, (N, tables, D). The first pairs of a point are those of a smaller L.
    """
    index = points_with_fixed_factor(space, fixed.repeat_interleave(PAIRS[-1]), 2, draws)
    apart = (latents[index[:, 0]] - latents[index[:, 1]]).abs().unflatten(0, (len(fixed), PAIRS[-1]))
    return torch.stack([apart[:, :size].mean(1) for size in PAIRS]).permute(2, 0, 1, 3)


def _logits(points: Tensor, weight: Tensor) -> Tensor:
    """Of points (C, n, D) by classifiers (C, D + 1, K), the last row of which is the bias."""
    return points @ weight[:, :-1] + weight[:, -1:]


def _voted(table: Encodings, seeds: range) -> np.ndarray:
    """The FactorVAE score (repeats, L, votes)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that votes are few is what is studied
        scores = [
            [
                [float(factor_vae_score(table, seed=each, num_samples=votes, batch_size=images)) for votes in VOTES]
                for images in IMAGES
            ]
            for each in seeds
        ]
    return np.array(scores)


def _summary(accuracies: np.ndarray, votes: np.ndarray) -> dict[str, float]:
    """From accuracies (repeats, L, iterations, points) and votes (repeats, L, votes)."""
    means, spreads = accuracies.mean(0), accuracies[:, -1, -1].std(0, ddof=1)
    found = {f"beta-vae-score/iterations-{n}": means[-1, place, 0] for place, n in enumerate(ITERATIONS)}
    found |= {f"spread/points-{n}": spreads[place] for place, n in enumerate(TESTED)}
    few, many = TESTED
    return found | {
        f"spread-gap/points-{few}-and-{many}": abs(spreads[0] - spreads[1]),
        "range/beta-vae-score": np.ptp(means[..., 0]),
        "range/factor-vae-score": np.ptp(votes.mean(0)),
        "factor-vae-score": votes.mean(0)[-1, -1],
    }
