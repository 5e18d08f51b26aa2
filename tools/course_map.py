"""What the front page has from book/chapters.yml: the map, and the list of the chapters that are written."""

from html import escape
from pathlib import Path

import notebook_io
import study_time
from course_list import CORE, core_path, parts, titles

PAGE = notebook_io.ROOT / "book" / "index.md"
MADE = {  # what is made, by the name of its markers on the page
    "the chapters that are written": lambda: written_chapters(),
    "the core path": lambda: path_in_words(),
    "the map": lambda: course_map(),
}


def _hours(minutes: float) -> str:
    """In half hours: "1 hour", "5½ hours"."""
    halves = max(1, round(minutes / 30))
    return f"{halves // 2 or ''}{'½' * (halves % 2)} hour{'s' * (halves > 2)}"


def _read(root: Path) -> dict[str, tuple[float, float]]:
    """Minutes to read a written chapter: its core sections, and all of it."""
    return {path.stem: study_time.reading(notebook_io.read(path)) for path in notebook_io.chapters(root)}


def entry(name: str, title: str, question: str, track: str = "", *, minutes: tuple[float, float] | None = None) -> str:
    """One chapter: a link with its time, or the same text with "to come"."""
    number, marked = name.split("_")[0], '<i class="track">core</i>' if track == CORE else ""
    text = f'<span class="number">{number}</span> <b>{escape(title)}</b> {marked}'.rstrip()
    text += f' <span class="question">{escape(question)}</span>'
    kind = ' class="core"' if marked else ""
    if minutes is None:
        return f'<li class="to-come{" core" if marked else ""}"><span>{text} <i>to come</i></span></li>'
    core, everything = map(study_time.in_fives, minutes)
    time = f'<span class="time">{core} min core · {everything} min all</span>'
    return f'<li{kind}><a href="../chapters/{name}.html">{text} {time}</a></li>'


def course_map(root: Path = notebook_io.ROOT) -> str:
    written = _read(root)
    lines = ['<nav class="course-map" aria-label="The chapters">']
    for part in parts():
        lines += [f"<section><h3>{escape(part['part'])}</h3><p>{escape(part['promise'])}</p><ol>"]
        lines += [entry(name, *texts, minutes=written.get(name)) for name, texts in part["chapters"].items()]
        lines += ["</ol></section>"]
    return "\n".join([*lines, "</nav>"])


def linked(name: str, root: Path = notebook_io.ROOT, words: str = "") -> str:
    """A chapter by these words, or by its number and title: a link, or that it is to come."""
    words = words or f"{name[:2]} {titles()[name]}"
    there = (root / "chapters" / f"{name}.ipynb").is_file()
    return f"[{words}](../chapters/{name}.ipynb)" if there else f"{words} (to come)"


def path_in_words(root: Path = notebook_io.ROOT) -> str:
    """The two tracks, with the time of those chapters that are written."""
    links = " · ".join(linked(name, root) for name in core_path())
    read = {name: time for name, time in _read(root).items() if name in core_path()}
    hours = _hours(sum(core for core, _ in read.values()))
    some = "what is written of it takes" if len(read) < len(core_path()) else "it takes"
    return (
        f"**The core path** is {links}. Of each chapter it takes the sections marked *core*; {some} about {hours} to "
        "read. All other chapters, and the sections marked *further*, are deep dives: each stands on the core path and "
        "on what its first lines name.\n\n"
        "**Before and after.** [A concept test](concept_test.md) of twenty-three questions has two forms: take one "
        "now, and the other when you have read."
    )


def written_chapters(root: Path = notebook_io.ROOT) -> str:
    """How many chapters there are today, of how many, each by its number, title and link; a sentence once all are."""
    links = [linked(path.stem, root) for path in notebook_io.chapters(root)]
    if len(links) == len(titles()):
        return f"**All {len(links)} chapters** are written; the map below leads to each."
    return f"**What there is today**: {len(links)} of {len(titles())} chapters, {', '.join(links)}."


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
