"""The book, built as `make book` builds it, but from a copy: nothing is written beside the sources."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup

import notebook_io
import notebook_rules
import publish
import site_rules

NOT_SOURCES = (".git", ".venv", "_build", "build", "dist", "*.egg-info", "__pycache__", ".*_cache")


def copy_sources(folder: Path) -> Path:
    return shutil.copytree(notebook_io.ROOT, folder, ignore=shutil.ignore_patterns(*NOT_SOURCES))


def build(folder: Path) -> subprocess.CompletedProcess:
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", ".", "--config", "_config.yml"]
    command += ["--toc", "book/_toc.yml", "--path-output", ".", "-W", "-n", "--keep-going"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def pages() -> list[str]:
    toc = yaml.safe_load((notebook_io.ROOT / "book" / "_toc.yml").read_text(encoding="utf-8"))
    return [toc["root"]] + [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]


def contents(folder: Path) -> dict[Path, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and "_build" not in path.parts)
    return {path: path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A copy of the sources in which the book is built, and what the copy held before."""
    folder = copy_sources(tmp_path_factory.mktemp("book") / "course")
    for stray in ("stray.md", ".pytest_cache/README.md", ".venv/lib/README.md"):  # such as a reader's folder holds
        (folder / stray).parent.mkdir(parents=True, exist_ok=True)
        (folder / stray).write_text("# Not a page of the book\n")
    before = contents(folder)
    done = build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, before


@pytest.fixture
def html(built):
    return built[0] / "_build" / "html"


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


def test_building_leaves_the_sources_alone(built):
    folder, before = built
    assert contents(folder) == before


def test_launch_buttons_appear_with_the_address(html, tmp_path):
    """The course may be in either state; a published copy has a link that opens this chapter, at this edition."""
    chapter = f"{pages()[1]}.html"
    address = yaml.safe_load((notebook_io.ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]
    assert ("colab.research.google.com" in (html / chapter).read_text(encoding="utf-8")) == bool(address)
    folder = copy_sources(tmp_path / "course")
    publish.publish("https://github.com/some-owner/some-name", folder)
    done = build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    edition = publish.version(folder)
    link = f"https://colab.research.google.com/github/some-owner/some-name/blob/{edition}/{pages()[1]}.ipynb"
    assert link in (folder / "_build" / "html" / chapter).read_text(encoding="utf-8")


def test_a_warning_fails_the_build(tmp_path):
    folder = copy_sources(tmp_path / "course")
    with (folder / "book" / "index.md").open("a") as page:
        page.write("\n[A link to nothing](no_such_page.md)\n")
    done = build(folder)
    assert done.returncode != 0 and "no_such_page" in done.stderr
