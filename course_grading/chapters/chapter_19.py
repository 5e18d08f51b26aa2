"""The exercises of chapter 19, adaptive triplets."""

from course_grading.answers import choices
from course_grading.chapters.adaptive_answers import (
    NUMBERS,
    NUMBERS_WRONG,
    RUNS,
    RUNS_WRONG,
    WORDS,
    numbers_fault,
)
from course_grading.chapters.adaptive_distances import (
    ADAPTIVE_WRONG,
    SHARED_WRONG,
    adaptive_distance,
    code_pairs,
    differences,
    shared,
)
from course_grading.chapters.axes_and_schedules import (
    ANGLE_WRONG,
    SCHEDULE_WRONG,
    best_angle,
    training_steps,
    waiting_schedule,
    weighted_settings,
)
from course_grading.exercise import Function, Plain, Wrong

SHARED, DISTANCE, AXES, PRESSURE = (  # of the chapter's objectives, those that exercises check
    "estimate which latents two images share",
    "write the adaptive distance, and say which gradients survive averaging and which a weight",
    "derive below which weight a second latent no longer pays, and why the positive must not be weighted",
    "raise the pressure on a schedule, and recognise a code that has collapsed under it by the scores that praise it",
)

EXERCISES = (
    Function(
        id="19.1",
        title="A mask with two faults",
        objective=SHARED,
        answer="shared",
        points=2,
        difficulty=1,
        minutes=8,
        names=("differences", "strength"),
        cases=differences,
        reference=shared,
        wrong=SHARED_WRONG,
        praise="right, on every input that was tried. (If your τ is (1 − η) · least + η · most: rounding can put that "
        "above equal differences, and then all are shared. least + η · (most − least) is safe.)",
        hints=(
            "What should come out at η = 0, and what does come out? What for four equal differences?",
            "τ has the weight 1 − η on the least and η on the most, so that η = 0 gives the least. And a latent is "
            "shared if it lies strictly below.",
        ),
    ),
    Function(
        id="19.2",
        title="The adaptive distance in ℓ2",
        objective=DISTANCE,
        answer="adaptive_l2",
        points=3,
        difficulty=2,
        minutes=15,
        names=("anchor", "negative", "weight", "strength"),
        cases=code_pairs,
        reference=adaptive_distance,
        wrong=ADAPTIVE_WRONG,
        hints=(
            "Equation 5.21 weights each difference and then takes the norm. What is the slope of a root at 0?",
            "The weights come from a comparison, so no gradient passes through them. Multiply the differences by them, "
            "and let torch.linalg.vector_norm(…, dim=1) take the root.",
        ),
    ),
    Plain(
        id="19.3",
        title="One triplet by hand",
        objective=DISTANCE,
        answer="numbers",
        points=3,
        difficulty=2,
        minutes=12,
        fault=numbers_fault,
        wrong=tuple(Wrong({**NUMBERS, key: value}, message) for (key, value), message in NUMBERS_WRONG.items()),
        praise="right: the weight turns the negative's voice down in three latents; averaging turns it off.",
        hints=(
            "Write down δ first, latent by latent, then τ, then who is below it.",
            "δ = (9, 2, 3, 5) and τ = 5.5. A latent's slope is the derivative of d_p less that of the weighted "
            "distance; each is a sign, times its weight.",
        ),
    ),
    Function(
        id="19.4",
        title="The best angle, with both distances weighted",
        objective=AXES,
        answer="best_angle",
        points=3,
        difficulty=3,
        minutes=20,
        names=("to_positive", "to_negative", "positive_weight", "negative_weight"),
        cases=weighted_settings,
        reference=best_angle,
        tolerance=(1e-5, 1e-6),
        wrong=ANGLE_WRONG,
        hints=(
            "Write the loss out, differentiate it in θ, and ask where the slope is 0. What if that is outside of the "
            "range?",
            "The slope is a multiple of sin θ plus a multiple of cos θ. Divide it by cos θ, and it only rises. So what "
            "does it mean if it is positive at 0° already, and what if it is still negative at 45°?",
        ),
    ),
    Function(
        id="19.5",
        title="A schedule that waits",
        objective=PRESSURE,
        answer="waiting_schedule",
        points=2,
        difficulty=1,
        minutes=10,
        names=("step", "total", "start", "end", "wait"),
        cases=training_steps,
        reference=waiting_schedule,
        wrong=SCHEDULE_WRONG,
        hints=(
            "How much of the line is done at a step? 0 until the waiting is over, 1 at the last step.",
            "Try wait = 0.5 on paper: at which share of the training is a quarter of the line done? Then write the "
            "share of the line for any wait, and keep it from leaving its range.",
        ),
    ),
    Plain(
        id="19.6",
        title="Six runs",
        objective=PRESSURE,
        answer="runs",
        points=2,
        difficulty=2,
        minutes=10,
        fault=choices(RUNS, WORDS, RUNS_WRONG),
        wrong=tuple(Wrong({**RUNS, key: word}, message) for (key, word), message in RUNS_WRONG.items()),
        praise="right: no single column tells them apart.",
        hints=(
            "Begin with the used latents, then with the rank; leave the axis alignment for last.",
            "Two rows have a perfect axis and one used latent. One of them still knows a little: compare rank and MIG "
            "with those of the untrained row.",
        ),
    ),
)
