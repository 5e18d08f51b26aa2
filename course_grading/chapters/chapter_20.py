"""The exercises of chapter 20, learnt losses."""

from course_grading.answers import choices
from course_grading.chapters.kernel_answers import (
    ASYMMETRY_WRONG,
    HAND_WRONG,
    TABLE,
    TABLE_WORDS,
    TABLE_WRONG,
    asymmetry,
    by_hand_fault,
    kernels,
)
from course_grading.chapters.pooled_ranks import (
    BLOCK_WRONG,
    CORRELATION_WRONG,
    ISOTONIC_WRONG,
    distances_and_truths,
    isotonic,
    one_block_from,
    rank_correlation,
    value_sets,
    weighted_targets,
)
from course_grading.exercise import Function, Plain, Wrong

NEAREST, POOLING, FAULT, KERNEL, TAUGHT = (  # the chapter's objectives
    "find soft ranks as the nearest point of a permutahedron",
    "compute soft ranks and their gradient by pooling, and say at which regularisation they are exact and at which "
    "they no longer rank",
    "find the fault of a rank correlation that trains badly",
    "train a kernel on pairs, keep it symmetric, and tell what its picture shows from what its distances do",
    "say what a learnt loss was taught, how many pairs that takes, and where it still holds",
)

EXERCISES = (
    Function(
        id="20.1",
        title="Pooling with weights",
        objective=POOLING,
        answer="isotonic",
        points=3,
        difficulty=2,
        minutes=15,
        names=("targets", "weights"),
        cases=weighted_targets,
        reference=isotonic,
        wrong=ISOTONIC_WRONG,
        hints=(
            "A heavy target is like several equal ones at the same place. What has a block to remember, so that it "
            "can be pooled with the next?",
            "For each block: the sum of weight times target, the sum of the weights, and how many elements it has. "
            "Pool while the block before has a larger mean than the last.",
        ),
    ),
    Plain(
        id="20.2",
        title="Soft ranks by hand",
        objective=NEAREST,
        answer="ranks",
        points=2,
        difficulty=1,
        minutes=8,
        fault=by_hand_fault,
        wrong=HAND_WRONG,
        praise="right: three values share the ranks 1 to 3, and one is alone.",
        hints=(
            "Sort, subtract the places 1 to 4, and write down the targets. Where do they fall?",
            "Pooling once is not enough here: look at the pooled block and its neighbours again.",
        ),
    ),
    Function(
        id="20.3",
        title="A rank correlation that learns nothing",
        objective=FAULT,
        answer="rank_correlation",
        points=3,
        difficulty=2,
        minutes=12,
        names=("distance", "truth"),
        cases=distances_and_truths,
        reference=rank_correlation,
        tolerance=(1e-5, 1e-7),
        wrong=CORRELATION_WRONG,
        hints=(
            "Print both rankings for the example. Which of the two is none?",
            "Factor distances have ties, and ties share their average place. SciPy and the library both have a "
            "function for it.",
        ),
    ),
    Function(
        id="20.4",
        title="Where ranking ends",
        objective=POOLING,
        answer="one_block_from",
        points=3,
        difficulty=3,
        minutes=20,
        names=("values",),
        cases=value_sets,
        reference=one_block_from,
        wrong=BLOCK_WRONG,
        hints=(
            "All is one block if the taut string is one straight line: then no pin lies below it. Write that down for "
            "the first k targets.",
            "The mean of the first k targets must not be smaller than the mean of all n. The targets are t − i with "
            "t = u/ε in ascending order; solve for ε, for each k from 1 to n − 1.",
        ),
    ),
    Function(
        id="20.5",
        title="How asymmetric?",
        objective=KERNEL,
        answer="asymmetry",
        points=2,
        difficulty=1,
        minutes=10,
        names=("kernel",),
        cases=kernels,
        reference=asymmetry,
        wrong=ASYMMETRY_WRONG,
        hints=(
            "A square piece of paper can be laid on its outline in eight ways. In how many of them is it turned over?",
            "torch.rot90 turns, and a transposition turns over: four of the one, and the same four after the other.",
        ),
    ),
    Plain(
        id="20.6",
        title="Three kernels",
        objective=TAUGHT,
        answer="reading",
        points=2,
        difficulty=1,
        minutes=6,
        fault=choices(TABLE, TABLE_WORDS, TABLE_WRONG),
        wrong=tuple(Wrong({**TABLE, key: word}, message) for (key, word), message in TABLE_WRONG.items()),
        praise="right: a loss is judged on the pairs that it was not told.",
        hints=(
            "For each statement, which two cells have to be compared? Are there any?",
            "The table has rank correlations of distances. It has no VAE and no picture in it.",
        ),
    ),
)
