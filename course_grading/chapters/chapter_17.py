"""The exercises of chapter 17, three scores."""

from course_grading.chapters.order_without_line import (
    DIAGNOSIS_WRONG,
    PREDICTED,
    PREDICTED_WRONG,
    SCORES,
    TRIANGLE_WRONG,
    diagnosis_fault,
    predicted_fault,
    triangle_fault,
)
from course_grading.chapters.three_scores import (
    LINE_WRONG,
    SCORES_WRONG,
    factor_walks,
    line_score,
    three_scores,
    walks,
)
from course_grading.chapters.tilted_cloud import ANGLE_WRONG, angle_and_flatness, plane_scores
from course_grading.exercise import Function, Plain, Wrong

DERIVE, FOLLOWS, CLOUD, MOVES, READ = (  # the chapter's objectives
    "derive the three scores from what a factored code must satisfy, and write each of them, edges included",
    "say which of the three conditions follows from which, and give a code for each that does not",
    "compute both ratios of a cloud from its widths and its angle, and the angle from the ratios",
    "find what moves a ratio although the code stands still: centring, scale, the number of latents",
    "read the three scores together: what a method has added, what is missing, and what none of the three sees",
)


def _mispredicted(code: str, score: str, number: float) -> dict[str, list[float]]:
    place = SCORES.index(score)
    return {**PREDICTED, code: [*PREDICTED[code][:place], number, *PREDICTED[code][place + 1 :]]}


EXERCISES = (
    Function(
        id="17.1",
        title="Three scores of one factor",
        objective=DERIVE,
        answer="three_scores",
        points=4,
        difficulty=2,
        minutes=20,
        names=("points",),
        cases=walks,
        reference=three_scores,
        wrong=SCORES_WRONG,
        hints=(
            "Write the two ratios first, for one traversal: which variances, over which axis? Then decide what happens "
            "when nothing moves, and when D = 1.",
            "torch.triu_indices lists the pairs i < j; points[:, i] - points[:, j] has all of them for all traversals, "
            "and spearmanr takes flat arrays. It gives NaN where one side is constant, which counts as 0.",
        ),
    ),
    Plain(
        id="17.2",
        title="Nine scores without a computer",
        objective=FOLLOWS,
        answer="predicted",
        points=3,
        difficulty=2,
        minutes=12,
        fault=predicted_fault,
        wrong=tuple(
            Wrong(_mispredicted(code, score, number), message)
            for (code, score, number), message in PREDICTED_WRONG.items()
        ),
        praise="right: three codes, and all three conditions come apart.",
        hints=(
            "In the plane a ratio is the difference of two variances over their sum. For the order, list the pairs.",
            "Write the pairs i < j in a table with their steps and their distances. Equal numbers share their average "
            "place in a ranking. For line and axis of round, is there any covariance between the two latents?",
        ),
    ),
    Plain(
        id="17.3",
        title="Construct it: in order, and on no line",
        objective=FOLLOWS,
        answer="points",
        points=3,
        difficulty=3,
        minutes=15,
        fault=triangle_fault,
        wrong=TRIANGLE_WRONG,
        praise="right: order 1 and line 0, with two latents only.",
        hints=(
            "Line 0 means that the three points spread equally in all directions, which fixes the shape. What is left "
            "to choose?",
            "ℓ1 is not ℓ2: the three sides of an equilateral triangle have different ℓ1 lengths, and a side is longest "
            "in ℓ1 along the diagonal.",
        ),
    ),
    Function(
        id="17.4",
        title="The angle behind two ratios",
        objective=CLOUD,
        answer="angle_and_flatness",
        points=2,
        difficulty=1,
        minutes=10,
        names=("line", "axis"),
        cases=plane_scores,
        reference=angle_and_flatness,
        wrong=ANGLE_WRONG,
        hints=(
            "One quotient contains the angle alone, and line contains the widths alone.",
            "Solve axis/line = cos 2θ for θ, and line · (λ₁ + λ₂) = λ₁ − λ₂ for λ₂/λ₁. Then look at line = 0, and at a "
            "quotient of 1.0000000000000002.",
        ),
    ),
    Function(
        id="17.5",
        title="A line score with three faults",
        objective=MOVES,
        answer="line_score",
        points=3,
        difficulty=2,
        minutes=12,
        names=("points",),
        cases=factor_walks,
        reference=line_score,
        wrong=LINE_WRONG,
        hints=(
            "Give it a factor whose traversals are two parallel lines, far apart. Then give it one traversal with "
            "variances 4 and 1, and then the same with latents appended that do not move.",
            "Of which points is the mean that is subtracted? What are singular values the roots of? And how many are "
            "there, of three codes with seven latents?",
        ),
    ),
    Plain(
        id="17.6",
        title="Five models, six numbers each",
        objective=READ,
        answer="diagnosis",
        points=3,
        difficulty=1,
        minutes=8,
        fault=diagnosis_fault,
        wrong=DIAGNOSIS_WRONG,
        praise="right: each from its pattern, and not from one good number.",
        hints=(
            "Begin with the models whose axis is low, and look whether their line is low too. Among those with a high "
            "axis, ask about the order.",
            "Go through the five words and ask of each what it does to one traversal: to its order, to its "
            "straightness, to its direction. For one of them the answer is: nothing.",
        ),
    ),
)
