"""Chapter 10's exercises beyond what is tested for all chapters: their examples, and what they have of the library."""

import pytest
import torch

from course_grading.checks import ch10_weak_supervision as ch10
from course_lib.data import XYSquares
from course_lib.frameworks import AdaGVAE
from course_lib.losses import shared_latents, symmetric_kl
from course_lib.models import DiagonalGaussian, mlp_vae
from course_lib.sampling import pairs


def draws():
    return torch.Generator().manual_seed(0)


def test_the_example_of_blocks():
    kinds = torch.tensor([[1, 1, 0, 1], [0, 0, 1, 1]]).bool()
    assert ch10.first_of_block(kinds).tolist() == [0, 0, 2, 3]


def test_factors_of_a_block_rest_together_and_others_do_not():
    for (changes,) in ch10.kinds_of_pairs(draws()):
        blocks = ch10.first_of_block(changes)
        for one in range(len(blocks)):
            for other in range(len(blocks)):
                parted = (changes[:, one] ^ changes[:, other]).any()
                assert parted == (blocks[one] != blocks[other])


def test_the_example_of_told_latents_and_the_librarys_divergence():
    mean = torch.tensor([[[0.0, 0, 0]], [[1, 3, 2]]]).double()
    assert ch10.told_shared(mean, 0 * mean, torch.tensor([1])).tolist() == [[True, False, True]]
    for mean, log_variance, _ in ch10.posterior_pairs(draws()):
        first, second = map(DiagonalGaussian, mean, log_variance)
        torch.testing.assert_close(ch10._divergence(mean, log_variance), symmetric_kl(first, second))


def test_told_one_the_guess_is_the_same_where_one_latent_stands_out():
    mean = torch.tensor([[[0.0, 0, 0]], [[1, 9, 2]]]).double()
    first, second = map(DiagonalGaussian, mean, 0 * mean)
    guessed = shared_latents(symmetric_kl(first, second))
    assert torch.equal(ch10.told_shared(mean, 0 * mean, torch.tensor([1])), guessed)


def test_the_average_is_the_librarys_and_the_example():
    framework = AdaGVAE(mlp_vae(XYSquares(2, 2, squares=1, image_size=16), 2, hidden=()))
    for mean, log_variance in ch10.two_posteriors(draws()):
        average = framework.average(*map(DiagonalGaussian, mean, log_variance))
        torch.testing.assert_close(ch10.arithmetic_average(mean, log_variance), torch.stack(average))
    mean, variance = torch.tensor([[0.0], [1.0]]).double(), torch.tensor([[1.0], [9.0]]).double()
    found = ch10.arithmetic_average(mean[:, None], variance.log()[:, None])
    assert found.flatten().tolist() == pytest.approx([0.5, 1.609], abs=5e-4)
    assert (variance.sqrt().mean() ** 2).item() == 4


def test_the_example_of_chances_and_the_librarys_guess():
    assert ch10.chance_by_counting(3, 2, 0.6).item() == pytest.approx(5 / 9)
    space = XYSquares().space
    for k in (1, 2, 3):
        first, second = space.factors(pairs(space, 20_000, draws(), k=k)).double()
        right = (shared_latents((first - second).square()) == (first == second)).all(1).double().mean()
        assert right.item() == pytest.approx(ch10.chance_by_counting(8, k, 0.5**0.5).item(), abs=0.01)


def test_the_example_of_the_film():
    film = torch.tensor([[0, 0], [0, 1], [1, 0], [0, 1]])
    assert ch10.usable_share(film, 2).tolist() == pytest.approx([1 / 3, 1 / 2])
    assert ch10.usable_share(torch.zeros(9, 3).long(), 2).tolist() == [0, 0]
