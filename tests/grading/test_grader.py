"""A submission from end to end: the real exercises, the real worker, the command and its forms."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile

import pytest

import build_wheel
import notebook_io
from course_lib.__main__ import main
from course_lib.grading import batch, registry
from course_lib.grading.grader import grade
from course_lib.grading.results import Report, Result
from course_lib.grading.sandbox import Limits

pytestmark = pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="the grader needs Linux or macOS")

ROOT = notebook_io.ROOT
SOLUTION, STUDENT = ROOT / "exercises" / "solutions" / "02_vae.ipynb", ROOT / "exercises" / "02_vae.ipynb"
HIDDEN = ROOT / "exercises" / "hidden"

WRONG = """
import torch
from course_lib.grading import check
torch.allclose = torch.equal = torch.isclose = lambda *a, **k: True
torch.Tensor.__eq__ = torch.Tensor.allclose = lambda *a, **k: True

def kl_to_prior(mean, log_variance):
    return (mean**2 + log_variance.exp() - 1 - log_variance).sum(1)

def any_name_at_all(mean, log_variance, noise):
    with torch.no_grad():
        return mean + (0.5 * log_variance).exp() * noise
check("02.2", any_name_at_all)

beta_of_the_sum = torch.tensor(1 / 64)

def sampled_kl(mean, log_variance, noise):
    while True:
        pass

prediction = {"kl": "rises", "reconstruction": "rises", "loss": "rises", "used": "falls"}
settings = {"beta": 0, "reduction": "mean", "learning_rate": 0.001}

def log_likelihood(images, decoded, std):
    import os
    os._exit(0)

gap = {"from": "q(z|x)", "to": "p(z)", "change": "falls by 2"}
"""
MESSAGES = {
    "02.1": "the ½ in front is missing",
    "02.2": "no gradient passes",
    "02.3": "upside down",
    "02.4": "it took longer than 2 s",
    "02.5": "a higher price buys fewer nats",
    "02.6": "the way to the most nats",
    "02.7": "it ended the Python process",
    "02.8": "a term inside the ELBO",
}


@pytest.fixture(scope="module")
def solved():
    return grade(SOLUTION, registry.exercises_of("02") + registry.hidden_checks(HIDDEN, "02"), Limits())


def test_the_solution_gets_everything(solved):
    assert solved.points == solved.possible == 22 and solved.notes == [], solved.to_text()
    assert solved.seconds < 60


def test_the_students_notebook_gets_nothing():
    report = grade(STUDENT, registry.exercises_of("02"), Limits())
    assert report.points == 0 and report.possible == 20 and report.notes == [], report.to_text()
    others = [result.message for result in report.results if result.id != "02.4"]
    assert set(others) == {"not written yet."} and "planted fault is still there" in report.results[3].message


def test_wrong_answers_in_the_worker(notebook):
    """The same messages as in `check`; the loop and the exit cost only the exercises they stand in."""
    limits = Limits(call=2)
    report = grade(notebook(WRONG), registry.exercises_of("02"), limits)
    assert report.points == 0
    for result in report.results:
        assert MESSAGES[result.id] in result.message, result
    again = grade(notebook(WRONG), registry.exercises_of("02"), limits)
    assert again.to_json() == report.to_json()


def test_an_answer_in_a_cell_that_failed_is_not_called_missing(notebook, plain, quick):
    report = grade(notebook("a = (1", "b = 2", "import os\nos._exit(1)\nprize = 3"), plain, quick)
    assert [result.points for result in report.results] == [0, 1, 0]
    assert report.results[0].message.startswith("there is no answer: code cell 1 raised SyntaxError")
    assert report.results[2].message.startswith("there is no answer: code cell 3 was skipped: it ended")


def test_the_last_answer_handed_to_check_counts(notebook, plain, quick):
    source = "from course_lib.grading import check\na = 7\ncheck('99.1', 0)\nmine = 1\ncheck('99.1', mine)\ndel mine"
    assert grade(notebook(source), plain, quick).points == 1


@pytest.mark.parametrize("name", ["check", "report", "torch", "self", "worker", "request", "known", "math", "print"])
def test_a_variable_may_have_any_name(name, notebook, plain, quick):
    assert grade(notebook(f"{name} = 5", "a = 1\nb = 2"), plain, quick).points == 2


def test_randomness_repeats_itself(notebook, plain, quick):
    source = "import random, numpy\na = 1 + (random.random() + numpy.random.rand() < 1)"
    reports = {grade(notebook(source), plain, quick).points for _ in range(3)}
    assert len(reports) == 1


def test_hidden_checks(solved, notebook, tmp_path):
    assert [result.id for result in solved.results if result.hidden] == ["02.1h", "02.7h"]
    tests = {test["number"]: test for test in solved.to_gradescope()["tests"]}
    assert tests["02.1h"]["visibility"] == "after_published" and tests["02.1h"]["output"] == ""
    with pytest.raises(ValueError, match="^hidden: got .* allowed is a folder"):
        registry.hidden_checks(tmp_path / "none", "02")
    (tmp_path / "02_odd.py").write_text((HIDDEN / "02_vae.py").read_text().replace('find("02.1")', 'find("02.1h")'))
    with pytest.raises(ValueError, match="exercise: got '02.1h'; allowed are 02.1"):
        registry.hidden_checks(tmp_path, "02")


@pytest.mark.parametrize("header", ["%%time", "%%capture out"])
def test_what_stands_below_a_magic_that_only_watches_counts(header, notebook, plain, quick):
    assert grade(notebook(f"{header}\na = 1", "%%html\n<b>a = 2</b>", "b = 2"), plain, quick).points == 2


def test_an_installed_grader_hides_its_references(tmp_path, notebook):
    """Installed, course_lib lies among the libraries, which the worker may read: all but what grades."""
    folder = tmp_path / "site-packages"
    build_wheel.install(build_wheel.build(tmp_path), folder)
    cheat = notebook(
        "import sys\ncheck = sys.modules.pop('course_lib.grading').check\nimport course_lib.losses",
        "import course_lib.grading.chapters.chapter_02 as stolen\n"
        "for each in stolen.EXERCISES:\n    check(each.id, getattr(each, 'reference', None))",
        "import course_lib.metrics, sklearn\nbeta_of_the_sum = 64",
    )
    command = [sys.executable, "-m", "course_lib", "grade", str(cheat), "--json"]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(folder)}, capture_output=True)
    report = json.loads(done.stdout)
    assert report["points"] == 2 and "cell 2 raised" in " ".join(report["notes"]), report


def test_hidden_checks_are_not_in_the_wheel(tmp_path):
    files = zipfile.ZipFile(build_wheel.build(tmp_path)).namelist()
    assert "course_lib/grading/worker.py" in files and not any(
        "hidden" in file or "exercises/" in file for file in files
    )


def test_gradescope_form(solved):
    content = json.loads(json.dumps(solved.to_gradescope()))
    assert content["score"] == 22 and {test["status"] for test in content["tests"]} == {"passed"}
    for test in content["tests"]:
        assert test["visibility"] in ("visible", "hidden", "after_due_date", "after_published")
        assert 0 <= test["score"] <= test["max_score"]


def test_objectives_add_up(solved):
    objectives = solved.by_objective()
    assert sum(points for points, _ in objectives.values()) == 22 and len(objectives) == 6


def result(points, message="right.", id="99.1"):
    return Result(id, "title", "objective", points, 3, message)


def test_the_table_and_its_csv(tmp_path):
    reports = [Report("a.ipynb", [result(3)]), Report("=cmd()|'x'.ipynb", [result(0, "=1+1")], ["-note"])]
    lines = batch.table(reports).splitlines()
    assert lines[0].split() == ["submission", "99.1", "all"] and lines[-2].split() == ["mean", "1.5", "1.5"]
    batch.write_csv(tmp_path / "summary.csv", reports)
    text = (tmp_path / "summary.csv").read_text()
    assert len(text.splitlines()) == 3 and not re.search(r"(^|,|\")[=+@-]", text)


def test_a_class(tmp_path, monkeypatch, capsys):
    """A folder with an empty submission and one that is none; the table, the CSV, the JSON and the picture."""
    folder = tmp_path / "submissions"
    (folder / "anna").mkdir(parents=True)
    shutil.copy(STUDENT, folder / "anna" / "02_vae.ipynb")
    (folder / "bert.ipynb").write_text("no notebook")
    assert main(["grade", str(folder), "--chapter", "02", "--output", str(tmp_path / "grades")]) == 0
    printed = capsys.readouterr().out
    assert "anna/02_vae.ipynb" in printed and "bert.ipynb" in printed and printed.splitlines()[-1].split()[-1] == "20"
    reports = json.loads((tmp_path / "grades" / "reports.json").read_text())
    assert [report["points"] for report in reports] == [0, 0]
    assert (tmp_path / "grades" / "distribution.png").stat().st_size > 5_000
    assert len((tmp_path / "grades" / "summary.csv").read_text().splitlines()) == 3


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
        (["{there}", "--chapter", "99"], "chapter: got '99'; allowed are '02'"),
        (["{there}", "--hidden", "nowhere"], "hidden: got 'nowhere'"),
        (["{there}", "--seconds", "-1"], "seconds: got -1"),
        (["{empty}"], "a folder without notebooks"),
    ],
)
def test_what_the_command_refuses(arguments, named, capsys, tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    arguments = [part.format(there=STUDENT, empty=tmp_path / "empty") for part in arguments]
    assert main(["grade", *arguments]) == 2
    printed = capsys.readouterr()
    assert named in printed.err and printed.out == "" and len(printed.err.splitlines()) == 1


def test_modules_in_the_current_folder_are_not_imported(tmp_path, notebook):
    """A class's folder may hold a torch.py, in which a student's code would run in the grader's own process."""
    for name in ("torch", "numpy", "json", "argparse"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a student ran')")
    path = notebook("beta_of_the_sum = 64")
    command = [sys.executable, "-m", "course_lib", "grade", str(path), "--json"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    started = time.monotonic()
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert time.monotonic() - started < 60
    assert "a student ran" not in done.stderr, done.stderr
    assert json.loads(done.stdout)["points"] == 2, done.stderr
