"""The exercises of chapter 15, XYSquares."""

from course_grading.answers import choices
from course_grading.chapters.constant_distances import (
    CORRELATION_WRONG,
    PRICE_WRONG,
    distance_tables,
    laws_of_distances,
    self_pair_correlation,
    starting_price,
)
from course_grading.chapters.moving_squares import (
    DIFFERING_WRONG,
    ROW_WRONG,
    differing_pixels,
    place_pairs,
    row_of_squares,
    rows_of_squares,
)
from course_grading.chapters.own_adversary import GRID_WRONG, REPAIRS, REPAIRS_WRONG, WORDS, grid_fault
from course_grading.exercise import Function, Plain, Wrong

CONSTANT, PAPER, BLIND, PRICE, DESIGN = (  # the chapter's objectives
    "derive when the distances of a moving shape are constant, and draw XYSquares at any spacing",
    "compute on paper what constant distances make of a table",
    "say what of XYSquares a loss can still tell, and why neither patience nor weak supervision puts it in order",
    "compute from distances alone the β above which no small step out of collapse pays",
    "design a dataset with constant distances of your own, and find what makes a candidate leak",
)

EXERCISES = (
    Function(
        id="15.1",
        title="A step both ways",
        objective=CONSTANT,
        answer="differing_pixels",
        points=2,
        difficulty=1,
        minutes=10,
        names=("first", "second", "spacing", "side"),
        cases=place_pairs,
        reference=differing_pixels,
        wrong=DIFFERING_WRONG,
        hints=(
            "What do two squares share if one is moved by 2 pixels in x and by 3 in y? Draw it.",
            "A rectangle, whose sides are each at least 0. They differ in both areas, less twice the rectangle's.",
        ),
    ),
    Function(
        id="15.2",
        title="Self-pairs, when distances scatter",
        objective=PAPER,
        answer="self_pair_correlation",
        points=3,
        difficulty=3,
        minutes=20,
        names=("values", "mean", "deviation"),
        cases=laws_of_distances,
        reference=self_pair_correlation,
        wrong=CORRELATION_WRONG,
        hints=(
            "Go through the chapter's derivation with d = noise in place of d = 1. Which of the three sums change?",
            "The covariance scales with the mean. The variance of d has two parts: that between self-pairs and the "
            "rest, and that within the rest.",
        ),
    ),
    Function(
        id="15.3",
        title="A renderer that leaks",
        objective=DESIGN,
        answer="row_of_squares",
        points=2,
        difficulty=2,
        minutes=10,
        names=("places", "side", "canvas"),
        cases=rows_of_squares,
        reference=row_of_squares,
        wrong=ROW_WRONG,
        hints=(
            "Count the white pixels of each image. Which are smaller than the rest, and where do they stand?",
            "The left edges, not the centres, go from one end to the other: from 0 to canvas − side, in places − 1 "
            "steps. Multiply before you divide.",
        ),
    ),
    Function(
        id="15.4",
        title="Where learning begins, from distances alone",
        objective=PRICE,
        answer="starting_price",
        points=3,
        difficulty=3,
        minutes=15,
        names=("distances",),
        cases=distance_tables,
        reference=starting_price,
        wrong=PRICE_WRONG,
        hints=(
            "For centred images, ‖x_i − x_j‖² = ‖x_i‖² + ‖x_j‖² − 2 x_i·x_j. What is left of it when the means of rows "
            "and columns are taken off?",
            "−½ of the centred table are the products x_i·x_j. Their largest eigenvalue, divided by n, is λ.",
        ),
    ),
    Plain(
        id="15.5",
        title="Construct it: an adversary with axes",
        objective=DESIGN,
        answer="images",
        points=3,
        difficulty=2,
        minutes=15,
        fault=grid_fault,
        wrong=GRID_WRONG,
        praise="right: the loss can tell x from y, and neither has an order.",
        hints=(
            "On XYSquares the loss can tell the red square from the green one, but not x from y of either. Why?",
            "Let x move one thing and y another, in parts of the image that do not meet, by at least their own width.",
        ),
    ),
    Plain(
        id="15.6",
        title="Eight repairs",
        objective=BLIND,
        answer="repairs",
        points=2,
        difficulty=2,
        minutes=8,
        fault=choices(REPAIRS, WORDS, REPAIRS_WRONG),
        wrong=tuple(Wrong({**REPAIRS, key: word}, message) for (key, word), message in REPAIRS_WRONG.items()),
        praise="right: what helps changes the distances of neighbours, and nothing else does.",
        hints=(
            "For each repair: does it change the table of distances between images?",
            "If neighbours do not come to share more pixels than distant places do, there is nothing to be ordered by.",
        ),
    ),
)
