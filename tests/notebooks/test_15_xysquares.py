"""What the text of chapter 15 says about its outputs is what the stored outputs say."""

import math
import re

import pytest
import torch
from torch.nn.functional import interpolate

from course_lib.data import XYSquares
from course_replication import Store, best_verdict, load_claims, shipped_data, shipped_model, shipped_model_card
from course_replication.claims import claims_named
from course_replication.plans import parts_of
from stored_chapter import StoredChapter, numbers

CHAPTER = StoredChapter("15_xysquares")
CELLS, TEXT, output, says, table = CHAPTER.cells, CHAPTER.text, CHAPTER.output, CHAPTER.says, CHAPTER.table


def floats(name: str) -> dict:
    return {label: [float(cell) for cell in cells] for label, cells in table(name).items()}


def labels_of(name: str) -> list[str]:
    found = CHAPTER.html(name).select_one("[data-labels]")["data-labels"]
    return re.findall(r'"([^"]*)"', found)


def test_four_distances():
    found = floats("four")
    assert [*found] == ["1", "2", "3"] and sum(row[0] for row in found.values()) == 5_000
    for squares, (count, least, most, expected) in found.items():
        assert least == most == pytest.approx(int(squares) * 128 / 12_288, abs=1e-6)
        assert abs(count - expected) < 4 * expected**0.5


def test_the_table_on_paper():
    step = 128 / 12_288
    says("= .0104 .", "= .0308,", "= .0022,", "$.0104$ with deviation $.0000$")
    assert (round(step, 4), round(step * 189 / 64, 4), round(step * math.sqrt(189) / 64, 4)) == (0.0104, 0.0308, 0.0022)
    says("so 34 billion pairs", "\\approx 10^{268}")
    assert len(XYSquares()) ** 2 / 2 == pytest.approx(34e9, rel=0.02)
    assert round(math.log10(6) + 3 * math.log10(math.factorial(64))) == 268


def test_the_closed_forms():
    assert numbers(output("closed"))[1:] == [0.5222, 0.5804]
    says("r(8) = \\sqrt{\\tfrac{18}{66}} = .522 .", "\\rho(8) = \\sqrt{\\tfrac{192}{570}} = .580 .")
    assert round(math.sqrt(18 / 66), 3) == 0.522 and round(math.sqrt(192 / 570), 3) == 0.580
    says("$\\sqrt{3/32}$ is .31")
    assert round(math.sqrt(3 / 32), 2) == 0.31
    found = floats("distinct")
    for row in found.values():
        assert row[:6] == [0] * 6
    assert [row[6] for row in found.values()] == [0.243, 0.229]  # pairs anywhere, linear and rank
    says('where this course says "independent pairs"')


def test_the_three_codes():
    ordered, lines, deck = floats("three-costs").values()
    assert ordered[0] == lines[0] == deck[0]
    says("shuffled lines cost half as much again, and a shuffled deck two thirds more")
    assert lines[1] / ordered[1] == pytest.approx(1.5, abs=0.05) and deck[1] / ordered[1] == pytest.approx(
        5 / 3, abs=0.05
    )
    says('It gives "lines shuffled" full marks', "Missing order by itself costs no MIG at all. Missing axes do.")
    assert lines[2] == ordered[2] > 0.99 and deck[2] < 0.05
    assert ordered[3] == 1 and max(abs(lines[3]), abs(deck[3])) < 0.02


def test_the_trainings():
    found = floats("train-runs")
    untrained, base, sliding, longer, wider, cheaper = found.values()
    options = dict(re.findall(r"> - \(([a-d])\) (.*)", TEXT))
    for letter, words in {"a": "one pixel apart", "b": "times as many steps", "c": "wide", "d": "β"}.items():
        assert words in options[letter] and any(name.startswith(f"({letter})") for name in found)
    says(
        "the rank correlation over distinct pairs is −.07, on average", "Only (a).", "no single factor gets beyond .05"
    )
    assert base[3] == -0.07 and sliding[3] > 0.7
    assert all(abs(row[3]) < 0.08 and row[4] <= 0.05 for row in (untrained, base, longer, wider, cheaper))
    says("green as well as with (b), red with .55 of its variance left to find in place of .90")
    assert abs(sliding[1] - longer[1]) < 0.015 and (sliding[0], base[0]) == (0.55, 0.9)
    says("bring the green square back better")
    assert max(longer[1], wider[1]) < base[1] - 0.1
    says("divides between the two squares what otherwise goes to one", "wider layers bring the images back better")
    assert max(sum(longer[:2]), sum(wider[:2])) < sum(base[:2]) - 0.1 and sum(cheaper[:2]) > sum(base[:2]) - 0.1
    assert cheaper[0] < base[0] - 0.1 and cheaper[1] > base[1] + 0.1
    says("green goes first and red is hardly drawn")
    assert all(row[1] < 0.4 and row[0] > 0.85 for row in (base, longer, wider))
    says("a rank correlation of about .3, trained or not")
    assert all(row[2] == pytest.approx(0.3, abs=0.035) for row in (untrained, base, longer, wider, cheaper))


def test_the_starting_price():
    assert numbers(output("starting")) == [8_320, 64, 130.0, 130.0]
    found = floats("starting-table")
    xysquares, dsprites, shapes = (found[name] for name in ("XYSquares, spacing 8", "dSprites", "3D Shapes"))
    tried = (0.000316, 0.001, 0.00316, 0.01, 0.0316, 0.1, 0.316, 1.0)
    says("dSprites and 3D Shapes can leave collapse at every β that the thesis tried.")
    assert min(*dsprites[1:], *shapes[1:]) > max(tried)
    says("at .316 and 1.0 no small step pays if $D = 25$, and at .1 neither if $D = 9$, by a hair")
    assert [beta for beta in tried if beta > xysquares[2]] == [0.316, 1.0]
    assert [beta for beta in tried if beta > xysquares[1]] == [0.1, 0.316, 1.0] and xysquares[1] > 0.09
    says("23 times smaller on XYSquares than on dSprites", "46 times smaller than on 3D Shapes")
    scale = 4_096 / 12_288  # dSprites has one channel
    assert round(dsprites[0] / (xysquares[0] * scale)) == 23 and round(shapes[0] / xysquares[0]) == 46
    says("At .316 (155 in sums)", "at 1.0 (492) hardly a way out does")
    assert [round(beta * 12_288 / 25) for beta in (0.316, 1)] == [155, 492]
    says("a mean β of 1.0 is one of 73 in sums, nine times the starting price of 8.1")
    small = XYSquares(2, 2, squares=2, image_size=16)
    price = 2 * 4 / small.std[0] ** 2 / 64
    assert round(price, 1) == 8.1 and round(512 / 7) == 73 and round(73 / price) == 9


def test_the_sweep():
    found = {float(beta): row for beta, row in floats("sweep-table").items()}  # left at 1 and 8, nats at 1 and 8
    says("With spacing 1, the share that comes back reaches 0 at the line.")
    assert found[768][0] < 0.75 and found[1152][0] >= 0.98
    says("at β = 192 a twentieth of the variance still comes back, and at 256 nothing")
    assert found[192][1] == pytest.approx(0.95, abs=0.01) and found[256][1] == 1
    outside = [int(count) for count in re.findall(r"(\d+) at β", output("heap"))]
    says("the larger β, the fewer stay outside", "At β = 8 and 16 some of the codes on the left are outside the frame")
    assert outside[:4] == sorted(outside[:4], reverse=True)
    assert outside[0] > outside[1] > outside[2] > outside[3] == 0
    assert re.findall(r"at β = (\d+)", output("heap").partition("frame")[2]) == ["8", "16"]


def test_widths_have_the_same_line():
    """The best decoder's gain from a small step of the log-variances, by numerical integration."""
    says("the step costs $\\beta\\delta^2/4$ and gains $\\delta^2\\lambda/2$ at most, half as much of both")
    draw, step = torch.Generator().manual_seed(0), 0.01
    images = torch.randn(6, 4, generator=draw, dtype=torch.float64)
    directions, values, _ = torch.linalg.svd(images - images.mean(0), full_matrices=False)
    a, largest = directions[:, 0] * math.sqrt(6), values[0].item() ** 2 / 6
    z, apart = torch.linspace(-9, 9, 4_001, dtype=torch.float64).unsqueeze(1), torch.cdist(images, images).square()

    def error(log_variance):
        density = (-z.square() / (2 * log_variance.exp()) - log_variance / 2).exp()
        share, drawn = density / density.sum(1, keepdim=True), density.sum(1) / density.sum()
        return 0.5 * (((drawn.unsqueeze(1) * share).T @ share) * apart).sum().item()

    gain = error(torch.zeros(6, dtype=torch.float64)) - error(step * a)
    assert gain / step**2 == pytest.approx(largest / 2, rel=0.01)
    cost = 0.5 * ((step * a).exp() - 1 - step * a).mean().item()
    assert cost / step**2 == pytest.approx(1 / 4, rel=0.02)


def test_leaving_one_by_one():
    ((pays,),) = [floats("leaving").values()]
    says("A step of .1 pays below 129", "pays for itself up to β = 198, and at three deviations up to 493")
    assert (pays[0], pays[2], pays[4]) == (129, 198, 493)
    says("not even a place that leaves by itself would pay")
    assert max(pays) / 130 < 73 / 8.1


def test_two_ways_to_one_price():
    fresh, held, *_ = zip(*floats("lasting-table").values(), strict=True)  # what is left: from nothing, from β = 8
    prices = [int(float(beta)) for beta in floats("lasting-table")]
    held, fresh = dict(zip(prices, held, strict=True)), dict(zip(prices, fresh, strict=True))
    short = {float(beta): row[1] for beta, row in floats("sweep-table").items()}
    says("brings back .26 at β = 128, where 1,200 steps brought .12, and at 160 still a tenth")
    assert fresh[128] == 0.74 and short[128] == 0.88 and fresh[160] == pytest.approx(0.9, abs=0.02)
    says("At 256 none does.", "keep half of the variance at 256 and a fifth at 320, and at 512 nothing")
    assert fresh[256] == 1
    assert held[256] == pytest.approx(0.5, abs=0.05) and held[320] == pytest.approx(0.8, abs=0.03) and held[512] >= 1
    says("So from below the line, at 96, to beyond 320 it matters where a VAE comes from")
    assert fresh[64] - held[64] < 0.05 and fresh[96] - held[96] > 0.15 and fresh[128] - held[128] > 0.3
    assert fresh[160] - held[160] > 0.4 and 0.1 < fresh[320] - held[320]


def test_what_half_an_answer_saves():
    saved, first = {}, {}
    for spacing in (8, 7, 1):
        images = XYSquares(spacing, squares=1).observations(torch.arange(64)).flatten(1).double()
        whole, half = (part.var(0, correction=0).sum() for part in (images, images[:32]))
        saved[spacing] = 1 - (half / whole).item()
        values = torch.linalg.svdvals(images - images.mean(0)).square()
        first[spacing] = (values[:2].sum() / values.sum()).item()
    says("saves a 63rd of the variance, where at spacing 1 it saves a fifth")
    assert saved[1] == pytest.approx(0.2, abs=0.02) and saved[8] == pytest.approx(1 / 63)
    says("The first two collect 5 % of the variance at spacing 7 and half of it at spacing 1")
    assert first[7] == pytest.approx(0.05, abs=0.005) and first[1] == pytest.approx(0.5, abs=0.02)


def test_the_stored_seeds():
    found = {key: [numbers(cell)[0] for cell in cells] for key, cells in table("ada-table").items()}
    says("MIG and DCI stay at one or two hundredths")
    for method in ("ada-gvae", "beta-vae"):
        assert abs(found["apart", method][0]) < 0.05 and {*found["apart", method][1:3]} <= {0.01, 0.02}
        assert found["overlapping", method][0] > found["overlapping", "untrained"][0] + 0.3
    says("from an alignment of .19 to one of .37")
    assert (found["apart", "beta-vae"][3], found["apart", "ada-gvae"][3]) == (0.19, 0.37)
    says("only the Ada-GVAE gets a DCI of a half, which has also trained on twice as many images")
    assert found["overlapping", "ada-gvae"][2] == pytest.approx(0.5, abs=0.05)
    assert found["overlapping", "beta-vae"][2] < 0.1
    says("Every row of the order holds, and yet nothing can be concluded", "shows four of the six rows as well")
    assert "no\n" not in output("card-310") and output("card-310").count("yes\n") == 6
    (claim,) = claims_named(["distances/figure-3.10"])
    order = best_verdict(claim, Store().results())
    assert [step.passing for step in order.orders].count(("untrained",)) == 4 and order.verdict == "inconclusive"
    says("of the pixels' variance it leaves .49", "after twice as many steps as the β-VAE's")
    assert {round(arm.left, 2) for arm in order.learnt if arm.arm == "ada-gvae/spacing-8"} == {0.49}
    parts = [part for part in parts_of(claim, "small") if "steps" in part.settings]
    steps = {part.settings["framework"]: part.settings["steps"] for part in parts}
    batches = {part.settings["framework"]: part.settings["batch_size"] for part in parts}  # the Ada-GVAE's are of pairs
    assert steps["AdaGVAE"] == 2 * steps["BetaVAE"] and 2 * batches["AdaGVAE"] == batches["BetaVAE"]


def test_the_spacings():
    says("The count of distances runs 1, 2, 2, 2, 2, 3, 4, 7", "with less spacing more, or as many")
    counts = [int(numbers(label.partition(":")[2])[0]) for label in labels_of("spacing")]
    assert counts == [min(7, math.ceil(8 / spacing)) for spacing in range(8, 0, -1)] == [1, 2, 2, 2, 2, 3, 4, 7]
    found = floats("table-42")
    says("To the printed digit.", "From spacing 4 to 7 the ranks are all .85")
    for linear, our_linear, rank, our_rank, _ in found.values():
        assert linear == our_linear and rank == our_rank
    assert {found[spacing][2] for spacing in "4567"} == {0.85}
    says("from 1.00 down to .76 for images that know their neighbours, and then, in one step, 0")
    assert [row[4] for row in found.values()][3:] == [0.76] * 4 + [0] and found["1"][4] == 1


def test_the_order_of_trained_codes():
    mean, least, most = floats("order-table").values()
    images = [row[4] for row in floats("table-42").values()]
    says("At spacings of 1 and 2 the codes have all the order that the images have. From 3 on they fall short of it.")
    assert all(abs(mean[place] - images[place]) < 0.03 for place in (0, 1))
    assert all(most[place] < images[place] for place in range(2, 7))
    says("the codes go down from about .6 to .38")
    assert mean[3:6] == pytest.approx([0.57] * 3, abs=0.05) and mean[6] == 0.38
    says("the three seeds range from .24 to .48; at 8 there is nothing", "191 at 7 and 130 at 8")
    assert (least[6], most[6]) == (0.24, 0.48) and max(abs(least[7]), abs(most[7])) < 0.1


def test_a_model_of_the_thesis_size():
    card, data = shipped_model_card("xysquares-mse-vae"), shipped_data("xysquares-mse-vae")
    says("all 262,144 images, its convolutional network, 25 latents", "for 11,520 steps of 64 images")
    says("at a learning rate of .0003 and not .001")
    assert (len(data), card["network"], card["latents"]) == (262_144, "conv", 25)
    assert (card["steps"], card["batch_size"], card["settings"]["beta"]) == (11520, 64, 0.0001)
    assert card["learning_rate"] == 0.0003
    says("(in sums .05, where small steps begin to pay at 130)")
    assert round(0.0001 * 12_288 / 25, 2) == 0.05 and numbers(output("starting"))[-1] == 130
    says("All three squares are there, here and there a pale one, or one in two places at once")
    images = data.images(torch.randint(len(data), (200,), generator=torch.Generator().manual_seed(1)))
    back = shipped_model("xysquares-mse-vae").reconstruct(images)
    wrong = (back - images / 255).square().mean((2, 3)) / (images / 255).square().mean((2, 3))  # per image and square
    assert wrong.mean() < 0.15 and (wrong < 0.1).double().mean() > 0.7 and (wrong > 0.5).any()
    run, number = card["run"].rsplit("/", 1)
    found = [Store().results("full")[f"{run}/{seed}"]["metrics"] for seed in range(5)]
    mine = found.pop(int(number))
    says("with a rank correlation of .48 (a geometric mean over the factors)", "some order along, .48 at full size")
    factors = [mine[f"rank-distinct/{name}"] for name in data.space.names]
    assert mine["rank-distinct"] == pytest.approx(math.prod(factors) ** (1 / 6))
    says("the price is 636 nats, where 12.5 would tell all 262,144 images apart")
    assert round(mine["rank-distinct"], 2) == 0.48 and round(mine["kl"], 0) in (636, 637)
    assert round(math.log(262_144), 1) == 12.5
    says("Of four more seeds one has learnt all three squares in the same time; the others have two, and of the third")
    left = sorted(each["left"] for each in found)
    assert left[0] < 0.1 and left[1:] == pytest.approx([1 / 3] * 3, abs=0.003)


def test_what_leaks():
    found = floats("leaks")
    spread, rank = ({name: row[place] for name, row in found.items()} for place in (0, 1))
    safe = ["XYSquares", "inverted", "square added to noise", "each pixel standardised"]
    assert all(found[name] == [0, 0] for name in safe) and len(found) == 8
    says("a spread of a third, since now it matters what was hidden, and hardly any order")
    assert spread["square hides noise"] == pytest.approx(1 / 3, abs=0.03) and abs(rank["square hides noise"]) < 0.2
    assert spread["square hides a ramp"] > 0.5 and abs(rank["square hides a ramp"]) < 0.2
    says("the rank is that of spacing 7")
    assert rank["edges softened over 3 px"] == 0.76 and spread["edges softened over 3 px"] < 0.1
    says("Hence a rank *below* 0.")
    assert rank["first square clipped"] < -0.1


def test_scaling_down():
    wide = torch.zeros(8, 1, 256, 256)
    for place, image in enumerate(wide):
        image[0, 96:128, 32 * place : 32 * place + 32] = 1
    says("averaged down to 64 × 64, are adversaries still, and down to 60 × 60 no more")
    for side, constant in ((64, True), (60, False)):
        images = interpolate(wide, size=(side, side), mode="area").flatten(1)
        found = torch.pdist(images)
        assert (found.max() - found.min() < 1e-4 * found.mean()) == constant


def test_verdicts_are_those_of_the_store():
    mine = [claim for claim in load_claims() if claim.chapter == "15_xysquares"]
    lines = CHAPTER.verdicts(mine)
    says("and the renderer answers them to the printed digit")
    untrained = [line for claim, line in zip(mine, lines, strict=True) if claim.kind != "trained"]
    assert len(untrained) == 8 and all(line.startswith("match") for line in untrained)
    says('Three claims about trained models are "not run"')
    assert sum(line.startswith("not run") for line in lines) == 3


def test_the_claims_that_were_trained_in_small():
    says("At β = 1 nothing is learnt and no latent is in use; at .001 .41 of the variance is left and all seven are.")
    (claim,) = claims_named(["distances/figure-4.4-missing"])
    verdict = best_verdict(claim, Store().results())
    assert {arm.arm: round(arm.left, 2) for arm in verdict.learnt} == {"beta-0.001": 0.41, "beta-1": 1}
    assert [order.means for order in verdict.orders][1] == (7, 0) and verdict.verdict == "match"
    images, mig = CHAPTER.table("card-334").values()
    says("(the rank rises from that of self-pairs to .85)", "about a quarter of what it makes of two columns")
    assert round(numbers(images[0])[0], 2) == 0.85 and numbers(images[2])[0] == pytest.approx(0.58, abs=0.01)
    assert numbers(mig[2])[0] / numbers(mig[0])[0] == pytest.approx(0.25, abs=0.04)
    assert images[-1] == mig[-1] == "yes"
