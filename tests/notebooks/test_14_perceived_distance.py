"""What the text of chapter 14 says about its outputs is what the stored outputs say."""

import math
import re

import pytest

from course_lib.data import DSprites
from course_replication import Store, best_verdict, load_claims
from course_replication.claims import claims_named
from stored_chapter import StoredChapter, numbers

CHAPTER = StoredChapter("14_perceived_distance")
CELLS, TEXT, output, says, table = CHAPTER.cells, CHAPTER.text, CHAPTER.output, CHAPTER.says, CHAPTER.table


def test_the_identity():
    long_way, formula = numbers(output("identity"))
    assert long_way == formula > 0


def test_the_orders():
    says("two of 40,320 orders are the cheapest")
    says("*every* order costs the same to the last digit")
    sliding, apart = output("orders").strip().splitlines()
    assert "2 cheapest orders, the first [0, 1, 2, 3, 4, 5, 6, 7]" in sliding and numbers(sliding)[-1] > 2
    assert "40,320 cheapest orders" in apart and numbers(apart)[-1] == 1


def test_the_moving_heart():
    (frames,) = (output["data"]["text/html"] for output in CELLS["move"].outputs)
    labels = re.findall(r"(\d+) px: (\d\.\d+)", frames)
    says("it is equally far from everywhere")
    far = [float(distance) for shift, distance in labels if int(shift) >= 19]
    near = [float(distance) for shift, distance in labels if int(shift) <= 17]
    assert max(far) - min(far) < 0.003 and sorted(set(near)) == list(dict.fromkeys(near)) and max(near) < min(far)


def test_what_overlaps_more():
    """Of two pairs of hearts, those that share no pixel have the higher perceived overlap, by counting pixels too."""
    (common, large), (none, small) = (numbers(line)[-2:] for line in output("overlap-numbers").strip().splitlines())
    assert common > none == 0 and large < small < 0
    says("which share nothing, have a perceived overlap of −.027, the large ones, half covered, one of −.053")
    assert (small, large) == (-0.027, -0.053)
    sprites = DSprites()
    areas = [int((sprites.images([sprites.space.index([2, scale, 0, 0, 15])]) > 0).sum()) for scale in (0, 5)]
    assert small == pytest.approx(-2 * areas[0] / 4096, abs=0.0006)
    assert large == pytest.approx((2 * common - 2 * areas[1]) / 4096, abs=0.0025)  # a raster adds or takes pixels
    assert common == pytest.approx(areas[1] / 2, rel=0.1)


def test_random_pairs_by_two_protocols():
    found = {key: cells for key, cells in table("random-rows").items()}
    for dataset in ("DSprites", "XYSquares"):
        independent, batches, printed = (
            [float(cell) for cell in found[dataset, pairs][:2]]
            for pairs in ("independent pairs", "within batches of 32", "printed")
        )
        assert batches == pytest.approx(printed, abs=0.011) and max(independent) < min(printed)
        assert found[dataset, "independent pairs"][2] == "0.0%"
        assert float(found[dataset, "within batches of 32"][2][:-1]) == pytest.approx(100 / 32, abs=0.25)
    says("drawn independently the pairs have about .25. On dSprites, too, it is about .31 and not .43")
    assert float(found["XYSquares", "independent pairs"][0]) == pytest.approx(0.25, abs=0.015)
    assert float(found["DSprites", "independent pairs"][0]) == pytest.approx(0.31, abs=0.015)
    says("More than half of the linear correlation on XYSquares, .55, is made by one pair in 32")
    assert float(found["XYSquares", "independent pairs"][0]) < 0.55 / 2
    assert "batch_size=None" in CELLS["distinct"].source


def test_the_nats_of_a_column_are_those_of_the_small_grid():
    says("the 11 columns of this grid need up to $\\ln 11 \\approx 2.4$")
    says("The 32 of dSprites would need $\\ln 32 \\approx 3.5$")
    assert len(range(0, 32, 3)) == 11 and round(math.log(11), 1) == 2.4 and round(math.log(32), 1) == 3.5
    assert "(1, 1, 2, 3, 3)" in CELLS["small-sprites"].source


def test_factor_importance():
    says("at more than twice the next; then scale, then shape, and orientation last")
    mean = {name: float(cells[0]) for name, cells in table("importance").items()}
    order = sorted(mean, key=mean.get, reverse=True)
    assert order[0] == "random" and set(order[1:3]) == {"position_x", "position_y"}
    assert order[3:] == ["scale", "shape", "orientation"]
    assert min(mean["position_x"], mean["position_y"]) > 2 * mean["scale"]


def test_the_matrices_are_alike_in_number():
    sprites, rooms = (numbers(row[0])[0] for row in table("card-34").values())
    says("the other two, .63 and .78, that says the rows above are alike")
    assert (round(sprites, 2), round(rooms, 2)) == (0.63, 0.78)


def test_table_31():
    found = table("table-31")
    says("ours are the same to within .0001. The thesis' differ by .0025")
    x, y = ([numbers(text) for text in found["dsprites", f"position_{axis}"][:2]] for axis in "xy")
    assert x[0][0] == 0.0559 and y[0][0] == 0.0584
    assert abs(x[1][0] - y[1][0]) <= 0.0001
    says("to within .0002 for random pairs, scale and shape")
    for factor in ("random", "scale", "shape"):
        printed, ours = (numbers(text)[0] for text in found["dsprites", factor][:2])
        assert abs(printed - ours) < 0.00021 and printed != ours
    assert found["xysquares", "random"][0] == found["xysquares", "random"][1]
    says("\\approx .0002")
    assert 0.037 * math.sqrt(2 / 50_000) == pytest.approx(0.0002, abs=0.00005)
    assert found["xysquares", "factors"][1] == "0.0104 ± 0.0000"
    assert found["smallnorb", "lighting"][0].startswith("0.0531")
    assert found["smallnorb", "random"][0].startswith("0.0535")
    verdicts = {group: cells[-1] for (group, _), cells in found.items()}
    assert verdicts["xysquares"] == "match · number · exact"
    assert verdicts["dsprites"] == verdicts["shapes3d"] == "direction · number · exact"
    assert verdicts["cars3d"] == verdicts["smallnorb"] == "not run"


def test_the_order_of_learning():
    says("From the first nat on, the order of the shares is the order of the mean distances")
    below, above = (numbers(line)[-2:] for line in output("capacity-order").strip().splitlines())
    says("The one exception among the 52 records")
    assert above == [51, 52] and below[0] < below[1] / 2
    found = {name: [*map(float, cells)] for name, cells in table("capacity-table").items()}
    for column in (0, *range(2, len(found["scale"]))):  # the mean distances, and the shares from the first nat on
        shares = {name: row[column] for name, row in found.items()}
        position = min(shares["position_x"], shares["position_y"])
        assert position > shares["scale"] > shares["shape"] > shares["orientation"]
    says("all rise together, and at 4 to 6 nats only .10 of shape and .05 of orientation are there")
    assert all(row[1:] == sorted(row[1:]) for row in found.values())
    assert (round(found["shape"][-1], 2), round(found["orientation"][-1], 2)) == (0.1, 0.05)
    assert max(row[1] for row in found.values()) < 0.04  # "a few hundredths" below one nat
    off, _ = numbers(output("capacity"))
    assert off < 0.5


def test_the_stages():
    found = {key: [*map(float, cells)] for key, cells in table("stages-table").items()}
    says("already agrees with the pixels at .76 or more")
    assert min(value for (_, step), row in found.items() if step == "step 0" for value in row[1:]) == 0.76
    before, after = found["position_x", "step 0"], found["position_x", "step 1,500"]
    assert all(value > 0.95 for value in after[1:]) and max(before[1:]) < 0.9
    says("agreement of the reconstructions fell from .80 to .30, that of the posteriors from .87 to .57")
    assert found["orientation", "step 0"][2:] == [0.87, 0.80] and found["orientation", "step 1,500"][2:] == [0.57, 0.30]
    shares = dict(re.findall(r"(\w+) (\d\.\d\d)", output("train")))
    assert shares["position_x"] == "0.65"
    says(f"Of its distances, {shares['orientation'][1:]} of this model's come back; of position x, .65")


def test_the_controls():
    columns = ("data", "distinct_data", "factors", "distinct")
    found = {name: dict(zip(columns, map(float, cells), strict=True)) for name, cells in table("controls").items()}
    untrained, free, priced = (found[name] for name in ("untrained", "β = 0", "β = 1"))
    says("a correlation of .84 may be no achievement at all")
    assert untrained["data"] == 0.84
    assert priced["data"] > priced["factors"] + 0.2 and priced["distinct_data"] > priced["distinct"] + 0.2
    says("β = 0 does as well as β = 1")
    assert free["distinct_data"] >= priced["distinct_data"] > untrained["distinct_data"]


def test_the_loss_sorts():
    found = table("sorts-table")
    (untrained, shuffled, cheaper, apart, blind) = found.values()
    says("exactly so in nine of ten runs")
    says("the targets are enough, again in nine of ten")
    assert shuffled[2] == apart[2] == "9 of 10"
    assert numbers(shuffled[0])[0] > 3.5 and numbers(shuffled[1])[0] < 1.2 and numbers(apart[1])[0] < 1.2
    says("a jump of 2.67 is what ten shuffled decks (3) or ten untrained networks (2.76) can give")
    assert numbers(blind[1])[0] == 2.67 and numbers(untrained[0])[0] == 2.76
    says("a tenth of the samples are mistaken, and only six of ten runs are in order")
    assert cheaper[2] == "6 of 10" and float(cheaper[3]) == pytest.approx(0.1, abs=0.02)
    assert all(0.25 < float(row[3]) < 0.55 for row in (shuffled, apart, blind))  # "overlap without merging"
    says("two of them differ by 518, and two of those that slide by 136 to 544")


def test_self_pairs():
    says("Noise gets .73 in the place of dSprites' .72")
    constant, noise = output("self-pairs").strip().splitlines()
    assert "linear 0.52, rank 0.58" in constant and "rank 0.73" in noise


def test_table_41():
    found = {key: [float(cell) if cell else None for cell in cells] for key, cells in table("table-41").items()}
    thesis, distinct = ({key: cells[place] for key, cells in found.items()} for place in (1, -1))
    noise, constant = ({key: cells[place] for key, cells in found.items()} for place in (3, 4))
    above = [("dsprites", name) for name in ("scale", "position_x", "position_y")]
    above += [("shapes3d", name) for name in ("floor_hue", "wall_hue", "object_hue", "scale", "orientation")]
    above += [("cars3d", "elevation"), ("smallnorb", "elevation")]
    between = [("dsprites", "orientation"), ("cars3d", "azimuth"), ("cars3d", "type")]
    between += [("smallnorb", name) for name in ("category", "instance", "azimuth")]
    assert all(thesis[key] > constant[key] + 0.05 for key in above)
    assert all(noise[key] < thesis[key] < constant[key] for key in between)
    rest = {("dsprites", "shape"), ("shapes3d", "shape"), ("smallnorb", "lighting")}
    assert {*found} == {*above, *between} | rest
    says("over distinct pairs the one has some order (.48), the other little (.10)")
    assert distinct["shapes3d", "shape"] == 0.48 and distinct["dsprites", "orientation"] == 0.10
    assert noise["shapes3d", "shape"] < thesis["shapes3d", "shape"] <= constant["shapes3d", "shape"] + 0.01
    says("rank correlation of dSprites' shape is −.03", "(.95 and .75 where the references have .66 and .30 at most)")
    assert distinct["dsprites", "shape"] == -0.03
    assert [thesis["dsprites", name] for name in ("scale", "position_x")] == [0.95, 0.75]
    assert [constant["dsprites", name] for name in ("scale", "position_x")] == [0.66, 0.30]
    says("The shape of 3D Shapes (.79) is at the upper reference (.78)")
    assert (thesis["shapes3d", "shape"], constant["shapes3d", "shape"]) == (0.79, 0.78)
    says("(.29 against .43)")
    assert thesis["smallnorb", "lighting"] == 0.29 and noise["smallnorb", "lighting"] == 0.43
    assert thesis["dsprites", "shape"] < noise["dsprites", "shape"] and abs(distinct["dsprites", "shape"]) < 0.05


def test_the_numbers_of_table_41_are_right():
    says("all twelve of dSprites came out again as closely as drawn pairs allow", "eleven of twelve)")
    (claim,) = claims_named(["distances/table-4.1-dsprites"])
    verdict = best_verdict(claim, Store().results())
    assert verdict.verdict == "direction" and len(claim.numbers) == 24
    assert sum(number.what.startswith("mse/") for number in claim.numbers) == 12
    missed = [number for number in verdict.numbers if not number.agrees]
    assert [number.what for number in missed] == ["mse-box/orientation/linear"]


def test_the_accident():
    published, renumbered = (numbers(line)[0] for line in output("relabel").strip().splitlines())
    assert published > 0.95 and abs(renumbered) < 0.15


def test_pitfalls():
    direct, detour, direct_root, detour_root = numbers(output("pitfall-metric"))
    assert detour < direct and detour_root >= direct_root - 0.01
    right, wrong = (numbers(line)[-1] for line in output("pitfall-gram").strip().splitlines())
    assert right > 0 and abs(wrong - right) > 0.5 * right
    says("$1/.195^2 \\approx 26$")
    assert round(1 / 0.195**2) == 26


def test_verdicts_are_those_of_the_store():
    lines = CHAPTER.verdicts(claim for claim in load_claims() if claim.chapter == "14_perceived_distance")
    says("With cross-entropy on 3D Shapes it does not")
    assert "0.738 ± " in output("card-322") and "the two agree along every factor" in output("card-322")
    assert lines[1].startswith("inconclusive") and "Other pixel losses" in lines[1]


def test_overlap_makes_no_difference_to_distances():
    overlap, mistakes, distances = CHAPTER.table("card-31").values()
    says("The two rows about overlap hold", "if only by half a percent", "one sample in seventy")
    assert (overlap[-1], mistakes[-1], distances[-1]) == ("yes", "yes", "no")
    larger, control, tiny = (numbers(cell)[0] for cell in distances[:3])
    assert round(numbers(overlap[0])[0], 3) == 0.005 and round(1 / numbers(mistakes[0])[0], -1) == 70
    assert numbers(overlap[2]) == numbers(mistakes[2]) == [0, 0]
    says(".82 twice, where the untrained network has .60")
    assert round(larger, 2) == round(tiny, 2) == 0.82 and round(control, 2) == 0.60
