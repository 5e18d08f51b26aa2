"""`check` in a student's notebook: full points for what is right, and a message that names each known mistake."""

import re
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from course_lib.grading import check, hint, registry, report, session
from course_lib.grading.exercise import Function, LocalAnswer, Plain

EXERCISES = [exercise for chapter in registry.known() for exercise in registry.exercises_of(chapter)]
FUNCTIONS = [exercise for exercise in EXERCISES if isinstance(exercise, Function)]
PLAIN = [exercise for exercise in EXERCISES if isinstance(exercise, Plain)]
RIGHT = {
    "02.3": 64, "02.5": dict(kl="falls", reconstruction="rises", loss="rises", used="falls"),
    "02.6": dict(beta=1.0, reduction="mean", learning_rate=1e-3),
    "02.8": {"from": "q(z|x)", "to": "p(z|x)", "change": "falls by 2"},
}  # fmt: skip


def judged(exercise, answer, seed=0):
    return exercise.judge(LocalAnswer(answer), seed)


@pytest.fixture(autouse=True)
def fresh_session(monkeypatch):
    monkeypatch.setattr(session, "_passed", {})
    monkeypatch.setattr(session, "_hints", {})


def test_ids_are_unique_and_every_fact_is_there():
    assert len({exercise.id for exercise in EXERCISES}) == len(EXERCISES)
    for exercise in EXERCISES:
        assert exercise.points > 0 and 1 <= exercise.difficulty <= 3 and exercise.minutes > 0
        assert len(exercise.hints) == 2 and all(exercise.hints) and exercise.objective


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_right(exercise, capsys):
    answer = exercise.reference if isinstance(exercise, Function) else RIGHT[exercise.id]
    for seed in range(5):
        assert judged(exercise, answer, seed).passed
    started = time.monotonic()
    check(exercise.id, answer)
    assert time.monotonic() - started < 2
    assert f"{exercise.id} ✓ {exercise.points} of {exercise.points} points" in capsys.readouterr().out


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_wrong_answers_lose_their_points_with_a_message_that_names_the_fault(exercise):
    answers = [(wrong.answer, wrong.message) for wrong in exercise.wrong]
    assert len(answers) >= 5
    assert len({message for _, message in answers}) == len(answers) or exercise.id == "02.6"
    for answer, message in answers:
        for seed in range(3):
            verdict = judged(exercise, answer, seed)
            assert not verdict.passed and message in verdict.message, (message, verdict.message)


@pytest.mark.parametrize("exercise", FUNCTIONS, ids=lambda exercise: exercise.id)
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


@pytest.mark.parametrize("exercise", FUNCTIONS, ids=lambda exercise: exercise.id)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda y: y.unsqueeze(0), "shape"),
        (lambda y: y.double() if y.dtype == torch.float32 else y.float(), "torch.float"),
        (lambda y: y * torch.nan, "NaN or infinite"),
        (lambda y: y * 1.5, "1.5 times"),
        (lambda y: y + 11, r"off by the same amount, \+11"),
        (lambda y: y + torch.rand_like(y), "the numbers differ|different values"),
        (lambda y: y.new_zeros(()) + y.sum() * 0, "shape"),
    ],
)
def test_general_faults(exercise, change, words):
    verdict = judged(exercise, lambda *a: change(exercise.reference(*a)))
    assert not verdict.passed and re.search(words, verdict.message), verdict.message


@pytest.mark.parametrize("exercise", FUNCTIONS, ids=lambda exercise: exercise.id)
def test_something_random_inside_is_named(exercise):
    calls = iter(range(99))
    verdict = judged(exercise, lambda *a: exercise.reference(*a) * (1 if next(calls) == 0 else 2))
    assert not verdict.passed and "nothing random inside" in verdict.message


def test_arguments_changed_in_place_harm_only_the_answer():
    def greedy(mean, log_variance, noise):
        noise.mul_((0.5 * log_variance).exp().detach()).add_(mean.detach())
        return noise

    (exercise,) = [exercise for exercise in FUNCTIONS if exercise.id == "02.2"]
    assert "no gradient" in judged(exercise, greedy).message


@pytest.mark.parametrize("exercise", PLAIN, ids=lambda exercise: exercise.id)
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
def test_odd_answers(exercise, odd, capsys):
    check(exercise.id, odd)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{exercise.id} ✗ 0 of {exercise.points} points: ") and "looked at" not in line


@pytest.mark.parametrize("number", [64, 64.0, np.float32(64), np.int64(64), torch.tensor(64.0), 512 / 8, np.array(64)])
def test_a_number_of_any_kind(number):
    (exercise,) = [exercise for exercise in PLAIN if exercise.id == "02.3"]
    assert judged(exercise, number).passed


def test_a_class_that_raises_when_it_is_looked_at(capsys):
    class Evil:
        def __getattr__(self, name):
            raise SystemError("boo")

    for exercise in EXERCISES:
        check(exercise.id, Evil())
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(EXERCISES) and all("✗" in line for line in lines)


def test_a_students_session_is_left_as_it_was():
    torch.manual_seed(5)
    state, kind = torch.get_rng_state(), torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad():
            for exercise in FUNCTIONS:
                assert judged(exercise, exercise.reference).passed, exercise.id
            assert judged(PLAIN[2], RIGHT["02.6"]).passed and not torch.is_grad_enabled()
    finally:
        torch.set_default_dtype(kind)
    assert torch.equal(torch.get_rng_state(), state)


def test_unknown_exercises(capsys):
    for name in ("02.99", "", "2.1", 2.1, None, "99.1", "x" * 999):
        check(name, 1)
        hint(name)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 14 and all("allowed are 02.1, 02.2" in line and len(line) < 200 for line in lines)


def test_hints_come_in_two_steps(capsys):
    for _ in range(3):
        hint("02.1")
    first, second, third = capsys.readouterr().out.splitlines()
    assert "hint 1 of 2" in first and "hint 2 of 2" in second and second == third


def test_report(capsys):
    report()
    assert capsys.readouterr().out == "Nothing was checked yet.\n"
    check("02.1", FUNCTIONS[0].reference)
    check("02.3", 1)
    capsys.readouterr()
    report()
    *objectives, total = capsys.readouterr().out.splitlines()
    assert total.split()[:3] == ["3", "of", "20"] and len(objectives) == 5
    check("02.1", None)
    capsys.readouterr()
    report()
    assert capsys.readouterr().out.splitlines()[-1].split()[0] == "0"


def test_needs_no_jupyter_package():
    code = """
import sys
sys.modules |= dict.fromkeys(["IPython", "ipywidgets", "ipykernel", "nbformat", "jupyter_client", "nbclient"])
from course_lib.grading import check, hint, report
check("02.3", 64); hint("02.3"); report()
import course_lib.grading.command
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and "2 of 2 points" in done.stdout, done.stderr
