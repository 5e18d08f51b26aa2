"""Steps per second of `fit` against a plain float32 loop over the same networks: python benchmarks/training.py

The ways run in turn, A B A B …, and a ratio is the median over the turns: single times depend on what else the computer
is doing. On a CPU, `fit` in its own choice of precision and in float32 are held against the plain loop; on a GPU, `fit`
with the step captured in a CUDA graph and without. With `--against CHECKOUT` the `fit` of another checkout of the
course takes its turn in a process of its own, with `--compile` so does `fit` with networks that `torch.compile` has
compiled, and `--profile` says on what `fit` spends its steps. `--store` keeps the figures in training.json.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import torch
from quiet import hide_progress_bars
from torch.optim import Adam
from torch.profiler import ProfilerActivity, profile

from course_lib import frameworks
from course_lib.data import DSprites, XYSquares
from course_lib.frameworks import Step
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
FRAMEWORKS = {  # name → class and settings
    name: (name.partition(",")[0], settings)
    for name, settings in {
        **dict.fromkeys(
            ("BetaVAE", "AnnealedVAE", "FactorVAE", "BetaTCVAE", "DIPVAE", "AAE", "ISAVAE", "ISATCVAE"), {}
        ),
        **dict.fromkeys(("AdaGVAE", "AdaMLVAE", "TripletVAE", "AdaTripletVAE"), {}),
        "BetaVAE, box blur": {"reconstruction": "mse-box"},
        "AdaTripletVAE, perceived": {"by": "perceived"},
    }.items()
}
GPU_STEPS = 300
FILE = Path(__file__).with_suffix(".json")


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


GROUPS = {  # what an operation of the profile is for; the first that fits
    "convolutions": ("convolution", "conv_", "mkldnn_conv"),
    "matrix products": ("mm", "linear"),
    "activations": ("threshold", "clamp_min", "relu"),
    "optimiser": ("adam", "foreach", "lerp", "addcdiv", "addcmul", "sqrt"),
    "casts and copies": ("copy_", "to_", "_to_copy", "clone", "contiguous"),
    "drawing and indexing": ("index", "gather", "scatter", "arange", "random", "normal", "multinomial", "randint"),
}


def built(network, name):
    """A new framework of that name on that network, and its data."""
    builder, data, _ = NETWORKS[network]
    kind, settings = FRAMEWORKS[name]
    return getattr(frameworks, kind)(builder(data), **settings), data


def compiled(framework):
    """The framework with its encoder and decoder compiled in place."""
    for part in (framework.model.encoder, framework.model.decoder):
        part.compile()
    return framework


def rate(train, framework, data, steps) -> float:
    train(framework, data, 2)  # the first steps pay for what is made once
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    started = time.perf_counter()
    train(framework, data, steps)
    return steps / (time.perf_counter() - started)


def rate_of(way, network, name, steps) -> float:
    """Steps per second of a way to train a new framework of that name on that network and its data."""
    framework, data = built(network, name)
    ways = ON_CPU | ON_CUDA
    return rate(ways.get(way, ways["fit"]), compiled(framework) if way == "fit compiled" else framework, data, steps)


class Elsewhere:
    """The `fit` of another checkout, in a process that waits for its turn."""

    def __init__(self, checkout: Path):
        command = [sys.executable, __file__, "--serve"]
        paths = os.environ | {"PYTHONPATH": str(checkout.resolve())}
        self._process = subprocess.Popen(command, env=paths, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait()

    def rate(self, network, name, steps) -> float | None:
        """None where that checkout has no such framework."""
        print(json.dumps([network, name, steps]), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())


def serve():
    """Answer each line [network, framework, steps] with the steps per second of this checkout's `fit`, or null."""
    for line in sys.stdin:
        try:
            found = rate_of("fit", *json.loads(line))
        except (AttributeError, TypeError):  # a class or a setting that came later
            found = None
        print(json.dumps(found), flush=True)


def spent(network, name, steps) -> dict[str, float]:
    """The share of the CPU's time that each group of operations takes in `fit`."""
    framework, data = built(network, name)
    ON_CPU["fit"](framework, data, 2)
    with profile(activities=[ProfilerActivity.CPU]) as found:
        ON_CPU["fit"](framework, data, steps)
    shares, total = dict.fromkeys([*GROUPS, "all else"], 0.0), 0.0
    for event in found.key_averages():
        group = next((group for group, words in GROUPS.items() if any(word in event.key for word in words)), "all else")
        shares[group] += event.self_cpu_time_total
        total += event.self_cpu_time_total
    return {group: round(time / total, 3) for group, time in shares.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--network", nargs="*", choices=list(NETWORKS), default=list(NETWORKS))
    parser.add_argument("--framework", nargs="*", choices=list(FRAMEWORKS), default=["BetaVAE"])
    parser.add_argument("--every", action="store_true", help="all frameworks")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="of the course, whose fit takes a turn too")
    parser.add_argument("--compile", action="store_true", help="compiled networks take a turn too")
    parser.add_argument("--profile", action="store_true", help="say on what fit spends its steps")
    parser.add_argument("--store", action="store_true", help=f"the figures in {FILE.name}")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    hide_progress_bars()
    os.environ["KINETO_LOG_LEVEL"] = "6"  # nor what the profiler says
    if arguments.serve:
        return serve()
    cuda = torch.cuda.is_available()
    where = torch.cuda.get_device_name() if cuda else f"{torch.get_num_threads()} threads"
    where += f", batch {BATCH}, bfloat16 units: {multiplies_bfloat16(torch.device('cuda' if cuda else 'cpu'))}"
    print(where)
    ways = [*(ON_CUDA if cuda else ON_CPU), *["fit compiled"] * arguments.compile]
    stored = json.loads(FILE.read_text()) if FILE.exists() else {}
    with ExitStack() as stack:
        rates = {way: lambda *case, way=way: rate_of(way, *case) for way in ways}
        if arguments.against:
            rates["earlier fit"] = stack.enter_context(Elsewhere(arguments.against)).rate
        for network in arguments.network:
            for name in FRAMEWORKS if arguments.every else arguments.framework:
                steps = GPU_STEPS if cuda else NETWORKS[network][2]
                turns = [{way: run(network, name, steps) for way, run in rates.items()} for _ in range(arguments.turns)]
                case = {way: compared(turns, way, ways[0]) for way in rates if turns[0][way] is not None}
                shown = (f"{way} {found['steps/s']} ({found['ratio']:.2f}×)" for way, found in case.items())
                print(f"{network}, {name}, steps/s: {', '.join(shown)}", flush=True)
                if arguments.profile:
                    case["fit"]["spent"] = shares = spent(network, name, steps)
                    print("    " + ", ".join(f"{group} {share:.0%}" for group, share in shares.items()), flush=True)
                stored[f"{network}, {name}"] = {"where": where, "turns": len(turns), "ways": case}
    if arguments.store:
        FILE.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return None


def compared(turns, way, first) -> dict[str, float]:
    """Median steps per second, and the median over the turns of the ratio to the first way."""
    median = statistics.median(turn[way] for turn in turns)
    ratio = statistics.median(turn[way] / turn[first] for turn in turns)
    return {"steps/s": round(median, 1), "ratio": round(ratio, 3)}


if __name__ == "__main__":
    main()
