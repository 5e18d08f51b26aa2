"""What an exercise is: one object serves `check` in the student's notebook and the grader's parent process.

An exercise asks an `Answer` and returns a `Verdict`. The answer is either the object in the student's own kernel, or a
stand-in for one in the worker; the exercise cannot tell which, so that both give the same verdict.
"""

import copy
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from course_grading import compare
from course_grading.calling import Outcome, invoke, kept_randomness, one_line, seed_everything
from course_grading.verdict import Verdict, in_parts
from course_grading.wire import as_sent

BLANK = "not written yet."


class Answer(ABC):
    """A student's answer, wherever it lives."""

    @abstractmethod
    def value(self) -> Outcome:
        """The answer itself, where it is plain data."""

    @abstractmethod
    def call(self, arguments: Sequence, cotangent: Tensor | None, seed: int) -> Outcome:
        """The function called with these; the gradients are for the arguments that require them."""


class LocalAnswer(Answer):
    """The answer in this process: `check` in a student's own notebook."""

    def __init__(self, answer):
        self._answer, self._defaults = answer, (torch.get_default_dtype(), torch.get_default_device())

    def value(self) -> Outcome:
        return Outcome(as_sent(self._answer), blank=self._answer is Ellipsis)

    def call(self, arguments, cotangent, seed) -> Outcome:
        with kept_randomness(), _defaults(*self._defaults):
            seed_everything(seed)
            outcome = invoke(self._answer, _fresh(arguments), cotangent)
        return replace(outcome, value=as_sent(outcome.value), grads=tuple(map(as_sent, outcome.grads)))


@contextmanager
def _defaults(dtype: torch.dtype, device: torch.device):
    """torch's default dtype and device set; a student's session may have others."""
    before = torch.get_default_dtype(), torch.get_default_device()
    _set_defaults(dtype, device)
    try:
        yield
    finally:
        _set_defaults(*before)


as_in_the_grader = _defaults(torch.float32, torch.device("cpu"))  # decorates what must not depend on a session


def _set_defaults(dtype: torch.dtype, device: torch.device) -> None:
    torch.set_default_dtype(dtype)
    if device != torch.get_default_device():  # setting it makes every later call of torch a little slower
        torch.set_default_device(device)


def _fresh(arguments) -> list:
    """Copies, so that a function that changes its arguments does not change the next call's."""
    return [
        argument.detach().clone().requires_grad_(argument.requires_grad)
        if isinstance(argument, Tensor)
        else copy.deepcopy(argument)
        for argument in arguments
    ]


@dataclass(frozen=True)
class Wrong:
    """A wrong answer that people give: for a function, one that makes the mistake; and the message that names it."""

    answer: object
    message: str


class Unfit(Exception):
    """An answer that is not of the form that is asked for. Its text is the sentence that the student gets."""


class Either(list):
    """Several wrong answers that show the same mistake."""


def either(*answers) -> Either:
    return Either(answers)


def each_of(wrong) -> list:
    """The wrong answers that stand beside one sentence: one, or those of `either`."""
    return wrong if isinstance(wrong, Either) else [wrong]


@dataclass(frozen=True, kw_only=True)
class Exercise(ABC):
    """What every exercise has. Its facts are filled in by the registry, from the notebook.

    id : "02.1": the chapter and the number. A hidden check has an id of its own, and `of` is the exercise whose answer
        it looks at.
    mistakes : the sentence that a mistake is named by → a wrong answer that makes it (or several, by `either`).
    also_right : answers that are right in another way than the solution's; the tests hold them against the check.
    praise : what is said to a right answer.
    title, objective, answer, points, difficulty, minutes, hints : as in `Facts`.
    """

    mistakes: Mapping[str, object] = field(default_factory=dict)
    also_right: tuple = ()
    praise: str = "right."
    id: str = ""
    of: str | None = None
    title: str = ""
    objective: str = ""
    answer: str = ""
    points: int = 0
    difficulty: int = 1
    minutes: int = 10
    hints: tuple[str, ...] = ()

    @property
    def wrong(self) -> tuple[Wrong, ...]:
        """The mistakes one by one."""
        pairs = ((sentence, answer) for sentence, wrong in self.mistakes.items() for answer in each_of(wrong))
        return tuple(Wrong(answer, sentence) for sentence, answer in pairs)

    @abstractmethod
    def judge(self, answer: Answer, seed: int) -> Verdict:
        """The verdict on the answer; `seed` decides the inputs that it is tried on."""


@dataclass(frozen=True, kw_only=True)
class Plain(Exercise):
    """An exercise whose answer is data.

    fault : what is wrong with the answer, or None; of an answer in parts, the same for each part by its name, and then
        the parts that are right earn their share. It may raise `Unfit`.
    told : of an answer in parts, how many faults are told.
    commitment : of an answer about something that is drawn by a seed, that seed and what the answer commits itself to;
        None or `Unfit` where it commits itself to nothing yet. In a notebook the first commitment to a seed stands.
    """

    fault: Callable[[object], str | None | Mapping[str, str | None]]
    told: int = 1
    commitment: Callable[[object], tuple[Hashable, Hashable] | None] | None = None

    @as_in_the_grader
    def judge(self, answer: Answer, seed: int) -> Verdict:
        outcome = answer.value()
        if outcome.blank:
            return Verdict(False, BLANK)
        try:
            found = f"{outcome.error}." if outcome.error else self.fault(outcome.value)
        except Unfit as unfit:
            found = str(unfit)
        if isinstance(found, Mapping):
            return in_parts(found, self.praise, self.told)
        return Verdict(found is None, found or self.praise)


@dataclass(frozen=True, kw_only=True)
class Function(Exercise):
    """An exercise whose answer is a function of tensors.

    cases : generator → lists of arguments, a typical one first. An argument that requires a gradient is differentiated.
    reference : the function that is right, computed independently of the library's where that is possible. Its
        arguments are called as the task calls them.
    mistakes : of functions, whose outputs and gradients are compared with a wrong answer's.
    tolerance : relative and absolute, of outputs; by default that of their dtype.
    """

    reference: Callable[..., Tensor]
    cases: Callable[[torch.Generator], Sequence[Sequence]]
    tolerance: tuple[float, float] | None = None
    praise: str = "right, on every input that was tried."

    @property
    def names(self) -> tuple[str, ...]:
        """Of the arguments, for messages."""
        return tuple(inspect.signature(self.reference).parameters)

    @as_in_the_grader
    def judge(self, answer: Answer, seed: int) -> Verdict:
        generator = torch.Generator().manual_seed(seed)
        tried: list[_Trial] = []
        for arguments in self.cases(generator):
            expected = invoke(self.reference, _fresh(arguments))
            cotangent = None  # an output of integers, for which none could be drawn, has no gradients
            if any(_differentiated(argument) for argument in arguments):
                cotangent = torch.randn(expected.value.shape, generator=generator, dtype=expected.value.dtype)
                expected = invoke(self.reference, _fresh(arguments), cotangent)
            tried.append(_Trial(arguments, cotangent, answer.call(arguments, cotangent, seed)))
            found = self._fault(tried[-1].got, expected, arguments)
            if found is not None or len(tried) == 1:
                found = self._random(tried[-1], answer, seed) or found and self._named(tried, answer, seed) or found
            if found is not None:
                return Verdict(False, found)
        changed = self._changed(tried[-1].got.changed)
        return Verdict(True, self.praise if changed is None else f"{self.praise} But {changed}")

    def _fault(self, got: Outcome, expected: Outcome, arguments) -> str | None:
        if got.blank:
            return BLANK
        shown = ", ".join(f"{name} {_shown(value)}" for name, value in zip(self.names, arguments, strict=True))
        if got.error is not None:
            return f"on {shown}: {got.error}."
        found = compare.fault(got.value, expected.value, self.tolerance, gradients=bool(expected.grads))
        if found is not None:
            return f"on {shown}: {found}"
        names = [name for name, value in zip(self.names, arguments, strict=True) if _differentiated(value)]
        for name, mine, theirs in zip(names, expected.grads, got.grads, strict=True):
            found = found or compare.gradient_fault(theirs, mine, name)
        return found

    def _random(self, trial: "_Trial", answer: Answer, seed: int) -> str | None:
        """What a second call with the same arguments shows, if it is not what the first gave."""
        if not isinstance(trial.got.value, Tensor):
            return None
        again = answer.call(trial.arguments, trial.cotangent, seed + 1)
        if again.error is not None:
            return f"it can be called only once: called again with the same arguments, {again.error}."
        if compare.is_close(again.value, trial.got.value, self.tolerance):
            return None
        return "two calls with the same arguments gave different values: nothing random inside."

    def _named(self, tried: list["_Trial"], answer: Answer, seed: int) -> str | None:
        """The known mistake that gives this very output; else the argument that was changed in place."""
        *_, last = tried
        if last.got.blank:
            return None
        for wrong in self.wrong if last.got.error is None else ():
            if all(self._makes(wrong.answer, trial) for trial in reversed(tried)):
                return wrong.message
        changed = last.got.changed
        if last.got.error is not None and "in-place" in last.got.error:  # which torch refuses where gradients are asked
            plain = [value.detach() if isinstance(value, Tensor) else value for value in last.arguments]
            changed = answer.call(plain, None, seed).changed
        return self._changed(changed)

    def _changed(self, places: Sequence[int]) -> str | None:
        """What is said of a function that changes its arguments."""
        names = [self.names[place] for place in places if place < len(self.names)]
        if not names:
            return None
        return (
            f"your function changes its argument `{names[0]}` in place, which its caller still needs: compute a new "
            f"tensor ({names[0]} * 2 instead of {names[0]} *= 2 or {names[0]}.mul_(2))."
        )

    def _makes(self, mistake, trial: "_Trial") -> bool:
        """Whether the mistake gives what the answer gave, gradients included."""
        theirs = invoke(mistake, _fresh(trial.arguments), _fitting(mistake, trial.arguments, trial.cotangent))
        if theirs.error is not None or not isinstance(theirs.value, Tensor):
            return False
        if not compare.is_close(trial.got.value, theirs.value, self.tolerance):
            return False
        pairs = zip(trial.got.grads, theirs.grads, strict=False)
        return not any(compare.gradient_fault(one, other, "") for one, other in pairs)


@dataclass(frozen=True)
class _Trial:
    """One call of the answer and what came of it."""

    arguments: Sequence
    cotangent: Tensor | None
    got: Outcome


def _fitting(function, arguments, cotangent):
    """The cotangent, if this function's output has its shape."""
    outcome = invoke(function, _fresh(arguments))
    return cotangent if getattr(outcome.value, "shape", None) == getattr(cotangent, "shape", None) else None


def _differentiated(argument) -> bool:
    return isinstance(argument, Tensor) and argument.requires_grad


def _shown(value) -> str:
    return compare.shape_of(value.shape) if isinstance(value, Tensor) else one_line(value, 40)


def hidden(exercise: Exercise, id: str, **changes) -> Exercise:
    """A further check of the same answer under an id of its own, for a file of hidden checks."""
    return replace(exercise, id=id, of=exercise.of or exercise.id, **changes)
