"""The pages of the book that are neither chapters nor made from docstrings say what is there."""

import re

import nbformat
import pytest

import bibliography
import course_map
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


def test_the_front_page_counts_what_is_written(tmp_path):
    (tmp_path / "chapters").mkdir()
    nbformat.write(nbformat.v4.new_notebook(), tmp_path / "chapters" / "15_xysquares.ipynb")
    said = course_map.written_chapters(tmp_path)
    assert said == "**What there is today**: 1 of 23 chapters, [15 XYSquares](../chapters/15_xysquares.ipynb)."
