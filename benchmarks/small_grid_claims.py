"""The thesis' claims in small, on a 16×16 grid of XYSquares: python benchmarks/small_grid_claims.py

Two squares of 2 pixels, 8 positions each way: 4,096 images whose distances, pixel by pixel, say nothing about the
factors. Each row is a training of 4,000 steps with batches of 256, on a CPU. `factors` is the rank correlation of
latent and ground-truth distances along factors by the published protocol, `distinct` the same without the pairs of a
point and itself, which any encoder gets right, and `global` that of pairs anywhere.
"""

import argparse
import time

import pandas
import torch
from quiet import hide_progress_bars

from course_lib import metrics
from course_lib.data import XYSquares
from course_lib.frameworks import AdaTripletVAE, BetaVAE, TripletVAE
from course_lib.models import conv_vae, mlp_vae
from course_lib.training import fit

DATA = XYSquares(2, 2, squares=2, image_size=16)
LATENTS = 7
CASES = {  # name → network, framework
    "untrained MLP": (mlp_vae, None),
    "MLP, MSE": (mlp_vae, lambda model: BetaVAE(model, 0.01, reduction="mean")),
    "MLP, MSE + box blur": (mlp_vae, lambda model: BetaVAE(model, 0.01, reconstruction="mse-box", reduction="mean")),
    "untrained conv": (conv_vae, None),
    "conv, MSE": (conv_vae, lambda model: BetaVAE(model, 0.001, reduction="mean")),  # at .01 it hardly reconstructs
    "MLP, triplets": (mlp_vae, TripletVAE),
    "MLP, adaptive triplets": (mlp_vae, AdaTripletVAE),
}


def row(name: str, seed: int, steps: int) -> dict[str, float]:
    """Train one case and score it."""
    network, build = CASES[name]
    framework = (build or BetaVAE)(network(DATA, LATENTS, seed=seed))
    started = time.perf_counter()
    if build is not None:
        fit(framework, DATA, steps=steps, seed=seed, device="cpu")
    seconds = time.perf_counter() - started
    table = metrics.Encodings(framework.encode, DATA)
    distances = metrics.distance_correlation(table, seed=seed)
    return {
        "factors": float(distances),
        "distinct": distances.values["distinct_factors"],
        "global": distances.values["global"],
        "linearity": float(metrics.linearity_ratio(table, seed=seed)),
        "axis": float(metrics.axis_alignment_ratio(table, seed=seed)),
        "MIG": float(metrics.mig(table, seed=seed)),
        "seconds": seconds,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", nargs="*", choices=list(CASES), default=list(CASES))
    arguments = parser.parse_args()
    hide_progress_bars()
    print(f"{torch.get_num_threads()} threads, {arguments.steps} steps, {arguments.seeds} seeds")
    for name in arguments.only:
        rows = [row(name, seed, arguments.steps) for seed in range(arguments.seeds)]
        frame = pandas.DataFrame(rows, index=[f"{name}, seed {seed}" for seed in range(arguments.seeds)])
        print(frame.round(3).to_string(), flush=True)


if __name__ == "__main__":
    main()
