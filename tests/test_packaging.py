"""pyproject.toml, constraints.txt, environment.yml, the wheel and the README's example say the same thing."""

import importlib.metadata
import re
import subprocess
import sys
import tomllib
import zipfile

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

import course_lib
import notebook_io

ROOT = notebook_io.ROOT
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
DECLARED = [Requirement(line) for line in [*PROJECT["dependencies"], *EXTRAS["book"], *EXTRAS["test"]]]
CLUSTER = [Requirement(line) for line in EXTRAS["cluster"]]  # whose Ray may not be installed


def read_constraints():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


PINS = {canonicalize_name(requirement.name): requirement for requirement in read_constraints()}


def pinned(name):
    return re.fullmatch(r"==([^*+]+)", str(PINS[canonicalize_name(name)].specifier))[1]


def test_constraints_are_exact_and_name_each_package_once():
    assert len(PINS) == len(read_constraints())
    for name, requirement in PINS.items():
        assert re.fullmatch(r"==[^*+,]+", str(requirement.specifier)), name
        assert not (requirement.url or requirement.marker or requirement.extras), name


@pytest.mark.parametrize("requirement", [*DECLARED, *CLUSTER], ids=lambda requirement: requirement.name)
def test_the_tested_version_satisfies_what_is_declared(requirement):
    assert requirement.specifier, "a lower bound is wanted"
    assert requirement.specifier.contains(pinned(requirement.name))


def test_only_jupyter_book_has_an_upper_bound():
    bounded = [r.name for r in DECLARED if any(part.operator not in (">=",) for part in r.specifier)]
    assert bounded == ["jupyter-book"]


def test_everything_that_is_installed_on_the_way_is_constrained():
    waiting, seen = list(DECLARED), set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if (name, *sorted(requirement.extras)) in seen:
            continue
        seen.add((name, *sorted(requirement.extras)))
        for line in importlib.metadata.requires(name) or []:
            further = Requirement(line)
            environments = [{"extra": extra} for extra in ("", *requirement.extras)]
            if further.marker is None or any(further.marker.evaluate(each) for each in environments):
                waiting.append(further)
    # GPU builds of torch bring their libraries, each pinned by torch itself.
    missing = {name for name, *_ in seen if name not in PINS and not name.startswith(("nvidia-", "cuda-", "triton"))}
    assert not missing


@pytest.mark.slow
def test_the_library_needs_no_jupyter():
    names = {canonicalize_name(Requirement(line).name) for line in PROJECT["dependencies"]}
    assert not any(re.search("jupyter|ipython|ipykernel|ipywidgets|notebook|^nb", name) for name in names)
    # An entry None in sys.modules makes the import fail, as it would where the package is not installed.
    code = """
import sys
sys.modules |= dict.fromkeys(["IPython", "ipywidgets", "ipykernel", "nbformat", "jupyter_client", "jupyter_core"])
import course_lib.data, course_lib.frameworks, course_lib.training, course_lib.viz
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_environment_installs_the_book_with_the_constraints():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    *conda, with_pip = environment["dependencies"]
    assert "pip" in conda and any(line.startswith("python=3.11") for line in conda)
    assert with_pip == {"pip": ["-c constraints.txt", "-e .[book]"]}


def test_one_version_everywhere():
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert PROJECT["version"] == course_lib.__version__ == config["repository"]["branch"]


def test_the_wheel_holds_the_three_packages_and_nothing_else(wheel):
    built = wheel
    name, version, *_ = parse_wheel_filename(built.name)
    assert (name, str(version)) == ("course-lib", PROJECT["version"])
    files = zipfile.ZipFile(built).namelist()
    assert {file.split("/")[0] for file in files} == {*notebook_io.PACKAGES, f"course_lib-{version}.dist-info"}
    packages = [ROOT / name for name in notebook_io.PACKAGES]
    sources = {path.relative_to(ROOT).as_posix() for package in packages for path in package.rglob("*.py")}
    assert sources == {file for file in files if file.endswith(".py")}
    assert any(file.endswith("licenses/LICENSE") for file in files)


@pytest.mark.slow
def test_the_example_in_the_readme_runs(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    script = tmp_path / "example.py"
    script.write_text(code + "\nassert latents.shape == (4096, 4)\n", encoding="utf-8")
    run = f"import sys, runpy; sys.path.insert(0, {str(ROOT)!r}); runpy.run_path({str(script)!r})"
    done = subprocess.run([sys.executable, "-c", run], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
