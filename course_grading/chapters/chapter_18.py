"""The exercises of chapter 18, triplets."""

from course_grading.chapters.triplet_codes import (
    CODE_WRONG,
    MADE,
    MADE_WRONG,
    MOVES_WRONG,
    code_fault,
    made_fault,
    moves_fault,
)
from course_grading.chapters.triplet_losses import BATCH_WRONG, batch_triplet_loss, batches
from course_grading.chapters.triplet_orders import (
    ORDER_WRONG,
    THREES_WRONG,
    Comparison,
    factor_triples,
    in_order,
    nearer,
    threes,
)
from course_grading.exercise import Function, Plain, Wrong

LOSS, SAMPLER, DETERMINED, MADE_HOW = (  # the chapter's objectives
    "write the triplet loss, hard and soft, and say what each of the three points feels",
    "draw triplets by a distance of factors, and keep rounding from deciding what is nearer",
    "say what triplets in ℓ1 and in ℓ2 determine, and what they leave open",
    "read a code's score for how it was made: mixed, or split over several latents",
)

EXERCISES = (
    Function(
        id="18.1",
        title="All triplets of a batch",
        objective=LOSS,
        answer="batch_triplet_loss",
        points=3,
        difficulty=2,
        minutes=15,
        names=("codes", "truth", "margin"),
        cases=batches,
        reference=batch_triplet_loss,
        wrong=BATCH_WRONG,
        hints=(
            "Lay all three roles out as axes, (B, B, B): anchor, positive, negative. Which of these places are "
            "triplets of three different images, in the order that was told?",
            "d[:, :, None] − d[:, None, :] holds d_p − d_n for every place. A mask says where it counts: told nearer, "
            "and the positive is not the anchor. Sum over the mask, and divide by how many it holds, at least 1.",
        ),
    ),
    Plain(
        id="18.2",
        title="Before you compute it: who moves where?",
        objective=LOSS,
        answer="moves",
        points=2,
        difficulty=2,
        minutes=8,
        fault=moves_fault,
        wrong=MOVES_WRONG,
        praise="right. Now run the next cell and compare with autograd.",
        hints=(
            "First: is the triplet settled? Then one latent at a time; only the side on which a point lies matters.",
            "The positive goes towards the anchor by 1, the negative away from it by 1. The three moves add up to 0 in "
            "each latent, and that gives the anchor's.",
        ),
    ),
    Comparison(
        id="18.3",
        title="Which is nearer, without rounding",
        objective=SAMPLER,
        answer="nearer",
        points=3,
        difficulty=2,
        minutes=12,
        names=("anchor", "first", "second", "sizes"),
        cases=factor_triples,
        reference=nearer,
        wrong=ORDER_WRONG,
        hints=(
            "By which whole number can one multiply all terms so that no fraction is left?",
            "A common multiple of all f − 1, such as the least one, math.lcm. A factor with one value has f − 1 = 0 "
            "and never differs: leave it out before you divide.",
        ),
    ),
    Function(
        id="18.4",
        title="A sampler with two faults",
        objective=SAMPLER,
        answer="in_order",
        points=3,
        difficulty=2,
        minutes=10,
        names=("factors",),
        cases=threes,
        reference=in_order,
        wrong=THREES_WRONG,
        hints=(
            "Try it on [[[0], [5], [1]]], and look at all three images that come back.",
            "The second torch.where already sees the new `positive`. And which threes does the mask keep that have no "
            "order?",
        ),
    ),
    Plain(
        id="18.5",
        title="Construct it: every triplet right, hardly aligned",
        objective=DETERMINED,
        answer="code",
        points=3,
        difficulty=2,
        minutes=12,
        fault=code_fault,
        wrong=CODE_WRONG,
        praise="right: no triplet is wrong, every factor runs straight, and no latent stands for a factor.",
        hints=(
            "An ℓ1 distance is a sum over latents. What may one do to a term of a sum without changing the sum?",
            "Deal each factor out evenly to latents of its own, with the same ℓ1 step for both. With m latents of six, "
            "the ratio of a factor is (1/m − 1/6) / (1 − 1/6).",
        ),
    ),
    Plain(
        id="18.6",
        title="Five codes, by their scores",
        objective=MADE_HOW,
        answer="made",
        points=2,
        difficulty=2,
        minutes=8,
        fault=made_fault,
        wrong=tuple(Wrong({**MADE, key: word}, message) for (key, word), message in MADE_WRONG.items()),
        praise="right: no single one of the five scores would have told.",
        hints=(
            "Modularity says whether a latent carries one factor. Start with the one row where it is low.",
            "A factor in one latent of its own has the axis alignment 1, whatever its steps, and adds up to a quarter "
            "to the MIG of four. A triplet notices unequal steps and mixing, and neither a bend nor a split.",
        ),
    ),
)
