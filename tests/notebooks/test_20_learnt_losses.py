"""What the text of chapter 20 says about its outputs is what the stored outputs say."""

import re
import statistics

import pytest
import torch

from course_lib.data import XYSquares
from course_lib.distances import correlation_table, correlations, ground_truth_distance, perceived_distance
from course_lib.losses import LearntKernel
from course_lib.losses.blur import blur, box_kernel
from course_lib.sampling import random_pairs
from course_replication import Store, load_claims, shipped_model, shipped_model_card
from course_replication.arms import arm_named
from course_replication.claims import claims_named
from course_replication.measurements.kernels import power_at_the_grid, small_kernel
from course_replication.measurements.stored_kernels import load_kernel
from course_replication.measurements.training import OF_DATA, dataset, take
from course_replication.plans import parts_of
from course_replication.verdicts import best_verdict, verdict_of
from stored_chapter import StoredChapter, numbers

CHAPTER = StoredChapter("20_learnt_losses")
CELLS, TEXT, output, says, table = CHAPTER.cells, CHAPTER.text, CHAPTER.output, CHAPTER.says, CHAPTER.table


def curve(radius: int) -> dict[int, tuple[float, float]]:
    """Rank correlation along a factor and at random, by step."""
    (line,) = (line for line in output("live-figure").splitlines() if line.startswith(f"{radius} "))
    found = re.findall(r"(\d+): '(-?\d\.\d+), (-?\d\.\d+)'", line)
    return {int(step): (float(along), float(anywhere)) for step, along, anywhere in found}


def test_ranks_are_stuck():
    says("The linear correlation moves with each nudge", "until two pairs change places")
    linear, rank = zip(*(numbers(line.partition(":")[2]) for line in output("stuck").strip().splitlines()), strict=True)
    assert len(set(linear)) == 5 and len(set(rank[:4])) == 1 and rank[4] != rank[0]


def test_by_hand():
    says("$r_1(u) = (3, 1.25, 4, 1.75)$")
    assert "by hand: [3.0, 1.25, 4.0, 1.75]" in output("scratch-cases")
    assert "scipy's ranks: 0.0;" in output("scratch-cases") and output("scratch-cases").strip().endswith("True")


def test_the_three_regimes():
    says("down to $\\varepsilon = 1.5$", "between 1.5 and 0.5, the largest has its rank, 3", "the smallest gap")
    (html,) = (output["data"]["text/html"] for output in CELLS["hexagon"].outputs)
    found = {float(e): r for e, *r in re.findall(r"(\d+(?:\.\d)?): ranks (\d\.\d\d), (\d\.\d\d), (\d\.\d\d)", html)}
    assert len(found) == 14
    for strength, (first, second, third) in found.items():
        assert (third == "3.00") == (strength <= 1.5)
        assert ((first, second) == ("2.00", "1.00")) == (strength <= 0.5)


def test_softness():
    says("four pairs in a hundred", "from Spearman's correlation, which has no gradient, to a linear one")
    lines = output("softness").strip().splitlines()
    assert [int(re.search(r"(\d+)%", line)[1]) for line in lines[:4]] == [4, 59, 100, 100]
    ranks, values = numbers(lines[4])
    assert numbers(lines[0])[-1] == numbers(lines[1])[-1] == ranks and abs(ranks) < 0.005
    assert numbers(lines[2])[-1] == numbers(lines[3])[-1] == values


def test_what_gets_a_gradient_at_a_millionth_owes_it_to_rounding():
    """Before training no two distances are equal; to nine decimals some are, and those share blocks."""
    says("even these owe it to our rounding: their distances agree to nine decimals")
    data = XYSquares(squares=1)
    factors = torch.cartesian_prod(torch.arange(8), torch.arange(8))
    pictures = data.images(data.space.index(factors)).double() / 255
    kernel = LearntKernel(63).kernel.detach().double()
    table = torch.cdist(blur(pictures, kernel).flatten(1), blur(pictures, kernel).flatten(1)).square() / 64**2
    table = table + torch.cdist(pictures.flatten(1), pictures.flatten(1)).square() / 64**2
    first, second = torch.randint(64, (2, 2_048, 3), generator=torch.Generator().manual_seed(0))
    distance = table[first, second].mean(1)
    assert len(distance.unique()) == 2_048
    assert len(table.round(decimals=9)[first, second].mean(1).unique()) < 2_048


def test_the_live_run():
    box_along, box_anywhere = numbers(output("scores").splitlines()[0].partition(":")[2])
    small, large = curve(31), curve(63)
    says("has passed the box by step fifteen", "ends at .994 at random, where the box has .930")
    passed = [step for step, (along, anywhere) in large.items() if along > box_along and anywhere > box_anywhere]
    assert passed[0] == 15 and passed == [step for step in large if step >= 15]
    assert round(large[120][1], 3) == 0.994 and round(box_anywhere, 3) == 0.930
    says("Radius 31 does it at once", "wins little along a factor")
    assert all(a > box_along and r > box_anywhere for step, (a, r) in small.items() if step)
    assert small[60][0] - box_along < 0.01
    says("along a factor stop at .9879?", "So .9879 is a perfect order")
    assert {large[step][0] for step in (60, 80, 100, 120)} == {0.9879} and large[120][1] > large[60][1]
    says("At random there are fewer ties, and the ceiling is .998")
    assert numbers(output("ceiling").replace("factor ", "factor: ")) == [0.9879, 0.9977]
    says("its .81 along a factor is the luck of seed 0")
    starts = [numbers(line.partition(": ")[2]) for line in output("scores").strip().splitlines()[1:]]
    assert [along for along, _ in starts] == [0.81, -0.03, 0.03] and round(large[0][0], 2) == 0.81
    says("After five steps", "already the correlation is at .83")
    assert round(large[5][1], 2) == 0.83
    says("has the factors' perfect order along a line and .99 at random; the hand-made box has .97 and .93")
    assert round(large[100][1], 2) == 0.99 and (round(box_along, 2), round(box_anywhere, 2)) == (0.97, 0.93)


def test_three_seeds_three_pictures():
    says(
        "Three times a perfect order along a factor, .987 to .994 at random",
        "So after 120 steps the picture is the seed's",
        ".998 at random (.9981 for Table 6.1's pairs)",
    )
    lines = [line for line in output("seeds-figure").splitlines() if line.startswith("seed ")]
    found = [numbers(line.partition(":")[2]) for line in lines]
    assert {along for along, _ in found} == {0.9879}
    assert [round(anywhere, 3) for _, anywhere in found] == [0.994, 0.988, 0.987]
    (claim,) = claims_named(["distances/table-6.1-learnt"])
    (order,) = (o for o in best_verdict(claim, Store().results()).orders if o.first == "learnt-63/random/rank")
    assert [round(value, 4) for value in order.values[0]] == [0.9981] * 5


def test_the_pattern():
    found = {name: [*map(float, cells)] for name, cells in table("pattern-table").items()}
    learnt, smooth, added, multiplied, over, over_multiplied, box = found.values()
    says("smoothed away, .988 and .994", "The additive part alone has .988 and .988", "falls to .935")
    assert smooth[2:] == [0.988, 0.994] and added[2:] == [0.988, 0.988] and multiplied[3] == 0.935
    says("The distances are the same, and now the nearest product has .993")
    assert over[2:] == learnt[2:] and over_multiplied[3] == 0.993
    says("turned over, it falls below the box", ".941 between .930 and .954")
    assert over[0] < box[0] and over[1] < box[1] and [smooth[1], box[1], learnt[1]] == [0.941, 0.930, 0.954]
    says("without them it keeps about half of its lead at random")
    assert (smooth[1] - box[1]) / (learnt[1] - box[1]) == pytest.approx(0.5, abs=0.1)
    says("*A pattern* (d) is what radius 31 shows; at 63 its lines are faint")
    lines = {radius: power_at_the_grid(load_kernel(radius)[0], 8) for radius in (31, 63)}
    assert lines[31] > 0.05 > 2 * lines[63]


def test_after_all_steps_there_is_a_lattice():
    found = {name: [float(cell) for cell in cells] for name, cells in table("late-table").items()}
    learnt, smooth, added, multiplied, over, _, finely, without = found.values()
    before = {name: [float(cell) for cell in cells] for name, cells in table("pattern-table").items()}
    says("28,800 steps with 512 images and 4,096 pairs, where those above had 600 steps with 64 and 2,048")
    for scale, asked in (("small", [600, 64, 2048]), ("full", [28_800, 512, 4096])):
        for _, config in (load_kernel(radius, scale) for radius in (31, 63)):
            assert [config["settings"][name] for name in ("steps", "batch_size", "pairs")] == asked
            assert config["seed"] == 0
    says("of dots that are mostly 8 pixels apart, as the squares' places are")
    along = load_kernel(63, "full")[0].double().mean(0)
    dots = [x for x in range(1, 126) if along[x] > max(along[x - 1], along[x + 1], along.mean())]
    apart = [after - before for before, after in zip(dots, dots[1:], strict=False)]
    assert len(apart) == 15 and apart.count(8) > len(apart) / 2
    says("from this one it takes the order, .903 and .888, less than a box has", "over 5 × 5 next to nothing is lost")
    assert smooth[2:] == [0.903, 0.888] and before["box, radius 31"][2:] == [0.973, 0.930]
    assert finely[2] == learnt[2] and finely[3] == learnt[3] - 0.001
    says("the additive part has .988 and .997, and so, now, has the nearest product")
    assert added[2:] == multiplied[2:] == [0.988, 0.997] and over[2:] == without[2:] == learnt[2:]
    says("Along a factor nothing, at random .997 in place of .995", "whose squared length is 683 in place of 7.1")
    assert learnt[2] == before["h, as learnt"][2] and (learnt[3], before["h, as learnt"][3]) == (0.997, 0.995)
    assert "radius 63: squared length 7.1 → 682.9" in output("late-table")


def test_what_repeats_every_8_pixels_changes_no_distance():
    says("with this part taken out, every distance stays as it is")
    kernel, data = load_kernel(63, "full")[0].double(), XYSquares(squares=1)
    belongs = torch.nn.functional.one_hot(torch.arange(127) % 8).double()
    means = belongs / belongs.sum(0)
    repeating = belongs @ (means.T @ kernel @ means) @ belongs.T
    assert (repeating[:-8, :-8] - repeating[8:, 8:]).abs().max() < 1e-12 and repeating.std() > 0.1 * kernel.std()
    pictures = data.images(torch.arange(0, 64, 5)).double() / 255
    with_it, without = (blur(pictures, h).flatten(1) for h in (kernel, kernel - repeating))
    torch.testing.assert_close(torch.cdist(with_it, with_it), torch.cdist(without, without), rtol=1e-6, atol=1e-5)


def test_a_valley_has_the_distances_of_its_hill():
    """At radius 63, where each window covers the image, and not at radius 31."""
    says("has exactly the same distances", "So no training on distances can tell (a) from (c)")
    says("the distances cannot fix it at all", "of $h$ and of $h_{\\max} - h$ it has the same distances")
    data = XYSquares(squares=1)
    pictures = data.images(torch.arange(0, 64, 5)).double() / 255
    for radius, same in ((63, True), (31, False)):
        kernel = load_kernel(radius)[0].double()
        for part in (lambda h: h, lambda h: h.mean(0) + h.mean(1, keepdim=True) - h.mean()):
            valley, hill = (blur(pictures, part(h)).flatten(1) for h in (kernel, kernel.max() - kernel))
            assert torch.allclose(torch.cdist(valley, valley), torch.cdist(hill, hill), atol=1e-6) == same


def test_by_hand_kernels():
    bands, ramp, roots, box, low, high, learnt = ([*map(float, cells)] for cells in table("by-hand").values())
    says("All three sums beat the box ($c = 0$) at random by a wide margin", ".995 against .983")
    says("has the order along a factor exactly right, ties included, hence 1.000 and not .9879")
    assert min(bands[1], ramp[1], roots[1]) > box[1] + 0.03 and ramp[0] == 1.0
    assert learnt[1] == 0.995 and max(bands[1], ramp[1], roots[1]) == roots[1] == 0.983
    says("The box climbs from .930 to .952 and .966 as its plateau rises")
    assert [box[1], low[1], high[1]] == [0.930, 0.952, 0.966]


def test_table_61():
    says("The upper three rows are within .01 of what is printed, and our two kernels within .006")
    for name, cells in table("table-61-table").items():
        for cell in cells:
            printed, ours = map(float, cell.split(" → "))
            assert abs(printed - ours) <= (0.006 if name.startswith("learnt") else 0.0101), (name, cell)


def test_a_pattern_of_the_grid():
    lines = [line for line in output("sizes-figure").splitlines() if line.startswith("squares of")]
    found = {int(side): (along, anywhere) for side, along, anywhere in map(numbers, lines)}
    says("all four have the perfect order along a factor, and .987 or more at random")
    assert [*found] == [8, 4, 2, 1] and {along for along, _ in found.values()} == {0.9879}
    assert round(min(anywhere for _, anywhere in found.values()), 3) == 0.987


def test_the_order_turned_round():
    rows = {name: [float(cell) for cell in cells] for name, cells in table("turned-table").items()}
    says("less than −.9 along a factor where the other kernel has .98", "from which the plain error had .76")
    assert rows["apart", "adversarial"][0] < -0.9 and rows["apart", "synergistic"][0] == 0.98
    assert rows["overlapping", "as they are"][0] == 0.76
    says("leaves next to nothing along a factor and turns the order of all pairs")
    along, anywhere = rows["overlapping", "adversarial"]
    assert abs(along) < 0.15 and anywhere < -0.5


def test_few_pairs():
    found = {name: [numbers(cell) for cell in cells] for name, cells in table("few-table").items()}
    box, allowed = numbers(output("few-table").splitlines()[0].partition(":")[2])
    (told, rest), (_, hundred), (_, many) = found.values()
    says("has .49 ± .18 on all others", ".85 ± .06, still less than the box", ".96 ± .04 and is ahead on average")
    assert told[0] >= 0.97 and rest == [0.49, 0.18] and hundred == [0.85, 0.06] and many == [0.96, 0.04]
    assert hundred[0] < box == 0.93 < many[0]
    assert allowed == 0.994


def test_elsewhere():
    rows = {name: [numbers(cell) for cell in cells] for name, cells in table("transfer").items()}
    own, *others = rows.values()
    box, small, large = (place - 1 for place in (3, 4, 5))
    says("so the squared error has chapter 15's .23, and not the .36 of Table 6.1's batches")
    assert round(own[0][1], 2) == 0.23
    says("even a box has .983 to .988 along a factor")
    overlapping = [cells for name, cells in rows.items() if name.startswith(("spacing 6", "spacing 4", "spacing 2"))]
    assert {cells[box][0] for cells in overlapping} == {0.983, 0.988}
    says("keeps the order along a factor, .987, and has .989 and .972 at random, where the box has .924 and .908")
    four, one = rows["spacing 8, side 4"], rows["spacing 8, side 1"]
    assert [four[large], one[large]] == [[0.987, 0.989], [0.987, 0.972]]
    assert [four[box][1], one[box][1]] == [0.924, 0.908]
    says("ahead of the box on its own grid, and only there", "(at random .77 against .91)")
    assert own[small] > own[box] and all(cells[small][i] < cells[box][i] for cells in others for i in (0, 1))
    assert [round(value, 2) for value in (one[small][1], one[box][1])] == [0.77, 0.91]


def test_sprites():
    sprites = {name: [*map(float, cells)] for name, cells in table("sprites").items()}
    says("better than the squared error for both positions, and no better than a box", ".26 against .15 to .19")
    for place in (3, 4):
        for learnt in ("learnt-31", "learnt-63"):
            assert sprites["mse"][place] < sprites[learnt][place] <= sprites["mse-box"][place]
    assert [cells[5] for cells in sprites.values()] == [0.26, 0.19, 0.16, 0.15]


def test_how_soft():
    lines = [line for line in (output("strengths") + output("strengths-63")).splitlines() if line]
    *small, large_one, large_hundred = [numbers(re.split("rank correlation|at random", line)[1]) for line in lines]
    stuck, (one, hundred) = small[0] + small[1], small[2:]
    says("gets stuck between .90 and .95", "all three seeds reach .986 or more, where ties allow .994")
    assert (round(min(stuck), 2), round(max(stuck), 2)) == (0.90, 0.95) and min(one + hundred) >= 0.986
    says("On the small grid .002 to .003", "kernels of radius 63 become as good")
    won = [round(a - b, 3) for a, b in zip(one, hundred, strict=True)]
    assert (min(won), max(won)) == (0.002, 0.003)
    says("at radius 63 nothing: .994, .988 and .987 with them, .994, .994 and .987 without")
    says("reach rank correlations of .987 to .994 with $\\varepsilon = 1$, and just as much with 100")
    assert (large_one, large_hundred) == ([0.994, 0.988, 0.987], [0.994, 0.994, 0.987])
    says("Linear it is only at the blind start", "(.991, between .977 and .995)")
    ends = {name: [*map(float, cells)] for name, cells in table("ends").items()}
    assert ends["radius 63, start"][:3] == [0.271, 0.271, -0.001]
    assert ends["radius 63, 600 steps"][:3] == [0.977, 0.991, 0.995]
    says("At 100 all pairs are in one block")
    assert numbers(output("softness").splitlines()[3])[-1] == ends["radius 63, start"][0]
    says("some two hundred blocks", "nearer to the rank correlation than to the linear one")
    for name in ("radius 63, 600 steps", "radius 31, 600 steps", "small grid, 120 steps"):
        linear, soft, ranks, blocks = ends[name]
        assert abs(soft - ranks) < abs(soft - linear) and 140 < blocks < 250


def test_the_size_of_a_kernel():
    lines = output("weights").replace(";\n  a tenth", "; a tenth").strip().splitlines()
    pixel, ratio = zip(
        *(map(float, re.search(r"costs ([\d.]+), .* sharp ([\d.]+);", x).groups()) for x in lines), strict=True
    )
    assert pixel == (0.57, 1.67, 0.76)
    assert [*map(round, ratio)] == [13, 22, 9]
    box, small, large = ([numbers(pair) for pair in line.rpartition("large: ")[2].split("; ")] for line in lines)
    assert all(len({along for along, _ in found}) == 1 for found in (box, small, large))
    says("one pixel costs .57, 1.67 and .76, and the blurred term is 13, 22 and 9 times the sharp one")
    says("a tenth costs something, .979 for .995 and .918 for .930")
    assert [round(anywhere, 3) for found in (large, box) for _, anywhere in found[:2]] == [0.979, 0.995, 0.918, 0.930]
    says("At ten times the kernel's size, where it hardly counts any more, the correlations are the same")
    assert all(abs(found[2][1] - found[1][1]) < 0.0002 for found in (box, small, large))


def test_verdicts_are_those_of_the_store():
    CHAPTER.verdicts(claim for claim in load_claims() if claim.chapter == "20_learnt_losses")


def test_the_cards_say_what_the_text_says():
    results = Store().results()
    verdicts = {claim.id.split("/")[1]: best_verdict(claim, results) for claim in load_claims()}
    says(
        "and neither concludes anything",
        "at the start, .06 after 600 steps of smaller batches, and .118 at the end",
    )
    says("of the power of images .82 is at low frequencies, and .89 once they are seen through the learnt kernel")
    says("the untrained box with noise, blurs more, .96", "The box has .110")
    assert verdicts["figure-6.1"].verdict == verdicts["figure-6.2"].verdict == "inconclusive"
    (order,) = verdicts["figure-6.2"].orders
    assert order.holds and order.passing == ("untrained",)
    assert [round(share, 2) for share in (order.means[1], order.means[0], order.controls[0])] == [0.82, 0.89, 0.96]
    (order,) = verdicts["figure-6.1"].orders
    assert (round(order.controls[0], 2), round(order.means[0], 3), round(order.means[1], 3)) == (0.09, 0.118, 0.110)
    says("By the course's rule all eight numbers agree", "Without the rounding three of the eight lie in their ranges")
    says("Radius 63 ends at both of its ceilings, .9879 along a factor and .998 at random")
    found = verdicts["table-6.1-learnt"]
    assert (found.verdict, found.scale, found.n) == ("match", "full", 5) and len(found.numbers) == 8
    assert all(number.agrees for number in found.numbers)
    assert sum(x.low <= float(x.printed) <= x.high for x in found.numbers) == 3
    ours = {number.what: round(number.ours, 4) for number in found.numbers}
    assert ours["learnt-63/factors/rank"] == 0.9879 and round(ours["learnt-63/random/rank"], 3) == 0.998
    says("they differ in the third digit at radius 31 and in the fourth at 63")
    for radius, most in ((31, 0.002), (63, 0.0002)):
        spans = [max(x.values) - min(x.values) for x in found.numbers if x.what.startswith(f"learnt-{radius}")]
        assert most / 4 < max(spans) < most
    says("and 63 is blind", "A learnt kernel can use the whole image")
    assert all(order.holds for order in verdicts["section-6.1.3-radius"].orders)
    says("Neither symmetry nor the higher learning rate makes a clear difference along a factor")
    says("neither after 600 steps nor after the thesis' 28,800")
    claims = {claim.id: claim for claim in load_claims()}
    for name in ("distances/section-6.1.3-symmetry", "distances/table-a.6-rate"):
        for scale in ("small", "full"):
            found = verdict_of(claims[name], results, scale)
            (order,) = found.orders
            assert found.n == 5 and not order.holds and abs(order.means[0] - order.means[1]) < 0.001


def test_how_many_pairs_were_seen():
    says("saw 2,048 in each of 120 steps, a quarter of a million", "the kernel of radius 63 saw a quarter of a million")
    assert 2_048 * 120 == pytest.approx(250_000, rel=0.02)
    assert "draw_pairs(2_048" in CELLS["live"].source and "(63, 120)" in CELLS["live"].source


def test_how_box_and_kernel_rank_the_small_grid():
    says("along a factor .97 against .95 and at random .95 against .91")
    box, learnt = (numbers(line.partition(":")[2]) for line in output("work-ranks-table").strip().splitlines())
    assert (box, learnt) == ([0.95, 0.91], [0.97, 0.95])


@pytest.mark.slow
def test_at_work():
    rows = {name: [numbers(cell)[0] for cell in cells] for name, cells in table("work").items()}
    assert len(rows) == 8
    says("ahead of the Gaussian blur with the Ada-GVAE, a MIG of .53 against .29, and not of the box, .60")
    three = ("learnt", "mse-gaussian", "mse-box")
    assert [round(rows["AdaGVAE", loss][2], 2) for loss in three] == [0.53, 0.29, 0.60]
    for framework in ("BetaVAE", "AdaGVAE"):
        nothing, gaussian, box, learnt = (
            rows[framework, loss] for loss in ("mse", "mse-gaussian", "mse-box", "learnt")
        )
        assert gaussian[3] > 0.65 and gaussian[4] < box[4]
        says("put into order what the squared error leaves without any")
        assert nothing[3] == 0 and min(box[3], learnt[3]) > 0.7
    says("by the axis alignment the Ada-GVAE with the learnt loss is clearly *behind* the one with the box, .51 to .71")
    assert [rows["AdaGVAE", loss][4] for loss in ("learnt", "mse-box")] == [0.51, 0.71]
    assert rows["AdaGVAE", "learnt"][4] < rows["AdaGVAE", "mse-box"][4] - 0.15
    says("five seeds show no clear difference, by MIG or by order")
    left = {}
    (claim,) = claims_named(["distances/figure-6.4"])
    for part in parts_of(claim, "small"):
        shares = [Store().results()[run.id]["metrics"]["reconstruction"] for run in part.runs()]
        left[part.settings["framework"], part.settings["reconstruction"]] = statistics.fmean(shares)
    says("with the learnt loss leaves .45 of the variance, close to the limit, and with the box .35")
    assert [round(left["BetaVAE", loss], 2) for loss in ("learnt", "mse-box")] == [0.45, 0.35]
    says("The Ada-GVAE takes the same β, and trains two or four times as long, so that it leaves less than half, too")
    says("now they leave .36, and with the box .48")
    assert [round(left["AdaGVAE", loss], 2) for loss in ("learnt", "mse-box")] == [0.36, 0.48]
    assert max(left.values()) < 0.5
    for loss in ("mse", "mse-gaussian", "mse-box", "learnt"):
        mine, pairs = (numbers(" ".join(table("work")[framework, loss][:2])) for framework in ("BetaVAE", "AdaGVAE"))
        assert mine[0] == pairs[0] and pairs[1] / mine[1] == (4 if loss in ("mse-gaussian", "learnt") else 2)
    verdicts = {claim.id: best_verdict(claim, Store().results()) for claim in load_claims()}
    against = {order.second: order for order in verdicts["distances/figure-6.4"].orders}
    assert [order.holds for name, order in against.items() if name.endswith("mse")] == [True, True]
    assert all(0.05 < order.p < 0.95 for name, order in against.items() if name.endswith("mse-box"))


@pytest.mark.stress
def test_a_learnt_kernel_ranks_pairs_of_the_small_grid_better_than_the_box():
    """Of the three that were tried by hand, seed 0: half a minute of training."""
    data = dataset(**take(arm_named("small", "squares").settings, OF_DATA))
    found = []
    for loss in ("mse-box", small_kernel(data, 0, 1_000)):
        draws = torch.Generator().manual_seed(0)
        along = correlation_table(perceived_distance(data, loss=loss), data.space, draws, n=5_000, self_pairs=False)
        pairs = random_pairs(data.space, 20_000, torch.Generator().manual_seed(1))
        anywhere = correlations(ground_truth_distance(data.space)(*pairs), perceived_distance(data, loss=loss)(*pairs))
        found.append([round(along["rank"].drop(index="random").mean(), 2), round(anywhere[1], 2)])
    says("along a factor .97 against .95 and at random .95 against .91")
    assert found == [[0.95, 0.91], [0.97, 0.95]]


def test_the_loss_at_the_thesis_size():
    (claim,) = claims_named(["distances/figure-6.4-beta-vae"])
    found, rows = best_verdict(claim, Store().results()), table("large")
    assert (found.scale, found.verdict, found.n) == ("full", "inconclusive", 5) and not found.missing
    assert [(order.second, order.holds) for order in found.orders] == [("mig/mse", True), ("mig/mse-box", False)]
    says("Once more *inconclusive*", "ahead of the squared error and not shown to be ahead of the box, .019 for .017")
    mse, box, learnt = rows.values()
    assert [cells[4].split()[0] for cells in (box, learnt)] == ["0.017", "0.019"]
    says("along a factor .81 and .81, where kernel and box order the images with .977 and .973")
    assert box[2].startswith("0.81 ") and learnt[2] == "0.81 (0.68–0.88)" and mse[2].startswith("0.43 ")
    says("from .68 to .88", "Four of five spend two to five times as many nats")
    results, (_, *parts) = Store().results("full"), parts_of(claim, "full")
    boxed, own = ([results[run.id]["metrics"]["kl"] for run in part.runs()] for part in parts)
    ratios = sorted(more / less for more, less in zip(own, boxed, strict=True))
    assert ratios[0] < 2 < ratios[1] < ratios[4] < 5
    says("at random .51 and .49, for .956 and .930")
    assert [float(cell) for cell in table("late-table")["h, as learnt"][:2]] == [0.977, 0.956]
    assert [float(cell) for cell in table("pattern-table")["box, radius 31"][:2]] == [0.973, 0.93]
    ordered = [statistics.mean(results[run.id]["metrics"]["rank-global"] for run in part.runs()) for part in parts]
    assert [round(mean, 2) for mean in ordered] == [0.49, 0.51]


def test_the_price_in_units_of_the_learnt_loss_is_a_tenth():
    says("in units of this loss the same β is a tenth of it", "2,577 with this kernel and 259 with the box")
    pictures = XYSquares(squares=1).images(torch.arange(64)).double() / 255
    largest = []
    for kernel in (load_kernel(31, "full")[0].double(), box_kernel(31).double() * 63**0.5):
        seen = torch.cat([pictures, blur(pictures, kernel)], 1).flatten(1)
        largest.append(torch.linalg.svdvals(seen - seen.mean(0))[0].item() ** 2 / 64)
    assert [round(variance) for variance in largest] == [2577, 259]


def test_the_pictures_are_of_the_runs_that_leave_least():
    (claim,) = claims_named(["distances/figure-6.4-beta-vae"])
    results, (_, *parts) = Store().results("full"), parts_of(claim, "full")
    assert "the run of five that leaves least" in CELLS["large-pictures"].metadata["mystnb"]["figure"]["caption"]
    for name, part in zip(("box", "learnt"), parts, strict=True):
        best = min((run.id for run in part.runs()), key=lambda run: results[run]["metrics"]["left"])
        assert shipped_model_card(f"xysquares-{name}-vae")["run"] == best
    says("each the best of five, the box's third square stays soft; the learnt loss draws all three with their edges")
    data = XYSquares()
    originals = data.images(torch.randint(len(data), (500,), generator=torch.Generator().manual_seed(0)))
    found = {name: shipped_model(f"xysquares-{name}-vae").reconstruct(originals) for name in ("box", "learnt")}
    left = {name: (redrawn - originals / 255).square().mean((0, 2, 3)) for name, redrawn in found.items()}
    spread = (originals / 255).var(0, correction=0).mean((1, 2))
    assert (left["learnt"] / spread).max() < 0.05 and 0.15 < (left["box"] / spread)[1] > 2 * (left["box"] / spread)[2]
