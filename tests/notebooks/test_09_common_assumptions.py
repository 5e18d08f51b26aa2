"""What the text of chapter 09 says about its outputs is what the stored outputs say."""

from statistics import fmean

import numpy as np
import pytest

from course_lib.data import ScreamDSprites
from course_replication import Store, best_verdict, load_claims
from course_replication.arms import arm_named
from course_replication.plans import parts_of
from course_replication.prepared import prepared_table
from stored_chapter import StoredChapter, numbers

CHAPTER = StoredChapter("09_common_assumptions")
output, says, table = CHAPTER.output, CHAPTER.says, CHAPTER.table
CLAIMS = {claim.id: claim for claim in load_claims() if claim.chapter == "09_common_assumptions"}
SCORES = ("mig", "factor-vae-score", "beta-vae-score", "sap", "modularity")


def floats(name: str) -> dict:
    return {label: [float(cell) for cell in cells] for label, cells in table(name).items()}


def test_the_grid():
    assert output("train").split() == ["90", "models"]
    says(
        "The next cell trains 90 networks",
        "one hidden layer of 64 and six latents",
        "or .191, and .809",
    )
    settings = arm_named("small", "study").settings
    assert settings["hidden"] == [64] and settings["latents"] == 6 and len(table("grid")) == 6
    assert round(5 / 89, 3) == 0.056 and round(17 / 89, 3) == 0.191
    assert all(row[-1] < 0.5 for row in floats("score").values())


def test_what_is_stored_is_what_was_trained():
    """The means over the stored models are those of the table, which has the β-VAE's from models trained beside it."""
    stored = prepared_table("study-of-ninety")
    assert len(stored) == 90 and {*stored["seed"]} == {*range(5)}
    heads = [head.get_text() for head in CHAPTER.html("score").select("thead tr")[0].select("th")][1:]
    means = stored.groupby("method")[heads].mean().round(3)
    assert {name: row for name, row in floats("score").items()} == {
        name: means.loc[name].tolist() for name in arm_named("small", "study").settings["methods"]
    }


def test_winners_and_advice():
    says("FactorVAE wins with four of the five seeds, and with one it is the AnnealedVAE")
    heads = [head.get_text() for head in CHAPTER.html("winners").select("thead th")][1:]
    assert dict(zip(heads, floats("winners")["seeds won"], strict=True)) == {"factor-vae": 4, "annealed-vae": 1}
    says("the best method .072, the best strength .058, a lot .048", "raises the MIG from .048 to .072")
    says("to be told the strength, to .058", "raises it to .079")
    assert [value for (value,) in floats("advice").values()] == [0.048, 0.072, 0.058, 0.079]


def test_shares():
    found = floats("shares-table")
    says(
        "Of the MIG's variance .16 is the method's, .23 the strength's and .62 the seed's",
        "And the seed has .62, four times as much",
    )
    assert found["mig"] == [0.16, 0.23, 0.62] and found["by lot"] == [0.06, 0.13, 0.81]
    says("though by lot it would have .81")
    says("the seed's share of the MIG is .62, while of what reconstructions leave, in the same models, it is .04")
    says("of what reconstructions *leave*. Same models, same arithmetic, and the seed has .04")
    assert found["left"][2] == 0.04 and all(found[name][2] > 0.5 for name in SCORES)
    says(".156 is more than the .056 of a lot, and few of the shuffles reach it")
    ours, lot, paper, *_ = numbers(output("share"))
    reached = int(output("share").split(": ")[1].split(" of")[0])
    assert ours == 0.156 and lot == pytest.approx(paper, abs=0.005) and reached < 50
    assert paper == round(5 / 89, 3)
    assert found["by lot"] == [round(share / 89, 2) for share in (5, 12, 72)]


def test_the_grid_makes_the_shares():
    found = floats("knob")
    says("falls from .23 to .18", "drops from .16 to .03", "(4/74 = .054)")
    assert found["three strengths"][1] == 0.23 and found["without high"][1] == 0.18 and found["low alone"][1] == 0
    assert found["without factor-vae"][0] == 0.03 < round(4 / 74, 3) == 0.054
    assert min(row[0] for name, row in found.items() if name != "without factor-vae") > 0.1


def test_total_correlations():
    assert "90 of 90 trained models and in 6 of 6 untrained" in output("two-correlations")
    found = floats("tc-table")
    says("from .229 to .077 nats", "from .093 to .325", ".325 becomes .080")
    assert (found["beta-vae", "low"][0], found["beta-vae", "high"][0]) == (0.229, 0.077)
    assert (found["beta-tcvae", "low"][1], *found["beta-tcvae", "high"][1:3]) == (0.093, 0.325, 0.080)
    says("and the β-TCVAE's from .054 to .016. The other three stay below .04 and do not fall to speak of")
    assert (found["beta-tcvae", "low"][0], found["beta-tcvae", "high"][0]) == (0.054, 0.016)
    others = {name for name, _ in found} - {"beta-vae", "beta-tcvae"}
    assert len(others) == 3 and all(row[0] < 0.04 for (method, _), row in found.items() if method in others)
    assert all(found[name, "low"][0] - found[name, "high"][0] < 0.0015 for name in others)
    rises = {name: found[name, "high"][1] - found[name, "low"][1] for name, _ in found}
    assert max(rises, key=rises.get) == "beta-tcvae"
    says("they rise for four methods", "The β-VAE's fall, from .246 to .213")
    assert [name for name, rise in rises.items() if rise <= 0] == ["beta-vae"]
    assert (found["beta-vae", "low"][1], found["beta-vae", "high"][1]) == (0.246, 0.213)
    says("switched off in some of the five models")
    assert 4 <= found["beta-tcvae", "high"][3] < 6 == found["beta-vae", "high"][3]


def test_noise_that_differs_between_images_can_turn_the_order_round():
    """All means at 0 and widths of 1 or 3: only the samples depend on each other, and no covariance sees it."""
    says("Where the noise differs from image to image, a better estimator could even turn the order round")
    z = np.linspace(-15, 15, 601)
    wide, narrow = (np.exp(-((z / width) ** 2) / 2) / width / (2 * np.pi) ** 0.5 for width in (3, 1))
    joint, own = (np.outer(wide, wide) + np.outer(narrow, narrow)) / 2, (wide + narrow) / 2
    step = z[1] - z[0]
    assert (joint * np.log(joint / np.outer(own, own))).sum() * step**2 > 0.01
    assert abs((joint * np.outer(z, z)).sum() * step**2) < 1e-9


def test_scores_agree_beyond_reconstructions():
    found = floats("partial")
    says("The pairs of scores hardly change")
    pairs = {name: row for name, row in found.items() if "trees" not in name and "dci" not in name}
    assert all(abs(row[0] - row[1]) < 0.1 for row in pairs.values()) and len(pairs) == 4
    assert found["mig and modularity"][0] < 0.4 < found["mig and factor-vae-score"][0]
    assert found["dci and trees"][1] > 0.3 and found["dci and trees"][2] < -0.2
    says("for the BetaVAE score and DCI the last column agrees (−.27 and −.24)", "the column hardly does (−.08)")
    assert found["beta-vae-score and factor-vae-score"][2] == -0.27 and found["dci and trees"][2] == -0.24
    assert found["mig and dci"][2] == -0.08
    says("So is the accuracy of trees, in a table of the fifth question")
    assert floats("useful-table")["what reconstructions leave"][2] < -0.2


def test_choices_without_labels():
    found = floats("choose")
    says("By lot .05; with labels .11", "between .03 and .06")
    means = {name: row[-1] for name, row in found.items()}
    assert (means.pop("by lot"), means.pop("with labels")) == (0.05, 0.11)
    assert all(0.03 <= mean <= 0.06 for mean in means.values()) and len(means) == 5
    stored = prepared_table("study-of-ninety")
    best = stored.loc[stored.groupby("method")["reconstruction"].idxmin()]
    says("the best has the low strength in all six methods")
    assert len(best) == 6 and {*best["strength"]} == {"low"}
    says("differs by a factor of 1.27 at most, while MIGs differ by factors of 1.7 to 6.3, and in one case by 12")
    cells = stored.groupby(["method", "strength"])
    left, mig = (cells[name].max() / cells[name].min() for name in ("left", "mig"))
    assert round(left.max(), 2) == 1.27
    *most, last = sorted(mig)
    assert (round(most[0], 1), round(most[-1], 1), round(last)) == (1.7, 6.3, 12)
    says("no rank correlation of the MIG with what can be seen without labels is far from 0")
    heads = [head.get_text() for head in CHAPTER.html("unsupervised").select("thead th")][1:]
    assert all(abs(row[heads.index("mig")]) < 0.2 for row in floats("unsupervised").values())
    says("and none of any score reaches .3")
    assert all(abs(value) < 0.3 for row in floats("unsupervised").values() for value in row)


def test_what_carries_over():
    says("All four are a little above one half", "80.7 % of cases, across datasets 59.3 %, and across both 54.9 %")
    assert all(50 < value < 65 for (value,) in floats("transfer").values())
    printed = {number.what: number.value for number in CLAIMS["assumptions/transfer"].numbers}
    assert [*printed.values()] == ["80.7", "59.3", "54.9"]


def test_printed_shares():
    """What the text quotes of the slides' tables is what the claims hold."""
    shares, norb = {}, {}
    for claim in ("assumptions/table-a", "assumptions/table-b"):
        values = {number.what: int(number.value) for number in CLAIMS[claim].numbers}
        migs = {what.split("/")[1]: value for what, value in values.items() if what.endswith("/mig")}
        shares[claim[-1]] = migs["dsprites"], min(migs.values()), max(migs.values())
        norb[claim[-1]] = migs["smallnorb"]
    assert shares == {"a": (26, 11, 71), "b": (72, 29, 88)}
    says(
        "On dSprites that is 74 against 26", "the other way round, 29 against 71", "has 28 % on dSprites there and 62 %"
    )
    assert (100 - 26, 100 - norb["a"], 100 - 72) == (74, 29, 28) and floats("shares-table")["mig"][2] == 0.62
    says("from 11 % (Noisy-dSprites) to 71 % (SmallNORB), 26 % on dSprites", "from 29 % to 88 %, on dSprites 72 %")


def test_the_same_sprites_in_other_pictures():
    found = floats("backgrounds")
    says("is .058 on average on black, .175 with noise and .092 with patches")
    assert [found[name][0] for name in ("dSprites", "Noisy", "Scream")] == [0.058, 0.175, 0.092]
    says("pairs at one step scatter by .003, and eight steps make .012", "pairs at one step scatter by .057")
    _, near, far, scatter, order = found["Noisy"]
    assert (scatter, round(far - near, 3), order) == (0.003, 0.012, 0.827) and found["Scream"][3] == 0.057
    says("with a rank correlation of .827 against .745 on black", "of the order nothing is left")
    assert found["dSprites"][4] == 0.745 and abs(found["Scream"][4]) < 0.05
    says("with noise, which adds twice what x contributes", "with patches, although they add less")
    assert 0.05 < found["dSprites"][0] < (found["Noisy"][0] - found["dSprites"][0]) / 2 + 0.01
    says("On black and in colour they nearly are")
    assert abs(found["dSprites"][4] - found["Color"][4]) < 0.05
    says("12,288 numbers of the noise", "29 % of the BetaVAE score on dSprites, 30 % in colour, 17 % on noise and 89 %")
    assert 3 * 64 * 64 == 12_288
    values = {number.what: int(number.value) for number in CLAIMS["assumptions/table-a"].numbers}
    names = ("dsprites", "color-dsprites", "noisy-dsprites", "scream-dsprites")
    assert [values[f"objective/{name}/beta-vae-score"] for name in names] == [29, 30, 17, 89]
    assert "photographs china.jpg and flower.jpg that scikit-learn ships" in ScreamDSprites().source


def test_usefulness_noise_and_leaks():
    found = floats("useful-table")
    accuracy = {name: row[0] for name, row in found.items()}
    says("most clearly with what reconstructions leave, and against it")
    assert min(accuracy, key=accuracy.get) == "what reconstructions leave" and accuracy["beta-vae-score"] > 0.2
    says("Of the scores the BetaVAE score goes with it, and the others less")
    assert sorted(accuracy, key=accuracy.get)[-1] == "beta-vae-score"
    says(
        "With the accuracy of trees DCI goes nearly as clearly",
        "DCI, modularity and SAP go with the ratio of trees, by .39 to .40, and hardly with that of regressions",
    )
    assert 0 < abs(found["what reconstructions leave"][2]) - found["dci"][2] < 0.05
    ratios = {name: found[name][1::2] for name in ("dci", "modularity", "sap")}
    assert all(abs(one) < 0.15 and 0.39 <= other <= 0.40 for one, other in ratios.values())
    says("With the FactorVAE score the two ratios have rank correlations of .15 and .30")
    assert found["factor-vae-score"][1::2] == [0.15, 0.30]
    ratios = floats("ratio")
    says("noise, with .97", "the factors themselves, .76", "84 % of cases, and in 14 %")
    assert ratios["noise"][2] == 0.97 and ratios["the factors"][2] == 0.76
    assert "drawn alike: 0.84" in output("leak") and "images set aside: 0.14" in output("leak")
    says("It goes with none of them")
    assert all(abs(value) < 0.35 for value in floats("own-score")["half-used"])


def test_what_is_said_of_the_claims():
    results = Store().results()
    verdict = best_verdict(CLAIMS["assumptions/variance-explained"], results)
    says("the verdict is *inconclusive* all the same")
    assert verdict.verdict == "inconclusive" and verdict.orders[0].holds
    assert {*verdict.orders[0].passing} == {"shuffled", "untrained"}
    first = best_verdict(CLAIMS["assumptions/figure-1"], results)
    says("means above samples, holds for untrained networks as well")
    assert first.orders[2].holds and "untrained" in first.orders[2].passing
    says("Both movements are there, samples falling and means rising, and neither control makes them")
    assert all(step.holds and not step.passing for step in first.orders[:2])
    says("the means rise from .112 to .197 nats, and those of latents in use still to .181")
    (part,) = parts_of(CLAIMS["assumptions/figure-1"], "small")
    metrics = [results[run.id]["metrics"] for run in part.runs()]
    names = ("mean/strength-low", "mean/strength-high", "active/strength-high")
    assert [round(fmean(each[name] for each in metrics), 3) for name in names] == [0.112, 0.197, 0.181]
    says(
        "So do numbers that are dealt out by lot, with a spread within methods of at least 1.8 times that between them"
    )
    (part,) = parts_of(CLAIMS["assumptions/figure-3-left"], "small")
    for each in (results[run.id]["metrics"] for run in part.runs() if run.id in results):
        within, between = (each[f"control/shuffled/spread/{name}-methods"] for name in ("within", "between"))
        assert within > 1.8 * between
    fifth = best_verdict(CLAIMS["assumptions/figure-5"], results)
    says("with a rank correlation of .44 on average over five studies, and neither control shows that")
    says("single studies, of eighteen models with trees each, say anything from .06 to .69")
    says("both numbers are read off the same trees, so that part of the agreement was built in")
    assert fifth.verdict == "inconclusive" and "same trees" in fifth.why
    assert round(fifth.orders[0].means[0], 2) == 0.44 and not fifth.orders[0].passing
    singles = fifth.orders[0].values[0]
    assert (round(min(singles), 2), round(max(singles), 2), len(singles)) == (0.06, 0.69, 5)
    known = [
        key for key in results[parts_of(fifth.claim, "small")[0].run(4).id]["metrics"] if key.startswith("of/dci/")
    ]
    assert len(known) == 18
    says("and nothing can be concluded here either")
    verdicts = {best_verdict(claim, results).verdict for claim in CLAIMS.values()}
    assert verdicts <= {"inconclusive", "out of reach", "not run"}
    says("Five are on grey sprites and five on coloured ones", "Its runs are five studies of 36 models each")
    for name in ("assumptions/figure-5", "assumptions/figure-1"):
        assert all(run.id in results for run in parts_of(CLAIMS[name], "small")[0].runs())
    says("with two seeds for each configuration, the correlation is near 0")
    (part,) = parts_of(CLAIMS["assumptions/transfer-color"], "small")
    name = "rank-correlation/dsprites-and-color-dsprites"
    found = [results[run.id]["metrics"][name] for run in part.runs() if run.id in results]
    assert len(found) > 2 and abs(fmean(found)) < 0.2
