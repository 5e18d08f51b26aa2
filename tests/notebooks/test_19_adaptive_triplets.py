"""What the text of chapter 19 says about its outputs is what the stored outputs say."""

import math
import re
import statistics

import pytest
import torch

from course_replication import Store, best_verdict, load_claims, shipped_data, shipped_model
from course_replication.claims import claims_named
from course_replication.plans import parts_of
from course_replication.verdicts import verdict_of
from stored_chapter import StoredChapter, numbers

CHAPTER = StoredChapter("19_adaptive_triplets")
CELLS, TEXT, output, says = CHAPTER.cells, CHAPTER.text, CHAPTER.output, CHAPTER.says


def table(name: str) -> dict:
    """The rows of the frame that the cell shows, by their label or labels: a dict by column."""
    columns = [head.get_text() for head in CHAPTER.html(name).select("thead tr")[0].select("th")]
    rows = CHAPTER.table(name).items()
    return {label: dict(zip(columns[-len(cells) :], cells, strict=True)) for label, cells in rows}


COLLAPSED = ("ω = ½ from the start", "… codes exchanged", "ω from 1 to ½")


def first(cell: str) -> float:
    """The mean of a cell such as 0.979 ± 0.000."""
    return float(cell.partition(" ±")[0])


def runs_of_schedule(schedule: str) -> list[dict]:
    """The metrics of the stored trainings with that schedule."""
    wanted = "training.scores", schedule
    runs = Store().results("small").values()
    return [run["metrics"] for run in runs if (run["measurement"], run["settings"].get("schedule")) == wanted]


def frames_of(name: str) -> str:
    (html,) = (output["data"]["text/html"] for output in CELLS[name].outputs)
    return html


def test_the_guess():
    (same,) = re.findall(r"([\d.]+)%", output("guess"))
    says("only one factor in fifteen *does* stay")
    assert 1 / 16 < float(same) / 100 < 1 / 14
    rows = {name: [float(cell) for cell in row.values()] for name, row in table("guess").items()}
    says("Above η = 0 it never misses a factor that stayed")
    assert rows["η = 0"] == [0, 0] and all(row[0] == 1 for name, row in rows.items() if name != "η = 0")
    says("At η = ½ that is a third of all that changed, and from about η = .7 on more than half")
    assert [rows[f"η = {strength}"][1] for strength in (0.5, 0.6, 0.7)] == [0.32, 0.43, 0.53]
    says("end with an axis alignment of .83 in place of .99, and leave more than half of the pixels' variance")
    (claim,) = claims_named(["distances/section-5.4.1"])
    verdict = best_verdict(claim, Store().results())
    assert [round(value, 2) for value in verdict.orders[0].means] == [0.99, 0.83]
    assert verdict.learnt[1].left > 0.5 and verdict.verdict == "inconclusive"


def test_divergences_and_means_disagree():
    by_kl, by_mean = (numbers(line.partition("(")[0]) for line in output("reversed").strip().splitlines())
    says("by divergences it changed five times as much as the second, which is shared in its place")
    assert round(by_kl[0] / by_kl[1]) == 5 and by_mean[0] < by_mean[1]
    assert "[False, True]" in output("reversed") and "[True, False]" in output("reversed")


def test_what_hears_the_gradient():
    rows = {name: list(row.values()) for name, row in table("gradient").items()}
    says("After averaging, two of four latents hear nothing; with the weight they hear half")
    assert rows["shared"] == ["False", "True", "True", "False"]
    assert [float(cell) for cell in rows["slope, averaged"]] == [1, 0, 0, 1]
    assert [abs(float(cell)) for cell in rows["slope, ω = ½"]] == [1, 0.5, 0.5, 1]


def test_the_best_angles():
    """By the scan, by the printed formula, and by the formulas of the text."""
    for line in [line for line in output("derive").splitlines() if line.startswith("ω")]:
        weight, *angles = numbers(line.replace("°", " ").replace("=", " "))
        longest, cheapest, formula, resting = angles
        assert longest == pytest.approx(math.degrees(math.atan(weight)), abs=0.15)
        tangent = max((weight - 0.6) / 0.4, 0)
        assert formula == pytest.approx(math.degrees(math.atan(tangent)), abs=0.06)
        assert cheapest == pytest.approx(formula, abs=0.15) and resting == 44.9
    says("45° for ω = 1, 27° for ω = ½", "From 26.6° on both count in full")
    assert round(math.degrees(math.atan(0.5)), 1) == 26.6
    says("to even halves that are cheaper than the axis, as they are for every ω")


def test_the_prices():
    rows = {key: {name: float(cell) for name, cell in row.items()} for key, row in table("price-figure").items()}
    plain, nine, half = (rows["split", f"ω = {weight}"] for weight in ("1", "0.9", "0.5"))
    says("the more even the split, the cheaper: .93 in place of 1.20")
    assert plain == {"the axes": 1.2, "the cheapest": 0.93, "at degrees": 44, "at 44°": 0.93}
    says("At ω = .9 the axes and the halves cost the same within 3 %")
    assert 1 < nine["at 44°"] / nine["the axes"] < 1.03
    assert all(row["at degrees"] == 0 for key, row in rows.items() if key != ("split", "ω = 1"))
    says("at ω = ½ the halves cost twice as much")
    assert 1.95 < half["at 44°"] / half["the axes"] < 2.1
    says("On the right no weight is needed")
    assert rows["rotated", "ω = 1"]["at 44°"] > 2 * rows["rotated", "ω = 1"]["the axes"]


def test_what_a_split_code_s_negatives_count():
    whole, halves = (
        numbers(line.partition("ω = ½")[2].replace("ω = 1", "")) for line in output("counted").splitlines()
    )
    says("a split code's negatives count as .8 of their distance, those of the axes as .93")
    assert whole == [0.93, 0] and round(halves[0], 1) == 0.8
    says("with β = 0 both cost nothing")
    assert halves[1] == 0


def test_the_axes_are_found():
    rows = {name: {score: float(cell) for score, cell in row.items()} for name, row in table("climb-text").items()}
    says("It is (c): above .95, while", "stays where its distances leave it, at .52")
    assert rows["Ada-TVAE"]["axis"] > 0.95 and rows["Ada-TVAE"]["MIG"] > 0.6
    assert round(rows["β-TVAE"]["axis"], 2) == 0.52
    says("(.969 after .978)")
    assert rows["Ada-TVAE"]["rank"] == 0.969 and rows["β-TVAE"]["rank"] == 0.978


def climbing() -> dict[int, list[float]]:
    """The axis alignment at each step: of the β-TVAE, then of the Ada-TVAE."""
    rows = table("climb-steps")
    return {int(step): [float(rows[name][step]) for name in ("β-TVAE", "Ada-TVAE")] for step in rows["ω"]}


def test_the_climb_begins_at_the_bar():
    at, rows = climbing(), table("climb-steps")
    weight, bar = ({int(step): float(cell) for step, cell in rows[name].items()} for name in ("ω", "r"))
    says("at step 100, with ω at .95, the Ada-TVAE is ahead, .32 against .27")
    assert (weight[100], at[100]) == (0.95, [0.27, 0.32])
    says("does not test it, since after the first step ω is below $r$ throughout", "so that $r$ is near 1")
    assert bar[1] < weight[1] and all(weight[step] < bar[step] for step in bar if step >= 100)
    assert bar[1] > 0.95 and bar[100] == 1
    says("among unsettled triplets $r$ is near .9")
    assert all(0.84 < bar[step] < 0.92 for step in bar if step >= 500)
    says("The climb halts at .75 for a while because x_G is not found until step 500")
    assert all(0.7 < at[step][1] < 0.8 for step in (300, 400, 500)) and at[600][1] > 0.9


def test_stored_runs():
    rows = table("stored-table")
    says("axis alignment from .521 to .986, MIG from .247 to .834", "Six latents still have a variance above .01")
    plain, weak = rows["β-TVAE"], rows["Ada-TVAE"]
    assert [first(row["axis"]) for row in (plain, weak)] == [0.521, 0.986]
    assert [first(row["MIG"]) for row in (plain, weak)] == [0.247, 0.834]
    says("The β-TVAE reaches .99 in the first two and .52 in the third")
    assert [round(first(plain[score]), 2) for score in ("rank", "linearity", "axis")] == [0.99, 0.99, 0.52]
    stored = Store().results("small").values()
    runs = [run["metrics"] for run in stored if run["settings"].get("framework") == "TripletVAE"]
    untrained = [(run["control/untrained/axis-alignment"], run["control/untrained/mig"]) for run in runs]
    assert [round(statistics.fmean(values), 3) for values in zip(*untrained, strict=True)] == [0.139, 0.004]
    assert round(float(weak["used latents"])) == 6 and [row["seeds"] for row in rows.values()] == ["5"] * 4 + ["–"]
    assert (rows["untrained"]["axis"], rows["untrained"]["MIG"]) == ("0.139", "0.004")


def test_at_the_thesis_size():
    (claim,) = claims_named(["distances/figure-5.4-xysquares"])
    finished = Store().results("full")
    ada, plain = ([finished[run.id] for run in part.runs() if run.id in finished] for part in parts_of(claim, "full"))
    says("Five seeds of each method:")
    assert len(table("full")) == len(ada) + len(plain) == 10
    says("One run of 11,520 steps with batches of 32 keeps a processor core busy for half an hour and more")
    says(
        "The thesis trains its Ada-TVAE for 86,400 steps, 7.5 times as many, with batches of 256, which is sixty times",
        "in less than a seventh of its steps, that holds of two squares",
    )
    for run in ada + plain:
        assert (run["settings"]["steps"], run["settings"]["batch_size"]) == (11_520, 32) and run["seconds"] > 1_800
    says("the Ada-TVAE's axis alignment is above .7 in every run, the β-TVAE's below .35", "stays at .76 and below")
    assert all(0.75 <= round(run["metrics"]["axis-alignment"], 2) <= 0.76 for run in ada)
    assert all(run["metrics"]["axis-alignment"] < 0.35 for run in plain)
    says(
        "over all of its 25 latents",
        "four of its runs know where all three squares are (.97 and more each), and one has lost",
    )
    assert {run["metrics"]["active-latents"] for run in plain} == {25}
    knowing = [run for run in plain if min(orders(run)) > 0.965]
    (losing,) = [orders(run) for run in plain if run not in knowing]
    assert len(knowing) == 4 and losing[0] < 0.3 and min(losing[1:]) > 0.95
    says(
        "The Ada-TVAE has kept four latents each time",
        "little order is left, .18 to .36, and which one it is depends on",
    )
    assert {run["metrics"]["active-latents"] for run in ada} == {4}
    lost = [min(orders(run)) for run in ada]
    assert all(sorted(orders(run))[1] > 0.95 for run in ada)
    assert (round(min(lost), 2), round(max(lost), 2)) == (0.18, 0.36)
    assert len({orders(run).index(min(orders(run))) for run in ada}) > 1
    says("they leave from .31 to .36 of the variance")
    left = [round(run["metrics"]["left"], 2) for run in ada + plain]
    assert (min(left), max(left)) == (0.31, 0.36)
    verdict = best_verdict(claim, Store().results())
    assert (verdict.verdict, verdict.scale, verdict.orders[0].passing) == ("inconclusive", "full", ("shuffled",))
    says("Inconclusive: the axis alignment, .76, is short of the .9", ".76 against .26", ".33 against .07")
    says("the Ada-TVAE uses 4 latents, the β-TVAE 25, and the ratio rewards few")
    says("the trained one after the images have exchanged their codes")
    assert [f"{value:.2f}" for value in (*verdict.orders[0].means, *verdict.orders[0].controls)] == [
        "0.76",
        "0.26",
        "0.33",
        "0.07",
    ]
    says("its MIG is .00, that of the runs .43 (short of the .5 that we asked for Figure 5.6)")
    mig = [statistics.fmean(run["metrics"][name] for run in ada) for name in ("control/shuffled/mig", "mig")]
    assert [f"{value:.2f}" for value in mig] == ["0.00", "0.43"]
    shuffled = [round(run["metrics"]["control/shuffled/axis-alignment"], 2) for run in ada]
    assert (min(shuffled), max(shuffled)) == (0.31, 0.37) and "(.31 to .37)" in " ".join(claim.finding.split())


def test_what_the_models_of_the_thesis_size_draw():
    says("One trained model of each method comes with the course", "Both draw two squares nearly without a fault")
    for cells in table("full-left").values():
        lost, *kept = sorted(map(float, cells.values()), reverse=True)
        assert lost >= 0.99 and max(kept) < 0.05
    says("This β-TVAE's code knows where the blue square is, and its decoder makes no use of it")
    assert float(table("full-left")["β-TVAE"]["blue"]) >= 0.99
    says("A latent for each coordinate: a square moves along it, and the other stays where it is")
    data, told = shipped_data("xysquares-ada-tvae"), shipped_model("xysquares-ada-tvae")
    index = torch.randint(len(data), (300,), generator=torch.Generator().manual_seed(1))
    code, places = told.encode(data.images(index)).double(), data.space.factors(index).double()
    moves = torch.linalg.lstsq(places - places.mean(0), code - code.mean(0)).solution.abs()
    used = code.std(0).topk(4).indices
    assert sorted(moves[:, used].argmax(0).tolist()) == [0, 1, 2, 3]  # x and y of the red and of the green square
    assert (moves[:, used].amax(0) > 0.9 * moves[:, used].sum(0)).all()


def orders(run: dict) -> list[float]:
    """The order over distinct pairs along the coordinates of each square: red, green, blue."""
    found = run["metrics"]
    return [(found[f"rank-distinct/x_{key}"] + found[f"rank-distinct/y_{key}"]) / 2 for key in "RGB"]


def test_each_coordinate_has_a_latent():
    steps = re.findall(r"z(\d), ([\d.]+) per step of (\w+)", frames_of("after"))
    moving = {factor: latent for latent, step, factor in steps if float(step) > 0.05}
    assert len(steps) == 7 and sum(float(step) > 0.05 for _, step, _ in steps) == 4
    assert {*moving} == {"x_R", "y_R", "x_G", "y_G"}
    says("The β-TVAE has three pairs; the Ada-TVAE has one latent for each coordinate, and three that rest")
    split = table("climb-text")["β-TVAE"]  # as counted for two latents and two, two, one: chapter 18
    assert round(float(split["axis"]), 2) == round((5 / 12) ** 0.75, 2) and round(float(split["MIG"]), 2) == 0.25


def test_the_first_schedule_does_nothing():
    assert "equal losses, bit for bit" in output("threshold")


def test_pressure_from_the_start():
    rows = {score: {int(step): float(cell) for step, cell in row.items()} for score, row in table("early").items()}
    says("After 64 steps the axis alignment is .999", "The rank is .53, and MIG .06")
    assert rows["axis"][64] == 0.999 and round(rows["rank"][64], 2) == 0.53 and round(rows["MIG"][64], 2) == 0.06
    found = table("climb-text")
    says("better than that of any run above, at its end or before")
    assert max(float(row["axis"]) for row in found.values()) < 0.999
    assert max(value for values in climbing().values() for value in values) < 0.99
    says("positives are as far as negatives, $r$ is 1")
    ratio, _, times = numbers(output("start").replace("½", "0.5"))[:3]
    assert ratio == pytest.approx(1, abs=0.02) and times < 1
    says("the same codes exchanged among the images", "the collapsed code *wins*, and so do its exchanged codes")
    collapsed, shuffled, scheduled = (table("collapsed")[name] for name in COLLAPSED)
    assert first(collapsed["axis"]) > 0.99 and first(shuffled["axis"]) > 0.99 > first(scheduled["axis"])
    assert first(collapsed["rank"]) < 0.6 and first(shuffled["MIG"]) < 0.01


def test_without_supervision():
    squared, blurred, told = table("unsupervised").values()
    says("MIG .799, hardly below the .834", "and four used latents")
    assert first(blurred["MIG"]) == 0.799 and first(told["MIG"]) == 0.834 and blurred["used latents"] == "4.0"
    says("two used latents, no order over distinct pairs, MIG .04, an axis alignment of .77 all the same")
    assert squared["used latents"] == "2.0" and abs(float(squared["rank, distinct pairs"])) < 0.02
    assert round(first(squared["axis"]), 2) == 0.77 and round(first(squared["MIG"]), 2) == 0.04


def test_pressure_on_a_code_that_has_the_distances():
    ends = {name: {score: float(cell) for score, cell in row.items()} for name, row in table("later").items()}
    before, sudden, slow = ends.values()
    says("the rank falls from .98 to .66, while the axis alignment climbs to .90")
    assert [round(row["rank"], 2) for row in (before, sudden)] == [0.98, 0.66] and round(sudden["axis"], 2) == 0.9
    prices = table("price-figure")
    says("its price jumps from about .93 to 5.90")
    assert [prices["split", f"ω = {weight}"]["at 44°"] for weight in ("1", "0.5")] == ["0.93", "5.90"]
    says("axis alignment .977 and MIG .808, more than the run that had the weight from the beginning")
    assert (slow["axis"], slow["MIG"]) == (0.977, 0.808)
    assert all(float(table("climb-text")["Ada-TVAE"][score]) < slow[score] for score in ("axis", "MIG"))
    name = "then ω from 1 to ½"
    way = {
        score: [float(cell) for cell in table("later-steps")[name, score].values()] for score in ("rank", "axis", "r")
    }
    says("ω is below the code's $r$ (.90 and .92), but until ω is .8 next to nothing happens")
    assert way["r"][2] == 0.92 and max(way["axis"][:5]) < min(way["axis"][:5]) + 0.03
    says("the rank stays at .97 or above")
    assert min(way["rank"]) >= 0.97


def test_both_weighted():
    full, halved = ([float(cell) for cell in row.values()] for row in table("both-price").values())
    says("With several factors the axes stay the cheapest, with both weighted, too", "one factor alone has no bar")
    says("up to the wall a second latent costs a fifth more", "it costs more than twice as much")
    assert halved[2] / halved[0] == pytest.approx(1.2, abs=0.02) and full[2] / full[0] > 2 and min(halved) == halved[0]


def test_strong_schedules():
    rows = table("strong")
    assert {row["seeds"] for row in rows.values()} == {"5"}
    weak, strong, both = rows["weight, weak"], rows["weight, strong"], rows["both, strong"]
    assert first(strong["rank"]) < first(both["rank"]) - 0.1 < first(weak["rank"]) - 0.3
    runs = runs_of_schedule("weight_strong")
    says("four seeds of five lose the distances, and three of them end with a single latent")
    alone = [run for run in runs if run["active-latents"] == 1]
    assert len(runs) == 5 and sorted(run["rank"] for run in runs)[3] < 0.7 < 0.9 < max(run["rank"] for run in runs)
    assert len(alone) == 3
    says("gives those three 1.00; it falls for the one alone that has a second latent left, and by .05")
    assert {round(run["axis-alignment"], 2) for run in alone} == {1.0}
    (fallen,) = [run for run in runs if run["axis-alignment-fall"] > 0.01]
    assert fallen["active-latents"] == 2 and round(fallen["axis-alignment-fall"], 2) in (0.04, 0.05)
    says("the card's first two rows are not shown", "The third row cannot hold")
    assert all(run["axis-alignment-fall"] == pytest.approx(0, abs=0.001) for run in alone)
    card = CHAPTER.table("card-schedules")
    assert [row[-1] for row in card.values()] == ["no", "no", "the reverse"]


def test_masks_with_gradients():
    soft, hard = (numbers(line.partition(":")[2]) for line in output("soft").strip().splitlines())
    says("the largest difference gets next to no push", "the neighbour gets five times the push of a hard mask")
    assert abs(soft[0]) < 0.1 and hard[:2] == [1, 0.5] and soft[1] / hard[1] == pytest.approx(5, abs=0.2)


def claims() -> dict:
    """The chapter's claims and their verdicts, by the ends of their names."""
    results = Store().results()
    mine = [claim for claim in load_claims() if claim.chapter == "19_adaptive_triplets"]
    return {claim.id.partition("/")[2]: (claim, best_verdict(claim, results)) for claim in mine}


def test_the_others_at_the_thesis_size():
    """The cell full-55 and its comment."""
    (claim, large), results = claims()["figure-5.5-xysquares"], Store().results()
    assert verdict_of(claim, results, "small").verdict == "match"
    says("A MIG of .43 for the Ada-TVAE, .01 for either of the others")
    assert [round(statistics.fmean(side), 2) for step in large.orders[:2] for side in step.values] == [0.43, 0.01] * 2
    says("The β-VAE has learnt two squares or all three, and its MIG is .01 at most all the same")
    (blurred,) = [claim for claim in load_claims() if claim.id == "distances/figure-3.11"]
    slow = [results[run.id]["metrics"] for run in parts_of(blurred, "full")[0].runs()]
    assert round(max(run["mig"] for run in slow), 2) == 0.01 and max(run["left"] for run in slow) < 0.34
    assert large.small.verdict == "match" and large.verdict == "inconclusive"
    says("The Ada-GVAE has learnt one square of three, with each of five seeds")
    ada, vae, pairs = ([results[run.id]["metrics"] for run in part.runs()] for part in parts_of(claim, "full"))
    assert len(pairs) == 5 and all(round(3 * run["left"], 2) == 2 for run in pairs)
    assert [run["left"] for run in vae] == [run["left"] for run in slow]
    says("exchanged codes come in the same order as well, .33 against .22")
    exchanged = [statistics.fmean(run["control/shuffled/axis-alignment"] for run in each) for each in (ada, pairs)]
    assert [round(share, 2) for share in exchanged] == [0.33, 0.22]
    says("The Ada-GVAE has lost two squares there (Figure 5.5)")


def test_verdicts_are_those_of_the_store():
    mine = claims()
    CHAPTER.verdicts(claim for claim, _ in mine.values())
    found = {name: verdict for name, (_, verdict) in mine.items()}
    says("So the one of both takes longer, as claimed")
    assert found["section-5.4.6-both"].verdict == "match"
    assert all(order.holds for order in found["section-5.4.6-both"].orders)
    failing = ["section-5.4.5", "figure-5.4-schedules", "figure-5.7-xysquares", "figure-5.5-schedule"]
    failing += ["section-5.4.6-threshold"]
    assert {found[name].verdict for name in failing} == {"inconclusive"}
    holding = [name for name in failing if all(order.holds for order in found[name].orders)]
    assert holding == ["figure-5.7-xysquares"]  # a comparison that the thesis does not make
    says("The convolutional Ada-GVAE leaves half of the pixels' variance")
    says("four times as many steps have changed that by a thousandth")
    assert round(found["figure-5.5-convolutions"].learnt[2].left, 3) == 0.499
    assert "one of the two squares" in found["figure-5.5-convolutions"].why
    says("More than half is left by codes that have collapsed (section 5.4.5, the strong schedules of Figure 5.4)")
    says("by those of η = .8, and with triplets that the squared error has ordered")
    unlearnt = {"section-5.4.1": 1, "section-5.4.5": 1, "figure-5.4-schedules": 2, "figure-5.7-xysquares": 1}
    assert {name: sum(arm.left > 0.5 for arm in found[name].learnt) for name in unlearnt} == unlearnt
    says("two orders are not shown: the two weak schedules end alike", "lower in two seeds of five only")
    learnt = ("figure-5.5-schedule", "figure-5.5-differences")
    assert all(arm.left < 0.5 for name in learnt for arm in found[name].learnt)
    assert not any(found[name].orders[0].holds for name in learnt)
    assert sum(value < 0.9 for value in found["figure-5.5-differences"].orders[0].values[1]) == 2
    says("it ends as aligned as the weak one of both hyperparameters (.986 and .985), and nothing tells them apart")
    assert [f"{value:.3f}" for value in found["figure-5.5-schedule"].orders[0].means] == ["0.986", "0.985"]
    says("At the thesis' size the Ada-TVAE has lost a square, and the bars are ours (Figures 5.4 and 5.6)")
    for name in ("figure-5.4-xysquares", "figure-5.6"):
        assert found[name].scale == "full" and "the threshold is ours" in found[name].why
        assert round(3 * found[name].learnt[0].left) == 1
    says("its loss has as many spikes with either schedule", "one record of some 200 is a spike")
    (spikes,) = found["section-5.4.6-threshold"].orders
    assert not spikes.holds and spikes.p > 0.3 and all(0.4 < mean < 0.6 for mean in spikes.means)  # per cent


def test_others_with_convolutions():
    found = {}
    for run in Store().results().values():
        settings = run["settings"]
        if (settings.get("network"), settings.get("data"), run["scale"]) == ("conv", "XYSquares", "small"):
            found.setdefault(settings["framework"], []).append(run["metrics"])
    says("MIG stays at .03 and below, the axis alignment at .2 for the β-VAE")
    says("and between .3 and .4 for the Ada-GVAE")
    assert {name: len(runs) for name, runs in found.items()} == {"BetaVAE": 5, "AdaGVAE": 5}
    assert all(run["mig"] < 0.03 for runs in found.values() for run in runs)
    axes = {name: statistics.fmean(run["axis-alignment"] for run in runs) for name, runs in found.items()}
    assert {name: round(axis, 1) for name, axis in axes.items()} == {"BetaVAE": 0.2, "AdaGVAE": 0.3}


def test_what_is_drawn():
    says("Triplets teach the encoder; the decoder lags behind")
    left = {name: float(row["left"]) for name, row in table("climb-text").items()}
    says("By our rule (more than half is left) this Ada-TVAE has not learnt to draw", "Two thirds of the variance are")
    assert 0.4 < left["β-TVAE"] < 0.5 and round(3 * left["Ada-TVAE"], 1) == 2
    says("Of the pixels' variance .36 and .43 are left. That is less than half")
    assert [table("stored-table")[name]["left"] for name in ("β-TVAE", "Ada-TVAE")] == ["0.36", "0.43"]
