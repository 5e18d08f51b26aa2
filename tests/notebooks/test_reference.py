"""The pages made from docstrings are up to date, and the docstrings say all that a page needs."""

import inspect
import json
import platform

import pytest

import reference
import score_costs
from course_lib import frameworks, metrics

KINDS = [getattr(frameworks, name) for name in reference.ORDER]


@pytest.mark.parametrize("path", reference.PAGES, ids=lambda path: path.name)
def test_the_page_is_what_the_docstrings_say(path):
    assert path.read_text(encoding="utf-8") == reference.PAGES[path](), "run `make reference`"


def test_every_score_is_on_the_page():
    listed = [name for names in reference.FAMILIES.values() for name in names]
    assert sorted(listed) == sorted(metrics.SCORES)
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


def test_the_costs_of_every_score_were_measured():
    """Each in n, D and F, and its memory; a gigabyte is what the scores promise to stay below."""
    measured = json.loads(score_costs.FILE.read_text(encoding="utf-8"))
    listed = {name for names in reference.FAMILIES.values() for name in names}
    for half in ("growth", "memory"):
        assert measured[half].keys() >= {"date", "processor", "versions"} and measured[half]["scores"].keys() == listed
    for entry in measured["growth"]["scores"].values():
        assert entry["runs"].keys() == {"n", "D", "F"} and all(len(runs) >= 3 for runs in entry["runs"].values())
        assert any(run == [entry["n"], entry["seconds"]] for run in entry["runs"]["n"])
    assert all(0 < score_costs.megabytes(entry) < 1024 for entry in measured["memory"]["scores"].values())
    assert platform.node() not in score_costs.FILE.read_text(encoding="utf-8")


def test_an_exponent_is_the_slope_of_the_logarithms():
    assert score_costs.exponent([(4, 3.0), (8, 12.0), (16, 48.0)]) == pytest.approx(2)
    assert score_costs.exponent([(500, 0.7), (1000, 0.7), (2000, 0.7)]) == pytest.approx(0, abs=1e-12)


def test_growth_in_words():
    words = score_costs.in_words
    assert words({"n": 1.05, "D": 0.9, "F": 0.1}) == "linear in n and D, hardly grows with F"
    assert words({"n": 0.5, "D": 2.0, "F": 1.5}) == "quadratic in D, more than linear in F, less than linear in n"
    assert words({"n": 1.0, "D": 1.1, "F": 0.9}) == "linear in n, D and F"
    assert words({"n": 3.0, "D": -0.3, "F": 0.0}) == "more than quadratic in n, hardly grows with D and F"


def test_a_row_of_the_table_of_costs():
    runs = {"F": [(4, 2.0), (8, 4.0)], "n": [(5, 1.0), (10, 2.04)], "D": [(4, 1.0), (8, 1.0)]}
    growth = {"mig": {"n": 10_000, "seconds": 0.0384, "runs": runs}}
    memory = {"mig": {"megabytes": 40.3, "workers": 10.4}}
    row = score_costs.table({"mig": "MIG"}, growth, memory).splitlines()[2]
    assert row == ("| [MIG](#mig) | 10,000 | 0.038 | 1.0 | 0.0 | 1.0 | linear in n and F, hardly grows with D | 51 |")
