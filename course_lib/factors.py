"""A grid of ground-truth factors: names, sizes, and the way between an index and its factors.

Everything here is integer arithmetic; images come later (`course_lib.data`).
"""

from collections.abc import Iterable, Sequence
from math import prod
from numbers import Integral

import torch
from torch import Tensor

from course_lib.arguments import check_instance, check_integers, integer_tensor


class FactorSpace:
    """The product of F finite factors, listed in C order: the last factor varies fastest.

    Parameters
    ----------
    names : the F factor names, each used once.
    sizes : the number of values of each factor; factor i takes the values 0 … sizes[i] − 1.

    Examples
    --------
    >>> space = FactorSpace(("shape", "x"), (3, 32))
    >>> len(space), space.index([2, 5]).item(), space.factors(69).tolist()
    (96, 69, [2, 5])
    """

    def __init__(self, names: Sequence[str], sizes: Sequence[int]):
        check_instance(Iterable, "one name per factor", names=names)
        check_instance(Iterable, "one number of values per factor", sizes=sizes)
        self.names = tuple(names)
        check_instance(str, "a name", **{f"names[{place}]": name for place, name in enumerate(self.names)})
        self.sizes = check_integers(1, **{f"sizes[{place}]": size for place, size in enumerate(sizes)})
        if len(self.names) != len(self.sizes) or len(set(self.names)) != len(self.names) or not self.names:
            raise ValueError(f"names: got {self.names} for sizes {self.sizes}; give one distinct name per size.")
        if prod(self.sizes) >= 2**63:
            raise ValueError(f"sizes: got {self.sizes}; allowed are grids of fewer than 2⁶³ points.")
        self._constants: dict[torch.device, tuple[Tensor, Tensor]] = {}
        self.strides = tuple(prod(self.sizes[i + 1 :]) for i in range(len(self.sizes)))

    def __len__(self) -> int:
        return prod(self.sizes)

    def __eq__(self, other) -> bool:
        return isinstance(other, FactorSpace) and (self.names, self.sizes) == (other.names, other.sizes)

    def __hash__(self) -> int:
        return hash((self.names, self.sizes))

    def __repr__(self) -> str:
        grid = ", ".join(f"{name} {size}" for name, size in zip(self.names, self.sizes, strict=True))
        return f"FactorSpace({grid}: {len(self):,} points)"

    def index(self, factors) -> Tensor:
        """The index of each factor vector: integers (..., F) → int64 (...).

        Values are checked on the CPU; on a GPU, where a check would stall the stream, they are trusted.
        """
        factors = integer_tensor(factors, "factors")
        if factors.ndim == 0 or factors.shape[-1] != len(self.sizes):
            raise ValueError(
                f"factors: got shape {tuple(factors.shape)}; the last axis must hold {len(self.sizes)} values "
                f"({', '.join(self.names)})."
            )
        sizes, strides = self.constants(factors.device)
        if factors.device.type == "cpu" and ((factors < 0) | (factors >= sizes)).any():
            wrong = ((factors < 0) | (factors >= sizes)).reshape(-1, len(self.sizes)).any(0).nonzero()[0].item()
            got = factors[..., wrong].reshape(-1)
            raise ValueError(
                f"factors: {self.names[wrong]} got values from {got.min().item()} to {got.max().item()}; "
                f"allowed are 0 to {self.sizes[wrong] - 1}."
            )
        return (factors * strides).sum(-1)

    def factors(self, index) -> Tensor:
        """The factor values at each index: integers (...) → int64 (..., F). Checked as in `index`."""
        index = self.check_index(index)
        sizes, strides = self.constants(index.device)
        return index.unsqueeze(-1) // strides % sizes

    def constants(self, device: torch.device) -> tuple[Tensor, Tensor]:
        """The sizes and the strides as int64 tensors (F,) on `device`."""
        if device not in self._constants:  # made once: on a GPU, they would else have to cross over in every step
            self._constants[device] = tuple(
                torch.tensor(values, device=device) for values in (self.sizes, self.strides)
            )
        return self._constants[device]

    def traversal(self, factor: int | str, index: int = 0) -> Tensor:
        """All points that agree with `index` except in one factor, in that factor's order: int64 (sizes[factor],)."""
        position = self.position(factor)
        start = self.check_index(index)
        if start.numel() != 1:
            raise ValueError(f"index: got shape {tuple(start.shape)}; a traversal starts from one index.")
        start = start.reshape(())
        start = start - self.factors(start)[position] * self.strides[position]
        return start + self.strides[position] * torch.arange(self.sizes[position], device=start.device)

    def position(self, factor: int | str) -> int:
        """The place of a factor, given by its name or already by its place."""
        if isinstance(factor, str) and factor in self.names:
            return self.names.index(factor)
        if isinstance(factor, Integral) and not isinstance(factor, bool) and 0 <= factor < len(self.names):
            return int(factor)
        raise ValueError(
            f"factor: got {factor!r}; allowed are {', '.join(self.names)} or their places 0 to {len(self.names) - 1}."
        )

    def check_index(self, index) -> Tensor:
        """`index` as int64, after checking that it is integer and, on the CPU, in range."""
        index = integer_tensor(index, "index")
        if index.device.type == "cpu" and index.numel() and (index.min() < 0 or index.max() >= len(self)):
            low, high = index.min().item(), index.max().item()
            raise ValueError(f"index: got values from {low} to {high}; allowed are 0 to {len(self) - 1}.")
        return index
