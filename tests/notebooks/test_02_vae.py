"""What the text of chapter 02 says about its outputs is what the stored outputs say."""

import math
import re

import pytest

from course_replication import card, shipped_data, shipped_model_card
from stored_chapter import StoredChapter, numbers

CHAPTER = StoredChapter("02_vae")
CELLS, TEXT, output, says = CHAPTER.cells, CHAPTER.text, CHAPTER.output, CHAPTER.says


def table(name: str) -> dict[float, list[float]]:
    """The rows of a printed frame, by their label; a frame too wide for one block is put together again."""
    rows = {}
    for line in output(name).splitlines():
        if re.match(r"\s*\d", line):
            label, *values = numbers(line)
            rows.setdefault(label, []).extend(values)
    return rows


def test_closed_form_and_sampling_agree():
    closed, sampled = numbers(output("kl-check"))
    assert abs(closed - sampled) < 0.005


def test_the_score_function_strays():
    exact, with_baseline = zip(*table("variance-cost").values(), strict=True)
    assert 50 < exact[-1] / exact[3] < 150  # in proportion to D², between D = 10 and 100
    says("with ten latents it needs nearly three thousand samples")
    assert 2_500 < exact[3] < 3_000  # D = 10
    assert all(2 < few < many for few, many in zip(with_baseline, exact, strict=True))


def test_prices_of_a_pixel():
    says("a single nat")
    says("4{,}096 \\cdot \\ln 2 \\approx 2{,}839")
    assert numbers(output("noise"))[:2] == [1, 26]
    assert math.floor(4096 * math.log(2)) == 2839 and numbers(output("average"))[0] < 2839 / 2
    says("4,096 / 10 ≈ 410")


def test_the_live_run():
    says("more than five, fewer than ten")
    used, total = numbers(output("count").splitlines()[-1])
    assert 5 < used < total == 10
    first, peak, last = table("price").values()
    assert peak[1] > last[1] > first[1] and peak[2] > 2 * last[2] and peak[3] < last[3]


def test_the_good_one():
    about, data = shipped_model_card("dsprites-vae"), shipped_data("dsprites-vae")
    above, good, between, clear = output("good-scores").splitlines()
    (above,), (good,), (between,) = map(numbers, (above, good, between))
    assert 4 * good < above and good < between < above
    says(f"At places that it has never seen it leaves {between:.0f} % of the variance")
    assert good == pytest.approx(100 * about["provenance"]["scores"]["left"], abs=1)
    shares = [f"{share:.0%}" for share in about["provenance"]["scores"]["told"]]
    assert re.findall(r"\d+%", clear) == shares
    says("Yet all hearts among 500 sprites are *clear*")
    assert shares == ["100%"] * 3
    steps = about["steps"] + about["then"]["steps"]
    says(f"for {steps:,} steps in place of 1,500", "5 × 5 of the 32 × 32 places and 3 of the 6 sizes, 9,000 images")
    assert len(data) == 9_000 and data.space.sizes == (3, 3, 40, 5, 5)
    says("β = ¼", "some sixty times")
    assert about["settings"]["beta"] == 0.25 and about["then"].keys() == {"steps", "learning_rate", "seed"}
    assert round(steps * about["batch_size"] / len(data), -1) == 60


def test_the_gap():
    bounds = table("gap")
    says("at least ten nats below")
    assert sorted(bounds.values()) == list(bounds.values())  # it rises with K
    assert bounds[1000][0] - bounds[1][0] >= 10
    refined = table("refined")
    says("we can see 17 nats, from the first number to the last, and at least 13 of them were the encoder's")
    assert round(refined[1000][1] - refined[1][0]) == 17 and 13 <= refined[1][1] - refined[1][0] < 14
    assert refined[1000][1] > refined[1000][0]
    says("at least three nats remain, which our Gaussians did not close", "since −116.8 is a bound too")
    assert refined[1000][1] == -116.8 and 3 <= refined[1000][1] - refined[1][1] < 4


def test_overlap_sorts_the_latent():
    rows = table("overlap-table")
    jumps, mistaken = {beta: row[:5] for beta, row in rows.items()}, {beta: row[5:] for beta, row in rows.items()}
    says("more than four in ten samples")
    assert jumps[10] == [1] * 5 and 0.4 < mistaken[10][1] < 0.5
    says("four of five seeds are in order")
    assert jumps[1].count(1) == 4 and mistaken[1][1] < 0.01 and mistaken[1][0] > 0.3
    says("two seeds are nearly in order, those of three are shuffled")
    assert sum(jump < 1.5 for jump in jumps[30]) == 2 and sum(jump > 2.5 for jump in jumps[30]) == 3
    assert min(jumps[0.1]) > 1 and mistaken[0.1][1] < 0.01 and mistaken[0.1][0] < 0.2
    says("and the bells lie on top of each other")
    assert mistaken[30][1] == pytest.approx(7 / 8, abs=0.02)


def test_the_claim_and_its_control():
    seeds, *_, p = numbers(output("claim").splitlines()[0].removeprefix("n = "))
    assert seeds == 5 and p < 0.01
    badge = card("distances/figure-3.1").badge
    assert output("claim").splitlines()[-1] == f"the thesis' Figure 3.1, on the scorecard: {badge}"
    says(f"Of the claim the scorecard says *{badge.split()[0]}*")  # a verdict that changes changes the text
    jumps, mistaken = (numbers(line) for line in output("disjoint").splitlines()[1:])
    says("a third of the samples are mistaken to the end, and the order is that of a shuffled deck")
    assert sum(mistaken) / 5 == pytest.approx(1 / 3, abs=0.05)
    assert sum(jumps) / 5 == pytest.approx(3, abs=0.5)  # (8 + 1) / 3 for a shuffled deck


def test_a_shuffled_deck_jumps_by_three():
    distances = [abs(first - second) for first in range(8) for second in range(8) if first != second]
    assert sum(distances) / len(distances) == 3


def test_collapse():
    says("Nothing at all")
    assert numbers(output("pitfall-price"))[0] < 0.01
