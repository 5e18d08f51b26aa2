"""Claims about scores of representations that are known: all factors, all but one, none."""

import torch

from course_lib import metrics
from course_lib.data import XYSquares
from course_lib.metrics import Encodings
from course_replication.runs import Context

NEAR = 0.005  # as "100 %" is printed
CHANCE = 0.05  # more than three standard errors of the 800 test votes that a score of noise rests on


def two_scores(context: Context) -> dict[str, bool | float]:
    """The scores of Higgins et al. and of Kim and Mnih, on the factors of a grid of K = 4 and on all but one.

    Answers are also those of K = 2 and 6; scores are those of K = 4.
    """
    found = {2 * squares: _two_scores(squares, context.seed) for squares in (2, 1, 3)}
    answers = [name for name, value in found[4].items() if isinstance(value, bool)]
    return found[4] | {name: all(each[name] for each in found.values()) for name in answers} | {"settings": len(found)}


def _two_scores(squares: int, seed: int) -> dict[str, bool | float]:
    data = XYSquares(2, 2, squares=squares, image_size=16)
    factors = data.space.factors(torch.arange(len(data))).double() / 8
    perfect, missed, scaled = (
        Encodings.from_table(latents, data)
        for latents in (factors, factors[:, :-1], factors * 4.0 ** torch.arange(2 * squares))
    )
    older = float(metrics.beta_vae_score(missed, seed=seed))
    new, new_missed, new_scaled = (
        float(metrics.factor_vae_score(table, seed=seed)) for table in (perfect, missed, scaled)
    )
    return {
        "beta-vae-score/all-but-one": 100 * older,
        "factor-vae-score/all-but-one": 100 * new_missed,
        "all-but-one-scores-1": older > 1 - NEAR,
        "all-but-one-scores-below-1": new_missed < 1 - NEAR,
        "perfect-code-scores-1": new > 1 - NEAR,
        "same-when-latents-are-scaled": new_scaled == new,
    }


def chance(context: Context) -> dict[str, bool | float]:
    """The FactorVAE score of noise on a grid of K = 4 factors, for 2 to 16 latents."""
    data = XYSquares(2, 2, squares=2, image_size=16)
    found = {}
    for dim in (2, 4, 8, 16):
        noise = torch.randn(len(data), dim, generator=context.generator, dtype=torch.float64)
        table = Encodings.from_table(noise, data)
        found[f"factor-vae-score/noise-{dim}"] = float(metrics.factor_vae_score(table, seed=context.seed))
    values = [*found.values()]
    return found | {
        "noise-scores-1-over-k": all(abs(value - 1 / 4) < CHANCE for value in values),
        "same-for-any-number-of-latents": max(values) - min(values) < 2 * CHANCE,
        "settings": len(values),
    }
