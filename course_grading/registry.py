"""Which exercises there are: a module of checks for each chapter, with the facts of its notebook, and hidden checks."""

import importlib
import pkgutil
import re
import runpy
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

from course_grading import checks
from course_grading.exercise import Exercise
from course_grading.facts import facts

# As a file has it, where a line of code may begin after the two signs of an escaped end of line.
CHECK = re.compile(rb"""(?:\\n|\b)check\(\s*\\?["'](\d\d)\.\d""")
MOST_BYTES = 200 * 2**20  # of a notebook


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
    tasks = exercises_of(given[:2]) if given[:2] in known() else ()
    for each in tasks:
        if each.id == given:
            return each
    allowed = f"{tasks[0].id} to {tasks[-1].id}" if tasks else f"those of chapters {', '.join(known())}, such as 02.1"
    raise ValueError(f"exercise: got {given[:40]!r}; allowed are {allowed}.")


def chapter_of(path: Path) -> str:
    """The chapter of a notebook or a folder of them: that of most of its checks; without any, the one in its name."""
    votes = Counter(filter(None, (checked_chapter(_content(file)) for file in notebooks_in(path))))
    if votes:
        return votes.most_common(1)[0][0]
    found = {number for number in re.findall(r"(?<!\d)\d\d(?!\d)", path.stem) if number in known()}
    if len(found) == 1:
        return found.pop()
    raise ValueError(
        f"chapter: neither the checks in {path.name!r} nor its name tell it; give --chapter, one of "
        f"{', '.join(known())}."
    )


def checked_chapter(content: bytes) -> str | None:
    """The chapter of most calls of `check("NN.…` in a notebook's file; None where there is none of a known chapter."""
    found = Counter(number.decode() for number in CHECK.findall(content))
    known_ones = [number for number, _ in found.most_common() if number in known()]
    return known_ones[0] if known_ones else None


def notebooks_in(path: Path) -> list[Path]:
    """The notebook itself, or those below a folder in the order of their paths, without hidden and system files."""
    if not path.is_dir():
        return [path]
    return [file for file in _files_in(path) if not _is_hidden(file.relative_to(path))]


def skipped_in(folder: Path) -> list[Path]:
    """What below a folder has a notebook's name, and is hidden or a system's own, such as an archive brings along."""
    files = (file.relative_to(folder) for file in _files_in(folder))
    return [file for file in files if _is_hidden(file) and ".ipynb_checkpoints" not in file.parts]


def archives_in(folder: Path) -> list[Path]:
    """The .zip files below a folder, in which submissions may lie."""
    files = (file.relative_to(folder) for file in sorted(folder.rglob("*")) if file.suffix.lower() == ".zip")
    return [file for file in files if not _is_hidden(file)]


def _files_in(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.suffix.lower() == ".ipynb" and not file.is_dir())


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in path.parts)


def _content(path: Path) -> bytes:
    """The bytes of an ordinary file of a fair size; nothing of others, of which the grader says what they are."""
    with suppress(OSError):
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= MOST_BYTES:
            return path.read_bytes()
    return b""


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
