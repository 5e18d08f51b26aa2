"""`make publish`: the address goes to every place that needs it, and before that to none."""

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell

import notebook_io
import publish

URL = "https://github.com/some-owner/some.repository"
UNPUBLISHED = """\
import importlib.util, pathlib, sys
sys.path[:0] = [".."] * pathlib.Path("../course_lib").is_dir()  # a checkout comes first
if importlib.util.find_spec("course_lib") is None:
    raise ModuleNotFoundError("course_lib is not installed: open this notebook in a checkout of the course, \
or run `pip install .` there.")
from course_lib import __version__ as edition; assert edition == "{edition}", \
f"This notebook is of edition {edition}, and here is course_lib {{edition}}: install it."\
""".format(edition=publish.version(notebook_io.ROOT))


@pytest.fixture
def tree(tmp_path):
    """The unpublished course with two notebooks, whatever state the real one is in."""
    for name in ("_config.yml", "pyproject.toml"):
        shutil.copy(notebook_io.ROOT / name, tmp_path)
    config = tmp_path / "_config.yml"
    config.write_text(publish.configure(config.read_text(), publish.settings("", publish.version(tmp_path))))
    for name in ("chapters/02_vae.ipynb", "exercises/solutions/02_vae.ipynb"):
        (tmp_path / name).parent.mkdir(parents=True)
        setup = new_code_cell(UNPUBLISHED, metadata={"tags": ["setup"]}, execution_count=1)
        cells = [new_markdown_cell("# Title"), setup, new_code_cell("1 + 1", execution_count=2)]
        notebook_io.write(tmp_path / name, nbformat.v4.new_notebook(cells=cells))
    return tmp_path


def contents(tree):
    return {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}


def test_the_course_agrees_with_its_config():
    assert publish.differences() == []


def test_an_unpublished_tree_names_no_address(tree):
    config = yaml.safe_load((tree / "_config.yml").read_text())
    assert config["repository"]["url"] == "" and not any(config["launch_buttons"].values())
    assert not config["html"]["use_repository_button"] and not config["html"]["use_issues_button"]
    assert publish.setup_source("", publish.version(tree)) == UNPUBLISHED
    assert publish.differences(tree) == []


def test_the_set_up_cell_is_short():
    for url in ("", URL):
        assert len(publish.setup_source(url, "2026.1").splitlines()) <= 5


def test_publishing(tree):
    before = (tree / "_config.yml").read_text()
    assert len(publish.publish(URL, tree)) == 3
    after = (tree / "_config.yml").read_text()
    config = yaml.safe_load(after)
    assert config["repository"] == {"url": URL, "path_to_book": "", "branch": publish.version(tree)}
    assert config["launch_buttons"]["colab_url"] == "https://colab.research.google.com"
    assert config["html"]["use_repository_button"] is True
    assert [line.partition("#")[2] for line in before.splitlines()] == [
        line.partition("#")[2] for line in after.splitlines()
    ]
    for path in notebook_io.notebooks(tree):
        title, setup, rest = notebook_io.read(path).cells
        assert setup.source.splitlines()[:3] == UNPUBLISHED.splitlines()[:3]
        assert setup.source.splitlines()[3] == f"    %pip install --quiet --no-deps git+{URL}@{publish.version(tree)}"
        assert setup.source.splitlines()[4] == UNPUBLISHED.splitlines()[4]
        assert (title.source, rest.source, rest.execution_count) == ("# Title", "1 + 1", 2)
    assert publish.differences(tree) == []


def test_publishing_again(tree):
    publish.publish(URL, tree)
    first = contents(tree)
    assert publish.publish(URL, tree) == [] and contents(tree) == first
    publish.publish("https://github.com/another/home", tree)
    assert publish.differences(tree) == []
    assert not any(URL.encode() in text for text in contents(tree).values())
    publish.publish(URL, tree)
    assert contents(tree) == first


def test_a_new_edition(tree):
    publish.publish(URL, tree)
    project = tree / "pyproject.toml"
    project.write_text(project.read_text().replace(f'version = "{publish.version(tree)}"', 'version = "2031.7"'))
    assert len(publish.differences(tree)) == 3
    publish.publish(URL, tree)
    assert publish.differences(tree) == []
    assert "@2031.7" in notebook_io.read(tree / "chapters" / "02_vae.ipynb").cells[1].source


@pytest.mark.parametrize(
    "url",
    [
        "",
        "http://github.com/owner/name",
        "github.com/owner/name",
        "https://github.com/owner",
        "https://github.com/owner/name/",
        "https://github.com/owner/name.git",
        "https://github.com/owner/name/tree/main",
        "https://github.com/owner/name?tab=readme",
        "https://github.com/owner/name\n",
        "https://github.com/owner/name; true",
        "https://github.com/owner/..",
        "https://github.com.example.org/owner/name",
        "https://example.org/owner/name",
    ],
)
def test_other_addresses_are_refused(tree, url):
    before = contents(tree)
    with pytest.raises(ValueError, match="^URL: got .* allowed is the address of a GitHub repository"):
        publish.publish(url, tree)
    assert contents(tree) == before


def test_the_command_says_in_one_sentence_what_is_wrong():
    done = subprocess.run(
        [sys.executable, "tools/publish.py", "nonsense"], cwd=notebook_io.ROOT, capture_output=True, text=True
    )
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("URL: got 'nonsense'") and len(done.stderr.splitlines()) == 1


def test_a_notebook_without_set_up_cell_stops_it_before_anything_is_written(tree):
    path = tree / "exercises" / "solutions" / "02_vae.ipynb"
    notebook = notebook_io.read(path)
    del notebook.cells[1]
    notebook_io.write(path, notebook)
    before = contents(tree)
    with pytest.raises(ValueError, match="02_vae.ipynb: the first code cell needs the tag 'setup'"):
        publish.publish(URL, tree)
    assert contents(tree) == before
    assert len(publish.differences(tree)) == 1


@pytest.mark.parametrize("edit", [('url: ""', f'url: "{URL}"'), ('colab_url: ""', 'colab_url: "https://a.b"')])
def test_a_config_edited_by_hand_is_noticed(tree, edit):
    config = tree / "_config.yml"
    config.write_text(config.read_text().replace(*edit, 1))
    assert publish.differences(tree)


def run_setup(folder, path):
    """The set-up cell in a folder of its own, `path` being where Python looks for what is installed."""
    command = [sys.executable, "-S", "-c", UNPUBLISHED + "\nimport course_lib; print(course_lib.__file__)"]
    environment = {"PYTHONPATH": str(path), "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture
def installed(tmp_path):
    """An older library among the installed packages."""
    (tmp_path / "site" / "course_lib").mkdir(parents=True)
    (tmp_path / "site" / "course_lib" / "__init__.py").write_text('__version__ = "2020.1"\n')
    return tmp_path / "site"


def test_the_checkout_comes_before_an_older_library(tmp_path, installed):
    chapters = tmp_path / "course" / "chapters"
    chapters.mkdir(parents=True)
    shutil.copytree(notebook_io.ROOT / "course_lib", chapters.parent / "course_lib", symlinks=True)
    done = run_setup(chapters, installed)
    assert done.returncode == 0, done.stderr
    assert Path(chapters, done.stdout.strip()).resolve() == chapters.parent / "course_lib" / "__init__.py"


def test_another_edition_says_so_in_one_sentence(tmp_path, installed):
    done = run_setup(tmp_path, installed)
    said = (
        f"This notebook is of edition {publish.version(notebook_io.ROOT)}, and here is course_lib 2020.1: install it."
    )
    assert done.returncode == 1 and done.stderr.splitlines()[-1] == f"AssertionError: {said}"


def test_no_library_at_all_says_so(tmp_path):
    done = run_setup(tmp_path, tmp_path)
    assert done.returncode == 1 and "course_lib is not installed: open this notebook in a checkout" in done.stderr
