"""Study time is counted by the rule that the page states, and chapters to come are named as such."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

import course_list
import course_map
import notebook_io
import study_time
from course_grading import registry

PREDICTION = "> **Predict before you read on.** Which?\n>\n> - (a) one"


def chapter(*cells):
    return nbformat.v4.new_notebook(cells=list(cells))


def words(count):
    return " ".join(["word"] * count)


def test_words_and_formulas():
    text = f"# 02 · Title\n\n{words(176)}\n\n$$\na + b\n$$"  # with the four of the title, a minute
    assert study_time.reading(chapter(new_markdown_cell(text))) == pytest.approx((1.5, 1.5))


def test_a_section_that_is_further_counts_only_in_full():
    text = f"## One\n\n*Core.*\n\n{words(177)}\n\n## Two\n\n*Further.*\n\n{words(357)}\n\n## References\n\n{words(999)}"
    assert study_time.reading(chapter(new_markdown_cell(text))) == pytest.approx((1, 3), abs=0.02)


def test_pictures_tables_and_code():
    cell = new_code_cell("\n".join(["a = 1", ""] * 20))
    cell.outputs = [new_output("display_data", data={"image/png": "aGk="})]
    cell.outputs += [new_output("display_data", data={"text/html": "<table></table>"})]
    assert study_time.reading(chapter(cell))[0] == pytest.approx(1 + 0.5 + 1)
    cell.metadata["tags"] = ["hide-input"]
    assert study_time.reading(chapter(cell))[0] == pytest.approx(1 + 0.5)


def test_predictions_and_questions():
    text = f"{PREDICTION}\n\n## Quiz\n\n**1.** Which?\n\n{words(500)}\n\n**2.** And?"
    assert study_time.reading(chapter(new_markdown_cell(text)))[0] == pytest.approx(4 + 2 + 11 / 180, abs=0.02)


def test_the_rule_is_said_in_the_numbers_that_count():
    assert study_time.RULE.startswith("Reading counts 180 words a minute") and "for 20 lines" in study_time.RULE
    assert study_time.exercises("02") == sum(task.minutes for task in registry.exercises_of("02")) > 60
    assert study_time.exercises("99") == 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("as chapter 09 shows", "as chapter 09 (to come) shows"),
        ("as chapter 09 (to come) shows", "as chapter 09 (to come) shows"),
        ("Chapter 02 (to come) shows", "Chapter 02 shows"),
        ("[chapter 02](02_vae.ipynb)", "[chapter 02](02_vae.ipynb)"),
        ("chapter 091 and chapters 09", "chapter 091 and chapters 09"),
    ],
)
def test_chapters_to_come(before, after):
    assert study_time.to_come(before, {"02"}) == after


def test_a_chapter_says_its_track_and_its_time():
    notebook = chapter(new_markdown_cell(f"# 02 · Title\n\n{words(1796)}"))
    said = study_time.renewed("02_vae", notebook).cells[0].source
    assert "\n\n**Time** This chapter is on the core path: 10 minutes to read its *core* sections, " in said
    assert study_time.faults("02_vae", notebook) == []
    notebook.cells[0].source = said.replace("10 minutes", "45 minutes")
    assert len(study_time.faults("02_vae", notebook)) == 1
    assert "is a deep dive" in study_time.paragraph("16_introducing_overlap", notebook)


def test_the_core_path():
    assert [name[:2] for name in course_list.core_path()] == ["01", "02", "04", "08", "14", "15", "19"]


def test_the_two_tracks_cope_with_any_set_of_chapters(tmp_path):
    (tmp_path / "chapters").mkdir()
    written = notebook_io.read(notebook_io.ROOT / "chapters" / "15_xysquares.ipynb")
    nbformat.write(written, tmp_path / "chapters" / "15_xysquares.ipynb")
    said = course_map.path_in_words(tmp_path)
    assert "02 The variational auto-encoder (to come) · " in said and "(../chapters/15_xysquares.ipynb)" in said
    assert "what is written of it takes about 1 hour" in said
    found = course_map.course_map(tmp_path)
    assert found.count('<i class="track">core</i>') == 7 and found.count("min core") == 1
