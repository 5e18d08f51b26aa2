"""The pages made from docstrings are up to date, and the docstrings say all that a page needs."""

import inspect

import pytest

import reference
from course_lib import frameworks, metrics

KINDS = [getattr(frameworks, name) for name in reference.ORDER]


@pytest.mark.parametrize("path", reference.PAGES, ids=lambda path: path.name)
def test_the_page_is_what_the_docstrings_say(path):
    assert path.read_text(encoding="utf-8") == reference.PAGES[path](), "run `make reference`"


def test_every_score_is_on_the_page():
    functions = {name for name in metrics.__all__ if inspect.isfunction(getattr(metrics, name))}
    listed = [name for names in reference.FAMILIES.values() for name in names]
    assert sorted(listed) == sorted(functions - {"evaluate"})
    for name in listed:
        text = inspect.getdoc(getattr(metrics, name))
        assert "Source:" in text, name


def test_every_framework_is_on_the_page():
    classes = [kind for kind in map(vars(frameworks).get, frameworks.__all__) if inspect.isclass(kind)]
    assert {kind for kind in classes if issubclass(kind, frameworks.Framework)} == {frameworks.Framework, *KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_docstrings_name_every_parameter_an_equation_its_terms_and_a_source(kind):
    found = reference.sections(kind)
    documented = [name for names in reference.parameters(found["parameters"]) for name in names.split(", ")]
    assert sorted(documented) == sorted(reference.defaults(kind))
    assert any(paragraph.startswith(reference.MATH) for paragraph in found["text"])
    assert any("Terms" in paragraph for paragraph in found["text"]) and found["source"]


def test_parameters_are_read_from_the_numpy_style():
    lines = ["beta : weight,", "    at least 0.", "a, b : two."]
    assert reference.parameters(lines) == {"beta": "weight, at least 0.", "a, b": "two."}
