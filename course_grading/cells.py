"""The code of a notebook's cell, which is Python with IPython's additions, made into plain Python.

What only wraps Python is taken off (%time, %%time, prompts, an indentation of all lines); what only shows something is
left out (f?, %matplotlib). What would start a program or run another language is left out too, and named, since answers
may have hung on it (x = !ls).
"""

import ast
import inspect
import re

WRAPPING = ("time", "timeit", "prun", "capture")  # before Python, on a line or above a cell
SHOWING = (
    "alias", "autoreload", "automagic", "colors", "conda", "config", "load_ext", "matplotlib", "pip", "precision",
    "reload_ext", "who", "whos", "html", "HTML", "javascript", "js", "latex", "markdown", "svg", "SVG",
)  # fmt: skip
INSTALLING = ("pip", "pip3", "conda", "mamba", "apt", "uv")  # programs that the grader does not miss
OPTIONS = re.compile(r"(-[nrp]\s*\d+\s+|-[tcqov]\d*\s+)*")
LINE = re.compile(r"^(\s*)((?:[\w.,\s\[\]'\"]+=\s*)?)([%!])(\w*)\s*(.*)$")
PROMPTS = (  # of Python and of IPython, with those of the lines that go on
    re.compile(r"^(?:>>>|\.\.\.)(?: |$)"),
    re.compile(r"^(?:In \[\d+\]:|\s*\.{3,}:)(?: |$)"),
)
HELP = re.compile(r"^\s*(\?\??\s*[\w.*]+|[%\w.*\[\]]+\s*\?\??)\s*$")
MOST_LINES = 200  # of IPython's in a cell


def compiled(source: str, name: str):
    """The cell's code object, and what was left out of it. A SyntaxError when it is no Python otherwise."""
    left_out: list[str] = []
    source = _without_prompts(_flush(source))
    header, _, body = source.lstrip().partition("\n")
    if header.startswith("%%"):
        magic = header[2:].split(maxsplit=1)[0] if header[2:].strip() else ""
        source = "\n" + body if magic in WRAPPING else ""
        if magic not in WRAPPING + SHOWING:
            left_out.append(header)
    lines = source.split("\n")
    for _ in range(MOST_LINES):
        try:
            return compile("\n".join(lines), name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), left_out
        except SyntaxError as error:
            first, last = _continued(lines, (error.lineno or 0) - 1)
            plain = _plain(lines[first]) if 0 <= first < len(lines) else None
            if plain is None:
                raise
            if plain[1]:
                left_out.append(lines[first].strip())
            lines[first : last + 1] = [plain[0], *[""] * (last - first)]  # as many as before: errors name lines
    raise SyntaxError(f"more than {MOST_LINES} lines of magics")


def _flush(source: str) -> str:
    """The cell with the indentation of its first line taken from every line that has it, as IPython does."""
    lines = source.split("\n")
    first = next((line for line in lines if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip())]
    return "\n".join(line.removeprefix(indent) for line in lines) if indent else source


def _without_prompts(source: str) -> str:
    """The cell without the prompts of a console that it was copied from, if its first line begins with one."""
    lines = source.split("\n")
    first = next((line for line in lines if line.strip()), "")
    for prompt in PROMPTS:
        if prompt.match(first):
            return "\n".join(prompt.sub("", line) for line in lines)
    return source


def _continued(lines: list[str], place: int) -> tuple[int, int]:
    """The first and the last of the lines, joined by backslashes, of which the one at `place` is part."""
    first = last = place
    while 0 < first <= len(lines) and lines[first - 1].endswith("\\"):
        first -= 1
    while 0 <= last < len(lines) - 1 and lines[last].endswith("\\"):
        last += 1
    return first, last


def _plain(line: str) -> tuple[str, bool] | None:
    """Python for a line that only IPython knows, and whether something was lost by it; None for other lines."""
    if HELP.match(line):
        return line[: len(line) - len(line.lstrip())] + "pass", False
    match = LINE.match(line)
    if match is None:
        return None
    indent, target, sign, magic, rest = match.groups()
    if sign == "%" and magic in WRAPPING and rest:
        return indent + target + OPTIONS.sub("", rest, count=1), False
    return indent + "pass", bool(target) or magic not in (INSTALLING if sign == "!" else SHOWING)


def execute(code, namespace: dict) -> None:
    """Run a cell's code object; one with `await` at its top level in an event loop, as a notebook does."""
    if code.co_flags & inspect.CO_COROUTINE:
        _run_in_a_loop(eval(code, namespace))
    else:
        exec(code, namespace)


def _run_in_a_loop(coroutine) -> None:
    import asyncio

    class Loop(asyncio.SelectorEventLoop):
        """Without the pair of sockets by which other threads wake a loop: the worker may not make sockets."""

        def _make_self_pipe(self):
            self._ssock = self._csock = None

        def _close_self_pipe(self):
            pass

    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(coroutine)
