"""The loss over all triplets of a batch, 18.1: its cases, what is right, and the mistakes that people make.

The reference looks at one triplet after the other, in a loop.
"""

import torch
from torch import Tensor
from torch.nn.functional import softplus

from course_grading.exercise import Wrong


def batches(generator: torch.Generator) -> list[list]:
    """Codes that ask for a gradient, the distances that were told, and a margin or None.

    In each batch two images are told to be 0 apart. One has no triplet at all, and one codes so far apart that e to
    their distance is infinite.
    """
    cases = []
    for size, latents, margin, scale in ((6, 3, 1.0, 1), (5, 1, 4.0, 1), (7, 4, None, 1), (6, 2, None, 5_000)):
        codes = scale * torch.randn(size, latents, generator=generator, dtype=torch.float64)
        factors = torch.randint(4, (size, 2), generator=generator)  # so few values that many distances are ties
        factors[1] = factors[0]
        truth = (factors.unsqueeze(1) - factors).abs().sum(2)
        cases.append([codes.requires_grad_(), truth, margin])
    alike = torch.randn(3, 2, generator=generator, dtype=torch.float64).requires_grad_()
    return [*cases, [alike, 1 - torch.eye(3, dtype=torch.int64), 1.0]]


def batch_triplet_loss(codes: Tensor, truth: Tensor, margin: float | None) -> Tensor:
    """The mean over all triplets of three different images whose told distances differ; 0 without any."""
    found = [_loss(near, far, margin) for near, far in _pairs(codes, truth)]
    return torch.stack(found).mean() if found else 0 * codes.sum()


def _pairs(codes, truth, norm=1, ties=False, itself=False, swapped=False, zeros=True):
    """The anchor's distances to positive and negative, of every triplet."""
    size, found = len(codes), []
    distance = torch.linalg.vector_norm(codes.unsqueeze(1) - codes, norm, dim=2)
    for anchor in range(size):
        for positive in range(size):
            for negative in range(size):
                near, far = truth[anchor, positive].item(), truth[anchor, negative].item()
                different = positive != negative and negative != anchor and (itself or positive != anchor)
                if different and (zeros or near > 0) and (near < far or (ties and near == far)):
                    pair = distance[anchor, positive], distance[anchor, negative]
                    found.append(pair[::-1] if swapped else pair)
    return found


def _mean(loss, **options):
    """The wrong answer that puts another loss in the place of the right one, or takes other triplets."""

    def wrong(codes, truth, margin):
        found = [loss(near, far, margin) for near, far in _pairs(codes, truth, **options)]
        return torch.stack(found).mean() if found else 0 * codes.sum()

    return wrong


def _loss(near, far, margin):
    return softplus(near - far) if margin is None else (margin + near - far).clamp(min=0)


def _hard(loss):
    """The loss with a mistake in its hard form only."""
    return lambda near, far, margin: _loss(near, far, margin) if margin is None else loss(near, far, margin)


def _soft(loss):
    """The loss with a mistake in its soft form only."""
    return lambda near, far, margin: loss(near, far) if margin is None else _loss(near, far, margin)


def _over_cube(codes, truth, margin):
    return _total(codes, truth, margin) / len(codes) ** 3


def _total(codes, truth, margin):
    return sum((_loss(near, far, margin) for near, far in _pairs(codes, truth)), 0 * codes.sum())


def _over_active(codes, truth, margin):
    found = [_loss(near, far, margin) for near, far in _pairs(codes, truth)]
    active = [loss for loss in found if loss > 0]
    return torch.stack(active).mean() if active else 0 * codes.sum()


def _nan_without(codes, truth, margin):
    found = [_loss(near, far, margin) for near, far in _pairs(codes, truth)]
    return torch.stack(found).mean() if found else float("nan") * codes.sum()


BATCH_WRONG = (
    Wrong(
        _mean(_loss, itself=True),
        "the anchor counts as its own positive: it is at distance 0 from itself, nearer than anything. A triplet is of "
        "three different images.",
    ),
    Wrong(
        _mean(_loss, ties=True), "ties are among the triplets: told distances that are equal are no order (<, not ≤)."
    ),
    Wrong(_mean(_loss, swapped=True), "positive and negative are exchanged: the positive is the nearer one, as told."),
    Wrong(_mean(_loss, norm=2), "the codes were compared in ℓ2: ℓ1 is wanted, the sum of absolute differences."),
    Wrong(
        _mean(_hard(lambda near, far, margin: (near - far).clamp(min=0))),
        "the margin is missing: max(0, margin + d_p − d_n).",
    ),
    Wrong(
        _mean(_hard(lambda near, far, margin: (near - far - margin).clamp(min=0))),
        "the margin was subtracted, which lets the negative be nearer by that much: it is added.",
    ),
    Wrong(
        _mean(_hard(lambda near, far, margin: margin + near - far)),
        "nothing stops at 0: a triplet that is settled has to cost nothing, not less than nothing.",
    ),
    Wrong(
        _mean(_hard(lambda near, far, margin: softplus(near - far))),
        "this is the soft loss: with a margin that is a number, the hard one is wanted.",
    ),
    Wrong(
        _mean(_soft(lambda near, far: (near - far).clamp(min=0))),
        "None was taken for a margin of 0: without a margin the soft loss is wanted, ln(1 + exp(d_p − d_n)).",
    ),
    Wrong(
        _mean(_soft(lambda near, far: (1 + (near - far).exp()).log())),
        "the soft loss overflows: where d_p − d_n is large, exp of it is infinite. It is about d_p − d_n there; see "
        "torch.nn.functional.softplus, or torch.logaddexp.",
    ),
    Wrong(
        _mean(_soft(lambda near, far: (near / far).log1p())),
        "the soft loss was taken of the ratio of the distances: it is of their difference, ln(1 + exp(d_p − d_n)).",
    ),
    Wrong(
        _mean(_loss, zeros=False),
        "triplets were left out in which the positive is told to be at distance 0: another image with the same factors "
        "is a positive like any other. Only the anchor itself is not (its place, not its distance, tells it).",
    ),
    Wrong(
        _mean(lambda near, far, margin: _loss(near**2, far**2, margin)),
        "the distances were squared: the loss takes them as they are.",
    ),
    Wrong(_over_cube, "divided by B³, the places of the mask: divide by the number of triplets that there are."),
    Wrong(_total, "the sum over the triplets: their mean is wanted."),
    Wrong(
        _over_active,
        "the mean over the triplets that still cost something: the settled ones count too, with 0. (Some libraries do "
        "it your way; then the loss does not fall as triplets are settled.)",
    ),
    Wrong(
        lambda codes, truth, margin: batch_triplet_loss(codes.detach(), truth, margin) + 0 * codes.sum(),
        "the value is right and nothing is learnt: the codes were detached, so no gradient reaches them.",
    ),
    Wrong(
        _nan_without,
        "a batch without any triplet gives 0/0: its loss is 0. One such batch and the network's weights are NaN.",
    ),
)
