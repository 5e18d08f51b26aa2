"""`check` in a student's notebook: full points for what is right, and a message that names each known mistake."""

import math
import re
import subprocess
import sys
import time
from fractions import Fraction

import numpy as np
import pytest
import torch

from course_grading import check, hint, registry, report, session
from course_grading.exercise import Function, LocalAnswer, Plain, Verdict
from course_grading.facts import facts

EXERCISES = [exercise for chapter in registry.known() for exercise in registry.exercises_of(chapter)]
FUNCTIONS = [exercise for exercise in EXERCISES if isinstance(exercise, Function)]
PLAIN = [exercise for exercise in EXERCISES if isinstance(exercise, Plain)]


def id_of(exercise):
    return exercise.id


def judged(exercise, answer, seed=0):
    return exercise.judge(LocalAnswer(answer), seed)


@pytest.fixture(autouse=True)
def fresh_session(monkeypatch):
    monkeypatch.setattr(session, "_earned", {})
    monkeypatch.setattr(session, "_hints", {})
    monkeypatch.setattr(session, "_committed", {})


def test_ids_are_unique_and_every_fact_is_there():
    """Each exercise of the notebooks has a check, and each check an exercise, in the same order."""
    assert [exercise.id for exercise in EXERCISES] == [*facts()]
    for exercise in EXERCISES:
        assert exercise.points > 0 and 1 <= exercise.difficulty <= 3 and exercise.minutes > 0
        assert len(exercise.hints) == 2 and all(exercise.hints) and exercise.objective


@pytest.mark.parametrize("exercise", EXERCISES, ids=id_of)
def test_right(exercise, right_answers, capsys):
    right = right_answers(exercise)
    for seed in range(5):
        for answer in right:
            assert judged(exercise, answer, seed) == Verdict(True, exercise.praise)
    started = time.process_time()  # of this process: other work on the computer must not count
    check(exercise.id, right[0])
    assert time.process_time() - started < 2
    assert f"{exercise.id} ✓ {exercise.points} of {exercise.points} points" in capsys.readouterr().out


@pytest.mark.parametrize("exercise", EXERCISES, ids=id_of)
def test_wrong_answers_lose_their_points_with_a_message_that_names_the_fault(exercise):
    answers = [(wrong.answer, wrong.message) for wrong in exercise.wrong]
    assert len({message for _, message in answers}) >= 5
    for answer, message in answers:
        for seed in range(3):
            verdict = judged(exercise, answer, seed)
            assert not verdict.passed and message in verdict.message, (message, verdict.message)
            assert verdict.points(exercise.points) < exercise.points


@pytest.mark.parametrize("exercise", FUNCTIONS, ids=id_of)
@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (lambda *a: None, "Is there a `return`"),
        (lambda *a: 3.0, "got a float"),
        (lambda *a: a, "got a tuple"),
        (lambda *a: np.zeros(3), "numpy array"),
        (lambda: 0, "it raised TypeError"),
        (lambda *a: sys.exit(), "it raised SystemExit"),
        (lambda *a: 1 / 0, "it raised ZeroDivisionError"),
        (3, "it is a int and no function"),
        (None, "it is a NoneType and no function"),
        (..., "not written yet"),
    ],
)
def test_broken_functions(exercise, broken, words):
    verdict = judged(exercise, broken)
    assert not verdict.passed and words in verdict.message


CHANGES = {  # of outputs: the change, what is said, and what outputs it needs
    "an axis more": (lambda y: y.unsqueeze(0), "shape", "any"),
    "another dtype": (lambda y: y.float() if y.dtype == torch.float64 else y.double(), "got torch.float", "any"),
    "NaNs": (lambda y: y * torch.nan, "NaN or infinite", "real"),
    "a factor": (lambda y: y * 1.5, r"1\.5 times", "many"),
    "a constant": (lambda y: y + 11, r"off by the same amount, \+11", "many"),
    "noise": (lambda y: y + torch.rand_like(y), "same arguments gave different values", "real"),
    "almost nothing": (lambda y: y.double().mul(1e-200).to(y.dtype) + y.new_tensor(5e-40), ".", "nonzero"),
    "infinity": (lambda y: y + torch.inf, "NaN or infinite", "real"),
    "the sum": (lambda y: y.new_zeros(()) + y.sum() * 0, "shape", "many"),
}


def has(kind, output):
    """Whether the exercise's typical output is real, and has so many different numbers that a factor shows."""
    real = output.is_floating_point()
    many = real and output.ndim > 0 and len(output.unique()) > 1
    return {"any": True, "real": real, "many": many, "nonzero": real and bool((output.abs() > 0.1).any())}[kind]


@pytest.mark.parametrize("exercise", FUNCTIONS, ids=id_of)
@pytest.mark.parametrize("name", CHANGES)
def test_general_faults(exercise, name):
    change, words, needs = CHANGES[name]
    typical, *_ = exercise.cases(torch.Generator().manual_seed(0))
    if not has(needs, exercise.reference(*typical)):
        pytest.skip("says nothing about outputs of this kind")
    verdict = judged(exercise, lambda *a: change(exercise.reference(*a)))
    assert not verdict.passed and re.search(words, verdict.message), verdict.message


@pytest.mark.parametrize("exercise", FUNCTIONS, ids=id_of)
def test_something_random_inside_is_named(exercise):
    calls = iter(range(99))
    verdict = judged(exercise, lambda *a: exercise.reference(*a) * (1 if next(calls) == 0 else 2))
    assert not verdict.passed and "nothing random inside" in verdict.message


@pytest.mark.parametrize("exercise", PLAIN, ids=id_of)
@pytest.mark.parametrize(
    "odd",
    [
        None, [], {}, "", "yes", b"64", 3j, float("nan"), float("inf"), 10**400, True, lambda: 64, object(), int,
        torch.zeros(3), np.zeros((2, 2)), {"beta": None}, {"kl": 3}, {1: 2}, [[]] * 3, "x " * 9_999,
        dict(beta="1", reduction="mean", learning_rate=1e-3),
        dict(beta=float("nan"), reduction="mean", learning_rate=1e-3),
        dict(beta=1.0, reduction=["mean"], learning_rate=1e-3),
        dict(kl=None, reconstruction=[], loss={}, used=3),
    ],
    ids=lambda odd: f"{type(odd).__name__}-{str(odd)[:20]}" if not callable(odd) else type(odd).__name__,
)  # fmt: skip
def test_odd_answers(exercise, odd, answers, capsys):
    if repr(odd) == repr(answers(exercise.id[:2])[exercise.id]):
        pytest.skip("this is the right answer")
    check(exercise.id, odd)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{exercise.id} ✗ 0 of {exercise.points} points: ") and "looked at" not in line


@pytest.mark.parametrize("exercise", PLAIN, ids=id_of)
def test_the_answers_of_other_exercises(exercise, answers, capsys):
    """Handed in under the wrong number, each is wrong and named in one line."""
    for other in EXERCISES:
        answer = answers(other.id[:2])[other.id]
        if repr(answer) != repr(answers(exercise.id[:2])[exercise.id]):
            check(exercise.id, answer)
            (line,) = capsys.readouterr().out.splitlines()
            assert line.startswith(f"{exercise.id} ✗ 0 of {exercise.points} points: ") and "looked at" not in line


def test_unknown_exercises(capsys):
    for name in ("02.99", "", "2.1", 2.1, None, "99.1", "x" * 999):
        check(name, 1)
        hint(name)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 14 and all(len(line) < 300 for line in lines)
    assert all("allowed are 02.1 to 02.10." in line for line in lines[:2])
    assert all(f"those of chapters {', '.join(registry.known())}, such as 02.1" in line for line in lines[2:])


def test_hints_come_in_two_steps(capsys):
    for _ in range(3):
        hint("02.1")
    first, second, third = capsys.readouterr().out.splitlines()
    assert "hint 1 of 2" in first and "hint 2 of 2" in second and second == third


@pytest.mark.parametrize("chapter", registry.known())
def test_report(chapter, answers, capsys):
    report()
    assert capsys.readouterr().out == "Nothing was checked yet.\n"
    right, wrong = (exercise for exercise in registry.exercises_of(chapter)[:2])
    check(right.id, answers(chapter)[right.id])
    check(wrong.id, None)
    capsys.readouterr()
    report()
    *objectives, total, first = capsys.readouterr().out.splitlines()
    tasks = registry.exercises_of(chapter)
    sums = [str(right.points), "of", str(sum(task.points for task in tasks))]
    assert total.split()[:3] == first.split()[:3] == sums and first.endswith("with the first answers")
    assert len(objectives) == len({task.objective for task in tasks})
    check(right.id, None)
    capsys.readouterr()
    report()
    *_, total, first, remark = capsys.readouterr().out.splitlines()
    assert total.split()[0] == "0" and remark.startswith(f"The last answer counts. {right.id} had a better one before")
    assert first.split()[0] == sums[0] and first.endswith(f"first answers ({right.id} {right.points}, then 0)")


def test_the_first_answer_is_kept(capsys):
    """What is not written yet is no answer; a right one that comes later does not replace a wrong first one."""
    for answer in (..., 63, 64, 64):
        check("02.3", answer)
    blank, wrong, *right = capsys.readouterr().out.splitlines()
    assert blank == "02.3 ✗ 0 of 2 points: not written yet." and wrong.startswith("02.3 ✗ 0 of 2 points: ")
    assert all(line.startswith("02.3 ✓ 2 of 2 points (first answer: 0): right") for line in right)
    report()
    *_, total, first = capsys.readouterr().out.splitlines()
    assert total.split()[0] == "2" and first.split()[0] == "0" and first.endswith("(02.3 0, then 2)")


PARTED = ["01.5", "01.6", "02.5", "02.9", "08.4", "17.2", "18.2"]


def _spoilt(answer: dict, count: int) -> dict:
    """The answer with so many of its parts no longer of their form, which is wrong whatever is right."""
    return answer | dict.fromkeys([*answer][:count], "?")


@pytest.mark.parametrize("id", PARTED)
def test_what_is_right_of_an_answer_in_parts_earns_its_share(id, answers):
    exercise, parts = registry.find(id), 9 if id == "17.2" else len(answers(id[:2])[id])
    wrong = [judged(exercise, wrong.answer) for wrong in exercise.wrong]
    shares = {verdict.share for verdict in wrong}
    assert Fraction(parts - 1, parts) in shares and all(share.denominator in range(1, parts + 1) for share in shares)
    for verdict in wrong:
        assert verdict.share == 0 or verdict.message.startswith(f"{int(verdict.share * parts)} of {parts} right. ")
        assert verdict.points(exercise.points) == math.floor(verdict.share * exercise.points)


@pytest.mark.parametrize("id", ["02.5", "02.9", "08.4", "01.5", "01.6"])
def test_each_part_counts_once(id, answers):
    exercise, answer = registry.find(id), answers(id[:2])[id]
    for count in range(1, len(answer) + 1):
        verdict, left = judged(exercise, _spoilt(answer, count)), len(answer) - count
        assert not verdict.passed and verdict.share == Fraction(left, len(answer))
        assert verdict.message.startswith(f"{left} of {len(answer)} right. {[*answer][0]}: got '?'; expected one of")


def test_eight_of_nine_earn_what_they_are_worth(answers, capsys):
    check("08.4", answers("08")["08.4"] | {"MIG": "stays"})
    (line,) = capsys.readouterr().out.splitlines()
    points = registry.find("08.4").points
    assert line.startswith(f"08.4 ✗ {8 * points // 9} of {points} points: 8 of 9 right. MIG: it looks at single")
    assert 0 < 8 * points // 9 < points


def test_an_array_is_told_of_gradients_only_where_they_are_asked():
    asked = [exercise for exercise in FUNCTIONS if _asks_for_gradients(exercise)]
    assert asked and len(asked) < len(FUNCTIONS)
    for exercise in FUNCTIONS:
        said = judged(exercise, lambda *a: np.zeros(3)).message
        assert ("numpy has no gradients" in said) == (exercise in asked), said
        assert ("torch.from_numpy" in said) != (exercise in asked), said


def _asks_for_gradients(exercise):
    typical, *_ = exercise.cases(torch.Generator().manual_seed(0))
    return any(isinstance(each, torch.Tensor) and each.requires_grad for each in typical)


def test_needs_no_jupyter_package():
    code = """
import sys
sys.modules |= dict.fromkeys(["IPython", "ipywidgets", "ipykernel", "nbformat", "jupyter_client", "nbclient"])
from course_grading import check, hint, report
check("02.3", 64); hint("02.3"); report()
import course_grading.command
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and "2 of 2 points" in done.stdout, done.stderr
