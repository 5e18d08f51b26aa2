r"""Ranks that can be differentiated, and the rank correlation made of them.

The ranks of values θ are the corner of the permutahedron (the convex hull of all permutations of 1, …, n) that lies
furthest in the direction of θ. The soft rank is the point of the permutahedron that is *nearest* to θ/ε,

.. math:: r_\varepsilon(\theta) = \arg\min_{\mu \in \mathcal{P}(1, \dots, n)} \tfrac12 \|\mu - \theta/\varepsilon\|^2,

which moves along with θ. With θ sorted it is θ/ε − v, where v is the non-decreasing sequence nearest to θ_i/ε − i: an
isotonic regression, constant on blocks. So each block of neighbours keeps its mean rank and its differences θ/ε, and
a block of one has its plain rank.

Source: Blondel et al., Fast differentiable sorting and ranking, 2020: the soft rank of Section 4 and Proposition 3,
here in ascending order.
"""

import math

import torch
from torch import Tensor

from course_lib.arguments import check_instance, check_numbers

TOLERANCE = 1e-9  # in ranks: two blocks of an isotonic regression that differ by less are one, split by rounding
LARGE = 1e307  # from about here on, the span of numbers of both signs is infinite
ROWS = 512  # of the n × n table of means that are in memory at a time


def spearman(prediction: Tensor, target: Tensor, regularisation: float = 1.0) -> Tensor:
    """Spearman's rank correlation of `prediction` and `target`, (..., n) both, differentiable in `prediction`: (...).

    It is the linear correlation of the soft ranks of `prediction` with the ordinary ranks of `target`, ties averaged,
    whatever requires a gradient: the value is the same with and without one. In the limit of a small `regularisation`
    it is scipy.stats.spearmanr, in the limit of a large one it no longer ranks `prediction` at all. Between −1 and 1;
    if either side is constant, 0 with gradient 0.

    Raises ValueError as `soft_rank` does, and when the shapes differ or `target` requires a gradient.

    Source: Blondel et al. 2020, Section 6.3; minus this is the thesis' Eq. 6.1. Chapter 20.
    """
    check_instance(Tensor, "a tensor", prediction=prediction, target=target)
    if prediction.shape != target.shape:
        raise ValueError(f"target: got shape {tuple(target.shape)}; prediction has {tuple(prediction.shape)}.")
    if target.requires_grad:
        raise ValueError("target: got a tensor that requires a gradient, which its ranks have not; detach it.")
    _check(prediction=prediction)
    _check(floating=False, target=target)
    soft, hard = soft_rank(prediction, regularisation), hard_rank(target)
    return (_standardise(soft) * _standardise(hard)).mean(-1).to(soft.dtype)


def soft_rank(values: Tensor, regularisation: float = 1.0) -> Tensor:
    """The ℓ2-regularised soft ranks of `values` (..., n) along the last dimension: the same shape, between 1 and n.

    Ascending: in the limit of a small `regularisation`, scipy.stats.rankdata, ties averaged. The result has the type
    of `values`, or float32 if that is shorter; inside, all is float64. Sorting takes O(n log n), the rest O(n) on a
    CPU and O(n²) elsewhere, where nothing waits for the device: the call can be captured in a CUDA graph.

    The regularisation is relative, so that shifting or scaling `values` changes nothing: they are first given the mean
    and standard deviation of 1, …, n, and this, too, is differentiated. At 1, evenly spaced values are their own
    ranks; above, the soft ranks tend to a linear function of `values`; below, to the ordinary ranks, whose gradient
    is 0 (as it is, at any strength, where a value is far from its neighbours). Equal values all have rank (n + 1)/2,
    with gradient 0.

    Raises ValueError when `values` is not floating point, has fewer than 2 elements along the last dimension or, on a
    CPU, is not finite (elsewhere, what is not finite gives NaN), and when `regularisation` is not positive. Chapter 20.
    """
    (regularisation,) = check_numbers(0, above=True, regularisation=regularisation)
    _check(values=values)
    size = values.shape[-1]
    spread = math.sqrt((size**2 - 1) / 12)  # the standard deviation of 1, …, n
    ordered, order = (_standardise(values) * (spread / regularisation)).sort(dim=-1)
    positions = torch.arange(1, size + 1, dtype=torch.float64, device=values.device)
    # Across a gap of n ranks no block can reach: a longer one says nothing more, and would cost the sums their digits.
    gaps = ordered.diff(dim=-1, prepend=ordered[..., :1]).clamp(max=size)
    targets = gaps.cumsum(-1) - positions
    ranks = positions + _centre(targets, _blocks(targets.detach()))
    return torch.zeros_like(ranks).scatter(-1, order, ranks).to(torch.promote_types(values.dtype, torch.float32))


def hard_rank(values: Tensor) -> Tensor:
    """The ranks of `values` (..., n) along the last dimension, ascending from 1, ties averaged: float64, same shape.

    Equal to scipy.stats.rankdata; nothing to differentiate. Raises ValueError as `soft_rank` does; integers are
    allowed too. Chapter 20.
    """
    _check(values=values, floating=False)
    values = values.detach().contiguous()
    ordered = values.sort(dim=-1).values
    below, up_to = (torch.searchsorted(ordered, values, right=right) for right in (False, True))
    return (below + up_to + 1).double() / 2


def pool_adjacent_violators(targets: Tensor) -> Tensor:
    """The non-decreasing sequence (..., n) nearest to `targets` (..., n), float64, in O(n), by scipy on the CPU.

    An element that is not above the block before it joins it, and the joint block may then have to join the one before.
    """
    from scipy.optimize import isotonic_regression  # takes a while to import

    rows = targets.double().reshape(-1, targets.shape[-1]).numpy()
    return torch.stack([torch.from_numpy(isotonic_regression(row).x) for row in rows]).view(targets.shape)


def min_max_regression(targets: Tensor) -> Tensor:
    r"""The same sequence by its closed form, O(n²) but all elements at once and no step that depends on the data.

    .. math:: v_i = \max_{j \le i} \, \min_{k \ge i} \, \mathrm{mean}(y_j, \dots, y_k)

    Source: Robertson, Wright and Dykstra, Order restricted statistical inference, 1988, Theorem 1.4.4.
    """
    size = targets.shape[-1]
    centre = targets.mean(-1, keepdim=True)  # keeps the sums small, and with them their rounding errors
    sums = (targets - centre).cumsum(-1)
    last = torch.arange(size - 1, -1, -1, device=targets.device)  # descending, so that "k from i" is a running minimum
    fit = torch.full_like(targets, -math.inf)
    for start in range(0, size, ROWS):
        first = torch.arange(start, min(start + ROWS, size), device=targets.device).unsqueeze(-1)
        before = (sums - targets + centre)[..., start : start + ROWS].unsqueeze(-1)
        means = (sums.flip(-1).unsqueeze(-2) - before) / (last - first + 1)
        lowest = means.masked_fill(last < first, math.inf).cummin(-1).values
        fit = torch.maximum(fit, lowest.masked_fill(last < first, -math.inf).amax(-2))
    return fit.flip(-1) + centre


def _blocks(targets: Tensor) -> Tensor:
    """To which block of its isotonic regression each element of `targets` (..., n) belongs: int64, from 0."""
    fit = (pool_adjacent_violators if targets.device.type == "cpu" else min_max_regression)(targets)
    return (fit.diff(dim=-1, prepend=fit[..., :1]) > TOLERANCE).cumsum(-1)


def _centre(elements: Tensor, blocks: Tensor) -> Tensor:
    """`elements` (..., n) minus the means of their blocks: linear, and therefore its own derivative (Proposition 4)."""
    totals, sizes = (
        torch.zeros_like(elements).scatter_add(-1, blocks, summands)
        for summands in (elements, torch.ones_like(elements))
    )
    return elements - (totals / sizes.clamp(min=1)).gather(-1, blocks)


def _standardise(values: Tensor) -> Tensor:
    """`values` (..., n) with mean 0 and variance 1 along the last dimension, float64; zeros if they are all equal.

    First they are mapped to [0, 1], so that neither a large offset nor a tiny scale costs digits. As the result does
    not depend on that map, its ends count as constants.
    """
    values = values.double()
    large = values.detach().abs().amax(-1, keepdim=True) > LARGE
    values = values * torch.where(large, 0.25, 1.0)
    low, high = values.detach().aminmax(dim=-1, keepdim=True)
    span = high - low
    unit = (values - low) / span.masked_fill(span == 0, 1.0)
    variance = unit.var(-1, correction=0, keepdim=True).masked_fill(span == 0, math.inf)
    return (unit - unit.mean(-1, keepdim=True)) * variance.rsqrt()


def _check(floating: bool = True, **named: Tensor) -> None:
    for name, values in named.items():
        check_instance(Tensor, "a tensor", **{name: values})
        if values.is_complex() or values.dtype == torch.bool:
            raise ValueError(f"{name}: got dtype {values.dtype}; allowed are real numbers.")
        if floating and not values.is_floating_point():
            raise ValueError(f"{name}: got dtype {values.dtype}; allowed are floating-point types.")
        if values.ndim == 0 or values.shape[-1] < 2:
            raise ValueError(f"{name}: got shape {tuple(values.shape)}; allowed is (..., n) with n from 2.")
        if values.device.type == "cpu" and not values.isfinite().all():
            raise ValueError(f"{name}: got numbers that are not finite; ranks are only defined for finite ones.")
