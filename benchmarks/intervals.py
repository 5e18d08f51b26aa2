"""How often an interval of a score holds what it should: halves of the rows beside two bootstraps.

From known worlds: two factors of 5 values, mixed into two of three latents, and noise. The target is the mean score of
tables of as many rows. `benchmarks/intervals.py [ROWS] [TABLES]` prints the shares and stores them in intervals.json,
in some five minutes with 600 rows and 200 tables.
"""

import json
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np

from course_lib import metrics
from course_lib.metrics.confidence import half_sample_interval
from course_lib.metrics.samples import as_samples

SCORES = {
    "mig": metrics.mig.from_samples,
    "mutual_information": metrics.mutual_information.from_samples,
    "modularity": partial(metrics.modularity.from_samples, explicitness=False),
    "irs": metrics.irs.from_samples,
    "gaussian_total_correlation": metrics.gaussian_total_correlation.from_samples,
    "wasserstein_correlation": metrics.wasserstein_correlation.from_samples,
}
FILE = Path(__file__).with_suffix(".json")
REPLICATES, KNOWN = 60, 400  # of each table; tables that the target is the mean of


def draw_table(rows: int, draws: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Latents (rows, 3) and factors (rows, 2)."""
    factors = draws.integers(0, 5, (rows, 2))
    mixed = factors @ np.array([[1, -0.3, 0], [0.5, 1, 0]])
    return mixed + 0.6 * draws.normal(size=(rows, 3)), factors


def bootstrap(score, latents, factors, draws: np.random.Generator) -> np.ndarray:
    """The scores of REPLICATES tables whose rows are drawn from this one's with replacement."""
    picks = draws.integers(0, len(latents), (REPLICATES, len(latents)))
    return np.array([float(score(latents[rows], factors[rows])) for rows in picks])


def coverage(score, rows: int, tables: int, seed: int = 0) -> dict[str, float]:
    """The share of tables whose interval holds the target, by kind of interval."""
    draws = np.random.default_rng(seed)
    target = np.mean([float(score(*draw_table(rows, draws))) for _ in range(KNOWN)])
    held = {"halves": 0, "bootstrap, percentile": 0, "bootstrap, normal": 0}
    for number in range(tables):
        latents, factors = draw_table(rows, draws)
        low, high, _ = half_sample_interval(score, as_samples(latents, factors), REPLICATES, number)
        again, whole = bootstrap(score, latents, factors, draws), float(score(latents, factors))
        ends = np.quantile(again, [0.025, 0.975])
        held["halves"] += low <= target <= high
        held["bootstrap, percentile"] += ends[0] <= target <= ends[1]
        held["bootstrap, normal"] += abs(whole - target) <= 1.96 * again.std(ddof=1)
    return {kind: float(count / tables) for kind, count in held.items()}


if __name__ == "__main__":
    rows, tables = (int(given) for given in (sys.argv[1:] + ["600", "200"][len(sys.argv) - 1 :]))
    warnings.simplefilter("ignore")
    found = {"rows": rows, "tables": tables, "replicates": REPLICATES, "held": {}}
    for name, score in SCORES.items():
        found["held"][name] = shares = coverage(score, rows, tables)
        print(f"{name:<28}" + "  ".join(f"{kind} {share:.3f}" for kind, share in shares.items()), flush=True)
    FILE.write_text(json.dumps(found, indent=1) + "\n")
