"""The book, built as `make book` builds it, but from a copy: nothing is written beside the sources."""

import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from bs4 import BeautifulSoup

import build_book
import notebook_io
import notebook_rules
import publish
import site_rules


def pages() -> list[str]:
    toc = yaml.safe_load((notebook_io.ROOT / "book" / "_toc.yml").read_text(encoding="utf-8"))
    return [toc["root"]] + [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]


@pytest.fixture
def html(built_book):
    return built_book.html


def test_building_it_warns_of_nothing(built_book):
    assert not built_book.failure, built_book.failure


def test_every_page_is_rendered_and_no_other(html):
    rendered = {path.relative_to(html).with_suffix("").as_posix() for path in html.rglob("*.html")}
    rendered = {page for page in rendered if not page.startswith("_static/")}
    assert rendered == {*pages(), "index", "genindex", "search"}  # index: where the README sends the reader
    for page in pages():
        assert BeautifulSoup((html / f"{page}.html").read_text(encoding="utf-8"), "html.parser").find("h1"), page


def test_every_chapter_is_in_the_table_of_contents():
    listed = [page for page in pages() if (notebook_io.ROOT / f"{page}.ipynb").is_file()]
    chapters = [page for page in listed if page.startswith("chapters/")]
    assert chapters == [f"chapters/{path.stem}" for path in notebook_io.chapters()]
    assert sorted(listed) == sorted(f"{path.parent.name}/{path.stem}" for path in notebook_io.executed())


def test_no_link_is_broken(html):
    assert site_rules.link_faults(site_rules.read(html), html) == []


def test_a_broken_link_is_found(tmp_path):
    (tmp_path / "a.html").write_text('<p id="here"></p><a href="#here"></a><a href="b.html"></a><a href="#there"></a>')
    found = site_rules.link_faults(site_rules.read(tmp_path), tmp_path)
    assert found == ["a.html: b.html leads to no file", "a.html: #there leads to no place in a.html"]


def test_pictures_have_the_words_that_the_notebook_gives(html):
    """An independent look at what notebook_rules reads from the metadata: the words arrive on the page."""
    for page in pages():
        soup = BeautifulSoup((html / f"{page}.html").read_text(encoding="utf-8"), "html.parser")
        for picture in soup.select("article img"):
            assert picture.get("alt") and not notebook_rules.PATH_LIKE.search(picture["alt"]), (page, picture)


def test_building_leaves_the_sources_alone(built_book):
    assert build_book.contents(built_book.folder) == built_book.before


class ShortBook(NamedTuple):
    """A copy with its own address, a front page with a link that leads to no page, and one chapter; it was built."""

    folder: Path
    chapter: str
    done: subprocess.CompletedProcess


@pytest.fixture(scope="module")
def short_book(tmp_path_factory):
    folder = tmp_path_factory.mktemp("short") / "course"
    build_book.copy_sources(folder)
    contents = {"format": "jb-book", "root": pages()[0], "chapters": [{"file": pages()[1]}]}
    (folder / "book" / "_toc.yml").write_text(yaml.safe_dump(contents))
    publish.publish("https://github.com/some-owner/some-name", folder)
    with (folder / "book" / "index.md").open("a") as page:
        page.write("\n[A link to nothing](no_such_page.md)\n")
    return ShortBook(folder, pages()[1], build_book.build(folder))


def test_launch_buttons_appear_with_the_address(html, short_book):
    """The course may be in either state; a published copy has a link that opens this chapter, at this edition."""
    folder, chapter, _ = short_book
    address = yaml.safe_load((notebook_io.ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]
    assert ("colab.research.google.com" in (html / f"{chapter}.html").read_text(encoding="utf-8")) == bool(address)
    edition = publish.version(folder)
    link = f"https://colab.research.google.com/github/some-owner/some-name/blob/{edition}/{chapter}.ipynb"
    assert link in (folder / "_build" / "html" / f"{chapter}.html").read_text(encoding="utf-8")


def test_a_warning_fails_the_build(short_book):
    assert short_book.done.returncode != 0 and "no_such_page" in short_book.done.stderr
