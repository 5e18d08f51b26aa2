"""Calling a student's function: the same code in their notebook and in the grader's worker."""

import random
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """What came of asking for an answer.

    value : what was returned, or the answer itself.
    grads : one gradient (or None) for each argument that was to be differentiated.
    error : what went wrong instead, as half a sentence ("it took longer than 5 s"); None if nothing did.
    blank : whether nothing has been written yet.
    """

    value: object = None
    grads: tuple = ()
    error: str | None = None
    blank: bool = False


def one_line(text, most: int = 300) -> str:
    """Text that came from a submission, on one line, without control characters, cut after `most`."""
    words = "".join(letter if letter.isprintable() else " " for letter in str(text)[: 4 * most])
    words = " ".join(words.split())
    return words if len(words) <= most else words[: most - 1] + "…"


def describe(error: BaseException) -> str:
    """The exception in one line; its message may itself raise."""
    try:
        message = one_line(error)
    except BaseException:
        message = ""
    return one_line(type(error).__name__) + (f": {message}" if message else "")


def seed_everything(seed: int) -> None:
    """Make what a submission draws from the global generators repeat itself."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


def invoke(function, arguments: list, cotangent=None) -> Outcome:
    """Call `function`; with a cotangent, also the gradients of ⟨output, cotangent⟩ for the arguments that require them.

    Gradients are None where the output does not have the cotangent's shape or does not depend on the argument.
    """
    if not callable(function):
        kind = one_line(type(function).__name__, 40)
        return Outcome(blank=function is Ellipsis, error=f"it is a {kind} and no function")
    try:
        if cotangent is None:
            return Outcome(function(*arguments))
        import torch

        with torch.enable_grad():
            value = function(*arguments)
            return Outcome(value, _gradients(value, arguments, cotangent))
    except NotImplementedError:
        return Outcome(blank=True)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: a wrong answer must not end anything
        return Outcome(error=f"it raised {describe(error)}")


def _gradients(value, arguments, cotangent) -> tuple:
    import torch

    wanted = [argument for argument in arguments if isinstance(argument, torch.Tensor) and argument.requires_grad]
    sound = isinstance(value, torch.Tensor) and value.shape == cotangent.shape and value.dtype == cotangent.dtype
    if not sound or not value.requires_grad:
        return (None,) * len(wanted)
    return torch.autograd.grad(value, wanted, cotangent, allow_unused=True)
