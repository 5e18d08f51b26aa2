"""How long a chapter takes to study, by one rule, and what a chapter says of it and of chapters to come.

Reading is counted from what there is to read: so many words a minute, and so long for each formula on a line of its
own, picture, table, line of code that is not folded, prediction and question of the quiz. The exercises say their
minutes themselves. `make reference` writes the result into the first cell of each chapter, rounded to five minutes.
"""

import json
import re

import course_list
import notebook_io
import notebook_rules
import page_marks
from course_grading import registry

RECORD = notebook_io.ROOT / "book" / "timings.json"
WORDS = 180  # a minute: prose with formulas in it, read to be understood
FORMULA, PICTURE, TABLE, CODE_LINE, PREDICTION, QUESTION = 0.5, 1.0, 0.5, 0.05, 2.0, 2.0  # minutes each
TIME = re.compile(r"\n\n\*\*Time\*\* [^\n]+")
MENTION = re.compile(r"\b([Cc]hapter (\d\d))\b(?! · )( \(to come\))?")
RULE = (
    f"Reading counts {WORDS} words a minute, half a minute for each formula on a line of its own and for each table, a "
    "minute for each picture, two for each prediction and each question of the quiz, and a minute for "
    f"{1 / CODE_LINE:.0f} lines of code that are not folded. The exercises state their own minutes."
)


def _of_text(text: str) -> float:
    """Minutes for Markdown: words, formulas, predictions; what a prediction hides counts as text."""
    words = len(re.sub(r"\$\$.*?\$\$", "", text, flags=re.DOTALL).split())
    formulas, predictions = len(re.findall(r"\$\$", text)) // 2, len(page_marks.PREDICTION.findall(text))
    return words / WORDS + FORMULA * formulas + PREDICTION * predictions


def _of_code(cell) -> float:
    folded = page_marks.HIDE in cell.metadata.get("tags", [])
    lines = 0 if folded else sum(map(bool, map(str.strip, cell.source.split("\n"))))
    tables = sum("<table" in output.get("data", {}).get("text/html", "") for output in cell.get("outputs", []))
    return CODE_LINE * lines + PICTURE * page_marks.shows_picture(cell) + TABLE * tables


def minutes(notebook) -> dict[str, tuple[str, float]]:
    """Heading → ("Core", "Further" or "", minutes) of the head, "", and of each section."""
    found, heading = {"": ["", 0.0]}, ""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            found[heading][1] += _of_code(cell)
            continue
        for part in re.split(r"^(?=## )", cell.source, flags=re.MULTILINE):
            if begins := page_marks.SECTION.match(part):
                mark = page_marks.MARK.fullmatch(begins[2])
                heading = begins[1]
                found[heading] = [mark[1] if mark else "", 0.0]
            if heading == "Quiz":
                found[heading][1] += QUESTION * len(notebook_rules.QUESTION.findall(part))
            elif heading != "References":
                found[heading][1] += _of_text(part)
    return {heading: tuple(each) for heading, each in found.items()}


def reading(notebook) -> tuple[float, float]:
    """Minutes for what is not *further*, and for everything."""
    each = minutes(notebook).values()
    return sum(time for mark, time in each if mark != "Further"), sum(time for _, time in each)


def exercises(number: str) -> int:
    """The minutes that a chapter's exercises say they take together; 0 without any."""
    return sum(task.minutes for task in registry.exercises_of(number)) if number in registry.known() else 0


def in_fives(time: float) -> int:
    return max(5, 5 * round(time / 5))


def paragraph(name: str, notebook) -> str:
    """What the chapter's first cell says of its track and its time."""
    core, all_of_it = map(in_fives, reading(notebook))
    track = "on the core path" if name in course_list.core_path() else "a deep dive"
    said = f"**Time** This chapter is {track}: {core} minutes to read its *core* sections"
    said += f", {all_of_it} with the *further* ones" if all_of_it > core else ""
    said += f", {in_fives(exercises(name[:2]))} more for the exercises" if exercises(name[:2]) else ""
    record = json.loads(RECORD.read_text(encoding="utf-8"))["notebooks"]
    computes = f"[computes for {record[name]['seconds']:.0f}\u00a0s](../book/timings.md)" if name in record else ""
    return said + (f". On one core it {computes}." if computes else ".")


def to_come(text: str, written: set[str]) -> str:
    """The text with " (to come)" after each mention of a chapter that is not written, and after no other."""
    return MENTION.sub(lambda found: found[1] + ("" if found[2] in written else " (to come)"), text)


def renewed(name: str, notebook):
    """The notebook with its paragraph on time and its mentions of chapters to come as they are by now."""
    written = {path.stem[:2] for path in notebook_io.chapters()}
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = to_come(cell.source, written)
    first = notebook.cells[0]
    first.source = f"{TIME.sub('', first.source)}\n\n{paragraph(name, notebook)}"
    return notebook


def faults(name: str, notebook) -> list[str]:
    """Cells whose time or mentions of chapters to come are out of date."""
    before = [cell.source for cell in notebook.cells]
    after = [cell.source for cell in renewed(name, notebook).cells]
    changed = [place for place, (old, new) in enumerate(zip(before, after, strict=True), 1) if old != new]
    return [f"cell {place}: its time or a chapter to come is out of date; run `make reference`" for place in changed]


def main() -> None:
    """Write both into every chapter where they have changed."""
    for path in notebook_io.chapters():
        if faults(path.stem, notebook_io.read(path)):
            notebook_io.write(path, renewed(path.stem, notebook_io.read(path)))
            print(path.relative_to(notebook_io.ROOT))
