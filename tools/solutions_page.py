"""The book's page of solutions, made from the solution notebooks and from the grader's own list of wrong answers."""

import re
from pathlib import Path

import notebook_io
from course_grading import registry

BEGIN, STUB, END = "### BEGIN SOLUTION", "### STUB", "### END SOLUTION"
HEAD = """<!-- Made from exercises/solutions/ and the grader's wrong answers by `make exercises`: change those. -->
# Solutions of the exercises

Try first: an exercise that was only read teaches little. Each solution is one answer that gets full points, and others
do too. Below it stand the reason, and the mistakes that `check` knows, with what each of them shows. How the exercises
work is on [their page](exercises_students.md).
"""


def path_of(root: Path) -> Path:
    return root / "book" / "exercises_solutions.md"


def page(solutions: list[Path]) -> str:
    return "\n\n".join([HEAD.rstrip(), *map(_chapter, solutions)]) + "\n"


def differences(solutions: list[Path], root: Path) -> list[str]:
    """One sentence if the page is not what the solutions give."""
    path = path_of(root)
    if path.is_file() and path.read_text(encoding="utf-8") == page(solutions):
        return []
    return [f"{path.relative_to(root)} is not what the solutions give: run `make exercises`."]


def _chapter(path: Path) -> str:
    cells = notebook_io.read(path).cells
    name = cells[0].source.split("\n")[0].partition(": ")[2]
    link = f"[The chapter](../chapters/{path.name}) · {{download}}`its exercises <../exercises/{path.name}>`"
    tasks = [_exercise(task, cells) for task in registry.exercises_of(path.stem[:2])]
    return "\n\n".join([f"## {int(path.stem[:2])} · {name}", link, *tasks])


def _exercise(task, cells) -> str:
    block = _block(task.id, cells)
    title, _, text = block[0].source.split("\n\n", 2)
    answer = next(cell.source for cell in block if BEGIN in cell.source and _answers(cell.source, task.answer))
    parts = [f"#{title}", text, "<details><summary>Solution</summary>", f"```python\n{solved(answer)}\n```"]
    parts += [*reasons(task.id, cells), "**What wrong answers show**", "\n".join(map(_wrong, task.wrong)), "</details>"]
    return "\n\n".join(parts)


def reasons(exercise: str, cells) -> list[str]:
    """What the exercise's hidden cells say: why the solution is right."""
    block = _block(exercise, cells)
    return [cell.source for cell in block if cell.cell_type == "markdown" and "hidden" in cell.metadata.get("tags", [])]


def _block(exercise: str, cells) -> list:
    """The cells from the exercise's heading up to the next heading."""
    begin = next(place for place, cell in enumerate(cells) if cell.source.startswith(f"## {exercise} "))
    rest = cells[begin + 1 :]
    end = next((place for place, cell in enumerate(rest) if cell.source.startswith("## ")), len(rest))
    return [cells[begin], *rest[:end]]


def _answers(source: str, name: str) -> bool:
    return re.search(rf"^(def {name}\b|{name} =)", source, re.MULTILINE) is not None


def solved(source: str) -> str:
    """A solution's cell without the markers and without what students get in its place."""
    without_stubs = re.sub(rf"\n *{STUB}\n.*?(?=\n *{END})", "", source, flags=re.DOTALL)
    return "\n".join(line for line in without_stubs.split("\n") if line.strip() not in (BEGIN, END))


def _wrong(wrong) -> str:
    """The message, with the answer if that is data: the entry that the message is about, or all of it."""
    answer, message = wrong.answer, wrong.message
    named = ""
    if isinstance(answer, dict):
        about = [key for key in answer if message.startswith(f"{key}:")] or list(answer)
        message = message.removeprefix(f"{about[0]}:").strip()
        named = ", ".join(f"`{key}` {_shown(answer[key])}" for key in about) + ": "
    elif isinstance(answer, int | float | str):
        named = f"{_shown(answer)}: "
    return f"- {named}{escaped(message)}"


def _shown(value) -> str:
    return f"{value:.4g}" if isinstance(value, float) else escaped(str(value))


def escaped(text: str) -> str:
    """Plain text as Markdown that shows the same; what stands in backticks stays code."""
    pieces = text.split("`")
    pieces[::2] = [re.sub(r"([\\*_\[\]<>$~#])", r"\\\1", piece) for piece in pieces[::2]]
    return "`".join(pieces)
