"""What the text of chapter 21 says about its outputs is what the stored outputs say."""

import math

import pytest

from course_replication import Store, best_verdict, load_claims
from course_replication.claims import claims_named
from course_replication.plans import parts_of
from stored_chapter import StoredChapter, numbers

CHAPTER = StoredChapter("21_choice_of_factors_and_noise")
CELLS, TEXT, output, says, table = CHAPTER.cells, CHAPTER.text, CHAPTER.output, CHAPTER.says, CHAPTER.table


def floats(name: str) -> dict:
    return {label: [float(cell) for cell in cells] for label, cells in table(name).items()}


def test_the_gap_of_parts():
    says("$\\ln 1.5 / \\ln 24 = .128$", "$(3 + .128)/4 = .782$", "= .564$", ".782. The best latent for the colour")
    gap = math.log(6 / 4) / math.log(24)
    assert (round(gap, 3), round((3 + gap) / 4, 3)) == (0.128, 0.782)
    assert round(math.log(12 / 2) / math.log(24), 3) == 0.564
    found = floats("codes")
    apart, whole = "intensity and hue apart", "colour in one latent"
    assert found[apart, "five labels"] == [1, 1] and found[apart, "four labels"] == [0.782, 1]
    says("The MIG, which punishes a split so hard, does not see a merger at all.", "sees the merger and not the split")
    assert min(found[whole, name][0] for name in ("four labels", "five labels")) > 0.99
    assert found[whole, "five labels"][1] < 0.97 < found[whole, "four labels"][1] == 1


def test_ranks_with_and_without_self_pairs():
    colour, intensity, hue = floats("ranks").values()
    says("Without self-pairs the hue, .199, falls *behind* the 24 colours, .247. Its .541 is made by")
    assert (hue, colour[1]) == ([0.541, 0.199], 0.247)
    says("By the published protocol both parts follow the distances better")
    assert min(intensity[0], hue[0]) > colour[0] and intensity[1] > 0.8
    (claim,) = claims_named(["distances/figure-7.2"])
    (stored,) = (run for run in Store().results().values() if run["measurement"] == "factor_choices.colour_ranks")
    for name, row in (("xyobject/mse/colour", colour), ("shades/mse/intensity", intensity), ("shades/mse/colour", hue)):
        found = [stored["metrics"][f"{name}/{kind}"] for kind in ("rank", "rank/distinct")]
        assert found == pytest.approx(row, abs=0.001)
    assert best_verdict(claim, Store().results()).verdict == "match"


def test_the_numberings():
    found = [numbers(line)[0] for line in output("numberings").strip().splitlines()]
    thesis, shades, random, climbed, parts = found
    says("raises the merged label from .247 to .353", "more than twice the thesis' correlation")
    assert (thesis, shades) == (0.247, 0.353) and climbed > 2 * thesis and abs(random) < 0.15
    says("above even the mean of Shades' two parts, .503 (though not above intensity alone)")
    _, intensity, hue = (row[1] for row in floats("ranks").values())
    assert parts == 0.503 == pytest.approx((intensity + hue) / 2, abs=0.001) and parts < climbed < intensity
    says(
        "a numbering of 24 colours that beats both sets (.563, against .247 and a mean of .503;",
        "intensity alone, .808)",
    )
    assert (climbed, intensity) == (0.563, 0.808)


def test_the_circle():
    line, circle = floats("circle").values()
    says("= .4$", "the cosine tells .74 of the hue's entropy and the sine .61", "the gap stays at .13")
    assert line == [1, 1, 1] and circle[1:] == [0.4, 0.4] and round(circle[0], 2) == 0.13
    says("The cosine gives two pairs of hues one value each, the sine three pairs.")
    entropies = [-sum(n / 6 * math.log(n / 6) for n in counts) for counts in ((1, 2, 2, 1), (2, 2, 2))]
    cosine, sine = (entropy / math.log(6) for entropy in entropies)
    assert (round(cosine, 2), round(sine, 2)) == (0.74, 0.61) and cosine - sine == pytest.approx(circle[0], abs=0.002)
    assert (1 / 2 - 1 / 6) / (1 - 1 / 6) == pytest.approx(0.4)


def test_the_shorter_way_round():
    line, circle = floats("ring").values()
    says("Then the order of the two turns about")
    assert line[0] == circle[1] == 1 and line[1] == circle[0] < 0.6


def test_what_comes_back_first():
    importance = {name: value for name, (value,) in floats("importance").items()}
    assert [*importance][0] == "colour" and [*importance][-1] == "intensity"
    says("its mean distance is the smallest, about two fifths of the largest")
    assert importance["intensity"] / importance["colour"] == pytest.approx(0.4, abs=0.05)
    first, second = output("order").split("share that is back")
    rows = [numbers(line)[1:] for line in first.splitlines() if line.startswith("seed")]
    says("in every seed, but for one in which the first two come at the same look", "In five networks of six alone")
    assert len(rows) == 6 and all(i <= c < s < min(x, y) for x, y, s, i, c in rows)
    assert [i == c for *_, i, c in rows].count(True) == 1
    untrained, exchanged = zip(*map(numbers, second.strip().splitlines()[1:]), strict=True)
    says("When images exchange their labels, all five have come back alike at the end, in the one network")
    assert untrained == (0,) * 5 and max(exchanged) - min(exchanged) < 0.06
    says("no factor came before the one with the smallest distance, in six of six networks")


def test_what_predicts_the_order():
    lines = output("agreement").strip().splitlines()
    size, *directions = (numbers(line.partition("over seeds:")[2]) for line in lines)
    says("The share in the first directions separates three groups, whether three, five or eight are taken")
    assert max(map(abs, size)) <= 0.3 and min(map(min, directions)) >= 0.8 and len(directions) == 3
    rows = floats("first-directions")
    says("only with five directions it is intensity, and no rule said beforehand", "The mean distance does not.")
    ahead = [brighter > hue for brighter, hue in zip(rows["intensity"][1:4], rows["colour"][1:4], strict=True)]
    assert ahead == [False, True, False]
    for column in (1, 2, 3):
        first, second, third, *last = (row[column] for row in rows.values())
        assert min(first, second) > third > max(last)
    looks = [numbers(line)[1:] for line in output("order").splitlines() if line.startswith("seed")]
    assert max(abs(row[3] - row[4]) for row in looks) == 10


def test_one_code_scored_twice():
    rows = [*floats("twice").values()]
    says("By the MIG the *four* labels win, in five networks of six.", "so both parts have small gaps")
    assert len(rows) == 6 and sum(four > five for four, five, *_ in rows) == 5
    assert all(max(row[3:]) < 0.2 for row in rows)


def test_the_expected_distances():
    rows = floats("expected")
    assert len(rows) == 6
    for kind, (contrast, floor, predicted, measured) in rows.items():
        assert measured == pytest.approx(predicted, rel=0.04)
        assert not kind.endswith(" 0%") or (contrast, floor) == (1, 0)
    behind, before = rows["behind, 100%"], rows["in place, 100%"]
    says("The floor of a full background dwarfs what the factor contributes", "(the table below has 22)")
    assert behind[1] > 10 * (behind[2] - behind[1]) and round(behind[1] / before[1]) == 22


def test_what_drowns():
    rows = floats("drown")
    plain, half, behind = (rows[f"behind, {visibility}%"] for visibility in (0, 50, 100))
    says("At half visibility single pairs tell less, and the mean still rises with every step.")
    assert half[0] < plain[0] - 0.1 and half[1] == plain[1] == 1
    says("With full photographs behind, not even the means of these 2,000 pairs do.", "scatter by 417")
    assert behind[0] < 0.2 and behind[1] < 0.5 and round(behind[3]) == 417
    contrast = floats("expected")["behind, 100%"][0]
    says(".30 · 205 = 62", "$417/\\sqrt{125} = 37$", "some 17,000 pairs at each step")
    assert contrast == 0.3 and plain[2] * contrast == pytest.approx(62, abs=0.5)
    assert round(417 / math.sqrt(125)) == 37 and 2 * (2 * 417 / 9) ** 2 == pytest.approx(17_000, rel=0.02)
    says("There are about 125 pairs at that step", "a step adds about 9", "forty times as much", ": four steps")
    assert round(62 / 7) == 9 and 40 < 417 / 9 < 50 and round(37 / 9) == 4
    assert 2_000 * 2 * 31 / (32 * 31) == 125
    says("In place of the sprite the scatter is 32")
    before = rows["in place, 100%"]
    assert round(before[3]) == 32 and 0.9 < before[1] < 1


def test_what_a_vae_makes_of_photographs():
    plain, behind, before = floats("few-table").values()
    says("the networks bring back *more* of the variance, and it is the photograph's")
    assert behind[0] < plain[0]
    says("A straight line reads the photograph's grey off the latents, and of x next to nothing.", "do far less harm")
    assert behind[3] > 0.9 and behind[2] < 0.15 and before[2] > 0.5 < plain[2]


def test_the_claim_about_noise():
    (claim,) = claims_named(["distances/figure-7.6"])
    found = best_verdict(claim, Store().results())
    says("the verdict is *inconclusive*", "the same for both methods, show every one of the claim's four orders")
    assert found.verdict == "inconclusive" and sum("untrained" in order.passing for order in found.orders) == 3
    orders = {order.second.removeprefix("mig/"): order for order in found.orders}
    says(".048 falls to .003 and .124 to .004", "(.124, .071)", "(.048, .051)")
    means = {name: tuple(round(mean, 3) for mean in order.means) for name, order in orders.items()}
    assert [means[f"{kind}/background-100"] for kind in ("beta-vae", "ada-gvae")] == [(0.048, 0.003), (0.124, 0.004)]
    assert [means[f"{kind}/foreground-100"] for kind in ("ada-gvae", "beta-vae")] == [(0.124, 0.071), (0.048, 0.051)]
    says(".021 without photographs, .011 with photographs in place, .003 with photographs behind")
    says("In place it is the *trained* β-VAE that shows no drop.")
    for kind, shown in (("background", 0.003), ("foreground", 0.011)):
        order = orders[f"beta-vae/{kind}-100"]
        assert [round(value, 3) for value in order.controls] == [0.021, shown]
        assert order.controls == orders[f"ada-gvae/{kind}-100"].controls
    assert not orders["beta-vae/foreground-100"].holds
    results = Store().results()
    by_part = [[results[run.id]["metrics"] for run in part.runs()] for part in parts_of(claim, "small")]
    bare, behind, _, in_place = ([run["control/untrained/mig/beta-vae"] for run in runs] for runs in by_part)
    assert len(bare) == 5 and all(a > b > c for a, b, c in zip(bare, in_place, behind, strict=True))
    assert all(run["control/untrained/mig/ada-gvae"] == run["control/untrained/mig/beta-vae"] for run in by_part[3])
    says(".018 of the β-VAE's .045, and of the Ada-GVAE's .119, was to be had without any")
    falls = [orders[f"{kind}/background-100"] for kind in ("beta-vae", "ada-gvae")]
    assert [round(order.means[0] - order.means[1], 3) for order in falls] == [0.045, 0.119]
    assert all(round(order.controls[0] - order.controls[1], 3) == 0.018 for order in falls)
    assert all(arm.left < 0.5 for arm in found.learnt)


def test_the_claim_about_better_factors():
    (claim,) = claims_named(["distances/figure-7.3"])
    found = best_verdict(claim, Store().results())
    says("The networks of the card have learnt", "So in small the claim does not hold")
    assert found.verdict == "fail" and found.scale == "small" and all(arm.left < 0.5 for arm in found.learnt)
    says("Three of its four comparisons show neither direction.", "the DCI of the Ada-GVAE", "(.132 against .218)")
    (last,) = (order for order in found.orders if order.reversed)
    assert (last.first, [round(mean, 3) for mean in last.means]) == ("dci/ada-gvae/shades", [0.132, 0.218])
    assert sum(order.reversed or order.holds is True for order in found.orders) == 1


def test_what_the_thesis_prints():
    rows = table("printed")
    says("the azimuth first, .0355 against .0349", "along the type the distances have next to no order")
    assert (rows["cars3d", "azimuth"][0], rows["cars3d", "type"][0]) == ("0.0355", "0.0349")
    assert max(float(cell) for cell in rows["cars3d", "type"][1:]) < 0.05
    says("(.0531) as two random images (.0535)", "(.07, by ranks .29)", "costs least (.0034) and is ordered best (.90)")
    norb = {factor: [float(cell) for cell in cells] for (data, factor), cells in rows.items() if data == "smallnorb"}
    assert norb["lighting"] == [0.0531, 0.07, 0.29] and norb["random"][0] == 0.0535
    assert min(norb, key=lambda factor: norb[factor][0]) == max(norb, key=lambda factor: norb[factor][2]) == "elevation"
    assert norb["elevation"][::2] == [0.0034, 0.9]


def test_pitfalls():
    says("The rainbow's order is the best there is, .59, and others go down to −.46.")
    found = numbers(output("hues").splitlines()[0])
    assert found == [720, -0.46, 0.59, -0.08, 0.59]
    assert "same: True · in other batches: True · other seed: False" in output("reproducible")
    same, redrawn = (float(part.split()[-1]) for part in output("reproducible").splitlines()[1].split(";"))
    says("each image lies farther from itself than two random sprites from each other (.0754, Table 3.1)")
    (claim,) = claims_named(["distances/table-3.1-dsprites"])
    assert "0.0754" in [number.value for number in claim.numbers if number.what == "mse/random/mean"]
    assert same == 0 and redrawn > 0.0754
    (mean, deviation), (other, _) = (numbers(line) for line in output("constants").strip().splitlines())
    says("more than two deviations above 0")
    assert (other - mean) / deviation > 2


def test_missing_files_are_said_in_one_sentence_each():
    cars, norb = output("files").strip().splitlines()
    assert cars.startswith("Cars3D") and norb.startswith("Small NORB")


def test_verdicts_are_those_of_the_store():
    mine = [claim for claim in load_claims() if claim.chapter == "21_choice_of_factors_and_noise"]
    CHAPTER.verdicts(mine)
    says("Of the claims about trained models two have been run in small")
    assert sum(best_verdict(claim, Store().results()).scale == "small" for claim in mine if claim.kind == "trained"
               and best_verdict(claim, Store().results()).verdict != "not run") == 2  # fmt: skip
