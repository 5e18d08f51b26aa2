"""The command: a class and its files, runs that are interrupted and taken up again, and what is refused."""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import exercises
import notebook_io
from course_grading import batch, record, registry, sandbox
from course_grading.results import Report, Result
from course_lib.__main__ import main

pytestmark = pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="the grader needs Linux or macOS")

ROOT = notebook_io.ROOT
STUDENT = next(exercises.student_path(path) for path in exercises.solutions() if path.stem.startswith("02"))


def result(points, message="right.", id="99.1"):
    return Result(id, "title", "objective", points, 3, message)


def test_the_table_and_its_csv(tmp_path):
    reports = [Report("a.ipynb", [result(3)]), Report("=cmd()|'x'.ipynb", [result(0, "=1+1")], ["-note"])]
    lines = batch.table(reports).splitlines()
    assert lines[0].split() == ["submission", "99.1", "all"] and lines[-2].split() == ["mean", "1.5", "1.5"]
    batch.write_csv(tmp_path / "summary.csv", reports)
    text = (tmp_path / "summary.csv").read_text()
    assert len(text.splitlines()) == 3 and not re.search(r"(^|,|\")[=+@-]", text)


NAMES = [
    "=cmd()|'x'.ipynb", "+1.ipynb", "-1.ipynb", "@x.ipynb", "\t=1.ipynb", "\r=1.ipynb", " =1.ipynb", "a\n=1.ipynb",
    'a";=1.ipynb', "a; =1.ipynb", "＝1.ipynb", "\x1b[2J\x07.ipynb", "a\u202eb.ipynb", "\udcff.ipynb", "a,=1.ipynb",
]  # fmt: skip


def test_the_csv_holds_no_formula_and_no_control_character(tmp_path):
    """Wherever a student's words stand: the file's name, messages and notes."""
    reports = [Report(name, [result(0, name)], [name]) for name in NAMES]
    batch.write_csv(tmp_path / "summary.csv", reports)
    text = (tmp_path / "summary.csv").read_bytes().decode()
    assert all(letter.isprintable() or letter in "\r\n" for letter in text)
    for delimiter in ",;\t":
        for row in csv.reader(text.splitlines(), delimiter=delimiter):
            assert delimiter != "," or len(row) == 6
            assert not any(re.match(r"""["\s]*[=+\-@＝]""", cell) for cell in row), row


def test_a_class(tmp_path, monkeypatch, capsys):
    """A folder with an empty submission and one that is none; the table, the CSV, the JSON and the picture."""
    folder = tmp_path / "submissions"
    (folder / "anna").mkdir(parents=True)
    shutil.copy(STUDENT, folder / "anna" / "02_vae.ipynb")
    (folder / "bert.ipynb").write_text("no notebook")
    assert main(["grade", str(folder), "--chapter", "02", "--output", str(tmp_path / "grades")]) == 0
    printed = capsys.readouterr().out
    assert (
        "anna/02_vae.ipynb" in printed and "bert.ipynb" in printed and printed.splitlines()[-1].startswith("possible")
    )
    reports = json.loads((tmp_path / "grades" / "reports.json").read_text())
    assert [report["points"] for report in reports] == [0, 0]
    assert (tmp_path / "grades" / "distribution.png").stat().st_size > 5_000
    assert len((tmp_path / "grades" / "summary.csv").read_text().splitlines()) == 3
    assert main(["grade", str(folder), "--chapter", "02", "--output", str(tmp_path / "grades")]) == 0
    assert "2 of 2 were graded before and have not changed." in capsys.readouterr().err


@pytest.fixture
def graded(monkeypatch):
    """The names of the files that were graded and not taken from the record."""
    names, grade = [], batch.grade
    monkeypatch.setattr(batch, "grade", lambda path, *rest: (names.append(path.name), grade(path, *rest))[1])
    return names


def in_all(folder, plain, quick, path, setting="a"):
    reports = batch.grade_all(folder, plain, quick, record.Record(path, setting), lambda report: None)
    return [report.to_json() for report in reports]


def test_an_interrupted_class_is_taken_up_again(tmp_path, notebook, plain, quick, graded):
    """What was graded is written at once; only what is new, or has changed, is graded again."""
    folder, path = tmp_path, tmp_path / "graded.jsonl"
    for place, name in enumerate(["a.ipynb", "b.ipynb", "c.ipynb"]):
        notebook(f"a = {place}", name=name)
    reports = batch.grade_all(folder, plain, quick, record.Record(path, "a"), lambda report: None)
    next(reports), next(reports), reports.close()
    path.write_text(path.read_text()[:-20])  # the second line is torn
    whole = in_all(folder, plain, quick, path)
    assert graded == ["a.ipynb", "b.ipynb", "b.ipynb", "c.ipynb"]
    assert [report["points"] for report in whole] == [0, 1, 0] and in_all(folder, plain, quick, path) == whole
    assert len(graded) == 4
    notebook("a = 1", name="a.ipynb")
    assert [report["points"] for report in in_all(folder, plain, quick, path)] == [1, 1, 0] and graded[4:] == [
        "a.ipynb"
    ]
    in_all(folder, plain, quick, path, "another course, or other hidden checks")
    assert graded[5:] == ["a.ipynb", "b.ipynb", "c.ipynb"]


def test_what_the_points_depend_on(tmp_path):
    hidden, other = tmp_path / "02_a.py", tmp_path / "02_b.py"
    hidden.write_text("EXERCISES = []"), other.write_text("EXERCISES = ()")
    limits = sandbox.Limits()
    settings = [("02", [], limits), ("04", [], limits), ("02", [hidden], limits), ("02", [other], limits)]
    settings += [("02", [], sandbox.Limits(total=9))]
    assert len({record.setting(*setting) for setting in settings}) == len(settings)
    assert record.setting(*settings[0]) == record.setting(*settings[0])


def test_the_distribution_shows_every_submission():
    reports = [Report(f"{place}.ipynb", [result(points)]) for place, points in enumerate([0, 3, 3])]
    points, solved = batch.distribution(reports).axes
    assert [bar.get_height() for bar in points.patches] == [1, 0, 0, 2]
    assert [round(bar.get_width()) for bar in solved.patches] == [67]


def test_alone_it_lists_the_subcommands(capsys):
    assert main([]) == 0
    assert re.search(r"grade +grade a notebook", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["nowhere.ipynb"], "notebook: got 'nowhere.ipynb'"),
        (["{there}", "--chapter", "99"], "chapter: got '99'; allowed are '01"),
        (["{there}", "--hidden", "nowhere"], "hidden: got 'nowhere'"),
        (["{there}", "--seconds", "-1"], "seconds: got -1"),
        (["{empty}", "--chapter", "02"], "a folder without notebooks"),
    ],
)
def test_what_the_command_refuses(arguments, named, capsys, tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    arguments = [part.format(there=STUDENT, empty=tmp_path / "empty") for part in arguments]
    assert main(["grade", *arguments]) == 2
    printed = capsys.readouterr()
    assert named in printed.err and printed.out == "" and len(printed.err.splitlines()) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_nothing_behind(number, tmp_path, notebook):
    """The worker's folder goes, and the worker too."""
    path, place = notebook("while True: pass"), tmp_path / "temporary"
    place.mkdir()
    command = [sys.executable, "-m", "course_lib", "grade", str(path)]
    process = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"TMPDIR": str(place)}, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while not list(place.iterdir()) and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(1)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    workers = children.read_text().split() if children.exists() else []
    process.send_signal(number)
    assert process.wait(20) == 128 + number and list(place.iterdir()) == []
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


def test_a_signal_without_a_name():
    assert sandbox._signal(9) == "SIGKILL" and sandbox._signal(40) == "signal 40"


def test_an_ascii_locale(notebook):
    """Text with ? for what cannot be written; JSON with escapes, the same content as ever."""
    path = notebook("beta_of_the_sum = 64; prediction = 'β'")
    command = [sys.executable, "-m", "course_lib", "grade", str(path)]
    environment = os.environ | {
        "LC_ALL": "C",
        "PYTHONIOENCODING": "ascii",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    }
    text, form = (
        subprocess.run([*command, *more], cwd=ROOT, env=environment, capture_output=True) for more in ([], ["--json"])
    )
    assert text.returncode == form.returncode == 0, text.stderr + form.stderr
    assert b"Traceback" not in text.stderr and b"2 of 2  right: ?_sum = ?_mean" in text.stdout
    assert "β_sum = β_mean" in json.loads(form.stdout.decode("ascii"))["exercises"][2]["message"]


def test_hidden_checks_of_another_chapter_only(tmp_path, notebook, capsys, monkeypatch):
    """Said, and no error: a folder may hold the hidden checks of some chapters."""
    (tmp_path / "03_other.py").write_text("EXERCISES = ()")
    (tmp_path / "bad.ipynb").write_text("no notebook")
    assert main(["grade", str(tmp_path / "bad.ipynb"), "--chapter", "02", "--hidden", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert f"hidden: {tmp_path} has no file for chapter 02, so nothing is added." in printed.err.splitlines()
    possible = sum(task.points for task in registry.exercises_of("02"))
    assert printed.out.startswith(f"bad.ipynb: 0 of {possible} points")
