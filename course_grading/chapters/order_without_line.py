"""Chapter 17's answers that are no functions: predicted scores, a triangle, and five models told by their numbers."""

import math
from itertools import combinations

import torch
from torch import Tensor

from course_grading.answers import as_number
from course_grading.calling import one_line
from course_grading.exercise import Wrong

# 17.2 -----------------------------------------------------------------------------------------------------------------

CODES = {  # points (f, 2): the codes of a factor's values, in the factor's order
    "slanted": [[0, 0], [3, 1], [6, 2], [9, 3], [12, 4]],
    "pendulum": [[0, 0], [1, 0], [0, 0]],
    "round": [[0, 0], [1, 0], [1, 1], [0, 1]],
}
SCORES = ("order", "line", "axis")
PREDICTED = {"slanted": [1.0, 1.0, 0.8], "pendulum": [0.0, 1.0, 1.0], "round": [6 / math.sqrt(180), 0.0, 0.0]}
PREDICTED_WRONG = {  # (code, score, a wrong number): what it shows
    ("slanted", "axis", 0.9): "the share of the first latent is .9; it is not stretched from [½, 1] to [0, 1] yet.",
    ("slanted", "axis", 0.75): "3/4 is the share of the *distance*. Variances are squares: 9 to 1.",
    ("slanted", "axis", 0.5): "3/4 was stretched. Variances are squares: 9 to 1.",
    ("slanted", "axis", 1.0): "both latents move, so no axis has all the variance.",
    ("slanted", "axis", 0.0): "that would be 45°, where both latents move alike. Here one moves three times as far.",
    ("slanted", "line", 0.8): "the direction of a line does not enter here; the points lie on it exactly.",
    ("pendulum", "order", -1.0): "the correlation is −1, and a negative one counts as 0.",
    (
        "pendulum",
        "order",
        1.0,
    ): "values 0 and 2 are furthest apart, and their codes coincide. A reversed order is none.",
    ("pendulum", "line", 0.0): "a line does not ask in which order its points are visited.",
    ("pendulum", "axis", 0.0): "only the first latent moves. That is all that this score asks.",
    (
        "round",
        "order",
        0.0,
    ): "neighbours are nearer than the opposite corners, though first and last spoil it: count the six pairs.",
    ("round", "order", 1.0): "first and last value are three steps apart, and their codes are neighbours.",
    ("round", "line", 0.5): "that is the share. Stretched from [½, 1] to [0, 1] it is another number.",
    ("round", "axis", 0.5): "that is the share. Stretched from [½, 1] to [0, 1] it is another number.",
    ("round", "line", 1.0): "the four corners of a square lie on no line.",
}


def predicted_fault(answer) -> str | None:
    """Whether the nine scores are right to .02; if not, what the first wrong one shows."""
    if not isinstance(answer, dict) or set(answer) != set(CODES):
        return f"wanted is a dict with the keys {', '.join(CODES)}, each with a list [order, line, axis]."
    for code, right in PREDICTED.items():
        given = answer[code]
        given = given.tolist() if isinstance(given, Tensor) else given
        numbers = [as_number(number) for number in given] if isinstance(given, list | tuple) else []
        if len(numbers) != 3 or None in numbers:
            return f"{code}: got {one_line(given, 60)}; wanted are three numbers, [order, line, axis]."
        for score, number, wanted in zip(SCORES, numbers, right, strict=True):
            if not abs(number - wanted) <= 0.02:
                return f"{code}, {score}: {_explained(code, score, number)}"
    return None


def _explained(code: str, score: str, number: float) -> str:
    for (which, asked, wrong), message in PREDICTED_WRONG.items():
        if (which, asked) == (code, score) and abs(number - wrong) <= 0.005:
            return message
    if not -1 <= number <= 1:
        return f"{number:.4g} is no such score: they lie between 0 and 1."
    direction = "large" if number > PREDICTED[code][SCORES.index(score)] else "small"
    ways = {"order": "List the pairs of values, their steps and their ℓ1 distances.", "line": "Find both eigenvalues."}
    return f"{number:.3g} is too {direction}. {ways.get(score, 'Compute both variances.')}"


# 17.3 -----------------------------------------------------------------------------------------------------------------


def triangle_fault(points) -> str | None:
    """Whether three codes in the plane have order 1 and line 0; if not, which condition fails and how."""
    if not isinstance(points, Tensor):
        return f"got a {type(points).__name__}; wanted is a tensor, (3, 2)."
    if tuple(points.shape) != (3, 2):
        return f"got the shape {tuple(points.shape)}; wanted is (3, 2): three values, two latents."
    if not torch.is_floating_point(points) or not torch.isfinite(points).all():
        return f"got {points.dtype}; wanted are finite floating-point numbers."
    centred = points.double() - points.double().mean(0)
    size = centred.abs().max().item()
    if size == 0:
        return "the three codes are the same: a factor that does not move the code is lost."
    high, low = torch.linalg.svdvals(centred / size).square().tolist()
    first, last, ends = (
        (points[a] - points[b]).double().abs().sum().item() / size for a, b in ((0, 1), (1, 2), (0, 2))
    )
    line = (high - low) / (high + low)
    if line > 0.01:
        return f"line is {line:.2f}, not 0.{_shape_of(line, first, last, ends)}"
    if ends <= max(first, last) + 1e-3:
        return (
            f"line is 0, but the ends are at distance {ends * size:.3g} and the neighbours at {first * size:.3g} and "
            f"{last * size:.3g}: the ends have to be the furthest apart. Turn the triangle: ℓ1 notices."
        )
    if abs(first - last) > 2e-3:
        return (
            f"line is 0 and the ends are furthest apart, but 0 to 1 is {first * size:.3g} and 1 to 2 is "
            f"{last * size:.3g}. Both are one step, so for order 1 they have to tie. Turn it a little further."
        )
    return None


def _shape_of(line: float, first: float, last: float, ends: float) -> str:
    if line > 0.999:
        return " The three codes lie on a straight line."
    if abs(line - 0.5) < 0.01 and abs(first - last) < 1e-6 and abs(ends - first - last) < 1e-6:
        return " A corner with two equal legs is in order, and longer than it is wide: λ₁ is three times λ₂."
    return " For that the three codes must spread equally in all directions. Which triangle does?"


def equilateral(degrees: float) -> Tensor:
    """Three codes at equal ℓ2 distances, the side from the first to the last at that angle to the first latent."""
    angles = torch.deg2rad(torch.tensor([210.0, 90.0, 330.0], dtype=torch.float64) + degrees)
    return torch.stack([angles.cos(), angles.sin()], 1)


TRIANGLE_WRONG = (
    Wrong(torch.tensor([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]), "A corner with two equal legs is in order"),
    Wrong(torch.tensor([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]), "The three codes lie on a straight line."),
    Wrong(torch.tensor([[0.0, 0.0], [1.0, 0.5], [2.0, 0.0]]), "Which triangle does?"),
    Wrong(equilateral(0), "the ends have to be the furthest apart. Turn the triangle: ℓ1 notices."),
    Wrong(equilateral(40), "have to tie. Turn it a little further."),
    Wrong(equilateral(90), "the ends have to be the furthest apart. Turn the triangle: ℓ1 notices."),
    Wrong(torch.zeros(3, 2), "the three codes are the same"),
    Wrong(equilateral(45).T, "wanted is (3, 2)"),
    Wrong(equilateral(45).tolist(), "got a list"),
    Wrong(torch.tensor([[0, 0], [1, 2], [2, 0]]), "wanted are finite floating-point numbers"),
)

# 17.6 -----------------------------------------------------------------------------------------------------------------

DIAGNOSES = ("factored", "rotated", "bent", "shuffled", "merged")
MODELS = {"P": "rotated", "Q": "bent", "R": "shuffled", "S": "merged", "T": "factored"}
CLUES = {  # (model, diagnosis): why it is not that
    "P": "P: order .99 and line .99, and an axis of .33. Straight, in order, and not along an axis.",
    "Q": "Q: line and axis are nearly equal, so no rotation would help; and both are far from 1, with order at .96.",
    "R": "R: over distinct pairs the order is 0, while every factor lies along an axis of its own (MIG .98).",
    "S": "S: three scores near 1, and the order over pairs anywhere is .33. Each walk looks perfect by itself.",
    "T": "T: all six numbers are near 1. There is nothing left to find fault with.",
}
TEMPTING = {
    ("P", "merged"): "P: a low MIG does not say why. If factors shared a latent, its axis would not be low.",
    ("Q", "rotated"): "Q: a rotated code has a high line and a low axis. Here the two are nearly equal.",
    (
        "R",
        "factored",
    ): "R: MIG is .98 because each latent knows its factor. Look at the order: it knows it by heart, in "
    "no order at all.",
    ("S", "factored"): "S: order, line and axis walk along one factor at a time. Look at the two last columns.",
    (
        "S",
        "rotated",
    ): "S: its axis is 1. A rotation would have lowered that, and not the order over pairs anywhere to .33.",
    ("Q", "factored"): "Q: line .73 and MIG .03: its factors run along no straight line.",
}


def diagnosis_fault(answer) -> str | None:
    """Whether each model has its diagnosis; if not, the clue to the first that does not."""
    if not isinstance(answer, dict) or set(answer) != set(MODELS):
        return f"wanted is a dict with the keys {', '.join(MODELS)}, each with one of {', '.join(DIAGNOSES)}."
    given = {model: one_line(word).strip().lower() for model, word in answer.items()}
    for model, word in given.items():
        if word not in DIAGNOSES:
            return f"{model}: got {one_line(answer[model], 40)!r}; allowed are {', '.join(map(repr, DIAGNOSES))}."
    for model, right in MODELS.items():
        if given[model] != right:
            return TEMPTING.get((model, given[model]), CLUES[model])
    return None


DIAGNOSIS_WRONG = tuple(Wrong({**MODELS, model: word}, message) for (model, word), message in TEMPTING.items()) + tuple(
    Wrong({**MODELS, one: MODELS[two], two: MODELS[one]}, CLUES[one])
    for one, two in combinations(MODELS, 2)
    if (one, MODELS[two]) not in TEMPTING
)
