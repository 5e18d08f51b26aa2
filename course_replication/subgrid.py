"""A regular subgrid of a dataset: some values of each factor, as a grid of its own."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from course_lib.data import GridDataset
from course_lib.data.stored import Measured, moments
from course_lib.factors import FactorSpace


class Subgrid(Measured):
    """The images of `full` whose factors have kept values, drawn as `full` draws them; moments are its own.

    keeps : for each factor that is restricted, the values it keeps, in this order; other factors keep all. A factor's
        value v here is value keeps[name][v] in `full`.

    Raises ValueError for a factor that is not there, and for a list of values that is empty, repeats itself, or holds a
    value that the factor has not.

    Examples
    --------
    >>> Subgrid(DSprites(), {"scale": [1, 3, 5]}).space
    FactorSpace(shape 3, scale 3, orientation 40, position_x 32, position_y 32: 368,640 points)
    """

    def __init__(self, full: GridDataset, keeps: Mapping[str, Sequence[int]]):
        names, sizes = full.space.names, full.space.sizes
        for name in keeps.keys() - set(names):
            raise ValueError(f"keeps: got the factor {name!r}; allowed are {', '.join(names)}.")
        self._kept = [list(keeps.get(name, range(size))) for name, size in zip(names, sizes, strict=True)]
        for name, size, kept in zip(names, sizes, self._kept, strict=True):
            if not kept or len(set(kept)) < len(kept) or not set(kept) <= set(range(size)):
                raise ValueError(f"keeps: got {kept} for {name}; allowed are different values from 0 to {size - 1}.")
        self._full, self.options = full, dict(full=full, keeps=dict(keeps))
        self.space = FactorSpace(names, tuple(map(len, self._kept)))
        self.shape, self.source, self.licence, self.citation = full.shape, full.source, full.licence, full.citation

    def in_full(self, index: Tensor) -> Tensor:
        """Where the images stand in the full dataset: int64 (...) → int64 (...)."""
        factors = self.space.factors(index).unbind(-1)
        kept = [torch.tensor(values, device=index.device) for values in self._kept]
        return self._full.space.index(torch.stack([of[at] for of, at in zip(kept, factors, strict=True)], -1))

    def render(self, index: Tensor) -> Tensor:
        return self._full.render(self.in_full(index))

    def measure(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        return moments(self.render, len(self))
