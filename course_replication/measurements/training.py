"""Trainings of one framework, small and at the papers' size, and every score of them that a claim asks for.

Small ones are on grids such as XYSquares of 16×16 pixels with two squares of 2, 4,096 images, and fully connected: a
CPU can carry them; at a spacing of 2 squares coincide or do not touch, as at 64×64 with 8, and at 1 neighbours share
a column or row. Full ones are on the papers' images with the convolutional network of Table A.1, for a GPU. Settings
are called as in the claims, so that deviations from a paper's are found by name.
"""

import hashlib
import json
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

import course_lib.data
from course_lib.data import DSpritesImageNet, GridDataset
from course_lib.frameworks import SCHEDULES, BetaVAE, Framework
from course_lib.frameworks.framework import KERNEL
from course_lib.metrics import Encodings
from course_lib.models import VAE, conv_vae, mlp_vae
from course_lib.storage import replace_file
from course_lib.training import History, fit
from course_replication.measurements.few_sprites import ColourFewSprites, FewSprites, FewSpritesImageNet
from course_replication.measurements.float_triplets import FloatTripletVAE
from course_replication.measurements.kernels import small_kernel
from course_replication.measurements.small_shapes import SmallShapes
from course_replication.measurements.small_sprites import SmallSprites
from course_replication.measurements.stored_kernels import STORED, load_kernel
from course_replication.measurements.trained_scores import (
    IMAGES,
    dci_score,
    model_scores,
    report,
    sampled_model_scores,
    table_scores,
    trajectory_scores,
    watched,
)
from course_replication.runs import Context, Run
from course_replication.words import listed

Scores = dict[str, float]
NETWORKS = {"mlp": mlp_vae, "conv": conv_vae}
OF_DATA = ("data", "spacing", "square_size", "squares", "image_size", "place", "visibility")  # what `dataset` takes
OF_FIT = ("steps", "batch_size", "learning_rate", "log_every")  # what `fit` takes
OWN = (SmallShapes, SmallSprites, FewSprites, ColourFewSprites, FewSpritesImageNet)
SMALL = {each.__name__: each for each in OWN}
ARGUMENTS = {"sampler": "by", "scale": "alpha"}  # what frameworks call the settings of Table A.5
CHECKPOINT_EVERY = 1000  # steps


def scores(context: Context, **settings) -> Scores:
    """Train one framework and return every score of it that a claim asks for.

    settings : `data`, the dataset's name, with its `spacing`, `square_size`, `squares` and `image_size` (XYSquares), or
        its `place`, "foreground" or "background", and `visibility` in percent (those with photographs); `network` and
        `latents`; `steps`, `batch_size`, `learning_rate` and `log_every` of `fit`; `watch_every`, after how many steps
        each it is scored on the way (0: never); `dci`, of how many points (0: of none, for it takes longest);
        `framework`. All else goes to the framework, by the names of Table A.5: `schedule` is one of Table 5.2, of
        which other arguments change parts, `triplet` "soft" or "hard", `sampler` its `by`, `scale` its α. The
        `reconstruction` "learnt" trains a kernel first, for `kernel_steps`, or takes the stored kernel of that
        `radius`, `kernel` being the run that it came from.

    "control/untrained/…" are the scores of the network before the first step, "control/shuffled/…" those of the trained
    one when the images have exchanged their representations. Of data too many to be encoded at once, scores rest on a
    sample. What `context.known` or the scratch folder holds is not trained again.
    """
    stored = next((context.known[run] for run in _ids(settings, context.seed) if run in context.known), None)
    if stored is not None:
        return dict(stored["metrics"])
    # The device is in the name: a checkpoint of another kind of device would be refused.
    key = json.dumps([settings, context.seed, str(context.device)], sort_keys=True)
    checkpoint = context.scratch / f"{hashlib.sha256(key.encode()).hexdigest()[:12]}.safetensors"
    place = checkpoint.with_suffix(".json")
    if place.exists():
        return json.loads(place.read_text())
    found = _train_and_score(context, checkpoint, settings)
    place.parent.mkdir(parents=True, exist_ok=True)
    with replace_file(place) as file:
        file.write(json.dumps(found).encode())
    return found


def _ids(settings: dict, seed: int) -> list[str]:
    return [Run("training.scores", settings, seed, scale).id for scale in ("small", "full")]


def dataset(data: str, **options) -> GridDataset:
    """A dataset of `SMALL`, or that of `course_lib.data`, of that name, with its options as in `scores`' settings."""
    if data in SMALL:
        return SMALL[data](**options)
    if data == DSpritesImageNet.__name__:
        return DSpritesImageNet(options["place"], options["visibility"] / 100)
    return getattr(course_lib.data, data)(**options)


def take(settings: dict, names: tuple[str, ...]) -> dict:
    """Those of the settings that have one of the names, taken out of `settings`."""
    return {name: settings.pop(name) for name in names if name in settings}


def framework_of(data: GridDataset, seed: int, *, network: str, latents: int, **settings) -> Framework:
    """The framework that settings describe, its network not trained yet."""
    settings = with_kernel(data, seed, settings)
    return framework_around(NETWORKS[network](data, latents, seed=seed), **settings)


def with_kernel(data: GridDataset, seed: int, settings: dict) -> dict:
    """The settings with a kernel in the place of the `reconstruction` "learnt": trained here, or the stored one."""
    settings = dict(settings)
    steps, radius, run = (settings.pop(name, None) for name in ("kernel_steps", "radius", "kernel"))
    if isinstance(settings["reconstruction"], str) and settings["reconstruction"] == "learnt":
        settings["reconstruction"] = _stored_kernel(radius, run) if run else small_kernel(data, seed, steps)
    return settings


def framework_around(
    model: VAE, *, framework: str, schedule: str | None = None, triplet: str = "hard", **settings
) -> Framework:
    """The framework that settings describe, called as in Table A.5, around a network."""
    arguments = SCHEDULES[schedule] if schedule else {}
    arguments = arguments | {ARGUMENTS.get(name, name): value for name, value in settings.items()}
    arguments |= {"margin": None} if triplet == "soft" else {}
    kind = FloatTripletVAE if framework == FloatTripletVAE.__name__ else getattr(course_lib.frameworks, framework)
    return kind(model, **arguments)


def before_and_after(context: Context, **settings) -> tuple[GridDataset, Framework, Framework]:
    """The data, and the framework of the settings without its training and with it; nothing is scored."""
    fitting, data = take(settings, OF_FIT), dataset(**take(settings, OF_DATA))
    untrained, framework = (framework_of(data, context.seed, **settings) for _ in range(2))
    train(context, framework, data, context.scratch / "model.safetensors", fitting)
    return data, untrained, framework.to("cpu")


def train(
    context: Context, framework: Framework, data: GridDataset, checkpoint: Path, fitting: dict, callbacks=()
) -> History:
    """Train the framework, from its checkpoint if there is one."""
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    return fit(
        framework, data, seed=context.seed, device=context.device, checkpoint=checkpoint,
        checkpoint_every=CHECKPOINT_EVERY, callbacks=[*callbacks], **fitting,
    )  # fmt: skip


def encodings(framework: Framework, data: GridDataset) -> Encodings:
    """The representations of all images, encoded at once where they are few: in parts, the last digits would differ."""
    if len(data) > IMAGES:
        return Encodings(framework.encode, data)
    return Encodings.from_table(framework.encode(data.images(torch.arange(len(data)))), data)


def some_of(data: GridDataset, most: int, seed: int) -> Tensor:
    """Where all images stand, in their order, or `most` of them, drawn by lot, where there are more: int64."""
    if len(data) <= most:
        return torch.arange(len(data))
    return torch.randperm(len(data), generator=torch.Generator().manual_seed(seed))[:most]


def loss_of(framework: Framework) -> str | Tensor:
    """The perceived distance of a framework: its reconstruction loss, by name or as a kernel."""
    return framework.likelihood.kernel if framework.reconstruction == KERNEL else framework.reconstruction


class DrawnOn(GridDataset):
    """A dataset whose images are drawn on one device, wherever the index is, so that a GPU renders what is scored."""

    capturable = False

    def __init__(self, data: GridDataset, device: torch.device):
        self.drawn, self._device = data, device
        self.space, self.shape, self.mean, self.std = data.space, data.shape, data.mean, data.std
        self.source, self.licence, self.citation, self.options = data.source, data.licence, data.citation, data.options

    def render(self, index: Tensor) -> Tensor:
        return self.drawn.render(index.to(self._device))

    def __repr__(self) -> str:
        return repr(self.drawn)


class Exchanged(Encodings):
    """A table in which images have exchanged the representations of another: image i has that of image places[i]."""

    def __init__(self, table: Encodings, places: Tensor):
        super().__init__(table.encode, table.data)
        self._table, self._places = table, places

    def __call__(self, index) -> Tensor:
        return self._table(self._places[self.space.check_index(index).cpu()])


def _train_and_score(context: Context, checkpoint: Path, settings: dict) -> Scores:
    rest, seed = dict(settings), context.seed
    fitting, options, points = take(rest, OF_FIT), take(rest, OF_DATA), rest.pop("dci")
    watch_every, data = rest.pop("watch_every"), DrawnOn(dataset(**options), context.device)
    framework = framework_of(data, seed, **rest).to(context.device)
    before = _scored(framework, encodings(framework, data), seed, 0)
    sized = (rest["network"], rest["latents"], seed, points, context.device)
    before |= _untrained_dci(tuple(options.items()), *sized)
    watches = [watched(data, seed, watch_every)] if watch_every else []
    history = train(context, framework, data.drawn, checkpoint, fitting, watches)
    framework.to("cpu" if len(data) <= IMAGES else context.device)
    table = encodings(framework, data)
    after = _scored(framework, table, seed, points)
    places = torch.randperm(len(data), generator=torch.Generator().manual_seed(seed))
    mixed = Exchanged(table, places) if len(data) > IMAGES else Encodings.from_table(table(places), data)
    shuffled = table_scores(mixed, seed, loss_of(framework))
    return report(after | trajectory_scores(history.to_frame(), fitting["steps"]), before, shuffled)


def _scored(framework: Framework, table: Encodings, seed: int, points: int) -> Scores:
    """All scores of a table of the framework's representations, DCI from that many points."""
    found = table_scores(table, seed, loss_of(framework)) | dci_score(table, seed, points)
    if len(table) > IMAGES:
        return found | sampled_model_scores(framework, table, seed)
    return found | model_scores(framework, table.data, seed)


@cache  # the same for every framework
def _untrained_dci(options: tuple, network: str, latents: int, seed: int, points: int, device: torch.device) -> Scores:
    if not points:
        return {}
    data = DrawnOn(dataset(**dict(options)), device)
    framework = BetaVAE(NETWORKS[network](data, latents, seed=seed)).to(device)
    return dci_score(encodings(framework, data), seed, points)


def _stored_kernel(radius: int, run: str) -> Tensor:
    stored = {config["id"]: kernel for kernel, config in (load_kernel(radius, scale) for scale in STORED)}
    if run not in stored:
        raise ValueError(f"kernel: got {run!r}; those stored of radius {radius} are of {listed(stored)}.")
    return stored[run]
