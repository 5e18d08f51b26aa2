"""What is asked of every stored notebook, and of every chapter. Each function returns one sentence for each fault; an
empty list is a pass."""

import ast
import hashlib
import json
import pkgutil
import re
import statistics
import sys

from IPython.core.inputtransformer2 import TransformerManager

import notebook_io
import publish

MEDIAN_LINES, MOST_LINES, LONGEST_LINES = 8, 20, 30  # of code cells: median, 90th percentile, maximum
ABSOLUTE_PATH = re.compile(
    r"(?<![\w.:/<-])/(?:home|root|tmp|usr|opt|var|etc|mnt|srv|private|Users|Volumes|content|kaggle|work\w*)/"
    r"|\b[A-Za-z]:\\\w|\bfile:///"
)
PROGRESS = re.compile(r"\r|\d%\|| ?it/s\b|\bs/it\b")
MEMORY_ADDRESS = re.compile(r"\bat 0x[0-9a-f]{6,}")
SIGNED = "executed_source"  # of a cell's metadata
COMPARED = "nbval-check-output"  # the tag of cells whose output must come out again when the notebook is run
WIDGET = "application/vnd.jupyter.widget-view+json"
ENCODED = re.compile(r"data:image/\w+;base64,[\w+/=]*")
PATH_LIKE = re.compile(r"^\S*$|\.(?:png|jpe?g|svg|gif)\b|(?:^|\s)\.{0,2}/\w")

# What a chapter has, beside its title, and how one recognises it.
PARTS = {
    "the objectives, “**After this chapter you can**” and a list": r"^\*\*After this chapter you can\*\*\n+1\. ",
    "the prerequisites, “**You need** …”": r"^\*\*You need\*\* \S",
    "a prediction, “> **Predict before you read on.** …”": r"^> \*\*Predict before you read on\.\*\* \w",
    "the heading “## Summary”": r"^## Summary$",
    "the heading “## Quiz”": r"^## Quiz$",
    "the heading “## References”": r"^## References$",
}
FEWEST, MOST, FEWEST_WORDS = 3, 5, 5  # objectives, questions and options of a question; words of a feedback
QUESTION = re.compile(r"^\*\*(\d+)\.\*\*", re.MULTILINE)
OPTION = re.compile(r"^<details><summary>\((\w)\) .+?</summary>\n\n(.*?)\n</details>$", re.MULTILINE | re.DOTALL)
SCALED = re.compile(r'card\("([^"]+)", scale="(small|full)"\)')  # in a cell that shows a card of one scale
CLAIM = re.compile(r"<code>([a-z]+/[a-z0-9.-]+)</code></p>\n</div>$")  # at the foot of a claim's card
LIST = re.compile(r'<div class="claim-list" data-chapter="(\w+)">')
FENCED = re.compile(r"^(`{3,}|~{3,})[^{\n]*\n.*?^\1", re.MULTILINE | re.DOTALL)
MYST = re.compile(
    r"(?<![`\w\\])\{[a-z][\w:.+-]*\}`|^ *(?:`{3,}|~{3,}|:{3,}) *\{[\w:.+-]+\}|^\([\w:.-]+\)=$", re.MULTILINE
)


def place_of(notebook, cell) -> str:
    """How a fault names a cell: its place among all cells, counted from 1, and its id."""
    place = next(place for place, other in enumerate(notebook.cells, 1) if other is cell)
    return f"cell {place} ({cell.get('id', 'no id')})"


def _texts(output) -> list[str]:
    """What a reader can read in an output; encoded pictures are left out."""
    if output.output_type == "stream":
        return [output.text]
    if output.output_type == "error":
        return ["\n".join(output.traceback)]
    shown = (value for mime, value in output.data.items() if mime == "image/svg+xml" or not mime.startswith("image/"))
    return [ENCODED.sub("", value if isinstance(value, str) else json.dumps(value)) for value in shown]


def output_faults(notebook) -> list[str]:
    """Outputs that do not belong in a book: errors, warnings, one computer's paths, progress bars, memory addresses,
    widgets."""
    here = (str(notebook_io.ROOT), sys.prefix)
    found = []
    for cell in notebook_io.code_cells(notebook):
        for output in cell.outputs:
            place = place_of(notebook, cell)
            if output.output_type == "error":
                found.append(f"{place}: the output is an error, {output.ename}: {output.evalue}")
            if output.get("name") == "stderr":
                found.append(f"{place}: output on stderr: {output.text.strip()[:200]}")
            if WIDGET in output.get("data", {}):  # beside text/html, `make chapters` has dropped it
                found.append(f"{place}: a widget, which shows nothing where no kernel runs; show text/html beside it")
            for text in _texts(output):
                if ABSOLUTE_PATH.search(text) or any(path in text for path in here):
                    found.append(f"{place}: an absolute path in the output")
                if PROGRESS.search(text):
                    found.append(f"{place}: a progress bar in the output")
                if MEMORY_ADDRESS.search(text):
                    found.append(f"{place}: a memory address in the output; end the cell's last line with a semicolon")
    return found


def stored_faults(notebook) -> list[str]:
    """A notebook that was not executed as it stands, top to bottom in one fresh kernel, or that stores no output."""
    cells = [cell for cell in notebook_io.code_cells(notebook) if cell.source.strip()]
    found = []
    if not any(cell.outputs for cell in cells):
        found.append("no outputs are stored")
    if [cell.execution_count for cell in cells] != list(range(1, len(cells) + 1)):
        found.append("the execution counts are not 1, 2, 3, … in order")
    changed = [cell for cell in signed_cells(notebook) if cell.metadata.get(SIGNED) != hash_of(cell.source)]
    return found + [f"{place_of(notebook, cell)}: its outputs are not of this source" for cell in changed]


def hash_of(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def signed_cells(notebook) -> list:
    """The code cells that carry a hash of what was executed: all but the set-up, which `publish` rewrites."""
    setup = publish.setup_cell(notebook)
    return [cell for cell in notebook_io.code_cells(notebook) if cell is not setup]


def sign(notebook) -> None:
    """Note in each code cell of which source its outputs are: called when they have just been made."""
    for cell in signed_cells(notebook):
        cell.metadata[SIGNED] = hash_of(cell.source)


def alt_faults(notebook) -> list[str]:
    """Pictures without words: MyST-NB takes them from the cell's metadata, and the file's path where there are none."""
    found = []
    for cell in notebook_io.code_cells(notebook):
        mimes = {mime for output in cell.outputs for mime in output.get("data", {})}
        if not any(mime.startswith("image/") for mime in mimes):
            continue
        alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
        if not isinstance(alt, str) or not alt.strip():
            found.append(f"{place_of(notebook, cell)}: a picture without alt text in the metadata mystnb.image.alt")
        elif PATH_LIKE.search(alt.strip()):
            found.append(f"{place_of(notebook, cell)}: the alt text {alt!r} does not describe the picture")
    return found


def length_faults(notebook) -> list[str]:
    """Code cells longer than a reader takes in at a glance; blank lines do not count."""
    lines = {}
    for cell in notebook_io.code_cells(notebook):
        lines[place_of(notebook, cell)] = sum(bool(line.strip()) for line in cell.source.splitlines())
    if len(lines) < 2:
        return []
    found = [f"{place}: {n} lines, more than {LONGEST_LINES}" for place, n in lines.items() if n > LONGEST_LINES]
    median, most = statistics.median(lines.values()), statistics.quantiles(lines.values(), n=10, method="inclusive")[-1]
    if median > MEDIAN_LINES:
        found.append(f"the median code cell has {median:g} lines, more than {MEDIAN_LINES}")
    if most > MOST_LINES:
        found.append(f"the 90th percentile of the code cells is {most:g} lines, more than {MOST_LINES}")
    return found


def setup_faults(notebook) -> list[str]:
    """A notebook that does not begin with its title and, as the first code, the set-up cell."""
    found = []
    if notebook.cells[0].cell_type != "markdown" or not notebook.cells[0].source.startswith("# "):
        found.append("the first cell is not the title")
    if publish.setup_cell(notebook) is None:
        found.append(f"the first code cell is not tagged {publish.SETUP_TAG!r}")
    return found


def _imports(tree: ast.AST) -> dict[str, str]:
    """Local name -> dotted name, for everything that the code imports from the course's packages."""
    bound = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in notebook_io.PACKAGES:
            bound |= {name.asname or name.name: f"{node.module}.{name.name}" for name in node.names if name.name != "*"}
        elif isinstance(node, ast.Import):
            for name in node.names:
                package = name.name.split(".")[0]
                if package in notebook_io.PACKAGES:
                    bound[name.asname or name.name] = name.name
                    if not name.asname:
                        bound[package] = package
    return bound


def _attributes(tree: ast.AST, bound: dict[str, str]) -> set[str]:
    """The dotted names of the chains of attributes, each in full, that start at an imported name."""
    found, inner = set(), set()
    for node in ast.walk(tree):  # from the outside in
        if isinstance(node, ast.Attribute):
            inner.add(node.value)
        if node in inner:
            continue
        chain = []
        while isinstance(node, ast.Attribute):
            chain.insert(0, node.attr)
            node = node.value
        if chain and isinstance(node, ast.Name) and node.id in bound:
            found.add(".".join([bound[node.id], *chain]))
    return found


def _rebound(tree: ast.AST) -> set[str]:
    """Names that the notebook itself defines: they no longer mean what was imported."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, kinds)} | {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def name_faults(notebook) -> list[str]:
    """Names of the library, in code or in the text, that do not exist."""
    transform = TransformerManager().transform_cell  # turns magics such as %pip into Python
    trees = {place_of(notebook, cell): ast.parse(transform(cell.source)) for cell in notebook_io.code_cells(notebook)}
    rebound = set().union(*map(_rebound, trees.values()))
    mentioned = rf"\b(?:{'|'.join(notebook_io.PACKAGES)})(?:\.[A-Za-z_]\w*)+"
    used, bound = {}, {}
    for place, tree in trees.items():
        imported = _imports(tree)
        bound |= imported
        known = {name: dotted for name, dotted in bound.items() if name not in rebound}
        used |= dict.fromkeys([*imported.values(), *_attributes(tree, known)], place)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            used |= dict.fromkeys(re.findall(mentioned, cell.source), place_of(notebook, cell))
    found = []
    for dotted, place in used.items():
        try:
            pkgutil.resolve_name(dotted)
        except (ImportError, AttributeError):
            found.append(f"{place}: {dotted} does not exist")
    return found


def myst_faults(notebook) -> list[str]:
    """Roles, directives and targets of MyST: the book understands them, Colab and Jupyter show them as text."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            signs = MYST.findall(FENCED.sub("", cell.source))
            found += [f"{place_of(notebook, cell)}: {sign.strip()} is MyST; Colab shows it as text" for sign in signs]
    return found


def cards(notebook):
    """The cards of claims, and the lists of a chapter's, that are shown: cell, output, and the card as it is by now."""
    from course_replication import card, claims_of  # here, since most notebooks show none

    for cell in notebook_io.code_cells(notebook):
        for output in cell.outputs:
            shown = output.get("data", {}).get("text/html", "")
            if shown.startswith('<div class="claim-card">'):
                (claim,) = CLAIM.findall(shown)
                yield cell, output, card(claim, scale=dict(SCALED.findall(cell.source)).get(claim))
            elif found := LIST.match(shown):
                yield cell, output, claims_of(found[1])


def _named(card) -> str:
    if hasattr(card, "chapter"):
        return f"the list of {card.chapter}'s claims"
    return f"the card of {card.verdict.claim.id}"


def card_faults(notebook) -> list[str]:
    """Cards of claims that no longer say what the stored results say: a verdict is computed, never kept."""
    return [
        f"{place_of(notebook, cell)}: {_named(card)} is out of date; run `make cards`"
        for cell, output, card in cards(notebook)
        if output.data["text/html"] != card._repr_html_()
    ]


def result_faults(notebook) -> list[str]:
    """Cells that show stored results, and that no run of the notebook holds against what they have stored: new results
    would leave the old numbers on the page."""
    shown = [cell for cell in notebook_io.code_cells(notebook) if "Store(" in cell.source and cell.outputs]
    unmarked = [cell for cell in shown if COMPARED not in cell.metadata.get("tags", [])]
    return [f"{place_of(notebook, cell)}: it shows stored results; tag it {COMPARED!r}" for cell in unmarked]


def _text(notebook) -> str:
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def part_faults(notebook) -> list[str]:
    """A chapter without one of its parts, or with too few or too many objectives."""
    text = _text(notebook)
    found = [f"missing: {part}" for part, sign in PARTS.items() if not re.search(sign, text, re.MULTILINE)]
    objectives = re.search(r"^\*\*After this chapter you can\*\*\n+((?:\d+\. .*(?:\n|$))+)", text, re.MULTILINE)
    count = objectives[1].strip().count("\n") + 1 if objectives else FEWEST
    if not FEWEST <= count <= MOST:
        found.append(f"{count} objectives; allowed are {FEWEST} to {MOST}")
    return found


def quiz_faults(notebook) -> list[str]:
    """A quiz with too few or too many questions, and questions whose options do not each teach something."""
    quiz = re.search(r"^## Quiz$(.*?)(?=^## |\Z)", _text(notebook), re.MULTILINE | re.DOTALL)
    _, *parts = QUESTION.split(quiz[1] if quiz else "")
    numbers, questions = parts[::2], parts[1::2]
    found = []
    if not FEWEST <= len(questions) <= MOST:
        found.append(f"quiz: {len(questions)} questions; allowed are {FEWEST} to {MOST}")
    if numbers != [str(number) for number in range(1, len(numbers) + 1)]:
        found.append(f"quiz: the questions are numbered {', '.join(numbers)}")
    for number, question in zip(numbers, questions, strict=True):
        found += [f"quiz, question {number}: {fault}" for fault in _question_faults(question)]
    return found


def _question_faults(question: str) -> list[str]:
    """The faults of one question: its text and its options."""
    options, found = OPTION.findall(question), []
    letters = "".join(letter for letter, _ in options)
    if not question.partition("<details")[0].strip():
        found.append("it asks nothing")
    if question.count("<details") != len(options):
        found.append("an option is not “<details><summary>(a) …</summary>”, a blank line, its feedback, “</details>”")
    if not FEWEST <= len(options) <= MOST:
        found.append(f"{len(options)} options; allowed are {FEWEST} to {MOST}")
    if not "abcde".startswith(letters):
        found.append(f"the options are lettered {', '.join(letters)}")
    for letter, feedback in options:
        if len(feedback.split()) < FEWEST_WORDS:
            found.append(f"the feedback of ({letter}) has fewer than {FEWEST_WORDS} words")
    right = sum(bool(re.match(r"Yes\b", feedback)) for _, feedback in options)
    if right != 1:
        found.append(f"{right} options have a feedback that begins with “Yes”; one has")
    return found


RULES = (
    setup_faults, stored_faults, output_faults, card_faults, result_faults, alt_faults, length_faults, name_faults,
    myst_faults,
)  # fmt: skip
OF_CHAPTERS = (part_faults, quiz_faults)  # of the notebooks in chapters/; pages of book/ may be built otherwise
