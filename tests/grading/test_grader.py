"""A submission from end to end: the real exercises, the real worker, the command and its forms."""

import json
import os
import re
import subprocess
import sys
import time
import zipfile

import pytest

import build_wheel
import exercises
import notebook_io
from course_grading import registry
from course_grading.grader import grade
from course_grading.sandbox import Limits
from course_lib.__main__ import main

pytestmark = pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="the grader needs Linux or macOS")

ROOT = notebook_io.ROOT
SOLUTIONS = {path.stem[:2]: path for path in exercises.solutions()}
STUDENT = exercises.student_path(SOLUTIONS["02"])
HIDDEN = ROOT / "exercises" / "hidden"

WRONG = """
import torch
from course_grading import check
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
scores = {f"{letter} {point}": "yes" for letter in "ABC" for point in ("code", "price", "test")}
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
    "02.9": "its reason is the decoder's size",
    "02.10": "not written yet",
}


@pytest.fixture(scope="module")
def solved():
    return grade(SOLUTIONS["02"], registry.exercises_of("02") + registry.hidden_checks(HIDDEN, "02"), Limits())


@pytest.fixture
def command(capsys):
    """command(path, *options): the report of `course grade`, and the seconds that it took.

    Here torch is imported already; that the command starts as a program of its own, the last tests of this file show.
    """

    def command(path, *options):
        started = time.monotonic()
        status, written = main(["grade", str(path), "--json", *options]), capsys.readouterr()
        assert status == 0, written.err
        return json.loads(written.out), time.monotonic() - started

    return command


@pytest.mark.parametrize("chapter", registry.known())
def test_the_solution_gets_everything(chapter, command):
    """Hidden checks included, in less than a minute."""
    report, seconds = command(SOLUTIONS[chapter], "--hidden", str(HIDDEN))
    tasks = registry.exercises_of(chapter) + registry.hidden_checks(HIDDEN, chapter)
    assert report["points"] == report["possible"] == sum(task.points for task in tasks), report
    assert report["notes"] == [] and seconds < 60


@pytest.mark.parametrize("chapter", registry.known())
def test_the_students_notebook_gets_nothing(chapter, command):
    """Each answer is missing, or is code with a planted fault, which is named."""
    student = exercises.student_path(SOLUTIONS[chapter])
    code = "\n".join(cell.source for cell in notebook_io.code_cells(notebook_io.read(student)))
    report, _ = command(student)
    assert report["points"] == 0 and report["notes"] == [], report
    for task, result in zip(registry.exercises_of(chapter), report["exercises"], strict=True):
        planted = (
            not re.search(rf"^{task.answer} = \.\.\.", code, re.MULTILINE)
            and "NotImplementedError" not in (code.partition(f"def {task.answer}(")[2].partition("\ncheck(")[0])
        )
        known = [wrong.message for wrong in task.wrong] if planted else ["not written yet."]
        assert result["message"] in known, result


def test_wrong_answers_in_the_worker(notebook):
    """The same messages as in `check`; the loop and the exit cost only the exercises they stand in."""
    limits = Limits(call=2)
    report = grade(notebook(WRONG), registry.exercises_of("02"), limits)
    earned = {result.id: result.points for result in report.results if result.points}
    assert earned == {"02.5": 1, "02.8": 1, "02.9": 1} and report.points == 3  # of 2 each, for the parts that are right
    tests = {test["number"]: test for test in report.to_gradescope()["tests"]}
    assert tests["02.5"]["score"] == 1 and tests["02.5"]["status"] == "failed"
    assert tests["02.5"]["output"].startswith("3 of 4 right. kl: ")
    assert "  02.5 1 of 2  3 of 4 right. kl: " in report.to_text()
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
    source = "from course_grading import check\na = 7\ncheck('99.1', 0)\nmine = 1\ncheck('99.1', mine)\ndel mine"
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


def test_an_installed_grader_hides_its_references(tmp_path, notebook, wheel):
    """Installed, course_lib lies among the libraries, which the worker may read: all but what grades."""
    folder = tmp_path / "site-packages"
    build_wheel.install(wheel, folder)
    cheat = notebook(
        "import sys\ncheck = sys.modules.pop('course_grading').check\nimport course_lib.losses",
        "import course_grading.checks.ch02_vae as stolen\n"
        "for id, each in stolen.EXERCISES.items():\n    check(id, getattr(each, 'reference', None))",
        "import course_lib.metrics, sklearn\nbeta_of_the_sum = 64",
    )
    command = [sys.executable, "-m", "course_lib", "grade", str(cheat), "--json"]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(folder)}, capture_output=True)
    report = json.loads(done.stdout)
    assert report["points"] == 2 and "cell 2 raised" in " ".join(report["notes"]), report


def test_hidden_checks_are_not_in_the_wheel(wheel):
    files = zipfile.ZipFile(wheel).namelist()
    assert "course_grading/worker.py" in files and not any("hidden" in file or "exercises/" in file for file in files)


def test_gradescope_form(solved):
    content = json.loads(json.dumps(solved.to_gradescope()))
    assert content["score"] == solved.possible and {test["status"] for test in content["tests"]} == {"passed"}
    for test in content["tests"]:
        assert test["visibility"] in ("visible", "hidden", "after_due_date", "after_published")
        assert 0 <= test["score"] <= test["max_score"]


def test_objectives_add_up(solved):
    objectives = solved.by_objective()
    assert sum(points for points, _ in objectives.values()) == solved.possible and len(objectives) == 6


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
