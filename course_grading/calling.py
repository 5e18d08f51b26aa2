"""Calling a student's function: the same code in their notebook and in the grader's worker."""

import random
import sys
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """What came of asking for an answer.

    value : what was returned, or the answer itself.
    grads : one gradient (or None) for each argument that was to be differentiated.
    error : what went wrong instead, as half a sentence ("it took longer than 5 s"); None if nothing did.
    blank : whether nothing has been written yet.
    changed : the places of the arguments that the call changed in place.
    """

    value: object = None
    grads: tuple = ()
    error: str | None = None
    blank: bool = False
    changed: tuple[int, ...] = ()


def one_line(text, most: int = 300) -> str:
    """Text that came from a submission, on one line, without control characters, cut after `most`."""
    words = "".join(letter if letter.isprintable() else " " for letter in str(text)[: 4 * most])
    words = " ".join(words.split())
    return words if len(words) <= most else words[: most - 1] + "…"


def say(text, error: bool = False) -> None:
    """Print, to standard error if asked, also where a letter cannot be written: in an ASCII locale, ✓ becomes ?."""
    file = sys.stderr if error else sys.stdout
    try:
        print(text, file=file, flush=True)
    except UnicodeEncodeError:
        print(str(text).encode(file.encoding, "replace").decode(file.encoding), file=file, flush=True)


def describe(error: BaseException) -> str:
    """The exception in one line; its message may itself raise."""
    try:
        message = one_line(error)
    except BaseException:
        message = ""
    return one_line(type(error).__name__) + (f": {message}" if message else "")


def _raised(error: BaseException) -> str:
    if type(error).__module__.startswith(("torch._dynamo", "torch._inductor")):
        return "it went through torch.compile, which needs a compiler that is not at hand: hand in the plain function"
    return f"it raised {describe(error)}"


def seed_everything(seed: int) -> None:
    """Make what a submission draws from the global generators repeat itself."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)
    if "torch" in sys.modules:  # the CPU's only, which is where the arguments are
        sys.modules["torch"].default_generator.manual_seed(seed)


@contextmanager
def kept_randomness():
    """Afterwards the global generators that `seed_everything` seeds are where they were before."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    states = random.getstate(), numpy and numpy.random.get_state(), torch and torch.default_generator.get_state()
    try:
        yield
    finally:
        random.setstate(states[0])
        if numpy:
            numpy.random.set_state(states[1])
        if torch:
            torch.default_generator.set_state(states[2])


def invoke(function, arguments: list, cotangent=None) -> Outcome:
    """Call `function`; with a cotangent, also the gradients of ⟨output, cotangent⟩ for the arguments that require them.

    Gradients are None where the output does not have the cotangent's shape or does not depend on the argument.
    """
    if not callable(function):
        kind = one_line(type(function).__name__, 40)
        return Outcome(blank=function is Ellipsis, error=f"it is a {kind} and no function")
    before = _copies(arguments)
    try:
        if cotangent is None:
            return Outcome(function(*arguments), changed=_changed(before, arguments))
        import torch

        wanted = [argument for argument in arguments if isinstance(argument, torch.Tensor) and argument.requires_grad]
        with torch.enable_grad():
            value = function(*arguments)
            return Outcome(value, _gradients(value, wanted, cotangent), changed=_changed(before, arguments))
    except NotImplementedError:
        return Outcome(blank=True)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: a wrong answer must not end anything
        return Outcome(error=_raised(error), changed=_changed(before, arguments))


def _gradients(value, wanted, cotangent) -> tuple:
    import torch

    sound = isinstance(value, torch.Tensor) and value.shape == cotangent.shape and value.dtype == cotangent.dtype
    if not sound or not value.requires_grad:
        return (None,) * len(wanted)
    return torch.autograd.grad(value, wanted, cotangent, allow_unused=True)


def _copies(arguments: list) -> list:
    """A copy of each tensor and array, in its place."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    copies: list = [None] * len(arguments)
    for place, argument in enumerate(arguments):
        if torch and isinstance(argument, torch.Tensor):
            copies[place] = argument.detach().clone()
        elif numpy and isinstance(argument, numpy.ndarray):
            copies[place] = argument.copy()
    return copies


def _changed(before: list, arguments: list) -> tuple[int, ...]:
    """The places where an argument is no longer what it was."""
    try:
        pairs = [(place, old, new) for place, (old, new) in enumerate(zip(before, arguments, strict=True))]
        return tuple(place for place, old, new in pairs if old is not None and not _same(old, new))
    except BaseException:  # a submission may have patched whatever this uses
        return ()


def _same(old, new) -> bool:
    new = new.detach() if hasattr(new, "detach") else new
    return old.shape == new.shape and bool(((old == new) | (old != old)).all())
