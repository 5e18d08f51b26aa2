"""What a chapter promises at its head is checked: each objective names a question of the quiz and exercises."""

import re

import pytest

import notebook_io
from course_grading import registry
from stored_chapter import StoredChapter

OWN_WORDS = ("02_vae", "08_impossibility")  # their exercises say the objectives in other words than the chapters
CHAPTERS = [path.stem for path in notebook_io.chapters() if path.stem not in OWN_WORDS]


@pytest.mark.parametrize("name", CHAPTERS)
def test_each_objective_is_checked(name):
    """Every question of the quiz and every exercise belongs to an objective, by the number that it names."""
    chapter, number = StoredChapter(name), name.partition("_")[0]
    objectives = re.findall(r"^\d\. (.+)$", chapter.notebook.cells[0].source, re.MULTILINE)
    questions = " ".join(re.findall(r"questions? (\d(?: and \d)?)", " ".join(objectives)))
    asked = {int(question) for question in re.findall(r"\d", questions)}
    assert asked == set(range(1, len(re.findall(r"^\*\*\d\.\*\* ", chapter.text, re.MULTILINE)) + 1))
    named = {task: line for line in objectives for task in re.findall(rf"{number}\.\d", line)}
    assert {*named} == {task.id for task in registry.exercises_of(number)}
    assert all(task.objective in named[task.id] for task in registry.exercises_of(number))
