"""What instructors meet: whose chapter a file is, what a folder holds, output for machines, slow computers."""

import json
import os
import subprocess
import sys

import pytest

import notebook_io
from course_grading import registry, sandbox
from course_grading.exercise import Plain
from course_grading.grader import grade
from course_grading.sandbox import Limits

GRADE = [sys.executable, "-m", "course_lib", "grade"]
pytestmark = pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="the grader needs Linux or macOS")


def run(*arguments, cwd=None):
    environment = os.environ | {"PYTHONPATH": str(notebook_io.ROOT)}
    return subprocess.run([*GRADE, *map(str, arguments)], cwd=cwd, env=environment, capture_output=True, text=True)


def test_the_checks_tell_the_chapter_before_the_name(notebook):
    path = notebook("check('02.3', 64)", 'check("02.1", f)', "check('16.1', g)", name="smith_2026-11-20.ipynb")
    assert registry.chapter_of(path) == "02"
    assert registry.chapter_of(notebook("beta = 64", name="smith_16.ipynb")) == "16"
    assert registry.chapter_of(notebook("check('98.1', 2)", name="smith_16.ipynb")) == "16"
    for name in ("smith.ipynb", "smith_02_16.ipynb", "99.ipynb"):
        with pytest.raises(ValueError, match="chapter: neither the checks in .* nor its name tell it; give --chapter"):
            registry.chapter_of(notebook("a = 1", name=name))


def test_a_folder_is_of_the_chapter_that_most_of_its_notebooks_are_of(notebook, tmp_path):
    for place in range(2):
        notebook("check('02.3', 64)", name=f"{place}.ipynb")
    notebook("check('16.3', {})\n" * 9, name="16.ipynb")
    assert registry.chapter_of(tmp_path) == "02"


def test_the_notebook_of_another_chapter_says_so(notebook, quick):
    path = notebook("from course_grading import check\ncheck('16.3', {})", name="02_vae.ipynb")
    report = grade(path, registry.exercises_of("02")[2:4], quick)
    said = "this is a notebook of chapter 16, and chapter 02 was graded."
    assert report.notes == [said] and {result.message for result in report.results} == {said}


def test_what_a_folder_holds(notebook, tmp_path):
    names = ("a.ipynb", "B.IPYNB", "__MACOSX/._a.ipynb", ".hidden.ipynb", ".ipynb_checkpoints/a.ipynb", "c/d.Ipynb")
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        notebook("a = 1", name=name)
    found = [str(path.relative_to(tmp_path)) for path in registry.notebooks_in(tmp_path)]
    assert found == ["B.IPYNB", "a.ipynb", "c/d.Ipynb"]
    assert [str(path) for path in registry.skipped_in(tmp_path)] == [".hidden.ipynb", "__MACOSX/._a.ipynb"]


def test_the_documented_batch_command(notebook, tmp_path):
    """As the page for instructors has it, but for the folders."""
    page = (notebook_io.ROOT / "book/exercises_instructors.md").read_text(encoding="utf-8")
    line = "python -m course_lib grade submissions/ --output grades --hidden exercises/hidden"
    assert line in page or line.replace("python -m course_lib", "course") in page
    (tmp_path / "submissions").mkdir()
    notebook("from course_grading import check\ncheck('02.3', 64)", name="submissions/anna.IPYNB")
    notebook("{", name="submissions/._anna.ipynb")
    hidden = notebook_io.ROOT / "exercises/hidden"
    done = run("submissions/", "--output", "grades", "--hidden", hidden, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "._anna.ipynb was skipped by its name." in done.stderr
    (report,) = json.loads((tmp_path / "grades/reports.json").read_text())
    assert report["points"] == 2 and any(each["hidden"] for each in report["exercises"])


@pytest.mark.parametrize("form", ["--json", "--gradescope"])
def test_what_a_library_writes_is_no_part_of_the_output(form, tmp_path, monkeypatch, capfd, notebook):
    """A check during which something writes to the descriptor itself, as LAPACK does."""
    from course_grading import command
    from course_lib.__main__ import main

    def fault(answer):
        os.write(1, b" ** On entry to DLASCL parameter number 4 had an illegal value\n")
        return None

    noisy = Plain(id="99.1", title="t", objective="o", answer="a", points=1, fault=fault)
    monkeypatch.setattr(command.registry, "exercises_of", lambda chapter: (noisy,))
    assert main(["grade", str(notebook("a = 1")), "--chapter", "02", form]) == 0
    printed = capfd.readouterr()
    content = json.loads(printed.out)
    assert (content.get("points") or content.get("score")) == 1
    assert "DLASCL" in printed.err


def test_a_slow_computer_gets_more_time(monkeypatch):
    assert Limits().scaled(2) == Limits(cell=40, call=10, total=110, start=60)
    assert 1 <= sandbox.slowness() <= 10
    monkeypatch.setattr(sandbox, "USUAL_WORK", 1e-6)
    assert sandbox.slowness() == 10
    monkeypatch.setattr(sandbox, "USUAL_WORK", 1e6)
    assert sandbox.slowness() == 1


def test_torch_compile_says_what_it_lacks(notebook):
    source = "import torch\nfrom course_grading import check\n@torch.compile\ndef kl_to_prior(mean, log_variance):\n"
    path = notebook(source + "    return (mean * log_variance).sum(1)\ncheck('02.1', kl_to_prior)")
    report = grade(path, [registry.find("02.1")], Limits())
    assert "torch.compile" in report.results[0].message, report.to_text()


def test_an_archive_has_to_be_unpacked(notebook, tmp_path):
    (tmp_path / "all.ZIP").write_bytes(b"PK")
    done = run(tmp_path / "all.ZIP", "--chapter", "02")
    assert done.returncode == 2 and "allowed is a notebook or a folder: unpack it first." in done.stderr
    assert [str(path) for path in registry.archives_in(tmp_path)] == ["all.ZIP"]


def test_limits_are_told_in_tenths_of_a_second():
    assert Limits().scaled(1.06911).cell == 21.4
