"""`make chapters`: a good run is stored in a form that a second run repeats; a bad one leaves the file as it was."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

import chapters
import notebook_io
import notebook_rules
from course_replication import card


@pytest.fixture
def stored(tmp_path):
    """Write a notebook with these code cells, under one heading, and return its path."""

    def write(*sources):
        cells = [new_markdown_cell("# The ELBO, twice"), *map(new_code_cell, sources)]
        path = tmp_path / "02_vae.ipynb"
        notebook_io.write(path, nbformat.v4.new_notebook(cells=cells))
        return path

    return write


def test_a_good_run_is_stored_and_repeats_itself(stored, tmp_path):
    path = stored("x = 1\nprint(x)\nprint(x)", "import os\nos.listdir()")
    assert chapters.renew(path) == []
    first = path.read_bytes()
    notebook = notebook_io.read(path)
    assert [cell.id for cell in notebook.cells] == [f"the-elbo-twice-{number}" for number in (1, 2, 3)]
    assert [cell.execution_count for cell in notebook.cells[1:]] == [1, 2]
    assert notebook.cells[1].outputs[0].text == "1\n1\n"
    assert notebook.cells[2].outputs[0].data["text/plain"] == "['02_vae.ipynb']"  # the working directory is its folder
    assert notebook.metadata.language_info == {"name": "python"}
    assert chapters.renew(path) == [] and path.read_bytes() == first
    assert list(tmp_path.iterdir()) == [path]


SHOW = """
import ipywidgets
from IPython.display import display
slider = ipywidgets.FloatSlider()
view = {"application/vnd.jupyter.widget-view+json": {"version_major": 2, "model_id": slider.model_id}}
display(view | {"text/plain": "a slider", "text/html": "<b>0.0</b>"}, raw=True)
"""


def test_a_widget_is_stored_as_what_it_shows_without_a_kernel(stored):
    path = stored(SHOW)
    assert chapters.renew(path) == []
    first = path.read_bytes()
    notebook = notebook_io.read(path)
    (output,) = notebook.cells[1].outputs
    assert output.data == {"text/plain": "a slider", "text/html": "<b>0.0</b>"}
    assert "widgets" not in notebook.metadata
    assert chapters.renew(path) == [] and path.read_bytes() == first


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("raise ArithmeticError('planted')", "cell 3 (the-elbo-twice-3): ArithmeticError: planted"),
        ("import os\nos._exit(1)", "cell 3 (the-elbo-twice-3): DeadKernelError: Kernel died"),
        ("import warnings\nwarnings.warn('old')", "cell 3 (the-elbo-twice-3): output on stderr: "),
        ("print('/home/somebody/x')", "cell 3 (the-elbo-twice-3): an absolute path in the output"),
        ("import ipywidgets\nipywidgets.FloatSlider()", "cell 3 (the-elbo-twice-3): a widget, which shows nothing"),
    ],
)
def test_a_bad_run_leaves_the_file_as_it_was(stored, tmp_path, source, fault):
    path = stored("1 + 1", source)
    before = path.read_bytes()
    found = chapters.renew(path)
    assert found and found[0].startswith(fault)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_ids_that_people_gave_stay():
    cells = [new_markdown_cell("## One"), new_code_cell("1"), new_markdown_cell("## Two"), new_code_cell("2")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.cells[1]["id"] = "key-figure"
    notebook.cells[2]["id"] = "one-1"
    chapters.name_cells(notebook)
    assert [cell.id for cell in notebook.cells] == ["one-2", "key-figure", "one-1", "two-1"]
    nbformat.validate(notebook)


def test_a_raising_cell_keeps_a_notebook_out_of_the_book(stored):
    """`make book` executes nothing: what gives a planted cell away is that it was never executed, or that it raised."""
    path = stored("x = 1\nprint(x)")
    assert chapters.renew(path) == [] and chapters.check([path]) == []
    notebook = notebook_io.read(path)
    notebook.cells.append(new_code_cell("raise ArithmeticError('planted')"))
    notebook_io.write(path, notebook)
    first, second = chapters.check([path])
    assert first == "02_vae, the execution counts are not 1, 2, 3, … in order" and "not of this source" in second
    notebook.cells[-1].execution_count = 2
    notebook.cells[-1].outputs = [
        nbformat.v4.new_output("error", ename="ArithmeticError", evalue="planted", traceback=[])
    ]
    notebook_io.write(path, notebook)
    notebook_rules.sign(notebook)
    notebook_io.write(path, notebook)
    assert "the output is an error, ArithmeticError: planted" in chapters.check([path])[0]


@pytest.mark.parametrize("source", ["x = 2\nprint(x)", "raise ArithmeticError('planted')"])
def test_a_source_that_was_changed_after_it_was_executed_keeps_a_notebook_out_of_the_book(stored, source):
    path = stored("x = 1\nprint(x)")
    assert chapters.renew(path) == [] and chapters.check([path]) == []
    notebook = notebook_io.read(path)
    notebook.cells[-1].source = source
    notebook_io.write(path, notebook)
    assert chapters.check([path]) == ["02_vae, cell 2 (the-elbo-twice-2): its outputs are not of this source"]


def test_cards_are_renewed_and_nothing_else(stored):
    path = stored("card('distances/figure-4.3')", "1 / 0")
    shown = card("distances/figure-4.3")
    notebook = notebook_io.read(path)
    forms = {"text/html": shown._repr_html_(), "text/plain": repr(shown)}
    stale = {form: text.replace("match", "fail").replace("MATCH", "FAIL") for form, text in forms.items()}
    notebook.cells[1].outputs = [new_output("execute_result", stale, execution_count=1)]
    notebook_io.write(path, notebook)
    assert len(notebook_rules.card_faults(notebook)) == 1 and chapters.renew_cards(path)
    renewed = notebook_io.read(path)
    assert renewed.cells[1].outputs[0].data == forms and renewed.cells[2].outputs == []
    assert notebook_rules.card_faults(renewed) == [] and not chapters.renew_cards(path)


def test_a_card_of_small_runs_is_renewed_as_one_of_small_runs(stored):
    claim = "distances/table-6.1-learnt"
    path = stored(f'card("{claim}", scale="small")')
    full, small = card(claim), card(claim, scale="small")
    assert full.verdict.scale == "full" and small.verdict.scale == "small"
    notebook = notebook_io.read(path)
    shown = {"text/html": full._repr_html_(), "text/plain": repr(full)}
    notebook.cells[1].outputs = [new_output("execute_result", shown, execution_count=1)]
    notebook_io.write(path, notebook)
    assert chapters.renew_cards(path)
    (output,) = notebook_io.read(path).cells[1].outputs
    assert output.data == {"text/html": small._repr_html_(), "text/plain": repr(small)}
