"""A docstring of what a chapter teaches ends with its number, so that whoever looks a name up finds the explanation."""

import inspect
import re
from pathlib import Path

import pytest
import yaml

from course_lib import frameworks, losses, metrics, models, scaling, theory
from course_lib.losses import blur

ROOT = Path(__file__).parents[1]
METHODS = {
    name: kind
    for name, kind in vars(frameworks).items()
    if inspect.isclass(kind) and issubclass(kind, frameworks.Framework) and kind is not frameworks.Framework
}
CONSTRUCTIONS = {name: getattr(theory, name) for name in theory.__all__}


def public(module) -> dict:
    """The functions and classes that other modules may use: those of the module's list, or else its own."""
    names = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
    found = {name: getattr(module, name) for name in names}
    own = {name: each for name, each in found.items() if getattr(each, "__module__", "").startswith(module.__name__)}
    return {name: each for name, each in own.items() if inspect.isfunction(each) or inspect.isclass(each)}


BLURS = {name: getattr(blur, name) for name in ("box_kernel", "gaussian_kernel", "blur")}
PIECES = public(losses) | public(models) | public(scaling) | BLURS
TAUGHT = METHODS | metrics.SCORES | CONSTRUCTIONS | PIECES


def chapters() -> set[str]:
    """The numbers of all chapters, written or to come."""
    parts = yaml.safe_load((ROOT / "book" / "chapters.yml").read_text(encoding="utf-8"))
    return {name.partition("_")[0] for part in parts for name in part["chapters"]}


def test_there_is_something_to_look_at():
    assert len(METHODS) == 16 and len(metrics.SCORES) == 18 and len(CONSTRUCTIONS) == 12
    assert len(public(losses)) == 20 and len(public(models)) == 9 and len(public(scaling)) == 7


@pytest.mark.parametrize("name", TAUGHT)
def test_the_docstring_ends_with_the_chapter_that_teaches_it(name):
    found = re.search(r"Chapter (\d\d)\.$", inspect.getdoc(TAUGHT[name]))
    assert found and found[1] in chapters()


@pytest.mark.parametrize("module", sorted((ROOT / "course_lib").rglob("*.py")), ids=lambda path: path.stem)
def test_every_chapter_that_a_docstring_names_exists(module):
    named = re.findall(r"\bChapter (\d+)\.", module.read_text(encoding="utf-8"))
    assert set(named) <= chapters()
