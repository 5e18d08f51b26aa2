"""The bibliography page, made from book/references.bib: chapters link to an entry as `[Weyl, 1952](#weyl1952)`.

Chapters name their sources in plain words, since Colab shows no citation roles; this page holds the full entries.
"""

import re
from pathlib import Path

from pybtex.database import Entry, parse_file

import notebook_io
from course_replication.words import listed

SOURCE = notebook_io.ROOT / "book" / "references.bib"
PAGE = notebook_io.ROOT / "book" / "bibliography.md"
HEAD = """<!-- Made from references.bib by `make reference`: change that. -->
# Bibliography

The five papers that the course replicates come first, then everything else that a page cites.
"""
KEYS = re.compile(r"\]\(#([a-z]+\d{4}\w*)\)")  # a surname and a year, unlike headings


def entries(path: Path = SOURCE) -> dict[str, Entry]:
    """Key → entry, by first author and year within the order of the page."""
    found = parse_file(str(path)).entries
    return dict(sorted(found.items(), key=lambda item: (_names(item[1])[0], item[1].fields["year"])))


def _names(entry: Entry) -> list[str]:
    return [" ".join(person.prelast_names + person.last_names) for person in entry.persons["author"]]


def _plain(text: str) -> str:
    return text.replace("{", "").replace("}", "").replace("--", "–")


def line(key: str, entry: Entry) -> str:
    """One entry as MyST: a target, the authors, the title, where it appeared, and its address."""
    initials = [
        " ".join(f"{name[0]}." for name in person.first_names + person.middle_names)
        for person in entry.persons["author"]
    ]
    people = [f"{first} {last}".strip() for first, last in zip(initials, _names(entry), strict=True)]
    where = _plain(entry.fields.get("booktitle") or entry.fields.get("journal") or entry.fields["publisher"])
    title, year = _plain(entry.fields["title"]), entry.fields["year"]
    address = (
        f" [{entry.fields['url'].removeprefix('https://')}]({entry.fields['url']})" if "url" in entry.fields else ""
    )
    return f"({key})=\n{_plain(listed(people))} ({year}). *{title}*. {where}.{address}"


def page() -> str:
    found = entries()
    replicated = {key: entry for key, entry in found.items() if "replicated" in entry.fields.get("keywords", "")}
    others = {key: entry for key, entry in found.items() if key not in replicated}
    parts = [HEAD.strip(), "## Replicated here", *(line(*item) for item in replicated.items())]
    return "\n\n".join([*parts, "## Cited", *(line(*item) for item in others.items())]) + "\n"


def cited(root: Path = notebook_io.ROOT) -> dict[str, set[str]]:
    """Page → the keys that it links to."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted((root / "book").glob("*.md"))}
    for path in notebook_io.notebooks(root):
        cells = notebook_io.read(path).cells
        texts[path] = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return {path.relative_to(root).as_posix(): set(KEYS.findall(text)) for path, text in texts.items()}
