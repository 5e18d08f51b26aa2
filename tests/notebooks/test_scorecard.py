"""The scorecard: its pages and pictures are what claims and results say, and one that says anything else is found."""

import re
from collections import Counter

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
import scorecard_figures
import scorecard_pages
import scorecard_runs
from course_replication import Store, best_verdict, load_claims, verdict_of
from course_replication.claims import PAPERS, Claim, Expectation, Number
from course_replication.parts import Part
from course_replication.plans import runs_of

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
    return Claim(id="isa/a", **fields | changes)


def judged(claim: Claim, metrics: list[dict], scale="small"):
    part = Part("m:a", seeds=5, scale=scale)
    results = {run.id: {"metrics": each} for run, each in zip(part.runs(), metrics, strict=False)}
    return verdict_of(claim, results, scale, {claim.id: (part,)})


FIVE = [
    {"mig/a": 0.3 + seed / 100, "mig/b": 0.1, "control/untrained/mig/a": 0.05, "dci": 0.5 + seed / 10}
    for seed in range(5)
]


@pytest.fixture
def book(tmp_path):
    """A folder with the scorecard that belongs to the results."""
    scorecard.write(CLAIMS, RESULTS, tmp_path)
    return tmp_path


# ---- what is on the disk


def test_the_scorecard_is_up_to_date():
    assert scorecard.faults(CLAIMS, RESULTS, scorecard.BOOK) == [], "run `make scorecard`"


def test_the_table_of_contents_has_its_pages():
    toc = yaml.safe_load((scorecard.BOOK / "_toc.yml").read_text(encoding="utf-8"))
    listed = {chapter["file"] for part in toc["parts"] for chapter in part["chapters"]}
    assert {f"book/{name.removesuffix('.md')}" for name in PAGES} <= listed


def test_writing_again_changes_nothing(book):
    assert scorecard.write(CLAIMS, RESULTS, book) == [] and scorecard.faults(CLAIMS, RESULTS, book) == []


def test_an_edited_page_is_found(book):
    page = book / scorecard_pages.page_of("distances")
    page.write_text(page.read_text().replace("verdict-fail", "verdict-match"))
    (fault,) = scorecard.faults(CLAIMS, RESULTS, book)
    assert fault == "book/scorecard_distances.md is not what the claims and the stored results say."


def test_an_edited_or_missing_picture_is_found(book):
    picture = book / scorecard.PICTURES / "counts.svg"
    digest = re.search(r"data ([0-9a-f]{16})", picture.read_text())[1]
    picture.write_text(picture.read_text().replace(digest, "0" * 16))
    (book / scorecard.PICTURES / "left-over.svg").write_text("")
    assert scorecard.faults(CLAIMS, RESULTS, book) == [
        "book/static/scorecard/counts.svg does not show what the stored results say.",
        "book/static/scorecard/left-over.svg is shown nowhere.",
    ]
    assert {path.name for path in scorecard.write(CLAIMS, RESULTS, book)} == {"counts.svg", "left-over.svg"}
    picture.unlink()
    assert len(scorecard.faults(CLAIMS, RESULTS, book)) == 1


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


def test_what_fails_is_told_first():
    front = scorecard.pages(CLAIMS, planted("distances/figure-4.3", "equal-at-0-degrees", False))["scorecard.md"]
    failed = front.split("## What failed\n")[1].split("\n## ")[0]
    assert "### The two ratios of a rotated Gaussian" in failed and "(#distances/figure-4.3)" in failed
    assert '<th scope="row">equal at 0 degrees</th><td>no</td>' in failed and "45 degrees" not in failed
    assert front.index("## What failed") < front.index("## What the verdicts mean")


def test_small_failures_are_told_apart():
    front = scorecard_pages.overview([judged(trained(order=("mig/b > mig/a",)), FIVE)])
    assert "## What failed\n\nNothing that was measured as in the papers.\n" in front
    assert "## What failed in small runs" in front and "fail (small)" in front and scorecard_pages.SMALL in front


def test_without_results_nothing_is_claimed():
    pages = scorecard.pages(CLAIMS, {})
    assert "Nothing so far." in pages["scorecard.md"] and "of which 0 have been tested" in pages["scorecard.md"]
    assert not any(f"verdict-{word}" in text for text in pages.values() for word in scorecard_pages.TESTED)


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
    table = scorecard_pages.counts_table(scorecard.verdicts_of(CLAIMS, RESULTS))
    assert [row[0] for row in table.rows] == [*(scorecard_pages.PAPER_NAMES[paper] for paper in PAPERS), "all"]
    for row in table.rows:
        *parts, total = (int(cell.split(" ")[0]) for cell in row[1:])
        assert sum(parts) == total
    assert total == len(CLAIMS)


def test_small_runs_are_counted_apart():
    """One claim of which only small runs exist, and one that needs no training."""
    verdicts = [judged(trained(order=("mig/a > mig/b",)), FIVE), best_verdict(BY_ID[SPACINGS], RESULTS)]
    table = scorecard_pages.counts_table(verdicts)
    assert dict(zip(table.header, table.rows[-1], strict=True))["match"] == "2 (1)" and "small" in table.caption
    assert "1 of them only in small runs" in scorecard_pages.overview(verdicts)
    picture = scorecard_figures.counts(scorecard_pages.by_paper(verdicts))
    assert "ISA-VAE: 1 match in small runs" in picture.alt and "the thesis: 1 match;" in picture.alt


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_sound(name):
    text = PAGES[name]
    assert text.startswith("<!-- Made from") and text.count("\n# ") == 1 and text.endswith("\n")
    assert not notebook_rules.ABSOLUTE_PATH.search(text) and not re.search(r">None<|\bnan\b", text)
    for table in BeautifulSoup(text, "html.parser").select("table"):
        assert table.caption.text and all(cell.get("scope") for cell in table.select("th"))
        assert all(row.find("th") for row in table.select("tbody tr"))


def test_chapters_are_linked_where_they_are_written():
    assert scorecard_pages.chapter_link("02_vae") == (
        "[Chapter 02, The variational auto-encoder](../chapters/02_vae.ipynb)"
    )
    toc = (scorecard.BOOK / "_toc.yml").read_text(encoding="utf-8")
    written = set(re.findall(r"chapters/(\w+)", toc))
    for name in {claim.chapter for claim in CLAIMS} - written:
        assert scorecard_pages.chapter_link(name).endswith(" (to come)")


def test_markdown_marks_in_a_claims_words_are_escaped():
    assert scorecard_pages.plain_text("a*b* x_R\n _c_ <d> $e$ [f]") == r"a\*b\* x_R \_c\_ \<d> \$e\$ \[f\]"


def test_what_waits_for_a_file_says_so():
    verdict = best_verdict(BY_ID["distances/table-a.2-cars3d"], {})
    assert "0 of 1 runs are done, which take the published file of Cars3D." in scorecard_pages.in_short(verdict)


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
    picture = scorecard_figures.picture_of(judged(claim, FIVE))
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


def test_drawing_is_the_same_to_the_byte(book):
    """Twice in one process, and as it is stored, as long as matplotlib is the version that drew what is stored."""
    for picture in scorecard.pictures(CLAIMS, RESULTS)[:3]:
        drawn = scorecard_drawing.svg(picture)
        assert drawn == (book / scorecard.PICTURES / f"{picture.name}.svg").read_bytes()
        assert f"data {picture.digest}".encode() in drawn and b"<dc:date>" not in drawn


@pytest.mark.parametrize("name", sorted(path.name for path in (scorecard.BOOK / scorecard.PICTURES).glob("*.svg")))
def test_stored_pictures_are_small_and_name_nothing(name):
    text = (scorecard.BOOK / scorecard.PICTURES / name).read_text(encoding="utf-8")
    assert len(text) < 150_000 and not notebook_rules.ABSOLUTE_PATH.search(text)


def test_every_picture_is_on_a_page():
    shown = {name for text in PAGES.values() for name in re.findall(r"\]\(static/scorecard/(\S+?)\.svg\)", text)}
    assert shown == {picture.name for picture in scorecard.pictures(CLAIMS, RESULTS)}
