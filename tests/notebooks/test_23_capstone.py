"""What the text of chapter 23 says about its outputs is what the stored outputs say."""

import re

import pytest

from course_replication.predictions import SETTINGS
from course_replication.prepared import prepared_table
from stored_chapter import StoredChapter, numbers

CHAPTER = StoredChapter("23_capstone")
CELLS, TEXT, output, says, table = CHAPTER.cells, CHAPTER.text, CHAPTER.output, CHAPTER.says, CHAPTER.table


def evidence() -> dict[tuple[str, str], list[float]]:
    """Loss and fader → importance, order, first and second direction."""
    rows = table("evidence")
    return {
        (loss, fader): [float(rows[loss, what][place]) for what in ("importance", "order", "first", "second")]
        for loss in ("mse", "mse-box")
        for place, fader in enumerate("abcd")
    }


def cells() -> dict[tuple[str, str], list[str]]:
    """Loss and fader → confidence, runs that found it, mean share, right or wrong."""
    return table("train")


def test_directions():
    says("Eighteen directions from four tables of six rows or fewer", "864 images of 256 pixels")
    assert output("directions").rstrip().endswith("0.0")
    found = numbers(output("directions"))
    assert found[:3] == [59.3, 41.7, 41.7]
    says("the list above has seven larger directions, of other faders, and there are six latents")
    assert found[7] == round(evidence()["mse", "d"][2], 1) < found[6] and SETTINGS["latents"] == 6
    says("nearly two thirds of its variance lie along one")
    scale = 3 * found[3] / (evidence()["mse", "b"][0] * 3 / 4)  # b: three equal directions, four places
    assert 0.6 < found[0] / (scale * evidence()["mse", "a"][0] * 5 / 6) < 2 / 3


def test_the_evidence():
    found = evidence()
    mse, box = ({name: found[loss, name] for name in "abcd"} for loss in ("mse", "mse-box"))
    says("Under the squared error all its steps are equal, the order is 0 and the two directions are the same")
    assert mse["b"][1] == 0 and mse["b"][2] == mse["b"][3]
    says("The blur makes it grow, with an order of .95")
    assert box["b"][1] == 0.95
    says("$c$ matters most of all by the squared error, more than $a$")
    assert max(mse, key=lambda name: mse[name][0]) == "c"
    says("its directions come in a pair, 42 and 42", "stretches it (138 and 73)", "hardly moves, from .59 to .63")
    assert [round(value) for value in box["c"][2:]] == [138, 73]
    assert (mse["c"][1], box["c"][1]) == (0.59, 0.63) and round(mse["c"][2]) == round(mse["c"][3]) == 42
    says("with a seventh of $a$'s importance", "Its first direction is 8, above the β of 4")
    assert round(mse["a"][0] / mse["d"][0]) == 7 and round(mse["d"][2]) == 8
    assert mse["a"][1] == mse["d"][1] == 1 and mse["b"][0] > 0.8 * mse["a"][0]


def test_the_seal():
    assert "holds another prediction" in output("second") and "was altered after it was sealed" in output("second")
    assert output("seal")[:8] in output("second")


def test_the_report():
    found = cells()
    says("All twelve cells fall on the predicted side")
    assert len(found) == 12 and {row[3] for row in found.values()} == {"yes"}
    says("is found by one network in five with the squared error, and $b$ by none")
    assert found["mse", "c"][1] == "1 of 5" and found["mse", "b"][1] == "0 of 5"
    says("$d$ is found where it is told, and only there")
    assert [found[loss, "d"][1] for loss in ("mse", "mse-box", "told")] == ["0 of 5", "0 of 5", "5 of 5"]
    says("It scraped through, 3 of 5")
    assert found["mse-box", "a"][1] == "3 of 5"
    assert found["mse", "a"][1] == "5 of 5"  # and so (b) is the answer of the prediction
    words = CHAPTER.html("train").select_one("p").get_text()
    says("It comes out where knowing nothing does")
    mine, nothing, one, importance = map(float, re.findall(r"0\.\d{3}", words))
    assert nothing == 0.25 and importance == pytest.approx(0.25, abs=0.01) and mine < 0.1
    often = [sum(int(found[loss, name][1][0]) for name in "abcd") / 20 for loss in ("mse", "mse-box", "told")]
    assert one == pytest.approx(sum(share * (1 - share) for share in often) / 3, abs=5e-4) and mine < one
    says("of the others it ranks $c$ before $a$ or before $b$, and neither loss finds $c$ in most runs")
    order = {loss: sorted("abcd", key=lambda name: -evidence()[loss, name][0]) for loss in ("mse", "mse-box")}
    assert order == {"mse": [*"cabd"], "mse-box": [*"acbd"]}


def test_distances_that_do_not_add():
    found = table("adding")
    says("from .4 to 2.3 times as far apart")
    share = {loss: [float(cell) for cell in row] for loss, row in table("favourite").items()}
    says("With the squared error the favourite is $a$ and nothing else", "the networks have .67 of its order")
    assert cells()["mse-box", "b"][2] == "0.67" and share["mse-box"][1] < 0.5
    assert share["mse"][0] > 0.9 and max(share["mse"][1:]) < 0.01
    says("a little over half of $a$'s order, a fifth of $b$'s and a tenth of $c$'s", "around the bar, .54 on average")
    assert [round(value, 1) for value in share["mse-box"][1:3]] == [0.2, 0.1] and 0.5 < share["mse-box"][0] < 0.6
    assert cells()["mse-box", "a"][2] == "0.54"
    assert [round(float(found["mse-box"][place]), 1) for place in (2, 3)] == [0.4, 2.3]
    assert [float(cell) for cell in found["mse"]] == [1, 0, 1, 1]


def test_six_desks():
    six = prepared_table("six-desks")
    assert sorted(six["desk"].unique()) == [*range(12, 18)] and len(six) == 6 * 2 * 4 * 4
    rows = table("six-brier")
    for loss, part in six.groupby("loss"):
        by_desk = ((part["rule"] - part["found"]) ** 2).groupby(part["desk"]).mean()
        expected = [by_desk.mean(), by_desk.min(), by_desk.max()]
        place = ("mse", "mse-box").index(loss)
        shown = [float(rows["rule", what][place]) for what in ("mean", "min", "max")]
        assert shown == pytest.approx(expected, abs=0.0051)


def test_what_six_desks_say():
    often = {row: [float(cell) for cell in each] for row, each in table("calibration").items()}
    says("what was called likely, .8, was found in every run, and what was called unlikely, .1, in 6 % of runs")
    assert (often["mse", "0.8"][0], often["mse", "0.1"][0]) == (1, 0.06)
    says("With the blur .8 came true in 69 % of 36 runs: over-sure, but not everywhere.")
    assert often["mse-box", "0.8"] == [0.69, 36]
    says("Its Brier score of .15 beats knowing nothing (.25) and one number for all faders (.21)")
    says("importance alone has .18, hardly worse")
    rows = table("six-brier")
    box = [float(rows[guess, "mean"][1]) for guess in ("rule", "importance", "one number")]
    assert box == [0.15, 0.18, 0.21]


def test_the_first_and_the_second_likely_fader():
    six = prepared_table("six-desks")
    likely = six[(six["loss"] == "mse-box") & (six["rule"] == 0.8)]
    more = likely["importance"] == likely.groupby("desk")["importance"].transform("max")
    says("in 22 of 24 runs; the second, on the three desks that have one, in 3 of 12")
    assert (likely[more]["found"].sum(), more.sum()) == (22, 24)
    assert (likely[~more]["found"].sum(), (~more).sum(), likely[~more]["desk"].nunique()) == (3, 12, 3)
    says("Our own desk was the other way round, where $a$ wavered and $b$ was found.")
    found = cells()
    assert (found["mse-box", "a"][1], found["mse-box", "b"][1]) == ("3 of 5", "4 of 5")
    assert evidence()["mse-box", "a"][0] > evidence()["mse-box", "b"][0]


def test_the_made_up_table():
    says("five seeds a side put about .035 on the difference")
    assert ((0.05**2 + 0.06**2) / 5) ** 0.5 == pytest.approx(0.035, abs=5e-4)
    says('"both" would come up in one of four cases')
    assert 0.5**2 == 1 / 4
