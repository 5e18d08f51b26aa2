"""The samplers against brute force with fractions, counting, and chi-square tests."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from course_lib.factors import FactorSpace
from course_lib.sampling import (
    ORDERS,
    batch_triplets,
    factor_distance,
    factor_pairs,
    pairs,
    random_pairs,
    scale_of,
    singles,
    traversals,
    triplets,
)

SPACE = FactorSpace(("a", "b"), (4, 6))
MIXED = FactorSpace(("a", "b", "c", "d", "e"), (3, 6, 1, 4, 2))
XY = FactorSpace([f"{axis}_{colour}" for colour in "RGB" for axis in "xy"], [8] * 6)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


DRAWS = {
    "singles": lambda n, g: singles(MIXED, n, g),
    "pairs": lambda n, g: pairs(MIXED, n, g),
    "triplets": lambda n, g: triplets(MIXED, n, g),
    "batch_triplets": lambda n, g: batch_triplets(9, n, g, lambda a, b: (a - b).abs()),
    "traversals": lambda n, g: traversals(MIXED, "b", n, g),
    "factor_pairs": lambda n, g: factor_pairs(MIXED, "b", n, g),
    "random_pairs": lambda n, g: random_pairs(MIXED, n, g, batch_size=32),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_draws_depend_on_their_generator_alone(draw):
    draws = []
    for global_seed in (1, 2):
        torch.manual_seed(global_seed)
        draws.append(draw(50, generator(3)))
    assert torch.equal(*draws) and draws[0].dtype == torch.int64
    assert not torch.equal(draws[0], draw(50, generator(4)))


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
@pytest.mark.parametrize("n", [0, 2.5])
def test_n_must_be_a_positive_integer(draw, n):
    with pytest.raises(ValueError, match="n: got"):
        draw(n, generator())


def test_singles_are_uniform_over_the_grid():
    counts = singles(SPACE, 24_000, generator()).bincount(minlength=24)
    assert len(counts) == 24 and chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize(
    ("space", "k", "allowed"), [(XY, None, range(1, 7)), (XY, (1, 5), range(1, 6)), (MIXED, None, range(1, 5))]
)
def test_pairs_differ_in_exactly_k_factors_with_k_uniform(space, k, allowed):
    first, second = space.factors(pairs(space, 100_000, generator(1), k=k))
    counts = (first != second).sum(1).bincount()
    assert counts[: allowed.start].sum() == 0 and len(counts) == allowed.stop
    assert chisquare(counts[allowed.start :]).pvalue > 1e-3


@pytest.mark.parametrize("k", [0, 1, 3, 4])
def test_pairs_with_a_fixed_k(k):
    first, second = MIXED.factors(pairs(MIXED, 5_000, generator(2), k=k))
    assert ((first != second).sum(1) == k).all()


def test_pairs_choose_factors_and_values_uniformly():
    first, second = MIXED.factors(pairs(MIXED, 60_000, generator(3), k=1))
    which = (first != second).long().argmax(1)
    counts = which.bincount(minlength=5)
    assert counts[2] == 0, "the factor with one value cannot change"
    assert chisquare(counts[[0, 1, 3, 4]]).pvalue > 1e-3
    b = which == 1
    changes = first[b, 1] * 6 + second[b, 1]
    off_diagonal = changes.bincount(minlength=36).view(6, 6)[~torch.eye(6, dtype=torch.bool)]
    assert chisquare(off_diagonal).pvalue > 1e-3


def exact_distance(space, a, b, by):
    gaps = [abs(x - y) for x, y in zip(a, b, strict=True)]
    if by == "differing":
        return sum(gap > 0 for gap in gaps)
    if by == "l1":
        return sum(gaps)
    return sum(Fraction(gap, size - 1) for gap, size in zip(gaps, space.sizes, strict=True) if size > 1)


@pytest.mark.parametrize("by", ORDERS)
@pytest.mark.parametrize("space", [MIXED, XY, FactorSpace(("a", "b"), (2, 40))], ids=["mixed", "xy", "narrow"])
def test_triplets_are_ordered_by_exact_fractions_without_ties(space, by):
    found = space.factors(triplets(space, 3_000, generator(4), by=by)).permute(1, 0, 2).tolist()
    assert len(found) == 3_000
    for anchor, positive, negative in found:
        assert exact_distance(space, anchor, positive, by) < exact_distance(space, anchor, negative, by)


@pytest.mark.parametrize("by", ORDERS)
def test_triplets_have_the_law_of_rejection_sampling(by):
    """Every untied (anchor, near, far) is equally likely: counted over the whole of a small grid."""
    space = FactorSpace(("a", "b"), (2, 3))
    grid = list(product(range(2), range(3)))
    possible = [
        (a, p, n)
        for a, p, n in product(range(6), repeat=3)
        if exact_distance(space, grid[a], grid[p], by) < exact_distance(space, grid[a], grid[n], by)
    ]
    drawn = triplets(space, 50 * len(possible), generator(5), by=by).T.tolist()
    counts = {triplet: 0 for triplet in possible}
    for triplet in drawn:
        counts[tuple(triplet)] += 1  # a KeyError here is a triplet that may not occur
    assert chisquare(list(counts.values())).pvalue > 1e-3


@pytest.mark.parametrize("n", [1, 2, 100, 150, 256])
def test_triplets_are_as_many_as_asked_for_with_the_rarest_order(n):
    space = FactorSpace(("a",), (40,))  # by "differing", only 5 % of random triplets are untied
    for seed in range(40):
        anchor, positive, negative = triplets(space, n, generator(seed), by="differing")
        assert len(anchor) == n and (anchor == positive).all() and (anchor != negative).all()


def test_a_grid_without_order_is_refused():
    with pytest.raises(ValueError, match="space: .* has no triplet"):
        triplets(FactorSpace(("a",), (1,)), 5, generator())


def test_float_sums_would_break_ties_where_integers_do_not():
    """The thesis' 1.4 %: triplets of XYSquares that are ties, but that summed quotients order one way or the other."""
    anchor, first, second = torch.randint(len(XY), (3, 200_000), generator=generator(6))
    exact = [factor_distance(XY, anchor, other, by="scaled_l1") for other in (first, second)]
    gaps = [(XY.factors(anchor) - XY.factors(other)).abs().numpy() for other in (first, second)]
    floats = [sum((gap[:, i] / np.float64(7) for i in range(6)), np.zeros(len(gap))) for gap in gaps]
    ties = (exact[0] == exact[1]).numpy()
    wrong = (floats[0] != floats[1])[ties].sum() / len(ties)
    assert 0.01 < wrong < 0.06, wrong
    order = (exact[0] - exact[1]).sign().numpy()
    assert (np.sign(floats[0] - floats[1])[~ties] == order[~ties]).all(), "strict orders are never reversed"


@pytest.mark.parametrize("by", ORDERS)
def test_distance_equals_fractions(by):
    first, second = torch.randint(len(MIXED), (2, 300), generator=generator(7))
    ours = factor_distance(MIXED, first, second, by=by).tolist()
    scale = scale_of(MIXED) if by == "scaled_l1" else 1
    theirs = [
        exact_distance(MIXED, a, b, by) * scale
        for a, b in zip(MIXED.factors(first).tolist(), MIXED.factors(second).tolist(), strict=True)
    ]
    assert ours == theirs and scale_of(MIXED) == 30


def test_batch_triplets_obey_any_distance():
    images = torch.randn(20, 7, generator=generator(8))

    def distance(first, second):
        return (images[first] - images[second]).abs().sum(1)

    anchor, positive, negative = batch_triplets(20, 5_000, generator(9), distance)
    assert (distance(anchor, positive) <= distance(anchor, negative)).all()
    assert chisquare(anchor.bincount(minlength=20)).pvalue > 1e-3


def test_batch_triplets_keep_the_order_of_the_draw_in_a_tie():
    tied = batch_triplets(9, 50, generator(9), lambda first, second: torch.zeros(50))
    assert torch.equal(tied, torch.randint(9, (3, 50), generator=generator(9)))


def test_traversals_hold_everything_else():
    points = MIXED.factors(traversals(MIXED, "b", 200, generator(10)))
    assert points.shape == (200, 6, 5)
    assert torch.equal(points[:, :, 1], torch.arange(6).expand(200, 6))
    rest = points[:, :, [0, 2, 3, 4]]
    assert (rest == rest[:, :1]).all()
    assert len(rest[:, 0].unique(dim=0)) == 24


def test_factor_pairs_are_uniform_and_distinct():
    pair = MIXED.factors(factor_pairs(MIXED, "b", 60_000, generator(11)))
    assert (pair[0] != pair[1]).sum(1).unique().tolist() == [1]
    counts = (pair[0, :, 1] * 6 + pair[1, :, 1]).bincount(minlength=36).view(6, 6)
    assert (counts.diagonal() == 0).all()
    assert chisquare(counts[~torch.eye(6, dtype=torch.bool)]).pvalue > 1e-3


def test_factor_pairs_with_replacement_hold_one_self_pair_in_f():
    pair = MIXED.factors(factor_pairs(MIXED, 1, 60_000, generator(12), distinct=False))
    counts = (pair[0, :, 1] * 6 + pair[1, :, 1]).bincount(minlength=36)
    assert chisquare(counts).pvalue > 1e-3


def test_random_pairs_of_batches_hold_one_self_pair_in_32():
    independent, batched = (random_pairs(XY, 200_000, generator(13), batch_size=size) for size in (None, 32))
    assert independent.shape == batched.shape == (2, 200_000)
    assert (independent[0] == independent[1]).double().mean() < 1e-3
    assert (batched[0] == batched[1]).double().mean().item() == pytest.approx(1 / 32, rel=0.1)
    assert random_pairs(XY, 50, generator(), batch_size=32).shape == (2, 50)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pairs(MIXED, 5, generator(), k=5), "k: got 5; allowed are numbers or ranges from 0 to 4"),
        (lambda: pairs(MIXED, 5, generator(), k=(2, 1)), r"k: got \(2, 1\)"),
        (lambda: pairs(MIXED, 5, generator(), k=-1), "k: got -1"),
        (lambda: triplets(MIXED, 5, generator(), by="l2"), "by: got 'l2'; allowed are 'scaled_l1', 'l1', 'differing'"),
        (lambda: factor_pairs(MIXED, "c", 5, generator()), "factor: c has one value"),
        (lambda: factor_pairs(MIXED, "z", 5, generator()), "factor: got 'z'"),
        (lambda: random_pairs(MIXED, 5, generator(), batch_size=0), "batch_size: got 0"),
    ],
)
def test_errors_name_the_argument_and_what_is_allowed(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pairs(FactorSpace(("a", "b"), (1, 1)), 4, generator()), "space: got .*no factor varies"),
        (lambda: traversals(None, "b", 4, generator()), "space: got None; allowed is a FactorSpace"),
        (lambda: factor_pairs(None, "b", 4, generator()), "space: got None"),
        (lambda: factor_distance(None, torch.tensor([0]), torch.tensor([1])), "space: got None"),
        (lambda: batch_triplets(4, 6, generator(), "mse"), "distance: got 'mse'"),
        (lambda: batch_triplets(4, 6, generator(), lambda a, b: (a - b) * float("nan")), "distance: got NaN"),
        (lambda: batch_triplets(4, 6, generator(), lambda a, b: torch.ones(1)), r"distance: got shape \(1,\) for 6"),
        (
            lambda: factor_distance(FactorSpace("abc", (2_000_000, 1_999_999, 1_999_997)), 0, 1, by="scaled_l1"),
            "space: got .* exceed 2⁶³; allowed are 'l1' and 'differing'",
        ),
        (lambda: SPACE.factors(torch.tensor([0, 1]).to_sparse()), "index: got a tensor of layout torch.sparse_coo"),
        (lambda: SPACE.factors(torch.zeros(2, dtype=torch.int64, device="meta")), "index: got a tensor on the device"),
    ],
)
def test_what_cannot_be_drawn_or_compared_is_refused_by_name(call, words):
    with pytest.raises(ValueError, match=words):
        call()
