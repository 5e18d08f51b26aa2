"""Trainings that differ in their prior alone: groups of models of several methods, and what is claimed of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas
import torch
from scipy.stats import kurtosis, skew
from torch import Tensor

from course_lib import metrics
from course_lib.data import GridDataset
from course_lib.frameworks import Framework
from course_lib.training import fit_many
from course_lib.training.precision import is_convolutional
from course_replication.measurements.total_correlation import IMAGES, framework_of, reconstructed
from course_replication.measurements.trained_scores import ACTIVE
from course_replication.measurements.training import (
    CHECKPOINT_EVERY,
    OF_DATA,
    OF_FIT,
    Exchanged,
    dataset,
    encodings,
    report,
    take,
    train,
)
from course_replication.runs import Context

Scores = dict[str, float]
SHAPE, HEART = "shape", 2  # the factor of dSprites, and its value
EQUAL = 11  # reconstruction errors at which scores are compared
KEYS = ("method", "beta", "place")  # of a model
NUMBERS = ("reconstruction", "reconstruction/heart", "left", "active-latents", "exponent")  # of a model, beside its MIG


def compared(
    context: Context, *, methods: Mapping[str, Mapping], betas: Sequence[float], models: int, **settings
) -> Scores:
    """Train so many models of each method at each β and compare groups; networks of a place start from one seed.

    methods : name → `framework` and its arguments, but for β; or, with `same_at_1`, the name of another method which it
        is at a β of 1, the first of the betas. Then those models are not trained again.

    "control/untrained/…" is the same of networks without training, "control/shuffled/…" are the scores when the images
    exchange their representations. settings : of `total_correlation.scores`, but for what methods say. Fully connected
    networks of a method are trained side by side.

    Of each group, such as "…/isa-vae/beta-1", "…/beta-high" being the last β: "mig-mean", "mig-median", "mig-max" and
    "bimodality" of its scores, the means of what "reconstruction" costs, of "reconstruction/heart" (where there are
    shapes), of "active-latents" and of the inner "exponent" of the prior, and what is "left" of the pixels' variance.
    "of/mig/…" are single models.
    "mig-at-equal-reconstruction/METHOD" is read off the line through the groups' means, on average over errors that all
    methods have; "latents" is how many there are.
    """
    settings, seeds = dict(settings), range(context.seed * models, (context.seed + 1) * models)
    fitting, data = take(settings, OF_FIT), dataset(**take(settings, OF_DATA))
    index = torch.randperm(len(data), generator=context.generator)
    labels = {beta: f"beta-{beta:g}" for beta in betas} | {betas[-1]: "beta-high"}
    rows, blank, mixed = [], [], []
    for name, method in methods.items():
        own = {key: value for key, value in method.items() if key != "same_at_1"}
        twin = method.get("same_at_1")
        members = {
            (name, labels[beta], place): framework_of(data, seed, **settings, **own, beta=beta).to(context.device)
            for beta in betas[bool(twin) :]
            for place, seed in enumerate(seeds)
        }
        blank = blank or _rows(dict([*members.items()][:models]), data, index)  # all start from the same networks
        _train(context, name, members, data, fitting, seeds)
        rows += _as(name, rows, twin, labels[betas[0]]) + _rows(members, data, index)
        mixed += _as(name, mixed, twin, labels[betas[0]]) + _rows(members, data, index, shuffled=True)
    blank = [row | {"method": name, "beta": beta} for row in blank for name in methods for beta in labels.values()]
    found, untrained, shuffled = (findings(pandas.DataFrame(each)) for each in (rows, blank, mixed))
    for row in rows:
        found["of/mig/{method}/{beta}/{place}".format(**row)] = row["mig"]
    scores = {name: value for name, value in shuffled.items() if "mig" in name or "bimodality" in name}
    return report(found | {"latents": settings["latents"]}, untrained, scores)


def advantage(context: Context, *, of: str, over: str, **settings) -> Scores:
    """What `compared` returns, and "mig-advantage/beta-1" and the like: the mean MIG of one method less the other's.

    of, over : names of two of the methods.
    """
    found = compared(context, **settings)
    first, second = (f"mig-mean/{name}/" for name in (of, over))
    for name in [name for name in found if first in name]:
        found[name.replace(first, "mig-advantage/")] = found[name] - found[name.replace(first, second)]
    return found


def _as(name: str, rows: Sequence[Mapping], twin: str | None, beta: str) -> list[dict]:
    """The rows of another method at that β, under this name."""
    return [row | {"method": name} for row in rows if (row["method"], row["beta"]) == (twin, beta)]


def _train(context: Context, name: str, members: Mapping[tuple, Framework], data, fitting, seeds) -> None:
    """Side by side where the networks are fully connected, else one after the other; from checkpoints, if there are."""
    if not any(map(is_convolutional, members.values())):
        each = [seeds[place] for _, _, place in members]
        context.scratch.mkdir(parents=True, exist_ok=True)
        kept = dict(checkpoint=context.scratch / f"{name}.safetensors", checkpoint_every=CHECKPOINT_EVERY)
        fit_many([*members.values()], data, seed=each, device="cpu", **kept, **fitting)
        return
    for (_, beta, place), framework in members.items():
        own = replace(context, seed=seeds[place])
        train(own, framework, data, context.scratch / f"{name}-{beta}-{place}.safetensors", fitting, [])


def _rows(members: Mapping[tuple, Framework], data: GridDataset, index: Tensor, shuffled: bool = False) -> list[dict]:
    found = []
    for key, framework in members.items():
        table = encodings(framework, data)
        if shuffled:
            table = Exchanged(table, index)
        found.append(dict(zip(KEYS, key, strict=True)) | {"mig": float(metrics.mig(table, seed=key[-1]))})
        if not shuffled:
            found[-1] |= model_of(framework, data, index)
        else:
            found[-1]["reconstruction"] = 0.0
    return found


@torch.no_grad()
def model_of(framework: Framework, data: GridDataset, index: Tensor) -> Scores:
    """What a model costs and uses: from the first images of an order of all, and, of shapes, the first hearts."""
    part = index[:IMAGES]
    codes = framework.encode(data.images(part.to(framework.model.pixel_mean.device)))
    found = reconstructed(framework, data, part) | {"active-latents": (codes.var(0) > ACTIVE).sum()}
    found["exponent"] = framework.prior.inner.mean()
    if SHAPE in data.space.names:
        shapes = data.space.factors(index)[:, data.space.names.index(SHAPE)]
        hearts = reconstructed(framework, data, index[shapes == HEART][:IMAGES])
        found["reconstruction/heart"] = hearts["reconstruction"]
    return {name: float(value) for name, value in found.items()}


def findings(table: pandas.DataFrame) -> Scores:
    """What claims ask of a table with a row for each model: method, beta, place, and its numbers."""
    found: Scores = {}
    for (method, beta), group in table.groupby(["method", "beta"]):
        scores = group["mig"]
        values = {"mig-mean": scores.mean(), "mig-median": scores.median(), "mig-max": scores.max()}
        values |= {"bimodality": bimodality(scores)}
        values |= {name: group[name].mean() for name in NUMBERS if name in group}
        found |= {f"{name}/{method}/{beta}": float(value) for name, value in values.items()}
    spread = [value for name, value in found.items() if name.startswith("bimodality/")]
    return found | equal_errors(table) | {"bimodality": float(np.mean(spread))}


def bimodality(scores: Sequence[float]) -> float:
    """Sarle's coefficient of a sample of at least four: 5/9 of a uniform law, 1/3 of a normal one, 1 of two points."""
    n = len(scores)
    skewness, excess = skew(scores, bias=False), kurtosis(scores, bias=False)
    return float((skewness**2 + 1) / (excess + 3 * (n - 1) ** 2 / ((n - 2) * (n - 3))))


def equal_errors(table: pandas.DataFrame) -> Scores:
    """The score of each method at reconstruction errors that all have, and whether there are such errors: "inside"."""
    means = table.groupby(["method", "beta"])[["reconstruction", "mig"]].mean().sort_values("reconstruction")
    curves = {method: means.loc[method] for method in table["method"].unique()}
    low = max(curve["reconstruction"].min() for curve in curves.values())
    high = min(curve["reconstruction"].max() for curve in curves.values())
    errors = np.linspace(low, high, EQUAL)
    found = {
        f"mig-at-equal-reconstruction/{method}": float(
            np.interp(errors, curve["reconstruction"].to_numpy(), curve["mig"].to_numpy()).mean()
        )
        for method, curve in curves.items()
    }
    return found | {"inside": bool(low <= high)}
