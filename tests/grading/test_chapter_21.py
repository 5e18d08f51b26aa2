"""Chapter 21's exercises beyond what is tested for all chapters: other ways to be right, and to be wrong."""

import numpy as np
import pytest
import torch

from course_grading.checks import ch21_choice_of_factors_and_noise as ch21
from course_lib import metrics

# 21.1 -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(4, 6), (2, 3, 4), (5, 5, 2), (2, 2, 2, 3)])
def test_the_gap_is_the_librarys(sizes):
    """Of a code that holds the parts, scored against their product, every value equally often."""
    parts = torch.cartesian_prod(*map(torch.arange, sizes))
    whole = torch.arange(len(parts)).unsqueeze(1)
    code = parts.double().repeat(200, 1)
    found = float(metrics.mig.from_samples(code, whole.repeat(200, 1), bins=24))
    assert found == pytest.approx(ch21.gap_of_parts(torch.tensor([sizes], dtype=torch.float64)).item(), abs=1e-9)


def test_the_examples_of_gaps():
    for sizes, gap in (((4, 6), 0.1276), ((2, 4, 3), 0.0905), ((2,) * 6, 0)):
        found = ch21.gap_of_parts(torch.tensor([sizes], dtype=torch.float64)).item()
        assert found == pytest.approx(gap, abs=5e-5)


# 21.2 -----------------------------------------------------------------------------------------------------------------


def test_the_expected_distance_is_that_of_drawn_photographs():
    draw = torch.Generator().manual_seed(0)
    first, second = torch.zeros(2, 400, dtype=torch.bool)
    first[:50], second[20:80] = True, True
    m, v, r = 0.4, 0.05, 0.5
    photographs = m + v**0.5 * torch.randn(4, 4_000, 400, generator=draw, dtype=torch.float64)
    images = [
        torch.where(sprite, 1 - r * (1 - photographs[2 * place]), r * photographs[2 * place + 1])
        for place, sprite in enumerate((first, second))
    ]
    measured = (images[0] - images[1]).square().sum(1)
    law = [torch.tensor([value], dtype=torch.float64) for value in (50, 60, 50, r, m, v)]
    expected = ch21.photographs_everywhere(*law, 400).item()
    assert abs(measured.mean().item() - expected) < 4 * (measured.std() / 4_000**0.5).item()


def test_the_example_of_photographs():
    law = [torch.tensor([value], dtype=torch.float64) for value in (50, 60, 30, 0.5, 0.4, 0.05)]
    assert ch21.photographs_everywhere(*law, 400).item() == pytest.approx(17.5)


def test_nothing_is_left_at_full_visibility():
    area = torch.full((2,), 50.0, dtype=torch.float64)
    either, one = torch.tensor([0.0, 100], dtype=torch.float64), torch.ones(2, dtype=torch.float64)
    found = ch21.photographs_everywhere(area, area, either, one, one / 2, one / 9, 400)
    assert found[0].item() == pytest.approx(found[1].item())


# 21.3 -----------------------------------------------------------------------------------------------------------------


def test_noise_belongs_to_the_index():
    sprites, index = torch.zeros(4, 30, dtype=torch.uint8), torch.tensor([7, 3, 7, 9])
    found = ch21.noisy_sprites(sprites, index, 5)
    assert torch.equal(found[0], found[2]) and not torch.equal(found[0], found[1])
    assert torch.equal(found[1], ch21.noisy_sprites(sprites[:1], index[1:2], 5)[0])
    assert not torch.equal(found, ch21.noisy_sprites(sprites, index, 6))


def test_floats_are_named(judged):
    assert "torch.uint8" in judged("21.3", lambda s, i, seed: ch21.noisy_sprites(s, i, seed).float()).message


def test_an_array_is_named(judged):
    found = judged("21.3", lambda s, i, seed: np.asarray(ch21.noisy_sprites(s, i, seed)))
    assert not found.passed and "numpy" in found.message.lower()


# 21.4 -----------------------------------------------------------------------------------------------------------------


def test_the_example_of_shares():
    images = torch.tensor([[0, 0], [4, 0], [0, 1], [4, 1]], dtype=torch.float64)
    found = ch21.shares_of_directions(images, torch.tensor([0]), torch.tensor([3]))
    assert found.tolist() == pytest.approx([16 / 17, 1])


def test_all_pairs_of_the_data_have_the_shares_of_its_variance():
    images, _, _ = ch21.images_with_pairs(torch.Generator().manual_seed(0))[0]
    first, second = torch.triu_indices(len(images), len(images), 1)
    variance = torch.linalg.svdvals(images - images.mean(0)).square()
    found = ch21.shares_of_directions(images, first, second)
    torch.testing.assert_close(found, variance.cumsum(0) / variance.sum())


# 21.5 -----------------------------------------------------------------------------------------------------------------


def test_what_moves_which_score():
    """Of a code that holds one factor well and one badly, on a grid, by the library's MIG and by ranks."""
    sizes = (4, 6)
    factors = torch.cartesian_prod(*map(torch.arange, sizes)).repeat(15, 1)
    draw = torch.Generator().manual_seed(0)
    code = factors + torch.tensor([0.2, 2.0]) * torch.randn(factors.shape, generator=draw)
    names = torch.tensor([3, 0, 5, 1, 4, 2])
    moved = {
        "shuffled": torch.stack([factors[:, 0], names[factors[:, 1]]], 1),
        "backwards": torch.stack([3 - factors[:, 0], factors[:, 1]], 1),
        "from one": factors + 1,
        "doubled": factors * torch.tensor([2, 1]),
        "merged": factors[:, :1] * 6 + factors[:, 1:],
        "added": torch.cat([factors, torch.randint(2, (360, 1), generator=draw)], 1),
    }

    def scores(labels):
        gap = float(metrics.mig.from_samples(code, labels, bins=5))
        return gap, _rank(code, labels, factors)

    before = scores(factors)
    for name, labels in moved.items():
        changed = [abs(a - b) > 1e-6 for a, b in zip(before, scores(labels), strict=True)]
        expected = {"neither": [False, False], "rank": [False, True], "both": [True, True]}[ch21.MOVES[name]]
        assert changed == expected, name


def _rank(code, labels, factors):
    """The mean over columns of labels of the rank correlation over pairs that agree in all others of them."""
    first, second = torch.triu_indices(len(code), len(code), 1)
    found = []
    for place in range(labels.shape[1]):
        others = [column for column in range(labels.shape[1]) if column != place]
        kept = (labels[first][:, others] == labels[second][:, others]).all(1)
        steps = (labels[first[kept], place] - labels[second[kept], place]).abs()
        apart = (code[first[kept]] - code[second[kept]]).abs().sum(1)
        found.append(np.corrcoef(_ranked(steps), _ranked(apart))[0, 1])
    return float(np.mean(found))


def _ranked(values):
    _, place, count = torch.unique(values, return_inverse=True, return_counts=True)
    return (count.cumsum(0) - count / 2)[place].numpy()
