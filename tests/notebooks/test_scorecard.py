"""The scorecard: its pages and pictures are what claims and results say, and one that says anything else is found."""

import re
import shutil
from collections import Counter
from dataclasses import replace

import pytest
import yaml
from bs4 import BeautifulSoup

import notebook_io
import notebook_rules
import reference
import scorecard
import scorecard_claims
import scorecard_counts
import scorecard_drawing
import scorecard_evidence
import scorecard_figures
import scorecard_pages
import scorecard_runs
from course_replication import Card, Ordered, Store, Verdict, best_verdict, load_claims, verdict_of
from course_replication.claims import GROUPS, LATER, PAPERS, Claim, Expectation, Number
from course_replication.parts import Part
from course_replication.plans import runs_of
from course_replication.summaries import SUMMARIES, load_summaries
from course_replication.verdicts import KINDS

CLAIMS = load_claims()
BY_ID = {claim.id: claim for claim in CLAIMS}
RESULTS = Store().results()
PAGES = scorecard.pages(CLAIMS, RESULTS)
SPACINGS = "distances/table-4.2"


def planted(name: str, metric: str, value) -> dict:
    """The results, with one number changed in the first run of a claim that has it."""
    run = next(run.id for run in runs_of(BY_ID[name], "full") if metric in RESULTS[run.id]["metrics"])
    return RESULTS | {run: RESULTS[run] | {"metrics": RESULTS[run]["metrics"] | {metric: value}}}


def trained(order=(), numbers=(), **changes) -> Claim:
    expects = Expectation("value" if numbers else "direction", None, order)
    fields = dict(paper="isa", locator="Table 1", title="A", statement="B.", chapter="15_xysquares", scale="small")
    fields |= dict(kind="trained", importance=1, expects=expects, numbers=numbers)
    fields["evidence"] = "number" if numbers else "order"
    return Claim(**{"id": "isa/a"} | fields | changes)


def judged(claim: Claim, metrics: list[dict], scale="small"):
    part = Part("m:a", seeds=5, scale=scale)
    results = {run.id: {"metrics": each} for run, each in zip(part.runs(), metrics, strict=False)}
    return verdict_of(claim, results, scale, {claim.id: (part,)})


FIVE = [
    {"mig/a": 0.3 + seed / 100, "mig/b": 0.1, "control/untrained/mig/a": 0.05, "dci": 0.5 + seed / 10}
    for seed in range(5)
]


def made(name: str, verdict: str, kind: str, scale: str, **changes) -> Verdict:
    """A verdict as it comes, of a claim of the second paper whose title is its name."""
    claim = trained(("a > b",), id=f"factorvae/{name}", paper="factorvae", title=name.capitalize(), evidence=kind)
    return Verdict(claim, verdict, scale, **changes)


def step(p: float, stable: bool = True) -> Ordered:
    return Ordered("a", "b", (1.0, 0.0), p <= 0.05, p, ((1.0,), (0.0,)), stable=stable)


MADE_UP = [
    made("one", "match", "number", "exact"), made("two", "match", "number", "full"),
    made("three", "match", "order", "small", orders=(step(0.001), step(0.02), step(0.01, stable=False))),
    made("four", "fail", "order", "small", why="it is upside down", orders=(step(0.9),)),
    made("five", "inconclusive", "construction", "exact", why="seen in 1 setting"),
    made("six", "inconclusive", "construction", "exact", why="seen in 1 setting"),
    made("seven", "direction", "number", "exact", why="a is off; b is off; c is off; d is off"),
    made("eight", "not run", "order", "full"), made("nine", "out of reach", "number", "exact", why="no file"),
]  # fmt: skip


def section(page: str, title: str) -> str:
    return page.split(f"## {title}\n")[1].split("\n## ")[0]


@pytest.fixture
def drawn(tmp_path):
    """A folder with the scorecard that belongs to the results; drawing its pictures takes a quarter of a minute."""
    folder = tmp_path / "book"
    scorecard.write(CLAIMS, RESULTS, folder)
    return folder


@pytest.fixture
def book(tmp_path):
    """A copy of the scorecard as it is stored, to be changed; nothing is drawn."""
    book = tmp_path / "book"
    shutil.copytree(scorecard.BOOK / scorecard.PICTURES, book / scorecard.PICTURES)
    for name in PAGES:
        shutil.copy(scorecard.BOOK / name, book)
    return book


# ---- what is on the disk


def test_the_scorecard_is_up_to_date():
    assert scorecard.faults(CLAIMS, RESULTS, scorecard.BOOK) == [], "run `make scorecard`"


def test_the_table_of_contents_has_its_pages():
    toc = yaml.safe_load((scorecard.BOOK / "_toc.yml").read_text(encoding="utf-8"))
    listed = {chapter["file"] for part in toc["parts"] for chapter in part["chapters"]}
    assert {f"book/{name.removesuffix('.md')}" for name in PAGES} <= listed


def test_an_edited_page_is_found(book):
    page = book / scorecard_pages.page_of("distances")
    page.write_text(page.read_text().replace("verdict-fail", "verdict-match"))
    (fault,) = scorecard.faults(CLAIMS, RESULTS, book)
    assert fault == "book/scorecard_distances.md is not what the claims and the stored results say."


def test_a_readme_that_counts_otherwise_is_found(book):
    front = book.parent / "README.md"
    for line, expected in (("", False), (scorecard_counts.HEADLINE + " order · full 9 of 9.", True)):
        front.write_text(f"# Title\n\n{line}\n\nOther words.\n", encoding="utf-8")
        faults = scorecard.faults(CLAIMS, RESULTS, book)
        assert ("README.md does not count what the stored results say." in faults) == expected
    mended = scorecard.readme(CLAIMS, RESULTS, front.read_text(encoding="utf-8")).splitlines()
    assert mended == [
        "# Title",
        "",
        scorecard_counts.headline(scorecard.verdicts_of(CLAIMS, RESULTS)),
        "",
        "Other words.",
    ]


def test_the_headline_counts_matches_by_kind_and_scale():
    others = [replace(each, claim=replace(each.claim, paper="after")) for each in MADE_UP]
    assert scorecard_counts.headline(MADE_UP + others) == (
        f"{scorecard_counts.HEADLINE} number · exact 1 of 2; number · full 1 of 1; order · small 1 of 2; "
        "construction · exact 0 of 2. Trained at the paper's size: 1 (1 match · number · full)."
    )


def test_what_was_fitted_to_print_is_no_number_that_was_reproduced():
    """The mean of dSprites was typed into the renderer, and its deviation follows from it nearly."""
    page, link = PAGES["scorecard.md"], "(#distances/table-a.2-dsprites)"
    assert link not in section(page, "Numbers that were reproduced")
    (line,) = [line for line in section(page, "What is inconclusive").splitlines() if link in line]
    assert "so that this is circular" in line


@pytest.mark.slow
def test_an_edited_or_missing_picture_is_found_and_nothing_else_is_written_again(drawn):
    assert scorecard.faults(CLAIMS, RESULTS, drawn) == []
    picture = drawn / scorecard.PICTURES / "counts.svg"
    digest = re.search(r"data ([0-9a-f]{16})", picture.read_text())[1]
    picture.write_text(picture.read_text().replace(digest, "0" * 16))
    (drawn / scorecard.PICTURES / "left-over.svg").write_text("")
    assert scorecard.faults(CLAIMS, RESULTS, drawn) == [
        "book/static/scorecard/counts.svg does not show what the stored results say.",
        "book/static/scorecard/left-over.svg is shown nowhere.",
    ]
    assert {path.name for path in scorecard.write(CLAIMS, RESULTS, drawn)} == {"counts.svg", "left-over.svg"}
    assert scorecard.faults(CLAIMS, RESULTS, drawn) == []
    picture.unlink()
    assert len(scorecard.faults(CLAIMS, RESULTS, drawn)) == 1


def test_checking_from_the_command_line(book, monkeypatch, capsys):
    monkeypatch.setattr(scorecard, "BOOK", book)
    monkeypatch.setattr(scorecard.Store, "results", lambda self: RESULTS)
    assert scorecard.main(["--check"]) == 0
    (book / "runs.md").unlink()
    assert scorecard.main(["--check"]) == 1
    assert "book/runs.md is not what" in capsys.readouterr().out


def test_the_other_pages_are_written_with_it(book, monkeypatch):
    monkeypatch.setattr(reference, "PAGES", {})
    monkeypatch.setattr(scorecard, "BOOK", book)
    monkeypatch.setattr(scorecard.notebook_io, "ROOT", book.parent)
    (book / "runs.md").unlink()
    monkeypatch.setattr(scorecard, "pages", lambda *_: {"runs.md": "# The runs\n"})
    monkeypatch.setattr(scorecard, "pictures", lambda *_: [])
    assert reference.main() == 0 and (book / "runs.md").read_text() == "# The runs\n"


def test_make_book_checks():
    makefile = (notebook_io.ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(r"^book:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)[1]
    assert recipe.index("tools/scorecard.py --check") < recipe.index("jupyter-book build")


# ---- a verdict cannot be edited by hand


def test_a_planted_number_changes_verdict_pages_and_picture(book):
    assert best_verdict(BY_ID[SPACINGS], RESULTS).verdict == "match"
    wrong = planted(SPACINGS, "mse/spacing-8/rank", 0.71)
    assert best_verdict(BY_ID[SPACINGS], wrong).verdict == "direction"
    found = {fault.split()[0] for fault in scorecard.faults(CLAIMS, wrong, book)}
    assert found >= {
        "book/scorecard.md", "book/scorecard_chapters.md", "book/scorecard_distances.md",
        "book/static/scorecard/counts.svg", "book/static/scorecard/distances-table-4-2.svg",
    }  # fmt: skip
    page = scorecard.pages(CLAIMS, wrong)["scorecard_distances.md"]
    assert '<th scope="row">mse · spacing-8 · rank</th><td>0.58</td><td>0.710</td>' in page


def test_what_fails_is_told_with_its_reason():
    front = scorecard.pages(CLAIMS, planted("distances/figure-4.3", "equal-at-0-degrees", False))["scorecard.md"]
    (line,) = [line for line in section(front, "What failed").splitlines() if "(#distances/figure-4.3)" in line]
    assert "fail · construction · exact</strong>" in line and "equal-at-0-degrees does not hold." in line
    assert front.index("## What failed") < front.index("## What the words mean")


def test_without_results_nothing_is_claimed():
    pages = scorecard.pages(CLAIMS, {})
    assert "None so far." in pages["scorecard.md"] and " 0 of them have been tested" in pages["scorecard.md"]
    assert "No printed number was reproduced" in pages["scorecard_isa.md"]
    assert not any(f"verdict-{word}" in text for text in pages.values() for word in scorecard_counts.TESTED)


# ---- the headline: what holds, how firmly, and what does not


def test_the_headline_of_made_up_verdicts():
    front = scorecard_pages.overview(MADE_UP)
    assert "9 tables, figures and stated results of five papers" in front and "; 7 of them have been tested." in front
    assert "Trained at the paper's size: 1 (1 match · number · full)." in front
    found = section(front, "Numbers that were reproduced")
    assert re.findall(r"\[(\w+)\]", found) == ["One", "Two"]
    assert "match · number · exact" in found and "match · number · full" in found
    assert re.findall(r"\[(\w+)\]", section(front, "Orders that hold")) == ["Three"]
    assert section(front, "Constructions that hold").strip() == "None so far."
    assert "fail · order · small</strong> [Four](#factorvae/four) (FactorVAE, Table 1): it is upside down." in front
    assert "2 claims: seen in 1 setting. [Five](#factorvae/five)" in section(front, "What is inconclusive")
    assert "a is off; b is off; and 2 more." in section(front, "Where only the direction agrees")


def test_later_papers_are_counted_apart():
    """A claim of another group changes nothing above its own section, and stands in that alone."""
    later = [
        replace(each, claim=replace(each.claim, id=f"after/{each.claim.id[10:]}", paper=LATER, source="hsu2023"))
        for each in MADE_UP[2:4]
    ]
    alone, both = scorecard_pages.overview(MADE_UP), scorecard_pages.overview([*MADE_UP, *later])
    head = alone.split("## By paper")[0]
    assert both.startswith(head) and "9 tables, figures and stated results of five papers" in head
    said = section(both, "After the papers")
    assert "2 statements" in said and "1 match · order · small, 1 fail · order · small" in said
    assert both.replace(f"## After the papers\n{said}\n", "") == alone
    assert scorecard_counts.by_paper([*MADE_UP, *later]) == scorecard_counts.by_paper(MADE_UP)
    assert len(scorecard_counts.by_paper(MADE_UP)) == len(PAPERS) == 5


def test_nothing_at_the_papers_size_is_said():
    assert "Trained at the paper's size: 0." in scorecard_pages.overview(MADE_UP[2:])


def test_the_order_of_the_headline():
    front = scorecard_pages.overview(MADE_UP)
    titles = re.findall(r"^## (.*)", front, re.M)
    assert titles[:3] == ["Numbers that were reproduced", "Orders that hold", "Constructions that hold"]
    assert titles[-1] == "What the words mean"


def test_the_steps_that_survive():
    """Of .001, .01, .02 and .9 Holm's thresholds are .0125, .0167, .025: three hold, and one of them on a seed."""
    steps = scorecard_counts.steps_of(MADE_UP)
    assert [each.firm for each in steps] == [True, True, True, False]
    assert scorecard_counts.firmness(steps) == (
        "4 steps of orders were tested over seeds, each by itself at 95 %: 3 hold. Of these, 2 hold as well without "
        "any one of the seeds, and 3 after Holm's correction over all of them."
    )
    assert [each.step.p for each in scorecard_counts.shaky(steps)] == [0.01]
    assert "`a > b`, p = 0.01, not without one of the seeds" in scorecard_pages.overview(MADE_UP)


def test_the_correction_is_over_all_papers():
    """.02 alone is shown, and beside a second p of .9 and a third of .03 it is not: .02 > .05 / 3."""
    others = [made(name, "match", "order", "small", orders=(step(p),)) for name, p in (("a", 0.02), ("b", 0.03))]
    (own,) = [each for each in scorecard_counts.steps_of([*others, MADE_UP[3]]) if each.step.p == 0.02]
    assert not own.firm and "over all 3 steps of all papers" in scorecard_counts.firmness([own], 3)
    assert scorecard_counts.firmness([]) == "No step of an order was tested over seeds."


def twice(name: str, orders, metrics: dict, seeds: int = 5) -> Verdict:
    """The verdict on a claim whose runs, one for each seed, return these metrics; each is called `name`/metric."""
    part = {"measurement": "m:a", "name": f"{name}/{{}}", "seeds": seeds}
    claim = trained(tuple(orders), id=f"isa/{name}", title=name, runs={"small": [part]})
    runs = runs_of(claim, "small")
    results = {run.id: {"metrics": {key: values[run.seed] for key, values in metrics.items()}} for run in runs}
    return verdict_of(claim, results, "small")


def test_what_rests_on_the_same_runs_and_answers_counts_once():
    """Under another name, and in another unit; not another answer of the same runs, and not one more answer."""
    rising = [0.3, 0.31, 0.33, 0.32, 0.35]
    metrics = {"a": rising, "b": [0.1, 0.12, 0.11, 0.1, 0.13], "c": [0.2, 0.22, 0.21, 0.2, 0.24]}
    metrics |= {"a-in-percent": [100 * value for value in rising]}
    one, same = (twice(name, [f"{name}/a > 0.2"], metrics) for name in ("one", "same"))
    percent = twice("percent", ["percent/a-in-percent > 20"], metrics)
    other, more = (
        twice("other", ["other/c > 0.1"], metrics),
        twice("more", ["more/a > more/b", "more/a > 0.2"], metrics),
    )
    assert scorecard_evidence.distinct([one, same, percent, other]) == [one, other]
    assert scorecard_evidence.distinct([one, more]) == [more], "its answer is one of the other's"
    assert len({scorecard_evidence.runs_of(each) for each in (one, same, other, more)}) == 1
    steps = scorecard_counts.steps_of([one, same, other, more])
    assert [each.again for each in steps] == [False, True, False, False, True]
    assert len(scorecard_counts.once(steps)) == 3 and "3 steps of orders were tested" in scorecard_counts.firmness(
        steps
    )
    assert "once: 2 more say it again." in scorecard_counts.firmness(steps)
    alone = scorecard_counts.steps_of([one, other, more])
    assert [each.firm for each in scorecard_counts.once(steps)] == [each.firm for each in scorecard_counts.once(alone)]


def test_the_front_page_says_how_many_matches_are_distinct():
    verdicts = [each for each in scorecard.verdicts_of(CLAIMS, RESULTS) if each.claim.paper in PAPERS]
    matches = scorecard_counts.those(verdicts, "match")
    kept = scorecard_evidence.distinct(matches)
    said = scorecard_counts.shared(verdicts)
    assert f"{len(matches)} matches, of which {len(kept)} distinct" in said and said in scorecard_pages.overview(
        verdicts
    )
    ids, all_ids = ({each.claim.id for each in group} for group in (kept, matches))
    for pair in (
        ("review/section-2.2-lagrangian", "assumptions/lagrangian"), ("review/section-4.1", "assumptions/mig-bounds"),
        ("assumptions/burgess-figure-3", "distances/section-3.5-order"),
    ):  # fmt: skip
        assert len(ids & {*pair}) == 1 or not all_ids >= {*pair}, pair


def test_a_papers_page_opens_with_its_summary():
    steps = scorecard_counts.steps_of(MADE_UP)
    page = scorecard_pages.of_paper("factorvae", MADE_UP, lambda each: "", "3 runs took 2 s.", steps)
    words = re.findall(r"^\*\*(.+?)\.\*\*", page.split("## The claims")[0], re.M)
    assert words == ["Scope", "What was run", "What came out", "What was easy", "What was hard",
                     "What the paper does not print"]  # fmt: skip
    assert (
        "7 of its 9 claims were tested: 4 without training, 2 in small trainings, 1 in trainings at the paper's size. "
        "3 runs took 2 s."
    ) in page
    assert "Numbers that were reproduced: [One](#factorvae/one); [Two](#factorvae/two). In all: " in page
    assert "1 match · number · exact, 1 match · number · full, 1 direction · number · exact; " in page
    assert re.findall(r"^### (.*)", page, re.M) == [
        "Numbers", "Orders", "Constructions", "Not run yet", "Out of reach",
    ]  # fmt: skip
    claims = BeautifulSoup(page, "html.parser").select("details.claim")
    assert len(claims) == 9 and all(claim.summary.select_one(".claim-title") for claim in claims)
    assert [claim["data-scale"] for claim in claims][:3] == ["exact", "full", "exact"]


def test_summaries_are_of_every_paper_and_short(tmp_path):
    found = load_summaries()
    assert [*found] == [*GROUPS]
    text = SUMMARIES.read_text(encoding="utf-8")
    for wrong, named in (
        (text.replace("isa:", "is:"), "summary of isa"),
        (text.replace("  easy: >-", "  eas: >-", 1), "summary of distances"),
        (text.replace("  scope: >-", "  scope: >-\n    A. B. C. D.", 1), "distances, scope: got"),
        (text + "other:\n  scope: A.\n", "summary of other"),
    ):
        (tmp_path / "summaries.yml").write_text(wrong, encoding="utf-8")
        with pytest.raises(ValueError, match=named):
            load_summaries(tmp_path / "summaries.yml")


# ---- no verdict without what it rests on

BADGE = r"(match|direction|fail|inconclusive) · (number|order|construction) · (exact|small|full)|not run|out of reach"
BARE = re.compile(r"\b\d+ (match|direction|fail|inconclusive)\b(?! · (number|order|construction) · (exact|small|full))")


def badge_faults(text: str) -> list[str]:
    """Badges, and counts of verdicts, that do not say kind and scale."""
    badges = [each.get_text() for each in BeautifulSoup(text, "html.parser").select(".verdict")]
    return [each for each in badges if not re.fullmatch(BADGE, each)] + [each[0] for each in BARE.finditer(text)]


@pytest.mark.parametrize(
    "text", ["<b class=verdict>match</b>", "<b class=verdict>fail (small)</b>", "10 match, 3 not run", "3 fail · small"]
)
def test_a_bare_verdict_is_found(text):
    assert badge_faults(text)


def test_no_page_says_a_verdict_without_kind_and_scale():
    root = notebook_io.ROOT
    texts = PAGES | {name: (root / name).read_text(encoding="utf-8") for name in ("README.md", "book/index.md")}
    assert {name: badge_faults(text) for name, text in texts.items() if badge_faults(text)} == {}
    assert badge_faults(scorecard_pages.overview(MADE_UP)) == []


def test_no_chapter_says_a_verdict_without_kind_and_scale():
    for path in [*notebook_io.ROOT.glob("chapters/*.ipynb"), *notebook_io.ROOT.glob("book/*.ipynb")]:
        for cell in notebook_io.read(path).cells:
            texts = [cell.source] if cell.cell_type == "markdown" else []
            texts += [str(output.get("text", "")) for output in cell.get("outputs", ())]
            kinds = [output.get("data", {}) for output in cell.get("outputs", ())]
            texts += [str(text) for data in kinds for kind, text in data.items() if kind.startswith("text/")]
            assert [fault for text in texts for fault in badge_faults(text)] == [], (path.name, cell.id)


def test_no_card_or_picture_says_a_verdict_without_kind_and_scale():
    for verdict in [*MADE_UP, *scorecard.verdicts_of(CLAIMS, RESULTS)]:
        shown = Card(verdict)
        assert re.fullmatch(BADGE, shown.badge) and badge_faults(shown._repr_html_()) == []
        assert repr(shown).startswith(shown.badge.upper()) and shown._repr_markdown_().startswith(f"**{shown.badge}**")
    picture = scorecard_figures.counts(scorecard_counts.by_paper(MADE_UP))
    assert badge_faults(picture.alt) == [] and "1 match · number · full" in picture.alt


# ---- every claim is there, once, under an address that stays


def test_every_claim_has_one_anchor_and_is_in_its_chapter():
    anchors = Counter(re.findall(r"^\((\S+)\)=$", "\n".join(PAGES.values()), re.MULTILINE))
    assert set(anchors.values()) == {1} and {claim.id for claim in CLAIMS} <= set(anchors)
    sections = re.split(r"^\(claims-of-chapter-", PAGES["scorecard_chapters.md"], flags=re.MULTILINE)[1:]
    listed = {section[:2]: set(re.findall(r"\]\(#([^)]+)\)", section)) for section in sections}
    for claim in CLAIMS:
        assert claim.id in listed[claim.chapter[:2]]
    linked = re.findall(r"\]\(#([^)]+)\)", "\n".join(PAGES.values()))
    assert set(linked) <= set(anchors)


def test_anchors_do_not_depend_on_results():
    def places(pages):
        return {anchor for text in pages.values() for anchor in re.findall(r"^\((\S+)\)=$", text, re.M)}

    assert {claim.id for claim in CLAIMS} <= places(scorecard.pages(CLAIMS, {}))


def test_counts_add_up():
    rows = scorecard_counts.counts(scorecard.verdicts_of(CLAIMS, RESULTS))
    assert sum(sum(numbers) for _, _, numbers in rows) == len(CLAIMS)
    assert [row[:2] for row in rows] == sorted((row[:2] for row in rows), key=lambda row: (
        KINDS.index(row[0]), scorecard_counts.SCALES.index(row[1])))  # fmt: skip


def test_counts_by_kind_and_scale():
    assert scorecard_counts.counts(MADE_UP) == [
        ("number", "exact", (1, 1, 0, 0, 0, 1)), ("number", "full", (1, 0, 0, 0, 0, 0)),
        ("order", "small", (1, 0, 1, 0, 0, 0)), ("order", "full", (0, 0, 0, 0, 1, 0)),
        ("construction", "exact", (0, 0, 0, 2, 0, 0)),
    ]  # fmt: skip
    table = BeautifulSoup(scorecard_counts.counts_html(MADE_UP, "All", "a"), "html.parser")
    cells = [[cell.get_text() for cell in row.select("td")] for row in table.select("tbody tr")]
    assert len(cells) == 5 and cells[0] == ["1", "1", "0", "0", "0", "1", "3"] and cells[2][-1] == "2"
    assert table.select("tbody a")[0]["href"] == "a.html?kind=number&scale=exact&verdict=match#filter"
    assert table.select("tbody a")[0]["aria-label"] == "1 match · number · exact"


def test_the_picture_shows_kind_and_scale():
    picture = scorecard_figures.counts(scorecard_counts.by_paper(MADE_UP))
    assert [*picture.data["panels"]] == [*KINDS]
    assert (
        "FactorVAE: 1 match · number · exact, 1 match · number · full, 1 direction · number · exact, "
        "1 out of reach (number), 1 match · order · small, 1 fail · order · small, 1 not run (order), "
        "2 inconclusive · construction · exact"
    ) in picture.alt
    parts = dict(zip(map(tuple, picture.data["parts"]), picture.data["panels"]["number"][1][1], strict=True))
    assert parts["match", "full"] == 1 and parts["match", "small"] == 0


def test_the_filter_offers_what_there_is():
    form = BeautifulSoup(scorecard_pages.filter_form(MADE_UP), "html.parser").form
    offered = {each["name"]: [option["value"] for option in each.select("option")] for each in form.select("select")}
    assert offered == {
        "verdict": ["", "match", "direction", "fail", "inconclusive", "not-run", "out-of-reach"],
        "kind": ["", *KINDS], "scale": ["", "exact", "small", "full"], "chapter": ["", "15"],
    }  # fmt: skip
    assert form.has_attr("hidden") and all(each.parent.name == "label" for each in form.select("select"))
    assert form.output["aria-live"] == "polite"


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_sound(name):
    text = PAGES[name]
    assert text.startswith("<!-- Made from") and text.count("\n# ") == 1 and text.endswith("\n")
    assert not notebook_rules.ABSOLUTE_PATH.search(text) and not re.search(r">None<|\bnan\b", text)
    for table in BeautifulSoup(text, "html.parser").select("table"):
        assert table.caption.text and all(cell.get("scope") for cell in table.select("th"))
        assert all(row.find("th") for row in table.select("tbody tr"))


def test_chapters_are_linked_where_they_are_written():
    assert scorecard_claims.chapter_link("02_vae") == (
        "[Chapter 02, The variational auto-encoder](../chapters/02_vae.ipynb)"
    )
    toc = (scorecard.BOOK / "_toc.yml").read_text(encoding="utf-8")
    written = set(re.findall(r"chapters/(\w+)", toc))
    for name in {claim.chapter for claim in CLAIMS} - written:
        assert scorecard_claims.chapter_link(name).endswith(" (to come)")


def test_markdown_marks_in_a_claims_words_are_escaped():
    assert scorecard_claims.plain_text("a*b* x_R\n _c_ <d> $e$ [f]") == r"a\*b\* x_R \_c\_ \<d> \$e\$ \[f\]"


def test_what_waits_for_a_file_says_so():
    verdict = best_verdict(BY_ID["distances/table-a.2-cars3d"], {})
    assert "0 of 1 runs are done, which take the published file of Cars3D." in scorecard_claims.waits(verdict)


# ---- runs


def test_a_configuration_is_one_entry():
    results = [
        {"id": f"m.a/small/abc/{seed}", "config_hash": "abc", "scale": "small", "seed": seed, "seconds": 100.0,
         "settings": {"beta": [1, 2], "steps": 10}, "device": {"type": "cpu", "name": "x", "threads": 1},
         "versions": {"torch": "2"}, "commit": "0123456789abcdef+"}
        for seed in (0, 1, 2, 4)
    ]  # fmt: skip
    found = scorecard_runs.entry(results, {"m.a/small/abc/0": ["isa/a"]})
    assert found == (
        "(run-abc)=\n`abc` small: beta 1, 2, steps 10\n"
        ": seeds 0 to 2, 4; 7 min; cpu x, 1 thread; torch 2; commit 01234567+. For [isa/a](#isa/a)."
    )


def test_every_result_is_on_the_page():
    anchors = re.findall(r"^\(run-(\w+)\)=$", PAGES["runs.md"], re.MULTILINE)
    assert sorted(anchors) == sorted({result["config_hash"] for result in RESULTS.values()})


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.3, "less than a second"), (61, "61 s"), (600, "10 min"), (9000, "2.5 h")]
)
def test_durations(seconds, words):
    assert scorecard_runs.duration(seconds) == words


# ---- pictures


def test_seeds_beside_their_control():
    claim = trained(order=("mig/a > mig/b", "dci > 0.4"), numbers=(Number("mig/a", "0.40", tolerance=0.1),))
    picture = scorecard_figures.picture_of(judged(claim, FIVE, "full"))
    assert picture.kind == "seeds" and [*picture.data["panels"]] == ["mig", "dci"]
    (_, row), _ = picture.data["panels"]["mig"]["rows"]
    assert row == {"values": [each["mig/a"] for each in FIVE], "control": 0.05, "printed": 0.4}
    assert picture.data["panels"]["dci"]["constants"] == [0.4]
    assert picture.alt == (
        "2 panels, mig and dci, with a dot for each seed. mig: a from 0.3 to 0.34, mean 0.32, control 0.05; b from 0.1 "
        "to 0.1, mean 0.1. dci: dci from 0.5 to 0.9, mean 0.7."
    )
    assert "threshold" in picture.caption and "paper" in picture.caption
    assert scorecard_drawing.svg(picture).startswith(b"<?xml")


def test_pairs_say_where_they_differ_most():
    wrong = planted(SPACINGS, "mse/spacing-8/rank", 0.71)
    picture = scorecard_figures.picture_of(best_verdict(BY_ID[SPACINGS], wrong))
    assert picture.kind == "curves" and picture.data["across"] == "spacing"
    assert (
        "at most by 0.13, at mse · spacing-8 · rank" in picture.alt
        and "rank of mse from 1.00 at spacing 1" in picture.alt
    )
    table = scorecard_figures.picture_of(best_verdict(BY_ID["distances/table-4.1-dsprites"], RESULTS))
    assert table.kind == "pairs" and [*table.data["panels"]] == ["linear", "rank"]


def test_nothing_is_drawn_of_what_was_not_measured():
    assert [each.name for each in scorecard.pictures(CLAIMS, {})] == ["counts"]


def test_drawing_is_the_same_to_the_byte():
    """Twice in one process; what is stored was drawn by one version of matplotlib, and here may be another."""
    for picture in scorecard.pictures(CLAIMS, RESULTS)[:3]:
        drawn = scorecard_drawing.svg(picture)
        assert drawn == scorecard_drawing.svg(picture)
        assert f"data {picture.digest}".encode() in drawn and b"<dc:date>" not in drawn


@pytest.mark.parametrize("name", sorted(path.name for path in (scorecard.BOOK / scorecard.PICTURES).glob("*.svg")))
def test_stored_pictures_are_small_and_name_nothing(name):
    text = (scorecard.BOOK / scorecard.PICTURES / name).read_text(encoding="utf-8")
    assert len(text) < 150_000 and not notebook_rules.ABSOLUTE_PATH.search(text)


def test_every_picture_is_on_a_page():
    shown = {name for text in PAGES.values() for name in re.findall(r'src="\.\./scorecard/(\S+?)\.svg"', text)}
    assert shown == {picture.name for picture in scorecard.pictures(CLAIMS, RESULTS)}
