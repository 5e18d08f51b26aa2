"""Are a β-TVAE's factors split over several latents, or turned? python benchmarks/split_or_turned.py [--store]

The small XYSquares of chapter 18 (16×16 pixels, squares of 2, 8 places each way). One row for each training, on a CPU.
`dealt out` counts the latents that follow each factor most, by a least-squares fit of the latents by the factors; a
latent that moves less than a twentieth as far per step as the one that moves farthest follows none. A split leaves the
modularity at 1, a turn does not; both lower the axis alignment. The last rows are factors turned at random, no
training: their range says what a turn looks like among so many latents. `--store` writes split_or_turned.json, which
the text of chapter 18 is compared with.
"""

import argparse
import datetime
import json
import platform
from pathlib import Path

import pandas
import torch
from quiet import hide_progress_bars
from torch import Tensor

from course_lib import metrics
from course_lib.data import XYSquares
from course_lib.frameworks import TripletVAE
from course_lib.metrics import Encodings
from course_lib.models import mlp_vae
from course_lib.training import fit

RECORD = Path(__file__).with_suffix(".json")
CHAPTER = {"steps": 700, "learning_rate": 2e-3}  # as in the chapter
LONGER = {"steps": 1500, "learning_rate": 1e-3}
CASES = {  # name → squares, latents, the framework's settings, the training's, seeds
    "4 latents, ℓ1": (2, 4, {}, CHAPTER, 6),
    "7 latents, ℓ1": (2, 7, {}, CHAPTER, 3),
    "7 latents, ℓ1, β = 0": (2, 7, {"beta": 0.0}, CHAPTER, 2),
    "7 latents, ℓ1, soft": (2, 7, {"margin": None}, CHAPTER, 2),
    "25 latents, ℓ1": (2, 25, {}, LONGER, 2),
    "three squares, 25 latents, ℓ1": (3, 25, {}, {**LONGER, "steps": 2000}, 1),
    "three squares, 25 latents, ℓ2": (3, 25, {"norm": 2}, {**LONGER, "steps": 2000}, 1),
}


def scores(table: Encodings) -> dict[str, float]:
    """Linearity, axis alignment, MIG and modularity."""
    return {
        "linearity": float(metrics.linearity_ratio(table)),
        "axis": float(metrics.axis_alignment_ratio(table)),
        "MIG": float(metrics.mig(table)),
        "modularity": float(metrics.modularity(table)),
    }


def dealt_out(factors: Tensor, code: Tensor) -> str:
    """How many latents of a code (N, D) follow each of the factors (N, F) most, as "2+2+2+1"."""
    centred = [each.double() - each.double().mean(0) for each in (factors, code)]
    steps = torch.linalg.lstsq(*centred).solution.abs()  # (F, D)
    farthest, factor = steps.max(0)
    counts = torch.bincount(factor[farthest > steps.max() / 20], minlength=len(steps))
    return "+".join(map(str, counts.tolist()))


def row(name: str, seed: int) -> dict[str, str | float]:
    """Train one case and look at its code."""
    squares, latents, settings, training, _ = CASES[name]
    data = XYSquares(2, 2, squares=squares, image_size=16)
    framework = TripletVAE(mlp_vae(data, latents, seed=seed), **settings)
    fit(framework, data, batch_size=128, seed=seed, device="cpu", **training)
    index = torch.randint(len(data), (4096,), generator=torch.Generator().manual_seed(0))
    found = dealt_out(data.space.factors(index), framework.encode(data.images(index)))
    return {"dealt out": found, **scores(Encodings(framework.encode, data))}


def rotate_factors(latents: int, times: int = 12) -> dict[str, str]:
    """The range of the scores of four factors turned at random in so many latents."""
    data = XYSquares(2, 2, squares=2, image_size=16)
    factors = data.space.factors(torch.arange(len(data))).double()
    draw = torch.Generator().manual_seed(0)
    noise = torch.randn(times, latents, latents, generator=draw, dtype=torch.float64)
    frame = pandas.DataFrame(
        [scores(Encodings.from_table(factors @ turn[:4], data)) for turn in torch.linalg.qr(noise)[0]]
    )
    return {score: f"{frame[score].min():.3f} to {frame[score].max():.3f}" for score in frame}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(CASES), default=list(CASES), help="for a look; not stored")
    parser.add_argument("--store", action="store_true", help="run all cases and write split_or_turned.json")
    arguments = parser.parse_args()
    hide_progress_bars()
    found = {}
    for name in CASES if arguments.store else arguments.only:
        found[name] = [row(name, seed) for seed in range(CASES[name][-1])]
        labels = [f"{name}, seed {seed}" for seed in range(CASES[name][-1])]
        print(pandas.DataFrame(found[name], index=labels).round(3).to_string(), flush=True)
    if arguments.store:
        versions = {"torch": torch.__version__.split("+")[0], "python": platform.python_version()}
        record = {"date": datetime.date.today().isoformat(), **versions, "runs": found}
        RECORD.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(pandas.DataFrame({f"turned in {latents}": rotate_factors(latents) for latents in (4, 7, 25)}).T.to_string())


if __name__ == "__main__":
    main()
