"""How far apart two images are: by their factors, by a reconstruction loss, or by what an encoder makes of them.

A distance here is a function of two index tensors (n,) that returns float64 (n,) on the CPU. Whatever measures such
distances (matrices along a factor, the importance of factors, correlations) therefore takes any of the three.
"""

from collections.abc import Callable

import numpy as np
import pandas
import torch
from scipy.stats import pearsonr, spearmanr
from torch import Tensor

from course_lib.arguments import as_tensor, check_choice, check_instance, check_integers, integer_tensor
from course_lib.data import GridDataset
from course_lib.factors import FactorSpace
from course_lib.losses.blur import blur
from course_lib.losses.reconstruction import BLURS, check_kernel, overlap_kernel_for
from course_lib.sampling import ORDERS, factor_distance, factor_pairs, random_pairs, traversals

Distance = Callable[[Tensor, Tensor], Tensor]

CHUNK = 1024  # images rendered at a time


def ground_truth_distance(space: FactorSpace, *, by: str = "l1") -> Distance:
    """Σ |y_i − y'_i| over the factors (Eq. 3.1 of the thesis), or another distance of `sampling.factor_distance`.

    Chapter 14.
    """
    check_instance(FactorSpace, "a FactorSpace, such as data.space", space=space)
    check_choice(ORDERS, by=by)

    def distance(first: Tensor, second: Tensor) -> Tensor:
        return factor_distance(space, first, second, by=by).double().cpu()

    return distance


def perceived_distance(data: GridDataset, *, loss: str | Tensor = "mse") -> Distance:
    """The reconstruction loss between two images, on [0, 1], averaged over pixels and channels (Eq. 3.3 of the thesis).

    loss : "mse"; or "mse-box" and "mse-gaussian", which add the MSE of the blurred images, times the number of weights
        of the kernel (at 64 pixels 63² = 3969; Eq. 3.8); or any kernel of `losses.BlurredSquaredError`.

    Chapter 14.
    """
    check_instance(GridDataset, "a dataset of course_lib.data", data=data)
    if isinstance(loss, Tensor):
        kernel = check_kernel(loss)
    else:
        check_choice(("mse", *BLURS), loss=loss)
        kernel = overlap_kernel_for(data.shape, loss=loss) if loss in BLURS else None

    def distance(first: Tensor, second: Tensor) -> Tensor:
        difference = data.images(first).float().sub_(data.images(second)).div_(255)
        total = difference.square().flatten(1).mean(1)
        if kernel is not None:  # blurring is linear: the blur of the difference is enough
            total = total + blur(difference, kernel).square().flatten(1).mean(1)
        return total

    return _in_chunks(distance)


def latent_distance(encode: Callable[[Tensor], Tensor], data: GridDataset, *, norm: int = 1) -> Distance:
    """The ℓ1 or ℓ2 distance (norm 1 or 2) of representations; `encode` maps images uint8 (B, C, H, W) to (B, D).

    Chapter 17.
    """
    check_choice((1, 2), norm=norm)
    check_instance(Callable, "a function from images to latents", encode=encode)
    check_instance(GridDataset, "a dataset of course_lib.data", data=data)

    def encoded(index: Tensor) -> Tensor:
        latents = as_tensor(encode(data.images(index)), "encode", "latents (B, D)")
        return latents if latents.is_floating_point() else latents.double()  # uint8 would wrap around

    def distance(first: Tensor, second: Tensor) -> Tensor:
        return torch.linalg.vector_norm(encoded(first) - encoded(second), norm, dim=1)

    return _in_chunks(distance)


def distance_matrix(
    distance: Distance, space: FactorSpace, factor: int | str, generator: torch.Generator, *, n: int = 100
) -> np.ndarray:
    """The distances between all points of a traversal, averaged over n random traversals: float64 (f, f).

    Source: the thesis, Eq. 3.7 and Figure 3.4. Chapter 14.
    """
    points = traversals(space, factor, n, generator)
    size = points.shape[1]
    row, column = torch.triu_indices(size, size, 1, device=points.device)
    mean = _measured(distance, points[:, row].flatten(), points[:, column].flatten()).view(n, -1).mean(0)
    matrix = torch.zeros(size, size, dtype=torch.float64)
    matrix[row.cpu(), column.cpu()] = mean
    return (matrix + matrix.T).numpy()


def factor_importance(
    distance: Distance, space: FactorSpace, generator: torch.Generator, *, n: int = 50_000
) -> pandas.DataFrame:
    """Mean and standard deviation of the distance of distinct pairs along each factor, and of random pairs.

    One row per factor, the largest mean first, then "random". Source: the thesis, Eqs. 3.9 and 3.10, Table 3.1.
    Chapter 14.
    """
    samples = distance_samples(distance, space, generator, n=n)
    rows = {name: (values.mean().item(), values.std().item()) for name, values in samples.items()}
    frame = pandas.DataFrame.from_dict(rows, orient="index", columns=["mean", "std"])
    factors = frame.drop(index="random").sort_values("mean", ascending=False)
    return pandas.concat([factors, frame.loc[["random"]]]).rename_axis("factor")


def distance_samples(
    distance: Distance, space: FactorSpace, generator: torch.Generator, *, n: int = 50_000
) -> dict[str, Tensor]:
    """n distances of distinct pairs along each factor, and of random pairs: name → float64 (n,), "random" last."""
    check_integers(2, n=n)
    rows = _varying(space).items()
    samples = {row: _measured(distance, *factor_pairs(space, name, n, generator)) for row, name in rows}
    return samples | {"random": _measured(distance, *random_pairs(space, n, generator))}


def cumulative_proportion(values: Tensor, thresholds: Tensor) -> Tensor:
    """The share of `values` (n,) that is at most each of `thresholds` (m,): float64 (m,). The thesis' Figure 3.13.

    Chapter 14.
    """
    values, thresholds = as_tensor(values, "values").double(), as_tensor(thresholds, "thresholds").double()
    if values.ndim != 1 or not len(values) or values.isnan().any():
        raise ValueError(f"values: got shape {tuple(values.shape)}; allowed are (n,) numbers, n from 1, no NaN.")
    return torch.searchsorted(values.sort().values, thresholds, right=True).double() / len(values)


def correlation_table(
    distance: Distance,
    space: FactorSpace,
    generator: torch.Generator,
    *,
    n: int = 200_000,
    self_pairs: bool = True,
    batch_size: int | None = 32,
    by: str = "l1",
) -> pandas.DataFrame:
    """Pearson's and Spearman's correlation between the ground-truth distance and another: columns "linear" and "rank".

    One row per factor, from n pairs on random traversals, then "random", from n pairs anywhere. The defaults are the
    protocol behind the thesis' Tables 4.1, 4.2 and 6.1:

    self_pairs : whether the pairs along a factor are drawn with replacement. A point is at distance 0 from itself by
        any distance, which alone raises the correlation.
    batch_size : the random pairs are drawn within batches of this many points; None draws both ends independently.
    by : the ground-truth distance, as in `sampling.factor_distance`.

    A constant distance has correlation 0; distances that differ by less than a millionth of the largest are equal.
    Chapter 14.
    """
    check_integers(2, n=n)
    truth = ground_truth_distance(space, by=by)
    rows = _varying(space).items()
    samples = {row: factor_pairs(space, name, n, generator, distinct=not self_pairs) for row, name in rows}
    samples["random"] = random_pairs(space, n, generator, batch_size=batch_size)
    measured = {row: round_distances(_measured(distance, *pairs)) for row, pairs in samples.items()}
    rows = {row: correlations(truth(*pairs), measured[row]) for row, pairs in samples.items()}
    return pandas.DataFrame.from_dict(rows, orient="index", columns=["linear", "rank"]).rename_axis("factor")


def correlations(first: Tensor, second: Tensor) -> tuple[float, float]:
    """Pearson's and Spearman's correlation of two samples (n,); 0 when one of them is constant.

    Raises ValueError unless both are finite and of one length, from 1.
    """
    first, second = (as_tensor(side, name).detach().cpu() for name, side in (("first", first), ("second", second)))
    if first.ndim != 1 or first.shape != second.shape or not len(first):
        raise ValueError(f"second: got shape {tuple(second.shape)} beside {tuple(first.shape)}; allowed is (n,) twice.")
    if not (first.isfinite() & second.isfinite()).all():
        raise ValueError("first, second: got NaN or infinite numbers; allowed are finite ones.")
    first, second = first.numpy(), second.numpy()
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0, 0.0
    return float(pearsonr(first, second).statistic), float(spearmanr(first, second).statistic)


def round_distances(distances: Tensor) -> Tensor:
    """Distances (n,) on a grid of a millionth of the largest, so that rounding errors do not order equal ones."""
    largest = distances.max()
    # .31: or the equal distances of round factors, such as 5/8, would lie on the border between two grid points
    return (distances / largest * 1e6 + 0.31).round() if largest > 0 else distances


def _varying(space: FactorSpace) -> dict[str, str]:
    """The factors that vary, by the names of their rows: one called "random" does not take the row of random pairs."""
    check_instance(FactorSpace, "a FactorSpace, such as data.space", space=space)
    names = (name for name, size in zip(space.names, space.sizes, strict=True) if size > 1)
    return {f"{name} (factor)" if name == "random" else name: name for name in names}


def _measured(distance: Distance, first: Tensor, second: Tensor) -> Tensor:
    """The distances of pairs (n,) as float64 on the CPU; a ValueError unless they are n finite numbers."""
    values = as_tensor(distance(first, second), "distance").detach().to("cpu", torch.float64)
    if values.shape != first.shape or not values.isfinite().all():
        got = "NaN or infinite ones" if values.shape == first.shape else f"shape {tuple(values.shape)}"
        raise ValueError(f"distance: got {got} for {len(first)} pairs; allowed are finite numbers, one per pair.")
    return values


def _in_chunks(distance: Distance) -> Distance:
    """`distance` applied to a bounded number of pairs at a time, without gradients, collected on the CPU."""

    @torch.no_grad()
    def chunked(first: Tensor, second: Tensor) -> Tensor:
        first, second = integer_tensor(first, "first"), integer_tensor(second, "second")
        if first.ndim != 1 or first.shape != second.shape:
            got = f"{tuple(second.shape)} beside {tuple(first.shape)}"
            raise ValueError(f"second: got shape {got}; allowed are indices (n,) twice.")
        parts = zip(first.split(CHUNK), second.split(CHUNK), strict=True)
        return torch.cat([distance(a, b).double().cpu() for a, b in parts])

    return chunked
