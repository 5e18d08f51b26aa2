"""What the text of chapter 05 says about its outputs is what the stored outputs say."""

import math
from statistics import fmean

import pytest

from course_replication import Store, best_verdict, load_claims
from course_replication.measurements.total_correlation import EVALUATED
from course_replication.verdicts import gathered
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
    says("on fresh ones it stays below or hardly rises above, or plunges")
    assert max(estimate - true for true, *estimates in rows.values() for estimate in estimates) < 0.1
    says("a logit of 6 where 3 stands changes the cross-entropy by a few hundredths")
    assert 0.02 < math.log1p(math.exp(-3)) - math.log1p(math.exp(-6)) < 0.06


def test_a_classifier_that_knows_its_codes():
    steps = floats("memorise")
    says("climbs beyond ten times as much", "On fresh codes it plunges below zero")
    assert steps["1500"][0] > 10 * 0.43 and steps["50"][0] > 0.43 and steps["1500"][1] < 0
    says("The last column of the table of the hundred codes is this bound. It keeps below .43")
    assert all(row[2] < 0.43 for row in steps.values())
    says("= 23$ nats, and 4.38 is far below *that*")
    assert round(5 * math.log(100)) == 23 and steps["1500"][0] == 4.38


def test_biases():
    wide, dependent, narrow = floats("estimators-table").values()  # exact, batch, mws, mss, fresh
    says("from −103 to 89", "A divergence of −103", "= 2.77", "$5 \\ln 4096 = 41.6$ and $9 \\ln 4096 = 74.9$")
    assert round(narrow[4]) == -103 and round(narrow[2]) == 89 and round(math.log(16), 2) == 2.77
    assert (round(5 * math.log(4096), 1), round(9 * math.log(4096), 1)) == (41.6, 74.9)
    for row, latents in ((wide, 6), (dependent, 6), (narrow, 10)):
        assert row[2] - row[1] == pytest.approx((latents - 1) * math.log(4096), abs=0.011)
        assert 0 < row[1] - row[0] < math.log(16)
    says("here by up to two and a half nats")
    assert round(max(row[1] - row[0] for row in (wide, dependent, narrow)), 1) == 2.5
    says("about .3 nats high where all is narrow and about .4 low where posteriors overlap")
    assert round(narrow[3] - narrow[0], 1) == 0.3 and {round(row[3] - row[0], 1) for row in (wide, dependent)} == {-0.4}
    says("it says −.12 where .31 is true")
    assert (wide[0], wide[3]) == (0.31, -0.12)
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
    says("the KL is *higher* with γ = 50", "more than three times as much of the pixels is left")
    assert strong[2] > vae[2] and strong[3] > 3 * vae[3]
    says(
        "about an eighth of what it is with γ = 0",
        ".71 falls to .32",
        "The VAE has .24",
        "any training .25, each ± .05",
    )
    assert strong[7] == pytest.approx(vae[7] / 8, abs=0.03)
    assert (strong[6], vae[6], found["untrained"][6]) == (0.32, 0.24, 0.25)
    assert all(numbers(table("live-table")[name][6])[1] == 0.05 for name in ("0", "untrained"))
    says("Ours said .05 where the truth was above 4")


def test_one_objective_and_two_instruments():
    kim, cells = live(), table("live-tc")
    chen = {label: [numbers(cell)[0] for cell in row] for label, row in cells.items()}
    says(
        "at .10 nats where FactorVAE with γ = 50 has 4.29",
        "at 1.09, against 4.48",
        "both leave .14 with the strong weight",
    )
    assert (chen["51"][0], kim["50"][0], chen["6"][0], kim["5"][0]) == (0.1, 4.29, 1.09, 4.48)
    assert chen["51"][3] == kim["50"][3] == 0.14
    says("The MIG is .13 ± .11, and the scaled alignment .30 ± .07, where untrained networks have .25 ± .05")
    assert [numbers(cells["51"][place]) for place in (4, 6)] == [[0.13, 0.11], [0.3, 0.07]]
    assert numbers(table("live-table")["untrained"][6]) == [0.25, 0.05]
    says("64 codes in place of 1,280", "With one code of each of the 64 images MSS is exact")
    assert all(abs(row[0] - row[1]) < 0.2 for row in chen.values()) and 20 * 64 == 1280
    says("A batch of 64 draws holds nearly two thirds of these 64 images")
    assert 1 - (63 / 64) ** 64 == pytest.approx(0.635, abs=0.001)


def test_new_discriminators_see_no_more_of_scaled_codes():
    found = {label: [numbers(cell)[0] for cell in cells] for label, cells in table("whisper-table").items()}
    vae, strong = found["0"], found["50"]  # exact, the one that played, new, new on scaled codes
    says(".28 and .26 nats of 4.29", "The truth is 4.3 nats", "Both see about .3 nats")
    says("without it .26 nats are seen in place of .05, and that is still little of 4.29")
    assert strong == [4.29, 0.05, 0.26, 0.28]
    says(
        "a quarter of what is there is seen", "four fifths, .26 nats in place of 1.39", "nothing, 4.03 in place of 4.12"
    )
    assert all(seen / vae[0] == pytest.approx(0.25, abs=0.01) for seen in vae[2:])
    assert vae[2] == 1.39 and 1 - strong[2] / vae[2] == pytest.approx(0.8, abs=0.02)
    assert (round(strong[0] - strong[2], 2), round(vae[0] - vae[2], 2)) == (4.03, 4.12)


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
    results, names = (
        Store().results(),
        ("figure-7", "figure-7-gamma", "figure-4", "figure-18", "figure-37", "figure-40"),
    )
    found = {name: best_verdict(CLAIMS[f"factorvae/{name}"], results) for name in names}
    says(
        "So nothing is concluded.",
        "no higher than the VAE's, and the other is clearly lower",
        "well below that of β = 4",
    )
    says("Figure 37), comes out as well, as an order in small", "The order holds in small, by far")
    says("nothing is concluded. The heading")
    verdicts = ["match", "inconclusive", "fail", "match", "match", "inconclusive"]
    assert [verdict.verdict for verdict in found.values()] == verdicts
    says("holds in small, as it did live: .44 nats are there and .01 is said")
    assert [round(mean, 2) for mean in found["figure-7"].orders[0].means] == [0.44, 0.01]
    assert found["figure-4"].orders[0].p > 0.05 and found["figure-4"].orders[1].p > 0.95
    assert all(step.holds and step.p < 1e-3 for step in found["figure-18"].orders)
    says("A hundredth or two of a nat for a latent, where we had asked for .05")
    (marginals,) = found["figure-40"].orders
    assert 0.01 < marginals.means[0] < 0.025 and marginals.means[1] == 0.05
    assert [step.holds for step in found["figure-7-gamma"].orders] == [False, True]
    assert [step.holds for step in found["figure-4"].orders] == [False, False, True]


def test_what_is_said_of_the_tcvae():
    results = Store().results()
    found = [best_verdict(CLAIMS[name], results) for name in ("assumptions/equation-4", "isa/section-2.1")]
    says("both are inconclusive", "All mean MIGs lie between .04 and .09")
    assert all(verdict.verdict == "inconclusive" for verdict in found)
    assert all(0.04 < mean < 0.09 for verdict in found for step in verdict.orders for mean in step.means)


def test_what_is_said_of_the_best():
    verdict = best_verdict(CLAIMS["factorvae/figure-6"], Store().results())
    says(".61 on average with FactorVAE and .57 with the β-VAE, which five such bests cannot tell apart")
    (step,) = verdict.orders
    assert [round(mean, 2) for mean in step.means] == [0.61, 0.57] and step.p > 0.05
    assert verdict.verdict == "inconclusive" and verdict.n == 5


def test_what_is_said_of_the_best_means():
    verdict = best_verdict(CLAIMS["factorvae/figure-5"], Store().results())
    says("Nor are the means (Figure 5): .54 and .50, at reconstruction errors that are not equal")
    says("but 10.7 and 15.8 nats")
    (step,) = verdict.orders
    assert [round(mean, 2) for mean in step.means] == [0.54, 0.50] and step.p > 0.05
    assert (verdict.verdict, verdict.kind, verdict.scale, verdict.n) == ("inconclusive", "order", "small", 5)
    paid = gathered(CLAIMS["factorvae/figure-5"], Store().results(), "small")
    for name, said in (("factor-vae-40", 10.7), ("beta-vae-4", 15.8)):
        assert round(fmean(paid[f"reconstruction/{name}"].values()), 1) == said


def test_what_is_said_of_discriminators():
    verdict = best_verdict(CLAIMS["factorvae/appendix-a"], Store().results())
    says("On our sprites these score .57 and two layers of 100 units .52, on average of five seeds")
    says(
        "In three of the seeds the small discriminator is ahead, by a tenth at most",
        "in the other two it is .22 behind",
    )
    order, near = verdict.orders
    assert [round(mean, 2) for mean in order.means] == [0.57, 0.52] and (verdict.verdict, verdict.n) == (
        "inconclusive",
        5,
    )
    gains = sorted(large - small for large, small in zip(*order.values, strict=True))
    assert -0.1 - 1e-9 < gains[0] and gains[2] < 0 and [round(gain, 2) for gain in gains[3:]] == [0.22, 0.22]
    says("Neither half of the sentence is shown.")
    assert not order.holds and not near.holds


def test_what_is_said_of_likelihoods():
    claim = CLAIMS["factorvae/appendix-e-dsprites"]
    verdict = best_verdict(claim, Store().results())
    says("−43.3 nats with a VAE, −46.1 with the best β-VAE and −51.9 with the best FactorVAE", "5,000 particles")
    printed = {number.what: number.value for number in claim.numbers}
    names = [f"log-likelihood/{name}" for name in ("vae", "beta-vae-4", "factor-vae-35")]
    assert [printed[name] for name in names] == ["-43.3", "-46.1", "-51.9"] and EVALUATED == 200
    says("For 200 of our sprites it is −17.1, −19.6 and −17.1.")
    first, second = verdict.orders
    assert [round(mean, 1) for mean in (*first.means, second.means[1])] == [-17.1, -19.6, -17.1]
    says("The first step is there in small, and the second is reversed in every seed, by two nats or more: *fail*.")
    assert first.holds and second.reversed and (verdict.verdict, verdict.scale, verdict.n) == ("fail", "small", 5)
    assert all(factor - beta > 2 for beta, factor in zip(*second.values, strict=True))


def test_what_is_said_of_the_batchs_mixture():
    verdict = best_verdict(CLAIMS["factorvae/appendix-d"], Store().results())
    says("has a FactorVAE score .11 away from that of β-VAEs with the same reconstruction", "near, .1, is our choice")
    says("of the β-VAEs between which we interpolate the strongest leaves .98 of the variance")
    (step,) = verdict.orders
    assert (step.means[0], round(step.means[1], 2), verdict.n) == (0.1, 0.11, 5) and not step.holds
    assert verdict.verdict == "inconclusive" and "threshold is ours" in verdict.why
    assert round(verdict.learnt[0].left, 2) == 0.98
