"""Claims about factors that one line cannot hold: those that come round again, and those that are made of others."""

import numpy as np
import torch
from scipy.stats import spearmanr

from course_lib import metrics
from course_replication.runs import Context

ROUNDING = 1e-9
SPLITS = ((2, 12), (3, 8), (4, 6), (1, 24))  # of a factor of 24 values into two; the last is no split


def cyclic(context: Context) -> dict[str, bool | float]:
    """Codes of a factor of 8, 24 or 40 values that comes round again, such as an angle: on a circle, and on a line.

    The circle keeps neighbours next to each other, the last and the first among them; the line is the value itself.
    Variances, and correlations over all pairs of unlike values, are those of the points; distances of the factor are
    plain, as the scores take them, or the shorter way round.
    """
    found = {}
    for size in (8, 24, 40):
        place = np.arange(size)
        angle = 2 * np.pi * place / size
        plain = np.abs(np.subtract.outer(place, place))
        around = np.minimum(plain, size - plain)
        for name, code in {
            "circle": np.stack([np.cos(angle), np.sin(angle)], 1),
            "line": np.stack([place, 0 * place], 1),
        }.items():
            largest = np.linalg.eigvalsh(np.cov(code.T, bias=True)).max() / code.var(0).sum()
            found[f"linearity/{name}/{size}"] = 2 * largest - 1
            found[f"axis-alignment/{name}/{size}"] = 2 * code.var(0).max() / code.var(0).sum() - 1
            apart = np.abs(code[:, None] - code).sum(2).round(9)
            unlike = ~np.eye(size, dtype=bool)
            found[f"rank/{name}/plain/{size}"] = spearmanr(apart[unlike], plain[unlike]).statistic
            found[f"rank/{name}/around/{size}"] = spearmanr(apart[unlike], around[unlike]).statistic
    return found | {
        "circles-score-0-by-both-ratios": all(
            abs(found[f"{score}/circle/{size}"]) < ROUNDING
            for score in ("linearity", "axis-alignment")
            for size in (8, 24, 40)
        ),
        "circles-rank-lower-than-lines": all(
            found[f"rank/circle/plain/{size}"] < found[f"rank/line/plain/{size}"] for size in (8, 24, 40)
        ),
        "the-other-way-round-once-distances-go-round": all(
            found[f"rank/circle/around/{size}"] > found[f"rank/line/around/{size}"] for size in (8, 24, 40)
        ),
        "settings": sum(name.startswith("linearity/circle/") for name in found),
    }


def split(context: Context) -> dict[str, bool | float]:
    """MIG and modularity of a code that holds a factor of 24 values as two, scored against it and against the two.

    In closed form the MIG of the whole is (log b − log a) / log 24, for parts of a < b values; a second factor, of 5
    values, is held by a latent of its own.
    """
    found, off = {}, []
    for small, large in SPLITS:
        whole, other = (part.flatten() for part in np.meshgrid(np.arange(24), np.arange(5), indexing="ij"))
        parts = np.stack([whole // large, whole % large, other], 1)
        code = torch.from_numpy(parts).double().repeat(40, 1)
        for name, factors in {"whole": np.stack([whole, other], 1), "parts": parts}.items():
            truth = torch.from_numpy(factors).repeat(40, 1)
            found[f"mig/{name}/{small}x{large}"] = float(metrics.mig.from_samples(code, truth, bins=24))
            if name == "whole":
                found[f"modularity/{name}/{small}x{large}"] = float(metrics.modularity.from_samples(code, truth))
        closed = ((np.log(large) - np.log(small)) / np.log(24) + 1) / 2
        off.append(abs(found[f"mig/whole/{small}x{large}"] - closed))
    split_up = [f"{small}x{large}" for small, large in SPLITS if small > 1]
    return found | {
        "scores-lower-against-the-whole": all(
            found[f"mig/whole/{name}"] < found[f"mig/parts/{name}"] - 0.1 for name in split_up
        ),
        "as-in-closed-form": max(off) < ROUNDING,
        "no-split-costs-nothing": abs(found["mig/whole/1x24"] - 1) < ROUNDING,
        "modularity-does-not-mind": all(abs(found[f"modularity/whole/{name}"] - 1) < 0.01 for name in split_up),
        "settings": len(split_up),
    }
