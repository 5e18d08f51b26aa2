"""Which exercises there are: a module `chapter_NN` for each chapter, and files of hidden checks."""

import importlib
import pkgutil
import re
import runpy
from pathlib import Path

from course_grading import chapters
from course_grading.exercise import Exercise


def known() -> tuple[str, ...]:
    """The numbers of the chapters that have exercises: ("02", …)."""
    names = (module.name for module in pkgutil.iter_modules(chapters.__path__))
    return tuple(sorted(name.removeprefix("chapter_") for name in names if name.startswith("chapter_")))


def exercises_of(chapter: str) -> tuple[Exercise, ...]:
    """The exercises of a chapter, in order; a ValueError when it has none."""
    if chapter not in known():
        raise ValueError(f"chapter: got {chapter!r}; allowed are {', '.join(map(repr, known()))}.")
    return importlib.import_module(f"course_grading.chapters.chapter_{chapter}").EXERCISES


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
