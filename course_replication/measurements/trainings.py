"""What trainings of any size share: the framework that settings describe, and how their scores are reported."""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from torch import Tensor

import course_lib.frameworks
from course_lib.distances import Distance
from course_lib.frameworks import SCHEDULES, AdaTripletVAE, Framework
from course_lib.frameworks.framework import KERNEL
from course_lib.models import VAE
from course_replication.runs import Context

ARGUMENTS = {"sampler": "by", "scale": "alpha"}  # what frameworks call the settings of Table A.5
FITTING = ("steps", "batch_size", "learning_rate")  # the settings that `fit` takes
Scores = dict[str, float]


class FloatTripletVAE(AdaTripletVAE):
    """An Ada-TVAE whose triplets are ordered, and ties seen, by sums of quotients in floating-point numbers."""

    def sample(self, space, batch_size: int, generator: torch.Generator) -> Tensor:
        sizes, _ = space.constants(generator.device)

        def distance(first: Tensor, second: Tensor) -> Tensor:
            gaps = (space.factors(first) - space.factors(second)).abs() / (sizes - 1)
            return sum(gaps.unbind(-1))  # one after the other, for rounding depends on the order

        return triplets_by(distance, len(space), batch_size, generator)


def triplets_by(distance: Distance, size: int, n: int, generator: torch.Generator) -> Tensor:
    """n triplets (3, n) of indices below `size`, the second strictly nearer by `distance`; ties are drawn again.

    Nothing waits for the device. At least half of the triplets have to be untied, as they are on a grid of factors.
    """
    anchor, first, second = torch.randint(size, (3, 2 * n + 64), generator=generator, device=generator.device)
    near, far = distance(anchor, first), distance(anchor, second)
    untied_first = (near == far).to(torch.uint8).argsort(stable=True)[:n]
    positive, negative = torch.where(near > far, second, first), torch.where(near > far, first, second)
    return torch.stack([anchor, positive, negative])[:, untied_first]


def once(done: dict, context: Context, settings: dict, train: Callable[[Context, Path, dict], Scores]) -> Scores:
    """What `train` measures with these settings, a checkpoint's path before them; from `done` where that holds it."""
    key = json.dumps(settings, sort_keys=True), context.seed, str(context.device)
    if key not in done:
        # The device is in the name: a checkpoint of another kind of device would be refused.
        name = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:12]
        done[key] = train(context, context.scratch / f"{name}.safetensors", settings)
    return dict(done[key])


def taken(settings: dict, names: tuple[str, ...]) -> dict:
    """Those of the settings that have one of the names, taken out of `settings`."""
    return {name: settings.pop(name) for name in names if name in settings}


def framework_around(
    model: VAE, *, framework: str, schedule: str | None = None, triplet: str = "hard", **settings
) -> Framework:
    """The framework that settings describe, called as in Table A.5, around a network."""
    arguments = SCHEDULES[schedule] if schedule else {}
    arguments = arguments | {ARGUMENTS.get(name, name): value for name, value in settings.items()}
    arguments |= {"margin": None} if triplet == "soft" else {}
    kind = FloatTripletVAE if framework == "FloatTripletVAE" else getattr(course_lib.frameworks, framework)
    return kind(model, **arguments)


def loss_of(framework: Framework) -> str | Tensor:
    """The perceived distance of a framework: its reconstruction loss, by name or as a kernel."""
    return framework.likelihood.kernel if framework.reconstruction == KERNEL else framework.reconstruction


def reported(after: Scores, untrained: Mapping[str, float], shuffled: Mapping[str, float]) -> Scores:
    """The scores of a training with those of its controls, "control/untrained/…" and "control/shuffled/…"."""
    return {
        **after,
        **{f"control/untrained/{name}": value for name, value in untrained.items()},
        **{f"control/shuffled/{name}": value for name, value in shuffled.items()},
    }
