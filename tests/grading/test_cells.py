"""What stands in a cell beside Python: what wraps Python counts, what shows is skipped, what is lost is said."""

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from course_grading.cells import compiled, execute
from course_grading.grader import grade


def run(source):
    """The names that the cell leaves, and what was left out of it."""
    namespace = {}
    code, left_out = compiled(source, "cell 1")
    execute(code, namespace)
    return {name: value for name, value in namespace.items() if not name.startswith("__")}, left_out


COUNTS = {
    "plain": "a = 1",
    "%time": "%time a = 1",
    "%time in a block": "if True:\n    %time a = 1",
    "%timeit with options": "%timeit -n 1 -r1 a = 1",
    "%prun": "%prun a = 1",
    "the value of %time": "a = %time 1",
    "%%time": "%%time\na = 1",
    "%%capture with a name": "\n%%capture out\na = 1",
    "%%time with magics below": "%%time\n%matplotlib inline\n%time a = 1",
    "what installs": "!pip install torch\n%pip install torch\na = 1",
    "what shows": "%matplotlib inline\n%load_ext autoreload\n%autoreload 2\na = 1\n%who",
    "help": "a = 1\na?\n?a\na??\n??print\nprint.__doc__?",
    "await": "import asyncio\nasync def f():\n    await asyncio.sleep(0.01)\n    return 1\n"
    "a = await f()\ndel asyncio, f",
    "await in a with": "class W:\n    async def __aenter__(self): return 1\n    async def __aexit__(self, *e): pass\n"
    "async with W() as a: pass\ndel W",
    "a text with magics": "%matplotlib inline\nb = '''\n%time x\n!ls\n'''\n"
    "a = int('!ls' in b and '%time x' in b)\ndel b",
    "a remainder": "%matplotlib inline\na = (7\n%2)",
    "not equal": "a = 1 if 3 != 4 else 2",
    "a cell for the browser": "%%html\n<b>a = 2</b>",
    "a magic over several lines": "%pip install torch \\\n  numpy \\\n  'a\na = 1",
    "prompts": ">>> a = 1\n>>> if a:\n...     pass\n...\n",
    "prompts of IPython": "In [12]: a = 1\n   ...: if a:\n   ...:     pass",
    "one indentation": "\n   a = 1\n   if a:\n\n       pass",
    "one indentation with a magic": "    %matplotlib inline\n    a = 1",
}


@pytest.mark.parametrize("name", COUNTS)
def test_what_counts(name):
    expected = {} if name == "a cell for the browser" else {"a": 1}
    assert run(COUNTS[name]) == (expected, [])


LOST = {
    "a program over several lines": ("!ls \\\n  | wc\na = 1", "!ls \\"),
    "!": ("a = 1\n!python other.py", "!python other.py"),
    "an assignment from a program": ("a = 1\nfiles = !ls", "files = !ls"),
    "two names": ("a = 1\nb, c = !ls", "b, c = !ls"),
    "in a block": ("if True:\n    !ls | wc\n    a = 1", "!ls | wc"),
    "a quote that does not end": ("!echo it's\na = 1", "!echo it's"),
    "a bracket that does not end": ("!echo (\na = 1", "!echo ("),
    "an unknown magic": ("%run other.py\na = 1", "%run other.py"),
    "the value of a magic": ("a = 1\nb = %pwd", "b = %pwd"),
}


@pytest.mark.parametrize("name", LOST)
def test_what_is_lost_is_named(name):
    source, line = LOST[name]
    assert run(source) == ({"a": 1}, [line])


@pytest.mark.parametrize("header", ["%%bash", "%%R -i x", "%%writefile f.py", "%%"])
def test_another_language(header):
    assert run(f"{header}\na = 1") == ({}, [header])


@pytest.mark.parametrize("name", [*COUNTS, *LOST])
def test_ipython_takes_it_too(name):
    """None of these cells is an error in a notebook."""
    source = COUNTS.get(name) or LOST[name][0]
    compile(TransformerManager().transform_cell(source), "cell", "exec", flags=0x2000)


@pytest.mark.parametrize(
    "source", ["a = (1", "<<<<<<< HEAD\na = 1\n=======\na = 2\n>>>>>>> x", "f = function(a) a", "a ="]
)
def test_no_python(source):
    with pytest.raises(SyntaxError):
        compiled(source, "cell 1")


def test_no_end_of_magics():
    with pytest.raises(SyntaxError, match="more than 200 lines of magics"):
        compiled("!ls\n" * 1_000, "cell 1")


def test_answers_among_magics(notebook, plain, quick):
    """As in a notebook, `%time check(…)` hands the answer in; one that hung on a program is said to be missing."""
    cells = ["from course_grading import check\n%time check('99.1', 1)", "b = !echo 2"]
    report = grade(notebook(*cells, "import asyncio\nawait asyncio.sleep(0)"), plain, quick)
    assert [result.points for result in report.results] == [1, 0, 0]
    happened = "ode cell 2 ran without `b = !echo 2`: the grader starts no programs and knows only Python."
    assert report.results[1].message == f"there is no answer: c{happened}" and report.notes == [f"C{happened}"]
