"""Chapter 20's other answers: soft ranks by hand, how asymmetric a kernel is, and what a table of kernels says."""

import math

import torch
from torch import Tensor

from course_grading.answers import as_number
from course_grading.exercise import Wrong

# 20.2: soft ranks by hand ---------------------------------------------------------------------------------------------

BY_HAND = (2.4, 1.5, 4.0, 2.1)  # of (1.9, 1.0, 8.0, 1.6) with ε = 1
MISTAKES = (
    ((3, 1, 4, 2), "these are the hard ranks: the gaps 0.6 and 0.3 are smaller than ε, so values are pooled."),
    ((1.5, 2.1, 2.4, 4), "the right numbers in ascending order: give them back in the order of the values."),
    (
        (3, 1.2, 4, 1.8),
        "1.0 and 1.6 were pooled, and 1.9 was not. The block's mean is −0.2, and the next target, −1.1, lies below: "
        "pool again.",
    ),
    ((2.1, 1.5, 4, 2.4), "1.9 and 1.6 are exchanged: within a block, too, the larger value has the larger rank."),
    ((2.65, 1, 4, 2.35), "1.6 and 1.9 were pooled, and 1.0 was not: its target, 0, is above the mean of the two."),
    ((2, 2, 4, 2), "a block keeps its mean rank, 2, and inside it the differences of the values, divided by ε."),
    ((1.275, 0.375, 7.375, 0.975), "all four were pooled. The block of three has the mean −0.5; 8.0 has the target 4."),
    ((2.6, 3.5, 1, 2.9), "descending: the smallest value has the smallest rank."),
    ((1.9, 1, 8, 1.6), "these are the values themselves, u / ε; the soft ranks are the nearest point to them."),
    ((-0.5, -0.5, 4, -0.5), "this is the isotonic fit v: the soft ranks are t − v."),
    (
        (2.158, 1.803, 4, 2.04),
        "this is what the library gives at a regularisation of 1, which it takes relative to the spread of the values: "
        "here ε is 1 itself.",
    ),
    ((2, 4, 1, 3), "this is argsort, which element comes first; hard ranks would be (3, 1, 4, 2), and soft are asked."),
)
HAND_WRONG = tuple(Wrong(list(map(float, given)), message) for given, message in MISTAKES)


def by_hand_fault(answer) -> str | None:
    """Whether the four soft ranks are right; sums are checked first, since each point of the body has the same."""
    given = answer.tolist() if hasattr(answer, "tolist") else answer
    if not isinstance(given, list | tuple):
        return f"got a {type(answer).__name__}; wanted is a list of four numbers."
    numbers = [as_number(number) for number in given]
    if len(numbers) != 4 or None in numbers:
        return f"got {len(given)} entries; wanted are four numbers, one for each value, in the values' order."
    if not all(map(math.isfinite, numbers)):
        return "got a number that is not finite; soft ranks lie between 1 and 4."
    if _close(numbers, BY_HAND):
        return None
    for mistake, message in MISTAKES:
        if _close(numbers, mistake):
            return message
    if abs(sum(numbers) - 10) > 0.02:
        return f"they add up to {sum(numbers):.4g}; every point of the permutahedron adds up to 1 + 2 + 3 + 4 = 10."
    return "the right sum, but not the nearest point: write down t and the targets t − i, and pool until none falls."


def _close(numbers, others) -> bool:
    return all(abs(number - other) < 0.01 for number, other in zip(numbers, others, strict=True))


# 20.5: how asymmetric -------------------------------------------------------------------------------------------------


def kernels(generator: torch.Generator) -> list[list[Tensor]]:
    """Kernels that want a gradient: noise, symmetric under a part of the group only, one with a single large weight."""
    cases = [torch.rand(size, size, generator=generator, dtype=torch.float64) for size in (5, 3, 9)]
    noise = cases[0]
    turning = sum(noise.rot90(quarter) for quarter in range(4))  # rotations leave it, mirrors do not
    upright = noise + noise.flip(0) + noise.flip(1) + noise.flip((0, 1))  # mirrors leave it, rotations do not
    corner = torch.full((5, 5), 0.1, dtype=torch.float64)
    corner[0, 1] = 3
    return [[case.clone().requires_grad_()] for case in (*cases, turning, upright, noise + noise.T, corner, 50 * noise)]


def asymmetry(kernel: Tensor) -> Tensor:
    """By places instead of turns: weight (y, x) is averaged over (±y, ±x) and (±x, ±y), counted from the centre."""
    size = len(kernel)
    y, x = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    places = [(a, b) for a in (y, size - 1 - y) for b in (x, size - 1 - x)]
    mean = sum(kernel[a, b] + kernel[b, a] for a, b in places) / 8
    return ((kernel - mean) ** 2).sum() / (kernel**2).sum()


def _turned(kernel):
    return torch.stack([kernel.rot90(quarter) for quarter in range(4)])


def _share(kernel, mean):
    return (kernel - mean).square().sum() / kernel.square().sum()


def _all_eight(kernel):
    turned = _turned(kernel)
    return torch.cat([turned, turned.mT]).mean(0)


ASYMMETRY_WRONG = (
    Wrong(
        lambda h: _share(h, _turned(h).mean(0)),
        "only the four rotations were averaged: a pinwheel counts as symmetric then. The mirrored ones belong to it.",
    ),
    Wrong(
        lambda h: _share(h, (h + h.flip(0) + h.flip(1) + h.flip((0, 1))) / 4),
        "only left–right and up–down were averaged: x and y can be exchanged, too (a transposition).",
    ),
    Wrong(lambda h: _share(h, (h + h.T) / 2), "only the transposition was averaged: eight symmetries are wanted."),
    Wrong(lambda h: _share(h, (h + h.flip(1)) / 2), "only one mirror was averaged: eight symmetries are wanted."),
    Wrong(
        lambda h: (h - _all_eight(h)).square().sum(),
        "not divided by ‖h‖²: a kernel could then look symmetric by being small.",
    ),
    Wrong(
        lambda h: (h - _all_eight(h)).square().mean(),
        "a mean over the weights, and not divided by ‖h‖²: a kernel could then look symmetric by being small.",
    ),
    Wrong(lambda h: _share(h, _all_eight(h)).sqrt(), "the root was taken: the share of squares is wanted."),
    Wrong(
        lambda h: (h - _all_eight(h)).square().sum() / _all_eight(h).square().sum(),
        "divided by the symmetric part's squares: the share is of the whole kernel, ‖h‖².",
    ),
    Wrong(lambda h: _share(h, 8 * _all_eight(h)), "the eight were added up and not averaged."),
    Wrong(lambda h: _share(h, h.mean()), "compared with its mean weight: that asks for a flat kernel, not symmetry."),
    Wrong(
        lambda h: asymmetry(h).detach(),
        "the values are right, but no gradient reaches kernel",
    ),
)

# 20.6: a table of kernels ---------------------------------------------------------------------------------------------

TABLE = {
    "heart": "supported", "grid": "supported", "travels": "contradicted", "longer": "contradicted",
    "disentangles": "not said", "lines": "not said",
}  # fmt: skip
TABLE_WORDS = ("supported", "contradicted", "not said")
TABLE_WRONG = {
    ("heart", "contradicted"): "heart: 1 on what it was told and .55 on the rest is what learning by heart means.",
    ("heart", "not said"): "heart: compare the pairs that A was told with the others.",
    ("grid", "contradicted"): "grid: compare the other pairs of the same grid: .97 and .93.",
    ("grid", "not said"): "grid: the column of the other pairs says it, .97 and .93.",
    ("travels", "supported"): "travels: at half the spacing C has .95 and B .80.",
    ("travels", "not said"): "travels: the last column is about just that.",
    ("longer", "supported"): "longer: A's pairs are in perfect order. A rank correlation has no more than 1 to give.",
    ("longer", "not said"): "longer: can a rank correlation that is exactly 1 rise?",
    ("disentangles", "supported"): "disentangles: distances in order are no axes. The table has no VAE in it.",
    ("disentangles", "contradicted"): "disentangles: it may or may not; the table has no VAE in it.",
    ("lines", "supported"): "lines: likely, and not in the table: it has distances, no pictures.",
    ("lines", "contradicted"): "lines: the table has distances, no pictures.",
}  # fmt: skip
