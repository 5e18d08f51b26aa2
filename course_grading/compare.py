"""Whether a student's tensor is the expected one, and if not, what a look at it can tell."""

import numpy as np
import torch
from torch import Tensor

from course_grading.calling import one_line
from course_grading.wire import Labelled, Other

ROUNDING = 1e-10  # below which a gradient is what rounding has left of 0
TOLERANCES = {torch.float64: (1e-6, 1e-8), torch.float32: (1e-4, 1e-5)}  # relative, absolute


def is_close(got, expected: Tensor, tolerance: tuple[float, float] | None = None) -> bool:
    """Same kind, shape and dtype, NaNs in the same places, and values within the tolerance of the dtype."""
    if not isinstance(got, Tensor) or got.shape != expected.shape or got.dtype != expected.dtype:
        return False
    if not expected.is_floating_point():
        return torch.equal(got, expected)
    relative, absolute = tolerance or TOLERANCES.get(expected.dtype, (1e-2, 1e-2))
    return torch.allclose(got.double(), expected.double(), rtol=relative, atol=absolute, equal_nan=True)


def kind(answer) -> str:
    """What an answer is, for a message: "a tensor of shape (3,)", "an int", "nothing"."""
    if answer is None:
        return "nothing"
    if isinstance(answer, Labelled):
        return "a pandas Series or DataFrame with the labels " + one_line(", ".join(map(str, answer)), 100)
    name = answer.type_name if isinstance(answer, Other) else type(answer).__name__
    shape = getattr(answer, "shape", None)
    named = "a NumPy array" if name == "ndarray" else f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
    return f"{named} of shape {tuple(shape)}" if shape is not None else named


def shape_of(shape) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def fault(got, expected: Tensor, tolerance: tuple[float, float] | None = None, *, gradients: bool = True) -> str | None:
    """What is wrong with `got`, in words, or None. Shapes and dtypes come first, so that broadcasting never passes.

    gradients : whether they are asked for, which an array cannot have.
    """
    if is_close(got, expected, tolerance):
        return None
    wanted = f"expected a tensor of shape {shape_of(expected.shape)}"
    if got is None:
        return f"the function returned nothing; {wanted}. Is there a `return`?"
    if isinstance(got, np.ndarray):
        advice = "Stay in torch: numpy has no gradients." if gradients else "torch.from_numpy(…) makes one of it."
        return f"got a numpy array; {wanted}. {advice}"
    if not isinstance(got, Tensor):
        return f"got {kind(got)}; {wanted}."
    if got.shape != expected.shape:
        return f"got the shape {shape_of(got.shape)}; {wanted}.{_squeezed(got.shape, expected.shape)}"
    if got.dtype != expected.dtype:
        return f"got {got.dtype}; expected {expected.dtype}."
    return _values(got.double(), expected.double())


def _squeezed(got, expected) -> str:
    """What took an axis of length 1 away, if that is the difference."""
    got, wanted = ([side for side in shape if side != 1] for shape in (got, expected))
    if len(wanted) == len(expected) or got != wanted:
        return ""
    return " An axis of length 1 is gone: squeeze() takes every one of them away, an index such as [:, 0] its own."


def _values(got: Tensor, expected: Tensor) -> str:
    odd = ~got.isfinite() & expected.isfinite()
    if odd.any():
        where = one_line(odd.nonzero()[0].tolist())
        return f"{int(odd.sum())} of {got.numel()} numbers are NaN or infinite, the first at {where}."
    ratio = _constant(got / expected)
    if ratio is not None and abs(ratio + 1) < 1e-3:
        return "every number has the wrong sign."
    if ratio is not None and abs(ratio - 1) < 1e-3:
        far = (got / expected - 1).abs().max().item()
        return f"the numbers are off by up to {far:.1g} of their size: is something rounded, or a small constant added?"
    if ratio is not None:
        return f"every number is {ratio:.4g} times what is expected: look for a missing or extra factor."
    offset = _constant(got - expected)
    if offset is not None:
        return f"every number is off by the same amount, {offset:+.4g}: look for a missing or extra constant."
    if got.ndim == 0:
        return f"got {got.item():.5g}, expected {expected.item():.5g}."
    worst = (got - expected).abs().nan_to_num(-1).reshape(-1).argmax()
    place = [int(part) for part in torch.unravel_index(worst, got.shape)]
    values = f"got {got.reshape(-1)[worst]:.5g}, expected {expected.reshape(-1)[worst]:.5g}"
    return f"the numbers differ, most of all at {place}: {values}."


def _constant(values: Tensor) -> float | None:
    """The value that all of `values` share, or None."""
    values = values.reshape(-1)
    if len(values) < 2 or not values.isfinite().all():
        return None
    middle = values.median()
    return middle.item() if (values - middle).abs().max() <= 1e-3 * middle.abs() else None


def gradient_fault(got, expected: Tensor | None, name: str) -> str | None:
    """What is wrong with the gradient for the argument `name`, or None; None and what rounding leaves count as 0."""
    nothing = got is None or (isinstance(got, Tensor) and not (got.abs() > ROUNDING).any())
    if expected is None or not (expected.abs() > ROUNDING).any():
        return None if nothing else f"the output should not depend on {name}, and its gradient there is not 0."
    if nothing:
        return f"the values are right, but no gradient reaches {name}: is something detached, or under no_grad?"
    found = fault(got, expected, (1e-3, 1e-5))
    return found and f"the values are right, but not the gradient for {name}: {found}"
