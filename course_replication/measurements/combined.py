"""What takes more than one training of a seed: gaps between two, and slopes, ranges and means over several.

Settings that name a dataset (`data`) are those of `full_size.training`, others those of `small_grid.training`.
"""

from statistics import fmean

import numpy as np

from course_replication.measurements import full_size, small_grid
from course_replication.runs import Context

RELATIVE = ("reconstruction", "kl")  # have no scale of their own: their gaps are shares of the mean of the two
SIDES = {small_grid: 2, full_size: 8}  # pixels of a square's side


def training(context: Context, **settings) -> dict[str, float]:
    return _size(settings).training(context, **settings)


def gaps(context: Context, first: dict, second: dict) -> dict[str, float]:
    """The absolute difference of two trainings in each score: "linearity-gap", and of their controls.

    first, second : their settings.
    """
    ours, theirs = training(context, **first), training(context, **second)
    found = {}
    for name in (name for name in ours if name in theirs):
        gap, mean = abs(ours[name] - theirs[name]), (abs(ours[name]) + abs(theirs[name])) / 2
        share = name.split("/")[-1] in RELATIVE and mean > 0
        found[f"{name}-gap"] = gap / mean if share else gap
    return found


def slopes(context: Context, trainings: list[dict]) -> dict[str, float]:
    """The slope of a line through each score over the spacing, in squares' sides: "mig-slope"."""
    found = [training(context, **settings) for settings in trainings]
    sides = [settings["spacing"] / SIDES[_size(settings)] for settings in trainings]
    return {f"{name}-slope": np.polyfit(sides, [scores[name] for scores in found], 1)[0] for name in found[0]}


def ranges(context: Context, trainings: list[dict]) -> dict[str, float]:
    """How far apart the largest and the smallest of each score are: "axis-alignment-peak-gap"."""
    found = [training(context, **settings) for settings in trainings]
    values = {name: [scores[name] for scores in found] for name in found[0]}
    return {f"{name}-gap": max(values[name]) - min(values[name]) for name in values}


def means(context: Context, trainings: list[dict]) -> dict[str, float]:
    """The mean of each score."""
    found = [training(context, **settings) for settings in trainings]
    return {name: fmean(scores[name] for scores in found) for name in found[0]}


def _size(settings: dict):
    """The module that trains with these settings."""
    return full_size if "data" in settings else small_grid
