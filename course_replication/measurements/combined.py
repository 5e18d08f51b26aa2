"""What takes more than one training of a seed: gaps, slopes, ranges and means over several, and sweeps over β."""

from collections.abc import Sequence
from statistics import fmean

import numpy as np

from course_replication.measurements.largest_beta import LEFT
from course_replication.measurements.training import Scores, scores
from course_replication.runs import Context

RELATIVE = ("reconstruction", "kl")  # have no scale of their own: their gaps are shares of the mean of the two
SIDE = 8  # pixels of a square's side, where settings do not say
LABELS = {"BetaVAE": "beta-vae", "AdaGVAE": "ada-gvae"}
SWEPT = (
    "rank", "rank-distinct", "rank-global", "data-rank", "data-rank-distinct", "linearity", "axis-alignment", "mig",
    "dci", "reconstruction", "kl", "active-latents",
)  # fmt: skip
CONTROLS = ("", "control/untrained/", "control/shuffled/")


def gaps(context: Context, trainings: Sequence[dict]) -> Scores:
    """The absolute difference of two trainings in each score, "linearity-gap", and of their controls.

    trainings : here and below, the settings of each, as `training.scores` takes them.
    """
    ours, theirs = (scores(context, **settings) for settings in trainings)
    found = {}
    for name in (name for name in ours if name in theirs):
        gap, mean = abs(ours[name] - theirs[name]), (abs(ours[name]) + abs(theirs[name])) / 2
        share = name.split("/")[-1] in RELATIVE and mean > 0
        found[f"{name}-gap"] = gap / mean if share else gap
    return found


def slopes(context: Context, trainings: Sequence[dict]) -> Scores:
    """The slope of a line through each score over the spacing, in squares' sides: "mig-slope"."""
    found = [scores(context, **settings) for settings in trainings]
    sides = [settings["spacing"] / settings.get("square_size", SIDE) for settings in trainings]
    return {f"{name}-slope": np.polyfit(sides, [each[name] for each in found], 1)[0] for name in found[0]}


def ranges(context: Context, trainings: Sequence[dict]) -> Scores:
    """How far apart the largest and the smallest of each score are: "axis-alignment-peak-gap"."""
    found = [scores(context, **settings) for settings in trainings]
    values = {name: [each[name] for each in found] for name in found[0]}
    return {f"{name}-gap": max(values[name]) - min(values[name]) for name in values}


def means(context: Context, trainings: Sequence[dict]) -> Scores:
    """The mean of each score."""
    found = [scores(context, **settings) for settings in trainings]
    return {name: fmean(each[name] for each in found) for name in found[0]}


def sweep(context: Context, *, frameworks: list[str], betas: list[float], **settings) -> Scores:
    """Train each framework with each β on one dataset, and summarise each score over β.

    frameworks, betas : in the place of `framework` and `beta` of the settings of `training.scores`.

    "mig/dsprites/beta-vae" is the mean over β and "mig-max/dsprites/beta-vae" the largest value; "mig/dsprites" and
    "mig-max/dsprites" are the same over all trainings, "mig-gap/dsprites" how far apart two frameworks' means are, and
    "beta-best/dsprites" the largest β with which every framework reconstructs. "mig/dsprites/beta-vae/beta-0.001" is
    one training's.
    """
    place, found, means = settings["data"].lower(), {}, {}
    tried = {
        kind: {beta: scores(context, framework=kind, beta=beta, **settings) for beta in betas} for kind in frameworks
    }
    for kind, by_beta in tried.items():
        where = f"/{place}/{LABELS[kind]}"
        means[kind] = summary([*by_beta.values()], "")
        found |= summary([*by_beta.values()], where)
        for beta, each in by_beta.items():
            found |= {f"{name}{where}/beta-{beta:g}": each[name] for name in SWEPT if name in each}
    found |= summary([each for by_beta in tried.values() for each in by_beta.values()], f"/{place}")
    if len(frameworks) == 2:
        first, second = means.values()
        found |= {f"{name}-gap/{place}": abs(first[name] - second[name]) for name in SWEPT if name in first}
    good = [beta for beta in betas if all(by_beta[beta]["left"] < LEFT for by_beta in tried.values())]
    return found | {f"beta-best/{place}": max(good, default=0.0)}


def summary(trainings: list[Scores], where: str) -> Scores:
    """The mean, "mig…", and the largest value, "mig-max…", of each score of several trainings and of its controls."""
    found = {}
    for name in (control + score for control in CONTROLS for score in SWEPT):
        values = [each[name] for each in trainings if name in each]
        found |= {f"{name}{where}": fmean(values), f"{name}-max{where}": max(values)} if values else {}
    return found
