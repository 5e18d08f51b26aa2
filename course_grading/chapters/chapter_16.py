"""The exercises of chapter 16, introducing overlap."""

from course_grading.answers import choices
from course_grading.chapters.blind_and_straight import (
    FACTOR_WORDS,
    FACTORS,
    FACTORS_WRONG,
    PATTERN_WRONG,
    RULER_WRONG,
    pattern_fault,
    ruler_fault,
)
from course_grading.chapters.faulty_distances import FAULTS_WRONG, ROWS, ROWS_WRONG, WORDS
from course_grading.chapters.local_means import MEAN_WRONG, images_and_radii, local_mean
from course_grading.chapters.radius_for_places import RADIUS_WRONG, places_and_sides, smallest_radius
from course_grading.exercise import Function, Plain, Wrong

WIDTH, BLUR, TERMS, FAULT, DESIGN = (  # the chapter's objectives
    "derive the distance that a blurred loss sees between two shifted shapes, and say how wide its kernel has to be",
    "blur images in three ways that agree, and say what happens at the border",
    "explain the weight 63², and why the pixel term stays",
    "find the fault of a blurred loss by the distances that it makes",
    "say which factors a blur can put in order, design a kernel for a purpose",
)

EXERCISES = (
    Function(
        id="16.1",
        title="A blur that is fair to the edge",
        objective=BLUR,
        answer="local_mean",
        points=3,
        difficulty=2,
        minutes=12,
        names=("images", "radius"),
        cases=images_and_radii,
        reference=local_mean,
        wrong=MEAN_WRONG,
        hints=(
            "What would the chapter's blur, with zeros outside, make of an image that is 1 everywhere?",
            "Divide the sums by the number of pixels in each window: which is the sum over the same window of an image "
            "of ones.",
        ),
    ),
    Function(
        id="16.2",
        title="The smallest radius for a row of places",
        objective=WIDTH,
        answer="smallest_radius",
        points=3,
        difficulty=3,
        minutes=20,
        names=("places", "side"),
        cases=places_and_sides,
        reference=smallest_radius,
        wrong=RADIUS_WRONG,
        hints=(
            "The distance grows with the shift k as long as A(k) falls, and A(k) is 0 from k = w + side − 1 on. Which "
            "shifts must lie before that, and which one need not?",
            "The farthest shift from a place may already be on the flat part, if the second farthest is not. Look from "
            "both ends of the row: the places are not equally far apart.",
        ),
    ),
    Plain(
        id="16.3",
        title="Five faults, told by their distances",
        objective=FAULT,
        answer="faults",
        points=3,
        difficulty=2,
        minutes=15,
        fault=choices(ROWS, WORDS, ROWS_WRONG),
        wrong=FAULTS_WRONG,
        praise="right: five losses that all run, and each gives itself away by eight numbers.",
        hints=(
            "Compare each row with the right one. Is the place itself at 0? Are the two neighbours equally far, and "
            "the two places after them? Which places stand out?",
            "Which fault leaves most distances exactly as they were? Which makes all of them alike, and which nearly "
            "alike? Which knows nothing of an edge? For the rest: what is a blur of 128 ones?",
        ),
    ),
    Plain(
        id="16.4",
        title="A pattern that no window sees",
        objective=TERMS,
        answer="pattern",
        points=2,
        difficulty=2,
        minutes=12,
        fault=pattern_fault,
        wrong=PATTERN_WRONG,
        praise="right: a decoder may add this to any picture, and the blurred term alone will not notice.",
        hints=(
            "Start with a line of 8 pixels and windows of 3. Two windows side by side differ in two pixels only: what "
            "does that say of those two?",
            "So the line repeats after three pixels. The first window of all holds two pixels, because one lies "
            "outside: what must these two add up to?",
        ),
    ),
    Plain(
        id="16.5",
        title="A kernel that is a ruler",
        objective=DESIGN,
        answer="kernel",
        points=3,
        difficulty=3,
        minutes=15,
        fault=ruler_fault,
        wrong=RULER_WRONG,
        praise="right: the distance of any two pixels is their distance in pixels.",
        hints=(
            "Why is the chapter's box off by one for some pairs? Look at how many edges of each window lie inside the "
            "line.",
            "With equal weights, a distance counts the pixels that lie in one window and not in the other. It is the "
            "shift if exactly one edge of every window is inside. Nobody said that the kernel is symmetric.",
        ),
    ),
    Plain(
        id="16.6",
        title="Five factors, one blur",
        objective=DESIGN,
        answer="factors",
        points=2,
        difficulty=1,
        minutes=8,
        fault=choices(FACTORS, FACTOR_WORDS, FACTORS_WRONG),
        wrong=tuple(Wrong({**FACTORS, key: word}, message) for (key, word), message in FACTORS_WRONG.items()),
        praise="right. Now run the next cell and see by how much.",
        hints=(
            "For each factor: does anything of the difference of two images survive the blur? If so, does more survive "
            "the further apart their numbers are?",
            "What is wrong side by side and with one sign survives. A blur works channel by channel, and it sees "
            "images, never numbers.",
        ),
    ),
)
