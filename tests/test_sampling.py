import pytest
import torch
from scipy.stats import chisquare

from course_lib.factors import FactorSpace
from course_lib.sampling import singles

SPACE = FactorSpace(("a", "b"), (4, 6))


def test_singles_are_uniform_over_the_grid():
    counts = singles(SPACE, 24_000, torch.Generator().manual_seed(0)).bincount(minlength=24)
    assert len(counts) == 24 and chisquare(counts).pvalue > 1e-3


def test_singles_depend_on_their_generator_alone():
    draws = []
    for global_seed in (1, 2):
        torch.manual_seed(global_seed)
        draws.append(singles(SPACE, 50, torch.Generator().manual_seed(3)))
    assert torch.equal(*draws)
    assert not torch.equal(draws[0], singles(SPACE, 50, torch.Generator().manual_seed(4)))


@pytest.mark.parametrize("n", [0, 2.5])
def test_n_must_be_a_positive_integer(n):
    with pytest.raises(ValueError, match="n: got"):
        singles(SPACE, n, torch.Generator())
