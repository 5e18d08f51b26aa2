"""What the text of chapter 04 says about its outputs is what the stored outputs say."""

import io
import re

import pandas as pd
import pytest

import notebook_io
from course_grading import registry
from course_replication import Store, best_verdict, load_claims
from stored_chapter import StoredChapter

CHAPTER = StoredChapter("04_measuring_disentanglement")
CELLS, TEXT, says = CHAPTER.cells, CHAPTER.text, CHAPTER.says


def shown(name: str) -> str:
    """What the cell prints."""
    return "".join(output.text for output in CELLS[name].outputs if output.output_type == "stream")


def table(name: str) -> pd.DataFrame:
    """The frame that the cell shows, read from its HTML."""
    (html,) = [output.data["text/html"] for output in CELLS[name].outputs if "text/html" in output.get("data", {})]
    rows = re.findall(r"<tr.*?</tr>", html, re.DOTALL)
    cells = [[re.sub("<.*?>", "", cell).strip() for cell in re.findall(r"<t[hd].*?</t[hd]>", row)] for row in rows]
    header, *body = [row for row in cells if any(row)]
    body = [row for row in body if any(row[1:])]  # a row that only names the index
    text = "\n".join("\t".join(row) for row in [header, *body])
    return pd.read_csv(io.StringIO(text), sep="\t", index_col=0, na_values=["–"])


def mean(name: str) -> pd.DataFrame:
    """Means of "mean ± spread" in a table."""
    return table(name).map(lambda value: float(str(value).split(" ± ")[0]))


def test_every_objective_has_a_check_that_exists():
    (objectives,) = re.findall(r"^\*\*After this chapter you can\*\*\n+((?:\d\. .*\n)+)", TEXT, re.MULTILINE)
    lines = objectives.strip().splitlines()
    tasks = registry.exercises_of("04")
    questions = set(re.findall(r"^\*\*(\d)\.\*\* ", TEXT, re.MULTILINE))
    named_questions, named_exercises = set(), []
    for line in lines:
        asked = re.findall(r"questions? (\d)(?: and (\d))?", line)
        named_questions |= {number for pair in asked for number in pair if number}
        named = re.findall(r"04\.\d", line)
        named_exercises += named
        assert asked or named
        assert all(task.objective in line for task in tasks if task.id in named), line
    assert named_questions == questions and named_exercises == [task.id for task in tasks]


def test_the_traversal_shows_29_images():
    says("$1 + 4 \\cdot 7 = 29$ images", "all but 29")


def test_mig_from_scratch():
    row = table("mig-equal").loc["MIG"]
    says("told .5 and .75 can know which is which", "Duplicated latents have no gap at all")
    assert row["hinged"] == 0.5 and row["missed"] == 0.75 and row["duplicated"] == row["zeros"] == 0
    assert row["factors"] == 1 and row["noise"] < 0.01 and 0.75 < row["merged"] < 0.9


def test_the_free_factor():
    rows = table("fix-table")
    assert (rows["BetaVAE score"] - rows["(k + 1) / F"]).abs().max() < 0.01
    assert (rows["FactorVAE score"] - rows["k / F"]).abs().max() < 0.03


def test_the_map():
    says("**(b)**: one, MIG.", "five of sixteen, and merging comes next")
    every, some = shown("map-count").splitlines()
    assert every.split(": ")[1] == "MIG" and some.endswith(": 15 of 16")
    counts = table("map-count").loc["scores that notice"]
    assert counts["duplicated"] == 5 == counts.min() and counts.drop("duplicated").idxmin() == "merged"
    assert counts["zeros"] == 16 and counts.drop("zeros").max() < 16
    says("With 100 bins the merged code is perfect by MIG too", "right for .35 of the images and more")
    bins = table("map-bins").loc["MIG of merged"]
    assert bins["20 bins"] < 0.9 and bins["100 bins"] == 1


def test_what_each_score_is_blind_to():
    """The table's rows are the sixteen; what the text says of columns stands in them."""
    blind = table("map-blind")["blind to"].fillna("–")
    asked = next(cell.source for cell in CELLS.values() if "| score | asks |" in cell.source)
    rows = re.findall(r"^\| ([^|]+?) (?:\(.*?\) )?\| [^|]+\?[^|]* \|$", asked, re.MULTILINE)
    named = [name for row in rows for name in row.split(", ")]
    assert sorted([*named, "MIG"]) == sorted(blind.index) and len(blind) == 16
    assert sum(value == "–" for value in blind) == 1 and blind["MIG"] == "–"
    for score in ("BetaVAE", "modularity", "IRS"):  # "say *perfect*" of missed
        assert "missed" in blind[score]
    for score in ("logistic", "explicitness", "distance", "linearity"):
        assert "rotated" in blind[score]
    for score in ("SAP", "linearity", "axis"):
        assert "merged" in blind[score]


def test_no_table_says_nan():
    for name in ("rotate-dci", "agree", "settings-table"):
        html = "".join(each.get("data", {}).get("text/html", "") for each in CELLS[name].outputs)
        assert "–" in html and "nan" not in html.lower()


def test_the_turn():
    turn = table("rotate-dci")
    says("stay at 1 until 44° and drop to one half at 45°", "With 20 bins, MIG has lost two fifths at 5°")
    assert (turn.loc[:44, ["BetaVAE", "FactorVAE"]] == 1).all(axis=None)
    assert turn.loc[45, ["BetaVAE", "FactorVAE"]].between(0.45, 0.55).all()
    assert turn.loc[5, "MIG"] == 0.6 and (turn.loc[30:, "MIG"] == 0).all()
    says("DCI-D holds at 5° and has crashed at 10°", "it comes down to about ½", "comes down to ⅔ and stays there")
    assert turn.loc[5, "DCI-D"] > 0.99 and turn.loc[10, "DCI-D"] < 0.7
    assert turn.loc[45, "DCI-D"] == pytest.approx(1 / 2, abs=0.04)
    assert turn.loc[45, "modularity"] == pytest.approx(2 / 3, abs=0.01)
    says("SAP *rises*, by three quarters up to 20°", "SAP's is .13 here")
    assert turn.loc[0, "SAP"] == 0.13 and turn["SAP"].idxmax() == 20
    assert 1.65 < turn.loc[20, "SAP"] / turn.loc[0, "SAP"] < 1.85
    assert (turn[["distance", "linearity"]] == 1).all(axis=None)


def test_the_bins_decide_where_mig_falls():
    bins = table("rotate-bins")
    says(
        "With 8 bins the same code is perfect", "at 5° they tell nearly all 64 points", "within 5° and with 100 by all"
    )
    assert bins.loc["8 bins", "5°"] == 1 and bins.loc["100 bins", "5°"] == 0 and bins.loc["20 bins", "5°"] == 0.59
    assert (bins["0°"] == 1).all()


def test_the_trained_models_are_worse_than_a_rotation():
    rows = mean("live-table")
    says("every score, but for β = 1 in BetaVAE (.93 against .92)", "has .75 and .69 against .87", "spreads by .14")
    better = rows[["β = 1", "β = 16"]].ge(rows["10 rotations"], axis=0).stack()
    assert better.index[better].tolist() == [("BetaVAE", "β = 1")]
    assert rows.loc["BetaVAE", ["β = 1", "10 rotations"]].tolist() == [0.93, 0.92]
    assert rows.loc["FactorVAE", ["β = 1", "β = 16", "10 rotations"]].tolist() == [0.75, 0.69, 0.87]
    says("*linearity* is .73 and .76")
    assert rows.loc["linearity", ["β = 1", "β = 16"]].tolist() == [0.73, 0.76]
    assert table("live-table").loc["FactorVAE", "10 rotations"].endswith("± 0.14")
    assert table("live-table").loc["linearity", "10 rotations"] == "1.00 ± 0.00"


def test_the_live_table():
    rows = mean("live-table")
    assert "n = 5 seeds" in shown("live-table")
    loud = rows.loc[["BetaVAE", "FactorVAE", "distance", "linearity"]]
    assert (loud[["β = 1", "β = 16"]].min(axis=1) > loud["untrained"] + 0.15).all()
    says("it is well above *untrained* in four rows")
    assert len(loud) == 4
    says(".08 and .06 against .02", "IRS puts β = 16 *below* them", "beside .64", "*distance* of .94")
    assert rows.loc["MIG", ["β = 1", "β = 16", "untrained"]].tolist() == [0.08, 0.06, 0.02]
    assert rows.loc["IRS", "β = 16"] < rows.loc["IRS", "β = 1"] <= rows.loc["IRS", "untrained"]
    assert abs(rows.loc["axis", "β = 1"] - rows.loc["axis", "untrained"]) < 0.05
    assert rows.loc["modularity", "untrained"] == 0.64 and rows.loc["modularity", "β = 16"] >= 0.7
    assert (rows.loc["distance", ["β = 1", "β = 16"]] == 0.94).all()
    says("a FactorVAE score of .75 *sounds*", "here their spread was .03")
    assert rows.loc["FactorVAE", "β = 1"] == 0.75
    assert table("live-table").loc["MIG", "β = 1"].endswith("± 0.03")


def test_which_beta():
    rows = table("live-better")
    says(
        "The one difference that would pass for significant is IRS", "can show FactorVAE", "*linearity*; with one seed"
    )
    assert rows.columns[(rows.loc["p"] < 0.05)].tolist() == ["IRS"]
    difference = rows.loc["β = 1 less β = 16"]
    assert difference["FactorVAE"] > 0 > difference["linearity"] and (difference > 0).sum() > (difference < 0).sum()


def test_agreement_belongs_to_the_population():
    rows = table("agree")
    everyone, trained, turned = (rows.iloc[place] for place in range(3))
    says("the new sign of IRS may be chance, and SAP and *axis* have not moved", "all four are between .24 and .55")
    says("among the ten trained ones it was between .24 and .55")
    assert everyone["IRS"] < 0 < trained["IRS"] and (everyone - trained)[["SAP", "axis"]].abs().max() < 0.1
    four = ["BetaVAE", "FactorVAE", "distance", "linearity"]
    assert everyone[four].round(1).isin([0.7, 0.8]).all()
    assert (trained[four].min(), trained[four].max()) == (0.24, 0.55)
    assert turned[["distance", "linearity"]].isna().all()
    says("IRS, which agreed least, now agrees best, with *axis*", "FactorVAE, which agreed best, is last")
    assert everyone.idxmin() == "IRS" and set(turned.nlargest(2).index) == {"IRS", "axis"}
    assert everyone["FactorVAE"] == everyone.max() and turned.idxmin() == "FactorVAE"


def test_one_code_and_seven_settings():
    rows = table("settings-table")
    says("a MIG of .75", "thirty times as much", "a fiftieth of a factor", "the normaliser doubles the score")
    assert rows.loc["5 bins", "factors"] == pytest.approx(0.75, abs=0.01)
    assert rows.loc["20 bins", "stretched"] < 0.6 and rows.loc["equal mass", "stretched"] > 0.99
    assert (rows.loc[["20 bins", "5 bins", "100 bins"], "outlier"] == 0).all()
    assert rows.loc["equal mass", "outlier"] > 0.99
    says("one draw of 300 points, and every score that is not 0 comes out lower")
    few, many = rows.loc[["n = 300", "20 bins"]].dropna(axis=1).to_numpy()
    assert len(few) == 5 and ((few < many) | (many == 0)).all()
    faint = rows["faint"]
    assert 25 < faint["over the sum"] / faint["20 bins"] < 35 and faint["20 bins"] == pytest.approx(1 / 50, abs=0.003)
    vae = rows["VAE, β = 1"]
    assert 1.8 < vae["over the sum"] / vae["20 bins"] < 2.2
    says("differ by about a hundredth")
    assert vae[["20 bins", "5 bins", "100 bins", "samples"]].agg(lambda part: part.max() - part.min()) < 0.015


def test_numbers_from_the_page_of_scores():
    says("rises from .07 to .10 between 800 and 2,400 points")
    page = notebook_io.read(notebook_io.ROOT / "book" / "scores.ipynb")
    (cell,) = [cell for cell in page.cells if cell.id == "n-scores"]
    (text,) = [output.data["text/plain"] for output in cell.outputs]
    values = {int(line.split()[0]): float(line.split()[1]) for line in text.splitlines() if line[:1].isdigit()}
    assert round(values[800], 2) == 0.07 and round(values[2400], 2) == 0.1


def test_dead_latents():
    says("the dead latent wins every vote", "In the library no score moves")
    first, second = (int(line.split()[-1]) for line in shown("dead").splitlines())
    assert first == 0 and second >= 4
    rows = table("dead-library")
    assert (rows.loc["factors"] - rows.loc["and two zeros"]).abs().max() <= 0.001


def test_the_verdicts_are_those_of_the_stored_results():
    """What changes when new runs are stored is the table; the text leans on the claims that need no training."""
    stored = Store().results()
    claims = [claim for claim in load_claims() if claim.chapter == "04_measuring_disentanglement"]
    verdicts = {claim.id: best_verdict(claim, stored).verdict for claim in claims}
    shown = CELLS["claims"].outputs[0].data["text/plain"].splitlines()[2:]
    assert all(line.endswith(claim.title) for line, claim in zip(shown, claims, strict=True))
    assert verdicts["factorvae/section-4"] == verdicts["factorvae/section-4-score"] == "match"
    says("The third fails", "log 4 nats for four latents")
    assert verdicts["assumptions/dci-entropy"] == "fail"
