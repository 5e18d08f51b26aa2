"""Whole traversals in a table of samples: rows that agree in all factors but one, and take each value of that one."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from course_lib.metrics.encodings import finite_latents
from course_lib.metrics.samples import as_samples

NAMED = "factors: no rows agree in all factors but {name} and take each of its {f} values; the {score} needs such rows."


class GridRows(NamedTuple):
    """Rows in the order of their factors int64 (n, F), each combination once: latents (n, D) in their own precision."""

    latents: Tensor
    factors: np.ndarray
    names: tuple[str, ...]

    @property
    def varying(self) -> dict[str, int]:
        """The factors that take more than one value: name → place."""
        return {name: k for k, name in enumerate(self.names) if (self.factors[:, k] != self.factors[0, k]).any()}


def grid_rows(latents, factors, names=None) -> GridRows:
    """The rows of a table, checked; of those with the same factors the first counts."""
    samples = as_samples(latents, factors, names)
    latents = finite_latents(latents, None, "latents")
    factors, first = np.unique(samples.factors, axis=0, return_index=True)
    return GridRows(latents[torch.from_numpy(first)], factors, samples.names)


def whole_traversals(rows: GridRows, name: str, score: str) -> Tensor:
    """The places of the rows of each whole traversal of a factor, in the factor's order: int64 (m, f), m from 1.

    Raises a ValueError, which names the factor and the score, when there is none.
    """
    place = rows.varying[name]
    f = len(np.unique(rows.factors[:, place]))
    others = np.delete(rows.factors, place, axis=1)
    order = np.lexsort((rows.factors[:, place], *others.T[::-1]))
    begins = np.flatnonzero(np.append(True, (np.diff(others[order], axis=0) != 0).any(1)))
    whole = begins[np.diff(np.append(begins, len(order))) == f]
    if len(whole) == 0:
        raise ValueError(NAMED.format(name=name, f=f, score=score))
    return torch.from_numpy(order[whole[:, None] + np.arange(f)])
