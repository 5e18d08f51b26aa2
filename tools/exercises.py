"""Make what comes from exercises/solutions/ alone, by `make exercises`: the students' notebooks, the facts that the
grader reads of each exercise (exercise_facts.py), and the book's page of solutions (solutions_page.py).

In a code cell, what stands between `### BEGIN SOLUTION` and `### END SOLUTION` is taken out. Inside a function, a line
that raises NotImplementedError takes its place. At the top level, where raising would stop "run all", each name that is
assigned there becomes `name = ...`. Where students get code of their own, with a planted fault say, it stands in
comments after `### STUB`. A cell tagged `hidden` is dropped, and no outputs are stored.

On the page, each exercise has its task, its solution, the text of its hidden cell `why-N`,
and the wrong answers that the grader knows by name.
"""

import argparse
import ast
import copy
import re
import sys
import textwrap
from pathlib import Path

import exercise_facts
import notebook_io
import solutions_page

BEGIN, STUB, END = "### BEGIN SOLUTION", "### STUB", "### END SOLUTION"
HIDDEN_TAG = "hidden"
NOT_WRITTEN = 'raise NotImplementedError("write this function")'


def solutions(root: Path = notebook_io.ROOT) -> list[Path]:
    """The notebooks with solutions, in the order of their names."""
    return sorted((root / "exercises" / "solutions").glob("*.ipynb"))


def student_path(solution: Path) -> Path:
    """Where the student's notebook belongs."""
    return solution.parent.parent / solution.name


def student_source(source: str) -> str:
    """A code cell as students get it; a ValueError when its markers do not match."""
    lines, place = source.splitlines(), 0
    found: list[str] = []
    while place < len(lines):
        marker = lines[place].strip()
        if marker in (STUB, END):
            raise ValueError(f"{marker!r} without {BEGIN!r} before it")
        if marker != BEGIN:
            found.append(lines[place])
            place += 1
            continue
        end = next((at for at in range(place + 1, len(lines)) if lines[at].strip() in (BEGIN, END)), len(lines))
        if end == len(lines) or lines[end].strip() == BEGIN:
            raise ValueError(f"{BEGIN!r} without {END!r} after it")
        indent = lines[place][: len(lines[place]) - len(lines[place].lstrip())]
        found += [indent + line for line in _stub(lines[place + 1 : end], inside=bool(indent))]
        place = end + 1
    return "\n".join(found)


def _stub(region: list[str], inside: bool) -> list[str]:
    """What takes the place of a solution, not indented."""
    markers = [place for place, line in enumerate(region) if line.strip() == STUB]
    if markers:
        return [re.sub("^# ?", "", line.strip()) for line in region[markers[0] + 1 :]]
    if inside:
        return [NOT_WRITTEN]
    assigned = [node for node in ast.parse(textwrap.dedent("\n".join(region))).body if isinstance(node, ast.Assign)]
    names = [target.id for node in assigned for target in node.targets if isinstance(target, ast.Name)]
    if not names:
        raise ValueError("a solution at the top level assigns no name")
    return [f"{name} = ...  # your answer" for name in names]


def student_notebook(notebook):
    """The student's notebook: a copy of the solution's without solutions, hidden cells and outputs."""
    made = copy.deepcopy(notebook)
    made.cells = [cell for cell in made.cells if HIDDEN_TAG not in cell.metadata.get("tags", [])]
    for cell in notebook_io.code_cells(made):
        try:
            cell.source = student_source(cell.source)
        except ValueError as error:
            raise ValueError(f"cell {cell.get('id', 'without id')}: {error}") from error
        cell.outputs, cell.execution_count = [], None
    return made


def differences(root: Path = notebook_io.ROOT) -> list[str]:
    """One sentence for each student's notebook that is not what its solution gives, or that has no solution."""
    found = []
    for path in solutions(root):
        student = student_path(path)
        if not student.is_file() or notebook_io.read(student) != student_notebook(notebook_io.read(path)):
            found.append(f"{student.relative_to(root)} is not what its solution gives: run `make exercises`.")
    made = {student_path(path) for path in solutions(root)}
    found += exercise_facts.differences(solutions(root), root)
    found += solutions_page.differences(solutions(root), root)
    for student in sorted(set((root / "exercises").glob("*.ipynb")) - made):
        found.append(f"{student.relative_to(root)} has no solution.")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; say what differs")
    if parser.parse_args().check:
        found = differences()
        print("\n".join(found) or "Every student's notebook, the facts and the page of solutions are what these give.")
        return 1 if found else 0
    for path in solutions():
        try:
            notebook_io.write(student_path(path), student_notebook(notebook_io.read(path)))
        except ValueError as error:
            print(f"{path.relative_to(notebook_io.ROOT)}, {error}", file=sys.stderr)
            return 1
        print(f"{student_path(path).relative_to(notebook_io.ROOT)} was written.")
    for path, content in ((exercise_facts.path_of, exercise_facts.text), (solutions_page.path_of, solutions_page.page)):
        made = path(notebook_io.ROOT)
        made.write_text(content(solutions()), encoding="utf-8")
        print(f"{made.relative_to(notebook_io.ROOT)} was written.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
