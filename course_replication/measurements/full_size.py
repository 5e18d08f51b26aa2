"""Trainings at the paper's size: images of 64×64, the convolutional network of Table A.1, for a GPU.

Settings are called as in claims.yml, so that deviations from a paper's are found by name. Scores are the same as those
of `small_grid.training`, but rest on a sample of the images: these are too many to be encoded or decoded at once.
"""

import json
import os
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

import course_lib.data
from course_lib.data import DSpritesImageNet, GridDataset
from course_lib.frameworks import BetaVAE, Framework, TripletVAE
from course_lib.metrics import Encodings
from course_lib.models import conv_vae
from course_lib.training import History, fit
from course_replication.measurements.stored_kernels import load_kernel
from course_replication.measurements.trained_scores import (
    dci_score,
    sampled_model_scores,
    table_scores,
    trajectory_scores,
    watched,
)
from course_replication.measurements.trainings import (
    FITTING,
    Scores,
    framework_around,
    loss_of,
    once,
    reported,
    taken,
)
from course_replication.runs import Context, Run

MEASUREMENT = "full_size.training"
DATA = ("data", "spacing", "place", "visibility")  # the settings that `dataset` takes
LOG_EVERY, WATCH_EVERY, CHECKPOINT_EVERY = 20, 960, 2000  # steps; what is watched are scores on the way
_done: dict[tuple, Scores] = {}  # what this process has trained, by settings, seed and device


def training(context: Context, **settings) -> Scores:
    """Train one framework with the convolutional network and return every score of it that a claim asks for.

    settings : as of `small_grid.training`, but that `data` names the dataset, of which XYSquares has its `spacing` and
        DSpritesImageNet its `place`, "foreground" or "background", and its `visibility` in percent. The
        `reconstruction` "learnt" takes the stored kernel of that `radius`; `kernel` is the run that it came from.

    "control/untrained/…" are the scores of the network before the first step, "control/shuffled/…" those of the trained
    one when the images have exchanged their representations. Triplet VAEs are watched on the way. What a process has
    trained, or `context.known` or the scratch folder of an interrupted run holds, is not trained again.
    """
    stored = context.known.get(Run(MEASUREMENT, settings, context.seed, "full").id)
    return dict(stored["metrics"]) if stored else once(_done, context, settings, _kept)


def dataset(data: str, **options) -> GridDataset:
    """The dataset of `course_lib.data` of that name, with its options as in the settings of `training`."""
    if data == DSpritesImageNet.__name__:
        return DSpritesImageNet(options["place"], options["visibility"] / 100)
    return getattr(course_lib.data, data)(**options)


class DrawnOn(GridDataset):
    """A dataset whose images are drawn on one device, wherever the index is, so that a GPU renders what is scored."""

    capturable = False

    def __init__(self, data: GridDataset, device: torch.device):
        self._data, self._device = data, device
        self.space, self.shape, self.mean, self.std = data.space, data.shape, data.mean, data.std
        self.source, self.licence, self.citation, self.options = data.source, data.licence, data.citation, data.options

    def render(self, index: Tensor) -> Tensor:
        return self._data.render(index.to(self._device))

    def __repr__(self) -> str:
        return repr(self._data)


class Exchanged(Encodings):
    """A table in which images have exchanged the representations of another: image i has that of image places[i]."""

    def __init__(self, table: Encodings, places: Tensor):
        super().__init__(table.encode, table.data)
        self._table, self._places = table, places

    def __call__(self, index) -> Tensor:
        return self._table(self._places[self.space.check_index(index).cpu()])


def framework_of(data: GridDataset, seed: int, *, latents: int, **settings) -> Framework:
    """The framework that settings describe, its network not trained yet."""
    if settings["reconstruction"] == "learnt":
        settings["reconstruction"] = _kernel(settings.pop("radius"), settings.pop("kernel"))
    return framework_around(conv_vae(data, latents, seed=seed), **settings)


def trained(context: Context, checkpoint: Path, settings: dict, callbacks=()) -> tuple[Framework, History]:
    """The framework of the settings of `training`, trained from its checkpoint if there is one, and its history."""
    settings = {name: value for name, value in settings.items() if name != "dci"}
    fitting, data = taken(settings, FITTING), dataset(**taken(settings, DATA))
    framework = framework_of(data, context.seed, **settings)
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    history = fit(
        framework, data, seed=context.seed, device=context.device, checkpoint=checkpoint,
        checkpoint_every=CHECKPOINT_EVERY, log_every=LOG_EVERY, callbacks=[*callbacks], **fitting,
    )  # fmt: skip
    return framework, history


def scored(framework: Framework, data: GridDataset, seed: int, points: int) -> tuple[Encodings, Scores]:
    """A table of the framework's representations, and all scores of it, DCI from that many points."""
    table = Encodings(framework.encode, data)
    scores = table_scores(table, seed, loss_of(framework)) | dci_score(table, seed, points)
    return table, scores | sampled_model_scores(framework, table, seed)


def _kept(context: Context, checkpoint: Path, settings: dict) -> Scores:
    """`_trained`, its scores kept beside the checkpoint: a run of several trainings goes on from those it finished."""
    place = checkpoint.with_suffix(".json")
    if place.exists():
        return json.loads(place.read_text())
    found = _trained(context, checkpoint, settings)
    place.parent.mkdir(parents=True, exist_ok=True)
    partial = place.with_suffix(".partial")
    partial.write_text(json.dumps(found))
    os.replace(partial, place)  # all of it or nothing
    return found


def _trained(context: Context, checkpoint: Path, settings: dict) -> Scores:
    rest, seed = dict(settings), context.seed
    fitting, options, points = taken(rest, FITTING), taken(rest, DATA), rest.pop("dci")
    data = DrawnOn(dataset(**options), context.device)
    untrained = framework_of(data, seed, **rest).to(context.device)
    _, before = scored(untrained, data, seed, 0)
    before |= _untrained_dci(tuple(options.items()), rest["latents"], seed, points, context.device)
    watches = [watched(data, seed, WATCH_EVERY)] if isinstance(untrained, TripletVAE) else []
    framework, history = trained(context, checkpoint, settings, watches)
    table, after = scored(framework, data, seed, points)
    places = torch.randperm(len(data), generator=torch.Generator().manual_seed(seed))
    shuffled = table_scores(Exchanged(table, places), seed, loss_of(framework))
    return reported(after | trajectory_scores(history.to_frame(), fitting["steps"]), before, shuffled)


@cache  # the same for every framework
def _untrained_dci(options: tuple, latents: int, seed: int, points: int, device: torch.device) -> Scores:
    if not points:
        return {}
    data = DrawnOn(dataset(**dict(options)), device)
    framework = BetaVAE(conv_vae(data, latents, seed=seed)).to(device)
    return dci_score(Encodings(framework.encode, data), seed, points)


def _kernel(radius: int, run: str) -> Tensor:
    kernel, config = load_kernel(radius)
    if config["id"] != run:
        raise ValueError(f"kernel: got {run!r}; the stored one of radius {radius} is that of {config['id']!r}.")
    return kernel
