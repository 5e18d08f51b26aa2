"""What the text of chapter 06 says about its outputs is what the stored outputs say."""

import math

import pytest

from course_replication import Store, best_verdict, load_claims
from stored_chapter import StoredChapter, numbers

CHAPTER = StoredChapter("06_moments_and_adversaries")
output, says, table = CHAPTER.output, CHAPTER.says, CHAPTER.table
CLAIMS = {claim.id: claim for claim in load_claims() if claim.chapter == "06_moments_and_adversaries"}


def floats(name: str) -> dict:
    return {label: [float(cell) for cell in cells] for label, cells in table(name).items()}


def means(name: str) -> dict[str, list[float]]:
    return {label: [numbers(cell)[0] for cell in cells] for label, cells in table(name).items()}


def test_the_law_of_total_covariance():
    found = floats("law")  # between, within, measured
    assert len(found) == 4
    for label, (between, within, measured) in found.items():
        assert measured == pytest.approx(between + within, abs=0.03)
        assert (within == 0) == (label[-4] != label[-1])


def test_a_perfect_vae():
    for strength, (width, means, samples, first, second) in floats("perfect").items():
        assert width == pytest.approx(1 / (1 + float(strength)), abs=1e-4)
        assert means == pytest.approx(1 - width, abs=2e-4) and samples == 1 and second == 0
        assert first == pytest.approx(width**2, abs=2e-4)


def test_the_exchange_rate_and_its_limits():
    says("Up to a correlation of about a half the two are hard to tell apart")
    assert -0.5 * math.log(1 - 0.25) - 0.125 < 0.02
    says("At .99 the total correlation is 1.96 nats, and a quarter of the squares .49")
    assert round(-0.5 * math.log(1 - 0.99**2), 2) == 1.96 and round(0.99**2 / 2, 2) == 0.49
    says("2.5 · 2 · .98 = 4.9 against 10 · 1.96 = 19.6")
    assert round(2.5 * 2 * 0.98, 1) == 4.9


def test_the_bound():
    likelihood, elbo, objective = numbers(output("bound-figure").splitlines()[0])
    says("is a number, −1.467", "is 1.69 nats above it at a variance of .001", "by more than a nat at the end")
    assert likelihood == elbo == -1.467 and objective - likelihood == pytest.approx(1.69, abs=0.005)


def test_a_finite_cloud():
    rows = [row for _, row in sorted(floats("finite-table").items(), key=lambda item: -float(item[0]))]
    exact, adversary, moments = (list(column) for column in zip(*rows, strict=True))
    assert exact == sorted(exact) and max(moments) == 0
    says("sees .23 nats of .32", "it says .34 to .36, whatever is there: 1.03, 2.86 or 9.67")
    assert exact[2:] == [0.32, 1.03, 2.86, 9.67] and adversary[2] == 0.23
    assert (min(adversary[3:]), max(adversary[3:])) == (0.34, 0.36)
    assert exact[-1] - exact[-2] == pytest.approx(math.log(1000), abs=0.15)  # half a nat for each of two latents


def test_the_live_trainings():
    found = means("live-table")  # in use, off-diagonal, TC, KL of q(z), KL, left, MIG
    vae, first, second = (found[name] for name in ("VAE", "DIP-VAE-I", "DIP-VAE-II"))
    says("The VAE uses two latents of six, and so does DIP-VAE-II", "uses **all six**")
    assert vae[0] == second[0] == 2 and first[0] == 6
    says("next to nothing", "from hundredths of a nat to .4")
    assert first[1] < 0.1 and max(vae[2], second[2]) < 0.03 and round(first[2], 1) == 0.4
    says(
        "the MIG fell from .27 to .04",
        ".23 of the pixels' variance is left in place of .33",
        "a KL of 3.2 nats in place of 1.4",
    )
    says("which is what untrained networks have")
    assert found["untrained"][6] == 0.04 and (vae[6], first[6]) == (0.27, 0.04) and (first[5], vae[5]) == (0.23, 0.33)
    assert (round(first[4], 1), round(vae[4], 1)) == (3.2, 1.4)
    says("± .21", "256/6 ≈ 43")
    assert numbers(table("live-table")["VAE"][6])[1] == 0.21 and round(256 / 6) == 43


def test_what_each_of_them_sees():
    found = floats("sees")  # KL, TC, adversary, I, II, MIG
    same = [found[name] for name in ("apart", "turned by 45°", "exchanged")]
    for column in (0, 2, 3, 4):
        assert len({row[column] for row in same}) == 1
    says("The .009 that the adversary sees in the first row is the grid", "Each pays the 3 nats", "with a MIG of 0")
    assert same[0][2] == 0.009 and all(row[1] <= 0.009 for row in same) and round(same[0][0]) == 3
    assert same[0][5] > 0.8 and same[1][5] < 0.01 and same[2][5] < 0.01
    says("charges 2, more than for repeating a latent", "Six rows of eleven have no more than a trifle in its column")
    assert found["nothing"] == [0, 0, 0, 2, 0, 0] and found["first twice"][3] < 2
    assert sum(row[2] < 0.01 for row in found.values()) == 6 and len(found) == 11
    says("the penalty for saying the same thing twice is a hundredth of what it is out loud")
    assert found["first twice, quietly"][4] / found["first twice"][4] == pytest.approx(0.01, abs=0.003)
    flipped = found["first, and flipped"]
    says(
        "More than a nat of total correlation, which is part of what the adversary sees", "DIP-VAE charges a thousandth"
    )
    assert flipped[2] >= flipped[1] > 1 and flipped[4] <= 0.001
    says('**The KL** is 0 for "nothing" alone', "not the humps, not where the cloud lies")
    says('"first twice" and "two humps" cost what "apart" costs and say 1.8 and 1.7 nats in place of 3.0')
    says('"moved by 1" says as much as "apart" and costs a nat more')
    said = {name: row[0] - row[2] for name, row in found.items()}  # the information
    assert [round(said[name], 1) for name in ("first twice", "two humps", "apart")] == [1.8, 1.7, 3.0]
    assert said["moved by 1"] == pytest.approx(said["apart"]) and found["two humps"][0] == same[0][0]
    assert found["moved by 1"][0] - same[0][0] == pytest.approx(1)
    assert [name for name, row in found.items() if row[0] == 0] == ["nothing"]
    assert found["first twice"][0] == same[0][0] and found["two humps"][1] == found["moved by 1"][1] == 0
    assert found["two humps"][4] == 0 and found["moved by 1"][3:5] == same[0][3:5]
    assert min(found["two humps"][2], found["moved by 1"][2]) > 1


def test_pitfalls():
    rows = floats("pitfall-whisper")
    assert rows["0.50"][0] == pytest.approx(rows["1.00"][0] / 16, abs=1e-3)
    assert max(row[1] for row in rows.values()) - min(row[1] for row in rows.values()) < 0.01 and rows["0.25"][2] > 1.7
    measured, expected = (value for value in numbers(output("pitfall-batch")) if value > 1)
    assert measured == pytest.approx(expected, rel=0.05) and expected == pytest.approx(600 / 64, abs=0.01)


def test_the_stored_trainings_on_sprites():
    found = {name: [numbers(cell)[:2] for cell in cells] for name, cells in table("sprites").items()}
    value = {name: [cell[0] for cell in cells] for name, cells in found.items()}  # I, TC, single, left, MIG, score
    vae, first, second = (value[name] for name in ("VAE", "DIP-VAE-I, λ = 2.5", "DIP-VAE-II, λ = 2.5"))
    prior, adversary, factor = (value[name] for name in ("Equation 12, γ = 10", "AAE, γ = 10", "FactorVAE, γ = 10"))
    says("FactorVAE has .54 on average, the AAE .56 and Equation 12 .61", "standard deviations between .03 and .09")
    assert (factor[5], adversary[5], prior[5]) == (0.54, 0.56, 0.61)
    three = ("FactorVAE, γ = 10", "AAE, γ = 10", "Equation 12, γ = 10")
    assert [min(found[name][5][1] for name in three), max(found[name][5][1] for name in three)] == [0.03, 0.09]
    says(".56 ± .14 and .46 ± .02 nats of total correlation and .07 of dimension-wise KL", "ends at .44")
    assert found["DIP-VAE-II, λ = 2.5"][1] == [0.56, 0.14] and found["Equation 12, γ = 10"][1] == [0.46, 0.02]
    assert factor[1] == 0.44
    says("(Their FactorVAE scores, .45 ± .14 and .61 ± .03, are less alike.)")
    assert [found[name][5] for name in ("DIP-VAE-II, λ = 2.5", "Equation 12, γ = 10")] == [[0.45, 0.14], [0.61, 0.03]]
    assert (second[1], prior[1], second[2], prior[2]) == (0.56, 0.46, 0.07, 0.07) and abs(second[3] - prior[3]) < 0.02
    says("2.23 nats against .88")
    assert (first[1], vae[1]) == (2.23, 0.88)
    says("carries 7.5 nats of information, of $\\ln 2304$ = 7.7", "The true total correlation is 9.3 nats")
    assert (round(adversary[0], 1), round(adversary[1], 1), round(math.log(2304), 1)) == (7.5, 9.3, 7.7)
    assert adversary[1] == max(row[1] for row in value.values())


def test_what_is_said_of_the_claims():
    results = Store().results()
    found = {name: best_verdict(claim, results) for name, claim in CLAIMS.items()}
    says("No order can be told.", "So nothing is concluded.", "MIGs between .07 and .11")
    assert found["factorvae/figure-23"].verdict == found["assumptions/dip-vae"].verdict == "inconclusive"
    assert not any(step.holds or step.reversed for step in found["factorvae/figure-23"].orders)
    assert all(step.holds for step in found["assumptions/dip-vae"].orders)
    assert "not applied" in found["assumptions/dip-vae"].why
    value = means("sprites")
    migs = [value[name][4] for name in ("β-VAE, β = 4", "DIP-VAE-I, λ = 2.5", "DIP-VAE-II, λ = 2.5")]
    assert (min(migs), max(migs)) == (0.07, 0.11)
