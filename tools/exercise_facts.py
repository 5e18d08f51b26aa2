"""What the solution notebooks say of each exercise, for the grader: course_grading/facts.json."""

import json
import re
from pathlib import Path

import notebook_io

HEADING = re.compile(r"## (\d\d\.\d+) (.+)")
FACTS = re.compile(
    r"Difficulty (?P<difficulty>[1-3]) of 3 · (?P<minutes>\d+) minutes · (?P<points>\d+) points? · "
    r"objective: (?P<objective>.+)"
)
CHECK = r'^check\("{}", (\w+)\)$'
HINTS = re.compile(r"<details><summary>(?:Hint|Stronger hint)</summary>\n\n(.+?)\n\n</details>", re.DOTALL)


def path_of(root: Path) -> Path:
    return root / "course_grading" / "facts.json"


def text(solutions: list[Path]) -> str:
    """The file's content: exercise → title, objective, answer, points, difficulty, minutes, hints."""
    found = {exercise: facts for path in solutions for exercise, facts in facts_in(path).items()}
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"


def differences(solutions: list[Path], root: Path) -> list[str]:
    """One sentence if the file is not what the solutions give."""
    path = path_of(root)
    if path.is_file() and path.read_text(encoding="utf-8") == text(solutions):
        return []
    return [f"{path.relative_to(root)} is not what the solutions give: run `make exercises`."]


def facts_in(path: Path) -> dict[str, dict]:
    """Exercise → its facts. A ValueError names the notebook, the exercise and what is missing."""
    blocks: dict[str, list] = {}
    for cell in notebook_io.read(path).cells:
        heading = HEADING.match(cell.source) if cell.cell_type == "markdown" else None
        if heading:
            blocks[heading[1]] = []
        if blocks:
            [*blocks.values()][-1].append(cell)
    return {exercise: _facts(f"{path.name}, {exercise}", exercise, cells) for exercise, cells in blocks.items()}


def _facts(place: str, exercise: str, cells: list) -> dict:
    prose = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    facts = FACTS.fullmatch(prose.split("\n\n")[1])
    answer = re.search(CHECK.format(re.escape(exercise)), code, re.MULTILINE)
    hints = HINTS.findall(prose)
    missing = {
        "the line “Difficulty … of 3 · … minutes · … points · objective: …” below its heading": not facts,
        f"a line check({exercise!r}, …) with the name of the answer": not answer,
        "two hints, “Hint” and “Stronger hint”": len(hints) != 2,
    }
    for what, lacking in missing.items():
        if lacking:
            raise ValueError(f"{place}: expected {what}.")
    return {
        "title": HEADING.match(prose)[2],
        "objective": facts["objective"],
        "answer": answer[1],
        **{name: int(facts[name]) for name in ("points", "difficulty", "minutes")},
        "hints": hints,
    }
