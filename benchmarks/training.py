"""Steps per second of `fit` against a plain float32 loop over the same networks: python benchmarks/training.py

The two run in turn, A B A B …, and the ratio is the median over the turns: single times depend on what else the
computer is doing. `fit` chooses its precision by itself; "float32" shows what it does without bfloat16.
"""

import statistics
import time

import torch
from torch.optim import Adam

from course_lib.data import DSprites, XYSquares
from course_lib.frameworks import BetaVAE, Step
from course_lib.models import conv_vae, mlp_vae
from course_lib.training import fit
from course_lib.training.precision import multiplies_bfloat16

TURNS = 7
BATCH = 256
SMALL = XYSquares(2, 2, squares=2, image_size=16)
CASES = {
    "conv 64×64×3 XYSquares": (conv_vae, XYSquares(), 6),
    "conv 64×64×1 dSprites": (conv_vae, DSprites(), 6),
    "conv 16×16×2 XYSquares": (conv_vae, SMALL, 30),
    "MLP  16×16×2 XYSquares": (mlp_vae, SMALL, 100),
}


def plain(framework, data, steps):
    """What one would write without a library: default layout, float32, Adam as it comes."""
    optimiser, generator = Adam(framework.parameters(), lr=1e-3), torch.Generator().manual_seed(0)
    for index in range(steps):
        batch = torch.randint(len(data), (BATCH,), generator=generator)
        terms = framework.loss(data.observations(batch).unsqueeze(0), Step(torch.tensor(index), steps, generator))
        optimiser.zero_grad()
        sum(terms.values()).backward()
        optimiser.step()


def ours(framework, data, steps, precision="auto"):
    fit(framework, data, steps=steps, batch_size=BATCH, device="cpu", precision=precision)


def full_precision(framework, data, steps):
    ours(framework, data, steps, "float32")


def rate(train, build, data, steps) -> float:
    framework = BetaVAE(build(data))
    train(framework, data, 2)  # the first steps pay for what is made once
    started = time.perf_counter()
    train(framework, data, steps)
    return steps / (time.perf_counter() - started)


def main():
    units = multiplies_bfloat16(torch.device("cpu"))
    print(f"{torch.get_num_threads()} threads, batch {BATCH}, bfloat16 units: {units}")
    for name, (build, data, steps) in CASES.items():
        turns = [[rate(train, build, data, steps) for train in (plain, full_precision, ours)] for _ in range(TURNS)]
        median = [statistics.median(column) for column in zip(*turns, strict=True)]
        against = [statistics.median(turn[place] / turn[0] for turn in turns) for place in (1, 2)]
        print(
            f"{name}: plain {median[0]:.1f} steps/s, fit {median[2]:.1f} ({against[1]:.2f}×), "
            f"fit in float32 {median[1]:.1f} ({against[0]:.2f}×)"
        )


if __name__ == "__main__":
    main()
