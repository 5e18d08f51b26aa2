"""The mask of shared latents, 19.1, and the adaptive distance in ℓ2, 19.2: inputs, references and known mistakes.

The references go through rows one by one and write the gradient of the distance out, without `course_lib.losses`.
"""

import torch
from torch import Tensor

from course_grading.exercise import Wrong

# 19.1 -----------------------------------------------------------------------------------------------------------------


def differences(generator: torch.Generator) -> list[list]:
    """Random rows, rows whose values lie on the threshold, equal ones, a single latent, and η near its ends."""
    drawn = [torch.rand(12, 7, generator=generator) + 0.1 for _ in range(3)]
    drawn[0][0] = 0.5  # with η = ¼ the threshold of equal differences is exact, however it is computed
    drawn[1:] = [torch.arange(1, 13).unsqueeze(1) * rows for rows in drawn[1:]]  # pairs of different sizes
    on_it = torch.tensor([[0.0, 2.0, 4.0, 1.0], [1.0, 3.0, 5.0, 3.0], [2.0, 2.0, 2.0, 2.0]])
    ends = [[drawn[2], 0.0], [drawn[2], 0.9], [torch.rand(3, 1, generator=generator), 0.5]]
    return [[drawn[0], 0.25], [drawn[1], 0.75], [on_it, 0.5], [on_it, 0.25], *ends]


def shared(differences: Tensor, strength: float) -> Tensor:
    rows = []
    for row in differences.double():
        tau = row.min() + strength * (row.max() - row.min())
        rows.append([bool(value < tau) for value in row])
    return torch.tensor(rows)


def _ends(differences: Tensor) -> tuple[Tensor, Tensor]:
    return differences.amin(1, keepdim=True), differences.amax(1, keepdim=True)


def _tau(differences: Tensor, strength: float) -> Tensor:
    low, high = _ends(differences)
    return low + strength * (high - low)


SHARED_WRONG = (
    Wrong(
        lambda d, s: d <= _tau(d, 1 - s),
        "both planted faults are still there: η belongs to the largest difference, and the comparison is strict.",
    ),
    Wrong(
        lambda d, s: d <= _tau(d, s),
        "the comparison is not strict: with ≤ the least changed latent is shared even at η = 0, and where all "
        "differences are equal, all of them are.",
    ),
    Wrong(
        lambda d, s: d < _tau(d, 1 - s),
        "η and 1 − η are exchanged: η = 0 is the smallest difference, below which nothing lies.",
    ),
    Wrong(
        lambda d, s: d < d.min() + s * (d.max() - d.min()),
        "the least and the most were taken over the whole batch: each pair has a threshold of its own.",
    ),
    Wrong(
        lambda d, s: d < d.amin(0) + s * (d.amax(0) - d.amin(0)),
        "the least and the most were taken over the batch, latent by latent: they run over the latents of a pair.",
    ),
    Wrong(
        lambda d, s: d < s * _ends(d)[1], "the threshold is a share of the largest difference only: the least counts."
    ),
    Wrong(lambda d, s: d < _tau(d, 0.5), "the threshold is always half-way: use `strength`."),
    Wrong(lambda d, s: d > _tau(d, s), "these are the latents that are *not* shared: shared ones lie below τ."),
    Wrong(
        lambda d, s: d < d.mean(1, keepdim=True),
        "the threshold is the mean of the differences: it lies between the least and the most, as η says.",
    ),
    Wrong(lambda d, s: shared(d, s).float(), "got floats, and the right ones: a mask is boolean."),
)

# 19.2 -----------------------------------------------------------------------------------------------------------------


def code_pairs(generator: torch.Generator) -> list[list]:
    """Codes that are differentiated: random ones, one latent, equal differences, equal codes, the ends of ω and η."""

    def drawn(*shape):
        return [torch.randn(*shape, generator=generator, requires_grad=True) for _ in range(2)]

    zeros, level = torch.zeros(2, 3), torch.tensor([[2.0, -2.0, 2.0], [0.0, 0.0, 0.0]])
    edges = [zeros.clone().requires_grad_(), level.clone().requires_grad_()]
    return [
        [*drawn(5, 7), 0.5, 0.5],
        [*drawn(4, 6), 0.2, 0.3],
        [*drawn(3, 5), 0.0, 0.75],
        [*drawn(3, 4), 1.0, 0.5],
        [*drawn(2, 1), 0.5, 0.5],
        [*edges, 0.5, 0.5],
    ]


class _Written(torch.autograd.Function):
    """The distance with its gradient written out: w² (a − n) / d, and 0 where the codes are equal."""

    @staticmethod
    def forward(context, anchor, negative, squares):
        apart = anchor - negative
        distance = (squares * apart * apart).sum(1) ** 0.5
        context.save_for_backward(squares * apart, distance)
        return distance

    @staticmethod
    def backward(context, cotangent):
        weighted, distance = context.saved_tensors
        slope = torch.where(distance > 0, cotangent / distance.clamp(min=1e-30), 0.0).unsqueeze(1) * weighted
        return slope, -slope, None


def adaptive_distance(anchor: Tensor, negative: Tensor, weight: float, strength: float) -> Tensor:
    mask = shared((anchor - negative).detach().abs(), strength)
    return _Written.apply(anchor, negative, 1 + mask.to(anchor.dtype) * (weight**2 - 1))


def _weights(a, n, weight, strength, guess=None):
    guess = (a - n).detach().abs() if guess is None else guess
    return torch.where(guess < _tau(guess, strength), weight, 1.0)


def _norm(differences):
    return torch.linalg.vector_norm(differences, dim=1)


def _le(a, n, weight, strength):
    guess = (a - n).detach().abs()
    return _norm(torch.where(guess <= _tau(guess, strength), weight, 1.0) * (a - n))


ADAPTIVE_WRONG = (
    Wrong(
        lambda a, n, w, s: (_weights(a, n, w, s) * (a - n)).square().sum(1).sqrt(),
        "the distance is right, and its gradient is NaN where the two codes are equal: √ has an infinite slope at 0. "
        "torch.linalg.vector_norm takes 0 there.",
    ),
    Wrong(
        lambda a, n, w, s: (_weights(a, n, w, s) * (a - n)).abs().sum(1), "this is the distance in ℓ1: ℓ2 is wanted."
    ),
    Wrong(
        lambda a, n, w, s: _norm(_weights(a, n, w, s).sqrt() * (a - n)),
        "the squares were weighted by ω: the *differences* are, and in the square the weight is ω².",
    ),
    Wrong(
        lambda a, n, w, s: (_weights(a, n, w, s) * (a - n)).square().sum(1),
        "the square of the distance: the root is missing.",
    ),
    Wrong(lambda a, n, w, s: _norm(a - n), "nothing is weighted: this is the plain ℓ2 distance."),
    Wrong(
        lambda a, n, w, s: _norm(torch.where(_weights(a, n, 0.0, s) == 0, 0.0, 1.0) * (a - n)),
        "the shared latents were left out, as if averaged: they are weighted by ω, and keep a gradient.",
    ),
    Wrong(
        lambda a, n, w, s: _norm((1 + w - _weights(a, n, w, s)) * (a - n)),
        "the weight went to the latents that are not shared: ω belongs to those below the threshold.",
    ),
    Wrong(
        lambda a, n, w, s: _norm(_weights(a, n, w, s, (a - n).detach()) * (a - n)),
        "δ was taken with its sign: a latent that fell by 3 has changed by 3.",
    ),
    Wrong(
        lambda a, n, w, s: _norm(_weights(a, n, w, s, (a - n).detach().square()) * (a - n)),
        "the mask was taken from *squared* differences, whose middle is another: δ is |a − n|, in ℓ2 as well.",
    ),
    Wrong(_le, "the comparison with τ is not strict: where all latents differ alike, none is shared."),
    Wrong(
        lambda a, n, w, s: _norm(_weights(a, n, w, 1 - s) * (a - n)),
        "η and 1 − η are exchanged in the threshold.",
    ),
    Wrong(
        lambda a, n, w, s: _norm(_weights(a, n, w, s) * (a - n).detach()),
        "the distance is right, but no gradient reaches the codes: detach the mask, not the differences.",
    ),
    Wrong(
        lambda a, n, w, s: _norm(_weights(a, n, w, s) * (a - n)).mean(),
        "averaged over the pairs: one distance for each pair is wanted, (B,).",
    ),
)
