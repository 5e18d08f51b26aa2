"""The rules for stored chapters can fail: a sound notebook passes all of them, and each planted fault is named."""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

import notebook_rules as rules
import publish

ALT = {"mystnb": {"image": {"alt": "Two curves that fall and then level out."}}}


@pytest.fixture
def sound():
    cells = [
        new_markdown_cell("# A title"),
        new_code_cell(publish.setup_source("", "1"), metadata={"tags": ["setup"]}),
        new_code_cell("import course_lib\nprint(course_lib.__version__)", outputs=[new_output("stream", text="1\n")]),
        new_code_cell("draw()", metadata=ALT, outputs=[new_output("display_data", data={"image/png": "aGk="})]),
    ]
    for count, cell in enumerate(cells[1:], 1):
        cell.execution_count = count
    return nbformat.v4.new_notebook(cells=cells)


def faults(notebook):
    return [fault for rule in rules.RULES for fault in rule(notebook)]


def test_a_sound_notebook_passes(sound):
    assert faults(sound) == []


@pytest.mark.parametrize(
    ("output", "named"),
    [
        (new_output("error", ename="ValueError", evalue="no", traceback=["ValueError"]), "is an error"),
        (new_output("stream", name="stderr", text="UserWarning: old"), "stderr"),
        (new_output("stream", text="saved to /home/somebody/model.safetensors\n"), "absolute path"),
        (new_output("stream", text="C:\\models\\vae\n"), "absolute path"),
        (new_output("display_data", data={"text/html": "<a href='file:///a.png'>"}), "absolute path"),
        (new_output("stream", text=" 50%|█████     | 100/200 [00:01<00:01, 98.1it/s]"), "progress bar"),
        (new_output("execute_result", data={"text/plain": "<function f at 0x7f2a1c0d>"}), "memory address"),
    ],
)
def test_outputs(sound, output, named):
    sound.cells[2].outputs = [output]
    (fault,) = faults(sound)
    assert named in fault and fault.startswith("cell 3 ")


SOUND = ["0.5 nats/pixel", "https://github.com/owner/name", "and/or", "10 % | 20 %", "a/tmp/b"]


@pytest.mark.parametrize("text", SOUND)
def test_outputs_that_are_sound(sound, text):
    sound.cells[2].outputs = [new_output("stream", text=text)]
    assert faults(sound) == []


@pytest.mark.parametrize("alt", ["", None, "figure.png", "../_images/0a1b.png", "curves", "see ./figures/a for this"])
def test_alt_text(sound, alt):
    sound.cells[3].metadata = {"mystnb": {"image": {"alt": alt}}} if alt is not None else {}
    (fault,) = faults(sound)
    assert "alt text" in fault


def test_alt_text_under_another_key_does_not_count(sound):
    sound.cells[3].metadata = {"render": ALT["mystnb"]}
    assert len(faults(sound)) == 1


def test_a_long_cell(sound):
    sound.cells += [new_code_cell("pass", execution_count=count) for count in range(4, 24)]
    sound.cells[2].source = "\n".join(["pass"] * 30)
    assert faults(sound) == []
    sound.cells[2].source += "\npass"
    (fault,) = faults(sound)
    assert "31 lines" in fault


@pytest.mark.parametrize(("lines", "of", "named"), [(9, 20, "median"), (21, 4, "90th percentile")])
def test_long_cells(sound, lines, of, named):
    sound.cells += [new_code_cell("pass", execution_count=count) for count in range(4, 24)]
    for cell in sound.cells[-of:]:
        cell.source = "\n".join(["pass"] * lines)
    (fault,) = faults(sound)
    assert named in fault


@pytest.mark.parametrize(
    "source",
    [
        "from course_lib import no_such_name",
        "import course_lib.no_such_module",
        "import course_lib\ncourse_lib.no_such_name",
        "import course_lib as lib\nlib.no_such_name.further()",
        "from course_lib import data\nprint(data.NoSuchDataset(3))",
    ],
)
def test_an_unknown_name_of_the_library(sound, source):
    sound.cells[2].source = "%pip --version\n" + source
    (fault,) = faults(sound)
    assert "does not exist" in fault and re.search("no_such|NoSuch", fault)


def test_an_unknown_name_in_the_text(sound):
    sound.cells[0].source += "\n\nSee `course_lib.no_such_name`."
    (fault,) = faults(sound)
    assert "course_lib.no_such_name does not exist" in fault


def test_execution_out_of_order(sound):
    sound.cells[2].execution_count, sound.cells[3].execution_count = 3, 2
    assert len(faults(sound)) == 1


def test_nothing_stored(sound):
    for cell in sound.cells[2:]:
        cell.outputs = []
    assert faults(sound) == ["no outputs are stored"]


def test_set_up_cell_not_first(sound):
    sound.cells[1], sound.cells[2] = sound.cells[2], sound.cells[1]
    sound.cells[1].execution_count, sound.cells[2].execution_count = 1, 2
    (fault,) = faults(sound)
    assert "setup" in fault
