"""What an exercise is: one object serves `check` in the student's notebook and the grader's parent process.

An exercise asks an `Answer` and returns a `Verdict`. The answer is either the object in the student's own kernel, or a
stand-in for one in the worker; the exercise cannot tell which, so that both give the same verdict.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from course_lib.grading import compare
from course_lib.grading.calling import Outcome, invoke, one_line, seed_everything

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
        self._answer = answer

    def value(self) -> Outcome:
        return Outcome(self._answer, blank=self._answer is Ellipsis)

    def call(self, arguments, cotangent, seed) -> Outcome:
        with torch.random.fork_rng(devices=[]):
            seed_everything(seed)
            return invoke(self._answer, _fresh(arguments), cotangent)


def _fresh(arguments) -> list:
    """Copies, so that a function that changes its arguments does not change the next call's."""
    return [
        argument.detach().clone().requires_grad_(argument.requires_grad) if isinstance(argument, Tensor) else argument
        for argument in arguments
    ]


@dataclass(frozen=True)
class Verdict:
    """Whether the answer passes, and one line that says why not, or what it shows."""

    passed: bool
    message: str


@dataclass(frozen=True)
class Wrong:
    """A wrong answer that people give: for a function, one that makes the mistake; and the message that names it."""

    answer: object
    message: str


@dataclass(frozen=True, kw_only=True)
class Exercise(ABC):
    """What every exercise has.

    id : "02.1": the chapter and the number. A hidden check has an id of its own, and `of` is the exercise whose answer
        it looks at.
    answer : the name that the notebook's stub has.
    hints : two, the second the stronger.
    difficulty : 1 to 3. minutes : how long it takes. points : what it is worth.
    """

    id: str
    title: str
    objective: str
    answer: str
    points: int
    difficulty: int = 1
    minutes: int = 10
    hints: tuple[str, ...] = ()
    wrong: tuple[Wrong, ...] = ()
    of: str | None = None

    @abstractmethod
    def judge(self, answer: Answer, seed: int) -> Verdict:
        """The verdict on the answer; `seed` decides the inputs that it is tried on."""


@dataclass(frozen=True, kw_only=True)
class Plain(Exercise):
    """An exercise whose answer is data. `fault` takes it and returns what is wrong with it, or None."""

    fault: Callable[[object], str | None]
    praise: str = "right."

    def judge(self, answer: Answer, seed: int) -> Verdict:
        outcome = answer.value()
        if outcome.blank:
            return Verdict(False, BLANK)
        found = f"{outcome.error}." if outcome.error else self.fault(outcome.value)
        return Verdict(found is None, found or self.praise)


@dataclass(frozen=True, kw_only=True)
class Function(Exercise):
    """An exercise whose answer is a function of tensors.

    cases : generator → lists of arguments, a typical one first. An argument that requires a gradient is differentiated.
    names : of the arguments, for messages.
    reference : the function that is right, computed independently of the library's where that is possible.
    wrong : functions with one mistake each, whose outputs and gradients are compared with a wrong answer's.
    """

    names: tuple[str, ...]
    cases: Callable[[torch.Generator], Sequence[Sequence]]
    reference: Callable[..., Tensor]
    tolerance: tuple[float, float] | None = None
    praise: str = "right, on every input that was tried."

    def judge(self, answer: Answer, seed: int) -> Verdict:
        generator = torch.Generator().manual_seed(seed)
        for place, arguments in enumerate(self.cases(generator)):
            expected = invoke(self.reference, _fresh(arguments))
            cotangent = torch.randn(expected.value.shape, generator=generator, dtype=expected.value.dtype)
            cotangent = cotangent if any(_differentiated(argument) for argument in arguments) else None
            expected = invoke(self.reference, _fresh(arguments), cotangent)
            got = answer.call(arguments, cotangent, seed)
            found = self._fault(got, expected, arguments)
            if found is not None:
                return Verdict(False, self._named(got, arguments, cotangent) or found)
            if place == 0:
                again = answer.call(arguments, cotangent, seed + 1)
                if self._fault(again, expected, arguments) is not None:
                    return Verdict(
                        False, "two calls with the same arguments gave different values: nothing random inside."
                    )
        return Verdict(True, self.praise)

    def _fault(self, got: Outcome, expected: Outcome, arguments) -> str | None:
        if got.blank:
            return BLANK
        shown = ", ".join(f"{name} {_shown(value)}" for name, value in zip(self.names, arguments, strict=True))
        if got.error is not None:
            return f"on {shown}: {got.error}."
        found = compare.fault(got.value, expected.value, self.tolerance)
        if found is not None:
            return f"on {shown}: {found}"
        names = [name for name, value in zip(self.names, arguments, strict=True) if _differentiated(value)]
        for name, mine, theirs in zip(names, expected.grads, got.grads, strict=True):
            found = found or compare.gradient_fault(theirs, mine, name)
        return found

    def _named(self, got: Outcome, arguments, cotangent) -> str | None:
        """The message of the first known mistake that gives this very output, gradients included."""
        if got.blank or got.error is not None:
            return None
        for wrong in self.wrong:
            theirs = invoke(wrong.answer, _fresh(arguments), _fitting(wrong.answer, arguments, cotangent))
            if theirs.error is None and isinstance(theirs.value, Tensor) and compare.is_close(got.value, theirs.value):
                pairs = zip(got.grads, theirs.grads, strict=False)
                if not any(compare.gradient_fault(one, other, "") for one, other in pairs):
                    return wrong.message
        return None


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
