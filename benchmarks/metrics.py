"""Seconds of every score on XYSquares with the latents encoded, and its value beside the known one. Run by hand.

The two representations are the factors / 8 and these rotated by a fixed orthogonal matrix. With --growth, how the time
of each score grows with the number of samples n, of latents D and of factors F.
"""

import sys
from time import perf_counter

import numpy as np
import torch

from course_lib import metrics
from course_lib.data import XYSquares

SCORES = [name for name in metrics.__all__ if name not in {"Encodings", "Evaluation", "Score", "evaluate"}]
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


def timed(name, table, **options):
    """The score and its seconds."""
    start = perf_counter()
    score = getattr(metrics, name)(table, **options)
    return score, perf_counter() - start


def values():
    """Every score at both representations, and its time there and at ten noisy latents."""
    data = XYSquares()
    factors, rotated = latents_of(data)
    tables = [metrics.Encodings.from_table(z, data) for z in (factors, rotated, latents_of(data, 10))]
    print(
        f"{'score':<28}{'value':<20}{'factors':>10}{'known':>9}{'rotated':>10}{'known':>9}{'seconds':>10}{'D = 10':>9}"
    )
    for name in SCORES:
        scores, seconds = zip(*[timed(name, table) for table in tables], strict=True)
        value, *known = KNOWN.get(name, (next(iter(scores[0].values)), None, None))
        cells = [
            f"{score.values[value]:>10.4f}{'' if at is None else at:>9}"
            for score, at in zip(scores[:2], known, strict=True)
        ]
        print(f"{name:<28}{value:<20}{''.join(cells)}{max(seconds[:2]):>10.1f}{seconds[2]:>9.1f}", flush=True)


def growth():
    """Seconds of each score at twice the samples, latents and factors."""
    small, large = XYSquares(squares=2), XYSquares()
    print(f"{'score':<28}{'F=4 D=6':>10}{'2n':>8}{'2D':>8}{'F=6':>8}")
    for name in SCORES:
        n = 2000 if name in {"dci", "downstream_trees"} else 10_000
        runs = [(small, 6, n), (small, 6, 2 * n), (small, 12, n), (large, 6, n)]
        seconds = [
            timed(name, metrics.Encodings.from_table(latents_of(data, d), data), num_samples=m)[1]
            for data, d, m in runs
        ]
        print(f"{name:<28}{seconds[0]:>10.2f}" + "".join(f"{second:>8.2f}" for second in seconds[1:]), flush=True)


if __name__ == "__main__":
    growth() if "--growth" in sys.argv else values()
