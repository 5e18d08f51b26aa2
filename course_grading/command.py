"""`python -m course_lib grade`: one notebook, or a folder of them."""

import argparse
import ctypes
import json
import os
import signal
import sys
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from course_grading import batch, record, registry, sandbox
from course_grading.calling import say
from course_grading.grader import grade, written
from course_grading.results import Report
from course_grading.sandbox import Limits

LAYERS = {
    "limits": "limits on memory, files and time",
    "identity": "rights of root given up",
    "files": "no writing, and little reading, outside the worker's own folder",
    "calls": "no processes, signals or network",
}


def add_to(commands) -> None:
    """Add the subcommand `grade` to argparse's `commands`."""
    parser = commands.add_parser("grade", help="grade a notebook, or every notebook of a folder", description=__doc__)
    parser.add_argument("notebook", type=Path, help="a notebook, or a folder of submissions")
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--json", action="store_true", help="print JSON")
    forms.add_argument("--gradescope", action="store_true", help="print Gradescope's results.json")
    parser.add_argument("--chapter", help="two digits, such as 02; otherwise its checks or its name tell")
    parser.add_argument("--hidden", type=Path, help="a folder of hidden checks")
    parser.add_argument(
        "--seconds", type=float, help=f"for one submission in all ({Limits.total:g}; longer on a slow computer)"
    )
    parser.add_argument(
        "--output", type=Path, default=Path("grades"), help="of a folder's table and picture (%(default)s)"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Grade and return the exit status: 0 when that worked, whatever the points; 2 and 3 when it could not."""
    path = arguments.notebook
    try:
        if not path.exists():
            raise ValueError(f"notebook: got {str(path)!r}, where nothing is; allowed is a notebook or a folder.")
        if path.suffix.lower() == ".zip":
            raise ValueError(f"notebook: got {str(path)!r}; allowed is a notebook or a folder: unpack it first.")
        chapter = arguments.chapter or registry.chapter_of(path)
        exercises = registry.exercises_of(chapter)
        hidden = [] if arguments.hidden is None else registry.hidden_files(arguments.hidden, chapter)
        if hidden:
            exercises += registry.hidden_checks(arguments.hidden, chapter)
        elif arguments.hidden is not None:
            complain(f"hidden: {arguments.hidden} has no file for chapter {chapter}, so nothing is added.")
        if sys.platform not in ("linux", "darwin"):
            raise ValueError(f"system: got {sys.platform}; allowed are Linux and macOS (on Windows, use WSL).")
        if arguments.seconds is not None and not 0 < arguments.seconds <= 86_400:
            raise ValueError(f"seconds: got {arguments.seconds:g}; allowed are numbers above 0, up to 86,400 (a day).")
        if path.is_dir():
            arguments.output.mkdir(parents=True, exist_ok=True)
    except (ValueError, OSError) as error:
        complain(error if isinstance(error, ValueError) else f"output: {error}")
        return 2
    sandbox.hide_memory()
    asked = Limits() if arguments.seconds is None else Limits(total=arguments.seconds)
    limits = replace(asked.scaled(sandbox.slowness()), **{} if arguments.seconds is None else {"total": asked.total})
    try:
        with _ended_in_order():
            if not path.is_dir():
                return _grade_one(arguments, exercises, limits)
            graded = record.Record(arguments.output / "graded.jsonl", record.setting(chapter, hidden, asked))
            return _grade_folder(arguments, exercises, limits, graded)
    except sandbox.GraderError as error:
        complain(error)
        return 3


@contextmanager
def _ended_in_order():
    """A signal that asks for the end raises SystemExit, so that the worker and its folder go too."""

    def leave(number, frame):
        signal.signal(number, signal.SIG_IGN)  # the first is enough, and what it starts must not be interrupted
        raise SystemExit(128 + number)

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {}
    with suppress(ValueError):  # only the main thread may do this
        before = {number: signal.signal(number, leave) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


complain = partial(say, error=True)


def _grade_one(arguments: argparse.Namespace, exercises, limits: Limits) -> int:
    complain(f"Grading {written(arguments.notebook.name)} …")
    with _own_output():
        report = grade(arguments.notebook, exercises, limits)
    _warn(report)
    say(_form(arguments, report))
    return 0


@contextmanager
def _own_output():
    """Descriptor 1 leads to standard error while answers are looked at: LAPACK writes to it what they provoke."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        ctypes.CDLL(None).fflush(None)  # what a library has not written yet
        os.dup2(kept, 1)
        os.close(kept)


def _form(arguments: argparse.Namespace, report: Report) -> str:
    if arguments.json or arguments.gradescope:
        return _json(report.to_json() if arguments.json else report.to_gradescope())
    return report.to_text()


def _json(content) -> str:
    """JSON for standard output, with escapes where that cannot take every letter."""
    return json.dumps(content, indent=2, ensure_ascii="utf" not in (sys.stdout.encoding or "").lower())


def _warn(report: Report) -> None:
    missing = [words for layer, words in LAYERS.items() if layer not in (*report.layers, "identity")]
    if report.layers and missing:
        complain(f"Not in force on this system: {'; '.join(missing)}.")


def _grade_folder(arguments: argparse.Namespace, exercises, limits: Limits, graded: record.Record) -> int:
    """Grade a folder: a line for each submission as it is done, then the table; its files go to the output folder."""
    import matplotlib

    matplotlib.use("Agg")

    new: list[Report] = []

    def done(report: Report) -> None:
        new.append(report)
        complain(f"{report.points:3} of {report.possible}  {report.seconds:5.1f} s  {report.name}")

    for path in registry.skipped_in(arguments.notebook):
        complain(f"{written(str(path))} was skipped by its name.")
    for path in registry.archives_in(arguments.notebook):
        complain(f"{written(str(path))} was skipped: what is in an archive is graded once it is unpacked.")
    with _own_output():
        reports = list(batch.grade_all(arguments.notebook, exercises, limits, graded, done))
    if not reports:
        complain(f"notebook: got {str(arguments.notebook)!r}, a folder without notebooks.")
        return 2
    if len(new) < len(reports):
        complain(f"{len(reports) - len(new)} of {len(reports)} were graded before and have not changed.")
    _warn(reports[0])
    batch.write_csv(arguments.output / "summary.csv", reports)
    batch.distribution(reports).savefig(arguments.output / "distribution.png")
    contents = [report.to_gradescope() if arguments.gradescope else report.to_json() for report in reports]
    text = json.dumps(contents, indent=2, ensure_ascii=False)
    (arguments.output / "reports.json").write_text(text + "\n", encoding="utf-8")
    say(_json(contents) if arguments.json or arguments.gradescope else batch.table(reports))
    return 0
