"""The exercises' notebooks: students get what the solutions give, the words are the grader's, and all of it runs."""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

import exercise_facts
import exercises
import notebook_io
import notebook_rules
import run_notebook
import solutions_page
from course_grading import registry
from course_grading.exercise import Wrong

SOLUTIONS = exercises.solutions()
NOTEBOOKS = [path for solution in SOLUTIONS for path in (solution, exercises.student_path(solution))]
SECONDS_PER_CELL = 60
RULES = [rule for rule in notebook_rules.RULES if rule is not notebook_rules.stored_faults]


def name_of(path):
    return path.relative_to(notebook_io.ROOT).as_posix()


def text_of(notebook, kind):
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == kind)


def test_students_get_what_the_solutions_give():
    assert SOLUTIONS and exercises.differences() == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_form(path):
    """As chapters, but with no outputs stored."""
    notebook = notebook_io.read(path)
    for rule in RULES:
        assert rule(notebook) == []
    assert path.read_text(encoding="utf-8") == nbformat.writes(notebook) + "\n"
    assert not any(cell.outputs or cell.execution_count for cell in notebook_io.code_cells(notebook))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_each_exercise_has_its_block(path):
    """Title, difficulty, minutes, points, objective, stub, check and two hints, in the grader's own words."""
    notebook = notebook_io.read(path)
    prose, code = text_of(notebook, "markdown"), text_of(notebook, "code")
    tasks = registry.exercises_of(path.stem[:2])
    assert re.findall(r"^## (\d\d\.\d+) ", prose, re.MULTILINE) == [task.id for task in tasks]
    for task in tasks:
        facts = f"Difficulty {task.difficulty} of 3 · {task.minutes} minutes · {task.points} points · objective: "
        assert f"## {task.id} {task.title}\n\n{facts}{task.objective}\n\n" in prose
        assert f'check("{task.id}", {task.answer})' in code
        assert re.search(rf"^(def )?{task.answer}\b", code, re.MULTILINE)
        for summary, hint in zip(("Hint", "Stronger hint"), task.hints, strict=True):
            assert f"<details><summary>{summary}</summary>\n\n{hint}\n\n</details>" in prose
        block = prose.partition(f"## {task.id} ")[2].partition("\n## ")[0]
        assert "Example" in block, task.id


@pytest.mark.parametrize("path", SOLUTIONS, ids=name_of)
def test_solutions_stay_with_the_solutions(path):
    """Where the solution's notebook has an answer, the student's has a stub, or code with a planted fault."""
    student = notebook_io.read(exercises.student_path(path))
    code = text_of(student, "code")
    assert "SOLUTION" not in code and "STUB" not in code
    stubs = {cell.id: cell.source for cell in notebook_io.code_cells(student)}
    solved = [cell for cell in notebook_io.code_cells(notebook_io.read(path)) if exercises.BEGIN in cell.source]
    for task in registry.exercises_of(path.stem[:2]):
        assert any(re.search(rf"^(def {task.answer}\b|{task.answer} =)", cell.source, re.MULTILINE) for cell in solved)
    for cell in solved:
        stub = stubs[cell.id]
        assert "raise NotImplementedError" in stub or "= ...  # your answer" in stub or exercises.STUB in cell.source
        answers = re.findall(f"{exercises.BEGIN}\n(.*?)\n *{exercises.END}", cell.source, re.DOTALL)
        assert answers and not any(answer in stub for answer in answers)


@pytest.mark.parametrize("path", SOLUTIONS, ids=name_of)
def test_the_page_of_solutions(path):
    """Each exercise has its solution, at least one reason that students' notebooks lack, and every known mistake."""
    notebook = notebook_io.read(path)
    page = solutions_page.path_of(notebook_io.ROOT).read_text(encoding="utf-8")
    for task in registry.exercises_of(path.stem[:2]):
        block = page.partition(f"### {task.id} {task.title}\n")[2].partition("\n### ")[0]
        assert block.count("<details>") == block.count("</details>") == 1
        code = block.partition("```python\n")[2].partition("\n```\n")[0]
        assert re.search(rf"\b{task.answer}\b", code) and "###" not in code and compile(code, "solution", "exec")
        reasons = solutions_page.reasons(task.id, notebook.cells)
        assert reasons and all(len(reason) > 100 and reason in block for reason in reasons), task.id
        assert len(re.findall("^- .+", block.partition("**What wrong answers show**")[2], re.MULTILINE)) == len(
            task.wrong
        )


def test_a_solution_loses_its_markers_and_its_stub():
    region = f"    {exercises.BEGIN}\n    y = x\n    {exercises.STUB}\n    # y = 2\n    {exercises.END}\n"
    source = f"def f(x):\n{region}    return y"
    assert solutions_page.solved(source) == "def f(x):\n    y = x\n    return y"


def test_plain_words_on_the_page_of_solutions():
    """Stars, underscores and brackets are shown and mark nothing; an answer that is data stands before its message."""
    assert solutions_page.escaped("2 * a_b <c> `d_e` [f] $g$") == r"2 \* a\_b \<c\> `d_e` \[f\] \$g\$"
    assert solutions_page._wrong(Wrong({"kl": "rises", "loss": "rises"}, "kl: it falls.")) == "- `kl` rises: it falls."
    assert solutions_page._wrong(Wrong({"a": 0.5, "b": "x"}, "no.")) == "- `a` 0.5, `b` x: no."
    assert (
        solutions_page._wrong(Wrong(64.0, "no.")) == "- 64: no." and solutions_page._wrong(Wrong(len, "no.")) == "- no."
    )


# Of a notebook that has run, the kernel keeps what it has imported, which takes longer than most exercises.
FORGET = """
session._earned.clear()
get_ipython().run_line_magic("reset", "-f")
"""


def with_its_points(path, folder) -> list:
    """A notebook's cells, and one more that adds up the points and looks where the library came from."""
    tasks = registry.exercises_of(path.stem[:2])
    points = sum(task.points for task in tasks) if path in SOLUTIONS else 0
    words = ["from course_grading import session", "earned = [each.last for each in session._earned.values()]"]
    words += [f"assert len(earned) == {len(tasks)} and sum(earned) == {points}, earned"]
    words += [f"import course_lib; assert course_lib.__file__.startswith({str(folder)!r})"]
    return [*notebook_io.read(path).cells, new_code_cell("\n".join(words))]


@pytest.mark.parametrize("path", SOLUTIONS, ids=name_of)
def test_runs_in_an_empty_folder_with_the_wheel(path, tmp_path, installed):
    """The student's, in which an unanswered exercise stops nothing, and then, as if alone, the solutions'."""
    cells = with_its_points(exercises.student_path(path), installed) + [new_code_cell(FORGET)]
    cells += with_its_points(path, installed)
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    both = nbformat.v4.new_notebook(cells=cells, metadata=notebook_io.read(path).metadata)
    done = run_notebook.run(both, tmp_path, installed, SECONDS_PER_CELL)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_function_becomes_a_stub():
    solution = "    ### BEGIN SOLUTION\n    y = x\n    return y\n    ### END SOLUTION\n"
    source = 'def f(x):\n    """What it does."""\n' + solution + "\ncheck(f)"
    assert exercises.student_source(source) == (
        'def f(x):\n    """What it does."""\n    raise NotImplementedError("write this function")\n\ncheck(f)'
    )


def test_an_assignment_becomes_an_ellipsis():
    source = "a = 1\n### BEGIN SOLUTION\nhelp = 3\nb = c = help\n### END SOLUTION\nb"
    made = exercises.student_source(source)
    assert made.splitlines() == ["a = 1", *(f"{name} = ...  # your answer" for name in ("help", "b", "c")), "b"]


def test_a_stub_of_its_own():
    stub = "    ### STUB\n    # x = 2  # a fault\n    # y = 3\n    ### END SOLUTION"
    source = "if True:\n    ### BEGIN SOLUTION\n    x = 1\n" + stub
    assert exercises.student_source(source) == "if True:\n    x = 2  # a fault\n    y = 3"


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("### BEGIN SOLUTION\na = 1", "'### BEGIN SOLUTION' without '### END SOLUTION'"),
        ("### BEGIN SOLUTION\n### BEGIN SOLUTION\n### END SOLUTION", "without '### END SOLUTION'"),
        ("a = 1\n### END SOLUTION", "'### END SOLUTION' without '### BEGIN SOLUTION'"),
        ("### STUB\n# a = 1", "'### STUB' without"),
        ("### BEGIN SOLUTION\nprint()\n### END SOLUTION", "assigns no name"),
    ],
)
def test_markers_that_do_not_match(source, named):
    notebook = nbformat.v4.new_notebook(cells=[new_code_cell(source, id="the-cell")])
    with pytest.raises(ValueError, match=f"^cell the-cell: .*{named}"):
        exercises.student_notebook(notebook)


def test_hidden_cells_and_outputs_are_dropped():
    cells = [new_markdown_cell("# Title"), new_markdown_cell("for teachers", metadata={"tags": ["hidden"]})]
    cells += [new_code_cell("1", execution_count=3, outputs=[nbformat.v4.new_output("stream", text="1")])]
    original = nbformat.v4.new_notebook(cells=cells)
    made = exercises.student_notebook(original)
    assert [cell.source for cell in made.cells] == ["# Title", "1"]
    assert made.cells[1].outputs == [] and made.cells[1].execution_count is None
    assert len(original.cells) == 3 and original.cells[2].outputs


def test_a_change_on_one_side_only_is_noticed(tmp_path):
    page = solutions_page.path_of(notebook_io.ROOT)
    for path in [*NOTEBOOKS, page, exercise_facts.path_of(notebook_io.ROOT)]:
        (tmp_path / name_of(path)).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name_of(path)).write_bytes(path.read_bytes())
    assert exercises.differences(tmp_path) == []
    student = tmp_path / name_of(NOTEBOOKS[1])
    student.write_text(student.read_text().replace("Difficulty 1", "Difficulty 2"))
    assert len(exercises.differences(tmp_path)) == 1
    student.rename(student.with_name("99_else.ipynb"))
    assert len(exercises.differences(tmp_path)) == 2
    (tmp_path / name_of(page)).write_text(page.read_text().replace("What wrong answers show", "Mistakes", 1))
    (found,) = [line for line in exercises.differences(tmp_path) if "solutions" in line.split()[0]]
    assert found.startswith("book/exercises_solutions.md is not what the solutions give")
