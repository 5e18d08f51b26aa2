"""The size of an evaluation, counted from the grids that a paper prints."""

import pytest

from course_replication import load_claims
from course_replication.measurements import counts
from course_replication.plans import metrics_of, parts_of

(CLAIM,) = (claim for claim in load_claims() if claim.id == "isa/section-4")
ANSWERS = ("fifty-of-each-setting-make-the-total", "settings-fit-into-the-total")


def test_the_grids_of_table_1_are_more_than_the_experiments(context):
    (part,) = parts_of(CLAIM, "small")
    printed = {number.what: float(number.value) for number in CLAIM.numbers}
    assert (part.settings["each"], part.settings["total"]) == tuple(printed.values())
    assert part.settings["betas"] == CLAIM.settings["beta"] and part.settings["gammas"] == CLAIM.settings["gamma"]
    found = counts.experiments(context, **part.settings)
    made = {name.split("/")[1]: count for name, count in found.items() if name.startswith("experiments/")}
    assert made == {"table-1": 50 * (9 + 9 + 9 + 10), "without-factor-vae": 50 * 27, "one-vae": 50 * 26}
    assert found["left-over"] == 30 and not any(found[answer] for answer in ANSWERS) and found["settings"] == 3
    assert {*metrics_of(CLAIM)} == {*ANSWERS}


@pytest.mark.parametrize(
    ("total", "answers"),
    [(60, (True, True)), (50, (True, True)), (80, (False, True)), (55, (False, True)), (40, (False, False))],
)
def test_what_would_fit(context, total, answers):
    """Ten runs each of three methods at two β: six settings, or five where β = 1 counts once."""
    found = counts.experiments(context, each=10, total=total, betas=[1, 2], gammas=[])
    assert tuple(found[answer] for answer in ANSWERS) == answers
