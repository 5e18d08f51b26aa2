"""The page of the ideas: which one answers which question, drawn and in words, from chapters.yml and ideas.yml."""

from html import escape
from pathlib import Path

import yaml

import notebook_io
from course_list import core_path, parts, titles

PAGE = notebook_io.ROOT / "book" / "ideas.md"
FILE = notebook_io.ROOT / "book" / "ideas.yml"
WIDTH, HEIGHT, ROW, LEFT, TOP = 250, 38, 56, (8, 332, 656), 44  # of a box, of a row, and where columns and rows begin
HEAD = """<!-- Made from chapters.yml and ideas.yml by `make reference`: change those. -->
# The ideas on one page

Each chapter asks a question and has one idea by which it answers it. An arrow leads from an idea to those that stand
on it; thick boxes are the core path. On a narrow screen the diagram scrolls sideways; below it
stands all of it in words.
"""


def ideas() -> dict[str, tuple[str, list[str]]]:
    """Name of a chapter → its idea, and the names of the chapters that it stands on.

    Raises ValueError unless they are the chapters of chapters.yml, each standing on earlier ones.
    """
    found, names = yaml.safe_load(FILE.read_text(encoding="utf-8")), {name[:2]: name for name in titles()}
    if [*found] != [*titles()]:
        raise ValueError(f"{FILE.name}: got {', '.join(found)}; allowed are the chapters of chapters.yml, in order.")
    stands = {name: " ".join(entry[1:]).split() for name, entry in found.items()}
    for name, numbers in stands.items():
        if any(number not in names or number >= name[:2] for number in numbers):
            raise ValueError(f"{FILE.name}: {name} stands on {numbers}; allowed are numbers of earlier chapters.")
    return {name: (entry[0], [names[number] for number in stands[name]]) for name, entry in found.items()}


def places() -> dict[str, tuple[int, int]]:
    """Name → the left upper corner of its box: a column for each part, one chapter below the other."""
    columns = [[*part["chapters"]] for part in parts()]
    return {name: (LEFT[c], TOP + ROW * r) for c, column in enumerate(columns) for r, name in enumerate(column)}


def arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    """The path from box to box: down in one column, or to the right; between the rows of a column that it crosses."""
    (x, y), (to_x, to_y) = start, end
    if x == to_x and to_y - y == ROW:
        return f"M{x + WIDTH / 2} {y + HEIGHT}V{to_y - 3}"
    middle, to_middle = y + HEIGHT / 2, to_y + HEIGHT / 2
    if x == to_x:
        side, out = x + WIDTH, x + WIDTH + 20 + (to_y - y) / 8
        return f"M{side} {middle}C{out} {middle} {out} {to_middle} {side + 4} {to_middle}"
    path, columns = f"M{x + WIDTH} {middle}", [left for left in LEFT if x < left < to_x]
    x += WIDTH
    for left in columns:
        row = round((max(middle, to_middle) - TOP) / ROW - 0.5)
        between = TOP + ROW * max(row, 0) - (ROW - HEIGHT) / 2
        path += f"C{x + 40} {middle} {left - 40} {between} {left} {between}H{left + WIDTH}"
        x, middle = left + WIDTH, between
    return path + f"C{x + 40} {middle} {to_x - 40} {to_middle} {to_x - 4} {to_middle}"


def box(name: str, title: str, place: tuple[int, int], core: bool, written: bool) -> str:
    """A chapter's number and title in a box; a link where it is written."""
    x, y = place
    kind = "idea" + " core" * core + " to-come" * (not written)
    text = f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>'
    text += f'<text x="{x + 12}" y="{y + HEIGHT / 2 + 5}"><tspan class="number">{name[:2]}</tspan> '
    text += f"{escape(title)}</text>"
    if not written:
        return f'<g class="{kind}">{text}</g>'
    return f'<a class="{kind}" href="../chapters/{name}.html">{text}</a>'


def diagram(root: Path = notebook_io.ROOT) -> str:
    """The diagram, as SVG in a box that scrolls."""
    at, written = places(), {path.stem for path in notebook_io.chapters(root)}
    height = max(y for _, y in at.values()) + HEIGHT + 8
    lines = [
        '<div class="idea-map scrolls" tabindex="0" role="group" aria-label="Diagram of the ideas">',
        f'<svg viewBox="0 0 {LEFT[-1] + WIDTH + 60} {height}">',
        '<defs><marker id="idea-tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>',
    ]
    for left, part in zip(LEFT, parts(), strict=True):
        lines.append(f'<text class="part" x="{left}" y="24">{escape(part["part"])}</text>')
    for name, (_, stands_on) in ideas().items():
        lines += [f'<path class="arrow" d="{arrow(at[other], at[name])}"/>' for other in stands_on]
    names, core = titles(), core_path()
    lines += [box(name, names[name], place, name in core, name in written) for name, place in at.items()]
    return "\n".join([*lines, "</svg>", "</div>"])


def in_words(root: Path = notebook_io.ROOT) -> str:
    """For each chapter its question, its idea where it is written, and what it stands on."""
    written, lines = {path.stem for path in notebook_io.chapters(root)}, []
    known = ideas()
    for part in parts():
        lines.append(f"## {part['part'].partition('. ')[2]}\n")
        for name, (title, question, *_) in part["chapters"].items():
            idea, stands_on = known[name]
            words = f"{name[:2]} {title}"
            link = f"[{words}](../chapters/{name}.ipynb)" if name in written else f"{words} (to come)"
            answer = f" {idea}" if name in written else ""
            numbers = ", ".join(other[:2] for other in stands_on)
            lines.append(f"- *{question}*{answer} {link}" + (f", on {numbers}." if numbers else "."))
        lines.append("")
    return "\n".join(lines).rstrip()


def page(root: Path = notebook_io.ROOT) -> str:
    return f"{HEAD}\n{diagram(root)}\n\n{in_words(root)}\n"
