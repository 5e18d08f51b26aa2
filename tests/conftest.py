"""What all tests share: one wheel for the session, which tests are too slow for `make check`, and which begin."""

import fcntl
import json
import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from xdist.scheduler import LoadFileScheduling

import build_book
import build_wheel

TESTS = Path(__file__).parent
# Files and folders whose tests start kernels, browsers or workers, train, or draw a million images: everything else is
# fast, new tests too, but for those that are marked slow by themselves.
SLOW = (
    "browser", "exercises", "replication", "training", "grading/test_attacks.py", "grading/test_chapter_23.py",
    "grading/test_check.py", "grading/test_command.py", "grading/test_grader.py", "grading/test_hidden_checks.py",
    "grading/test_instructors.py", "grading/test_odd_answers.py", "metrics/test_encoders.py", "notebooks/test_book.py",
    "notebooks/test_chapters.py", "published", "theory/test_two_spheres.py",
)  # fmt: skip
TREES = {"dci", "downstream_trees"}  # the scores that grow trees: the tests of all scores leave them to `make test`
# Files that take about a minute or more, the longest first. They begin, so that no worker is left with one when the
# other has nothing more to do: whole files are handed out in this order, where pytest-xdist's own would be by how many
# tests are in a file, and the longest are few.
FIRST = (
    "browser/test_built_book.py", "notebooks/test_chapters.py", "grading/test_check.py", "grading/test_grader.py",
    "grading/test_hidden_checks.py", "replication/test_runs.py", "notebooks/test_book.py",
)  # fmt: skip
# Tests of a minute each, that share nothing but the wheel: each is handed out by itself, as if it were a file.
APART = "::test_runs_in_an_empty_folder_with_the_wheel["


class Scheduling(LoadFileScheduling):
    """Whole files, as by `--dist loadfile`, so that what a file shares is made once; but notebooks one by one."""

    def _split_scope(self, nodeid):
        return nodeid if APART in nodeid else super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config, log):
    return Scheduling(config, log) if config.getvalue("dist") == "loadfile" else None


@cache
def is_in_slow_place(path):
    return any(path == TESTS / name or TESTS / name in path.parents for name in SLOW)


def pytest_collection_modifyitems(items):
    for item in items:
        values = item.callspec.params.values() if hasattr(item, "callspec") else ()
        if is_in_slow_place(item.path) or any(isinstance(value, str) and value in TREES for value in values):
            item.add_marker(pytest.mark.slow)
    # What is fast comes last, and fills what is left of a worker's time; the order within a file stays.
    first = {TESTS / name: order for order, name in enumerate(FIRST)}
    items.sort(key=lambda item: first.get(item.path, len(FIRST) + (not is_in_slow_place(item.path))))


@pytest.fixture(scope="session")
def session_folder(tmp_path_factory):
    """A folder that the processes of pytest-xdist share, new for each session."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base


@pytest.fixture(scope="session")
def wheel(session_folder):
    """The wheel of the course as it is now, built once, whichever process asks first."""
    folder = session_folder / "wheel"
    with (session_folder / "wheel.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (built := [*folder.glob("*.whl")]):
            folder.mkdir(exist_ok=True)
            built = [build_wheel.build(folder)]
    return built[0]


@pytest.fixture(scope="session")
def installed(wheel, session_folder):
    """A folder that holds the three packages as the wheel has them, and nothing else."""
    folder = session_folder / "installed"
    with (session_folder / "wheel.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            build_wheel.install(wheel, folder)
    return folder


class BuiltBook(NamedTuple):
    """folder: a copy of the sources, built. before: what the copy held then. failure: what a failed build said."""

    folder: Path
    before: dict[str, str]
    failure: str

    @property
    def html(self) -> Path:
        return self.folder / "_build" / "html"


@pytest.fixture(scope="session")
def built_book(session_folder):
    """The book as the sources are now, built once, whichever process asks first."""
    folder, notes = session_folder / "book" / "course", session_folder / "book.json"
    with (session_folder / "book.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not notes.exists():
            build_book.copy_sources(folder)
            for stray in ("stray.md", ".pytest_cache/README.md", ".venv/lib/README.md"):  # as a reader's folder holds
                (folder / stray).parent.mkdir(parents=True, exist_ok=True)
                (folder / stray).write_text("# Not a page of the book\n")
            before = build_book.contents(folder)
            done = build_book.build(folder)
            failure = (done.stdout + done.stderr) if done.returncode else ""
            notes.write_text(json.dumps([before, failure]))
    return BuiltBook(folder, *json.loads(notes.read_text()))
