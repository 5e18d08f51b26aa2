"""What more compute buys a VAE: one training, scored on its way, and how fast its MIG rises with the steps."""

import math
from collections.abc import Sequence

import torch

from course_lib import metrics
from course_lib.data import GridDataset
from course_lib.frameworks import Framework
from course_replication.measurements.prices import framework_with, left_of
from course_replication.measurements.training import (
    OF_DATA,
    OF_FIT,
    DrawnOn,
    Exchanged,
    Scores,
    dataset,
    encodings,
    report,
    take,
    train,
)
from course_replication.runs import Context


def by_steps(context: Context, *, levels: Sequence[int], **settings) -> Scores:
    """Train a framework once, and score it after each number of steps of `levels`, the smallest first.

    settings : as in `prices.at_betas`, but for one `beta`. `levels` are multiples of `log_every`, and none is
    beyond `steps`.

    "mig/compute-low" and "mig/compute-high" are the MIG at the first and the last level, and "mig/steps-N" that at
    each; "mig-slope/compute" is its slope over log₁₀ of the steps, by least squares: MIG for ten times the compute.
    "left/…" is the share of the pixels' variance that reconstructions leave. "control/untrained/…" are the scores of
    the network before the first step, which no level changes; "control/shuffled/…" those of the trained one when
    images have exchanged their representations, in another order at each level.
    """
    fitting, data = take(settings, OF_FIT), dataset(**take(settings, OF_DATA))
    framework = framework_with(data, context.seed, **settings).to(context.device)
    drawn = DrawnOn(data, context.device)
    untrained, _ = scored(framework, drawn, context.seed)

    def watch(current: Framework, step: int) -> dict[str, float]:
        if step not in levels:
            return {}
        found, mixed = scored(current, drawn, context.seed, step)
        return found | {f"shuffled-{name}": value for name, value in mixed.items()}

    checkpoint = context.scratch / "model.safetensors"
    history = train(context, framework, data, checkpoint, fitting, [watch])
    rows = {row["step"]: row for row in history.records if row["step"] in levels}
    trained = [{name: rows[level][name] for name in ("mig", "left")} for level in levels]
    shuffled = [{"mig": rows[level]["shuffled-mig"]} for level in levels]
    each = (trained, [untrained] * len(levels), shuffled)
    return report(*(over_levels(levels, found) for found in each))


def over_levels(levels: Sequence[int], found: Sequence[Scores]) -> Scores:
    """Scores of each level by name: of the first and the last, of every level, and the slope of the MIG."""
    named = {"compute-low": found[0], "compute-high": found[-1]}
    named |= {f"steps-{level}": each for level, each in zip(levels, found, strict=True)}
    scores = {f"{score}/{name}": value for name, each in named.items() for score, value in each.items()}
    return scores | {
        "mig-slope/compute": slope([math.log10(level) for level in levels], [each["mig"] for each in found])
    }


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Of the line through points by least squares."""
    middle = sum(x) / len(x)
    return sum((a - middle) * b for a, b in zip(x, y, strict=True)) / sum((a - middle) ** 2 for a in x)


@torch.no_grad()
def scored(framework: Framework, data: GridDataset, seed: int, step: int = 0) -> tuple[Scores, Scores]:
    """MIG and what is left; and the MIG when images have exchanged their representations, in an order of that step."""
    table = encodings(framework, data)
    places = torch.randperm(len(data), generator=torch.Generator().manual_seed(seed + 1000 * step))
    mixed = float(metrics.mig(Exchanged(table, places), seed=seed))
    found = {"mig": float(metrics.mig(table, seed=seed)), "left": left_of(framework, data, seed)}
    return found, {"mig": mixed}
