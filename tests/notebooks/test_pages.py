"""The pages of the book that are neither chapters nor made from docstrings say what is there."""

import json
import re

import nbformat
import pytest

import bibliography
import course_map
import idea_map
import notebook_io
import publish
import timings

BOOK = notebook_io.ROOT / "book"
CODE = "\n".join(path.read_text(encoding="utf-8") for path in (notebook_io.ROOT / "course_lib").rglob("*.py"))


def names_in_code(page: str) -> set[str]:
    """The identifiers in backticks in the last column of the page's tables."""
    cells = [line.rsplit("|", 2)[1] for line in page.splitlines() if line.startswith("|")]
    quoted = re.findall(r"`([^`]+)`", " ".join(cells))
    return {name for text in quoted for name in re.findall(r"[A-Za-z_]\w+", text)}


def test_the_map_names_every_chapter_in_order():
    names = [name for part in course_map.parts() for name in part["chapters"]]
    assert [int(name[:2]) for name in names] == list(range(1, len(names) + 1))
    assert {path.stem for path in notebook_io.chapters()} <= set(names)


def test_the_map_links_what_is_written_and_nothing_else(tmp_path):
    (tmp_path / "chapters").mkdir()
    nbformat.write(nbformat.v4.new_notebook(), tmp_path / "chapters" / "15_xysquares.ipynb")
    found = course_map.course_map(tmp_path)
    assert re.findall(r'href="([^"]+)"', found) == ["../chapters/15_xysquares.html"]
    assert found.count("to come</i>") == found.count("<li") - 1


def test_the_ideas_link_what_is_written_and_nothing_else(tmp_path):
    """Once as a box of the diagram and once in words; every chapter has a box of its own, and arrows lead forwards."""
    (tmp_path / "chapters").mkdir()
    nbformat.write(nbformat.v4.new_notebook(), tmp_path / "chapters" / "15_xysquares.ipynb")
    found, names = idea_map.page(tmp_path), [name for part in course_map.parts() for name in part["chapters"]]
    assert re.findall(r'href="([^"]+)"|\]\(([^)]+)\)', found) == [
        ("../chapters/15_xysquares.html", ""), ("", "../chapters/15_xysquares.ipynb")
    ]  # fmt: skip
    assert re.findall(r'<tspan class="number">(\d\d)</tspan>', found) == [name[:2] for name in names]
    assert len({*idea_map.places().values()}) == len(names) == len(re.findall(r"^- \*", found, re.MULTILINE))
    known = idea_map.ideas()
    assert found.count('class="arrow"') == sum(len(stands_on) for _, stands_on in known.values())
    assert known["15_xysquares"][0] in found and known["16_introducing_overlap"][0] not in found
    assert "\n\n" not in found[found.index("<div") : found.index("</div>")]  # where Markdown would end the HTML


def test_an_idea_that_stands_on_a_later_one_is_refused(tmp_path, monkeypatch):
    text = idea_map.FILE.read_text(encoding="utf-8")
    for broken, said in ((text.replace('"02"', '"20"'), "earlier chapters"), (text + "24_x: [y]\n", "in order")):
        monkeypatch.setattr(idea_map, "FILE", tmp_path / "ideas.yml")
        idea_map.FILE.write_text(broken, encoding="utf-8")
        with pytest.raises(ValueError, match=said):
            idea_map.ideas()


def test_arrows_cross_a_column_between_its_boxes():
    """The level part of a long arrow lies in the gap below a box, whatever it joins."""
    at = idea_map.places()
    boxes = [(y, y + idea_map.HEIGHT) for x, y in at.values() if x == idea_map.LEFT[1]]
    for other, name in (("02_vae", "14_perceived_distance"), ("04_measuring_disentanglement", "17_three_scores")):
        (level,) = re.findall(r"([\d.]+)H", idea_map.arrow(at[other], at[name]))
        assert all(not top <= float(level) <= bottom for top, bottom in boxes)


def test_a_missing_marker_is_named(tmp_path, monkeypatch):
    page = tmp_path / "index.md"
    page.write_text("<!-- the map: made from chapters.yml by `make reference` -->")
    monkeypatch.setattr(course_map, "PAGE", page)
    with pytest.raises(ValueError, match=r"index.md: .* markers"):
        course_map.page()


def test_what_is_cited_is_in_the_bibliography():
    cited = bibliography.cited()
    assert cited["chapters/02_vae.ipynb"]  # or this test would hold for pages that cite nothing
    missing = {page: keys - bibliography.entries().keys() for page, keys in cited.items()}
    assert not any(missing.values()), missing


def test_the_five_papers_come_first():
    replicated, others = bibliography.page().split("## Cited")
    assert replicated.count(")=\n") == 5
    assert others.count(")=\n") == len(bibliography.entries()) - 5


def test_an_entry_is_written_out(tmp_path):
    source = tmp_path / "references.bib"
    source.write_text(
        "@article{weyl1952, author={Weyl, Hermann and van der Waerden, Bartel L.}, title={On {S}ymmetry}, "
        "journal={Notes}, year={1952}, url={https://example.org/a}}"
    )
    ((key, entry),) = bibliography.entries(source).items()
    assert bibliography.line(key, entry) == (
        "(weyl1952)=\nH. Weyl and B. L. van der Waerden (1952). *On Symmetry*. Notes. "
        "[example.org/a](https://example.org/a)"
    )


def test_names_on_the_notation_page_exist():
    names = names_in_code((BOOK / "notation.md").read_text(encoding="utf-8"))
    assert len(names) > 30
    assert {name for name in names if not re.search(rf"\b{name}\b", CODE)} == set()
    assert names_in_code("| $x$ | an image | `no_such_name` |") == {"no_such_name"}


def test_the_colophon_names_the_edition():
    editions = re.findall(r"\b20\d\d\.\d+\b", (BOOK / "colophon.md").read_text(encoding="utf-8"))
    assert editions and set(editions) == {publish.version(notebook_io.ROOT)}


def test_timings_are_of_notebooks_that_are_there():
    rows = [line for line in timings.page().splitlines() if line.startswith("| [")]
    assert len(rows) == len(notebook_io.executed())
    assert all((timings.PAGE.parent / re.search(r"\]\(([^)]+)\)", row)[1]).is_file() for row in rows)


def test_a_notebook_that_fails_is_not_timed(tmp_path):
    path = tmp_path / "bad.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0", id="bad")]), path)
    with pytest.raises(RuntimeError, match="bad.ipynb: .*ZeroDivisionError"):
        timings.measure(path)


BUSY_AND_IDLE = """
import subprocess, sys, time
busy = "import time; t = time.process_time()\\nwhile time.process_time() < t + 1: pass"
exec(busy)
subprocess.run([sys.executable, "-c", busy], check=True)
time.sleep(2)
"""


@pytest.mark.slow
def test_seconds_of_the_processor_and_of_the_clock(tmp_path):
    """What a notebook and its processes work counts, and what it only waits does not."""
    path = tmp_path / "a.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(BUSY_AND_IDLE, id="a")]), path)
    empty = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1", id="a")])
    nbformat.write(empty, tmp_path / "empty.ipynb")
    found, start = timings.measure(path), timings.measure(tmp_path / "empty.ipynb")
    assert 1.9 < found["seconds"] - start["seconds"] < 3.5 and found["clock"] > found["seconds"]
    assert found["code_cells"] == 1


def test_some_notebooks_are_timed_where_the_others_were(monkeypatch, capsys):
    record = {**timings.setting(), "notebooks": {}}
    assert [path.stem for path in timings.to_measure(["02_vae", "errata"], record)] == ["02_vae", "errata"]
    assert timings.to_measure([], {}) == notebook_io.executed()
    with pytest.raises(ValueError, match="CHAPTER: here is .*measure all"):
        timings.to_measure(["02_vae"], record | {"torch": "1.0"})
    assert timings.main(["2_vae"]) == 1 and "got 2_vae; allowed are 01_dis" in capsys.readouterr().err


def test_what_is_timed_in_part_is_stored_beside_the_rest(tmp_path, monkeypatch):
    old = {"seconds": 60.0, "code_cells": 50}
    record = {"date": "2026-01-02", **timings.setting(), "notebooks": {"scores": old}}
    (tmp_path / "timings.json").write_text(json.dumps(record))
    new = {"seconds": 50.0, "clock": 70.0, "code_cells": 38, "date": "2026-02-03"}
    monkeypatch.setattr(timings, "RECORD", tmp_path / "timings.json")
    monkeypatch.setattr(timings, "PAGE", tmp_path / "timings.md")
    monkeypatch.setattr(timings, "measure", lambda path: new)
    assert timings.main(["02_vae"]) == 0
    assert json.loads((tmp_path / "timings.json").read_text()) == record | {"notebooks": {"02_vae": new, "scores": old}}
    page = (tmp_path / "timings.md").read_text()
    assert "from 2026-01-02 to 2026-02-03" in page and "| 50 s |" in page and "not measured" in page
    assert "that the processor worked; of scores those by the clock, with nothing else running." in page


def test_the_front_page_counts_what_is_written(tmp_path):
    (tmp_path / "chapters").mkdir()
    nbformat.write(nbformat.v4.new_notebook(), tmp_path / "chapters" / "15_xysquares.ipynb")
    said = course_map.written_chapters(tmp_path)
    assert said == "**What there is today**: 1 of 23 chapters, [15 XYSquares](../chapters/15_xysquares.ipynb)."
    for name in course_map.titles():
        nbformat.write(nbformat.v4.new_notebook(), tmp_path / "chapters" / f"{name}.ipynb")
    assert course_map.written_chapters(tmp_path).startswith("**All 23 chapters** are written")
