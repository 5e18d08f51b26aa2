"""Chapter 12, symmetry: codes and the definition, parts from transitions, a walk, a connection, factors, survivors."""

import math

import numpy as np
import torch
from scipy.linalg import polar
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from course_grading.answers import numbers, words
from course_grading.exercise import Function, either

# 12.1 -----------------------------------------------------------------------------------------------------------------

JUDGED = {
    "halved": "no action", "thirds": "disentangled", "offset": "mixed", "warm": "no action", "parity": "disentangled",
    "averages": "disentangled", "twice": "mixed", "constant": "disentangled",
}  # fmt: skip
WORDS = ("disentangled", "mixed", "no action")
JUDGED_MISTAKES = {
    "halved: places 0 and 1 have the same code, and after a press they have not: no table says where it goes.":
        either("disentangled", "mixed"),
    "thirds: it forgets, but in step: places that look alike look alike after a press, too. Forgetting is allowed.":
        either("no action", "mixed"),
    "offset: the place button changes the second part.": either("disentangled", "no action"),
    "warm: hues 0 and 2 are both warm, and after a press only one is.": either("disentangled", "mixed"),
    "parity: even hues become odd and odd ones even, so a table of two rows is an action.":
        either("no action", "mixed"),
    "averages: the other button moves a picture within its own average, so it changes nothing.":
        either("mixed", "no action"),
    "twice: each part is the whole picture, which either button changes.": either("disentangled", "no action"),
    "constant: no button changes it, and equal codes go to equal ones. The definition asks for no information.":
        either("no action", "mixed"),
}  # fmt: skip

# 12.2 -----------------------------------------------------------------------------------------------------------------


def buttons(generator: torch.Generator) -> list[list[Tensor]]:
    """Worlds whose states are in a random order: a table of 3 × 4, one of 5 × 1, and two tables in one world."""
    cases = []
    for tables in (((3, 4),), ((5, 1),), ((2, 3), (4, 2))):
        first, second, start = [], [], 0
        for rows, columns in tables:
            states = start + torch.arange(rows * columns).view(rows, columns)
            first.append(states.roll(-1, 0).flatten())
            second.append(states.roll(-1, 1).flatten())
            start += rows * columns
        order = torch.randperm(start, generator=generator)
        presses = [order[torch.cat(press)][order.argsort()] for press in (first, second)]
        cases.append([torch.rand(start, 5, generator=generator, dtype=torch.float64), *presses])
    return cases


def _walked(pictures: Tensor, press: Tensor, presses: int | None = None, own: bool = True, again: bool = False):
    """Averages over what pressing makes of each picture, once around or for a number of presses."""
    found = []
    for state in range(len(pictures)):
        seen, now = [state], int(press[state])
        while len(seen) <= presses if presses is not None else now != state:
            seen.append(now)
            now = int(press[now])
        seen = [*seen, state] if again else seen
        found.append(pictures[seen if own or len(seen) == 1 else seen[1:]].mean(0))
    return torch.stack(found)


def parts(pictures: Tensor, first: Tensor, second: Tensor) -> Tensor:
    return torch.stack([_walked(pictures, second), _walked(pictures, first)], 1)


def _both(pictures, first, second):
    return _walked(_walked(pictures, first), second)


def _orbit_sizes(press):
    labels = connected_components(np.eye(len(press))[press.numpy()])[1]
    return torch.from_numpy(np.bincount(labels)[labels]).double().unsqueeze(1)


def _as_state_0(pictures, press):
    return _walked(pictures, press, presses=int(_orbit_sizes(press)[0]) - 1)


def _varied(**changes):
    return lambda x, first, second: torch.stack([_walked(x, second, **changes), _walked(x, first, **changes)], 1)


PARTS_MISTAKES = {
    "the two parts are exchanged: the part of the first button is averaged over what the *second* does.":
        lambda x, first, second: parts(x, first, second).flip(1),
    "both parts were averaged over what both buttons do: nothing that could move is left.":
        lambda x, first, second: torch.stack([_both(x, first, second)] * 2, 1),
    "only one press was looked at: go on until the button has led back.": _varied(presses=1),
    "six presses were averaged, whatever the button: some orbits are shorter or longer than those of the chapter.":
        _varied(presses=5),
    "one number of presses was used for all states, that of state 0: each state has an orbit of its own.":
        lambda x, first, second: torch.stack([_as_state_0(x, second), _as_state_0(x, first)], 1),
    "the first picture was counted twice: stop before the button has led back.": _varied(again=True),
    "the picture itself was left out of the average.": _varied(own=False),
    "this is the sum over the orbit: divide by the number of states in it.":
        lambda x, first, second: parts(x, first, second) * torch.stack([_orbit_sizes(second), _orbit_sizes(first)], 1),
    "this is what the average leaves of the picture: the average is the part.":
        lambda x, first, second: x.unsqueeze(1) - parts(x, first, second),
    "the average over all states was taken off: the part is the average itself.":
        lambda x, first, second: parts(x, first, second) - x.mean(0),
}  # fmt: skip


def _by_pieces(pictures, first, second):
    """Orbits as the connected pieces of a graph."""
    found = []
    for press in (second, first):
        labels = torch.from_numpy(connected_components(np.eye(len(press))[press.numpy()])[1]).long()
        member = torch.nn.functional.one_hot(labels).double()
        found.append(member @ (member.T @ pictures / member.sum(0).unsqueeze(1)))
    return torch.stack(found, 1)


def _by_powers(pictures, first, second):
    """As many presses as lead every state back."""
    found = []
    for press in (second, first):
        now, total, count = press.clone(), pictures.clone(), 1
        while not torch.equal(now, torch.arange(len(press))):
            total, now, count = total + pictures[now], press[now], count + 1
        found.append(total / count)
    return torch.stack(found, 1)


def _by_matrices(pictures, first, second):
    """Presses as permutation matrices, and the mean of as many powers as there can be states in any orbit."""
    found = []
    for press in (second, first):
        matrix, power = torch.eye(len(press), dtype=torch.float64)[press], torch.eye(len(press), dtype=torch.float64)
        total, count = power.clone(), 1
        while not torch.equal(power := power @ matrix, torch.eye(len(press), dtype=torch.float64)):
            total, count = total + power, count + 1
        found.append(total @ pictures / count)
    return torch.stack(found, 1)


PARTS_RIGHT = (_by_pieces, _by_powers, _by_matrices)

# 12.3 -----------------------------------------------------------------------------------------------------------------


def walks(generator: torch.Generator) -> list[list[Tensor]]:
    """Polygons around a place, convex and not, either way round; the last ones enclose more than half of the sphere."""
    cases = []
    for corners, reach, least in ((3, 0.8, 0.6), (4, 1.1, 0.6), (6, 1.2, 0.6), (5, 1.3, 0.6), (5, 1.4, 0.9)):
        draws = torch.rand(12, corners, generator=generator, dtype=torch.float64)
        angles = (torch.arange(corners) + 0.6 * draws) * 2 * math.pi / corners
        away = reach * (least + (1 - least) * torch.rand(12, corners, generator=generator, dtype=torch.float64))
        angles = torch.where(torch.arange(12)[:, None] % 2 == 0, angles, -angles)
        flat = torch.stack([away.sin() * angles.cos(), away.sin() * angles.sin(), away.cos()], 2)
        turn = torch.linalg.qr(torch.randn(12, 3, 3, generator=generator, dtype=torch.float64))[0]
        turn = turn * torch.linalg.det(turn)[:, None, None]  # no mirrors
        corners = flat @ turn.mT
        cases.append([corners[turn_of(corners).abs() < 3]])  # near half a turn the sign is for rounding to say
    return cases


def _wrapped(angle: Tensor) -> Tensor:
    return torch.atan2(angle.sin(), angle.cos())


def _carried(corners: Tensor, close: bool = True) -> Tensor:
    """By carrying: from corner to corner by the rotation about their cross product."""
    start = corners[:, 1] - (corners[:, 1] * corners[:, 0]).sum(1, keepdim=True) * corners[:, 0]
    start = start / start.norm(dim=1, keepdim=True)
    arrow, path = start, [*corners.unbind(1), *([corners[:, 0]] if close else [])]
    for here, there in zip(path, path[1:], strict=False):
        middle = here + there  # two mirrors make a rotation: first one that turns `here` round, then in the middle
        for normal in (here, middle):
            arrow = arrow - 2 * (arrow * normal).sum(1, keepdim=True) * normal / normal.square().sum(1, keepdim=True)
    side = torch.linalg.cross(corners[:, 0], start)
    return torch.atan2((arrow * side).sum(1), (arrow * start).sum(1))


def turn_of(corners: Tensor) -> Tensor:
    return _carried(corners)


def _area(corners: Tensor) -> Tensor:
    total, a = 0, corners[:, 0]
    for b, c in zip(corners[:, 1:-1].unbind(1), corners[:, 2:].unbind(1), strict=True):
        volume = (a * torch.linalg.cross(b, c)).sum(1)
        total = total + 2 * torch.atan2(volume, 1 + (a * b).sum(1) + (b * c).sum(1) + (c * a).sum(1))
    return total


def _outer_angles(corners: Tensor) -> Tensor:
    """The sum of the signed angles by which the walker turns at the corners."""
    before, after = corners.roll(1, 1), corners.roll(-1, 1)
    ahead = after - (after * corners).sum(2, keepdim=True) * corners
    came = (before * corners).sum(2, keepdim=True) * corners - before
    return torch.atan2((torch.linalg.cross(came, ahead) * corners).sum(2), (came * ahead).sum(2)).sum(1)


def _by_small_steps(corners):
    """As in the chapter: take the arrow along, drop what sticks out, and give it back its length."""
    closed = torch.cat([corners, corners[:, :1]], 1)
    start = torch.linalg.cross(corners[:, 0], corners[:, 1])
    arrow = start = start / start.norm(dim=1, keepdim=True)
    for here, there in zip(closed.unbind(1), closed.unbind(1)[1:], strict=False):
        for share in torch.linspace(0, 1, 60, dtype=corners.dtype)[1:]:
            point = (1 - share) * here + share * there
            point = point / point.norm(dim=1, keepdim=True)
            arrow = arrow - (arrow * point).sum(1, keepdim=True) * point
            arrow = arrow / arrow.norm(dim=1, keepdim=True)
    side = torch.linalg.cross(corners[:, 0], start)
    return torch.atan2((arrow * side).sum(1), (arrow * start).sum(1))


TURN_MISTAKES = {
    "the sign is lost: the other way round the arrow turns the other way.": lambda c: turn_of(c).abs(),
    "the sign is the other one: counter-clockwise is positive, seen from outside.": lambda c: -turn_of(c),
    "the walk was not closed: it goes from the last corner back to the first.": lambda c: _carried(c, close=False),
    "this is in degrees: expected radians.": lambda c: turn_of(c) * 180 / math.pi,
    "this is half of it: the angle of a triangle is 2·atan2(…).": lambda c: turn_of(c) / 2,
    "this is the share of the sphere that is enclosed: the turn is the area, 4π times that.":
        lambda c: turn_of(c) / (4 * math.pi),
    "only the first triangle was walked around: a polygon has more corners.":
        lambda c: turn_of(c[:, :3]) if c.shape[1] > 3 else turn_of(c) + 0.0 * c.sum(),
    "the angle is not between −π and π: whole turns do not show in an arrow.":
        either(lambda c: torch.where(turn_of(c) < 0, turn_of(c) + 2 * math.pi, turn_of(c)), _area),
    "these are the angles by which the walker turned at the corners: the arrow turns by what they lack of a full turn.":
        _outer_angles,
    "nearly: each small step shortens what points ahead a little, and nothing of what points sideways. Turn the arrow"
    " exactly, or compute an area.":
        _by_small_steps,
    "this is the flat area of the polygon between the corners: the sphere bulges.":
        lambda c: (torch.linalg.cross(c - c[:, :1], c.roll(-1, 1) - c[:, :1]).sum(1) / 2 * c.sum(1)).sum(1)
        / c.sum(1).norm(dim=1),
}  # fmt: skip


def _by_axes(corners):
    """Rotations about cross products, by Rodrigues' formula, as one matrix for the whole walk."""
    whole = torch.eye(3, dtype=corners.dtype).expand(len(corners), 3, 3)
    for here, there in zip(corners.unbind(1), corners.roll(-1, 1).unbind(1), strict=True):
        cross = torch.zeros(len(corners), 3, 3, dtype=corners.dtype)
        x, y, z = torch.linalg.cross(here, there).unbind(1)
        cross[:, 2, 1], cross[:, 0, 2], cross[:, 1, 0] = x, y, z
        cross = cross - cross.mT
        cosine = (here * there).sum(1)[:, None, None]
        whole = (torch.eye(3, dtype=corners.dtype) + cross + cross @ cross / (1 + cosine)) @ whole
    sine = (torch.linalg.cross(corners[:, 1], (whole @ corners[:, 1:2].mT)[..., 0]) * corners[:, 0]).sum(1)
    return torch.atan2(
        sine,
        (corners[:, 1] * (whole @ corners[:, 1:2].mT)[..., 0]).sum(1) - (corners[:, 0] * corners[:, 1]).sum(1) ** 2,
    )


TURN_RIGHT = (lambda c: _wrapped(_area(c)), lambda c: _wrapped(-_outer_angles(c)), _by_axes)

# 12.4 -----------------------------------------------------------------------------------------------------------------


def planes(generator: torch.Generator) -> list[list[Tensor]]:
    """Tangent spaces that are near to each other, in bases that are not, mirrored ones among them."""
    cases = []
    for points, size, dim in ((6, 5, 3), (8, 7, 2), (5, 4, 4)):
        near = torch.randn(size, dim, generator=generator, dtype=torch.float64)
        near = near + 0.3 * torch.randn(points, size, dim, generator=generator, dtype=torch.float64)
        bases = torch.linalg.qr(near)[0]
        turn = torch.linalg.qr(torch.randn(points, dim, dim, generator=generator, dtype=torch.float64))[0]
        turn[::2, :, 0] *= torch.linalg.det(turn[::2]).sign().unsqueeze(1)
        turn[1::2, :, 0] *= -torch.linalg.det(turn[1::2]).sign().unsqueeze(1)
        i, j = torch.triu_indices(points, points, 1)
        cases.append([bases @ turn, i, j])
    return cases


def connection(tangents: Tensor, i: Tensor, j: Tensor) -> Tensor:
    product = (tangents[i].mT @ tangents[j]).numpy()
    return torch.from_numpy(np.stack([polar(matrix)[0] for matrix in product]))


def _svd(tangents, i, j):
    return torch.linalg.svd(tangents[i].mT @ tangents[j])


def _proper(tangents, i, j):
    left, _, right = _svd(tangents, i, j)
    left[..., -1] *= torch.linalg.det(left @ right).sign().unsqueeze(1)
    return left @ right


def _unit_columns(tangents, i, j):
    product = tangents[i].mT @ tangents[j]
    return product / product.norm(dim=1, keepdim=True)


CONNECTION_MISTAKES = {
    "this carries from i to j: coordinates at j are to become coordinates at i.":
        lambda u, i, j: connection(u, i, j).mT,
    "the product of the bases is no rotation: it shortens what sticks out. Take the nearest orthogonal matrix.":
        lambda u, i, j: u[i].mT @ u[j],
    "torch.linalg.svd returns Vᵀ already: it was transposed once more.":
        lambda u, i, j: _svd(u, i, j)[0] @ _svd(u, i, j)[2].mT,
    "the stretches belong to the product: the orthogonal matrix leaves them out.":
        lambda u, i, j: _svd(u, i, j)[0] @ torch.diag_embed(_svd(u, i, j)[1].square()) @ _svd(u, i, j)[2],
    "mirror images were made into rotations: bases may be mirrored, and then the determinant is −1.": _proper,
    "columns of length 1 need not be perpendicular: take the nearest orthogonal matrix.": _unit_columns,
    "Gram and Schmidt keep the first column's direction: the nearest orthogonal matrix favours none. Take the SVD.":
        lambda u, i, j: torch.linalg.qr(u[i].mT @ u[j])[0],
    "this takes coordinates at a point to themselves: expected two different tangent spaces.":
        lambda u, i, j: u[i].mT @ u[i],
    "this is the projection onto coordinates of the surrounding space: expected k × k matrices.":
        lambda u, i, j: u[i] @ u[j].mT,
}  # fmt: skip


def _by_root(tangents, i, j):
    """A (AᵀA)^(−½), by eigenvalues."""
    product = tangents[i].mT @ tangents[j]
    values, vectors = torch.linalg.eigh(product.mT @ product)
    return product @ vectors @ torch.diag_embed(values.rsqrt()) @ vectors.mT


def _by_newton(tangents, i, j):
    found = tangents[i].mT @ tangents[j]
    for _ in range(60):
        found = (found + torch.linalg.inv(found).mT) / 2
    return found


CONNECTION_RIGHT = (_by_root, _by_newton, lambda u, i, j: _svd(u, i, j)[0] @ _svd(u, i, j)[2])

# 12.5 -----------------------------------------------------------------------------------------------------------------


def _orthogonal(size: int, count: int, generator: torch.Generator) -> Tensor:
    turns = torch.linalg.qr(torch.randn(count, size, size, generator=generator, dtype=torch.float64))[0]
    return turns * torch.cat([torch.linalg.det(turns)[:, None, None], torch.ones(count, 1, size - 1)], 2)


def bundles(sizes: tuple[tuple[int, ...], ...], generator: torch.Generator, count: int = 6) -> list[list[Tensor]]:
    """Loops on products whose factors have these sizes, in a basis at random. 1 is the flat factor."""
    cases = []
    for dims in sizes:
        loops = torch.stack(
            [
                torch.block_diag(
                    *(_orthogonal(dim, 1, generator)[0] if dim > 1 else torch.eye(1).double() for dim in dims)
                )
                for _ in range(count)
            ]
        )
        basis = torch.linalg.qr(torch.randn(sum(dims), sum(dims), generator=generator, dtype=torch.float64))[0]
        cases.append([basis @ loops @ basis.T])
    return cases


def loops(generator: torch.Generator) -> list[list[Tensor]]:
    return bundles(((3, 1, 2), (2, 2), (3,), (2, 1), (4, 2, 2)), generator)


def factor_sizes(loops: Tensor) -> Tensor:
    """By what a matrix at random becomes on average when it is carried around very many of the loops, and back: its
    axes, joined where a loop takes one to another."""
    size = loops.shape[1]
    average = torch.stack([torch.kron(loop, loop) for loop in loops]).mean(0)
    average = (average + average.T) / 4 + torch.eye(size**2, dtype=loops.dtype) / 2
    for _ in range(16):
        average = average @ average  # 65,536 loops
    field = torch.randn(size, size, generator=torch.Generator().manual_seed(3), dtype=loops.dtype)
    field = (average @ (field + field.T).flatten()).view(size, size)
    return _joined(torch.linalg.eigh((field + field.T) / 2)[1], loops)


def _joined(axes: Tensor, loops: Tensor) -> Tensor:
    reached = (axes.T @ loops @ axes).abs().amax(0) > 1e-6
    return torch.from_numpy(np.sort(np.bincount(connected_components(reached.numpy())[1])))


def _runs(entries: Tensor) -> Tensor:
    ends = (entries.diff() > 1e-5).nonzero().flatten() + 1
    return torch.tensor([len(part) for part in torch.tensor_split(entries, ends.tolist())]).sort().values


def _null(loops: Tensor, symmetric: bool = True) -> Tensor:
    """A basis (r, k, k) of the matrices that all loops leave alone."""
    size = loops.shape[1]
    eye = torch.eye(size, dtype=loops.dtype)
    rows = [torch.kron(loop, loop) - torch.eye(size**2, dtype=loops.dtype) for loop in loops]
    if symmetric:
        swap = torch.einsum("ad,bc->abcd", eye, eye).reshape(size**2, size**2)
        rows.append(swap - torch.eye(size**2, dtype=loops.dtype))
    _, values, vectors = torch.linalg.svd(torch.cat(rows))
    return vectors[values < 1e-8].view(-1, size, size)


def _by_null_space(loops: Tensor) -> Tensor:
    left = _null(loops)
    weights = torch.randn(len(left), dtype=loops.dtype, generator=torch.Generator().manual_seed(1))
    return _runs(torch.linalg.eigvalsh(torch.einsum("r,rkl->kl", weights, left)))


def _still(loops: Tensor) -> int:
    """How many dimensions of arrows all loops leave alone."""
    stacked = torch.cat([loop - torch.eye(loop.shape[0], dtype=loop.dtype) for loop in loops])
    return int((torch.linalg.svdvals(stacked) < 1e-8).sum())


SIZES_MISTAKES = {
    "only the first loop was used: one rotation leaves its own axis alone, and more.":
        lambda loops: _by_null_space(loops[:1]),
    "the order is descending: expected ascending.": lambda loops: factor_sizes(loops).flip(0),
    "every axis was taken for a factor of its own: expected the sizes of the factors.":
        lambda loops: torch.ones(loops.shape[1], dtype=torch.int64),
    "everything was put into one factor: these loops leave more than the identity alone.":
        lambda loops: torch.tensor([loops.shape[1]]),
    "this is the number of factors: expected their dimensions.": lambda loops: torch.tensor(len(factor_sizes(loops))),
    "only arrows that survive were looked at: the flat factor has some, curved ones have planes that survive.":
        lambda loops: torch.tensor([_still(loops), loops.shape[1] - _still(loops)]),
    "matrices that are not symmetric were counted as well: quarter turns in planes survive too, and split nothing.":
        lambda loops: torch.ones(len(_null(loops, symmetric=False)), dtype=torch.int64),
    "factors of equal size were counted once.": lambda loops: factor_sizes(loops).unique(),
    "got torch.float64, and the right numbers: dimensions are counted; expected int64.":
        lambda loops: factor_sizes(loops).double(),
}  # fmt: skip


def _by_distinct_values(loops):
    left = _null(loops)
    values = torch.linalg.eigvalsh(sum(weight * each for weight, each in enumerate(left, 1)))
    return torch.tensor(sorted(int((values - value).abs().lt(1e-6).sum()) for value in _centres(values)))


def _centres(values: Tensor) -> list[float]:
    return [
        values[0].item(),
        *(high.item() for low, high in zip(values, values[1:], strict=False) if high - low > 1e-6),
    ]


def _by_union(loops):
    left = _null(loops)
    weights = torch.randn(len(left), dtype=loops.dtype, generator=torch.Generator().manual_seed(2))
    return _joined(torch.linalg.eigh(torch.einsum("r,rkl->kl", weights, left))[1], loops)


SIZES_RIGHT = (_by_null_space, _by_distinct_values, _by_union)

# 12.6 -----------------------------------------------------------------------------------------------------------------

SURVIVING = {
    "spheres": 1, "sphere-circle": 1, "torus": 2, "sphere-torus": 3, "three-torus": 5, "three-sphere": 0, "cone": 0,
    "klein": 1,
}  # fmt: skip
SURVIVING_MISTAKES = {
    "spheres: two projections survive, and one combination of them is the identity, whose trace is not 0.": 2,
    "sphere-circle: one flat factor brings one symmetric matrix, as a curved one does: 1 + 1, less the identity.":
        either(0, 2),
    "torus: nothing turns, so all three symmetric matrices survive, of which two have trace 0.": either(1, 3),
    "sphere-torus: the two circles are one flat piece, with three symmetric matrices: 1 + 3, less the identity.":
        either(2, 4),
    "three-torus: all six symmetric matrices of a flat space of three dimensions survive, less the identity.":
        either(2, 6),
    "three-sphere: only multiples of the identity commute with all rotations, and their trace is not 0.": 1,
    "cone: flat, but the loop around the tip turns ellipses by 120°. Only circles come back as they left.":
        either(1, 2),
    "klein: diag(−1, 1) keeps diagonal matrices, and of these one has trace 0; the third symmetric one is lost.":
        either(0, 2),
}  # fmt: skip

# ----------------------------------------------------------------------------------------------------------------------

EXERCISES = {
    "12.1": words(JUDGED, WORDS, JUDGED_MISTAKES, praise="right: it is about moving together, and not about knowing."),
    "12.2": Function(reference=parts, cases=buttons, mistakes=PARTS_MISTAKES, also_right=PARTS_RIGHT),
    "12.3": Function(reference=turn_of, cases=walks, mistakes=TURN_MISTAKES, also_right=TURN_RIGHT),
    "12.4": Function(reference=connection, cases=planes, mistakes=CONNECTION_MISTAKES, also_right=CONNECTION_RIGHT),
    "12.5": Function(reference=factor_sizes, cases=loops, mistakes=SIZES_MISTAKES, also_right=SIZES_RIGHT),
    "12.6": numbers(
        SURVIVING,
        SURVIVING_MISTAKES,
        tolerance=0.1,
        praise="right: loops decide, and they may do so on flat paper too.",
    ),
}
