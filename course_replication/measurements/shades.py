"""The same images under two sets of factors: a small XYObject whose colour is one factor, or two (Section 7.2)."""

from functools import cache

import torch

from course_lib import metrics
from course_lib.data import GridDataset, XYObject, XYObjectShades
from course_lib.frameworks import BetaVAE
from course_lib.metrics import Encodings
from course_lib.models import mlp_vae
from course_replication.measurements.largest_beta import left_over
from course_replication.measurements.trained_scores import dci_score
from course_replication.measurements.training import (
    NETWORKS,
    OF_FIT,
    encodings,
    framework_around,
    report,
    take,
    train,
)
from course_replication.runs import Context

SETS = {"xyobject": XYObject, "shades": XYObjectShades}
OPTIONS = ("image_size", "positions", "spacing", "sizes")
METHODS = {"BetaVAE": "beta-vae", "AdaGVAE": "ada-gvae"}
PAIRED = ("AdaGVAE",)  # draw pairs by the factors, so that each set of factors has a training of its own


def training(context: Context, **settings) -> dict[str, float]:
    """Train a framework on XYObject and score it by each set of factors: "mig/beta-vae/shades".

    settings : `OPTIONS` of the dataset; all else as in `training.scores`.

    "left" is the share of the pixels' variance that reconstructions leave. "control/untrained/…" are the scores of the
    network before its first step, "control/shuffled/…" those of the trained one when the images have exchanged their
    representations, without DCI.
    """
    settings, seed = dict(settings), context.seed
    fitting, options = take(settings, OF_FIT), take(settings, OPTIONS)
    points, latents, network = (settings.pop(name) for name in ("dci", "latents", "network"))
    options["sizes"] = tuple(options["sizes"])
    after, before, shuffled, framework = {}, {}, {}, None
    for name, kind in SETS.items():
        data = kind(**options)
        if framework is None or settings["framework"] in PAIRED:
            framework = framework_around(NETWORKS[network](data, latents, seed=seed), **settings)
            train(context, framework, data, context.scratch / f"{name}.safetensors", fitting)
            framework.to("cpu")
        label, table = f"{METHODS[settings['framework']]}/{name}", encodings(framework, data)
        places = torch.randperm(len(data), generator=torch.Generator().manual_seed(seed))
        mixed = Encodings.from_table(table(places), data)
        scores = _scores(table, seed, points) | {"left": left_over(framework, data)}
        after |= _labelled(scores, label)
        before |= _labelled(_untrained(kind, tuple(options.items()), latents, seed, points), label)
        shuffled |= _labelled(_scores(mixed, seed, 0), label)
    return report(after, before, shuffled)


@cache  # the same for every framework
def _untrained(kind: type[GridDataset], options: tuple, latents: int, seed: int, points: int) -> dict[str, float]:
    data = kind(**dict(options))
    return _scores(encodings(BetaVAE(mlp_vae(data, latents, seed=seed)), data), seed, points)


def _scores(table: Encodings, seed: int, points: int) -> dict[str, float]:
    return {"mig": float(metrics.mig(table, seed=seed))} | dci_score(table, seed, points)


def _labelled(scores: dict[str, float], label: str) -> dict[str, float]:
    return {f"{name}/{label}": value for name, value in scores.items()}
