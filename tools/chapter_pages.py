"""A Sphinx extension that gives chapters what a notebook leaves to the page: numbered figures, marks of sections, and
links from the first use of a word or a symbol to the glossary or the notation page."""

import re
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.util.nodes import _make_id  # keeps capitals, as the glossary's own anchors do

import notebook_io
import study_time

CHAPTER = re.compile(r"chapters/(\d\d)_\w+")
GLOSSARY, NOTATION = "book/glossary", "book/notation"
BOXES = {"prediction": "Predict before you read on.", "theorem": "Theorem", "warning": "Warning"}
OF_SECTION = {  # the chapters in which a section's symbols mean what it says; other sections hold everywhere
    "distances-pairs-and-triplets": ("14", "15", "16", "17", "18", "19", "20", "21"),
    "learnt-losses": ("20",),
    "other-codes-for-the-same-images": ("08",),
    "scores": ("04", "17"),
}
PICTURE = ("image/png", "image/svg+xml")


def _is_picture(figure) -> bool:
    """Whether a figure around a cell's output holds a picture or a view with a slider; tables are no figures."""
    if any(node.get("mime_type") in PICTURE for node in figure.findall(nodes.container)):
        return True
    views = (raw.astext() for raw in figure.findall(nodes.raw))
    return any(figure.findall(nodes.image)) or any('class="frames"' in view for view in views)


def number_figures(document, chapter: str) -> None:
    """Put "Figure 14.3" before each caption; what is no picture loses the figure around it."""
    count = 0
    for figure in list(document.findall(nodes.figure)):
        if not _is_picture(figure):
            figure.replace_self([child for child in figure.children if not isinstance(child, nodes.caption)])
            continue
        count += 1
        figure["ids"].append(f"figure-{chapter}-{count}")
        for caption in figure.findall(nodes.caption):
            caption.insert(0, nodes.strong("", f"Figure {chapter}.{count}. "))


def mark_sections(document, minutes: dict[str, tuple[str, float]]) -> None:
    """Make *Core.* and *Further.* below a heading a badge with the minutes that the section takes."""
    for section in document.findall(nodes.section):
        words, *_ = [child for child in section.children if isinstance(child, nodes.paragraph)][:1] or [None]
        mark = words.astext().strip(".") if words is not None else ""
        if mark not in ("Core", "Further"):
            continue
        title = _plain(section[0].astext())
        time = next((time for heading, (_, time) in minutes.items() if _plain(heading) == title), 0)
        words["classes"] += ["section-mark", mark.lower()]
        words.children = []
        words += nodes.emphasis("", mark)
        if time:
            words += nodes.Text(f" · {max(1, round(time))} min")


def _plain(text: str) -> str:
    return re.sub(r"\W", "", text)


@cache
def _terms() -> dict[str, str]:
    """Each word of the glossary, in lower case → the anchor of its entry."""
    text = (notebook_io.ROOT / f"{GLOSSARY}.md").read_text(encoding="utf-8")
    lines = re.search(r":::\{glossary\}\n(.*?)\n:::", text, re.DOTALL)[1].split("\n")
    terms = [term for line in lines if line[:1].strip() for term in [line.strip()]]
    return {word.strip().lower(): _make_id(f"term-{term}") for term in terms for word in term.split(", ")}


@cache
def _symbols(chapter: str) -> dict[str, str]:
    """Each symbol of the notation page that this chapter uses so → the id of its section there.

    Symbols that stand in several rows of the chapter's sections are left out: which one is meant, only the text says.
    """
    found, section = {}, ""
    for line in (notebook_io.ROOT / f"{NOTATION}.md").read_text(encoding="utf-8").split("\n"):
        section = nodes.make_id(line.removeprefix("## ")) if line.startswith("## ") else section
        if line.startswith("| $") and chapter in OF_SECTION.get(section, (chapter,)):
            for symbol in re.findall(r"\$([^$]+)\$", line.split(" | ")[0]):
                found[symbol] = None if symbol in found else section
    return {symbol: section for symbol, section in found.items() if section}


def _link(docname: str, place: str, content) -> nodes.reference:
    """A link from a chapter to a place in a page of book/."""
    node = nodes.reference("", "", internal=True, refuri=f"../{docname}.html#{place}", classes=["first-use"])
    if docname == NOTATION:  # a formula has no words of its own
        node["reftitle"] = "What this symbol means"
    node += content
    return node


def _prose(document):
    """The paragraphs in which words are linked: not the head's promise, quizzes, or what stands in links and titles."""
    for paragraph in list(document.findall(nodes.paragraph)):
        if "section-mark" not in paragraph["classes"] and isinstance(paragraph.parent, nodes.section):
            yield paragraph


def link_first_uses(document, chapter: str) -> int:
    """Link the first use of each word of the glossary and of each symbol that stands alone; how many were linked."""
    terms, symbols = dict(_terms()), dict(_symbols(chapter))
    for paragraph in _prose(document):
        for child in list(paragraph.children):
            if isinstance(child, nodes.math) and child.astext() in symbols:
                child.replace_self(_link(NOTATION, symbols.pop(child.astext()), child.deepcopy()))
            elif isinstance(child, nodes.Text | nodes.emphasis):
                _link_words(paragraph, child, terms)
    return len(_terms()) - len(terms) + len(_symbols(chapter)) - len(symbols)


def _link_words(paragraph, child, terms: dict[str, str]) -> None:
    """Link the first word of the glossary in a piece of text, and drop it from `terms`."""
    if not terms:
        return
    words = "|".join(re.escape(word) for word in sorted(terms, key=len, reverse=True))
    found = re.search(rf"(?<![\w-])({words})(?![\w-])", child.astext(), re.IGNORECASE)
    if not found:
        return
    place = terms[found[0].lower()]
    for word in [word for word, its_place in terms.items() if its_place == place]:
        del terms[word]
    if isinstance(child, nodes.emphasis):
        child.replace_self(_link(GLOSSARY, place, child.deepcopy()))
        return
    text = child.astext()
    before, after = nodes.Text(text[: found.start()]), nodes.Text(text[found.end() :])
    paragraph.replace(child, [before, _link(GLOSSARY, place, nodes.Text(found[0])), after])
    _link_words(paragraph, after, terms)


def offer_exercises(env, document) -> None:
    """Make the link to a notebook of exercises, which is no page of the book, a download."""
    for link in list(document.findall(addnodes.pending_xref)):
        if re.fullmatch(r"exercises/\w+", link["reftarget"]):
            file = f"{link['reftarget']}.ipynb"
            env.dependencies[env.docname].add(file)
            stored = env.dlfiles.add_file(env.docname, file)
            button = addnodes.download_reference("", "", reftarget=f"/{file}", filename=stored, classes=["exercises"])
            button += nodes.Text(f"↓ {link.astext()}")
            link.replace_self(button)


def name_boxes(document) -> None:
    """Give a quotation that begins with a bold name of a box that name as its class."""
    for quotation in document.findall(nodes.block_quote):
        for kind, words in BOXES.items():
            if quotation.astext().startswith(words):
                quotation["classes"].append(kind)


def improve(app, document) -> None:
    name = app.env.docname
    if not (chapter := CHAPTER.fullmatch(name)):
        return
    name_boxes(document)
    number_figures(document, chapter[1])
    path = Path(app.srcdir) / f"{name}.ipynb"
    mark_sections(document, study_time.minutes(notebook_io.read(path)))
    link_first_uses(document, chapter[1])
    offer_exercises(app.env, document)


def leave_numbers_out(app) -> None:
    """Sphinx would count figures through the whole book, and Jupyter Book turns that on."""
    app.config.numfig = app.env.config.numfig = False


def setup(app) -> dict:
    app.connect("builder-inited", leave_numbers_out, priority=999)
    app.connect("doctree-read", improve)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
