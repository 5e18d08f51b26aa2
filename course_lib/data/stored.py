"""What the datasets that are read from files share: looking up images, their moments, their size and their order."""

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from math import prod
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from course_lib.data.grid import GridDataset
from course_lib.data.on_devices import OnDevices

IMAGE = 64  # side in pixels of the images of all papers


class Table:
    """Images held in memory: uint8 (N, C, H, W), with a copy on each device that has asked."""

    def __init__(self, images: Tensor):
        self._images = OnDevices(images)

    def __call__(self, index: Tensor) -> Tensor:
        (images,) = self._images(index.device)
        return images[index]


class PackedTable:
    """Black and white images held in memory, eight pixels to a byte: uint8 (N, C·H·W / 8), copied like a `Table`.

    `packed` is what numpy.packbits makes of the pixels, and `shape` is (C, H, W).
    """

    def __init__(self, packed: Tensor, shape: tuple[int, int, int]):
        self._packed, self._shape = OnDevices(packed), shape

    def __call__(self, index: Tensor) -> Tensor:
        (packed,) = self._packed(index.device)
        places = torch.arange(7, -1, -1, dtype=torch.uint8, device=index.device)
        return ((packed[index].unsqueeze(2) >> places & 1) * 255).view(len(index), *self._shape)


class MappedTable:
    """Images that stay in a mapped file, channels last: uint8 (N, H, W, C), looked up on the CPU."""

    def __init__(self, images: np.ndarray):
        self._images = images

    def __call__(self, index: Tensor) -> Tensor:
        images = torch.from_numpy(self._images[index.cpu().numpy()])
        return images.to(index.device).permute(0, 3, 1, 2).contiguous()


class Measured(GridDataset):
    """A dataset whose mean and std are measured when first asked for. Subclasses write `measure`."""

    @abstractmethod
    def measure(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The mean and the std per channel, as `moments` gives them."""

    @cached_property
    def _moments(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        return self.measure()

    @property
    def mean(self) -> tuple[float, ...]:
        return self._moments[0]

    @property
    def std(self) -> tuple[float, ...]:
        return self._moments[1]


def moments(look_up: Callable[[Tensor], Tensor], count: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Per channel, on [0, 1]: the mean, and the mean of the per-image unbiased stds (the convention of Table A.2).

    All `count` images are looked up once, a thousand at a time, and summed in integers.
    """
    means, stds = 0, 0
    for index in torch.arange(count).split(1000):
        pixels = look_up(index).flatten(2).to(torch.int32)
        n, total, squares = pixels.shape[2], pixels.sum(2), pixels.square().sum(2)
        means = means + total.double().sum(0) / n
        stds = stds + ((n * squares - total**2).double() / (n * (n - 1))).sqrt().sum(0)
    return tuple((means / (255 * count)).tolist()), tuple((stds / (255 * count)).tolist())


def resize(images: Tensor) -> Tensor:
    """uint8 (N, C, H, W) → (N, C, 64, 64), bilinear with antialiasing.

    `torch.nn.functional.interpolate(mode="bilinear", antialias=True)` on bytes: the rows are resized and rounded to
    uint8 first and the columns then, which gives the same bytes as Pillow. The thesis resized with Pillow, so its
    statistics hold for these images; rounding once, at the end, would change one pixel in six by 1.
    """
    return torch.nn.functional.interpolate(images, (IMAGE, IMAGE), mode="bilinear", antialias=True)


def grid_order(factors: np.ndarray, path: str | Path) -> tuple[tuple[int, ...], np.ndarray]:
    """How rows of factor values (N, F) make up a grid: its F sizes, and the order (N,) that sorts the rows.

    Values are told apart and ranked, so they need not count from 0. Raises ValueError naming `path` unless every
    combination is there exactly once.
    """
    ranks, sizes = [], []
    for column in factors.T:
        values, rank = np.unique(column, return_inverse=True)
        ranks.append(rank)
        sizes.append(len(values))
    place = np.ravel_multi_index(ranks, sizes)
    if len(factors) != prod(sizes) or len(np.unique(place)) != len(factors):
        raise ValueError(
            f"{path}: {len(factors):,} rows whose factors take {' × '.join(map(str, sizes))} values; "
            "every combination has to be there exactly once."
        )
    return tuple(sizes), np.argsort(place)
