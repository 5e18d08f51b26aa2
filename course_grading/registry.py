"""Which exercises there are: a module of checks for each chapter, with the facts of its notebook, and hidden checks."""

import importlib
import pkgutil
import re
import runpy
from dataclasses import replace
from functools import cache
from pathlib import Path

from course_grading import checks
from course_grading.exercise import Exercise
from course_grading.facts import facts


@cache
def _modules() -> dict[str, str]:
    """Chapter → the name of its module of checks: "02" → "ch02_vae"."""
    names = sorted(module.name for module in pkgutil.iter_modules(checks.__path__))
    return {name[2:4]: name for name in names if re.match(r"ch\d\d_", name)}


def known() -> tuple[str, ...]:
    """The numbers of the chapters that have exercises: ("02", …)."""
    return tuple(_modules())


@cache
def exercises_of(chapter: str) -> tuple[Exercise, ...]:
    """The exercises of a chapter, in order; a ValueError when it has none."""
    if chapter not in known():
        raise ValueError(f"chapter: got {chapter!r}; allowed are {', '.join(map(repr, known()))}.")
    found = importlib.import_module(f"{checks.__name__}.{_modules()[chapter]}").EXERCISES
    return tuple(replace(check, id=id, **vars(facts()[id])) for id, check in found.items())


def find(exercise: str) -> Exercise:
    """The exercise with this id, such as "02.1"; a ValueError that names the allowed ones when there is none."""
    given = str(exercise)
    chapters = [given[:2]] if given[:2] in known() else known()
    there = [exercises_of(chapter) for chapter in chapters]
    for each in (each for tasks in there for each in tasks):
        if each.id == given:
            return each
    allowed = ", ".join(f"{tasks[0].id} to {tasks[-1].id}" for tasks in there)
    raise ValueError(f"exercise: got {given[:40]!r}; allowed are {allowed}.")


def chapter_of(path: Path) -> str:
    """The chapter that a file's name begins with or holds as a word of its own, such as smith_02_vae.ipynb."""
    found = [number for number in re.findall(r"(?<!\d)\d\d(?!\d)", path.stem) if number in known()]
    if len(set(found)) == 1:
        return found[0]
    if len(known()) == 1:
        return known()[0]
    raise ValueError(f"chapter: the name {path.name!r} does not tell it; give --chapter, one of {', '.join(known())}.")


def hidden_files(folder: Path, chapter: str) -> list[Path]:
    """The folder's files of hidden checks for a chapter: those whose name begins with its number."""
    if not folder.is_dir():
        raise ValueError(f"hidden: got {str(folder)!r}; allowed is a folder with files such as {chapter}_name.py.")
    return sorted(folder.glob(f"{chapter}*.py"))


def hidden_checks(folder: Path, chapter: str) -> tuple[Exercise, ...]:
    """The `EXERCISES` of the folder's files for the chapter. They run in this process."""
    found = []
    for path in hidden_files(folder, chapter):
        found += runpy.run_path(str(path))["EXERCISES"]
    targets = {exercise.id for exercise in exercises_of(chapter)}
    for exercise in found:
        if exercise.of not in targets:
            raise ValueError(f"hidden: {exercise.id} is a check of {exercise.of!r}, which is no exercise of {chapter}.")
    return tuple(found)
