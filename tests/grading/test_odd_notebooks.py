"""Honest submissions that are odd: each gets the points of its answers, and one clear line where some are missing."""

import json

import pytest

from course_grading import registry
from course_grading.grader import grade
from course_grading.sandbox import Limits


def cell(source, kind="code", **more):
    return {"cell_type": kind, "source": source, "metadata": {}, **more}


def code_only(*sources):
    return {"cells": [cell(source) for source in sources]}


CONFLICT = '{"cells": [\n<<<<<<< HEAD\n{"a": 1}\n=======\n{"a": 2}\n>>>>>>> main\n]}'
R = {"cells": [cell("a = function(x) x"), cell("x <- c(1, 2) %>% sum")], "metadata": {"kernelspec": {"language": "R"}}}
TRACEBACK = {"output_type": "error", "ename": "E", "evalue": "x", "traceback": ["\x1b[31m"] * 100}

# name: (the notebook, or the bytes of its file; points; what the notes and the first exercise's message say)
NOTEBOOKS = {
    "cells in the wrong order": (code_only("b = a + 1", "a = 1", "b = 2"), 2, "cell 1 raised NameError"),
    "checks before answers": (code_only("check('99.1', a)", "a = 1", "b = 2"), 2, "cell 1 raised NameError"),
    "the imports are gone": (code_only("a = math.gcd(1, 2)", "b = 2"), 1, "there is no answer: code cell 1"),
    "a kernel of its own name": ({**code_only("a = 1\nb = 2"), "metadata": {"kernelspec": {"name": "my-env"}}}, 2, ""),
    "no metadata at all": ({"cells": [{"cell_type": "code", "source": "a = 1\nb = 2"}]}, 2, ""),
    "a cell without a type": ({"cells": [{"source": "a = 1"}, cell("b = 2")]}, 1, "Code cell 1 has no type in the"),
    "a type of its own": ({"cells": [cell("a = 1", "Code"), cell("b = 2")]}, 1, "Code cell 1 has the type 'Code' in"),
    "null": (b"null", 0, "this is not a notebook: its JSON has no list of cells."),
    "a list": (b"[]", 0, "this is not a notebook: its JSON has no list of cells."),
    "no list of cells": ({"cells": {"0": cell("a = 1")}}, 0, "its JSON has no list of cells."),
    "a deep hole": (b"[" * 200_000, 0, "this is not a notebook: its JSON is nested too deeply."),
    "null for a cell": ({"cells": [None, cell("a = 1\nb = 2")]}, 2, "Code cell 1 is a NoneType in the file, and no"),
    "null for a source": ({"cells": [cell(None), cell("a = 1\nb = 2")]}, 2, "Code cell 1 has no source that is text."),
    "a number for a source": ({"cells": [cell("a = 1"), cell(3), cell("b = 2")]}, 2, "Code cell 2 has no source that"),
    "numbers for lines": ({"cells": [cell([1, 2]), cell("a = 1\nb = 2")]}, 2, "Code cell 1 has no source that is"),
    "several worksheets": (
        {"worksheets": [{"cells": [{"cell_type": "code", "input": line}]} for line in ("a = 1", "b = 2")]}, 2, "",
    ),
    "an install over several lines": (code_only("%pip install torch \\\n  --quiet\na = 1", "b = 2"), 2, ""),
    "prompts of a console": (code_only(">>> a = 1\n>>> if a:\n...     b = 2\n"), 2, ""),
    "prompts of IPython": (code_only("In [1]: a = 1\n\nIn [2]: if a:\n   ...:     b = 2"), 2, ""),
    "an indented cell": (code_only("    a = 1\n    if a:\n        b = 2"), 2, ""),
    "magics by their function": (code_only("get_ipython().run_line_magic('pylab', 'inline')\na = 1\nb = 2"), 2, ""),
    "in R": (R, 0, "The notebook says that its language is R; the exercises are in Python."),
    "a merge conflict": (CONFLICT.encode(), 0, "this is not a notebook: it holds the marks of a merge conflict."),
    "a Python file": (b"a = 1\nb = 2\n", 0, "this is not a notebook: it is no JSON, Expecting value: line 1 column 1"),
    "a byte order mark": ("\ufeff".encode() + json.dumps(code_only("a = 1\nb = 2")).encode(), 2, ""),
    "UTF-16": (json.dumps(code_only("a = 1\nb = 2")).encode("utf-16"), 2, ""),
    "lines that end as in Windows": (code_only("if True:\r\n    a = 1\r\nb = 2\r\n"), 2, ""),
    "sources as lists of lines": (code_only(["a = 1\n", "b = 2"]), 2, ""),
    "an old format": ({"worksheets": [{"cells": [{"cell_type": "code", "input": "a = 1\nb = 2"}]}]}, 2, ""),
    "outputs of failed runs": ({"cells": [cell("a = 1\nb = 2", outputs=[TRACEBACK], execution_count=7)]}, 2, ""),
    "only comments": (code_only("# to do\n\n# ask Anna", "", "   ", "a = 1", "b = 2"), 2, ""),
    "text, and raw cells": ({"cells": [cell("a = 3", "raw"), cell("# b", "markdown"), cell("a = 1\nb = 2")]}, 2, ""),
    "tabs, Greek and a smiley": (code_only("σ = 1\nif σ:\n\ta = σ  # 😀\nb = 2"), 2, ""),
    "asks for input": (code_only("a = 1", "name = input()", "b = 2"), 2, "cell 2 raised EOFError"),
    "asks whether this is Colab": (code_only("colab = 'google.colab' in str(get_ipython())\na = 1\nb = 2"), 2, ""),
    "imports everything": (code_only("from course_grading import *\ncheck('99.1', answer=1)\nb = 2"), 2, ""),
    "names the module": (code_only("import course_grading as g\ng.check('99.2', 2)\ng.hint('99.1')"), 1, ""),
    "an answer taken back": (code_only("a = 1", "b = 2", "a = None"), 1, "got nothing; expected one number."),
    "a number in a list": (code_only("a = [1]", "b = 2"), 1, "got a list; expected one number."),
    "numbers of numpy": (code_only("import numpy as np\na = np.float32(1)\nb = np.array([2])[0]"), 2, ""),
    "a fraction": (code_only("from fractions import Fraction\na = Fraction(2, 2)\nb = 2 * a"), 2, ""),
    "a decimal": (code_only("from decimal import Decimal\na = Decimal(1)\nb = 2 * a"), 2, ""),
}  # fmt: skip


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_odd_notebooks(name, tmp_path, plain, quick):
    content, points, words = NOTEBOOKS[name]
    path = tmp_path / "ünï 02 vae (1).ipynb"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    report = grade(path, plain, quick)
    assert report.points == points, report.to_text()
    said = [*report.notes, report.results[0].message]
    assert any(words in line for line in said) if words else report.notes == []


def test_what_is_no_notebook_is_said_for_every_exercise(tmp_path, plain, quick):
    path = tmp_path / "02.ipynb"
    path.write_bytes(CONFLICT.encode())
    assert len({result.message for result in grade(path, plain, quick).results}) == 1


FUNCTIONS = """
import functools, torch
from course_grading import check

def timed(function):
    @functools.wraps(function)
    def inner(*arguments, **options):
        print("called")
        return function(*arguments, **options)
    return inner

@timed
@torch.jit.script
def kl_to_prior(mean, log_variance):
    return 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum(1)

def scaled(scale, mean, log_variance, noise):
    return mean + (scale * log_variance).exp() * noise
reparameterise = functools.partial(scaled, 0.5)

class Likelihood(torch.nn.Module):
    def forward(self, images, decoded, std):
        return torch.distributions.Normal(decoded, std).log_prob(images).sum((1, 2, 3))
check("02.7", Likelihood())

async def sampled_kl(mean, log_variance, noise):
    return 0
"""


def test_whatever_can_be_called_is_a_function(notebook):
    tasks = [registry.find(id) for id in ("02.1", "02.2", "02.7", "02.4")]
    report = grade(notebook(FUNCTIONS), tasks, Limits())
    assert [result.points for result in report.results] == [3, 2, 3, 0], report.to_text()
    assert "got a coroutine; expected a tensor of shape (5,)" in report.results[3].message
