"""Answers that are nearly right, or right and odd: each is judged as the grader would, and told what is the matter."""

import os
import random
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from functools import partial, wraps

import numpy as np
import pytest
import torch

from course_grading import check, registry, session
from course_grading.exercise import LocalAnswer

EXERCISES = [exercise for chapter in registry.known() for exercise in registry.exercises_of(chapter)]
KL, SAMPLE, NUMBER, MENDED = (registry.find(id) for id in ("02.1", "02.2", "02.3", "02.4"))


def judged(exercise, answer, seed=0):
    return exercise.judge(LocalAnswer(answer), seed)


@pytest.fixture(autouse=True)
def fresh_session(monkeypatch):
    monkeypatch.setattr(session, "_earned", {})


NUMBERS = [
    64, 64.0, np.float32(64), np.int64(64), np.array(64), torch.tensor(64.0), Fraction(64), Decimal(64), 512 / 8,
]  # fmt: skip


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: type(number).__name__)
def test_a_number_of_any_kind(number):
    assert judged(NUMBER, number).passed
    assert "upside down" in judged(NUMBER, number / 4096).message


class Called:
    def __call__(self, mean, log_variance, noise=None):
        return KL.reference(mean, log_variance)


def decorated(function):
    @wraps(function)
    def inner(*arguments, **options):
        return function(*arguments, **options)

    return inner


CALLABLES = {
    "a lambda": lambda mean, log_variance: KL.reference(mean, log_variance),
    "functools.partial": partial(KL.reference),
    "a class with __call__": Called(),
    "a bound method": Called().__call__,
    "decorated": decorated(KL.reference),
    "any number of arguments": lambda *arguments: KL.reference(*arguments),
    "a module": type("Module", (torch.nn.Module,), {"forward": lambda self, m, v: KL.reference(m, v)})(),
}


@pytest.mark.parametrize("name", CALLABLES)
def test_whatever_can_be_called_is_a_function(name):
    assert judged(KL, CALLABLES[name]).passed


@pytest.mark.parametrize("exercise", [SAMPLE, MENDED], ids=lambda exercise: exercise.id)
def test_noise_of_its_own_is_named(exercise):
    """torch.randn_like in place of the noise that was given: no two calls agree, and that is what it is told."""
    verdict = judged(exercise, lambda m, v, e: exercise.reference(m, v, torch.randn_like(m)))
    assert not verdict.passed and "two calls with the same arguments gave different values" in verdict.message


def test_a_function_that_can_be_called_once_is_named():
    calls = iter([KL.reference])
    verdict = judged(KL, lambda *arguments: next(calls)(*arguments))
    assert not verdict.passed and "called again with the same arguments, it raised StopIteration" in verdict.message


def scaled_in_place(mean, log_variance, noise):
    return noise.mul_((0.5 * log_variance).exp()).add_(mean)


def scaled_without_gradients(mean, log_variance, noise):
    noise.mul_((0.5 * log_variance).exp().detach()).add_(mean.detach())
    return noise


def through_numpy(mean, log_variance, noise):
    noise.numpy()[:] = 0
    return mean + (0.5 * log_variance).exp() * noise


def of_what_is_differentiated(mean, log_variance, noise):
    mean += (0.5 * log_variance).exp() * noise
    return mean


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (of_what_is_differentiated, "mean"),
        (lambda m, v, e: m + v.mul_(0.5).exp() * e, "log_variance"),
        (lambda m, v, e: m.data.add_(e), "mean"),
    ],
)
def test_an_argument_changed_in_place_is_named(function, name):
    verdict = judged(SAMPLE, function)
    assert not verdict.passed and f"changes its argument `{name}` in place" in verdict.message, verdict.message


def test_a_known_mistake_is_named_before_a_change_in_place():
    assert "the noise is missing" in judged(SAMPLE, through_numpy).message
    assert "no gradient passes" in judged(SAMPLE, scaled_without_gradients).message


def test_what_is_right_may_change_its_arguments():
    assert judged(SAMPLE, scaled_in_place).passed


@pytest.mark.parametrize("axis", [(), (1,)])
def test_squeeze_is_not_taken_for_a_sum_over_everything(axis):
    verdict = judged(KL, lambda m, v: KL.reference(m, v).unsqueeze(1).squeeze(*axis))
    assert verdict.passed == bool(axis)
    assert (
        axis
        or "got the shape (); expected a tensor of shape (1,). An axis of length 1 is gone: squeeze()"
        in verdict.message
    )


def raising(error):
    def look(self, *arguments):
        raise error

    return look


@pytest.mark.parametrize("error", [SystemExit(3), GeneratorExit(), SystemError("boo"), AttributeError("boo")])
@pytest.mark.parametrize("where", ["shape", "__class__", "__getattr__", "__call__", "__len__", "__float__"])
def test_a_class_that_raises_when_it_is_looked_at(where, error, capsys):
    look = raising(error)
    content = {where: property(look) if where in ("shape", "__class__") else look}
    for kind in (object, int, dict, str):
        answer = type("Evil", (kind,), content)()
        for exercise in EXERCISES:
            check(exercise.id, answer)
            check(exercise.id, lambda *arguments, answer=answer: answer)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 8 * len(EXERCISES) and all("✗" in line for line in lines)


def test_an_interrupt_is_the_students_own():
    with pytest.raises(KeyboardInterrupt):
        check("02.1", raising(KeyboardInterrupt()))


@pytest.fixture
def other_defaults():
    """A session in which torch makes float64, on a device that holds no numbers, and no gradients."""
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    try:
        with torch.no_grad():
            yield
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)


def test_a_session_with_other_defaults(answers, other_defaults):
    """What is tried on an answer does not depend on the session, which is left as it was."""
    for exercise in registry.exercises_of("02"):
        assert judged(exercise, answers("02")[exercise.id]).passed
    assert torch.get_default_dtype() == torch.float64 and torch.get_default_device() == torch.device("meta")
    assert not torch.is_grad_enabled()
    assert "got torch.float64" in judged(KL, lambda m, v: torch.zeros(len(m), device="cpu")).message


def test_random_generators_are_left_as_they_were(answers):
    """Also when an answer draws from them."""

    def draws(*arguments):
        return torch.rand(3) + np.random.rand(3) + random.random()

    right = {exercise.id: answers(exercise.id[:2])[exercise.id] for exercise in EXERCISES}
    random.seed(5), np.random.seed(5), torch.manual_seed(5)
    expected = random.random(), np.random.rand(), torch.rand(()).item()
    random.seed(5), np.random.seed(5), torch.manual_seed(5)
    for exercise in EXERCISES:
        assert judged(exercise, right[exercise.id]).passed, exercise.id
        assert not judged(exercise, draws).passed
    assert (random.random(), np.random.rand(), torch.rand(()).item()) == expected


def test_check_prints_where_only_ascii_can_be_written():
    code = "from course_grading import check, hint, report\ncheck('02.3', 64); hint('02.4'); report()"
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "02.3 ? 2 of 2 points: right" in done.stdout, done.stderr
