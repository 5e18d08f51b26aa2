"""The usual kinds of plain answers: a number, choices. Each returns the `fault` of a `Plain` exercise."""

import math
from collections.abc import Callable
from numbers import Real

from course_grading.calling import one_line
from course_grading.exercise import Wrong
from course_grading.wire import Other


def number(right: float, wrong: tuple[Wrong, ...], *, relative: float = 1e-3) -> Callable[[object], str | None]:
    """A number within the relative tolerance. A wrong number that is known gets its own message."""

    def fault(answer) -> str | None:
        value = as_number(answer)
        if value is None:
            return f"got {_kind(answer)}; wanted is one number."
        if not math.isfinite(value):
            return f"got {value}; wanted is a finite number."
        if math.isclose(value, right, rel_tol=relative):
            return None
        for mistake in wrong:
            if math.isclose(value, mistake.answer, rel_tol=relative):
                return mistake.message
        if math.isclose(value, -right, rel_tol=relative):
            return "the sign is wrong."
        return f"{value:.6g} is too {'large' if value > right else 'small'}."

    return fault


def as_number(answer) -> float | None:
    """The answer as a float if it is a number, or a tensor or array of no dimension with one in it; else None."""
    if getattr(answer, "shape", None) == () and hasattr(answer, "item"):
        answer = answer.item()
    if isinstance(answer, bool) or not isinstance(answer, Real):
        return None
    try:
        return float(answer)
    except OverflowError:
        return math.inf


def choices(
    right: dict[str, str], allowed: tuple[str, ...], wrong: dict[tuple[str, str], str]
) -> Callable[[object], str | None]:
    """A dict with one of the `allowed` words for each key of `right`; `wrong` has the message for (key, word)."""

    def fault(answer) -> str | None:
        if not isinstance(answer, dict):
            return f"got {_kind(answer)}; wanted is a dict with the keys {', '.join(right)}."
        if set(answer) != set(right):
            return f"got the keys {one_line(', '.join(map(str, answer)), 100)}; wanted are {', '.join(right)}."
        given = {key: one_line(word).strip().lower() for key, word in answer.items()}
        for key, word in given.items():
            if word not in allowed:
                return f"{key}: got {one_line(answer[key], 40)!r}; allowed are {', '.join(map(repr, allowed))}."
        for key, word in given.items():
            if word != right[key]:
                return wrong.get((key, word), f"{key}: not {word!r}.")
        return None

    return fault


def _kind(answer) -> str:
    shape = getattr(answer, "shape", None)
    named = f"a {answer.type_name if isinstance(answer, Other) else type(answer).__name__}"
    return f"{named} of shape {tuple(shape)}" if shape is not None else named
