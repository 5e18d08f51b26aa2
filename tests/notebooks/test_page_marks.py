"""What the pages need of a chapter: each planted fault is named, and every chapter has what is needed."""

from collections import Counter

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

import notebook_io
import page_marks
import publish
import study_time

PICTURE = {"mystnb": {"image": {"alt": "Two curves."}, "figure": {"caption": "Two curves over the steps."}}}
ANSWER = "> <details><summary>Answer</summary>\n>\n> **(b)** It is, by far.\n> </details>"
PREDICTION = f"""> **Predict before you read on.** Which?
>
> - (a) one
> - (b) two
> - (c) three
>
> Write it down.
>
{ANSWER}"""
TEXT = f"""## A section

*Core.*

See [chapter 14, distance](14_perceived_distance.ipynb), [02](02_vae.ipynb) and [the map](../book/index.md).

{PREDICTION}

```
## not a heading
```

## Another

*Further.*

A closer look.
"""
END = """## Quiz

**1.** Which?

<details><summary>(a) The first.</summary>

Yes: it is the first.
</details>
<details><summary>(b) The second.</summary>

No, it is not.
</details>

## Exercises

Six, in [the exercise notebook](../exercises/15_a.ipynb).

## References
"""


@pytest.fixture
def sound():
    draw = new_code_cell("a = 1\nb = 2\nc = 3\nd = 4", metadata=PICTURE | {"tags": ["hide-input"]})
    draw.outputs = [new_output("display_data", data={"image/png": "aGk="})]
    setup = new_code_cell(publish.setup_source("", "1"), metadata={"tags": ["setup", "hide-input"]})
    imports = new_code_cell("import math\nimport os\nmath.pi", metadata={"tags": ["hide-input"]})
    cells = [new_markdown_cell("# 15 · A title"), setup, imports, new_markdown_cell(TEXT), draw, new_markdown_cell(END)]
    return nbformat.v4.new_notebook(cells=cells)


def faults(notebook):
    return page_marks.faults(notebook, "15_a")


def test_a_sound_chapter_passes(sound):
    assert faults(sound) == []


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("# 15 · A", "# A", "the title is"),
        ("*Core.*\n", "", "“## A section” says neither"),
        ("*Further.*\n", "*Optional.*\n", "“## Another” says neither"),
        ("*Core.*", "*Further.*", "no section is core"),
        ("> - (c) three\n", "", "the options are 'ab'"),
        ("> - (c)", "> - (d)", "the options are 'abd'"),
        ("> **(b)** It", "> It", "prediction 1: no answer"),
        ("> **(b)** It", "> **(d)** It", "prediction 1: no answer"),
        ("<summary>Answer</summary>\n>\n", "<summary>Answer</summary>\n", "prediction 1: no answer"),
        ("[chapter 14, distance]", "[distance]", "does not name chapter 14"),
        ("[the map]", "[Part II]", "leads to the front page"),
        ("[the exercise notebook]", "[here]", "“## Exercises” has no"),
    ],
)
def test_a_fault_of_the_text(sound, old, new, named):
    assert sum(old in cell.source for cell in sound.cells) == 1
    for cell in sound.cells:
        cell.source = cell.source.replace(old, new)
    assert any(named in fault for fault in faults(sound)), faults(sound)


@pytest.mark.parametrize(("place", "named"), [(1, "set-up or imports"), (2, "set-up or imports"), (4, "4, more than")])
def test_what_is_not_folded(sound, place, named):
    sound.cells[place].metadata["tags"] = ["setup"] if place == 1 else []
    (fault,) = faults(sound)
    assert named.partition(", ")[2] in fault if "," in named else named in fault


def test_code_that_is_worth_reading_stays_open(sound):
    sound.cells[4].metadata["tags"] = ["show-input"]
    assert faults(sound) == []
    sound.cells[4].metadata = PICTURE
    sound.cells[4].source = "a = 1\n\nb = 2\nc = 3"
    assert faults(sound) == []
    sound.cells[4].metadata = PICTURE | {"jupyter": {"source_hidden": True}}
    assert len(faults(sound)) == 1


@pytest.mark.parametrize("caption", [None, "", "Two curves", "Figure 3: two curves.", "One.\nTwo."])
def test_a_caption(sound, caption):
    sound.cells[4].metadata["mystnb"] = {"figure": {"caption": caption} if caption is not None else None}
    (fault,) = faults(sound)
    assert "caption" in fault


def test_a_letter_that_is_right_too_often(sound):
    assert page_marks.right_letters(sound) == "ba"
    question = "\n<details><summary>(a) So.</summary>\n\nYes: so it is.\n</details>\n"
    sound.cells[5].source += question * 2
    (fault,) = faults(sound)
    assert "(a) is right 3 times of 4" in fault


@pytest.mark.parametrize("path", notebook_io.chapters(), ids=lambda path: path.stem)
def test_every_chapter(path):
    assert page_marks.faults(notebook_io.read(path), path.stem) == []
    assert study_time.faults(path.stem, notebook_io.read(path)) == []


def test_the_right_letters_of_all_chapters_are_spread():
    letters = Counter("".join(page_marks.right_letters(notebook_io.read(path)) for path in notebook_io.chapters()))
    for letter in "abc":
        assert 0.2 < letters[letter] / letters.total() < 0.4, letters


def test_the_last_option_of_a_prediction_is_seldom_right():
    found = [each for path in notebook_io.chapters() for each in page_marks.predictions(notebook_io.read(path))]
    assert len(found) >= 10 and sum(letters[-1] == right for _, letters, right in found) <= len(found) / 4
