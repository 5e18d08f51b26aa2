"""Cards: what a chapter shows of a claim is what the stored results say, in each of the three forms."""

import os
import re
import subprocess
import sys
import zipfile
from dataclasses import replace

import pytest
from bs4 import BeautifulSoup

import notebook_rules
from course_replication import Card, Store, badge_of, card, claims_of, load_claims
from course_replication.card_tables import named, plain, tables_of, with_spread
from course_replication.claims import Claim, Expectation, Number
from course_replication.comparisons import step_named
from course_replication.parts import Part
from course_replication.plans import metrics_of, runs_of
from course_replication.store import RESULTS
from course_replication.verdicts import best_verdict, verdict_of

CLAIMS = {claim.id: claim for claim in load_claims()}
SPACINGS = "distances/table-4.2"


def trained(match="value", order=(), **changes):
    expects = Expectation(match, None, order)
    numbers = (Number("mig", "0.50", tolerance=0.005),) if match == "value" else ()
    fields = dict(
        paper="isa", locator="Table 1", title="A & B", statement="One is <larger>.", chapter="", scale="small"
    )
    return Claim(id="isa/a", kind="trained", expects=expects, numbers=numbers, importance=1, **fields | changes)


def judged(claim, seeds, scale="small"):
    part = Part("m:a", seeds=5, scale=scale, deviations=("on a smaller grid",))
    results = {run.id: {"metrics": metrics} for run, metrics in zip(part.runs(), seeds, strict=False)}
    return verdict_of(claim, results, scale, {"isa/a": (part,)})


FIVE = [{"mig": value, "control/untrained/mig": 0.125} for value in (0.4, 0.45, 0.5, 0.55, 0.6)]


def test_a_trained_number_by_hand():
    """Mean .5, s = √(.025/4) = .0791, and the interval .5 ± 2.776 · .0791 · √1.2."""
    shown = Card(judged(trained(), FIVE))
    ((header, row),) = [[line.split("|") for line in shown._repr_markdown_().splitlines() if line.startswith("| ")]]
    cells = {name.strip(): cell.strip() for name, cell in zip(header, row, strict=True) if name.strip()}
    assert cells == {
        "what": "mig", "paper": "0.50", "ours, mean ± sd": "0.500 ± 0.079", "n": "5",
        "95 % prediction interval": "0.260 to 0.740", "control": "0.125", "agrees": "no",
    }  # fmt: skip
    assert list(map(str, shown.remarks)) == [
        "Why inconclusive: mig: the interval is as wide as the gap to the control, 0.375.",
        "Scale: small: trained on a small grid, with a small network or for few steps; 5 seeds.",
        "Unlike the paper: on a smaller grid.",
    ]


def test_an_order_shows_both_its_controls_and_p():
    seeds = [each | {"other": each["mig"] - 0.3} for each in FIVE]
    (row,) = re.findall(r"^mig > other .*$", str(Card(judged(trained("direction", ("mig > other",)), seeds))), re.M)
    assert re.split(" {2,}", row) == [
        "mig > other",
        "0.500 ± 0.079",
        "0.125",
        "0.200 ± 0.079",
        "–",
        "5",
        "< 0.001",
        "yes",
    ]


@pytest.mark.parametrize(("threshold", "told"), [("ours", "our bar"), ("paper", "–")])
def test_a_bar_that_is_ours_is_called_so(threshold, told):
    claim = trained("direction", ("mig > 0.9",))
    shown = str(Card(judged(replace(claim, expects=replace(claim.expects, threshold=threshold)), FIVE)))
    assert re.search(rf"mig > 0\.9 +0\.500 ± 0\.079 +0\.125 +{told} +– +5 +1 +the reverse", shown)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("mig", "0.9", "mig > 0.9"),
        ("mig", "other", "mig > other"),
        ("rank/mse-box", "rank/mse", "rank: mse-box > mse"),
        ("mig/dsprites/ada_gvae", "mig/dsprites/beta-vae", "mig · dsprites: ada gvae > beta-vae"),
        ("mig", "mig/mse", "mig > mig · mse"),
        ("mse/scale/rank", "mse/x/rank", "mse: scale · rank > x · rank"),
    ],
)
def test_what_both_sides_of_a_step_share_is_named_once(first, second, expected):
    assert step_named(first, second) == expected


def test_what_is_printed_beside_an_order_is_shown_and_changes_no_verdict():
    """A number that a metric measures stands beside ours; a setting, which nothing measures, is left out."""
    bare = trained("direction", ("mig > 0.2",))
    numbers = (Number("mig", "0.90", "nats"), Number("steps", "100000"))
    with_numbers = replace(bare, numbers=numbers)
    assert replace(judged(with_numbers, FIVE), claim=bare, beside=()) == judged(bare, FIVE)
    shown = str(Card(judged(with_numbers, FIVE)))
    (table,) = re.findall(r"^Printed beside ours, not compared: ours are small\n(.+?)\n\n", shown, re.M | re.S)
    assert [re.split(" {2,}", line) for line in table.splitlines()] == [
        ["what", "paper", "ours, mean ± sd"], ["mig", "0.90 nats", "0.500 ± 0.079"],
    ]  # fmt: skip
    assert "Printed beside ours" not in str(Card(judged(bare, FIVE)))
    assert judged(trained(), FIVE).beside == (), "what is compared stands in the table of numbers"


def test_the_order_of_capacity_shows_its_nats():
    claim = CLAIMS["assumptions/burgess-figure-3"]
    metrics = {name: nats for nats, name in enumerate(metrics_of(claim), 3)}
    results = {run.id: {"metrics": metrics} for run in runs_of(claim, "small")}
    shown = str(Card(verdict_of(claim, results, "small")))
    for name, printed in (("position x", "3.1"), ("position y", "3.1"), ("scale", "7.3"), ("orientation", "23.8")):
        assert re.search(rf"^capacity-learnt · {name} +{re.escape(printed)} nats +\S", shown, re.M), name
    assert not re.search("^(gamma|steps)", shown, re.M)


def test_a_verdict_of_some_of_the_runs_says_so():
    shown = Card(judged(trained("direction", ("mig > 0.2",)), FIVE[:4]))
    said = dict(shown.remarks)
    assert shown.verdict.verdict == "inconclusive" and said["Scale"].endswith("; 4 seeds.")
    assert said["Why inconclusive"] == "4 of the 5 seeds that an order needs."
    assert said["Still missing"] == "1 of its runs."


def test_full_runs_come_before_small_ones():
    claim = trained("direction", ("mig > 0.2",))
    parts = (Part("m:a", seeds=5, scale="small"), Part("m:a", seeds=5, scale="full"))
    small, full = ({run.id: {"metrics": FIVE[run.seed]} for run in part.runs()} for part in parts)
    plans = {"isa/a": parts}
    assert [best_verdict(claim, results, plans).scale for results in (small, full, small | full)] == [
        "small", "full", "full",
    ]  # fmt: skip
    shown = str(Card(best_verdict(claim, full, plans)))
    assert "the length of training need not be; 5 seeds." in shown and "Small trainings" not in shown
    both = Card(best_verdict(claim, small | full, plans))
    said = f"on their own: {both.verdict.small.verdict} · order · small, 5 seeds."
    assert both.remarks[-1] == ("Small trainings", said)


def test_a_small_verdict_beside_a_full_one_says_why_it_is_no_match():
    claim = trained("direction", ("mig > 0.2",))
    parts = (Part("m:a", seeds=5, scale="small"), Part("m:a", seeds=5, scale="full"))
    results = {run.id: {"metrics": {"mig": 0.1}} for part in parts for run in part.runs()}
    shown = Card(best_verdict(claim, results, {"isa/a": parts}))
    assert shown.verdict.scale == "full" and shown.verdict.small.scale == "small"
    said = r"Small trainings: on their own: inconclusive · order · small, 5 seeds: .*mig > 0\.2 .+\."
    assert re.fullmatch(said, str(shown.remarks[-1]))


def test_the_lengths_of_all_trainings_are_said_once():
    alike = {"steps": 2000, "batch_size": 256, "beta": 1}
    settings = (alike, alike | {"beta": 4}, {"trainings": [alike, {"steps": 57600, "batch_size": 32}]}, {"steps": 10})
    parts = tuple(Part("m:a", each, seeds=5, scale="small") for each in settings)
    results = {run.id: {"metrics": FIVE[run.seed]} for part in parts for run in part.runs()}
    shown = Card(verdict_of(trained("direction", ("mig > 0.2",)), results, "small", {"isa/a": parts}))
    assert dict(shown.remarks)["Trained for"] == (
        "2,000 steps with batches of 256, 57,600 steps with batches of 32, 10 steps."
    )


def test_what_trains_nothing_says_no_length():
    assert "Trained for" not in dict(card("distances/table-4.2").remarks)


def test_every_card_of_a_training_says_its_length():
    results = Store(RESULTS).results()
    judged = [best_verdict(claim, results) for claim in CLAIMS.values() if claim.kind == "trained"]
    judged = [each for each in judged if each.verdict not in ("not run", "out of reach")]
    assert len(judged) > 50
    assert not [each.claim.id for each in judged if "Trained for" not in dict(Card(each).remarks)]


def test_every_kind_of_doubt_is_said():
    asked = replace(trained("direction", ("mig > other",)), changed="it was trained for longer")
    seeds = [each | {"other": 0.42, "reconstruction": 0.6, "control/untrained/reconstruction": 1.0} for each in FIVE]
    part = Part("m:a", {"framework": "BetaVAE"}, seeds=5, scale="small")
    results = {run.id: {"metrics": metrics} for run, metrics in zip(part.runs(), seeds, strict=True)}
    said = Card(verdict_of(asked, results, "small", {"isa/a": (part,)})).remarks
    assert [str(remark) for remark in said if remark.label != "Scale"] == [
        "Why inconclusive: BetaVAE leaves 0.60 of the pixels' variance, more than 0.5, and counts as not learnt.",
        "Not reconstructed: BetaVAE 0.60 of the pixels' variance; above 0.5 is not learnt.",
        "Fragile: not shown any more if some one seed is left out: mig > other.",
        "Changed after results: it was trained for longer.",
    ]


@pytest.mark.parametrize("order", ["mig > 0.2", "mig > 0.9"])
def test_a_finding_is_shown_whatever_the_verdict(order):
    """A match has its reservations, too."""
    claim = trained("direction", (order,), finding="the blur\n  is too narrow")
    assert "The blur is too narrow." in str(Card(judged(claim, FIVE)))


def test_html_is_accessible_and_escaped():
    soup = BeautifulSoup(Card(judged(trained(), FIVE))._repr_html_(), "html.parser")
    assert soup.caption.text and [cell["scope"] for cell in soup.select("th")] == ["col"] * 7 + ["row"]
    assert "A & B" in soup.text and "One is <larger>." in soup.text
    assert soup.strong.text == "inconclusive · number · small"
    assert [label.text for label in soup.select("dl > dt")] == ["Why inconclusive", "Scale", "Unlike the paper"]
    assert [said.text for said in soup.select("dl > dd")][-1] == "on a smaller grid."


def test_a_planted_number_changes_the_card(tmp_path):
    planted = Store(tmp_path / "planted.jsonl")
    (run, *_) = runs_of(CLAIMS[SPACINGS], "full")
    for result in Store(RESULTS).results().values():
        if result["id"] == run.id:
            result = result | {"metrics": result["metrics"] | {"mse/spacing-8/rank": 0.123456}}
        planted.add(result)
    before, after = card(SPACINGS), card(SPACINGS, store=planted.path)
    assert before.verdict.verdict == "match" and "0.123" not in str(before)
    assert after.verdict.verdict == "direction" and re.search(r"spacing-8 · rank .*0\.123 .* no", str(after))


@pytest.mark.parametrize("store", [RESULTS, None])
def test_every_claim_has_a_card(tmp_path, store):
    results = Store(store or tmp_path / "empty.jsonl").results()
    for claim in CLAIMS.values():
        shown = Card(best_verdict(claim, results))
        for text in (repr(shown), shown._repr_html_(), shown._repr_markdown_()):
            assert claim.id in text and shown.verdict.verdict in text.lower() and len(text) < 20_000
            assert not notebook_rules.ABSOLUTE_PATH.search(text)
        cells = {cell for table in tables_of(shown.verdict) for row in table.rows for cell in row}
        assert not {"", "None", "nan"} & cells
    assert "1.00" in str(card(SPACINGS, store=tmp_path / "empty.jsonl")), "what the paper prints is there before a run"


def test_an_unknown_claim_is_named():
    with pytest.raises(ValueError, match="claim: got 'table-4.2'; expected an id such as distances/table-4.2"):
        card("table-4.2")


@pytest.mark.parametrize(
    ("value", "decimals", "expected"),
    [
        (262144.0, None, "262144"),
        (True, None, "1"),
        (0.123456, None, "0.1235"),
        (8.0, 1, "8"),
        (1.0, 3, "1.000"),
        (3969.0016, 1, "3969.0"),
    ],
)
def test_numbers_are_shown_to_the_digits_that_count(value, decimals, expected):
    assert plain(value, decimals) == expected


def test_spreads_and_names():
    assert with_spread([1.0]) == "1" and with_spread([0.0, 0.0]) == "0 ± 0" and with_spread([0.5]) == "0.5"
    assert with_spread([0.979, 0.9794]) == "0.97920 ± 0.00028" and with_spread([110.0, 250.0]) == "180 ± 99"
    assert with_spread([1.0, 3.0], 2) == "2.00 ± 1.41"
    assert with_spread([0.5, 0.5 + 2e-8]) == "0.500000 ± < 1e-06"
    assert with_spread([0.5, 0.5 + 4e-6]) == "0.500002 ± 0.000003"
    assert named("mse-box/position_x/rank") == "mse-box · position x · rank"


def test_an_installed_wheel_has_the_cards(tmp_path, wheel):
    """The claims and their results lie inside the package, and reading them writes nothing beside it."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    code = f"""
import course_lib
from course_replication import card
print(course_lib.__file__)
print(card({SPACINGS!r}))
"""
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    where, shown = done.stdout.split("\n", 1)
    assert where.startswith(str(tmp_path)) and shown.strip() == str(card(SPACINGS))
    files = {path.name for path in (tmp_path / "site/course_replication/artefacts").iterdir()}
    assert "results.jsonl" in files and not any(name.endswith(".lock") for name in files)


def test_a_card_needs_neither_torch_nor_what_measures_claims():
    """A chapter shows a dozen; only the tests of trained seeds need SciPy."""
    lines = [
        "import sys; from course_replication import card",
        f"shown = card({SPACINGS!r})._repr_html_() + repr(card({SPACINGS!r}))",
        "print({name.split('.')[0] for name in sys.modules} & {'torch', 'numpy', 'scipy', 'course_lib'})",
        "print([name for name in sys.modules if name.startswith('course_replication.measurements')])",
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["set()", "[]", ""]


def test_the_claims_of_a_chapter_are_listed_with_kind_and_scale():
    found = claims_of("16_introducing_overlap")
    mine = [claim for claim in CLAIMS.values() if claim.chapter == "16_introducing_overlap"]
    assert [verdict.claim for verdict in found.verdicts] == mine and len(mine) > 3
    rows = repr(found).splitlines()[2:]
    for verdict, row in zip(found.verdicts, rows, strict=True):
        assert row.startswith(badge_of(verdict)) and row.endswith(verdict.claim.title)
    soup = BeautifulSoup(found._repr_html_(), "html.parser")
    assert soup.div["data-chapter"] == "16_introducing_overlap" and len(soup.select("tbody tr")) == len(mine)
    with pytest.raises(ValueError, match="chapter: got '16'; expected one of"):
        claims_of("16")


def test_an_order_on_data_shows_its_draws():
    claim = replace(trained("direction", ("mig > other",)), kind="theory")
    part = Part("m:a", seeds=5, scale="exact")
    results = {run.id: {"metrics": {"mig": 0.5 + run.seed / 100, "other": 0.1}} for run in part.runs()}
    (row,) = re.findall(r"^mig > other .*$", str(Card(verdict_of(claim, results, "small", {"isa/a": (part,)}))), re.M)
    assert re.split(" {2,}", row) == ["mig > other", "0.520 ± 0.016", "0.1 ± 0", "5", "< 0.001", "yes"]
