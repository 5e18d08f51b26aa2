"""Seconds of every score on XYSquares with the latents encoded, and its value beside the known one. Run by hand.

The two representations are the factors / 8 and these rotated by a fixed orthogonal matrix. "Seconds" are the
processor's, those of other processes included, and beside them those on the clock. With --growth, how the time of each
score grows with the number of samples n, of latents D and of factors F; with --memory, what each holds: about eight
minutes each, stored in metrics_costs.json.
"""

import sys
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from time import perf_counter

import numpy as np
import torch
from joblib.externals.loky import get_reusable_executor
from metrics_costs import SCORES, TREES, growth, memory

from course_lib import metrics
from course_lib.data import XYSquares

KNOWN = {  # the named value, at the factors and rotated
    "beta_vae_score": ("test", 1.0, 0.932),
    "factor_vae_score": ("test", 1.0, 0.912),
    "mig": ("mig", 0.9985, 0.0796),
    "dci": ("disentanglement", 1.0, 0.311),
    "sap": ("discrete", 0.1237, 0.0422),
    "modularity": ("modularity", 1.0, 0.910),
    "irs": ("irs", 1.0, 0.464),
    "gaussian_total_correlation": ("total_correlation", 0.0003, 0.0003),
    "distance_correlation": ("global", 1.0, 0.8895),  # of independent ends; within batches of 32 it is .899
    "linearity_ratio": ("factors", 1.0, 1.0),
    "axis_alignment_ratio": ("factors", 1.0, 0.40),
}


def latents_of(data, latent_dim=None):
    """The factors / 8, rotated; with `latent_dim` (at least F), noisy, and noise in the dimensions beyond F."""
    factors = data.space.factors(torch.arange(len(data))).double() / 8
    size = factors.shape[1]
    rotated = factors @ torch.tensor(np.linalg.qr(np.random.RandomState(0).randn(size, size))[0])
    if latent_dim is None:
        return factors, rotated
    noise = torch.randn(len(data), latent_dim, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    noise[:, :size] = rotated + 0.05 * noise[:, :size]
    return noise


def time_score(name, table):
    """The score, its processor seconds, and those on the clock."""
    spent, start = cpu_seconds(), perf_counter()
    score = getattr(metrics, name)(table)
    clock = perf_counter() - start
    if name in TREES:
        get_reusable_executor().shutdown(wait=True)  # a process is counted when it has ended
    return score, cpu_seconds() - spent, clock


def cpu_seconds():
    """Of this process and of those that it has started and that have ended."""
    usages = getrusage(RUSAGE_SELF), getrusage(RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def values():
    """Every score at both representations, and its time there and at ten noisy latents."""
    data = XYSquares()
    factors, rotated = latents_of(data)
    tables = [metrics.Encodings.from_table(z, data) for z in (factors, rotated, latents_of(data, 10))]
    heads = ("factors", "known", "rotated", "known", "seconds", "clock", "at D=10", "clock")
    print(f"{'score':<28}{'value':<20}" + "".join(f"{head:>9}" for head in heads))
    for name in SCORES:
        scores, seconds, clock = zip(*[time_score(name, table) for table in tables], strict=True)
        value, *known = KNOWN.get(name, (next(iter(scores[0].values)), None, None))
        cells = [
            f"{score.values[value]:>9.4f}{'' if at is None else at:>9}"
            for score, at in zip(scores[:2], known, strict=True)
        ]
        times = (max(seconds[:2]), max(clock[:2]), seconds[2], clock[2])
        print(f"{name:<28}{value:<20}{''.join(cells)}" + "".join(f"{time:>9.1f}" for time in times), flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case []:
            values()
        case ["--growth", *names]:
            growth(names or SCORES)
        case ["--memory", *names]:
            memory(names or SCORES)
        case _:
            sys.exit(__doc__)
