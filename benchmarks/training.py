"""Steps per second of `fit` against a plain float32 loop over the same networks: python benchmarks/training.py

The ways run in turn, A B A B …, and a ratio is the median over the turns: single times depend on what else the computer
is doing. On a CPU, `fit` in its own choice of precision and in float32 are held against the plain loop; on a GPU, `fit`
with the step captured in a CUDA graph and without.
"""

import argparse
import os
import statistics
import time

import torch
from torch.optim import Adam

from course_lib.data import DSprites, XYSquares
from course_lib.frameworks import (
    AAE,
    DIPVAE,
    ISATCVAE,
    ISAVAE,
    AdaGVAE,
    AdaMLVAE,
    AdaTripletVAE,
    AnnealedVAE,
    BetaTCVAE,
    BetaVAE,
    FactorVAE,
    Step,
    TripletVAE,
)
from course_lib.models import conv_vae, mlp_vae
from course_lib.training import fit
from course_lib.training.precision import multiplies_bfloat16

BATCH = 256
SMALL = XYSquares(2, 2, squares=2, image_size=16)
NETWORKS = {  # name → builder, data, steps of a turn on a CPU
    "conv 64×64×3 XYSquares": (conv_vae, XYSquares(), 3),
    "conv 64×64×1 dSprites": (conv_vae, DSprites(), 3),
    "conv 16×16×2 XYSquares": (conv_vae, SMALL, 20),
    "MLP  16×16×2 XYSquares": (mlp_vae, SMALL, 60),
}
FRAMEWORKS = {
    "BetaVAE": BetaVAE,
    "BetaVAE, box blur": lambda model: BetaVAE(model, reconstruction="mse-box"),
    "AnnealedVAE": AnnealedVAE,
    "FactorVAE": FactorVAE,
    "BetaTCVAE": BetaTCVAE,
    "DIPVAE": DIPVAE,
    "AAE": AAE,
    "ISAVAE": ISAVAE,
    "ISATCVAE": ISATCVAE,
    "AdaGVAE": AdaGVAE,
    "AdaMLVAE": AdaMLVAE,
    "TripletVAE": TripletVAE,
    "AdaTripletVAE": AdaTripletVAE,
    "AdaTripletVAE, perceived": lambda model: AdaTripletVAE(model, by="perceived"),
}
GPU_STEPS = 300


def plain(framework, data, steps):
    """What one would write without a library: default layout, float32, Adam as it comes, one player after another."""
    device = framework.model.pixel_mean.device
    generator = torch.Generator(device).manual_seed(0)
    optimisers = {}
    for player in framework.players:
        settings = framework.adam(player)
        optimisers[player] = Adam(framework.parameters_of(player), lr=settings["lr"], betas=settings["betas"])
    for index in range(steps):
        views = data.observations(framework.sample(data.space, BATCH, generator))
        for player, optimiser in optimisers.items():
            terms = framework.loss(views, Step(torch.tensor(index, device=device), steps, generator, player))
            framework.zero_grad()
            sum(terms.values()).backward()
            optimiser.step()


def fitted(**options):
    def run(framework, data, steps):
        fit(framework, data, steps=steps, batch_size=BATCH, log_every=steps, **options)

    return run


ON_CPU = {
    "plain": plain,
    "fit in float32": fitted(device="cpu", precision="float32"),
    "fit": fitted(device="cpu"),
}
ON_CUDA = {
    "fit op by op": fitted(device="cuda", capture=False),
    "fit captured": fitted(device="cuda", capture=True),
}


def rate(train, build, network, data, steps) -> float:
    framework = build(network(data))
    train(framework, data, 2)  # the first steps pay for what is made once
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    started = time.perf_counter()
    train(framework, data, steps)
    return steps / (time.perf_counter() - started)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--network", nargs="*", choices=list(NETWORKS), default=list(NETWORKS))
    parser.add_argument("--framework", nargs="*", choices=list(FRAMEWORKS), default=["BetaVAE"])
    parser.add_argument("--every", action="store_true", help="all frameworks, on the first network named")
    arguments = parser.parse_args()
    os.environ["TQDM_DISABLE"] = "1"  # the figures alone, no progress bars between them
    cuda = torch.cuda.is_available()
    ways = ON_CUDA if cuda else ON_CPU
    where = torch.cuda.get_device_name() if cuda else f"{torch.get_num_threads()} threads"
    print(f"{where}, batch {BATCH}, bfloat16 units: {multiplies_bfloat16(torch.device('cuda' if cuda else 'cpu'))}")
    networks = arguments.network[:1] if arguments.every else arguments.network
    for network in networks:
        builder, data, steps = NETWORKS[network]
        for name in FRAMEWORKS if arguments.every else arguments.framework:
            length = GPU_STEPS if cuda else steps
            turns = [
                [rate(train, FRAMEWORKS[name], builder, data, length) for train in ways.values()]
                for _ in range(arguments.turns)
            ]
            median = [statistics.median(column) for column in zip(*turns, strict=True)]
            against = [statistics.median(column[i] / column[0] for column in turns) for i in range(len(ways))]
            shown = (
                f"{way} {speed:.1f} ({times:.2f}×)" for way, speed, times in zip(ways, median, against, strict=True)
            )
            print(f"{network}, {name}, steps/s: {', '.join(shown)}", flush=True)


if __name__ == "__main__":
    main()
