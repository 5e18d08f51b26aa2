"""Trainings on the small grid, XYSquares of 16×16 pixels with two squares, which a CPU can carry.

Two squares of 2 pixels at 8 positions each way are 4,096 images. At a spacing of 2 squares coincide or do not touch, as
at 64×64 with 8; at a spacing of 1, neighbours share a column or row. Settings are called as in claims.yml, so that
deviations from a paper's are found by name.
"""

from functools import cache
from pathlib import Path

import torch

from course_lib.data import GridDataset, XYSquares
from course_lib.frameworks import BetaVAE, Framework
from course_lib.metrics import Encodings
from course_lib.models import mlp_vae
from course_lib.training import fit
from course_replication.measurements.kernels import small_kernel
from course_replication.measurements.trained_scores import (
    dci_score,
    model_scores,
    table_scores,
    trajectory_scores,
    watched,
)
from course_replication.measurements.trainings import FITTING, framework_around, loss_of, once, reported, taken
from course_replication.runs import Context

GRID = ("spacing", "square_size", "image_size")  # those that `grid` takes; the last two need not be there
LOG_EVERY, WATCH_EVERY, CHECKPOINT_EVERY = 10, 100, 250  # steps; what is watched are scores on the way
_done: dict[tuple, dict[str, float]] = {}  # what this process has trained, by settings, seed and device


def training(context: Context, **settings) -> dict[str, float]:
    """Train one framework and return every score of it that a claim asks for.

    settings : `framework`; `steps`, `batch_size` and `learning_rate` of `fit`; `latents`; `spacing` of the grid, and
        its `square_size` and `image_size` where they are not 2 and 16; `dci`, of how many points (0: of none, for it
        takes longest). All else goes to the framework, by the names of Table A.5: `schedule` is one of Table 5.2, of
        which other arguments change parts, `triplet` "soft" or "hard", `sampler` its `by`, `scale` its α. The
        `reconstruction` "learnt" trains a kernel first, for `kernel_steps`.

    "control/untrained/…" are the scores of the network before the first step, "control/shuffled/…" those of the trained
    one when the images have exchanged their representations. A process does not repeat a training that it has done.
    """
    return once(_done, context, settings, _trained)


def grid(spacing: int = 2, square_size: int = 2, image_size: int = 16) -> XYSquares:
    return XYSquares(spacing, square_size, squares=2, image_size=image_size)


def framework_of(data: XYSquares, seed: int, *, latents: int, **settings) -> Framework:
    """The framework that settings describe, its network not trained yet."""
    steps = settings.pop("kernel_steps", 0)
    if settings["reconstruction"] == "learnt":
        settings["reconstruction"] = small_kernel(data, seed, steps)
    return framework_around(mlp_vae(data, latents, seed=seed), **settings)


def before_and_after(context: Context, **settings) -> tuple[XYSquares, Framework, Framework]:
    """The grid, and the framework of the settings of `training` without its training and with it; nothing is scored."""
    settings = {name: value for name, value in settings.items() if name != "dci"}
    fitting, data = taken(settings, FITTING), grid(**taken(settings, GRID))
    untrained, framework = (framework_of(data, context.seed, **settings) for _ in range(2))
    fitted(context, framework, data, context.scratch / "model.safetensors", fitting)
    return data, untrained, framework.to("cpu")


def _trained(context: Context, checkpoint: Path, settings: dict) -> dict[str, float]:
    settings, seed = dict(settings), context.seed
    fitting, options, points = taken(settings, FITTING), taken(settings, GRID), settings.pop("dci")
    data = grid(**options)
    framework = framework_of(data, seed, **settings)
    loss = loss_of(framework)
    before = table_scores(encodings(framework, data), seed, loss) | model_scores(framework, data, seed)
    before |= _untrained_dci(tuple(options.items()), settings["latents"], seed, points)
    history = fitted(context, framework, data, checkpoint, fitting, [watched(data, seed, WATCH_EVERY)])
    framework.to("cpu")
    table = encodings(framework, data)
    after = table_scores(table, seed, loss) | dci_score(table, seed, points) | model_scores(framework, data, seed)
    places = torch.randperm(len(data), generator=torch.Generator().manual_seed(seed))
    shuffled = table_scores(Encodings.from_table(table(places), data), seed, loss)
    return reported(after | trajectory_scores(history.to_frame(), fitting["steps"]), before, shuffled)


def fitted(context: Context, framework: Framework, data: GridDataset, checkpoint: Path, fitting: dict, callbacks=()):
    """Train the framework, from its checkpoint if there is one; the history."""
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    return fit(
        framework, data, seed=context.seed, device=context.device, checkpoint=checkpoint,
        checkpoint_every=CHECKPOINT_EVERY, log_every=LOG_EVERY, callbacks=[*callbacks], **fitting,
    )  # fmt: skip


@cache  # the same for every framework
def _untrained_dci(options: tuple, latents: int, seed: int, points: int) -> dict[str, float]:
    data = grid(**dict(options))
    return dci_score(encodings(BetaVAE(mlp_vae(data, latents, seed=seed)), data), seed, points)


def encodings(framework: Framework, data: GridDataset) -> Encodings:
    """The representations of all images, encoded at once: in parts, the last digits would differ."""
    return Encodings.from_table(framework.encode(data.images(torch.arange(len(data)))), data)
