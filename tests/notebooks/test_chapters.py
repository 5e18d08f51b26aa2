"""Every stored notebook: it runs wherever the wheel is installed, and what it stores is fit for a book."""

import shutil

import nbformat
import pytest

import notebook_io
import notebook_rules
import run_notebook

CHAPTERS = notebook_io.executed()
SECONDS_PER_CELL = 300  # of a busy computer
# Appended to the copy that is run: whatever the chapter imported must have come from the wheel, not from a checkout.
IMPORTED_FROM_WHEEL = """
import pathlib, sys
modules = [module for name, module in sys.modules.items() if name.split(".")[0].startswith("course_")]
files = [pathlib.Path(module.__file__) for module in modules]
assert files and all(file.is_relative_to({target!r}) for file in files), files
"""


def run(notebook, folder, installed, live="some"):
    """Run a notebook as a reader has it, and look at what it imported."""
    notebook.cells.append(nbformat.v4.new_code_cell(IMPORTED_FROM_WHEEL.format(target=str(installed))))
    return run_notebook.run(notebook, folder, installed, SECONDS_PER_CELL, LIVE=live)


def test_there_are_chapters():
    assert CHAPTERS


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_runs_in_an_empty_folder_with_the_wheel(path, tmp_path, installed):
    done = run(notebook_io.read(path), tmp_path, installed)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.stress
@pytest.mark.parametrize("path", [path for path in CHAPTERS if "LIVE" in path.read_text("utf-8")], ids=lambda p: p.stem)
def test_runs_with_all_its_trainings(path, tmp_path, installed):
    """Those too that are tables or models made before, unless somebody asks for them."""
    done = run(notebook_io.read(path), tmp_path, installed, live="all")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("rule", notebook_rules.RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_stored_form(path, rule):
    assert rule(notebook_io.read(path)) == []


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_is_in_the_form_that_the_tools_write(path):
    """Otherwise the next `make chapters` or `make publish` changes lines that nobody meant to change."""
    assert path.read_text(encoding="utf-8") == nbformat.writes(notebook_io.read(path)) + "\n"


@pytest.mark.parametrize("where", ["first", "last"])
def test_a_cell_that_raises_is_found(where, tmp_path, installed):
    notebook = notebook_io.read(CHAPTERS[0])
    del notebook.cells[3:]  # its title and set-up cell are enough here
    place = 0 if where == "first" else len(notebook.cells)
    notebook.cells.insert(place, nbformat.v4.new_code_cell("raise ArithmeticError('planted')"))
    done = run(notebook, tmp_path, installed)
    assert done.returncode == 1 and "ArithmeticError" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("stored", ["900\n", "899\n"])
def test_numbers_of_older_results_are_found(stored, tmp_path, installed):
    """Cells that show stored results carry a tag: what they have stored must come out again."""
    cell = nbformat.v4.new_code_cell("import course_lib\nprint(900)", metadata={"tags": [notebook_rules.COMPARED]})
    cell.outputs, cell.execution_count = [nbformat.v4.new_output("stream", text=stored)], 1
    done = run(nbformat.v4.new_notebook(cells=[cell]), tmp_path, installed)
    assert done.returncode == (stored != "900\n") and ("899" in done.stdout) == (stored != "900\n"), done.stdout


def test_a_library_from_elsewhere_is_found(tmp_path, installed):
    """The check of where course_lib came from can fail: here the wheel's folder is not on the path."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import course_lib")])
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(installed, elsewhere)
    notebook.cells.append(nbformat.v4.new_code_cell(IMPORTED_FROM_WHEEL.format(target=str(installed))))
    done = run(notebook, tmp_path, elsewhere)
    assert done.returncode == 1 and "AssertionError" in done.stdout, done.stdout + done.stderr
