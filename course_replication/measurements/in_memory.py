"""Datasets small enough to be held, for trainings that a CPU can carry; and how a large one is thinned out."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d

from course_lib.data import GridDataset

BLOCK = 4  # pixels of the large dataset, each way, that become one


class InMemory(GridDataset):
    """A dataset of images uint8 (N, C, H, W) that are held, in the order of its grid; its moments are theirs.

    dtype : in which the moments are computed; they differ in the last digits, which a training repeats.
    """

    def __init__(self, pixels: Tensor, dtype: torch.dtype = torch.float32):
        self._pixels, self.shape = pixels, tuple(pixels.shape[1:])
        unit = pixels.to(dtype) / 255
        self.mean = tuple(unit.mean((0, 2, 3)).tolist())
        self.std = tuple(unit.flatten(2).std(2).mean(0).tolist())

    def render(self, index: Tensor) -> Tensor:
        return self._pixels.to(index.device)[index]


def thinned(full: GridDataset, kept: Sequence[Sequence[int]]) -> Tensor:
    """The images of a dataset that have the kept values of each factor, each pixel the mean of a block: uint8."""
    index = full.space.index(torch.cartesian_prod(*(torch.tensor([*values]) for values in kept)))
    blocks = [avg_pool2d(full.images(part).float(), BLOCK) for part in index.split(500)]
    return torch.cat(blocks).round().to(torch.uint8)
