"""Random numbers that belong to a grid index: a pure function of (seed, index), not a stream that is used up.

The generator is SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014). Its
n-th output is one hash of seed + n · GOLDEN, so that any output can be had without those before it. Here every index
gets a generator of its own, seeded with the index-th output of the generator that `seed` starts.
"""

import torch
from torch import Tensor

from course_lib.arguments import check_seed

SEEDS = 2**32  # no seeds below this are a multiple of GOLDEN apart that would give one grid the images of the other


def as_signed(word: int) -> int:
    """The int64 with the bits of an unsigned 64-bit word: torch has no arithmetic on uint64."""
    return word - (word >> 63 << 64)


GOLDEN = as_signed(0x9E3779B97F4A7C15)  # the odd number nearest to 2⁶⁴ / golden ratio
ROUNDS = ((30, as_signed(0xBF58476D1CE4E5B9)), (27, as_signed(0x94D049BB133111EB)))
LAST = 31


def uniform_words(seed: int, index: Tensor, n: int) -> Tensor:
    """n independent 64-bit words for each index: int64 (B,) → int64 (B, n), all bit patterns equally likely.

    Raises ValueError unless `seed` is from 0 to 2³² − 1.
    """
    seed = check_seed(seed, SEEDS)
    start = mix(seed + (index + 1) * GOLDEN)
    return mix(start.unsqueeze(1) + (torch.arange(n, device=index.device) + 1) * GOLDEN)


def uniform_bytes(seed: int, index: Tensor, n: int) -> Tensor:
    """n independent bytes, uniform on 0 … 255, for each index: int64 (B,) → uint8 (B, n), on the device of `index`.

    The bytes of the words from the lowest to the highest, which is how every machine that torch supports stores them.
    """
    return uniform_words(seed, index, (n + 7) // 8).view(torch.uint8)[:, :n]


def uniform_integers(seed: int, index: Tensor, highs: tuple[int, ...]) -> Tensor:
    """An integer from 0 to high − 1 for each of `highs` (at most 2³¹) and each index: int64 (B,) → (B, len(highs)).

    The upper half u of a word, as u · high // 2³². No value is likelier than another by more than high / 2³².
    """
    upper = shift_right(uniform_words(seed, index, len(highs)), 32)
    return torch.stack([column * high >> 32 for column, high in zip(upper.unbind(1), highs, strict=True)], 1)


def mix(words: Tensor) -> Tensor:
    """SplitMix64's hash of each word: a bijection in which every bit of the input sways every bit of the output."""
    for shift, factor in ROUNDS:
        words = (words ^ shift_right(words, shift)).mul_(factor)  # int64 products wrap around, as the algorithm wants
    return shift_right(words, LAST).bitwise_xor_(words)


def shift_right(words: Tensor, bits: int) -> Tensor:
    """A right shift that brings in zeros; that of int64 repeats the sign."""
    return (words >> bits).bitwise_and_((1 << (64 - bits)) - 1)
