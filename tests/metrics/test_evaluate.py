"""Many scores at once."""

from functools import partial

import pytest

from course_lib import metrics
from course_lib.metrics import DEFAULT_SCORES, SCORES


def test_a_chosen_set_comes_back_by_name_and_in_order(tables):
    scores = metrics.evaluate(tables["identity"], scores=["sap", metrics.mig], seed=2)
    assert list(scores) == ["sap", "mig"] and scores["mig"].values == metrics.mig(tables["identity"], seed=2).values
    assert repr(scores) == f"{scores['sap']!r}\n{scores['mig']!r}"
    assert scores.headlines().to_dict() == {name: float(score) for name, score in scores.items()}


def test_the_frame_has_one_row_per_value(tables):
    frame = metrics.evaluate(tables["identity"], scores=["mig", "irs"]).to_frame()
    assert list(frame) == ["score", "value", "number", "headline"] and len(frame) == 5 + 5
    assert frame[frame.headline].value.tolist() == ["mig", "irs"]


def test_scores_with_other_settings_have_names_of_their_own(tables):
    chosen = {"coarse": partial(metrics.mig, bins=5), "fine": metrics.mig}
    scores = metrics.evaluate(tables["rotated"], scores=chosen)
    assert scores["coarse"].settings["bins"] == 5 and scores["fine"].settings["bins"] == 20


def test_every_public_score_can_be_chosen_and_the_default_is_the_books_table():
    others = {"DEFAULT_SCORES", "SCORES", "Encodings", "Evaluation", "Score", "evaluate", "geometric_mean"}
    assert set(SCORES) == set(metrics.__all__) - others and set(DEFAULT_SCORES) < set(SCORES)


@pytest.mark.parametrize("name", sorted(SCORES))
def test_every_score_says_what_it_is(name):
    """A question, the equation's source, what the values are: the book's page is made from this."""
    text = SCORES[name].__doc__
    assert "?" in text.splitlines()[0] or name.startswith("downstream") or name == "mutual_information"
    assert "Source: " in text or name == "downstream_logistic"
    assert "encode : " in text or name == "downstream_logistic"
