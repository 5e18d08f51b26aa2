"""What the grader's tests share: the solutions' answers, three exercises to attack, and quick limits."""

import ast
import contextlib
import functools
import io
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

import exercises
import notebook_io
from course_grading import registry
from course_grading.answers import number
from course_grading.exercise import Function, LocalAnswer, Verdict
from course_grading.sandbox import Limits


def handed_to_check(path: Path) -> dict[str, object]:
    """Exercise → what the notebook hands to `check`. Only the cells that this needs are run: no training to look at."""
    wanted, needed = set(), []
    for cell in reversed(notebook_io.code_cells(notebook_io.read(path))):
        tree = ast.parse(cell.source)
        used, bound = _names(tree)
        checks = any(isinstance(node, ast.Call) and getattr(node.func, "id", "") == "check" for node in ast.walk(tree))
        if checks or bound & wanted:
            needed.insert(0, cell.source)
            wanted |= used
    found: dict[str, object] = {}
    namespace = {"__name__": "__main__"}
    quiet = contextlib.redirect_stdout(io.StringIO())  # what a solution prints is no output of the test that asks first
    with mock.patch("course_grading.check", found.__setitem__), quiet:
        for source in needed:
            exec(source, namespace)
    return found


def _names(tree: ast.Module) -> tuple[set[str], set[str]]:
    """The names that a cell reads, and those that it binds."""
    used, bound = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return used, bound


@pytest.fixture(scope="session")
def answers():
    """answers(chapter): exercise → the solution notebook's answer."""
    by_chapter = {path.stem[:2]: path for path in exercises.solutions()}
    return functools.cache(lambda chapter: handed_to_check(by_chapter[chapter]))


@pytest.fixture(scope="session")
def right_answers(answers):
    """right_answers(exercise): the solution's; of a function its reference, computed in another way; other styles."""

    def of(exercise):
        references = [exercise.reference] if isinstance(exercise, Function) else []
        return [answers(exercise.id[:2])[exercise.id], *references, *exercise.also_right]

    return of


@pytest.fixture(scope="session")
def judged():
    """judged(id, answer, seed=0): the verdict of an exercise, or of a hidden check such as "14.1h"."""
    hidden = functools.cache(functools.partial(registry.hidden_checks, notebook_io.ROOT / "exercises" / "hidden"))

    def verdict(id: str, answer, seed: int = 0) -> Verdict:
        checks = {check.id: check for check in registry.exercises_of(id[:2]) + hidden(id[:2])}
        return checks[id].judge(LocalAnswer(answer), seed)

    return verdict


@pytest.fixture
def quick():
    """Short limits, and a worker that starts at once since torch is imported by those who need it."""
    return Limits(cell=1.5, call=1.5, total=12, memory=2**29, disk=8 * 2**20, file_size=2**22, files=200, preload=())


@pytest.fixture
def plain():
    """Three exercises: an honest submission sets a = 1 and b = 2; only an attack could set prize = 3."""

    def exercise(place, name, right):
        facts = dict(title=name, objective="to count", answer=name, points=1, hints=("It is a number.",))
        return replace(number(right, {}), id=f"99.{place}", **facts)

    return [exercise(1, "a", 1), exercise(2, "b", 2), exercise(3, "prize", 3)]


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Where the workers' folders are made, to see whether they are removed."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


@pytest.fixture
def notebook(tmp_path):
    """Write a notebook with these code cells and return its path."""

    def write(*sources, name="some_02_vae.ipynb"):
        cells = [{"cell_type": "code", "source": source, "outputs": [], "metadata": {}} for source in sources]
        path = tmp_path / name
        path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
        return path

    return write
