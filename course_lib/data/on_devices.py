"""Tables that datasets look things up in, on whichever device asks."""

import torch
from torch import Tensor


class OnDevices:
    """Tensors, and a copy of them on each other device that has asked: `tables(device)` is always the same ones.

    A copy that is there stays. A captured CUDA graph goes on reading where its tables were, while other code may ask
    for images on the CPU.
    """

    def __init__(self, *tensors: Tensor):
        self._first, self._copies = tensors, {tensors[0].device: tensors}

    def __call__(self, device: torch.device) -> tuple[Tensor, ...]:
        if device not in self._copies:
            self._copies[device] = tuple(tensor.to(device) for tensor in self._first)
        return self._copies[device]
