"""What the book's pages need of a chapter beside its parts: a numbered title, sections that are core or further, folded
cells, captions, predictions that can be committed, and right letters that are spread. As in `notebook_rules`, each
function returns one sentence for each fault."""

import ast
import re
from collections import Counter

from IPython.core.inputtransformer2 import TransformerManager

import notebook_io
import notebook_rules
import publish

WITHOUT_MARK = ("Summary", "Quiz", "Exercises", "References")
SECTION = re.compile(r"^## (.+)\n*(.*)$", re.MULTILINE)
MARK = re.compile(r"\*(Core|Further)\.\*")
HIDE, SHOW = "hide-input", "show-input"
OPEN_LINES = 3  # of a picture's code that need not be folded
PREDICTION = re.compile(r"^> \*\*Predict before you read on\.\*\* .*(?:\n>.*)*", re.MULTILINE)
OPTION = re.compile(r"^> - \(([a-e])\) \S", re.MULTILINE)
ANSWER = re.compile(
    r"^> <details><summary>Answer</summary>\n>\n> \*\*\(([a-e])\)\*\* \S.*\n(?:>.*\n)*> </details>$", re.MULTILINE
)
FEWEST, MOST = 3, 5  # options
LINK = re.compile(r"\[([^\[\]]*)\]\(((?:\.\./)?\w*/?(?:(\d\d)_\w+\.ipynb|index\.md))[^)]*\)")
FRONT = ("the map", "the front page")


def text_of(notebook) -> str:
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def sections(notebook) -> list[tuple[str, str]]:
    """(heading, the line below it) of each section, in order; what looks like a heading within code is none."""
    return SECTION.findall(notebook_rules.FENCED.sub("", text_of(notebook)))


def shows_picture(cell) -> bool:
    """Whether a code cell has stored a picture, or a view of `course_lib.viz` that a slider moves."""
    data = [output.get("data", {}) for output in cell.get("outputs", [])]
    return any("image/png" in each or 'class="frames"' in each.get("text/html", "") for each in data)


def is_imports(cell) -> bool:
    """Whether a cell imports and, beyond that, does no more than three things, such as choosing a style."""
    body = ast.parse(TransformerManager().transform_cell(cell.source)).body
    imports = sum(isinstance(node, ast.Import | ast.ImportFrom) for node in body)
    return imports > 0 and len(body) - imports <= 3


def title_faults(notebook, number: str) -> list[str]:
    """A title without the chapter's number."""
    title = notebook.cells[0].source.split("\n")[0]
    return [] if title.startswith(f"# {number} · ") else [f"the title is {title!r}; it begins “# {number} · ”"]


def section_faults(notebook) -> list[str]:
    """Sections that say neither *Core.* nor *Further.* on the line below their heading; at least one is core."""
    marked = [(heading, MARK.fullmatch(line)) for heading, line in sections(notebook) if heading not in WITHOUT_MARK]
    found = [f"“## {heading}” says neither *Core.* nor *Further.* below it" for heading, mark in marked if not mark]
    if not any(mark and mark[1] == "Core" for _, mark in marked):
        found.append("no section is core")
    return found


def fold_faults(notebook) -> list[str]:
    """Set-up, imports and long code of pictures that a reader would have to scroll past."""
    found = []
    for cell in notebook_io.code_cells(notebook):
        tags, place = cell.metadata.get("tags", []), notebook_rules.place_of(notebook, cell)
        long_picture = shows_picture(cell) and sum(map(bool, map(str.strip, cell.source.split("\n")))) > OPEN_LINES
        if (cell is publish.setup_cell(notebook) or is_imports(cell)) and HIDE not in tags:
            found.append(f"{place}: set-up or imports without the tag {HIDE!r}")
        elif long_picture and not {HIDE, SHOW} & {*tags}:
            found.append(f"{place}: more than {OPEN_LINES} lines for a picture and neither {HIDE!r} nor {SHOW!r}")
        if cell.metadata.get("jupyter", {}).get("source_hidden"):
            found.append(f"{place}: source_hidden folds the cell in Jupyter too; the tag does it in the page")
    return found


def caption_faults(notebook) -> list[str]:
    """Pictures without a caption in mystnb.figure.caption, captions that are no sentence or count by themselves."""
    found = []
    for cell in notebook_io.code_cells(notebook):
        caption, place = caption_of(cell), notebook_rules.place_of(notebook, cell)
        if shows_picture(cell) and not re.fullmatch(r"\S[^\n]+\.", caption):
            found.append(f"{place}: a picture without a caption, one sentence in the metadata mystnb.figure.caption")
        if re.match(r"fig(ure|\.)", caption, re.IGNORECASE):
            found.append(f"{place}: the caption {caption!r} counts; the page does that")
    return found


def caption_of(cell) -> str:
    return (cell.metadata.get("mystnb", {}).get("figure") or {}).get("caption", "")


def predictions(notebook) -> list[tuple[str, str, str]]:
    """(the text, the letters of its options, the right one or "") of each prediction."""
    found = []
    for block in PREDICTION.findall(text_of(notebook)):
        answer = ANSWER.search(block)
        found.append((block, "".join(OPTION.findall(block)), answer[1] if answer else ""))
    return found


def prediction_faults(notebook) -> list[str]:
    """Predictions that cannot be committed: options, one to a line, and an answer that begins with its letter."""
    found = []
    for place, (_, letters, right) in enumerate(predictions(notebook), 1):
        if not FEWEST <= len(letters) <= MOST or not "abcde".startswith(letters):
            asked = f"allowed are {FEWEST} to {MOST}, “> - (a) …”"
            found.append(f"prediction {place}: the options are {letters!r}; {asked}")
        if not right or right not in letters:
            found.append(f"prediction {place}: no answer “> <details><summary>Answer</summary>”, “> **(b)** …”")
    return found


def right_letters(notebook) -> str:
    """The right letter of each prediction and of each question of the quiz."""
    options = notebook_rules.OPTION.findall(text_of(notebook))
    return "".join([right for *_, right in predictions(notebook)] + [a for a, why in options if why.startswith("Yes")])


def letter_faults(notebook) -> list[str]:
    """A letter that is right in more than half of a chapter's questions and predictions: one could guess."""
    letters = right_letters(notebook)
    return [
        f"({letter}) is right {count} times of {len(letters)}; reorder the options"
        for letter, count in Counter(letters).items()
        if count > (len(letters) + 1) // 2
    ]


def link_faults(notebook) -> list[str]:
    """Links to a chapter without its number, and links to the front page under another name."""
    found = []
    for words, target, number in LINK.findall(text_of(notebook)):
        if number and "exercises/" not in target and number not in words:
            found.append(f"[{words}]({target}) does not name chapter {number}")
        elif not number and words not in FRONT:
            found.append(f"[{words}]({target}) leads to the front page; say one of {', '.join(FRONT)}")
    return found


def exercise_faults(notebook, name: str) -> list[str]:
    """A chapter whose section of exercises does not lead to its notebook, which the page offers as a download."""
    part = re.search(r"^## Exercises$(.*?)(?=^## |\Z)", text_of(notebook), re.MULTILINE | re.DOTALL)
    there = part and f"[the exercise notebook](../exercises/{name}.ipynb)" in part[1]
    return [] if there else [f"“## Exercises” has no [the exercise notebook](../exercises/{name}.ipynb)"]


RULES = (section_faults, fold_faults, caption_faults, prediction_faults, letter_faults, link_faults)


def faults(notebook, name: str) -> list[str]:
    """All of a chapter called `name`, such as 02_vae."""
    found = [fault for rule in RULES for fault in rule(notebook)]
    return [*title_faults(notebook, name[:2]), *found, *exercise_faults(notebook, name)]
