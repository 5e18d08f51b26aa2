"""A class: every notebook of a folder, a table of points, and a picture of their distribution."""

import csv
import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from course_grading.calling import one_line
from course_grading.exercise import Exercise
from course_grading.grader import Unusable, content_of, grade, written
from course_grading.record import Record
from course_grading.registry import notebooks_in
from course_grading.results import Report
from course_grading.sandbox import Limits

MOST_CELL = 2_000  # letters
FORMULA = re.compile(r"""(^|;["'\s]*)(?=[=+\-@|%＝＋－＠])""")
MOST_NAME = 40  # letters of a file's name in the printed table


def grade_all(
    folder: Path, exercises: Sequence[Exercise], limits: Limits, record: Record, done: Callable[[Report], None]
) -> Iterator[Report]:
    """Grade one after the other, but for those that are in the record; `done` is called with each new report."""
    for path in notebooks_in(folder):
        name = str(path.relative_to(folder))
        try:
            content = content_of(path)
        except Unusable:  # which takes no time, and is said by `grade`
            content = None
        report = content is not None and record.find(name, content)
        if not report:
            report = dataclasses.replace(grade(path, exercises, limits), name=written(name))
            if content is not None:
                record.add(name, content, report)
            done(report)
        yield report


def table(reports: Sequence[Report]) -> str:
    """One line for each submission, one column for each exercise, and the mean of each column."""
    ids = [result.id for result in reports[0].results]
    width = max(len("submission"), *(min(len(one_line(report.name)), MOST_NAME) for report in reports))
    columns = [max(len(id), 4) for id in ids]
    lines = [_line("submission", [*ids, "all"], width, columns)]
    for report in reports:
        points = [result.points for result in report.results]
        lines.append(_line(one_line(report.name, MOST_NAME), [*points, report.points], width, columns))
    means = [sum(report.results[place].points for report in reports) / len(reports) for place in range(len(ids))]
    lines.append(_line("mean", [f"{value:.1f}" for value in (*means, sum(means))], width, columns))
    possible = [result.possible for result in reports[0].results]
    lines.append(_line("possible", [*possible, sum(possible)], width, columns))
    return "\n".join(lines)


def _line(name: str, values: Sequence, width: int, columns: Sequence[int]) -> str:
    sizes = (*columns, 5)
    return " ".join([name.ljust(width), *(str(value).rjust(size) for value, size in zip(values, sizes, strict=True))])


def write_csv(path: Path, reports: Sequence[Report]) -> None:
    """The table with the messages: one row for each submission, two columns for each exercise."""
    ids = [result.id for result in reports[0].results]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        header = [heading for id in ids for heading in (f"{id} points", f"{id} message")]
        writer.writerow(["submission", "points", "possible", *header, "notes"])
        for report in reports:
            cells = [cell for result in report.results for cell in (result.points, _harmless(result.message))]
            notes = _harmless(" ".join(report.notes))
            writer.writerow([_harmless(report.name), report.points, report.possible, *cells, notes])


def _harmless(text: str) -> str:
    """Text that no spreadsheet takes for a formula, at the start of a cell or after a semicolon, which may end one."""
    return FORMULA.sub(r"\1'", one_line(text, MOST_CELL))


def distribution(reports: Sequence[Report]):
    """A matplotlib figure: how many submissions have how many points, and the share that solved each exercise."""
    import matplotlib.pyplot as plt

    from course_lib import viz

    viz.use_style()
    figure, (points, solved) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    possible = reports[0].possible
    points.hist([report.points for report in reports], bins=[value - 0.5 for value in range(possible + 2)])
    points.set(xlabel="points", ylabel="submissions", title=f"{len(reports)} submissions, {possible} possible points")
    results = list(zip(*(report.results for report in reports), strict=True))
    shares = [sum(result.points == result.possible for result in column) / len(reports) for column in results]
    solved.barh([column[0].id for column in results], [100 * share for share in shares], color=viz.PALETTE[2])
    solved.set(xlabel="solved, % of submissions", xlim=(0, 100), title="Exercises")
    solved.invert_yaxis()
    return figure
