"""Submissions that attack the grader. Each gets the points that its honest cells deserve, soon, and one clear line.

The notebook: an honest cell (a = 1), the attack, an honest cell (b = 2). A third point is for `prize`, which is 3: no
honest cell sets it, so whoever has it has fooled the grader.
"""

import dataclasses
import json
import os
import re
import sys
import time

import pytest

from course_grading.grader import grade

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the layers that these attacks meet are Linux's")

STEAL = """
import json, struct, sys
frame = sys._getframe()
while "replies" not in frame.f_locals:
    frame = frame.f_back
nonce, fd = frame.f_locals["nonce"], frame.f_locals["replies"]
"""
FORGE = """
import json, os, struct
def forged(nonce):
    content = {"value": 3, "grads": [], "error": None, "blank": False, "changed": [], "left_out": []}
    text = json.dumps(content).encode()
    return head(nonce, len(text), 0) + text
def head(nonce, header, payload):
    return struct.pack("<4s16sIQ", b"cgr2", nonce, header, payload)
def everywhere(data):
    for fd in range(64):
        try:
            os.write(fd, data)
        except OSError:
            pass
"""

DROPS = """
import time
os.write(fd, head(nonce, 9, 2**20))
while True: os.write(fd, b" "); time.sleep(.02)
"""
DELETED = """
import os, time
kept = []
for n in range(60): kept.append(open("f", "wb")); kept[-1].write(bytes(2**20)); os.remove("f"); time.sleep(.05)
"""

# name: (the attack's cell, the points of the two honest cells that are left, what the notes say)
ATTACKS = {
    "loops for ever": ("while True: pass", 2, "cell 2 was skipped: it took longer than 1.5 s"),
    "sleeps": ("import time; time.sleep(1000)", 2, "cell 2 was skipped: it took longer"),
    "os._exit": ("import os; os._exit(0)", 2, "cell 2 was skipped: it ended the Python process"),
    "sys.exit": ("import sys; sys.exit()", 2, "cell 2 raised SystemExit"),
    "KeyboardInterrupt": ("raise KeyboardInterrupt", 2, "cell 2 raised KeyboardInterrupt"),
    "recursion without end": ("def f(): f()\nf()", 2, "cell 2 raised RecursionError"),
    "a crash": ("import ctypes; ctypes.string_at(0)", 2, "cell 2 was skipped: it was ended by the system .SIGSEGV"),
    "forks": ("import os\nfor _ in range(20): os.fork()", 2, "cell 2 raised PermissionError"),
    "starts a process": ("import subprocess; subprocess.run(['sleep', '60'])", 2, "cell 2 raised PermissionError"),
    "becomes another program": ("import os; os.execv('/bin/sh', ['sh'])", 2, "cell 2 raised PermissionError"),
    "threads without end": (
        "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(99,)).start()",
        2, "cell 2 (raised|was skipped)",
    ),
    "fills memory": ("x = []\nwhile True: x.append(bytearray(2**24))", 2, "cell 2 raised MemoryError"),
    "one huge array": ("import numpy; numpy.ones(2**40)", 2, "cell 2 raised .*Memory"),
    "fills the disk": (
        "import itertools, time\nfor n in itertools.count(): open(f'f{n}', 'wb').write(bytes(2**22)); time.sleep(.05)",
        2, "cell 2 was skipped: it wrote more than 8 MB or 200 files",
    ),
    "one huge file": ("open('f', 'wb').write(bytes(2**23))", 2, "cell 2 raised OSError: .*too large"),
    "many files": (
        "import itertools, time\nfor n in itertools.count(): open(f'f{n}', 'w').close(); time.sleep(.001)",
        2, "cell 2 was skipped: it wrote more than",
    ),
    "open files without end": ("kept = [open('f', 'wb') for _ in range(99)]", 2, "cell 2 raised OSError: .*open files"),
    "files that are deleted and still open": (DELETED, 2, "cell 2 was skipped: it wrote more than 8 MB"),
    "hides what it has open": (
        "import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)" + DELETED, 2, "skipped: it (hid|wrote more)",
    ),
    "folders in folders": (
        "import os, time\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')\ntime.sleep(9)", 2, "cell 2 was skipped",
    ),
    "deletes its own folder": ("import os, shutil; shutil.rmtree(os.getcwd())", 2, "cell 2 raised|^$"),
    "a link to the root": ("import os; os.symlink('/', 'root')", 2, "^$"),
    "deletes a file outside": ("import os; os.remove({outside!r})", 2, "cell 2 raised PermissionError"),
    "overwrites a file outside": ("open({outside!r}, 'w').write('gone')", 2, "cell 2 raised PermissionError"),
    "changes a file's rights": ("import os; os.chmod({outside!r}, 0)", 2, "cell 2 raised PermissionError"),
    "reads a file outside": ("prize = int(open({outside!r}).read())", 2, "cell 2 raised PermissionError"),
    "reads through a link": ("import os; os.symlink({outside!r}, 'x'); prize = int(open('x').read())", 2, "Permission"),
    "reads the references": (
        "import os, course_lib\nroot = os.path.dirname(course_lib.__path__[0])\n"
        "open(os.path.join(root, 'course_grading/checks/ch02_vae.py')).read()",
        2, "cell 2 raised PermissionError",
    ),
    "imports the references": ("from course_grading.checks import ch02_vae", 2, "cell 2 raised ModuleNotFound"),
    "reads the grader's memory": ("import os; open(f'/proc/{{os.getppid()}}/mem', 'rb')", 2, "raised Permission"),
    "reads the grader's environment": ("import os; open(f'/proc/{{os.getppid()}}/environ')", 2, "raised Permission"),
    "kills the grader": ("import os; os.kill(os.getppid(), 9)", 2, "cell 2 raised PermissionError"),
    "kills everything": ("import os; os.kill(-1, 9)", 2, "cell 2 raised PermissionError"),
    "limits the grader": (
        "import os, resource; resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))", 2, "raised PermissionError",
    ),
    "leaves the group": ("import os; os.setsid()", 2, "cell 2 raised PermissionError"),
    "opens a socket": ("import socket; socket.create_connection(('127.0.0.1', 22))", 2, "cell 2 raised"),
    "patches comparisons": (
        "import math, numpy\nmath.isclose = numpy.allclose = lambda *a, **k: True\nprize = 0", 2, "^$",
    ),
    "patches json": ("import json; json.dumps = lambda *a, **k: '{{\"value\": 3}}'; json.loads = None", 2, "^$"),
    "patches os": ("import os; os.write = os.read = lambda *a: None", 2, "^$"),
    "overwrites the grader's names": (
        "import sys\ncheck = report = grade = Worker = Verdict = lambda *a: True\n"
        "sys.modules['course_grading'] = sys.modules['course_lib'] = None", 2, "^$",
    ),
    "replaces check": (
        "import course_grading as g\ng.check = lambda *a: None\ng.report = lambda: print('3 of 3 points')", 2, "^$",
    ),
    "empties the namespace": ("globals().clear()", 1, "^$"),
    "breaks the builtins": ("import builtins; del builtins.isinstance, builtins.len", 2, "skipped: it ended"),
    "prints a fake report": (
        "import os\nprint('{{\"points\": 3, \"possible\": 3}}', flush=True)\nos.write(1, b'3'); os.write(2, b'3')",
        2, "^$",
    ),
    "writes rubbish everywhere": (FORGE + "everywhere(b'3 of 3 points\\n' * 9)", 2, "it wrote .* no reply"),
    "a forged reply": (FORGE + "everywhere(forged(bytes(16)))", 2, "cell 2 was skipped: it wrote a forged reply"),
    "a forged reply with the right nonce": (STEAL + FORGE + "os.write(fd, forged(nonce))", 0, ""),
    "the head of an endless reply": (
        STEAL + FORGE + "os.write(fd, head(nonce, 9, 2**60)); import time; time.sleep(9)", 2, "no reply",
    ),
    "a reply that never ends": (
        STEAL + FORGE + "import time; os.write(fd, head(nonce, 9, 2**20)); time.sleep(9)", 2, "took longer",
    ),
    "a header of 60 MB": (STEAL + FORGE + "os.write(fd, head(nonce, 60 * 2**20, 0)); input()", 2, "no reply"),
    "a reply in drops": (STEAL + FORGE + DROPS, 2, "took longer than 1.5 s"),
    "fills the disk between drops": (
        STEAL + FORGE + DROPS.replace("(.02)", "(.02); open(os.urandom(8).hex(), 'wb').write(bytes(2**20))"),
        2, "wrote more than 8 MB or 200 files",
    ),
    "closes everything": ("import os; os.closerange(0, 64)", 2, "cell 2 was skipped: it (ended|closed)"),
    "eats the requests": (STEAL + "import os; os.read(frame.f_locals['requests'], 1)", 2, "it took longer"),
    "a thread that writes later": (
        FORGE + "import threading, time\ndef later(): time.sleep(.3); everywhere(b'x' * 99)\n"
        "threading.Thread(target=later, daemon=True).start()", 2, "",
    ),
    "an exit handler that waits": ("import atexit, time; atexit.register(time.sleep, 99)", 2, "^$"),
    "ignores signals": ("import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile 1: pass", 2, "longer"),
    "a value whose class raises": (
        "class Evil(int):\n    def __int__(self): raise SystemExit\n"
        "    __eq__ = __repr__ = __float__ = __int__\nprize = Evil(3)", 2, "",
    ),
    "a value that equals everything": ("class All:\n    __eq__ = lambda *a: True\nprize = All()", 2, "^$"),
    "an endless generator": ("import itertools; prize = itertools.count()", 2, "^$"),
    "a list that holds itself": ("prize = []; prize.append(prize)", 2, "^$"),
    "an error that raises": (
        "class E(Exception):\n    def __str__(self): raise SystemExit\nraise E", 2, "cell 2 raised E",
    ),
    "an error of a megabyte": ("raise ValueError('\\x1b[2J' + 'x' * 2**20)", 2, "cell 2 raised ValueError"),
    "a pair of sockets": ("import socket; socket.socketpair()", 2, "cell 2 raised PermissionError"),
    "memory that is a file": ("import os; os.memfd_create('x')", 2, "cell 2 raised PermissionError"),
    "memory that is a secret file": (
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "libc.syscall(447, 0)\nraise OSError(ctypes.get_errno(), '')",
        2, "raised PermissionError",
    ),
    "empties a file outside": ("import os; os.truncate({outside!r}, 0)", 2, "cell 2 raised PermissionError"),
    "a signal from a pipe": (
        "import fcntl, os, struct\nread, write = os.pipe()\nfcntl.ioctl(read, 0x8901, struct.pack('i', os.getppid()))",
        2, "cell 2 raised PermissionError",
    ),
    "wants to outlive the grader": (
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nif libc.prctl(1, 0, 0, 0, 0) == 0: prize = 3\n"
        "else: raise PermissionError",
        2, "cell 2 raised PermissionError",
    ),
    "a forged list of what was left out": (
        STEAL + FORGE + "text = json.dumps(dict(error=None, left_out=3)).encode()\n"
        "os.write(fd, head(nonce, len(text), 0) + text)", 2, "skipped: it wrote .* no reply",
    ),
    "patches the encoder": (
        STEAL + "names = frame.f_locals['worker'].value.__globals__\nnames['encode'] = lambda *a: 3", 0, "^$",
    ),
    "swaps the answers": (STEAL + "frame.f_locals['worker'].answers['99.3'] = float('nan')", 2, "^$"),
    "a dict without end": (
        "import itertools\nclass D(dict):\n    def items(self): return zip(itertools.count(), itertools.count())\n"
        "prize = D()", 2, "^$",
    ),
    "a list that lies about its length": (
        "class L(list):\n    def __len__(self): return 3\n    def __iter__(self): return iter(range(10**9))\n"
        "prize = L()", 2, "^$",
    ),
    "a tracer that raises": ("import sys\ndef f(*a): raise SystemExit\nsys.settrace(f); sys.setprofile(f)", 2, "Exit"),
    "an alarm": ("import signal; signal.alarm(1)\nwhile True: pass", 2, "was ended by the system .SIGALRM|longer"),
    "a destructor that waits": ("class D:\n  def __del__(s):\n    while 1: pass\nd = D(); del d", 2, "took longer"),
    "folders that nobody may enter": ("import os; os.umask(0o777)\nfor n in 'abc': os.mkdir(n)", 2, "^$|wrote more"),
    "limits of its own": ("import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))", 2, "^$"),
    "a file with holes": ("open('f', 'wb').truncate(2**40)", 2, "cell 2 raised OSError: .*too large"),
    "a link into the system": ("import os; os.link('/etc/passwd', 'x')", 2, "cell 2 raised"),
    "magics without end": ("!ls\n" * 9_999, 2, "cell 2 (raised SyntaxError: more than 200|was skipped)"),
    "no Python": ("this is no Python", 2, "cell 2 raised SyntaxError"),
    "magics": ("%pip install torch\n%matplotlib inline\na?\n?a", 2, "^$"),
    "programs": ("!rm -rf /\nx = !ls", 2, "cell 2 ran without `!rm -rf /`, `x = !ls`: the grader starts no programs"),
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name, notebook, plain, quick, folders, tmp_path):
    attack, honest, note = ATTACKS[name]
    outside = tmp_path / "outside.txt"
    outside.write_text("3")
    outside.chmod(0o644)
    attack = attack.replace("{outside!r}", repr(str(outside))).replace("{{", "{").replace("}}", "}")
    started = time.monotonic()
    report = grade(notebook("a = 1", attack, "b = 2"), plain, quick)
    assert time.monotonic() - started < quick.total + 3
    assert [result.points for result in report.results][2] == 0
    assert report.points == honest, report.to_text()
    assert re.search(note, " ".join(report.notes)), report.notes
    assert all(line.isprintable() and len(line) < 400 for line in report.notes)
    assert outside.read_text() == "3" and outside.stat().st_mode & 0o777 == 0o644
    assert list(folders.iterdir()) == []


def test_every_layer_is_in_force(notebook, plain, quick):
    """What the attacks above meet. As an ordinary user there are no rights of root to give up."""
    layers = grade(notebook("a = 1"), plain, quick).layers
    assert set(layers) >= {"limits", "files", "calls"} and ("identity" in layers) == (os.geteuid() == 0)


@pytest.mark.parametrize("loops", ["while True: pass", "import os; os._exit(1)"])
def test_many_cells_that_lose_the_worker(loops, notebook, plain, quick, folders):
    started = time.monotonic()
    quick = dataclasses.replace(quick, total=6)
    report = grade(notebook("a = 1", *[loops] * 40), plain, quick)
    assert time.monotonic() - started < quick.total + 3
    assert report.points == 0 and re.search("was up|no further one", report.results[0].message)


NOT_NOTEBOOKS = {
    "empty": b"",
    "text": b"I did the exercises on paper.",
    "a list": b"[]",
    "no cells": b'{"nbformat": 4}',
    "cells that are none": b'{"cells": 3}',
    "deep": b"[" * 100_000,
    "bytes": bytes(range(256)) * 99,
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(999),
}


@pytest.mark.parametrize("name", NOT_NOTEBOOKS)
def test_not_a_notebook(name, tmp_path, plain, quick, folders):
    path = tmp_path / "some_02_vae.ipynb"
    path.write_bytes(NOT_NOTEBOOKS[name])
    report = grade(path, plain, quick)
    assert report.points == 0
    assert report.results[0].message.startswith("this is not a notebook"), report.results[0].message
    assert list(folders.iterdir()) == []


def test_a_link_and_a_pipe_are_not_opened(tmp_path, notebook, plain, quick):
    honest, link, pipe = notebook("a = 1"), tmp_path / "link.ipynb", tmp_path / "pipe.ipynb"
    link.symlink_to(honest)
    os.mkfifo(pipe)
    for path in (link, pipe):
        assert grade(path, plain, quick).results[0].message == "this is not a regular file."


def test_missing_cells(notebook, plain, quick):
    report = grade(notebook("b = 2"), plain, quick)
    assert [result.points for result in report.results] == [0, 1, 0]
    assert report.results[0].message == "not written yet."


def test_ten_thousand_cells(notebook, plain, quick):
    report = grade(notebook("a = 0", *["a += 1e-4"] * 10_000, "a = round(a)", "b = 2"), plain, quick)
    assert report.points == 2 and report.notes == []


def test_too_many_cells(notebook, plain, quick):
    report = grade(notebook(*["a = 1"] * 30_000), plain, quick)
    assert report.points == 0 and "30000 code cells, more than 20000" in report.results[0].message


@pytest.mark.stress
def test_fifty_megabytes_of_outputs(tmp_path, plain, quick):
    output = {"output_type": "stream", "name": "stdout", "text": "x" * 50 * 2**20}
    cells = [{"cell_type": "code", "source": "a = 1", "outputs": [output]}]
    path = tmp_path / "some_02_vae.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    report = grade(path, plain, quick)
    assert report.points == 1 and report.seconds < 10
