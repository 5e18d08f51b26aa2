"""What the text of chapter 01 says about its outputs is what the stored outputs say."""

import math
import re
from functools import cache

import numpy as np
import pytest
import torch

import notebook_io
from course_lib.data import Shapes3D
from course_replication import Store, best_verdict, load_claims, shipped_model, shipped_model_card
from stored_chapter import StoredChapter

CHAPTER = StoredChapter("01_disentanglement")
CELLS, TEXT, output, says, table = CHAPTER.cells, CHAPTER.text, CHAPTER.output, CHAPTER.says, CHAPTER.table


def floats(name: str) -> dict:
    return {label: [float(cell) for cell in cells] for label, cells in table(name).items()}


def test_the_rooms():
    says("is 12,288 numbers", "with 10, 10, 10, 8, 4 and 15 values", "= 480{,}000$", "One room out of 480,000".lower())
    assert math.prod(Shapes3D.shape) == 12_288
    assert Shapes3D.space.sizes == (10, 10, 10, 8, 4, 15) and len(Shapes3D.space) == 480_000


def test_the_edit():
    (nothing_a, dial_a, direction_a, best_a), (nothing_b, dial_b, direction_b, best_b) = floats("edit-table").values()
    says("takes away two thirds of the error", "*worse than doing nothing*, 102 against 97", "the error down to 13.5")
    assert dial_b / nothing_b == pytest.approx(1 / 3, abs=0.02)
    assert (round(dial_a), round(nothing_a)) == (102, 97)
    assert direction_a == 13.5 < min(dial_b, direction_b)
    says("(2.1 is left at best, against 8.7)")
    assert (best_a, best_b) == (2.1, 8.7)


def test_few_labels():
    found = floats("use-pivot")
    for learner in ("nearest neighbour", "linear classifier"):
        assert found[learner, "perfect"] == found[learner, "turned"]
    says("With 1,000 labels it has not reached what 20 gave it before", "fifty times as many labels did not make up")
    assert found["decision tree", "turned"][-1] < found["decision tree", "perfect"][0]
    mixed = floats("use-mixed")
    assert mixed["perfect"][0] == mixed["turned"][1] == 100 > max(mixed["perfect"][1], mixed["turned"][0]) + 5


def test_machines_and_few_labels():
    found = floats("use-machines")
    says(
        "96 % from 100 labels",
        "gets half of it right, and from A a third",
        "49 and 49, and A serves it *better*, with 55",
    )
    a, b, turned = found["wall_hue", "decision tree"]
    assert b == 96 and turned == pytest.approx(50, abs=3) and a == pytest.approx(33, abs=4)
    assert found["wall_hue", "linear classifier"] == [55, 49, 49]
    says("B knows next to nothing; a quarter would be guessing. There the mixed-up A wins with either learner")
    for learner in ("decision tree", "linear classifier"):
        a, b, turned = found["shape", learner]
        assert a > max(b, turned) + 15 and max(b, turned) <= 35


def test_the_changed_world():
    found = {tuple(label): row for label, row in floats("shift-run").items()}
    says(
        "Up to a habit of 97 %",
        "the answer is **(b)**",
        "One that happens to ask for the wall is right half of the time",
    )
    for share in ("50 %", "90 %", "97 %"):
        assert found["decision tree", "perfect", share] == [100, 0, 100, 100]
    turned = [found["decision tree", "turned", share] for share in ("50 %", "90 %", "97 %", "100 %")]
    assert all(one[0] > other[0] for one, other in zip(turned, turned[1:], strict=False))
    mean, spread, worst, best = found["decision tree", "perfect", "100 %"]
    assert best == 100 and worst == pytest.approx(50, abs=2) and spread > 20
    says("does on average as well as the tree on the perfect code", "and never fails completely")
    linear = found["linear classifier", "perfect", "100 %"]
    assert linear == found["linear classifier", "turned", "100 %"]
    assert abs(linear[0] - mean) < spread / 40**0.5 and turned[-1][0] < mean and linear[2] > turned[-1][3]


@cache
def rooms_of(model: str) -> tuple[np.ndarray, np.ndarray]:
    """The codes of 3,000 rooms and their factors."""
    data = Shapes3D()
    points = torch.randint(len(data), (3_000,), generator=torch.Generator().manual_seed(5))
    return shipped_model(model).encode(data.images(points)).numpy().astype(float), data.space.factors(points).numpy()


def explained(model: str, factor: int) -> np.ndarray:
    """The share of each latent's variance between the rooms of one value and those of another, by NumPy."""
    codes, factors = rooms_of(model)
    values = factors[:, factor]
    within = sum(np.square(codes[values == v] - codes[values == v].mean(0)).sum(0) for v in np.unique(values))
    return 1 - within / (len(codes) * codes.var(0))


@pytest.mark.slow
def test_the_shares():
    says(
        "the nearest to it is A7, with .76 for the wall",
        ".99, .99 and .97",
        "the wall also has .68 of B2 and .25 of two",
    )
    says(".76 against .99", "explain *next to nothing* of any dial of B, .01 at the most")
    assert round(explained("shapes3d-entangled", 1)[7], 2) == 0.76
    floor, wall, thing, *rest = (explained("shapes3d-disentangled", factor) for factor in range(6))
    assert [round(share, 2) for share in (floor[1], wall[8], thing[9])] == [0.99, 0.99, 0.97]
    assert round(wall[2], 2) == 0.68 and sorted(wall.round(2))[-4:-2] == [0.25, 0.25]
    assert round(max(share.max() for share in rest), 2) == 0.01


def test_five_codes():
    found = floats("definitions-table")
    ruler, clock, shuffled, turned, clock_turned = range(5)
    assert found["one latent"][ruler] == found["one latent"][shuffled] == 1 > found["one latent"][clock] + 0.5
    assert found["D"][clock] == 1 > found["C"][clock] == 0.69
    assert found["I"] == [1] * 5
    assert found["symmetry"][clock] == found["symmetry"][clock_turned] == 1 > found["symmetry"][ruler] + 0.5
    for order, straight in (("order, ruler", ruler), ("order, clock", clock)):
        assert found[order][ruler] == found[order][turned] and found[order][clock] == found[order][clock_turned]
        assert found[order][straight] == 1
    says("Each of the five has full marks from somebody, and each is refused them by somebody else")
    without_i = [row for name, row in found.items() if name != "I"]
    for code in range(5):
        assert any(row[code] == 1 for row in without_i) and any(row[code] < 0.5 for row in without_i)


def test_the_seam():
    ((label, row),) = floats("seam").items()
    assert label == "mean of B8"
    says("It goes 3, 4, …, 9, 0, 1, 2 without a break", "between 2 and 3")
    around = row[3:] + row[:3]
    assert around == sorted(around) and abs(row[2] - row[3]) > 4


def test_the_same_latent_in_every_room():
    found = floats("convince-rooms")
    says("A7 moves most in 96 % of the rooms, while in B no dial does so in more than 42 %")
    assert found["wall_hue"] == [96, 42]
    says("B0 moves most with it in 79 % of the rooms")
    assert found["shape"][1] == 79
    says("Ten dials that moved most by mere chance would come to about 21", "Take 24 at random")
    drawn = np.random.default_rng(0).multinomial(24, [0.1] * 10, size=50_000)
    assert round(100 * drawn.max(1).mean() / 24) == 21


def test_the_square():
    assert "[0, 10, 29, 39]" in output("pitfall")
    says("10 and 29 (at a half, 19 and 20")


def test_the_models_are_those_of_their_cards():
    cards = [shipped_model_card(name) for name in ("shapes3d-entangled", "shapes3d-disentangled")]
    shown = table("cards")
    assert shown["framework"] == [card["framework"] for card in cards]
    for place, card in enumerate(cards):
        left = card["provenance"]["scores"]["left"]
        assert shown["variance left, % (untrained)"][place].startswith(f"{100 * left:.1f} ")


def test_the_claims():
    claims = [claim for claim in load_claims() if claim.chapter == "01_disentanglement"]
    lines = CHAPTER.verdicts(claims)
    says("*Figure 2.4* is **inconclusive**", "Three claims belong to this chapter", "a construction, which says")
    for claim, line in zip(claims, lines, strict=True):
        expected = {
            "distances/figure-2.4": "inconclusive · order · small",
            "factorvae/section-6-data": "inconclusive · construction · exact",
        }
        assert line.startswith(expected.get(claim.id, "match · construction · exact")), line


def test_the_two_methods_of_figure_2_4():
    verdict = best_verdict({claim.id: claim for claim in load_claims()}["distances/figure-2.4"], Store().results())
    mig, alignment = verdict.orders
    says("is .10 with B's method and .06 with A's", "The alignment of axes is higher with B's, .24 against .20")
    assert [round(mean, 2) for mean in mig.means] == [0.1, 0.06] and mig.p > 0.05
    assert [round(mean, 2) for mean in alignment.means] == [0.24, 0.2] and alignment.p < 0.05
    assert "shuffled" in alignment.passing and verdict.n == 5 and all(arm.holds for arm in verdict.learnt)


def test_links_to_other_chapters_exist_or_say_so():
    for number in re.findall(r"\[[Cc]hapter (\d\d)\]\(\.\./book/index\.md\)", TEXT):
        assert not [*(notebook_io.ROOT / "chapters").glob(f"{number}_*.ipynb")], number
