"""`make publish`: the address goes to every place that needs it, and before that to none."""

import shutil
import subprocess
import sys

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell

import notebook_io
import publish

URL = "https://github.com/some-owner/some.repository"
UNPUBLISHED = """\
import importlib.util, sys
sys.path.append("..")  # in a checkout, course_lib lies beside the chapters
if importlib.util.find_spec("course_lib") is None:
    raise ModuleNotFoundError("course_lib is not installed: open this notebook in a checkout of the course, \
or run `pip install .` there.")"""


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
    assert publish.setup_source("", "2026.1") == UNPUBLISHED
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
        assert setup.source.splitlines()[3:] == [
            f"    %pip install --quiet --no-deps git+{URL}@{publish.version(tree)}"
        ]
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
