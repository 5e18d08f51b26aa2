"""Whatever the inputs that a grader draws: right answers pass and known mistakes do not."""

import pytest

from course_grading import registry
from course_grading.exercise import Function, LocalAnswer

EXERCISES = [
    exercise
    for chapter in registry.known()
    for exercise in registry.exercises_of(chapter)
    if isinstance(exercise, Function)
]
SEEDS = range(100)


@pytest.mark.stress
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_right_answers_pass_on_many_inputs(exercise, right_answers):
    found = {
        (place, seed): exercise.judge(LocalAnswer(answer), seed).message
        for place, answer in enumerate(right_answers(exercise))
        for seed in SEEDS
    }
    assert {key: said for key, said in found.items() if said != exercise.praise} == {}


@pytest.mark.stress
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_mistakes_do_not_pass_on_many_inputs(exercise):
    passed = {
        (mistake.message, seed)
        for mistake in exercise.wrong
        for seed in SEEDS
        if exercise.judge(LocalAnswer(mistake.answer), seed).passed
    }
    assert passed == set()
