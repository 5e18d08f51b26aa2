"""What the text of chapter 05 says about its outputs is what the stored outputs say."""

import math

import pytest

from course_replication import Store, best_verdict, load_claims
from stored_chapter import StoredChapter, numbers

CHAPTER = StoredChapter("05_total_correlation")
output, says, table = CHAPTER.output, CHAPTER.says, CHAPTER.table
CLAIMS = {claim.id: claim for claim in load_claims() if claim.chapter == "05_total_correlation"}


def floats(name: str) -> dict:
    return {label: [float(cell) for cell in cells] for label, cells in table(name).items()}


def live() -> dict[str, list[float]]:
    return {label: [numbers(cell)[0] for cell in cells] for label, cells in table("live-table").items()}


def test_the_three_parts():
    found = floats("parts-table")
    for whole, *parts in found.values():
        assert whole == pytest.approx(sum(parts), abs=2e-3)
    apart, turned, twice = (found[name] for name in ("apart", "turned by 45°", "column twice"))
    assert apart[:2] == turned[:2] and apart[2] == 0 and turned[2] == 0.159 and turned[3] < apart[3]
    says(".159 nats say so", "the same KL for 1.7 nats of information")
    assert twice[0] == apart[0] and twice[1] == 1.7
    assert found["column only"][2] == found["nothing"][2] == 0


def test_a_classifier_comes_out_low():
    rows = {label[0]: [float(label[1]), *map(float, cells)] for label, cells in table("ratio-run").items()}
    says("between .4 and 5.9 nats")
    assert (rows["0.50"][0], rows["0.99"][0]) == (0.43, 5.88) and rows["0.99"][1] - rows["0.50"][1] < 0.2
    above = sum(estimate > true + 0.005 for true, *estimates in rows.values() for estimate in estimates)
    says("Almost everything lies below the diagonal")
    assert above <= 1 and len(rows) == 4
    says("a logit of 6 where 3 stands changes the cross-entropy by a few hundredths")
    assert 0.02 < math.log1p(math.exp(-3)) - math.log1p(math.exp(-6)) < 0.06


def test_a_classifier_that_knows_its_codes():
    steps = floats("memorise")
    says("climbs beyond ten times as much", "On fresh codes it plunges below zero")
    assert steps["1500"][0] > 10 * 0.43 and steps["50"][0] > 0.43 and steps["1500"][1] < 0
    says("The last column keeps below .43")
    assert all(row[2] < 0.43 for row in steps.values())


def test_biases():
    wide, dependent, narrow = floats("estimators-table").values()  # exact, batch, mws, mss, fresh
    says("from −103 to 89", "A divergence of −103", "= 2.77", "$5 \\ln 4096 = 41.6$ and $9 \\ln 4096 = 74.9$")
    assert round(narrow[4]) == -103 and round(narrow[2]) == 89 and round(math.log(16), 2) == 2.77
    assert (round(5 * math.log(4096), 1), round(9 * math.log(4096), 1)) == (41.6, 74.9)
    for row, latents in ((wide, 6), (dependent, 6), (narrow, 10)):
        assert row[2] - row[1] == pytest.approx((latents - 1) * math.log(4096), abs=0.011)
        assert 0 < row[1] - row[0] < math.log(16)
    says("a little high where all is narrow and a little low where posteriors overlap")
    assert 0 < narrow[3] - narrow[0] < 0.5 and all(-0.5 < row[3] - row[0] < 0 for row in (wide, dependent))
    slopes = output("gradients")
    says("by more than half of its length here")
    assert "'mss': '5.6e-01'" in slopes and float(slopes.split("'mws': '")[1].split("'")[0]) < 1e-5


def test_the_live_trainings():
    found = live()  # true, estimate, KL, left, MIG, axis, axis scaled, least spread
    vae, middle, strong = (found[name] for name in ("0", "5", "50"))
    says("to less than a third for the plain VAE", "the discriminator says .05 nats, and the truth is above 4")
    assert vae[1] < vae[0] / 3 and strong[1] == 0.05 and strong[0] > 4
    says("lower with γ than without", "not by much between 5 and 50")
    assert max(middle[0], strong[0]) < vae[0] - 0.5 and abs(middle[0] - strong[0]) < 0.5
    says("the alignment rises from .24 to .71")
    assert (vae[5], strong[5]) == (0.24, 0.71)
    says("the KL is *higher* with γ = 50", "three times as much of the pixels is left")
    assert strong[2] > vae[2] and strong[3] == pytest.approx(3 * vae[3], abs=0.03)
    says("about an eighth of what it is with γ = 0", ".71 falls to .32, not far above the VAE's .24")
    assert strong[7] == pytest.approx(vae[7] / 8, abs=0.03) and (strong[6], vae[6]) == (0.32, 0.24)
    says("Ours said .05 where the truth was above 4")


def test_codes_without_total_correlation():
    found = floats("normal")
    says("the MIG runs from .77 to 0")
    assert all(row[0] == 0 for row in found.values()) and len(found) == 6
    migs = [row[1] for row in found.values()]
    assert round(max(migs), 2) == 0.77 and min(migs) == 0


def test_pitfalls():
    right, forgotten, _ = [value for value in numbers(output("pitfall-mean")) if value not in (1.0, 0.0)][:3]
    assert right - forgotten == pytest.approx(5 * math.log(256), abs=0.02)
    assert abs(numbers(output("pitfall-rows"))[0]) < 0.1
    assert float(output("pitfall-leak").split(":")[1]) > 0.01


def test_what_is_said_of_the_claims():
    results, names = Store().results(), ("figure-7", "figure-7-gamma", "figure-4")
    found = {name: best_verdict(CLAIMS[f"factorvae/{name}"], results) for name in names}
    says("So nothing is concluded.", "no higher score", "well below that of β = 4")
    assert [verdict.verdict for verdict in found.values()] == ["match", "inconclusive", "fail"]
    assert [step.holds for step in found["figure-7-gamma"].orders] == [False, True]
    assert [step.holds for step in found["figure-4"].orders] == [False, False, True]
