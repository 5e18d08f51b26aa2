"""The map on the front page, made from book/chapters.yml: every chapter of the course, linked where it is written."""

from html import escape
from pathlib import Path

import yaml

import notebook_io

CHAPTERS = notebook_io.ROOT / "book" / "chapters.yml"
PAGE = notebook_io.ROOT / "book" / "index.md"
BEGIN, END = "<!-- the map: made from chapters.yml by `make reference` -->", "<!-- end of the map -->"


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


def page() -> str:
    """The front page with its map renewed; raises ValueError when a marker is missing."""
    text = PAGE.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ValueError(f"{PAGE.name}: got no single pair of the markers {BEGIN!r} and {END!r}.")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    return f"{before}{BEGIN}\n{course_map()}\n{END}{after}"
