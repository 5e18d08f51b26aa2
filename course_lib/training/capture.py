"""A training step as one CUDA graph."""

import warnings
from collections.abc import Callable

import torch
from torch import Tensor

from course_lib.data import GridDataset

WARM_UP = 3  # steps that run op by op first: libraries choose their kernels, and what is made once gets made


def should_capture(capture: bool | str, device: torch.device, data: GridDataset) -> bool:
    """Whether to capture the step: what `capture` says, once it is known to be possible."""
    obstacle = None
    if device.type != "cuda":
        obstacle = f"the device {str(device)!r} has no CUDA graphs"
    elif not data.capturable:
        obstacle = f"the images of {data!r} are looked up in a file by the CPU"
    if capture != "auto" and capture and obstacle:
        raise ValueError(f"capture: got True, but {obstacle}; allowed are False and 'auto'.")
    return obstacle is None if capture == "auto" else bool(capture)


class CapturedStep:
    """`step`, taken op by op WARM_UP times, then captured in a CUDA graph and replayed: each call is one step.

    The losses are those of the plain step: the warm-up counts as training, the capture itself computes nothing, and the
    graph draws its random numbers from `generators` where the plain step would. What is returned is overwritten by the
    next call. Whatever `step` reads or changes has to be tensors on the device that stay where they are.
    """

    def __init__(self, step: Callable[[], dict[str, Tensor]], *generators: torch.Generator):
        self._step, self._generators, self._device = step, generators, generators[0].device
        self._stream = torch.cuda.Stream(self._device)  # of the warm-up: a capture wants memory from no default one
        self._warmed_up, self._graph, self._terms = 0, None, {}

    def __call__(self) -> dict[str, Tensor]:
        if self._warmed_up < WARM_UP:
            self._warmed_up += 1
            return self._warm_up()
        if self._graph is None:
            self._capture()
        self._graph.replay()
        return self._terms

    def _warm_up(self) -> dict[str, Tensor]:
        current = torch.cuda.current_stream(self._device)
        self._stream.wait_stream(current)
        with torch.cuda.stream(self._stream):
            terms = self._step()
        current.wait_stream(self._stream)
        return terms

    def _capture(self) -> None:
        graph = torch.cuda.CUDAGraph()
        register = getattr(graph, "register_generator_state", None)
        if register is not None:  # newer releases find the generator by themselves, and warn if it is named
            with warnings.catch_warnings(action="ignore"):
                for generator in self._generators:
                    register(generator)
        try:
            with torch.cuda.device(self._device), torch.cuda.graph(graph):
                self._terms = self._step()
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            raise RuntimeError(
                f"The training step cannot be captured in a CUDA graph ({error}). A loss that looks at values, or data "
                "drawn on the CPU, needs fit(..., capture=False)."
            ) from error
        self._graph = graph
