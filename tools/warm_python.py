"""A Python that has imported what notebooks import, and forks for each program, which then starts in a moment.

Of the course itself nothing is imported beforehand, so that each program finds it where its own path leads. A program
gets the arguments, the folder, the variables and the open files of the process that asked for it, and is interrupted
and ended with it. For tests: it needs a system that can fork after torch was imported, such as Linux.
"""

import atexit
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

IMPORTED = (
    "IPython", "ipykernel.ipkernel", "ipykernel.kernelapp", "ipywidgets", "jupyter_client", "matplotlib.pyplot",
    "matplotlib.backends.backend_agg", "nbformat", "numpy", "pandas", "pytest", "scipy.optimize", "scipy.stats",
    "seaborn", "sklearn.ensemble", "sklearn.linear_model", "sklearn.svm", "torch", "tqdm.auto",
)  # fmt: skip
# What stands for the program where it was asked for. It imports as little as it can: `python -I -S` takes no time.
ASK = """import json, os, signal, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect(sys.argv[1])
asked = json.dumps({"arguments": sys.argv[2:], "folder": os.getcwd(), "variables": dict(os.environ)}).encode()
socket.send_fds(server, [len(asked).to_bytes(8, "big")], [0, 1, 2])
server.sendall(asked)
signal.signal(signal.SIGINT, lambda *_: server.send(b"i"))
status = server.recv(1)
sys.exit(status[0] if status else 1)
"""
# Of one thread, as the programs will be; figures are drawn into a notebook, if there is one.
VARIABLES = {"OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1", "MPLBACKEND": "module://matplotlib_inline.backend_inline"}


class WarmPython(NamedTuple):
    """command: what stands for `python -m`. jupyter: for JUPYTER_PATH, a folder with the kernel that is called warm."""

    command: list[str]
    jupyter: Path


@contextmanager
def running() -> Iterator[WarmPython]:
    """Start it, and end it afterwards."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as name:
        folder, address = Path(name), f"{name}/address"
        server = subprocess.Popen(
            [sys.executable, "-P", __file__, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=inherited | VARIABLES, start_new_session=True,
        )  # fmt: skip
        with server:  # afterwards its standard input is closed, which ends it
            if server.stdout.readline() != b"ready\n":
                raise RuntimeError("warm_python: it ended before it was ready.")
            command = [sys.executable, "-I", "-S", "-c", ASK, address]
            kernel = {"argv": [*command, "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "warm"}
            (folder / "kernels" / "warm").mkdir(parents=True)
            (folder / "kernels" / "warm" / "kernel.json").write_text(json.dumps(kernel | {"language": "python"}))
            yield WarmPython(command, folder)


def serve(address: str) -> None:
    """Fork for each program that is asked for, until standard input is closed."""
    sys.modules["rfc3987_syntax"] = None  # jsonschema would build a grammar with it, of addresses that no notebook has
    for name in IMPORTED:
        importlib.import_module(name)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        print("ready", flush=True)
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            asked, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                os._exit(_run(asked))
            asked.close()
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:  # those that have ended
                    pass


def _run(asked: socket.socket) -> int:
    """Be the program that is asked for, in a process of its own; its exit status, which is sent as well."""
    os.setsid()
    length, files, *_ = socket.recv_fds(asked, 8, 3)
    with asked.makefile("rb") as stream:
        wanted = json.loads(stream.read(int.from_bytes(length, "big")))
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    threading.Thread(target=_obey, args=(asked,), daemon=True).start()
    os.environ.clear()
    os.environ.update(wanted["variables"])
    os.chdir(wanted["folder"])
    sys.path[:0] = [wanted["folder"], *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    module, *sys.argv[1:] = wanted["arguments"]
    sys.modules["numpy"].random.seed()  # or all programs would draw the same; `random` sees to itself
    sys.modules["torch"].seed()
    status = 0
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    asked.sendall(bytes([status & 255]))
    return status


def _obey(asked: socket.socket) -> None:
    """Interrupt this process when whoever asked for it is interrupted; end it when that has ended."""
    while asked.recv(1):
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(1)


if __name__ == "__main__":
    serve(sys.argv[1])
