"""What the text of chapter 12 says about its outputs is what the stored outputs say."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from course_replication import Store, best_verdict, load_claims
from stored_chapter import StoredChapter

CHAPTER = StoredChapter("12_symmetry")
output, says, table = CHAPTER.output, CHAPTER.says, CHAPTER.table
FIVE = "review/section-3.3-synthetic"


def floats(name: str) -> dict:
    return {label: [float(cell) for cell in cells] for label, cells in table(name).items()}


def test_six_codes():
    found = table("judged")
    says("(a) five, all but code B", "**(a)** Any table will do", "the second column; the rulers fail it")
    assert [name for name, row in found.items() if row[0] == "False"] == ["sum and difference"] and len(found) == 6
    assert {name: row[1] for name, row in found.items()} == dict.fromkeys(found, "True") | {
        "two rulers": "False", "shuffled rulers": "False",
    }  # fmt: skip
    says("It cannot even tell all worlds apart", "36! ways")
    assert [int(row[2]) for row in found.values()] == [36, 36, 36, 18, 6, 1]


def test_two_machines():
    says("Each code is right for one machine and wrong for the other")
    assert [*table("machines").values()] == [["True", "False"], ["False", "True"]]


def test_triangles_turn_by_what_they_enclose():
    says("the enclosed share of the globe, times 720°", "turned by 90°, although", "here an eighth, so 90°")
    found = floats("triangles")
    assert found["90° at the pole"] == [90, 12.5] and len(found) == 4
    for turned, share in found.values():
        assert turned == pytest.approx(7.2 * share, abs=0.05)


def test_survivors():
    says("adds all its $f(f+1)/2$ symmetric matrices", "Where the second row exceeds the first, two flat factors")
    heads = [head.get_text() for head in CHAPTER.html("survivors").select("thead th")][1:]
    found = floats("survivors")
    more = [name for name, few, many in zip(heads, found["factors"], found["survive"], strict=True) if many > few]
    assert more == ["S¹ × S¹", "S² × S¹ × S¹"] and found["survive"] == [1, 2, 2, 3, 3, 4, 2]


def test_spurious_fields():
    says("we expect two eigenvalues near 0", "Three near 0, and four.")
    circle, sphere = zip(*floats("spurious").values(), strict=True)
    assert circle[2] < 0.1 < 0.4 < circle[3] and sphere[3] < 0.5 < 2 < sphere[4]


def test_the_split_is_far_better_than_chance():
    for one, two, missed, chance in floats("equal").values():
        assert two > 4 * one and missed < chance / 3


def test_where_it_breaks():
    found = {name: row[2] for name, row in floats("broken").items()}
    says("*Turned*, nothing changes", "misses by more than chance does", "the error is 0, to all digits shown")
    assert found["turned"] == found["as it is"] and found["as it is, true planes given"] == 0
    assert abs(found["turned, then tanh of .3x"] - found["as it is"]) < 1
    says("tanh of $x$, $2x$ and $4x$ misses by 25°, 50° and 85°")
    assert [round(found[f"turned, then tanh of {times}x"]) for times in ("", 2, 4)] == [25, 50, 85]
    chance = floats("equal")["S² × S²"][3]
    assert min(found[name] for name in ("mixed by a random matrix", "second sphere × 3")) > chance
    assert found["photographed, two films"] < chance / 2 < chance < found["photographed, one film"]
    assert found["second sphere × 1.5"] < chance / 3
    says("the same pixels: 83°", "one film works nearly as well as two (27°)")
    assert [round(found[f"one film, {how}"]) for how in ("narrower bumps", "other directions")] == [83, 27]
    points = floats("more-points")
    says("With 250 points it is no better than chance, and each doubling helps")
    assert points["250 points"][0] > chance > points["500 points"][0] > found["as it is"] > points["2000 points"][0]
    assert points["250 points"][1] == points["500 points"][1] == 0


def test_how_far_off_neighbours_are():
    says("a neighbour is .87 away, where it was .50 (medians)")
    points = np.split(np.random.default_rng(0).normal(size=(1000, 6)), 2, axis=1)  # the chapter's cloud((2, 2), 1000)
    first, second = (part / np.linalg.norm(part, axis=1, keepdims=True) for part in points)
    for scale, median in ((1, 0.5), (3, 0.87)):
        near = cKDTree(np.hstack([first, scale * second])).query(np.hstack([first, scale * second]), 21)[1][:, 1:]
        joined = {tuple(sorted((i, j))) for i, row in enumerate(near.tolist()) for j in row}
        i, j = np.array([*joined]).T
        assert np.median(np.linalg.norm(first[i] - first[j], axis=1)) == pytest.approx(median, abs=0.005)


def test_memory():
    says("81 numbers for an edge at $k = 4$ and 2,916 at $k = 10$", "ten dimensions take 36 times what four do")
    few, many = ((k * (k + 1) // 2 - 1) ** 2 for k in (4, 10))
    assert (few, many) == (81, 2916) and many / few == 36


def test_a_torus():
    found = table("torus")
    says("two fields survive where two factors should leave one", "one half here")
    tori = [row for name, row in found.items() if name.startswith("S¹ × S¹")]
    assert len({row[3] for row in tori}) == len(tori) == 4 and {row[4] for row in tori} == {"0.5"}
    assert all(float(row[1]) < 0.01 and row[5] == "True" for row in tori)
    assert found["S² × S¹, seed 0"][5] == "False" and float(found["S² × S¹, seed 0"][4]) == 0


def test_parallelogram_and_lanczos():
    one, two = output("parallelogram").splitlines()
    assert float(one.split()[-1]) > 0.5 and float(two.split()[-1]) == 0
    says("With the loose tolerances the second zero is missing")
    found = floats("lanczos")
    assert {name: second < 0.01 for name, (_, second, _) in found.items()} == {
        "tolerance 0.1": False, "tolerance 0.01": False, "tolerance 0.0001": True, "tolerance 0": True,
    }  # fmt: skip


def test_five_factors():
    claims = {claim.id: claim for claim in load_claims() if claim.chapter == "12_symmetry"}
    results = Store().results()
    assert len(claims) == 8 and best_verdict(claims[FIVE], results).verdict == "inconclusive"
    others = [best_verdict(claim, results).verdict for name, claim in claims.items() if name != FIVE]
    assert sorted(others) == ["match"] * 6 + ["out of reach"]
    says("makes eight claims about symmetry", "One cannot be had")
    (found,) = (result["metrics"] for result in results.values() if result["measurement"] == "symmetry.products")
    says("Two spheres are separated with 500 points and more, three with 4,000 (32° where chance gives 74°)")
    assert found["angle/2-spheres/500"] < found["chance/2-spheres"] / 2 < found["angle/2-spheres/250"]
    assert (round(found["angle/3-spheres/4000"]), round(found["chance/3-spheres"])) == (32, 74)
    assert found["angle/3-spheres/2000"] > found["chance/3-spheres"] / 2
    doubt = "five factors were given 1,000 points, and three already needed more than 2,000"
    assert doubt in claims[FIVE].expects.doubt
    says("four not with 2,000, five not with 1,000", "all of them are separated, six spheres too, without error")
    assert found["angle/4-spheres/2000"] > found["chance/4-spheres"] and found["all-separated-given-their-planes"]
    assert found["angle/5-spheres/1000"] > found["chance/5-spheres"] and found["factors/separated"] == 3
