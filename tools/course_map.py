"""What the front page has from book/chapters.yml: the map, and the list of the chapters that are written."""

from html import escape
from pathlib import Path

import yaml

import notebook_io

CHAPTERS = notebook_io.ROOT / "book" / "chapters.yml"
PAGE = notebook_io.ROOT / "book" / "index.md"
MADE = {  # what is made, by the name of its markers on the page
    "the chapters that are written": lambda: written_chapters(),
    "the map": lambda: course_map(),
}


def parts(path: Path = CHAPTERS) -> list[dict]:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def entry(name: str, title: str, question: str, written: bool) -> str:
    """One chapter: a link, or the same text with "to come"."""
    number = name.split("_")[0]
    text = (
        f'<span class="number">{number}</span> <b>{escape(title)}</b> <span class="question">{escape(question)}</span>'
    )
    if written:
        return f'<li><a href="../chapters/{name}.html">{text}</a></li>'
    return f'<li class="to-come"><span>{text} <i>to come</i></span></li>'


def course_map(root: Path = notebook_io.ROOT) -> str:
    written = {path.stem for path in notebook_io.chapters(root)}
    lines = ['<nav class="course-map" aria-label="The chapters">']
    for part in parts():
        lines += [f"<section><h3>{escape(part['part'])}</h3><p>{escape(part['promise'])}</p><ol>"]
        lines += [entry(name, *texts, name in written) for name, texts in part["chapters"].items()]
        lines += ["</ol></section>"]
    return "\n".join([*lines, "</nav>"])


def written_chapters(root: Path = notebook_io.ROOT) -> str:
    """How many chapters there are today, of how many, each by its number, title and link."""
    titles = {name: title for part in parts() for name, (title, _) in part["chapters"].items()}
    links = [f"[{path.stem[:2]} {titles[path.stem]}](../chapters/{path.name})" for path in notebook_io.chapters(root)]
    return f"**What there is today**: {len(links)} of {len(titles)} chapters, {', '.join(links)}."


def page() -> str:
    """The front page with what is made on it renewed; raises ValueError when a marker is missing."""
    text = PAGE.read_text(encoding="utf-8")
    for name, made in MADE.items():
        begin, end = f"<!-- {name}: made from chapters.yml by `make reference` -->", f"<!-- end of {name} -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            raise ValueError(f"{PAGE.name}: got no single pair of the markers {begin!r} and {end!r}.")
        before, after = text.split(begin)[0], text.split(end)[1]
        text = f"{before}{begin}\n{made()}\n{end}{after}"
    return text
