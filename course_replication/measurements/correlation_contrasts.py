"""What takes several trainings of `total_correlation.scores`: the best of some, two discriminators, equal errors."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np

from course_replication.measurements.total_correlation import Scores, scores
from course_replication.runs import Context

SCORED = ("factor-vae-score", "beta-vae-score", "mig")
CONTROLS = ("", "control/untrained/", "control/shuffled/")
_UNTRAINED = "control/untrained/left"


def best(context: Context, *, of: int, **settings) -> Scores:
    """Train the same framework with `of` seeds that no other run has: "factor-vae-score-max" is the largest of theirs,
    and so is each score's; "left" is their mean. Controls are the largest of the controls.

    settings : of `total_correlation.scores`.
    """
    found = [_trained(context, f"{place}", context.seed * of + place, settings) for place in range(of)]
    largest = {
        f"{control}{name}-max": max(each[f"{control}{name}"] for each in found)
        for control in CONTROLS
        for name in SCORED
    }
    return largest | _left({"": fmean(each["left"] for each in found)}, fmean(each[_UNTRAINED] for each in found))


def discriminators(context: Context, *, sizes: Mapping[str, Sequence[int]], **settings) -> Scores:
    """Train a FactorVAE with each discriminator: "factor-vae-score/NAME", and how far apart the scores of two are, in
    either direction, "factor-vae-score-gap/discriminator-size".

    sizes : name → widths of the discriminator's layers.
    """
    found = {
        name: _trained(context, name, context.seed, {**settings, "hidden": [*widths]}) for name, widths in sizes.items()
    }
    reported = {
        f"{control}{score}/{name}": each[f"{control}{score}"]
        for name, each in found.items()
        for control in CONTROLS
        for score in SCORED
    }
    for control in CONTROLS:
        values = [each[f"{control}factor-vae-score"] for each in found.values()]
        reported[f"{control}factor-vae-score-gap/discriminator-size"] = max(values) - min(values)
    untrained = fmean(each[_UNTRAINED] for each in found.values())
    return reported | _left({f"/{name}": each["left"] for name, each in found.items()}, untrained)


def equal_reconstruction(context: Context, *, betas: Sequence[float], **settings) -> Scores:
    """Train the framework of the settings and β-VAEs at several β, and compare scores at one reconstruction error.

    The β-VAE's score is read off the line through its scores over its errors, at the framework's own error:
    "factor-vae-score/beta-vae" beside "factor-vae-score/batch-estimate", and their distance
    "factor-vae-score-gap/batch-estimate-and-beta-vae". "inside" says whether that error lies between the β-VAEs' own.
    """
    ours = _trained(context, "ours", context.seed, settings)
    shared = {key: value for key, value in settings.items() if key not in ("framework", "beta", "estimator")}
    theirs = [
        _trained(context, f"beta-{beta:g}", context.seed, {**shared, "framework": "BetaVAE", "beta": beta})
        for beta in betas
    ]
    theirs.sort(key=lambda each: each["reconstruction"])
    errors, paid = [each["reconstruction"] for each in theirs], ours["reconstruction"]
    found = {"inside": errors[0] <= paid <= errors[-1], "reconstruction/batch-estimate": paid}
    for control in CONTROLS:
        name = f"{control}factor-vae-score"
        read = float(np.interp(paid, errors, [each[name] for each in theirs]))
        found |= {f"{name}/batch-estimate": ours[name], f"{name}/beta-vae": read}
        found[f"{name}-gap/batch-estimate-and-beta-vae"] = abs(ours[name] - read)
    left = {"/batch-estimate": ours["left"], "/beta-vae": max(each["left"] for each in theirs)}
    return found | _left(left, ours[_UNTRAINED])


def _trained(context: Context, name: str, seed: int, settings: Mapping) -> Scores:
    return scores(replace(context, scratch=context.scratch / name, seed=seed), **settings)


def _left(shares: Mapping[str, float], untrained: float) -> Scores:
    """The shares of the pixels' variance that trainings leave, by their ending; and that without training."""
    return {f"left{ending}": share for ending, share in shares.items()} | {_UNTRAINED: untrained}
