"""The random numbers of many models: each from a generator of its own, as if it were alone."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode


class Generators:
    """One generator for each model; as a whole it has the state and the device that a checkpoint asks of one."""

    def __init__(self, device: torch.device, seeds: list[int]):
        self.device, self._generators = device, [torch.Generator(device).manual_seed(seed) for seed in seeds]

    def __iter__(self):
        return iter(self._generators)

    def get_state(self) -> Tensor:
        return torch.stack([generator.get_state() for generator in self])

    def set_state(self, states: Tensor) -> None:
        for generator, state in zip(self, states, strict=True):
            generator.set_state(state.clone())  # a row in the middle of a tensor makes PyTorch crash


@dataclass
class RandomCall:
    """A call that drew random numbers: of a function that makes a tensor, or of a method that fills one."""

    function: Callable
    arguments: tuple
    options: dict
    filled: Tensor | None = None

    def __call__(self, generators: Generators) -> Tensor:
        """The same call with each of `generators`: (K, ...)."""
        if any(isinstance(value, Tensor) for value in (*self.arguments, *self.options.values())):
            raise ValueError(f"the random numbers of {self.function.__name__} depend on values of one model")
        return torch.stack([self._call_once(generator) for generator in generators])

    def _call_once(self, generator: torch.Generator) -> Tensor:
        target = () if self.filled is None else (torch.empty_like(self.filled),)
        return self.function(*target, *self.arguments, **self.options, generator=generator)


class Recording(TorchFunctionMode):
    """While it is on, writes down every call that is given a generator: `calls`."""

    def __init__(self):
        super().__init__()
        self.calls: list[RandomCall] = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if kwargs.get("generator") is not None:
            fills = _fills(function)
            rest = args[1:] if fills else args
            options = {name: value for name, value in kwargs.items() if name != "generator"}
            filled = torch.empty_like(args[0], requires_grad=False) if fills else None
            self.calls.append(RandomCall(function, rest, options, filled))
        return function(*args, **kwargs)


class Replaying(TorchFunctionMode):
    """While it is on, calls that are given a generator return the numbers drawn before, in their order."""

    def __init__(self, numbers: list[Tensor]):
        super().__init__()
        self._numbers = iter(numbers)

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if not kwargs or kwargs.get("generator") is None:
            return function(*args, **(kwargs or {}))
        number = next(self._numbers)
        return args[0].copy_(number) if _fills(function) else number


def _fills(function: Callable) -> bool:
    """Whether it is a method that fills a tensor in place, by PyTorch's convention for names."""
    return function.__name__.endswith("_")
