"""Which images meet in a batch: index tensors drawn from a `FactorSpace` with an explicit generator, on its device.

Everything is vectorised and nothing waits for the device, so that a training step can be captured in one graph.
"""

from collections.abc import Callable
from functools import cache
from math import lcm

import torch
from torch import Tensor

from course_lib.arguments import MOST, as_tensor, check_choice, check_generator, check_instance, check_integers
from course_lib.factors import FactorSpace

ORDERS = ("scaled_l1", "l1", "differing")


def singles(space: FactorSpace, n: int, generator: torch.Generator) -> Tensor:
    """n indices, uniform over the grid and with replacement: int64 (n,). Chapter 02."""
    _check(space, n, generator)
    return torch.randint(len(space), (n,), generator=generator, device=generator.device)


def pairs(space: FactorSpace, n: int, generator: torch.Generator, *, k: int | tuple[int, int] | None = None) -> Tensor:
    """n pairs that differ in exactly k factors, the weak supervision of Ada-GVAE: int64 (2, n).

    k : how many factors differ. A number fixes it; a range (low, high), both included, draws it uniformly for each
        pair anew; None is the range from 1 to all factors. Which factors differ is uniform as well, and each of them
        takes one of its other values, so that it really changes.

    A pair in which every factor differs breaks the assumption of the adaptive methods: exclude it with a range.
    Source: Locatello et al., Weakly-supervised disentanglement without compromises, 2020, Section 5. Chapter 10.
    """
    _check(space, n, generator)
    sizes, _ = space.constants(generator.device)
    changeable = sum(size > 1 for size in space.sizes)
    if k is None and not changeable:
        raise ValueError(f"space: got {space}, in which no factor varies; allowed are spaces with pairs that differ.")
    low, high = (1, changeable) if k is None else check_range(k)
    if high > changeable:
        raise ValueError(f"k: got {k!r}; allowed are numbers or ranges from 0 to {changeable}, the factors that vary.")
    first = space.factors(singles(space, n, generator))
    differing = torch.randint(low, high + 1, (n, 1), generator=generator, device=generator.device)
    order = torch.rand(first.shape, generator=generator, device=generator.device, dtype=torch.float64)
    order = order + (sizes == 1)  # a factor with one value comes last: it cannot change
    changed = order.argsort(1).argsort(1) < differing
    other = first + 1 + _uniform((sizes - 1).clamp(min=1), n, generator)  # a step of 1 … size − 1 around the circle
    return torch.stack([space.index(first), space.index(torch.where(changed, other % sizes, first))])


def triplets(space: FactorSpace, n: int, generator: torch.Generator, *, by: str = "scaled_l1") -> Tensor:
    """n triplets (anchor, positive, negative), the positive strictly nearer to the anchor: int64 (3, n).

    by : the ground-truth distance that decides, compared in exact integers.
        "scaled_l1" sums |y_i − y'_i| / (f_i − 1) (Eq. 5.11), "l1" sums |y_i − y'_i| (Eq. 5.9), "differing" counts the
        factors that differ (Eq. 5.6).

    All three points are uniform over the grid; triplets whose two distances are equal are drawn again. Source: the
    thesis, Section 5.2. Chapter 18.
    """
    _check(space, n, generator)
    check_choice(ORDERS, by=by)
    share = _untied_share(space, by)
    if share == 0:
        raise ValueError(f"space: {space} has no triplet with two different distances by {by!r}, or too few to draw.")
    draws = int(1.25 * n / share + 64 / share)  # enough untied ones, but for a chance below one in a billion
    anchor, positive, negative = _three(space, draws, generator)
    near, far = (factor_distance(space, anchor, other, by=by) for other in (positive, negative))
    untied_first = (near == far).to(torch.uint8).argsort(stable=True)[:n]
    swapped = near > far
    positive, negative = torch.where(swapped, negative, positive), torch.where(swapped, positive, negative)
    return torch.stack([anchor, positive, negative])[:, untied_first]


def batch_triplets(
    batch_size: int, n: int, generator: torch.Generator, distance: Callable, *, check: bool = True
) -> Tensor:
    """n triplets of places in a batch, ordered by a distance on the observations: int64 (3, n).

    Places run from 0 to batch_size − 1, of at least 2. distance(first, second) gives the distances (n,) of the
    observations at two tensors of places. No ground truth is needed; where the distance is the reconstruction loss,
    this is the thesis' unsupervised sampler (Section 5.5). A tie keeps the order of the draw. check : refuse NaN, for
    which distances have to be looked at: False in a training step, which looks at no values. Chapter 18.
    """
    check_integers(1, MOST, n=n)
    check_integers(2, batch_size=batch_size)
    check_generator(generator)
    anchor, first, second = torch.randint(batch_size, (3, n), generator=generator, device=generator.device)
    check_instance(Callable, "a function of two tensors of places", distance=distance)
    to_first, to_second = (as_tensor(distance(anchor, other), "distance") for other in (first, second))
    if to_first.shape != anchor.shape or to_second.shape != anchor.shape:
        raise ValueError(f"distance: got shape {tuple(to_first.shape)} for {n} pairs; allowed is ({n},), one per pair.")
    if check and (to_first.isnan() | to_second.isnan()).any():
        raise ValueError("distance: got NaN; allowed are numbers that can be compared.")
    swapped = to_first > to_second
    return torch.stack([anchor, torch.where(swapped, second, first), torch.where(swapped, first, second)])


def traversals(space: FactorSpace, factor: int | str, n: int, generator: torch.Generator) -> Tensor:
    """n random traversals along one factor, in that factor's order: int64 (n, f). Source: the thesis, Eq. 3.6.

    Chapter 14.
    """
    _check(space, n, generator)
    place = space.position(factor)
    start = singles(space, n, generator)
    start = start - space.factors(start)[:, place] * space.strides[place]
    return start.unsqueeze(1) + space.strides[place] * torch.arange(space.sizes[place], device=generator.device)


def factor_pairs(
    space: FactorSpace, factor: int | str, n: int, generator: torch.Generator, *, distinct: bool = True
) -> Tensor:
    """n pairs of points on random traversals along one factor: int64 (2, n).

    distinct : True draws two different points (Eq. 3.9 of the thesis). False draws with replacement, so that a share
        1/f of the pairs are a point and itself: the protocol behind the thesis' correlation tables.

    Chapter 14.
    """
    _check(space, n, generator)
    place = space.position(factor)
    size = space.sizes[place]
    if distinct and size < 2:
        raise ValueError(f"factor: {space.names[place]} has one value; distinct pairs need two.")
    points = traversals(space, place, n, generator)
    first = torch.randint(size, (n, 1), generator=generator, device=generator.device)
    step = torch.randint(int(distinct), size, (n, 1), generator=generator, device=generator.device)
    return torch.cat([points.gather(1, first), points.gather(1, (first + step) % size)], dim=1).T


def random_pairs(space: FactorSpace, n: int, generator: torch.Generator, *, batch_size: int | None = None) -> Tensor:
    """n pairs of points anywhere on the grid: int64 (2, n).

    batch_size : None draws both ends independently (Eq. 3.10 of the thesis). A number draws batches of that many points
        and pairs the points of a batch with each other, with replacement: at 32, one pair in 32 is a point and itself.
        That is the protocol behind the "random" rows of the thesis' correlation tables.

    Chapter 14.
    """
    _check(space, n, generator)
    if batch_size is None:
        return torch.stack([singles(space, n, generator) for _ in range(2)])
    check_integers(1, MOST, batch_size=batch_size)
    batches = singles(space, batch_size * -(-n // batch_size), generator).view(-1, batch_size)
    places = torch.randint(batch_size, (2, *batches.shape), generator=generator, device=generator.device)
    return batches.expand(2, -1, -1).gather(2, places).flatten(1)[:, :n]


def factor_distance(space: FactorSpace, first: Tensor, second: Tensor, *, by: str = "l1") -> Tensor:
    """The ground-truth distance of two index tensors (...), in exact integers: int64 (...).

    by : as in `triplets`. "scaled_l1" is multiplied by the least common multiple of all f_i − 1, which makes every term
        an integer: sums of floating-point quotients would see equal distances as different (Section 5.2.4).

    Chapter 14.
    """
    check_instance(FactorSpace, "a FactorSpace, such as data.space", space=space)
    check_choice(ORDERS, by=by)
    difference = (space.factors(first) - space.factors(second)).abs()
    if by == "differing":
        return (difference > 0).sum(-1)
    if by == "scaled_l1":
        difference = difference * _weights(space, difference.device)
    return difference.sum(-1)


def check_range(k) -> tuple[int, int]:
    """The ends of `k`, a number of factors or a range (low, high) of such; a ValueError if it is neither."""
    ends = tuple(k) if isinstance(k, list | tuple) else (k, k)
    if len(ends) != 2:
        raise ValueError(f"k: got {k!r}; allowed are None, a number, or a range (low, high).")
    try:
        low, high = check_integers(0, low=ends[0], high=ends[1])
    except ValueError as error:
        raise ValueError(f"k: got {k!r}; allowed are None, an integer from 0, or a range of such.") from error
    if low > high:
        raise ValueError(f"k: got {k!r}; allowed are None, a number, or a range (low, high).")
    return low, high


def _check(space: FactorSpace, n: int, generator: torch.Generator) -> None:
    check_instance(FactorSpace, "a FactorSpace, such as data.space", space=space)
    check_integers(1, MOST, n=n)
    check_generator(generator)


def scale_of(space: FactorSpace) -> int:
    """What `factor_distance(by="scaled_l1")` has been multiplied by: the least common multiple of all f_i − 1."""
    return lcm(*(size - 1 for size in space.sizes if size > 1))


@cache  # on a GPU, a constant made anew would have to cross over in every step
def _weights(space: FactorSpace, device: torch.device) -> Tensor:
    scale = scale_of(space)
    if scale * sum(size > 1 for size in space.sizes) >= 2**63:
        raise ValueError(f"space: got {space}, whose scaled distances exceed 2⁶³; allowed are 'l1' and 'differing'.")
    return torch.tensor([scale // max(size - 1, 1) for size in space.sizes], device=device)


@cache
def _untied_share(space: FactorSpace, by: str) -> float:
    """The share of random triplets whose two distances differ, at least: from a fixed sample, less its uncertainty."""
    anchor, positive, negative = _three(space, 20_000, torch.Generator().manual_seed(0))
    near, far = (factor_distance(space, anchor, other, by=by) for other in (positive, negative))
    share = (near != far).double().mean().item()
    return max(share - 3 * (share * (1 - share) / 20_000) ** 0.5, share / 2)


def _three(space: FactorSpace, n: int, generator: torch.Generator) -> Tensor:
    return torch.randint(len(space), (3, n), generator=generator, device=generator.device)


def _uniform(sizes: Tensor, n: int, generator: torch.Generator) -> Tensor:
    """int64 (n, F), column i uniform over 0 … sizes[i] − 1 (to one part in 10¹⁶)."""
    draws = torch.randint(2**62, (n, len(sizes)), generator=generator, device=generator.device)
    return draws % sizes
