"""Chapter 01's exercises beyond what is tested for all chapters: other ways to be right, and to be wrong."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from course_grading.checks import ch01_disentanglement as ch01
from course_lib.data import DSprites
from course_lib.factors import FactorSpace
from course_lib.metrics import dci

# 01.1 -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(4, 6), (10, 10, 10, 8, 4, 15), (3, 1, 7)])
def test_what_changed_is_what_the_library_says(sizes):
    space = FactorSpace([f"factor {place}" for place in range(len(sizes))], sizes)
    first, second = torch.randint(len(space), (2, 200), generator=torch.Generator().manual_seed(0))
    expected = space.factors(first) != space.factors(second)
    assert torch.equal(ch01.changed_factors(first, second, [*sizes]), expected)


def test_the_example_of_two_places():
    assert ch01.changed_factors(torch.tensor([5]), torch.tensor([6]), [4, 6]).tolist() == [[True, True]]


# 01.2 -----------------------------------------------------------------------------------------------------------------


def test_other_values_are_other_and_equally_frequent():
    draws = torch.rand(30_000, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for value in range(4):
        found = ch01.other_values(torch.full((30_000,), value), draws, 4)
        counts = torch.bincount(found, minlength=4).double()
        assert counts[value] == 0 and (counts[torch.arange(4) != value] - 10_000).abs().max() < 5 * 10_000**0.5


def test_the_example_of_other_values():
    draws = torch.tensor([0.1, 0.5, 0.9, 0.3], dtype=torch.float64)
    values = torch.ones(4, dtype=torch.int64)
    assert ch01.other_values(values, draws, 4).tolist() == [0, 2, 3, 0]
    (planted, *_) = ch01.OTHER_MISTAKES.values()
    assert planted(values, draws, 4).tolist() == [0, 2, 3, 1]


# 01.3 -----------------------------------------------------------------------------------------------------------------


def test_the_qualities_are_those_of_the_library():
    draw = torch.Generator().manual_seed(0)
    factors = torch.randint(5, (3_000, 3), generator=draw)
    mixed = factors.double() @ torch.tensor([[1.0, 0.3, 0], [0, 1, 0], [0, 0, 1]], dtype=torch.float64)
    latents = torch.cat([mixed, torch.zeros(3_000, 1)], 1)  # one latent for two factors, one that is dead
    score = dci.from_samples(latents, factors, jobs=1)
    importance = torch.tensor(score.matrix.to_numpy(copy=True))
    expected = [score.values["disentanglement"], score.values["completeness"]]
    assert ch01.two_qualities(importance).tolist() == pytest.approx(expected, abs=1e-9)


def test_the_example_of_the_clock():
    clock = torch.tensor([[0.5, 0], [0.5, 0], [0, 1]], dtype=torch.float64)
    assert ch01.two_qualities(clock).tolist() == pytest.approx([1, 0.685], abs=5e-4)


# 01.4 -----------------------------------------------------------------------------------------------------------------


def test_hands_that_are_near_belong_to_pictures_that_are_alike():
    """Away from step 0, the picture whose hand is nearest to that of step 0 is as near to it in pixels as any."""
    data, steps = DSprites(), torch.arange(40)
    for shape, turn in enumerate((9.75, 19.5, 39)):
        images = data.images(data.space.traversal("orientation", data.space.index([shape, 5, 0, 15, 15]))).double()
        far = (images - images[0]).square().sum((1, 2, 3))
        hands = ch01.angle_code(torch.full((40,), shape), steps)
        apart = (hands - hands[0]).norm(dim=1)
        away = (steps > turn / 3) & (steps <= turn + 1)
        assert steps[away][apart[away].argmin()] == pytest.approx(turn, abs=0.5)
        assert far[away][apart[away].argmin()] <= far[away].min() * 1.2 + 1


def test_the_examples_of_hands():
    shapes, steps = torch.tensor([2, 0, 0, 1]), torch.tensor([13, 13, 39, 0])
    expected = [[-0.5, 0.866], [-0.5, 0.866], [1, 0], [1, 0]]
    assert ch01.angle_code(shapes, steps).tolist() == [pytest.approx(row, abs=5e-4) for row in expected]


# 01.5 -----------------------------------------------------------------------------------------------------------------

LEARNERS = {
    "tree": DecisionTreeClassifier(random_state=0),
    "linear": LogisticRegression(max_iter=2_000),
    "neighbour": KNeighborsClassifier(1),
}


@pytest.mark.parametrize("case", [name for name in ch01.READERS if not name.startswith("person")])
def test_who_notices(case):
    """Errors with the new code against those with the old one: over 300 labels, half as many again is noticed."""
    learner, _, change = case.partition(", ")
    draw = np.random.default_rng(0)
    code = draw.standard_normal((3_300, 6))
    labels = code[:, :3].sum(1) > 0 if change == "bent" else code[:, 0] > 0
    rotation = np.linalg.qr(draw.standard_normal((6, 6)))[0]
    new = {"turned": code @ rotation, "stretched": code * [1, 1, 1, 1, 1, 30], "bent": code**3}[change]
    wrong = [
        1 - LEARNERS[learner].fit(each[:300], labels[:300]).score(each[300:], labels[300:]) for each in (code, new)
    ]
    noticed = wrong[1] > 1.5 * wrong[0] + 0.01
    assert noticed == (ch01.READERS[case] == "notices"), wrong


# 01.6 -----------------------------------------------------------------------------------------------------------------


def test_choices_in_any_case_and_order(judged):
    for exercise, right in (("01.5", ch01.READERS), ("01.6", ch01.EVIDENCE)):
        answer = {name: f" {word.upper()} " for name, word in reversed(right.items())}
        assert judged(exercise, answer).passed
