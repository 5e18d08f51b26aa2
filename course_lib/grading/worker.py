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
import re
import sys
import types

from course_lib.grading import lockdown
from course_lib.grading.calling import Outcome, describe, invoke, seed_everything
from course_lib.grading.wire import Decoder, Reader, encode, pack

MOST_CELLS = 20_000
MAGIC = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)
WATCHING = ("%%time", "%%timeit", "%%capture", "%%prun")
_write, _read = os.write, os.read  # kept, so that a submission that patches os is still answered for


class Worker:
    """One submission's namespace, the answers that it handed to `check`, and the requests that it understands."""

    def __init__(self):
        self.module = types.ModuleType("__main__")
        self.module.__dict__.update(display=lambda *values, **options: None, __builtins__=builtins)
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
        notebook = json.loads(payload)
        cells = notebook["cells"] if "cells" in notebook else notebook["worksheets"][0]["cells"]
        sources = [cell.get("source", cell.get("input", "")) for cell in cells if cell["cell_type"] == "code"]
        sources = [source if isinstance(source, str) else "".join(source) for source in sources]
        if len(sources) > MOST_CELLS:
            raise ValueError(f"it has {len(sources)} code cells, more than {MOST_CELLS}")
        return {"sources": sources}

    def run(self, request: dict, payload: bytes) -> dict:
        """Execute one cell; its error, in one line, if it raised."""
        name = f"cell {request['place']}"
        source = request["source"]
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)  # inspect.getsource finds it
        seed_everything(request["seed"])
        try:
            exec(_compiled(source, name), self.module.__dict__)
        except BaseException as error:  # SystemExit and KeyboardInterrupt are a student's too
            return {"error": describe(error)}
        return {"error": None}

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
            "value": value, "grads": grads, "error": outcome.error, "blank": outcome.blank, "buffers": buffers,
        }  # fmt: skip

    def _hide_the_grader(self) -> None:
        """In place of `course_lib.grading`, a module whose `check` only takes note of the answer."""
        stand_in = types.ModuleType("course_lib.grading")
        stand_in.check = lambda exercise, answer: self.answers.__setitem__(str(exercise), answer)
        stand_in.report = stand_in.hint = lambda *arguments: None
        for name in [name for name in sys.modules if name.startswith("course_lib.grading")]:
            del sys.modules[name]
        sys.modules["course_lib.grading"] = stand_in
        sys.modules["course_lib"].grading = stand_in


def _compiled(source: str, name: str):
    """Python as it stands; if it is none, without lines of magics (%time, !ls), and without cells of another language.

    What stands below a cell's magic that only watches it, such as %%time, is Python.
    """
    try:
        return compile(source, name, "exec")
    except SyntaxError:
        header, _, body = source.lstrip().partition("\n")
        if header.startswith("%%"):
            source = "\n" + body if header.split()[0] in WATCHING else ""
        plain = MAGIC.sub(r"\1pass", source)
        return compile(plain, name, "exec")


def serve(requests: int, replies: int) -> None:
    """Answer requests until the pipe is closed."""
    reader, worker = Reader(), Worker()
    known = {name: getattr(worker, name) for name in ("start", "cells", "run", "value", "call")}
    while True:
        frame = reader.frame()
        while frame is None:
            data = _read(requests, min(reader.wanted(), 2**20))
            if not data:
                return
            reader.feed(data)
            frame = reader.frame()
        header, payload = frame
        try:
            reply = known[header["do"]](header, payload)
            data = pack({"nonce": header["nonce"], **reply, "buffers": None}, reply.get("buffers", []))
        except BaseException as error:  # of a value that cannot be sent, say, since its class raises when asked
            data = pack({"nonce": header["nonce"], "failed": describe(error)}, [])
        view = memoryview(data)
        while view:
            view = view[_write(replies, view) :]


def main() -> None:
    with contextlib.suppress(BrokenPipeError):
        serve(*map(int, sys.argv[2:4]))
    os._exit(0)  # no atexit handlers or threads of a submission
