"""`python -m course_lib grade`: one notebook, or a folder of them."""

import argparse
import json
import sys
from pathlib import Path

from course_lib.grading import batch, registry, sandbox
from course_lib.grading.grader import grade
from course_lib.grading.results import Report
from course_lib.grading.sandbox import Limits

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
    parser.add_argument("--chapter", help="two digits, such as 02; otherwise the file's name tells")
    parser.add_argument("--hidden", type=Path, help="a folder of hidden checks")
    parser.add_argument("--seconds", type=float, default=Limits.total, help="for one submission in all (%(default)g)")
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
        chapter = arguments.chapter or registry.chapter_of(path)
        exercises = registry.exercises_of(chapter)
        if arguments.hidden is not None:
            exercises += registry.hidden_checks(arguments.hidden, chapter)
        if sys.platform not in ("linux", "darwin"):
            raise ValueError(f"system: got {sys.platform}; allowed are Linux and macOS (on Windows, use WSL).")
        if not 0 < arguments.seconds <= 86_400:
            raise ValueError(f"seconds: got {arguments.seconds:g}; allowed are numbers above 0, up to 86,400 (a day).")
        if path.is_dir():
            arguments.output.mkdir(parents=True, exist_ok=True)
    except (ValueError, OSError) as error:
        print(error if isinstance(error, ValueError) else f"output: {error}", file=sys.stderr)
        return 2
    sandbox.hide_memory()
    grade_one_or_all = _class if path.is_dir() else _one
    try:
        return grade_one_or_all(arguments, exercises, Limits(total=arguments.seconds))
    except sandbox.GraderError as error:
        print(error, file=sys.stderr)
        return 3


def _one(arguments: argparse.Namespace, exercises, limits: Limits) -> int:
    print(f"Grading {arguments.notebook.name} …", file=sys.stderr, flush=True)
    report = grade(arguments.notebook, exercises, limits)
    _warn(report)
    print(_form(arguments, report))
    return 0


def _form(arguments: argparse.Namespace, report: Report) -> str:
    if arguments.json or arguments.gradescope:
        content = report.to_json() if arguments.json else report.to_gradescope()
        return json.dumps(content, indent=2, ensure_ascii=False)
    return report.to_text()


def _warn(report: Report) -> None:
    missing = [words for layer, words in LAYERS.items() if layer not in (*report.layers, "identity")]
    if report.layers and missing:
        print(f"Not in force on this system: {'; '.join(missing)}.", file=sys.stderr)


def _class(arguments: argparse.Namespace, exercises, limits: Limits) -> int:
    """Grade a folder: a line for each submission as it is done, then the table; its files go to the output folder."""
    import matplotlib

    matplotlib.use("Agg")

    def done(report: Report) -> None:
        print(
            f"{report.points:3} of {report.possible}  {report.seconds:5.1f} s  {batch.one_line(report.name)}",
            file=sys.stderr,
        )

    reports = list(batch.grade_all(arguments.notebook, exercises, limits, done))
    if not reports:
        print(f"notebook: got {str(arguments.notebook)!r}, a folder without notebooks.", file=sys.stderr)
        return 2
    _warn(reports[0])
    batch.write_csv(arguments.output / "summary.csv", reports)
    batch.distribution(reports).savefig(arguments.output / "distribution.png")
    contents = [report.to_gradescope() if arguments.gradescope else report.to_json() for report in reports]
    text = json.dumps(contents, indent=2, ensure_ascii=False)
    (arguments.output / "reports.json").write_text(text + "\n", encoding="utf-8")
    print(text if arguments.json or arguments.gradescope else batch.table(reports))
    return 0
