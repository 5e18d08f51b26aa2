"""Model-steps per second of `fit_many` against `fit` one after the other: python benchmarks/fit_many.py

The two run in turn, A B A B …, on fresh models, and a ratio is the median over the turns: single times depend on what
else the computer is doing. A model-step is one step of one model; of `fit`, three models stand for all.
"""

import argparse
import time

import torch
from quiet import hide_progress_bars
from turns import medians_and_ratio

from course_lib.data import XYSquares
from course_lib.frameworks import AdaTripletVAE, BetaTCVAE, BetaVAE, FactorVAE
from course_lib.models import mlp_vae
from course_lib.training import fit, fit_many

TINY = XYSquares(1, 1, squares=2, image_size=8)
SMALL = XYSquares(2, 2, squares=2, image_size=16)
CASES = {  # name → framework, data, width of the two hidden layers
    "BetaVAE 8×8×2, H 64": (BetaVAE, TINY, 64),
    "BetaVAE 8×8×2, H 128": (BetaVAE, TINY, 128),
    "BetaVAE 8×8×2, H 256": (BetaVAE, TINY, 256),
    "BetaVAE 16×16×2, H 64": (BetaVAE, SMALL, 64),
    "BetaVAE 16×16×2, H 256": (BetaVAE, SMALL, 256),
    "BetaTCVAE 8×8×2, H 64": (BetaTCVAE, TINY, 64),
    "FactorVAE 8×8×2, H 64": (lambda model: FactorVAE(model, hidden=(64, 64)), TINY, 64),
    "AdaTripletVAE 8×8×2, H 64": (AdaTripletVAE, TINY, 64),
}


def rates(case: str, models: int, batch_size: int, steps: int) -> tuple[float, float]:
    """Model-steps per second of `fit` and of `fit_many`."""
    build, data, width = CASES[case]
    run = dict(batch_size=batch_size, log_every=10**6)
    frameworks = [build(mlp_vae(data, 6, hidden=(width, width), seed=seed)) for seed in range(models + 3)]
    fit(frameworks[0], data, steps=5, **run)  # the first steps pay for what is made once
    started = time.perf_counter()
    for seed, framework in enumerate(frameworks[:3]):
        fit(framework, data, steps=10 * steps, seed=seed, **run)
    alone = 30 * steps / (time.perf_counter() - started)
    fit_many(frameworks[3:], data, steps=2, seed=list(range(models)), **run)
    started = time.perf_counter()
    fit_many(frameworks[3:], data, steps=steps, seed=list(range(models)), **run)
    return alone, models * steps / (time.perf_counter() - started)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=90)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--steps", type=int, default=60, help="of fit_many in a turn; fit takes ten times as many")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--case", nargs="*", choices=list(CASES), default=list(CASES))
    arguments = parser.parse_args()
    hide_progress_bars()
    where = torch.cuda.get_device_name() if torch.cuda.is_available() else f"{torch.get_num_threads()} threads"
    print(f"{where}, {arguments.models} models, batch {arguments.batch_size}")
    for case in arguments.case:
        turns = [rates(case, arguments.models, arguments.batch_size, arguments.steps) for _ in range(arguments.turns)]
        alone, together, ratio = medians_and_ratio(turns)
        print(f"{case}, model-steps/s: fit {alone:.0f}, fit_many {together:.0f} ({ratio:.2f}×)", flush=True)


if __name__ == "__main__":
    main()
