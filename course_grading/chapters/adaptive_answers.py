"""The plain answers of chapter 19: numbers of one triplet, 19.3, and six runs to be told apart, 19.6."""

from course_grading.answers import as_number
from course_grading.calling import one_line

# 19.3 -----------------------------------------------------------------------------------------------------------------

NUMBERS = {
    "distance": 11.5,
    "loss": 0.5,
    "averaged distance": 9.0,
    "slope of n": -0.25,
    "slope of a": 1.25,
    "slope of a, averaged": 1.0,
}
NUMBERS_WRONG = {
    ("distance", 19.0): "distance: 19 is the plain ℓ1 distance. Which latents differ by less than τ = 5.5?",
    (
        "distance",
        15.25,
    ): "distance: the threshold is not half of the largest, 4.5, but half-way from least to most, 5.5.",
    ("distance", 12.25): "distance: the weight went to the latent that is not shared.",
    ("distance", 9.0): "distance: that leaves the shared latents out; they count a quarter.",
    ("distance", 4.75): "distance: ω belongs to the shared latents only, not to all of them.",
    ("loss", 0.0): "loss: with the weight the negative leads by 9.5 only, less than the margin of 10: not settled.",
    ("loss", -7.0): "loss: the hard loss is never below 0; and is that 19 the weighted distance?",
    ("loss", -9.5): "loss: the margin is missing, max(0, ψ + d_p − d_ω).",
    ("averaged distance", 11.5): "averaged distance: averaged latents are equal, so their differences are 0.",
    (
        "averaged distance",
        14.0,
    ): "averaged distance: averaging does not halve the shared differences. It sets them to 0.",
    ("slope of n", 0.25): "slope of n: the loss has *minus* d_ω, and n lies above a: growing n lowers the loss.",
    ("slope of n", -1.0): "slope of n: the latent is shared, so its slope is weighted by ω.",
    ("slope of n", 0.0): "slope of n: that is what averaging would leave; the weight leaves a quarter.",
    ("slope of a", 0.75): "slope of a: both pull it the same way. The positive lies below a, the negative above.",
    ("slope of a", 2.0): "slope of a: the negative's part is weighted by ω.",
    ("slope of a", 1.0): "slope of a: that is the positive's part alone; the weighted negative adds to it.",
    ("slope of a", 0.25): "slope of a: that is the negative's part alone; the positive, unweighted, adds to it.",
    ("slope of a, averaged", 1.25): "slope of a, averaged: the negative's part is gone once the latent is averaged.",
    (
        "slope of a, averaged",
        0.0,
    ): "slope of a, averaged: the distance to the positive was not averaged, and still pulls.",
}


def numbers_fault(answer) -> str | None:
    """A dict with a number for each of the keys; the first that is wrong is explained."""
    if not isinstance(answer, dict) or set(answer) != set(NUMBERS):
        return f"wanted is a dict with the keys {', '.join(NUMBERS)}."
    for key, right in NUMBERS.items():
        value = as_number(answer[key])
        if value is None:
            return f"{key}: got {one_line(answer[key], 40)!r}; wanted is one number."
        if abs(value - right) <= 1e-3:
            continue
        for (place, mistake), message in NUMBERS_WRONG.items():
            if place == key and abs(value - mistake) <= 1e-3:
                return message
        return f"{key}: {value:.6g} is too {'large' if value > right else 'small'}."
    return None


# 19.6 -----------------------------------------------------------------------------------------------------------------

RUNS = {"A": "split", "B": "collapsed", "C": "untrained", "D": "adaptive", "E": "shuffled", "F": "turned"}
WORDS = ("adaptive", "collapsed", "shuffled", "split", "turned", "untrained")
RUNS_WRONG = {
    ("A", "turned"): "A: turned codes have a lower axis alignment than this, and MIG well below a quarter.",
    (
        "A",
        "adaptive",
    ): "A: the distances are there, the axes are not: .53 is what factors dealt out to two latents have.",
    ("B", "adaptive"): "B: axis alignment is perfect, and only one latent is used. Four factors cannot have one each.",
    (
        "B",
        "shuffled",
    ): "B: a rank of .52 and a MIG of .07 are little, but more than images without their codes can have.",
    ("C", "shuffled"): "C: after a training with weights a shuffled run has a line and an axis. This one has neither.",
    ("C", "collapsed"): "C: no latent is used at all, and nothing lies along a line.",
    ("D", "collapsed"): "D: a collapsed code has lost the rank and the MIG. Here both are high.",
    ("D", "split"): "D: a split code has an axis alignment of about a half.",
    (
        "E",
        "collapsed",
    ): "E: it has collapsed too, but it knows nothing: the rank is that of an untrained network, MIG 0.",
    ("E", "adaptive"): "E: a perfect axis with a MIG of 0 says that the one used latent follows no factor.",
    ("F", "split"): "F: with seven latents, factors that are dealt out and not mixed have .52 and .24, as in A.",
    ("F", "collapsed"): "F: the rank is high and all latents are used. What is low is the axis alignment.",
}
