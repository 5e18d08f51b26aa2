"""The exercises of chapter 4, measuring disentanglement."""

import math

from course_grading.answers import choices, number
from course_grading.chapters import broken_score
from course_grading.chapters.broken_score import Construction
from course_grading.chapters.scores_of_codes import (
    MODULARITY_WRONG,
    VOTE_WRONG,
    groups,
    least_varying,
    matrices,
    modularity_of,
)
from course_grading.exercise import Function, Plain, Wrong

BUILD, BREAK, SETTINGS, READ = (  # the chapter's objectives, from the second on; a quiz question checks the first
    "build a score from its idea, so that it gives what the library gives, dead latents included",
    "predict which faults a score cannot see, and build a code that a score calls perfect and that is not",
    "name what a score's number depends on besides the code, and work out how many samples it needs",
    "read a table of scores: what it shows, what it cannot show, and which rows are missing",
)

FAULTS = {  # score (of the fault in the task) → what happens, and why the other answer is wrong
    "BetaVAE": (
        "stays",
        "noise stands still for no factor, so the last factor is still the only one under which nothing stands still.",
    ),
    "modularity": (
        "falls",
        "the noise is a latent too, and alive: the little it seems to know is spread over all factors. It counts like "
        "any other.",
    ),
    "MIG": (
        "falls",
        "a sum tells something of each of its terms, so there is a second latent that knows them, and the gap closes.",
    ),
    "FactorVAE": (
        "stays",
        "with a factor fixed its own latent does not vary at all. A sum still does, with the other term: no votes.",
    ),
    "FactorVAE scaled": (
        "stays",
        "each variance is divided by the latent's own over all images; scales do not matter.",
    ),
    "distance": (
        "falls",
        "the step from 6 to 7 is now longer than the way from 0 to 6, and this score ranks distances.",
    ),
    "linearity": ("stays", "equal or not, all steps of a factor lie along one line, and this score asks no more."),
    "DCI-C": (
        "falls",
        "the predictor can use either copy, so the column of each of the two factors is shared between latents.",
    ),
}
BLIND = {key: right for key, (right, _) in FAULTS.items()}
BLIND_WRONG = {(key, "stays" if right == "falls" else "falls"): f"{key}: {why}" for key, (right, why) in FAULTS.items()}

IMAGES = 19 * 39 / (2 * 0.01 * math.log(40))
IMAGES_WRONG = (
    Wrong(2 * IMAGES, "the 2 under the fraction was forgotten."),
    Wrong(IMAGES / 2, "the 2 was counted twice."),
    Wrong(20 * 40 / (0.02 * math.log(40)), "the −1s are missing: it is (b − 1)(f − 1), 19 · 39."),
    Wrong(19 * 39 / (0.02 * math.log2(40)), "the entropy is in bits, the excess in nats: use the natural logarithm."),
    Wrong(19 * 39 / 0.02, "the excess was made 0.01 nats; a hundredth of the factor's entropy is wanted."),
    Wrong(19 * 39 / (0.2 * math.log(40)), "this is for a tenth of the entropy, not a hundredth."),
    Wrong(19 * 39 / (2 * math.log(40)), "this is for all of the entropy: at so few images noise knows the factor."),
    *(
        Wrong(19 * (f - 1) / (0.02 * math.log(f)), f"this is for a factor of {f} values: orientation has 40.")
        for f in (8, 20)
    ),
    Wrong(
        19 * 39 / (0.02 * 40), "divided by the number of values: the entropy of 40 equal chances is their logarithm."
    ),
)

SUSPECTS = ("missing", "turned", "untrained", "twice", "merged", "reordered")
CULPRITS = dict(zip("ABCDEF", ("twice", "turned", "reordered", "untrained", "missing", "merged"), strict=True))
CULPRITS_WRONG = {
    ("A", "reordered"): "A: its distance is perfect, so the order is there. Which score has fallen to 0, and what does "
    "a gap of 0 mean?",
    ("A", "missing"): "A: nothing is missing, FactorVAE would see it. A gap of 0 with perfect rows: what is that?",
    ("A", "merged"): "A: its latents serve one factor each, as modularity and DCI-D say; two merged ones would not.",
    ("B", "untrained"): "B: an untrained network has no FactorVAE score of 1. What leaves that at 1, and MIG near .2?",
    ("B", "twice"): "B: duplicates leave no gap at all, and modularity at 1. Both do not fit.",
    ("B", "merged"): "B: a merged code has a FactorVAE score below 1, since two factors share a latent.",
    ("C", "turned"): "C: a rotation leaves distance at 1 and lowers MIG; here it is the other way round.",
    ("C", "missing"): "C: FactorVAE and MIG would see a missing factor. Only one score has fallen: what does it ask?",
    ("C", "twice"): "C: MIG is 1, so there is a gap.",
    ("D", "turned"): "D: a rotated code has all factors, in order: distance 1. Here everything is low but one score.",
    ("D", "reordered"): "D: reordered values leave everything but distance where it was.",
    ("D", "missing"): "D: a missing factor leaves BetaVAE and modularity at 1.",
    ("E", "merged"): "E: merged factors are still there, so distance would be 1; and modularity would not be.",
    ("E", "reordered"): "E: distance has fallen, and so have FactorVAE, to (F − 1)/F, and MIG. One cause for all?",
    ("E", "twice"): "E: a duplicated code has all factors, so FactorVAE would be 1.",
    ("F", "missing"): "F: a missing factor makes the geometric mean of distance 0.",
    ("F", "turned"): "F: a rotation lowers DCI-C as much as DCI-D. Here the columns are perfect and a row is not.",
    ("F", "twice"): "F: duplicates lower the columns, DCI-C, and leave the rows.",
}

EXERCISES = (
    Function(
        id="04.1",
        title="Modularity from a matrix",
        objective=BUILD,
        answer="modularity_of",
        points=3,
        difficulty=1,
        minutes=12,
        names=("information",),
        cases=matrices,
        reference=modularity_of,
        wrong=MODULARITY_WRONG,
        hints=(
            "For one row: square everything, take the largest out, and compare the rest with F − 1 times the largest.",
            "(information**2).sum(1) − best**2 is what lies beside the best. Divide only where best > 0, take the mean "
            "over those rows, and think of the code that has none.",
        ),
    ),
    Function(
        id="04.2",
        title="The vote of the dead",
        objective=BUILD,
        answer="least_varying",
        points=3,
        difficulty=2,
        minutes=15,
        names=("latents", "spread"),
        cases=groups,
        reference=least_varying,
        wrong=VOTE_WRONG,
        hints=(
            "What is 0 / 0, and where does argmin put it? Decide first who may vote, from the spread alone.",
            "A latent that may not vote needs a ratio that never is the smallest; torch.where takes a mask, (D,), and "
            "two alternatives.",
        ),
    ),
    Plain(
        id="04.3",
        title="Before you see it: what does each score miss?",
        objective=BREAK,
        answer="blind_spots",
        points=2,
        difficulty=2,
        minutes=10,
        fault=choices(BLIND, ("falls", "stays"), BLIND_WRONG),
        wrong=tuple(Wrong({**BLIND, key: word}, message) for (key, word), message in BLIND_WRONG.items()),
        praise="right. Now run the next cell and see how far each of them falls.",
        hints=(
            "Write down for each score the one question that it asks, and put the question to the faulty code.",
            "Half of them fall. Of the pairs that share a code, one score sees what the other does not.",
        ),
    ),
    Construction(
        id="04.4",
        title="Break it: a MIG near 1 that nobody can use",
        objective=BREAK,
        answer="useless_code",
        points=3,
        difficulty=2,
        minutes=15,
        wrong=broken_score.WRONG,
        hints=(
            "Mutual information does not care which value of a latent goes with which value of a factor. What does a "
            "linear model need?",
            "Give each factor its own latent, with the eight values in an order that has no trend: 3, 6, 1, 4, 7, …",
        ),
    ),
    Plain(
        id="04.5",
        title="How many images?",
        objective=SETTINGS,
        answer="images",
        points=2,
        difficulty=1,
        minutes=8,
        fault=number(IMAGES, IMAGES_WRONG, relative=0.01),
        wrong=IMAGES_WRONG,
        praise="right: about 10,000, which is what the literature takes.",
        hints=(
            "The excess is (b − 1)(f − 1) / (2n) nats. What is the entropy of 40 equally likely values?",
            "The formula gives nats, so take the natural logarithm of 40, set the excess to a hundredth of it and "
            "solve for n.",
        ),
    ),
    Plain(
        id="04.6",
        title="Six codes, six rows",
        objective=READ,
        answer="culprits",
        points=3,
        difficulty=3,
        minutes=15,
        fault=choices(CULPRITS, SUSPECTS, CULPRITS_WRONG),
        wrong=tuple(Wrong({**CULPRITS, key: word}, message) for (key, word), message in CULPRITS_WRONG.items()),
        praise="right: every fault has its pattern.",
        hints=(
            "Begin with the row in which a single score has fallen, and with the one in which nothing is near 1.",
            "FactorVAE (F − 1)/F is a factor that is not there; a MIG of 0 beside perfect rows is a factor in two "
            "places; a DCI-D below a perfect DCI-C is two factors in one place.",
        ),
    ),
)
