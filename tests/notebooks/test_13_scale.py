"""What the text of chapter 13 says about its outputs is what the stored outputs say."""

import hashlib
import math
import re
from statistics import fmean

import numpy as np
import pytest
from safetensors.torch import save_file

from course_lib import scaling, viz
from course_lib.data.files import RemoteFile
from course_lib.models import clip
from course_lib.models.clip import PUBLISHED
from course_replication import Store, best_verdict, load_claims
from course_replication.plans import parts_of
from stored_chapter import StoredChapter, numbers

CHAPTER = StoredChapter("13_scale")
output, says, table = CHAPTER.output, CHAPTER.says, CHAPTER.table
CLAIMS = {claim.id: claim for claim in load_claims() if claim.chapter == "13_scale"}


def floats(name: str) -> dict:
    return {label: [float(cell) for cell in cells] for label, cells in table(name).items()}


def stored(what: str) -> np.ndarray:
    """A score of the claim's runs, (seeds, levels)."""
    (part,), results = parts_of(CLAIMS["review/figure-7"], "small"), Store().results()
    found = [results[run.id]["metrics"] for run in part.runs()]
    return np.array([[each[f"{what}/steps-{level}"] for level in part.settings["levels"]] for each in found])


def test_what_compute_buys():
    found = [*floats("purchases").values()]
    blank, first, rest, start, later, weights, learnt, pictures = found
    says(
        "(.003 ± .008)",
        "steps* bring .022 ± .006",
        "hundred*: .001 ± .009 over all widths",
        "With 64 units alone it is .021 ± .016",
        ".003 ± .017, while what is left falls to a quarter",
        "from 4 units .018 ± .024",
        "from 16 to 64, −.005 ± .017",
        "worth .017 ± .026",
    )
    expected = [(0.003, 0.008), (0.022, 0.006), (0.001, 0.009), (0.021, 0.016), (0.003, 0.017), (0.018, 0.024)]
    expected += [(-0.005, 0.017), (0.017, 0.026)]
    assert [tuple(row[2:4]) for row in found] == expected
    assert [row for row in found if abs(row[2]) > row[3]] == [first, start] and first[1] == rest[0]
    assert later[5] / later[4] == pytest.approx(0.25, abs=0.02)
    says("(.82 is left)", "the MIG is .037 already", "(.47 left)")
    assert round(weights[4], 2) == 0.82 and pictures[0] == 0.037 and round(pictures[4], 2) == 0.47
    says("the step from an untrained network (.012) to a trained one", "have a MIG too, of .012")
    assert start[0] == blank[1] == 0.012
    says("± .017 has room for half of the MIG")
    assert later[3] / later[1] == pytest.approx(0.5, abs=0.05)


def test_the_first_prediction():
    weights = {width: 256 * width * 2 + width * 18 + width + 256 + 12 for width in (8, 64)}
    says("7.6 times the weights and 8 times the steps, about sixty times the compute")
    assert round(weights[64] / weights[8], 1) == 7.6 and round(7.6 * 8) == 61
    says("It goes from .037 to .036", "leaving .96 of the variance to .09", "MIG is .037, with 64 after 800 it is .036")
    small, large = floats("predicted").values()
    assert (small[0], large[0]) == (0.037, 0.036) and (round(small[2], 2), round(large[2], 2)) == (0.96, 0.09)
    says("a standard deviation of about .02 between seeds")
    assert all(row[1] == pytest.approx(0.02, abs=0.0045) for row in (small, large))


def test_intervals():
    rows = CHAPTER.html("intervals-table").select("tbody tr")
    found = [[float(cell.get_text()) for cell in row.select("td")] for row in rows]
    mig, left = found[:3], found[3:]
    says("from −.79 to −.77", "twenty times as wide", "The MIG has an exponent of .04, and every interval contains 0")
    assert left[2][1:] == [-0.79, -0.77] and all(15 < (row[2] - row[1]) / 0.02 < 25 for row in left[:2])
    assert mig[0][0] == 0.04 and all(low < 0 < high for _, low, high in mig)
    says("1.96 / 2.36$, which is .78")
    assert round(float((7 / 8) ** 0.5 * 1.96 / scaling.student.ppf(0.975, 7)), 2) == 0.78
    exponents = floats("one-seed-table")["exponent"]
    assert len(exponents) == 8 and min(exponents) < 0 < max(exponents)


def test_how_straight_a_bend_looks():
    found = floats("straight-table")
    says("$R^2 = .921$", "still has an $R^2$ of .979", "has .84", "It is .921, whatever the range")
    assert (
        found["stopped, δ = 2"][1] == 0.921
        and found["δ = 1"][1] == 0.979
        and round(found["turned, δ = 3"][1], 2) == 0.84
    )
    factor = {points: (points**2 - 4) / (60 * (points - 1) ** 2) for points in (6, 20)}
    says("the factor only falls from .0213 to .0183", "$\\rho = .085$")
    assert (round(factor[6], 4), round(factor[20], 4)) == (0.0213, 0.0183) and round(4 * factor[6], 3) == 0.085
    laws = floats("laws-table")
    says("Three of the four have $R^2$ above .97, and all above .85", "differs by a factor of three")
    assert sorted(row[0] > 0.97 for row in laws.values()) == [False, True, True, True]
    assert min(row[0] for row in laws.values()) > 0.85
    assert max(row[3] for row in laws.values()) / min(row[3] for row in laws.values()) == pytest.approx(3, abs=0.1)


def test_the_seeds_that_a_bend_costs():
    says("it takes 90 seeds")
    step = math.log(2)
    squares = step**4 * 6 * 35 * 32 / 180
    assert math.ceil(4 * 0.6**2 / squares / (0.3 / (5 * step) / 2) ** 2) == 90
    says("$\\sigma$ is .6 to .9 with 64 units")
    assert all(0.55 < value < 0.95 for value in floats("predicted-scatter")["standard deviation of ln MIG"][2:])


def test_held_out_sizes():
    rows = CHAPTER.html("held").select("tbody tr")
    found = np.array([[float(cell.get_text()) for cell in row.select("td")] for row in rows])
    mig, left = found[:3], found[3:]
    says(
        "with an $R^2$ of .96 to .98",
        "by factors of .54 to 1.37",
        "in three of six places it predicts a *negative* variance",
    )
    assert (left[:, 4].min(), left[:, 4].max()) == (0.96, 0.98)
    assert (left[:, :2].min(), left[:, :2].max()) == (0.54, 1.37) and (left[:, 2:4] < 0).sum() == 3
    says("between .74 and 1.39 of what was found")
    assert (mig[:, :4].min(), mig[:, :4].max()) == (0.74, 1.39)
    says("its six points at 64 units have $R^2 = .96$")
    assert left[2, 4] == 0.96


def test_five_encoders():
    printed = {number.what: float(number.value) for number in CLAIMS["review/table-1"].numbers}
    names = {"RN50": "rn50", "RN50x4": "rn50x4", "RN50x16": "rn50x16", "ViT-B/16": "vit-b-16", "ViT-L/14": "vit-l-14"}
    for name, (size, image, _, mig) in floats("five").items():
        assert (size, mig) == (printed[f"parameters/{names[name]}"], printed[f"mig/{names[name]}"]) and image < size
    assert PUBLISHED["vit-l-14"][0].outputs == floats("five")["ViT-L/14"][2] == 768
    table_1 = floats("five")
    says("ViT-B/16 beats a larger convolutional network, RN50x4, with .0235 against .0176")
    assert table_1["ViT-B/16"][0] < table_1["RN50x4"][0]
    assert [round(table_1[name][3], 4) for name in ("ViT-B/16", "RN50x4")] == [0.0235, 0.0176]
    says("ViT-L/14 loses to a smaller one, RN50x16, with .0255 against .0262")
    assert table_1["RN50x16"][0] < table_1["ViT-L/14"][0]
    assert [round(table_1[name][3], 4) for name in ("ViT-L/14", "RN50x16")] == [0.0255, 0.0262]
    says("102 million for RN50, of which the image encoder has 38", "a share of .067", "between −.60 and 2.62")
    says("five of 24 orders do as well and the exponent is .23, give or take .93", "The two differ by .0007")
    says("RN50x16 the MIG rises by .0085, from ViT-B/16 to ViT-L/14 by .0020")
    migs = {name: row[3] for name, row in floats("five").items()}
    assert round(migs["RN50x16"] - migs["RN50x4"], 4) == 0.0085
    assert round(migs["ViT-L/14"] - migs["ViT-B/16"], 4) == 0.002
    says("Sorted by the image encoder alone the five are in the same order")
    by_size = sorted(floats("five").values())
    assert [row[1] for row in by_size] == sorted(row[1] for row in by_size)
    found = numbers(output("five-orders"))
    for value in (0.8, 8, 120, 0.067, 1.01, -0.60, 2.62, 5, 24, 0.208, 0.23, -0.70, 1.15):
        assert value in found
    assert round((1.15 + 0.70) / 2, 2) in (0.92, 0.93) and round(0.02616 - 0.0255, 4) == 0.0007
    says("a CLIP of 12 billion parameters has a MIG of 1", "by factors of 3.7 and 11")
    assert 11_500 < float(re.search(r"at (\S+) million", output("five-held"))[1].replace(",", "")) < 12_500
    assert [round(value, 1) for value in floats("five-held")["power_law"]] == [3.7, 11.1]


def test_wide_codes():
    rows = CHAPTER.html("run-digits").select("tbody tr")
    found = [[float(cell.get_text()) for cell in row.select("td")] for row in rows]
    learnt, mixed, blank = found[:4], found[4:8], found[8:]
    says("read .405 and then .716 of the factors' variance", "The mean MIG is .034 first and .014 then")
    assert (learnt[0][2], learnt[3][2], blank[3][2]) == (0.405, 0.716, 0.648)
    assert (learnt[0][0], learnt[3][0]) == (0.034, 0.014)
    says(".014 against .015, and still a better probe, .716 against .648", "the mean MIG does not fall at all")
    assert blank[3][0] == 0.015 and blank[0][0] <= blank[3][0]
    says("Its SAP is .019, below the .040 of the untrained one", "have .001 at most of either")
    assert (learnt[3][1], blank[3][1]) == (0.019, 0.04) and max(max(row[:2]) for row in mixed) == 0.001
    assert all(row[2] < 0 for row in mixed), "and a probe does worse than the mean"
    rows = CHAPTER.html("wide-gained").select("tbody tr")
    mig, sap, probe = [[float(cell.get_text()) for cell in row.select("td")] for row in rows][:3]
    says("a gain of .311 ± .044", "a change of −.020 ± .036")
    assert (probe, mig) == ([0.311, 0.044], [-0.02, 0.036]) and abs(sap[0]) < sap[1]


def test_the_cell_of_clip_measures_where_there_is_a_file(tmp_path, monkeypatch, capsys):
    """A small transformer in the place of the published one: MIG, SAP and probe of it and of both controls."""
    shape, path = clip.Shape(width=16, layers=1, heads=2, patch=8, image=16, outputs=5), tmp_path / "small.safetensors"
    published = {clip._published(name): weight for name, weight in _drawn(shape, monkeypatch).state_dict().items()}
    save_file(published, path)
    digest = f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    monkeypatch.setitem(PUBLISHED, "vit-l-14", (shape, RemoteFile(path.name, "http://nowhere.invalid", digest)))
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    monkeypatch.setattr(viz, "use_style", lambda: None)
    names = {}
    for name in ("imports", "sizes", "build", "gap", "gap-equal", "stand-in", "probe", "described", "clip"):
        exec(compile(CHAPTER.cells[name].source, name, "exec"), names)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["MIG", "SAP", "probe"]
    rows = {line.split()[0]: [float(cell) for cell in line.split()[1:]] for line in lines[2:]}
    assert [*rows] == ["untrained", "ViT-L/14", "exchanged"]
    codes = clip.clip_encoder("vit-l-14")(names["images"][names["some"]])
    assert rows["ViT-L/14"] == [
        round(value, 4) for value in names["described"](codes, names["factors"][names["some"]]).values()
    ]
    assert rows["untrained"] != rows["ViT-L/14"] and max(rows["exchanged"]) < 0.06


def _drawn(shape, monkeypatch):
    """Weights of that shape by another seed than the control's."""
    with monkeypatch.context() as patch:
        patch.setitem(PUBLISHED, "vit-l-14", (shape, None))
        return clip.untrained_clip(seed=5)


def test_the_claims():
    results = Store().results()
    verdict = best_verdict(CLAIMS["review/figure-7"], results)
    ends, slope = verdict.orders
    says("The slope is .034 for ten times the steps (p = .011)", ".101 against .063, has p = .078")
    assert round(slope.means[0], 3) == 0.034 and round(slope.p, 3) == 0.011 and slope.holds and not slope.passing
    assert [round(mean, 3) for mean in ends.means] == [0.101, 0.063] and round(ends.p, 3) == 0.078
    assert verdict.verdict == "inconclusive"
    mig, left = stored("mig"), stored("left")
    gain = mig[:, -1] - mig[:, 0]
    half = scaling.student.ppf(0.975, 4) * gain.std(ddof=1) / 5**0.5
    says("the gain is .038 ± .031, which leaves 0 out")
    assert (round(gain.mean(), 3), round(half, 3)) == (0.038, 0.031)
    says("The fifth stays at .02 throughout, and reconstructs as well as the others")
    assert mig[4].max() < 0.03 < mig[:4].min() and left[4, -1] <= left[:4, -1].max()
    says("Four of the five rise until 4,000 or 8,000 steps")
    assert all(row.argmax() in (2, 3) for row in mig[:4])
    means = mig.mean(0)
    says("is worth .050 ± .035 seed by seed, which leaves 0 out, the second −.012 ± .025, which does not")
    says("by .050 ± .035 over five seeds, one of which did not move", "says .207 for 16,000 steps. There it is .101")
    gains = [mig[:, 2] - mig[:, 0], mig[:, 4] - mig[:, 2]]
    halves = [scaling.student.ppf(0.975, 4) * gain.std(ddof=1) / 5**0.5 for gain in gains]
    assert [round(gain.mean(), 3) for gain in gains] == [0.05, -0.012] and abs(gains[0][4]) < 0.005
    assert [round(half, 3) for half in halves] == [0.035, 0.025]
    law = scaling.power_law([1000, 2000, 4000], means[:3])
    assert (round(float(law(16_000.0)), 3), round(means[4], 3)) == (0.207, 0.101)
    assert fmean(mig[:, 0]) == pytest.approx(ends.means[1])
