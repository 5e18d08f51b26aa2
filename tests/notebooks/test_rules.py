"""The rules for stored chapters can fail: a sound notebook passes all of them, and each planted fault is named."""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

import notebook_io
import notebook_rules as rules
import publish
from course_replication import card

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
    """As if it had just been executed: that a changed source is noticed is tested in test_executing.py."""
    rules.sign(notebook)
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
        (new_output("display_data", data={rules.WIDGET: {"model_id": "0a1b"}}), "a widget"),
        (new_output("display_data", data={rules.WIDGET: {"model_id": "0a1b"}, "text/html": "<b>0</b>"}), "a widget"),
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


def test_a_picture_within_html_is_no_text(sound):
    """Among the letters of an encoded picture there may be anything."""
    html = '<img alt="Two curves." src="data:image/png;base64,aGk+it/s+/tmp/aGk=">'
    sound.cells[2].outputs = [new_output("display_data", data={"text/html": html})]
    assert faults(sound) == []
    sound.cells[2].outputs[0].data["text/html"] += "saved to /tmp/a"
    assert len(faults(sound)) == 1


def test_a_claims_card_says_what_the_results_say(sound):
    html = card("distances/figure-4.3")._repr_html_()
    sound.cells[2].outputs = [new_output("execute_result", data={"text/html": html}, execution_count=2)]
    assert faults(sound) == []
    sound.cells[2].outputs[0].data["text/html"] = html.replace("match", "fail", 1)
    (fault,) = faults(sound)
    assert "the card of distances/figure-4.3 is out of date" in fault


def test_a_cell_that_shows_stored_results_is_compared(sound):
    sound.cells[2].source = "import course_replication\nlen(course_replication.Store().results())"
    (fault,) = faults(sound)
    assert "tag it 'nbval-check-output'" in fault and fault.startswith("cell 3 ")
    sound.cells[2].metadata["tags"] = [rules.COMPARED]
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


@pytest.mark.parametrize(
    "source",
    [
        "See {ref}`kl`.",
        "As shown by {cite:t}`kingma`.",
        "```{note}\nMind this.\n```",
        ":::{admonition} Mind this\n:::",
        "- first\n\n  ```{figure} a.png\n  ```",
        "(the-bound)=\n## The bound",
    ],
)
def test_myst(sound, source):
    sound.cells[0].source += "\n\n" + source
    (fault,) = faults(sound)
    assert fault.startswith("cell 1 ") and "is MyST" in fault


@pytest.mark.parametrize(
    "source",
    [
        "The file holds `{ref}` as text.",
        "$\\mathrm{KL}$`s price",
        "```python\nprint(f'{name}`')\n```",
        "{a, b}",
        "a set {x} and `code`",
    ],
)
def test_what_is_not_myst(sound, source):
    sound.cells[0].source += "\n\n" + source
    assert faults(sound) == []


CHAPTER = """# A title

**After this chapter you can**

1. derive the bound;
2. check it by sampling;
3. say what it leaves out.

**You need** expectations.

> **Predict before you read on.** Which is larger?

## Summary

- One is.

## Quiz

Answer first, then open.
"""
OPTIONS = """
<details><summary>(a) The first.</summary>

No: it is the smaller of the two.
</details>
<details><summary>(b) The second.</summary>

Yes: the bound lies below it.

A second paragraph is allowed.
</details>
<details><summary>(c) Neither, since $a = b$.</summary>

No. They differ by the gap.
</details>
"""
QUESTION = "\n**{}.** Which is larger?\n" + OPTIONS
REFERENCES = "\n## References\n\n- A book.\n"
QUIZ = "\n---\n".join(QUESTION.format(number) for number in (1, 2, 3))
FOURTH, FIFTH = ("\n---\n" + QUESTION.format(number) for number in (4, 5))


def chapter_faults(text):
    """The faults of a chapter of this text, half of it in a second cell."""
    first, heading, second = text.partition("## Summary")
    cells = [new_markdown_cell(source) for source in (first, heading + second) if source]
    return [fault for rule in rules.OF_CHAPTERS for fault in rule(nbformat.v4.new_notebook(cells=cells))]


@pytest.mark.parametrize("more", ["", FOURTH, FOURTH + FIFTH])
def test_a_sound_chapter_passes(more):
    assert chapter_faults(CHAPTER + QUIZ + more + REFERENCES) == []


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("**After this chapter you can**", "**Objectives**", "missing: the objectives"),
        ("1. derive the bound;\n", "", "missing: the objectives"),
        ("3. say what it leaves out.\n", "", "2 objectives"),
        ("3. say", "3. a;\n4. b;\n5. c;\n6. say", "6 objectives"),
        ("**You need** expectations.", "You need expectations.", "missing: the prerequisites"),
        ("> **Predict before you read on.**", "**Predict before you read on.**", "missing: a prediction"),
        ("## Summary", "## In short", "missing: the heading “## Summary”"),
        ("## Quiz", "### Quiz", "missing: the heading “## Quiz”"),
        ("## References", "## Sources", "missing: the heading “## References”"),
    ],
)
def test_a_chapter_without_one_of_its_parts(old, new, named):
    text = CHAPTER + QUIZ + REFERENCES
    assert old in text
    assert chapter_faults(text.replace(old, new))[0].startswith(named)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("\n**3.** Which", "\n3. Which", "quiz: 2 questions"),
        ("**3.**", "**4.**", "quiz: the questions are numbered 1, 2, 4"),
        ("**2.** Which is larger?", "**2.**", "quiz, question 2: it asks nothing"),
    ],
)
def test_a_quiz(old, new, named):
    text = CHAPTER + QUIZ + REFERENCES
    assert old in text
    assert chapter_faults(text.replace(old, new))[0].startswith(named)


def test_a_quiz_that_is_too_long():
    sixth = "\n---\n" + QUESTION.format(6)
    assert chapter_faults(CHAPTER + QUIZ + FOURTH + FIFTH + sixth) == [
        "missing: the heading “## References”",
        "quiz: 6 questions; allowed are 3 to 5",
    ]


def option(letter, feedback="No: it is the smaller one."):
    return f"<details><summary>({letter}) Another.</summary>\n\n{feedback}\n</details>\n"


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("Yes: the bound", "No: the bound", "0 options"),
        ("No. They", "Yes. They", "2 options have a feedback that begins with “Yes”"),
        ("Yes: the bound", "Yesterday the bound", "0 options"),
        ("No: it is the smaller of the two.", "No.", "the feedback of (a) has fewer than 5 words"),
        ("No: it is the smaller of the two.", "", "the feedback of (a) has fewer than 5 words"),
        ("(c) Neither", "(b) Neither", "the options are lettered a, b, b"),
        ("</summary>\n\nNo. They", "</summary>\nNo. They", "an option is not"),  # its formulas would stay as text
        ("<details><summary>(c)", "<details open><summary>(c)", "an option is not"),
        (OPTIONS, OPTIONS[: OPTIONS.index("<details><summary>(c)")], "2 options; allowed are 3 to 5"),
        (OPTIONS, OPTIONS + option("d") + option("e") + option("f"), "6 options; allowed are 3 to 5"),
    ],
)
def test_the_options_of_a_question(old, new, named):
    changed = QUESTION.format(2).replace(old, new)
    assert changed != QUESTION.format(2)
    found = chapter_faults(CHAPTER + QUIZ.replace(QUESTION.format(2), changed) + REFERENCES)
    assert any(fault.startswith(f"quiz, question 2: {named}") for fault in found)


@pytest.mark.parametrize("rule", rules.OF_CHAPTERS, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", notebook_io.chapters(), ids=lambda path: path.stem)
def test_every_chapter(path, rule):
    assert rule(notebook_io.read(path)) == []
