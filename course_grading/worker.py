"""The untrusted process: runs a submission's cells in one namespace, then calls its functions for the grader.

It holds no reference, no expected value and no points: what a student's code can find in its memory is their own work
and the arguments of the present call. Requests come over one pipe and replies go over another; standard output leads
nowhere. Until `start` has locked the process, no student's code has run.
"""

import builtins
import contextlib
import importlib
import json
import linecache
import os
import sys
import types

from course_grading import lockdown
from course_grading.calling import Outcome, describe, invoke, one_line, seed_everything
from course_grading.cells import compiled, execute
from course_grading.wire import MOST_REPLY, MOST_REQUEST, Decoder, Reader, encode, pack

MOST_CELLS = 20_000
TEXT = ("markdown", "raw", "heading", "html")  # types of cells without code, old ones too
MOST_LEFT_OUT = 5  # lines of a cell that are named
_write, _read = os.write, os.read  # kept, so that a submission that patches os is still answered for


class Worker:
    """One submission's namespace, the answers that it handed to `check`, and the requests that it understands."""

    def __init__(self):
        self.module = types.ModuleType("__main__")
        inert = dict(display=lambda *values, **options: None, get_ipython=Shell)  # a notebook has them
        self.module.__dict__.update(inert, __builtins__=builtins)
        self.answers: dict[str, object] = {}

    def start(self, request: dict, payload: bytes) -> dict:
        """Import what is slow to import, hide the grader, and give up all rights."""
        for name in ("numpy", *request["preload"]):  # numpy: its generator is seeded before each cell
            importlib.import_module(name)
        if "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(1)
        sys.dont_write_bytecode = (
            True  # until here it may have been, beside the libraries: the next worker starts faster
        )
        layers = lockdown.lock(**request["lock"])
        self._hide_the_grader()
        sys.modules["__main__"] = self.module
        return {"layers": layers}

    def cells(self, request: dict, payload: bytes) -> dict:
        """The sources of the notebook's code cells, in order."""
        try:
            notebook = json.loads(payload)
        except ValueError as error:
            conflict = b"<<<<<<< " in payload and b">>>>>>> " in payload
            return {"unreadable": "it holds the marks of a merge conflict" if conflict else f"it is no JSON, {error}"}
        except RecursionError:
            return {"unreadable": "its JSON is nested too deeply"}
        sheets = _sheets(notebook)
        if sheets is None:
            return {"unreadable": "its JSON has no list of cells"}
        read = [_source(cell) for sheet in sheets for cell in sheet["cells"]]
        read = [source for source in read if source is not None]
        if len(read) > MOST_CELLS:
            raise ValueError(f"it has {len(read)} code cells, more than {MOST_CELLS}")
        malformed = [[place, str(source)] for place, source in enumerate(read, 1) if isinstance(source, Malformed)]
        sources = [source.encode("utf-8", "surrogatepass") if isinstance(source, str) else b"" for source in read]
        sizes = list(map(len, sources))
        return {"sizes": sizes, "malformed": malformed, "language": _language(notebook), "buffers": sources}

    def run(self, request: dict, payload: bytes) -> dict:
        """Execute one cell: its error, in one line, if it raised, and the lines of it that were left out."""
        name = f"cell {request['place']}"
        source = payload.decode("utf-8", "surrogatepass")
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)  # inspect.getsource finds it
        seed_everything(request["seed"])
        left_out: list[str] = []
        try:
            code, left_out = compiled(source, name)
            execute(code, self.module.__dict__)
        except BaseException as error:  # SystemExit and KeyboardInterrupt are a student's too
            return {"error": describe(error), "left_out": _some(left_out)}
        return {"error": None, "left_out": _some(left_out)}

    def value(self, request: dict, payload: bytes) -> dict:
        """The answer itself, where it is no function."""
        return self._sent(Outcome(self._answer(request), blank=self._answer(request) is Ellipsis))

    def call(self, request: dict, payload: bytes) -> dict:
        """Call the answer with the arguments that came."""
        decoder = Decoder(payload)
        arguments, cotangent = decoder.value(request["arguments"]), decoder.value(request["cotangent"])
        seed_everything(request["seed"])
        return self._sent(invoke(self._answer(request), arguments, cotangent))

    def _answer(self, request: dict):
        """What the notebook last handed to `check` under this number; without that, the variable of the stub."""
        if request["exercise"] in self.answers:
            return self.answers[request["exercise"]]
        return self.module.__dict__.get(request["name"], Ellipsis)

    def _sent(self, outcome: Outcome) -> dict:
        buffers: list[bytes] = []
        value = encode(outcome.value, buffers)
        grads = [encode(grad, buffers) for grad in outcome.grads]
        return {
            "value": value, "grads": grads, "error": outcome.error, "blank": outcome.blank,
            "changed": list(outcome.changed), "buffers": buffers,
        }  # fmt: skip

    def _hide_the_grader(self) -> None:
        """In place of `course_grading`, a module whose `check` only takes note of the answer."""
        stand_in = types.ModuleType("course_grading")
        stand_in.check = lambda exercise, answer: self.answers.__setitem__(str(exercise), answer)
        stand_in.report = stand_in.hint = lambda *arguments: None
        for name in [name for name in sys.modules if name.startswith("course_grading")]:
            del sys.modules[name]
        sys.modules["course_grading"] = stand_in


class Malformed(Exception):
    """A cell that is none; the message says why, as the end of a sentence."""


class Shell:
    """What `get_ipython()` gives here: whatever a notebook asks of it is read past."""

    def __getattr__(self, name: str):
        return lambda *arguments, **options: None


def _sheets(notebook) -> list[dict] | None:
    """What holds a list of cells: the notebook itself or, in an old format, its worksheets; None where nothing does."""
    if not isinstance(notebook, dict):
        return None
    sheets = [notebook] if "cells" in notebook else notebook.get("worksheets")
    whole = isinstance(sheets, list) and all(isinstance(sheet, dict) for sheet in sheets)
    return sheets if whole and all(isinstance(sheet.get("cells"), list) for sheet in sheets) else None


def _source(cell) -> str | Malformed | None:
    """The source of a code cell; None for a cell of another kind."""
    if not isinstance(cell, dict):
        return Malformed(f"is a {type(cell).__name__} in the file, and no cell")
    if not isinstance(cell.get("cell_type"), str):
        return Malformed("has no type in the file: neither code nor text")
    if cell["cell_type"] in TEXT:
        return None
    if cell["cell_type"] != "code":
        return Malformed(f"has the type {one_line(cell['cell_type'], 20)!r} in the file: neither code nor text")
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    return source if isinstance(source, str) else Malformed("has no source that is text")


def _language(notebook: dict) -> str:
    """What the notebook's metadata say that its language is; Python where they are silent."""
    metadata = notebook.get("metadata")
    for part, name in (("kernelspec", "language"), ("language_info", "name")) if isinstance(metadata, dict) else ():
        if isinstance(metadata.get(part), dict) and isinstance(metadata[part].get(name), str):
            return one_line(metadata[part][name], 40)
    return "python"


def _some(lines: list[str]) -> list[str]:
    return [one_line(line, 60) for line in lines[:MOST_LEFT_OUT]]


def serve(requests: int, replies: int) -> None:
    """Answer requests until the pipe is closed."""
    reader, worker = Reader(MOST_REQUEST), Worker()
    known = {name: getattr(worker, name) for name in ("start", "cells", "run", "value", "call")}
    while True:
        frame = reader.frame()
        while frame is None:
            data = _read(requests, min(reader.wanted(), 2**20))
            if not data:
                return
            reader.feed(data)
            frame = reader.frame()
        nonce, header, payload = frame
        try:
            reply = known[header["do"]](header, payload)
            buffers = reply.pop("buffers", [])
            if sum(map(len, buffers)) > MOST_REPLY:
                raise ValueError(f"it has more than {MOST_REPLY // 2**20} MB")
            data = pack(nonce, reply, buffers)
        except BaseException as error:  # of a value that cannot be sent, say, since its class raises when asked
            data = pack(nonce, {"failed": describe(error)}, [])
        view = memoryview(data)
        while view:
            view = view[_write(replies, view) :]


def main() -> None:
    with contextlib.suppress(BrokenPipeError):
        serve(*map(int, sys.argv[2:4]))
    os._exit(0)  # no atexit handlers or threads of a submission
