"""The exercise about the matrix of Theorem 1: 08.1. The reference reflects the unit vectors one by one."""

import torch
from torch import Tensor

from course_grading.exercise import Wrong


def mirrors(generator: torch.Generator) -> list[list]:
    """α and the number of latents: a typical one, the smallest, one near each end of α, and random ones."""
    drawn = [[0.02 + 0.46 * torch.rand(1, generator=generator, dtype=torch.float64).item(), dim] for dim in (3, 6)]
    return [[0.2, 4], [0.25, 2], [0.01, 3], [0.49, 9], *drawn]


def mirror(alpha: float, dim: int) -> Tensor:
    """The images of the unit vectors: each less twice its part along v."""
    v = _normal_of(alpha, dim)
    columns = [unit - 2 * (v @ unit) * v for unit in torch.eye(dim, dtype=torch.float64)]
    return torch.stack(columns, dim=1)


def _normal_of(alpha, dim) -> Tensor:
    return torch.tensor([alpha] + [(1 - alpha) / (dim - 1)] * (dim - 1), dtype=torch.float64).sqrt()


def _made(v: Tensor, *, diagonal: float = 2, others: float = 2) -> Tensor:
    """1 − diagonal · v_i² on the diagonal, −others · v_i v_j beside it."""
    products = torch.outer(v, v)
    return torch.where(torch.eye(len(v), dtype=torch.bool), 1 - diagonal * products, -others * products)


def _columns_scaled(alpha, dim):
    printed = _made(_normal_of(alpha, dim), others=1)
    return printed / printed.norm(dim=0)


def _made_orthogonal(alpha, dim):
    """Gram and Schmidt on the printed columns, as torch.linalg.qr does it."""
    return torch.linalg.qr(_made(_normal_of(alpha, dim), others=1))[0]


def _turned_pair(alpha, dim):
    """The mirror of the first two coordinates, and the others as they were."""
    matrix = torch.eye(dim, dtype=torch.float64)
    matrix[:2, :2] = _made(torch.tensor([alpha, 1 - alpha], dtype=torch.float64).sqrt())
    return matrix


ORTHOGONALISED = (
    "this was made orthogonal afterwards, by a procedure: some orthogonal matrix, but not I − 2vvᵀ. Mend the entries."
)


MIRROR_WRONG = (
    Wrong(
        lambda a, d: _made(_normal_of(a, d), others=1),
        "the planted fault is still there. A column of an orthogonal matrix has length 1: multiply I − 2vvᵀ out and "
        "compare with what stands beside the diagonal.",
    ),
    Wrong(
        lambda a, d: _made(_normal_of(a, d), diagonal=1, others=1),
        "this is I − vvᵀ, which flattens everything onto the mirror: a reflection goes as far again, 2vvᵀ.",
    ),
    Wrong(
        lambda a, d: _made(_normal_of(a, d), diagonal=1),
        "the diagonal was changed, and it was right: 1 − 2v_i².",
    ),
    Wrong(
        lambda a, d: -_made(_normal_of(a, d)),
        "every sign is turned round: this is 2vvᵀ − I, which keeps v and reverses all else. It is orthogonal, and not "
        "the matrix of the proof.",
    ),
    Wrong(
        lambda a, d: _made(_normal_of(a, d), others=-2),
        "what stands beside the diagonal has the wrong sign: it is minus twice the product.",
    ),
    Wrong(
        lambda a, d: _made(_normal_of(a, d), others=4),
        "the products beside the diagonal are doubled twice.",
    ),
    Wrong(
        _columns_scaled,
        "every column has length 1 now, because it was divided by its length; but two columns are not perpendicular. "
        "Mend the entries instead.",
    ),
    Wrong(_made_orthogonal, ORTHOGONALISED),
    Wrong(lambda a, d: -_made_orthogonal(a, d), ORTHOGONALISED),
    Wrong(
        _turned_pair,
        "only two latents are mixed: the matrix is orthogonal, but its zeros leave the other latents alone.",
    ),
    Wrong(
        lambda a, d: _made(_normal_of(a, d).square()),
        "the roots were lost: v_1 is √α, so that v has length 1.",
    ),
    Wrong(
        lambda a, d: _made(torch.tensor([a] + [1 - a] * (d - 1), dtype=torch.float64).sqrt()),
        "v is too long: the share 1 − α is divided among the D − 1 other entries.",
    ),
    Wrong(
        lambda a, d: _made(torch.tensor([a] + [(1 - a) / d] * (d - 1), dtype=torch.float64).sqrt()),
        "v is too short: 1 − α is divided among D − 1 entries, not D.",
    ),
)
