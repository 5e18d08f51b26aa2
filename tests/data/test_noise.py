"""Random numbers by index: against SplitMix64 in Python's own integers, and as random as they should be."""

import pytest
import torch
from scipy.stats import chi2

from course_lib.data.noise import GOLDEN, SEEDS, as_signed, mix, uniform_bytes, uniform_integers, uniform_words

GRID = 737_280  # as many indices as dSprites has
WORD = 2**64 - 1


def splitmix(state, n):
    """The first n outputs of SplitMix64, as its authors write it: with a state, one output after another."""
    outputs = []
    for _ in range(n):
        state = (state + 0x9E3779B97F4A7C15) & WORD
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
        outputs.append(z ^ (z >> 31))
    return outputs


def uneven(counts):
    """Two-sided test of equal expected counts: the χ² statistic is neither too large nor too small (p < 1e-6)."""
    expected = counts.sum() / len(counts)
    statistic = ((counts - expected) ** 2 / expected).sum().item()
    return not chi2.ppf(1e-6, len(counts) - 1) < statistic < chi2.ppf(1 - 1e-6, len(counts) - 1)


def test_hash_gives_the_published_outputs_of_splitmix64():
    """Seed 1234567, the outputs that are in common use as a check of the algorithm."""
    words = mix(1234567 + (torch.arange(5) + 1) * GOLDEN)
    assert [word & WORD for word in words.tolist()] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


@pytest.mark.parametrize("seed", [0, 42, 2**32 - 1])
def test_words_are_a_generator_for_every_index(seed):
    index = torch.tensor([5, 0, 999])
    starts = splitmix(seed, 1000)
    expected = [splitmix(starts[i], 7) for i in index.tolist()]
    words = uniform_words(seed, index, 7)
    assert words.dtype == torch.int64
    assert [[word & WORD for word in row] for row in words.tolist()] == expected
    data = [b"".join(word.to_bytes(8, "little") for word in row)[:50] for row in expected]
    got = uniform_bytes(seed, index, 50)
    assert got.dtype == torch.uint8 and [bytes(row) for row in got.tolist()] == data
    highs = (1, 2, 256, 149, 1000, 2**31, 3)
    integers = [[(word >> 32) * high >> 32 for word, high in zip(row, highs, strict=True)] for row in expected]
    assert uniform_integers(seed, index, highs).tolist() == integers


def test_known_bytes():
    """Fixed for good: figures in the book and stored results depend on them."""
    first, last = uniform_bytes(0, torch.tensor([0, 737_279]), 6).tolist()
    assert first == [111, 126, 25, 77, 47, 221] and last == [126, 112, 12, 57, 87, 210]
    assert uniform_integers(42, torch.tensor([1]), (256, 256, 256)).tolist() == [[252, 79, 129]]


def test_numbers_do_not_depend_on_the_batch_or_on_how_many_are_asked_for():
    index = torch.randint(GRID, (200,), generator=torch.Generator().manual_seed(0))
    order = torch.randperm(200, generator=torch.Generator().manual_seed(1))
    data = uniform_bytes(3, index, 100)
    assert torch.equal(uniform_bytes(3, index[order], 100), data[order])
    assert torch.equal(uniform_bytes(3, index[7:8], 13), data[7:8, :13])
    assert uniform_bytes(3, index[:0], 13).shape == (0, 13)


def test_bytes_are_uniform_over_indices_and_over_places():
    data = uniform_bytes(0, torch.arange(2000), 1024).long()
    assert not uneven(torch.bincount(data.flatten(), minlength=256))
    for place in (0, 1, 7, 8, 1023):
        assert not uneven(torch.bincount(uniform_bytes(0, torch.arange(100_000), 1024 if place > 8 else 9)[:, place]))


@pytest.mark.parametrize(
    "second",
    [
        lambda data: data.roll(-1, 0),  # the next index
        lambda data: data.roll(-32, 0),  # the next position_x of dSprites
        lambda data: data.roll(-1, 1),  # the next pixel
        lambda data: data.roll(-128, 1),  # another channel, the same pixel
        lambda data: uniform_bytes(1, torch.arange(len(data)), data.shape[1]),  # the next seed
    ],
)
def test_neighbours_are_independent(second):
    """All 65,536 pairs of byte values are equally frequent, and no two bits agree more often than every other time."""
    data = uniform_bytes(0, torch.arange(4096), 3 * 128)
    other = second(data)
    assert not uneven(torch.bincount(256 * data.flatten().long() + other.flatten().long(), minlength=65_536))
    agreement = torch.stack([(((data ^ other) >> bit) & 1).double().mean() for bit in range(8)])
    assert (agreement - 0.5).abs().max() < 5 * 0.5 / data.numel() ** 0.5


def test_neighbouring_indices_and_seeds_differ_in_half_of_their_bits():
    index = torch.arange(10_000)
    for other in (uniform_words(0, index + 1, 4), uniform_words(1, index, 4)):
        bits = (uniform_words(0, index, 4) ^ other).view(torch.uint8)
        ones = sum(((bits >> bit) & 1).sum().item() for bit in range(8))
        assert abs(ones / (8 * bits.numel()) - 0.5) < 5 * 0.5 / (8 * bits.numel()) ** 0.5


@pytest.mark.parametrize("highs", [(2, 78, 149), (128, 128, 128), (7, 7, 7)])
def test_integers_are_uniform_and_independent(highs):
    drawn = uniform_integers(0, torch.arange(300_000), highs)
    assert (drawn.min() >= 0) and (drawn < torch.tensor(highs)).all()
    for column, high in zip(drawn.unbind(1), highs, strict=True):
        assert not uneven(torch.bincount(column, minlength=high))
    assert not uneven(torch.bincount(drawn[:, 0] * highs[1] + drawn[:, 1], minlength=highs[0] * highs[1]))


@pytest.mark.parametrize("seed", [0, 42])
def test_no_two_indices_of_a_grid_share_their_numbers(seed):
    """The generators run along one sequence, GOLDEN further at a time; all start more than an image apart."""
    starts = mix(seed + (torch.arange(GRID) + 1) * GOLDEN)
    place = starts * as_signed(pow(GOLDEN % 2**64, -1, 2**64))  # starts = place · GOLDEN
    assert place.sort().values.diff().min() > 3 * 64 * 64 / 8


def test_no_two_seeds_share_their_images():
    """The start of an index is a hash of seed + (index + 1) · GOLDEN, so seeds a multiple apart would."""
    assert (torch.arange(1, 1_100_000) * GOLDEN).abs().min() > SEEDS


@pytest.mark.parametrize("seed", [-1, 2**32, 0.0, True, None])
def test_a_wrong_seed_is_an_error(seed):
    with pytest.raises(ValueError, match=f"seed: got {seed}; allowed are integers from 0"):
        uniform_bytes(seed, torch.tensor([0]), 1)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_numbers_do_not_depend_on_the_device():
    index = torch.randint(GRID, (5000,), generator=torch.Generator().manual_seed(2))
    assert torch.equal(uniform_bytes(9, index.cuda(), 1000).cpu(), uniform_bytes(9, index, 1000))
    assert torch.equal(uniform_integers(9, index.cuda(), (5, 300)).cpu(), uniform_integers(9, index, (5, 300)))
