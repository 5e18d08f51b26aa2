"""What an answer of data may look like, read with patience: a number, a row of numbers, words, a tensor, by key or not.

Each reader returns the plain value or raises `Unfit`, whose text is what the student is told. `number`, `numbers` and
`words` are whole checks of the usual kinds. `mistakes` map a sentence to the wrong answer that it is said to.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import reduce
from numbers import Real

import numpy as np
import torch
from torch import Tensor

from course_grading.calling import one_line
from course_grading.compare import kind
from course_grading.exercise import Plain, Unfit, each_of, either
from course_grading.wire import Labelled


def real(answer, name: str = "") -> float:
    """One number: Python's or NumPy's, or a tensor or array with one entry. Infinities and NaN are none."""
    value = as_number(answer)
    if value is None:
        raise Unfit(f"{_about(name)}got {kind(answer)}; expected one number.")
    if not math.isfinite(value):
        raise Unfit(f"{_about(name)}got {value}; expected a finite number.")
    return value


def row(answer, count: int, name: str = "") -> list[float]:
    """So many finite numbers: a list, a tuple, or a tensor or array of one axis."""
    given = listed(answer)
    if given is None:
        raise Unfit(f"{_about(name)}got {kind(answer)}; expected a list of {count} numbers.")
    if len(given) != count:
        raise Unfit(f"{_about(name)}got {len(given)} entries; expected {count} numbers.")
    return [real(number, f"{_about(name)}entry {place}") for place, number in enumerate(given)]


def word(answer, allowed: Sequence[str], name: str = "") -> str:
    """One of the allowed words, in any case; hyphens, underscores and spaces do not count: "q(z | x)" is "q(z|x)"."""
    text = answer.value if isinstance(answer, Enum) else answer
    known = {_plain(each): each for each in allowed}
    found = known.get(_plain(one_line(text))) if isinstance(text, str) else None
    if found is None:
        raise Unfit(f"{_about(name)}got {one_line(answer, 40)!r}; expected one of {', '.join(map(repr, allowed))}.")
    return found


def keyed(answer, keys: Sequence[str], each: str = "") -> dict:
    """A dict with exactly these keys, in their order and as `word` reads words.

    each : what stands under one, such as "four numbers".
    """
    form = f"expected a dict with the keys {_named(keys)}" + (f", each with {each}." if each else ".")
    if not isinstance(answer, dict):
        raise Unfit(f"got {kind(answer)}; {form}")
    given = {_plain(str(key)): value for key, value in _by(keys, answer).items()}
    if len(given) < len(answer) or given.keys() != set(map(_plain, keys)):
        raise Unfit(f"got the keys {one_line(_named(answer), 100)}; {form}")
    return {key: given[_plain(key)] for key in keys}


def _named(keys: Iterable) -> str:
    """The keys in a row; in quotation marks if a comma in one of them would look like the end of it."""
    names = [str(key) for key in keys]
    return ", ".join(map(repr, names) if any("," in name for name in names) else names)


def _by(keys: Sequence[str], answer: dict) -> dict:
    """The answer itself; a data frame whose rows have these keys, by its rows."""
    columns = [*answer.values()]
    if not isinstance(answer, Labelled) or not all(isinstance(column, Labelled) for column in columns):
        return answer
    rows = [*columns[0]]
    if {*map(_plain, rows)} != {*map(_plain, keys)}:
        return answer
    return {row: Labelled({name: column[row] for name, column in answer.items()}) for row in rows}


def tensor(answer, shape: tuple[int | None, ...], about: str = "", dtype: torch.dtype | None = None) -> Tensor:
    """A tensor of that shape, None for any length, without its gradient: of `dtype`, or of finite real numbers.

    An array is as good, and so are nested lists: their numbers have no type of their own, and become `dtype` if they
    are whole and fit into it.

    about : what the axes are, for the message: "three values, two latents".
    """
    form = f"expected a tensor of shape ({', '.join('n' if side is None else str(side) for side in shape)})"
    form = form.replace(",)", ")") if len(shape) > 1 else form.replace(")", ",)")
    form += f": {about}." if about else "."
    typed, answer, came = isinstance(answer, Tensor | np.ndarray), as_tensor(answer), answer
    if answer is None:
        raise Unfit(f"got {kind(came)}; {form}")
    if dtype is not None and not typed and not answer.is_floating_point() and torch.equal(answer.to(dtype), answer):
        answer = answer.to(dtype)
    fits = answer.ndim == len(shape) and all(want in (None, got) for got, want in zip(answer.shape, shape, strict=True))
    if not fits:
        raise Unfit(f"got the shape {tuple(answer.shape)}; {form}")
    if dtype is not None and answer.dtype != dtype:
        raise Unfit(f"got {answer.dtype}; expected {dtype}.")
    if answer.is_complex() or answer.dtype == torch.bool:
        raise Unfit(f"got {answer.dtype}; expected real numbers, float32 for instance.")
    if not answer.isfinite().all():
        raise Unfit("some of the numbers are NaN or infinite.")
    return answer.detach()


def number(right: float, mistakes: Mapping[str, object], *, relative: float = 1e-3, praise: str = "right.") -> Plain:
    """A check of one number, right within the relative tolerance."""

    def fault(answer) -> str | None:
        value = real(answer)
        if math.isclose(value, right, rel_tol=relative):
            return None
        for sentence, wrong in mistakes.items():
            if any(math.isclose(value, each, rel_tol=relative) for each in each_of(wrong)):
                return sentence
        return "the sign is wrong." if math.isclose(value, -right, rel_tol=relative) else _sized(value, right)

    return Plain(fault=fault, mistakes=mistakes, praise=praise)


def numbers(
    right: Mapping[str, float], mistakes: Mapping[str, object], *, tolerance: float, praise: str = "right."
) -> Plain:
    """A check of a dict of numbers, each a part that is right within the tolerance.

    mistakes : sentence → the wrong number. The sentence begins with the key that it is about, and a colon.
    """

    def of_part(key: str, value) -> str | None:
        value = real(value, key)
        if abs(value - right[key]) <= tolerance:
            return None
        known = _sentence(mistakes, key, lambda wrong: abs(value - wrong) <= tolerance)
        return known or f"{key}: {_sized(value, right[key])}"

    return _parts(right, mistakes, "a number", of_part, praise)


def words(
    right: Mapping[str, str], allowed: Sequence[str], mistakes: Mapping[str, object], *, praise: str = "right."
) -> Plain:
    """A check of a dict with one of the allowed words for each key, which is a part of the answer.

    mistakes : sentence → the wrong word. The sentence begins with the key that it is about, and a colon.
    """

    def of_part(key: str, value) -> str | None:
        value = word(value, allowed, key)
        if value == right[key]:
            return None
        return _sentence(mistakes, key, lambda wrong: value == wrong) or f"{key}: not {value!r}."

    return _parts(right, mistakes, f"one of {', '.join(map(repr, allowed))}", of_part, praise)


def _parts(right: Mapping, mistakes: Mapping[str, object], each: str, of_part: Callable, praise: str) -> Plain:
    """A check of a dict whose entries are right or wrong by themselves; one that is not of the form is wrong."""

    def fault(key: str, value) -> str | None:
        try:
            return of_part(key, value)
        except Unfit as unfit:
            return str(unfit)

    def faults(answer) -> dict[str, str | None]:
        return {key: fault(key, value) for key, value in keyed(answer, [*right], each).items()}

    return Plain(fault=faults, mistakes=_whole(right, mistakes), praise=praise)


def _sentence(mistakes: Mapping[str, object], key: str, fits: Callable[[object], bool]) -> str | None:
    """The first sentence about the key whose mistake fits."""
    about = (sentence for sentence in mistakes if sentence.partition(": ")[0] == key)
    return next((sentence for sentence in about if any(map(fits, each_of(mistakes[sentence])))), None)


def _whole(right: Mapping[str, object], mistakes: Mapping[str, object]) -> dict[str, object]:
    """The mistakes as answers: the right dict with the one entry changed."""
    found = {}
    for sentence, wrong in mistakes.items():
        key = sentence.partition(": ")[0]
        if key not in right:
            raise ValueError(f"mistakes: got {sentence[:40]!r}; expected one of {', '.join(right)} before the colon.")
        found[sentence] = either(*({**right, key: each} for each in each_of(wrong)))
    return found


def as_number(answer) -> float | None:
    """The answer as a float if it is a number, or a tensor or array with one entry; else None."""
    if isinstance(answer, Labelled) and len(answer) == 1:
        (answer,) = answer.values()
    if math.prod(getattr(answer, "shape", (0,))) == 1 and hasattr(answer, "item"):
        answer = answer.item()
    if isinstance(answer, bool) or not isinstance(answer, Real):
        return None
    try:
        return float(answer)
    except OverflowError:
        return math.inf


def as_tensor(answer) -> Tensor | None:
    """A tensor, or an array or nested lists of numbers as one: whole ones int64, others float64; None for all else."""
    if isinstance(answer, Tensor):
        return answer
    if isinstance(answer, np.ndarray):
        return torch.from_numpy(answer)
    if not isinstance(answer, list | tuple | Labelled):
        number = as_number(answer)
        if isinstance(answer, int) and number is not None and abs(answer) < 2**63:
            return torch.tensor(answer)
        return None if number is None else torch.tensor(number, dtype=torch.float64)
    parts = [as_tensor(part) for part in listed(answer)]
    if not parts or any(part is None or part.shape != parts[0].shape for part in parts):
        return None
    dtype = reduce(torch.promote_types, (part.dtype for part in parts))
    columns = isinstance(answer, Labelled) and parts[0].ndim  # of a data frame
    return torch.stack([part.to(dtype) for part in parts], dim=1 if columns else 0)


def listed(answer) -> list | None:
    """The entries of a list, a tuple, or a tensor or array of one axis (few enough to be looked at); else None."""
    if isinstance(answer, Labelled):
        return [*answer.values()]
    if isinstance(answer, list | tuple):
        return [*answer]
    few = len(getattr(answer, "shape", ())) == 1 and answer.shape[0] <= 10_000
    return answer.tolist() if few and hasattr(answer, "tolist") else None


def _plain(text: str) -> str:
    return "".join(letter for letter in text.lower() if not letter.isspace() and letter not in "-_")


def _sized(value: float, right: float) -> str:
    return f"{value:.6g} is too {'large' if value > right else 'small'}."


def _about(name: str) -> str:
    return f"{name}: " if name and not name.endswith(": ") else name
