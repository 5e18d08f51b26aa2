"""Where rays meet simple solids that stand upright on the floor z = 0, centred on the z axis.

A ray is `origin + t · direction`; origins are float64 (3,) or (N, 3), directions float64 (N, 3) of length 1. Every
solid answers with the distance t at which each ray enters it, (N,), inf for a ray that misses, and the outward unit
normal there, (N, 3), which means nothing for a ray that misses. A ray that starts inside enters at 0.
"""

import torch
from torch import Tensor

UP = torch.tensor([0.0, 0.0, 1.0], dtype=torch.float64)
LEVEL = torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64)


def box(origin: Tensor, direction: Tensor, half_side: float, height: float) -> tuple[Tensor, Tensor]:
    """A square block with its sides along the x and y axes."""
    low = torch.tensor([-half_side, -half_side, 0], dtype=torch.float64)
    high = torch.tensor([half_side, half_side, height], dtype=torch.float64)
    first, last = _between(origin, direction, low, high)
    enter, axis = first.max(-1)
    normal = -direction.sign() * torch.nn.functional.one_hot(axis, 3)
    return _entry(enter, last.amin(-1)), normal


def cylinder(origin: Tensor, direction: Tensor, radius: float, height: float) -> tuple[Tensor, Tensor]:
    """A round block: the part of an endless tube between two levels."""
    first, last = _tube(origin, direction, radius)
    bottom, top = _between(origin[..., 2], direction[..., 2], 0.0, height)
    enter = torch.maximum(first, bottom)
    lid = -direction.sign() * UP
    side = (origin + enter.unsqueeze(-1) * direction) * LEVEL / radius
    return _entry(enter, torch.minimum(last, top)), torch.where((bottom > first).unsqueeze(-1), lid, side)


def sphere(origin: Tensor, direction: Tensor, radius: float) -> tuple[Tensor, Tensor]:
    """A ball that touches the floor."""
    enter = _entry(*_ball(origin, direction, radius, radius))
    return enter, (origin + enter.unsqueeze(-1) * direction - radius * UP) / radius


def capsule(origin: Tensor, direction: Tensor, radius: float, height: float) -> tuple[Tensor, Tensor]:
    """A cylinder between two half spheres; `height` is that of the whole."""
    low, high = radius, height - radius
    enters = [_entry(*_ball(origin, direction, level, radius)) for level in (low, high)]
    side = _entry(*_tube(origin, direction, radius))
    level = origin[..., 2] + side * direction[..., 2]
    enters.append(torch.where((level >= low) & (level <= high), side, torch.inf))
    enter = torch.stack(enters).amin(0)
    point = origin + enter.unsqueeze(-1) * direction
    return enter, (point - point[..., 2:].clamp(low, high) * UP) / radius


def dot(a: Tensor, b: Tensor) -> Tensor:
    """The inner products of vectors, (..., 3) each; several times faster than summing so short an axis."""
    return a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1] + a[..., 2] * b[..., 2]


def _between(origin: Tensor, direction: Tensor, low, high) -> tuple[Tensor, Tensor]:
    """Where each coordinate enters and leaves the interval from `low` to `high`."""
    at_low, at_high = (low - origin) / direction, (high - origin) / direction
    return torch.minimum(at_low, at_high), torch.maximum(at_low, at_high)


def _ball(origin: Tensor, direction: Tensor, level: float, radius: float) -> tuple[Tensor, Tensor]:
    """Where a ray enters and leaves the ball of this radius around (0, 0, level)."""
    offset = origin - level * UP
    return _roots(torch.ones(()), dot(offset, direction), dot(offset, offset) - radius**2)


def _tube(origin: Tensor, direction: Tensor, radius: float) -> tuple[Tensor, Tensor]:
    """Where a ray enters and leaves the endless tube of this radius around the z axis."""
    offset, slope = origin * LEVEL, direction * LEVEL
    return _roots(dot(slope, slope), dot(offset, slope), dot(offset, offset) - radius**2)


def _roots(a: Tensor, b: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """Both roots of a t² + 2 b t + c = 0, smaller first; NaN where there are none."""
    root = (b * b - a * c).sqrt()
    return (-b - root) / a, (-b + root) / a


def _entry(first: Tensor, last: Tensor) -> Tensor:
    """The distance at which a ray enters, given the interval that is inside; inf where that is empty or behind."""
    return torch.where((first < last) & (last > 0), first.clamp(min=0), torch.inf)
