"""FactorSpace against Python's own enumeration of a product."""

from itertools import product

import numpy as np
import pytest
import torch

from course_lib.factors import FactorSpace

SPACE = FactorSpace(("shape", "scale", "x"), (3, 4, 5))


def test_index_follows_c_order():
    grid = torch.tensor(list(product(range(3), range(4), range(5))))
    assert torch.equal(SPACE.factors(torch.arange(len(SPACE))), grid)
    assert torch.equal(SPACE.index(grid), torch.arange(60))
    assert len(SPACE) == 60


def test_any_batch_shape_and_number_type():
    assert SPACE.factors(7).shape == (3,)
    assert SPACE.factors([[7, 8], [9, 10]]).shape == (2, 2, 3)
    assert SPACE.index(np.array([[2, 3, 4]], dtype=np.int16)).tolist() == [59]
    assert SPACE.index(torch.zeros(0, 3, dtype=torch.int64)).shape == (0,)
    assert SPACE.factors([]).shape == (0, 3)


def test_traversal_changes_one_factor_in_order():
    points = SPACE.factors(SPACE.traversal("scale", SPACE.index([2, 3, 1])))
    assert points.tolist() == [[2, 0, 1], [2, 1, 1], [2, 2, 1], [2, 3, 1]]
    assert torch.equal(SPACE.traversal(1, 5), SPACE.traversal("scale", 5))


def test_spaces_are_equal_when_names_and_sizes_are():
    assert FactorSpace(("a", "b"), (2, 3)) == FactorSpace(["a", "b"], [2, 3])
    assert FactorSpace(("a", "b"), (2, 3)) != FactorSpace(("a", "b"), (2, 4)) != FactorSpace(("a", "c"), (2, 4))
    assert len({FactorSpace(("a",), (2,)), FactorSpace(("a",), (2,)), FactorSpace(("a",), (3,))}) == 2


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: SPACE.factors([60]), "index: got values from 60 to 60; allowed are 0 to 59"),
        (lambda: SPACE.factors([-1]), "allowed are 0 to 59"),
        (lambda: SPACE.factors([0.5]), "index: got dtype torch.float64"),
        (lambda: SPACE.factors(torch.tensor([True])), "index: got dtype torch.bool"),
        (lambda: SPACE.index([0, 4, 0]), "scale got values from 4 to 4; allowed are 0 to 3"),
        (lambda: SPACE.index([[0, 0, 0], [0, 0, -1]]), "x got values from -1 to 0; allowed are 0 to 4"),
        (lambda: SPACE.index([0, 0]), "the last axis must hold 3 values"),
        (lambda: SPACE.index(3), "the last axis must hold 3 values"),
        (lambda: SPACE.traversal("colour"), "factor: got 'colour'; allowed are shape, scale, x"),
        (lambda: SPACE.traversal(3), "factor: got 3"),
        (lambda: SPACE.traversal(True), "factor: got True"),
        (lambda: SPACE.traversal(0, [1, 2]), "index: got shape"),
        (lambda: FactorSpace(("a", "a"), (2, 2)), "names: got"),
        (lambda: FactorSpace(("a", "b"), (2,)), "names: got"),
        (lambda: FactorSpace(("a",), (0,)), r"sizes\[0\]: got 0; allowed are integers from 1"),
    ],
)
def test_errors_name_the_argument_and_what_is_allowed(call, words):
    with pytest.raises(ValueError, match=words):
        call()
