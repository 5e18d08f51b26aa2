"""Trainings on the small grid, XYSquares of 16×16 pixels with two squares, which a CPU can carry.

Two squares of 2 pixels at 8 positions each way are 4,096 images. At a spacing of 2 squares coincide or do not touch, as
at 64×64 with 8; at a spacing of 1, neighbours share a column or row. Settings are called as in claims.yml, so that
deviations from a paper's are found by name.
"""

import hashlib
import json
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

import course_lib.frameworks
from course_lib.data import XYSquares
from course_lib.distances import Distance
from course_lib.frameworks import SCHEDULES, AdaTripletVAE, BetaVAE, Framework
from course_lib.frameworks.framework import KERNEL
from course_lib.metrics import Encodings
from course_lib.models import mlp_vae
from course_lib.replication.measurements.kernels import small_kernel
from course_lib.replication.measurements.trained_scores import (
    dci_score,
    model_scores,
    table_scores,
    trajectory_scores,
    watched,
)
from course_lib.replication.runs import Context
from course_lib.training import fit

ARGUMENTS = {"sampler": "by", "scale": "alpha"}  # what frameworks call the settings of Table A.5
FITTING = ("steps", "batch_size", "learning_rate")  # the settings that `fit` takes
LOG_EVERY, WATCH_EVERY, CHECKPOINT_EVERY = 10, 100, 250  # steps; what is watched are scores on the way
_done: dict[tuple, dict[str, float]] = {}  # what this process has trained, by settings, seed and device


class FloatTripletVAE(AdaTripletVAE):
    """An Ada-TVAE whose triplets are ordered, and ties seen, by sums of quotients in floating-point numbers."""

    def sample(self, space, batch_size: int, generator: torch.Generator) -> Tensor:
        sizes = torch.tensor(space.sizes) - 1

        def distance(first: Tensor, second: Tensor) -> Tensor:
            gaps = (space.factors(first) - space.factors(second)).abs() / sizes
            return sum(gaps.unbind(-1))  # one after the other, for rounding depends on the order

        return triplets_by(distance, len(space), batch_size, generator)


def triplets_by(distance: Distance, size: int, n: int, generator: torch.Generator) -> Tensor:
    """n triplets (3, n) of indices below `size`, the second strictly nearer by `distance`; ties are drawn again."""
    anchor, first, second = torch.randint(size, (3, 2 * n + 64), generator=generator)
    near, far = distance(anchor, first), distance(anchor, second)
    untied = (near != far).nonzero().squeeze(1)[:n]
    positive, negative = torch.where(near > far, second, first), torch.where(near > far, first, second)
    return torch.stack([anchor, positive, negative])[:, untied]


def training(context: Context, **settings) -> dict[str, float]:
    """Train one framework and return every score of it that a claim asks for.

    settings : `framework`; `steps`, `batch_size` and `learning_rate` of `fit`; `latents`; `spacing` of the grid;
        `dci`, of how many points (0: of none, for it takes longest). All else goes to the framework, by the names of
        Table A.5: `schedule` is one of Table 5.2, of which other arguments change parts, `triplet` "soft" or "hard",
        `sampler` its `by`, `scale` its α. The `reconstruction` "learnt" trains a kernel first, for `kernel_steps`.

    "control/untrained/…" are the scores of the network before the first step, "control/shuffled/…" those of the trained
    one when the images have exchanged their representations. A process does not repeat a training that it has done.
    """
    key = json.dumps(settings, sort_keys=True), context.seed, str(context.device)
    if key not in _done:
        name = hashlib.sha256(key[0].encode()).hexdigest()[:12]
        _done[key] = _trained(context, context.scratch / f"{name}.safetensors", settings)
    return dict(_done[key])


def grid(spacing: int = 2) -> XYSquares:
    return XYSquares(spacing, 2, squares=2, image_size=16)


def framework_of(
    data: XYSquares, seed: int, *, framework: str, latents: int, schedule: str | None = None, triplet="hard", **settings
) -> Framework:
    """The framework that settings describe, its network not trained yet."""
    steps = settings.pop("kernel_steps", 0)
    if settings["reconstruction"] == "learnt":
        settings["reconstruction"] = small_kernel(data, seed, steps)
    arguments = SCHEDULES[schedule] if schedule else {}
    arguments = arguments | {ARGUMENTS.get(name, name): value for name, value in settings.items()}
    arguments |= {"margin": None} if triplet == "soft" else {}
    kind = FloatTripletVAE if framework == "FloatTripletVAE" else getattr(course_lib.frameworks, framework)
    return kind(mlp_vae(data, latents, seed=seed), **arguments)


def before_and_after(context: Context, **settings) -> tuple[XYSquares, Framework, Framework]:
    """The grid, and the framework of the settings of `training` without its training and with it; nothing is scored."""
    settings = {name: value for name, value in settings.items() if name != "dci"}
    fitting, data = {name: settings.pop(name) for name in FITTING}, grid(settings.pop("spacing"))
    untrained, framework = (framework_of(data, context.seed, **settings) for _ in range(2))
    _fitted(context, framework, data, context.scratch / "model.safetensors", fitting)
    return data, untrained, framework.to("cpu")


def _trained(context: Context, checkpoint: Path, settings: dict) -> dict[str, float]:
    settings, seed = dict(settings), context.seed
    fitting = {name: settings.pop(name) for name in FITTING}
    spacing, points = settings.pop("spacing"), settings.pop("dci")
    data, framework = grid(spacing), framework_of(grid(spacing), seed, **settings)
    loss = framework.likelihood.kernel if framework.reconstruction == KERNEL else framework.reconstruction
    before = table_scores(encodings(framework, data), seed, loss) | model_scores(framework, data, seed)
    before |= _untrained_dci(spacing, settings["latents"], seed, points)
    history = _fitted(context, framework, data, checkpoint, fitting, [watched(data, seed, WATCH_EVERY)])
    framework.to("cpu")
    table = encodings(framework, data)
    after = table_scores(table, seed, loss) | dci_score(table, seed, points) | model_scores(framework, data, seed)
    places = torch.randperm(len(data), generator=torch.Generator().manual_seed(seed))
    shuffled = table_scores(Encodings.from_table(table(places), data), seed, loss)
    return {
        **after,
        **trajectory_scores(history.to_frame(), fitting["steps"]),
        **{f"control/untrained/{name}": value for name, value in before.items()},
        **{f"control/shuffled/{name}": value for name, value in shuffled.items()},
    }


def _fitted(context: Context, framework: Framework, data: XYSquares, checkpoint: Path, fitting: dict, callbacks=()):
    """Train the framework, from its checkpoint if there is one; the history."""
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    return fit(
        framework, data, seed=context.seed, device=context.device, checkpoint=checkpoint,
        checkpoint_every=CHECKPOINT_EVERY, log_every=LOG_EVERY, callbacks=[*callbacks], **fitting,
    )  # fmt: skip


@cache  # the same for every framework
def _untrained_dci(spacing: int, latents: int, seed: int, points: int) -> dict[str, float]:
    data = grid(spacing)
    return dci_score(encodings(BetaVAE(mlp_vae(data, latents, seed=seed)), data), seed, points)


def encodings(framework: Framework, data: XYSquares) -> Encodings:
    """The representations of all images, encoded at once: in parts, the last digits would differ."""
    return Encodings.from_table(framework.encode(data.images(torch.arange(len(data)))), data)
