"""Checks of arguments, so that every error names the argument, what came, and what is allowed."""

import math
from collections.abc import Iterable
from numbers import Integral, Real

import torch
from torch import Tensor


def check_integers(low: int, **values) -> tuple[int, ...]:
    """`values` as Python integers; a ValueError names the first that is not an integer of at least `low`."""
    for argument, value in values.items():
        if not isinstance(value, Integral) or isinstance(value, bool) or value < low:
            raise ValueError(f"{argument}: got {value!r}; allowed are integers from {low}.")
    return tuple(int(value) for value in values.values())


def check_widths(hidden: Iterable[int]) -> list[int]:
    """`hidden`, the widths of layers, as Python integers; a ValueError unless they are integers from 1."""
    if not isinstance(hidden, Iterable):
        raise ValueError(f"hidden: got {hidden!r}; allowed is a list of widths, one per layer.")
    return [*check_integers(1, **{f"hidden[{place}]": width for place, width in enumerate(hidden)})]


def check_numbers(low: float, high: float = math.inf, *, above: bool = False, **values) -> tuple[float, ...]:
    """`values` as floats; a ValueError names the first that is not a finite number from `low` to `high`.

    above : whether `low` itself is excluded.
    """
    numbers = {argument: _as_float(value) for argument, value in values.items()}
    for argument, number in numbers.items():
        if not math.isfinite(number) or not low <= number <= high or (above and number == low):
            where = f"{'above' if above else 'from'} {low:g}" + (f" to {high:g}" if high < math.inf else "")
            raise ValueError(f"{argument}: got {values[argument]!r}; allowed are finite numbers {where}.")
    return tuple(numbers.values())


def _as_float(value) -> float:
    """A number as a float; NaN for what is no number, or too large to be one."""
    try:
        return float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        return math.nan


def check_seed(seed: int, seeds: int = 2**63) -> int:
    """`seed` as a Python integer, or a ValueError unless it is an integer from 0 to seeds − 1."""
    (seed,) = check_integers(0, seed=seed)
    if seed >= seeds:
        raise ValueError(f"seed: got {seed}; allowed are integers from 0 to {seeds - 1}.")
    return seed


def check_choice(allowed, **values) -> None:
    """Raise a ValueError naming the first of `values` that is not among the `allowed` ones."""
    for argument, value in values.items():
        if value not in allowed:
            raise ValueError(f"{argument}: got {value!r}; allowed are {', '.join(map(repr, allowed))}.")


def integer_tensor(values, argument: str) -> Tensor:
    """`values` (tensor, array, list or int) as int64; a ValueError names `argument` if they are not integers."""
    values = torch.as_tensor(values)
    if values.numel() == 0 and values.dtype == torch.get_default_dtype():
        values = values.to(torch.int64)  # an empty list has no type of its own
    if values.is_floating_point() or values.is_complex() or values.dtype == torch.bool:
        raise ValueError(f"{argument}: got dtype {values.dtype}; allowed are integers (for example torch.int64).")
    return values.to(torch.int64)
