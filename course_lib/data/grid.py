"""What every dataset of the course shares: a grid of factors and a pure function from index to image."""

from abc import ABC, abstractmethod
from math import isfinite
from numbers import Real

import torch
from torch import Tensor

from course_lib.arguments import check_instance
from course_lib.factors import FactorSpace


class GridDataset(ABC):
    """A `FactorSpace` plus a function from grid index to uint8 image.

    Subclasses set the attributes below and write `render`.

    Attributes
    ----------
    space : the ground-truth factors.
    shape : (C, H, W) of one image.
    mean, std : per channel, on [0, 1]. `std` is the mean over images of the per-image unbiased standard deviation, the
        convention of the thesis (Table A.2): it differs from the standard deviation over the whole dataset.
    source : where the pixels come from, as a phrase that a caption can use.
    licence, citation : of the dataset that is drawn or read.
    options : the constructor's arguments, which tell one variant from another.
    capturable : whether `render` stays on the device of the index, so that a CUDA graph can hold it. Images that stay
        in a mapped file are looked up by the CPU.
    """

    space: FactorSpace
    shape: tuple[int, int, int]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    source: str
    licence: str
    citation: str
    options: dict = {}
    capturable: bool = True

    @abstractmethod
    def render(self, index: Tensor) -> Tensor:
        """uint8 (B, C, H, W) for an int64 (B,) that is already checked, on the device of `index`."""

    def __len__(self) -> int:
        return len(self.space)

    def images(self, index) -> Tensor:
        """The images at `index`: int64 (...) → uint8 (..., C, H, W), on the device of `index`.

        The same index gives the same bytes, whatever the batch or the device. Raises ValueError for an index that is
        out of range or not an integer (on a GPU, the range is trusted), and when `render` returns anything else than
        uint8 (B, C, H, W).
        """
        index = self.space.check_index(index)
        images, expected = self.render(index.reshape(-1)), (index.numel(), *self.shape)
        if not isinstance(images, Tensor) or (images.dtype, tuple(images.shape)) != (torch.uint8, expected):
            got = (
                f"{images.dtype} {tuple(images.shape)}" if isinstance(images, Tensor) else f"a {type(images).__name__}"
            )
            raise ValueError(f"data: {self!r} rendered {got}; expected torch.uint8 {expected}, (B, C, H, W).")
        return images.reshape(*index.shape, *self.shape)

    def observations(self, index) -> Tensor:
        """The images as a network sees them: int64 (...) → float32 (..., C, H, W), (image / 255 − mean) / std.

        Raises ValueError as `images` and `check_data` do.
        """
        check_data(self)
        return standardise(self.images(index), torch.tensor(self.mean), torch.tensor(self.std))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"


def check_data(data) -> None:
    """Raise a ValueError unless `data` is a dataset whose images can be standardised: its std must be above 0."""
    check_instance(GridDataset, "a dataset of course_lib.data", data=data)
    for name, values in (("mean", data.mean), ("std", data.std)):
        if not isinstance(values, list | tuple) or not all(isinstance(value, Real) for value in values):
            raise ValueError(f"data: the {name} of {data!r} is {values!r}; expected a tuple of numbers.")
        fine = len(values) == data.shape[0] and all(isfinite(value) for value in values)
        if not fine or (name == "std" and min(values) <= 0):
            allowed = "above 0: images that are all one grey cannot be standardised" if name == "std" else "finite"
            raise ValueError(
                f"data: the {name} of {data!r} is {tuple(values)}; expected {data.shape[0]} numbers, each {allowed}."
            )


def standardise(images: Tensor, mean: Tensor, std: Tensor) -> Tensor:
    """uint8 (..., C, H, W) → float32, (images / 255 − mean) / std with one mean and one std per channel.

    Raises ValueError for another type: floats may be divided by 255 already.
    """
    if images.dtype != torch.uint8:
        raise ValueError(f"images: got dtype {images.dtype}; allowed is uint8, from 0 to 255.")
    mean, std = (values.to(images.device, torch.float32).view(-1, 1, 1) for values in (mean, std))
    return images.to(torch.float32).sub_(255 * mean).mul_(1 / (255 * std))
