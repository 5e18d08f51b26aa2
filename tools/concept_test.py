"""The concept test, as readers take it and as instructors read it, from book/concept_test.yml: `make reference`.

With JavaScript one form at a time is answered, and nothing is shown before (book/static/concept_test.js); without it,
the page is a list of questions with closed answers.
"""

import re
import sys
from collections.abc import Iterable
from functools import cache
from html import escape
from pathlib import Path
from typing import NamedTuple

import yaml
from docutils.nodes import make_id

import notebook_io
import study_time
from course_list import titles

FILE = notebook_io.ROOT / "book" / "concept_test.yml"
PAGE = notebook_io.ROOT / "book" / "concept_test.md"
INSTRUCTORS = notebook_io.ROOT / "book" / "concept_test_instructors.md"
FORMS, LETTERS = "AB", "abcd"
DIFFICULTIES = {1: "easy", 2: "medium", 3: "hard"}
KEYS = {"objective", "read", "difficulty", *FORMS}
MADE = "<!-- Made from concept_test.yml by `make reference`: change that. -->"
HEAD = """# Concept test

Twenty-three questions about ideas, not words: a number to predict, a code to judge, an experiment to referee. Take
form A before you read, and form B after: question *k* of both asks for the same thing by another case, so that you
see what the reading has changed. Guessing gets a quarter of them. Many words of form A will be new:
answer where an idea is enough, and leave the rest open. By the course's own count, two minutes a question, a form takes
{minutes} minutes; paper and a pocket calculator are allowed.

Your answers stay in this browser until you erase them. Without JavaScript nothing is counted: answer on paper first,
then open the answers.
"""
WHEN = {"A": "before the course", "B": "after it"}
RESULT = """## By objective, and where to read again

What each question asks for, in either form, and where the course shows it.
"""
SCRIPT = '<script defer src="../concept_test.js"></script>'
STYLE = '<link rel="stylesheet" href="../concept_test.css">'


class Item(NamedTuple):
    """A question: its stem, letter → text, the right letter, and letter → what choosing it shows."""

    stem: str
    options: dict[str, str]
    right: str
    shows: dict[str, str]


class Objective(NamedTuple):
    """What one question of either form asks for, where it is shown ((chapter, section or "") …), and how hard it is."""

    name: str
    read: list[tuple[str, str]]
    difficulty: int
    items: dict[str, Item]


def objectives(path: Path = FILE) -> list[Objective]:
    """All of them, in order. Raises ValueError, naming the question, where one is not complete."""
    found = [_objective(number, entry) for number, entry in enumerate(yaml.safe_load(path.read_text("utf-8")), 1)]
    names = [each.name for each in found]
    if len({*names}) < len(names):
        raise ValueError(f"objective: got the same twice in {names}; allowed is each once.")
    return found


@cache
def minutes() -> int:
    """For a form, by the rule that counts a chapter's quiz."""
    return round(study_time.QUESTION * len(objectives()))


def _objective(number: int, entry: dict) -> Objective:
    if {*entry} != KEYS or entry["difficulty"] not in DIFFICULTIES or not entry["read"]:
        raise ValueError(f"question {number}: got {entry}; allowed are {sorted(KEYS)}, difficulty {[*DIFFICULTIES]}.")
    for name, *section in entry["read"]:
        if name not in titles() or len(section) > 1:
            raise ValueError(f"question {number}: read: got {name!r}; allowed is a chapter of chapters.yml, a section.")
    read = [(name, "".join(section)) for name, *section in entry["read"]]
    items = {form: _item(f"{form}{number}", entry[form]) for form in FORMS}
    return Objective(entry["objective"], read, entry["difficulty"], items)


def _item(name: str, entry: dict) -> Item:
    options = entry.get("options", {})
    if "".join(options) != LETTERS or entry.get("right") not in options or any(len(o) != 2 for o in options.values()):
        raise ValueError(f"{name}: got {entry}; allowed are options a to d, [text, what it shows], and the right one.")
    texts, shows = ({letter: _typed(each[place]) for letter, each in options.items()} for place in (0, 1))
    return Item(_typed(entry["stem"]), texts, entry["right"], shows)


def _typed(text: str) -> str:
    """With the apostrophe that the book's other pages have."""
    return text.replace("'", "’")


def links(objective: Objective, root: Path = notebook_io.ROOT) -> list[str]:
    """Where an objective is shown, as links in HTML; a chapter that is not written is named, "(to come)"."""
    found = []
    for name, section in objective.read:
        if (root / "chapters" / f"{name}.ipynb").is_file():
            place = f"#{make_id(section)}" if section else ""
            found.append(f'<a href="../chapters/{name}.html{place}">{name[:2]} · {section or titles()[name]}</a>')
        else:
            found.append(f"{name[:2]} · {titles()[name]} (to come)")
    return found


def fieldset(name: str, item: Item) -> str:
    """One question as HTML: native radio buttons, and its answer, closed."""
    lines = [f'<fieldset id="{name}" data-right="{item.right}">', f"<legend><b>{name}</b> {escape(item.stem)}</legend>"]
    for letter, text in item.options.items():
        button = f'<input type="radio" name="{name}" value="{letter}">'
        lines.append(f'<label data-letter="{letter}">{button} <span>({letter}) {escape(text)}</span></label>')
    lines.append(f"<details><summary>Answer to {name}</summary>")
    lines.append(f"<p><b>({item.right})</b> {escape(item.shows[item.right])}</p><ul>")
    wrong = (letter for letter in item.options if letter != item.right)
    lines += [f"<li>({letter}) {escape(item.shows[letter])}</li>" for letter in wrong]
    return "\n".join([*lines, "</ul></details>", "</fieldset>"])


def form_of(form: str, known: Iterable[Objective]) -> str:
    """A form as HTML, without an empty line, where Markdown would end it."""
    sets = [fieldset(f"{form}{number}", each.items[form]) for number, each in enumerate(known, 1)]
    buttons = '<div class="concept-buttons" hidden><button type="submit">Show my result</button> '
    buttons += '<button type="button" class="give-up">Leave the rest open and show it</button></div>'
    said = '<p class="said" role="status"></p>'
    return "\n".join([f'<form class="concept-form" data-form="{form}">', *sets, buttons, said, "</form>"])


def result_table(known: Iterable[Objective], root: Path = notebook_io.ROOT) -> str:
    """Number, objective and links of each question; the script adds what was answered."""
    lines = ['<div class="text_html"><table class="concept-result"><thead><tr><th scope="col">No.</th>']
    lines += ['<th scope="col">asks for</th></tr></thead><tbody>']
    for number, each in enumerate(known, 1):
        where = "<br>".join(links(each, root))
        lines.append(f'<tr data-question="{number}"><th scope="row">{number}</th>')
        lines.append(f"<td>{escape(each.name)}<br><small>{where}</small></td></tr>")
    return "\n".join([*lines, "</tbody></table></div>"])


def page(root: Path = notebook_io.ROOT) -> str:
    known = objectives()
    head = HEAD.format(minutes=minutes())
    parts = [MADE + "\n" + head.strip(), f'{STYLE}\n<div class="concept-tools" hidden></div>']
    for form, when in WHEN.items():
        parts += [f"## Form {form}, {when}", form_of(form, known)]
    return "\n\n".join([*parts, RESULT.strip(), result_table(known, root), SCRIPT]) + "\n"


INSTRUCTORS_HEAD = """# Concept test: the item bank

For instructors: every question of [the concept test](concept_test.md) with its right answer, and what each wrong one
shows. Whoever is to take the test should not read this page first. All of it is in one file, to be read by programs:
{download}`concept_test.yml`.

## What it is, and what it is not

Twenty-three objectives, each asked in form A and, by another case, in form B. The wrong options are mistakes that
people make, most of them named by a chapter's quiz or by the check of an exercise. **Difficulty is the authors'
estimate**: no class has taken the test yet, so there is neither a share of right answers for any question nor a proof
that the forms are equally hard. If you use it, let half of the class take form B first; that tells the forms apart
from the course.

## In a class

1. **Before** the first session everybody takes a form, on paper ([print it](concept_test.md)) or in the page, and notes
   how many were right. The page shows the answers after a form is finished, so collect the letters before.
2. **After** the last session everybody takes the other form.
3. Look at the objectives, not only at the sum: the page's table names the sections to read again.

In the page nothing leaves the reader's browser: answers are kept there until they are erased, and you see only what you
are shown. It is a test of teaching, not for marks: right letters stand in the page's source.

## Gain, and what it can carry

With $a$ of {count} right before and $b$ after, the gain is $b - a$, and the **normalised gain** is the part of what
was open:

$$
g = \\frac{b - a}{{count} - a} \\qquad (a < {count}) .
$$

For a class, take it of the class's mean scores rather than as a mean of everybody's $g$, which somebody with $a =
{nearly}$ can turn over alone: one question more or fewer makes $g$ there 1 or −1. Beware of three things.

- **Chance.** Guessing gets {guessed:g} of {count}, with a standard deviation of {scatter:.1f}. Even a reader who
  knows half of the answers for certain, and guesses the others, has a standard deviation of {half:.1f} by luck alone;
  of a difference of two such scores it is {two:.1f}.
- **Small classes.** That of the mean of {small} such differences is still {mean:.1f} questions, before one counts
  that people differ. State the number of people, the standard deviation and an interval; a class of {small} shows a
  large gain, and no small one. Of a single objective it shows next to nothing.
- **No control.** Whoever takes a second test knows the kind of question. Without a class that was taught otherwise, a
  gain says that people have learnt, and not that this course was the reason."""


def scatter() -> dict[str, float]:
    """The numbers in the text for instructors: what guessing does to scores, and to the mean of a small class."""
    count, small, chance = len(objectives()), 12, 1 / len(LETTERS)
    spread = chance * (1 - chance)
    half = (count / 2 * spread) ** 0.5
    two = 2**0.5 * half
    return dict(
        count=count, nearly=count - 1, guessed=count * chance, scatter=(count * spread) ** 0.5, half=half, two=two,
        small=small, mean=two / small**0.5,
    )  # fmt: skip


def overview(known: Iterable[Objective]) -> str:
    rows = ["| | objective | estimated | A | B |", "|---|---|---|---|---|"]
    for number, each in enumerate(known, 1):
        letters = " | ".join(each.items[form].right for form in FORMS)
        rows.append(f"| {number} | {each.name} | {DIFFICULTIES[each.difficulty]} | {letters} |")
    return "\n".join(rows)


def in_full(number: int, objective: Objective, root: Path) -> str:
    """An objective with both of its questions, for instructors."""
    parts = [f"### {number} · {objective.name}"]
    said = f"Difficulty {objective.difficulty} of 3, {DIFFICULTIES[objective.difficulty]} (estimated). Shown in "
    parts.append(said + "; ".join(links(objective, root)) + ".")
    for form, item in objective.items.items():
        lines = []
        for letter, text in item.options.items():
            mark, end = ("**", "right: ") if letter == item.right else ("", "")
            lines.append(f"- {mark}({letter}) {_plain(text)}{mark} — *{end}{_plain(item.shows[letter])}*")
        parts += [f"**{form}{number}** {_plain(item.stem)}", "\n".join(lines)]
    return "\n\n".join(parts)


def _plain(text: str) -> str:
    """Text that Markdown leaves as it is."""
    return re.sub(r"([*_|<>\[\]$`\\])", r"\\\1", text)


def instructors_page(root: Path = notebook_io.ROOT) -> str:
    known, head = objectives(), INSTRUCTORS_HEAD.strip()
    for name, value in scatter().items():
        head = re.sub(rf"\{{{name}(:[^}}]*)?\}}", lambda found, value=value: format(value, (found[1] or ":")[1:]), head)
    each = [in_full(number, objective, root) for number, objective in enumerate(known, 1)]
    return "\n\n".join([f"{MADE}\n{head}", "## Right letters", overview(known), "## The questions", *each]) + "\n"


PAGES = {PAGE: page, INSTRUCTORS: instructors_page}


def main(arguments: list[str]) -> int:
    """Write both pages, or with --check say which are not what the file gives."""
    stale = [path for path, made in PAGES.items() if not path.is_file() or path.read_text("utf-8") != made()]
    for path in stale:
        print(path.relative_to(notebook_io.ROOT), "is not what concept_test.yml gives" if arguments else "")
        if not arguments:
            path.write_text(PAGES[path](), encoding="utf-8")
    return int(bool(stale and arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
