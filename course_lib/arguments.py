"""Checks of arguments, so that every error names the argument, what came, and what is allowed."""

import math
from collections.abc import Hashable, Iterable
from numbers import Integral, Real

import numpy as np
import torch
from torch import Tensor

MOST = 10**8  # points that are drawn, columns and the like: more would not fit into the memory of a computer
WIDEST = 2**16  # units of a layer, latents, pixels across an image


def check_integers(low: int, high: int | None = None, /, **values) -> tuple[int, ...]:
    """`values` as Python integers; a ValueError names the first that is not an integer from `low` (to `high`)."""
    for argument, value in values.items():
        fits = isinstance(value, Integral) and not isinstance(value, bool) and low <= value
        if not fits or (high is not None and value > high):
            to = "" if high is None else f" to {high:,}"
            raise ValueError(f"{argument}: got {value!r}; allowed are integers from {low}{to}.")
    return tuple(int(value) for value in values.values())


def check_widths(hidden: Iterable[int]) -> list[int]:
    """`hidden`, the widths of layers, as Python integers; a ValueError unless they are integers from 1."""
    if not isinstance(hidden, Iterable):
        raise ValueError(f"hidden: got {hidden!r}; allowed is a list of widths, one per layer.")
    return [*check_integers(1, WIDEST, **{f"hidden[{place}]": width for place, width in enumerate(hidden)})]


def check_shape(shape: Iterable[int]) -> tuple[int, int, int]:
    """`shape`, (C, H, W) of one image, as Python integers; a ValueError unless they are three integers from 1."""
    sides = [*shape] if isinstance(shape, Iterable) else []
    if len(sides) != 3:
        raise ValueError(f"shape: got {shape!r}; allowed are three integers, (C, H, W).")
    return check_integers(1, WIDEST, **{f"shape[{place}]": side for place, side in enumerate(sides)})


def check_numbers(low: float, high: float = math.inf, /, *, above: bool = False, **values) -> tuple[float, ...]:
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


def check_choice(allowed, /, **values) -> None:
    """Raise a ValueError naming the first of `values` that is not among the `allowed` ones."""
    for argument, value in values.items():
        if not isinstance(value, Hashable) or value not in allowed:
            raise ValueError(f"{argument}: got {value!r}; allowed are {', '.join(map(repr, allowed))}.")


def check_instance(kind: type, allowed: str, /, **values) -> None:
    """Raise a ValueError naming the first of `values` that is no `kind`; `allowed` says what is, in words."""
    for argument, value in values.items():
        if not isinstance(value, kind):
            raise ValueError(f"{argument}: got {_shown(value)}; allowed is {allowed}.")


def check_batch(size: int, term: str) -> None:
    """Raise a ValueError unless a batch is large enough for `term`, which compares its images with each other."""
    if size < 2:
        raise ValueError(f"batch_size: got {size}; {term}, a statistic of the batch, allows integers from 2.")


def check_generator(generator: torch.Generator) -> None:
    """Raise a ValueError unless `generator` is one of PyTorch's."""
    check_instance(torch.Generator, "a torch.Generator, such as torch.Generator().manual_seed(0)", generator=generator)


def as_tensor(values, argument: str, allowed: str = "numbers") -> Tensor:
    """`values` as a tensor: a tensor as it is, or a copy of an array, data frame, list or number, on the CPU.

    Raises a ValueError naming `argument` for anything that holds something else than numbers, or holds them sparsely or
    not at all (on the device meta).
    """
    if isinstance(values, Tensor):
        if values.is_meta or values.layout != torch.strided:
            what = "on the device meta" if values.is_meta else f"of layout {values.layout}"
            raise ValueError(f"{argument}: got a tensor {what}; allowed are {allowed} in an ordinary tensor.")
        return values
    try:
        array = np.array(values, order="C")  # a copy: what comes may be read-only or reversed, as pandas' arrays are
        if array.dtype == object:
            array = np.array(array.tolist())  # pandas' own integers and floats; what is none of these stays an object
        return torch.from_numpy(array)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{argument}: got {_shown(values)}; allowed are {allowed}.") from error


def integer_tensor(values, argument: str) -> Tensor:
    """`values` (tensor, array, data frame, list or int) as int64; a ValueError names `argument` if they are others."""
    values = as_tensor(values, argument, "integers (for example torch.int64)")
    if values.numel() == 0 and values.dtype in (torch.float64, torch.get_default_dtype()):
        values = values.to(torch.int64)  # an empty list has no type of its own
    if values.is_floating_point() or values.is_complex() or values.dtype == torch.bool:
        raise ValueError(f"{argument}: got dtype {values.dtype}; allowed are integers (for example torch.int64).")
    if values.dtype == torch.uint64 and values.numel() and values.to(torch.int64).min() < 0:
        raise ValueError(f"{argument}: got integers beyond {2**63 - 1}; allowed are those that fit in torch.int64.")
    return values.to(torch.int64)


def float_array(values, argument: str) -> np.ndarray:
    """`values` (tensor on any device, array, data frame or list) copied to float64; a ValueError names `argument`."""
    values = as_tensor(values, argument)
    if values.is_complex():
        raise ValueError(f"{argument}: got dtype {values.dtype}; allowed are real numbers.")
    return values.detach().to("cpu", torch.float64, copy=True).numpy()


def _shown(value) -> str:
    """A short value as it is written, of a longer one the type."""
    text = repr(value)
    return text if len(text) <= 40 and "\n" not in text else type(value).__name__
