"""Chapter 12's exercises beyond what is tested for all chapters: their examples, and what they have of the library."""

import math

import numpy as np
import pytest
import torch

from course_grading.checks import ch12_symmetry as ch12
from course_lib.theory import connection_laplacian
from course_lib.theory.subspace_diffusion import symmetric_basis


def draws(seed=0):
    return torch.Generator().manual_seed(seed)


# 12.1 -----------------------------------------------------------------------------------------------------------------


def codes():
    place, hue = np.divmod(np.arange(36), 6)
    pictures = np.random.default_rng(0).random((6, 6))
    over_hues, over_places = (pictures.mean(axis, keepdims=True) + 0 * pictures for axis in (1, 0))
    whole, nothing = pictures.ravel(), 0 * place
    return {
        "halved": (place // 2, hue), "thirds": (place % 3, hue), "offset": (place, (hue + place) % 6),
        "warm": (place, (hue < 3) + 0), "parity": (place, hue % 2),
        "averages": (over_hues.ravel(), over_places.ravel()),
        "twice": (whole, whole), "constant": (nothing, nothing),
    }  # fmt: skip


@pytest.mark.parametrize("name", ch12.JUDGED)
def test_the_words_are_what_the_definition_says(name):
    worlds = np.arange(36).reshape(6, 6)
    presses = [np.roll(worlds, -1, axis).ravel() for axis in (0, 1)]
    parts = [np.asarray(part).round(9) for part in codes()[name]]
    mixed = any((part != part[press]).any() for part, press in zip(parts, presses[::-1], strict=True))
    torn = any(
        len({(a, b) for a, b in zip(part, part[press], strict=True)}) > len(set(part))
        for part, press in zip(parts, presses, strict=True)
    )
    assert ch12.JUDGED[name] == ("mixed" if mixed else "no action" if torn else "disentangled")


# 12.2 -----------------------------------------------------------------------------------------------------------------


def test_the_example_of_parts():
    found = ch12.parts(torch.tensor([[1.0], [3.0]]), torch.tensor([1, 0]), torch.tensor([0, 1]))
    assert found.flatten(1).tolist() == [[1, 2], [3, 2]]


def test_parts_follow_their_own_button_and_no_other():
    for pictures, first, second in ch12.buttons(draws()):
        found = ch12.parts(pictures, first, second)
        for own, other in ((first, second), (second, first)):
            part = found[:, 0 if own is first else 1]
            torch.testing.assert_close(part[other], part)
            expected = ch12.parts(pictures[own], first, second)[:, 0 if own is first else 1]
            torch.testing.assert_close(part[own], expected)
        assert torch.equal(first[second], second[first])


# 12.3 -----------------------------------------------------------------------------------------------------------------


def test_the_example_of_a_walk_and_the_way_back():
    octant = torch.tensor([[[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]], dtype=torch.float64)
    assert ch12.turn_of(octant).item() == pytest.approx(math.pi / 2)
    assert ch12.turn_of(octant.flip(1)).item() == pytest.approx(-math.pi / 2)


@pytest.mark.parametrize("seed", range(10))
def test_the_last_walks_enclose_more_than_half_of_the_sphere(seed):
    (corners,) = ch12.walks(draws(seed))[-1]
    whole = ch12._area(corners)
    assert len(corners) > 5 and (whole.abs() > math.pi).all()
    torch.testing.assert_close(whole - ch12.turn_of(corners), whole.sign() * 2 * math.pi)


def test_two_triangles_turn_as_their_sum_does():
    for (corners,) in ch12.walks(draws())[1:2]:
        one, two = corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]
        apart = ch12.turn_of(one) + ch12.turn_of(two) - ch12.turn_of(corners)
        torch.testing.assert_close(apart.cos(), torch.ones_like(apart))


# 12.4 -----------------------------------------------------------------------------------------------------------------


def test_the_connection_makes_the_librarys_laplacian_and_its_transpose_another_spectrum():
    points = torch.randn(40, 3, generator=draws(), dtype=torch.float64)
    points = (points / points.norm(dim=1, keepdim=True)).numpy()
    laplacian, tangents = connection_laplacian(points, 2, 5)
    dense, basis = laplacian.toarray(), torch.from_numpy(symmetric_basis(2))
    i, j = np.nonzero(np.abs(dense[::2, ::2]) + np.abs(dense[::2, 1::2]))
    i, j = (torch.from_numpy(end[i != j]) for end in (i, j))

    def spectrum(connection, tangents):
        turn = connection(torch.from_numpy(tangents), i, j).unsqueeze(1)
        blocks = torch.einsum("akl,eblk->eab", basis, (turn @ basis @ turn.mT))
        found = torch.from_numpy(np.where(np.eye(80), dense, 0))
        for row, column, block in zip(i.tolist(), j.tolist(), blocks, strict=True):
            found[2 * row : 2 * row + 2, 2 * column : 2 * column + 2] = -block
        return torch.linalg.eigvalsh(found)

    expected = torch.from_numpy(np.linalg.eigvalsh(dense))
    turned = tangents @ np.linalg.qr(np.random.default_rng(0).normal(size=(40, 2, 2)))[0]
    for bases in (tangents, turned):
        torch.testing.assert_close(spectrum(ch12.connection, bases), expected)
    printed = [spectrum(lambda u, i, j: ch12.connection(u, i, j).mT, bases) for bases in (tangents, turned)]
    assert (printed[0] - printed[1]).abs().max() > 0.05


# 12.5 and 12.6 --------------------------------------------------------------------------------------------------------


def test_the_example_of_factors():
    angles = torch.tensor([0.4, 1.1, 2.0], dtype=torch.float64)
    turns = torch.eye(3, dtype=torch.float64).repeat(3, 1, 1)
    turns[:, 0, 0] = turns[:, 1, 1] = angles.cos()
    turns[:, 0, 1], turns[:, 1, 0] = -angles.sin(), angles.sin()
    assert ch12.factor_sizes(turns).tolist() == [1, 2]


def test_the_survivors_are_what_loops_leave():
    draw, turn = draws(), 2 * math.pi / 3
    rows = [[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]]
    cone = torch.tensor(rows, dtype=torch.float64)
    found = {
        "spheres": (2, 2), "sphere-circle": (2, 1), "torus": (1, 1), "sphere-torus": (2, 1, 1),
        "three-torus": (1, 1, 1), "three-sphere": (3,),
    }  # fmt: skip
    loops = {name: ch12.bundles((dims,), draw)[0][0] for name, dims in found.items()}
    loops |= {"cone": cone[None], "klein": torch.diag(torch.tensor([-1.0, 1])).double()[None]}
    assert {name: len(ch12._null(each)) - 1 for name, each in loops.items()} == ch12.SURVIVING


def test_the_example_of_a_connection():
    tangents = torch.tensor([[[1.0, 0], [0, 1]], [[0, 1], [-1, 0]]], dtype=torch.float64)
    found = ch12.connection(tangents, torch.tensor([0]), torch.tensor([1]))
    torch.testing.assert_close(found, tangents[1:])
