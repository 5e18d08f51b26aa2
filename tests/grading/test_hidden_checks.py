"""Hidden checks take no point from a right answer, whatever their inputs: the solution, the reference, other styles."""

import pytest

import notebook_io
from course_grading import registry
from course_grading.exercise import Function, LocalAnswer, Verdict

HIDDEN = [
    check
    for chapter in registry.known()
    for check in registry.hidden_checks(notebook_io.ROOT / "exercises" / "hidden", chapter)
]


def right_answers_pass(hidden, answers, seeds):
    right = [answers(hidden.of[:2])[hidden.of], *registry.find(hidden.of).also_right]
    right += [hidden.reference] if isinstance(hidden, Function) else []
    assert len(right) >= 3
    for seed in seeds:
        for answer in right:
            assert hidden.judge(LocalAnswer(answer), seed) == Verdict(True, hidden.praise), f"seed {seed}"


@pytest.mark.parametrize("hidden", HIDDEN, ids=lambda hidden: hidden.id)
def test_right_answers_pass(hidden, answers):
    right_answers_pass(hidden, answers, range(20))


@pytest.mark.stress
@pytest.mark.parametrize("hidden", HIDDEN, ids=lambda hidden: hidden.id)
def test_right_answers_pass_on_many_inputs(hidden, answers):
    right_answers_pass(hidden, answers, range(20, 200))
