"""The exercises of chapter 14, perceived distance."""

from course_grading.answers import choices
from course_grading.chapters.distance_functions import (
    CROSS_WRONG,
    PERCEIVED_WRONG,
    RANK_WRONG,
    Rounded,
    bright_rows,
    cross_distances,
    factor_matrices,
    image_pairs,
    perceived_distance,
    rank_correlations,
)
from course_grading.chapters.level_factor import (
    IMAGES_WRONG,
    ORDER_WRONG,
    READING,
    READING_WRONG,
    WORDS,
    images_fault,
    order_fault,
)
from course_grading.exercise import Function, Plain, Wrong

DISTANCE, IMPORTANCE, CORRELATION, ACCIDENT = (  # of the chapter's objectives, those that exercises check
    "compute the perceived distance of two images, and say why the loss sees nothing else of them",
    "predict from mean perceived distances which factors a VAE learns first",
    "tell a rank correlation that means something from one that an image's distance to itself has made",
    "construct a factor that the loss cannot put in order",
)

EXERCISES = (
    Function(
        id="14.1",
        title="The perceived distance",
        objective=DISTANCE,
        answer="perceived_distance",
        points=2,
        difficulty=1,
        minutes=8,
        names=("first", "second"),
        cases=image_pairs,
        reference=perceived_distance,
        wrong=PERCEIVED_WRONG,
        hints=(
            "What is 3 − 5 in uint8? Decide first in which type, and on which scale, you subtract.",
            "Turn both into floats, bring the difference to [0, 1], square it; then one mean over every axis but that "
            "of the pairs.",
        ),
    ),
    Rounded(
        id="14.2",
        title="All pairs at once, and a rounding fault",
        objective=DISTANCE,
        answer="cross_distances",
        points=3,
        difficulty=2,
        minutes=15,
        names=("first", "second"),
        cases=bright_rows,
        reference=cross_distances,
        tolerance=(2e-3, 1e-6),
        wrong=CROSS_WRONG,
        hints=(
            "Print the three parts for two bright images that differ in few pixels. How many digits has float32, and "
            "how many of them cancel?",
            "Either subtract the images before anything is squared, row by row; or do all of it in float64 and "
            "turn the result into the dtype of the inputs.",
        ),
    ),
    Function(
        id="14.3",
        title="A correlation that flatters itself",
        objective=CORRELATION,
        answer="rank_correlations",
        points=3,
        difficulty=2,
        minutes=12,
        names=("matrices",),
        cases=factor_matrices,
        reference=rank_correlations,
        wrong=RANK_WRONG,
        hints=(
            "Which entries of the matrix are pairs of an image with itself?",
            "The pairs i < j are the part of the matrix above its diagonal, and torch can list their places. spearmanr "
            "gives NaN where one side is constant: look for that before you call it.",
        ),
    ),
    Plain(
        id="14.4",
        title="Before you measure it: which factor first?",
        objective=IMPORTANCE,
        answer="order",
        points=2,
        difficulty=2,
        minutes=10,
        fault=order_fault,
        wrong=ORDER_WRONG,
        praise="right. Now run the next cell and see by how much.",
        hints=(
            "For each factor, count the pixels in which two of its images differ on average, and by how much.",
            "leap: 2·64 pixels. creep: two squares that are k apart differ in 2·8·k pixels, and k is 3 on average. "
            "For grow, one square lies inside the other; for dim, remember that the loss squares.",
        ),
    ),
    Plain(
        id="14.5",
        title="Construct it: overlap without order",
        objective=ACCIDENT,
        answer="images",
        points=3,
        difficulty=2,
        minutes=12,
        fault=images_fault,
        wrong=IMAGES_WRONG,
        praise="right: any two images overlap, and the loss cannot put them in order all the same.",
        hints=(
            "For shapes of one size the distance depends on the overlap alone. What can all images share that does not "
            "move?",
            "Eight small squares that do not touch each other, one in each image, and one block that is white in all.",
        ),
    ),
    Plain(
        id="14.6",
        title="Read a row",
        objective=IMPORTANCE,
        answer="reading",
        points=2,
        difficulty=1,
        minutes=6,
        fault=choices(READING, WORDS, READING_WRONG),
        wrong=tuple(Wrong({**READING, key: word}, message) for (key, word), message in READING_WRONG.items()),
        praise="right: a mean says what a factor costs when it is unknown, and nothing about its order.",
        hints=(
            "A mean and a standard deviation over all pairs: which of the statements could be changed without changing "
            "either number?",
            "Renumber the six lightings at random: mean and standard deviation stay. So the row cannot say anything "
            "that depends on the numbering.",
        ),
    ),
)
