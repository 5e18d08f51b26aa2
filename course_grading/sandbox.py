"""Starts the worker, asks it, bounds it and ends it. Nothing that comes back is believed to be more than bytes."""

import importlib.util
import json
import os
import secrets
import select
import signal
import site
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from course_grading import lockdown, watch
from course_grading.wire import Forged, Reader, WireError, pack

GRADER = Path(__file__).resolve().parent  # the package that holds the references, which the worker may not read
PACKAGES = tuple(  # those that it may
    Path(importlib.util.find_spec(name).origin).resolve().parent for name in ("course_lib", "course_replication")
)
BOOT = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from course_grading.worker import main; main()"
USUAL_WORK = 0.04  # seconds that `slowness` takes where the limits were set
WATCH = 0.2  # seconds between two looks at the worker's folder


@dataclass(frozen=True)
class Limits:
    """What a submission may use: seconds for a cell, for one call of an answer, and in all; bytes; files; processes.

    preload : what is imported before the limit on memory begins to count.
    """

    cell: float = 20.0
    call: float = 5.0
    total: float = 55.0
    start: float = 30.0
    memory: int = 2 * 2**30
    disk: int = 256 * 2**20
    file_size: int = 64 * 2**20
    files: int = 2_000
    workers: int = 8
    preload: tuple[str, ...] = ("torch",)

    def scaled(self, factor: float) -> "Limits":
        """The same with so many times the seconds."""
        seconds = ("cell", "call", "total", "start")
        return replace(self, **{name: round(getattr(self, name) * factor, 1) for name in seconds})


def slowness() -> float:
    """How many times slower this computer is, at the moment, than the one for which the limits were set: 1 to 10."""
    import torch

    def work() -> float:
        started, matrix = time.perf_counter(), torch.ones(256, 256)
        for _ in range(30):
            matrix = matrix @ matrix / 256
        sum(number * number % 7 for number in range(200_000))
        return time.perf_counter() - started

    return min(max(min(work() for _ in range(5)) / USUAL_WORK, 1.0), 10.0)


class Lost(Exception):
    """The worker is no more, or is not to be used any more; the message says why, as the end of a sentence."""


class Worker:
    """The process of one submission in a folder of its own. `layers` says which protections are in force."""

    def __init__(self, limits: Limits, deadline: float):
        self.limits, self.deadline = limits, deadline
        self._reader, self._watched, self._sees_files = Reader(), time.monotonic(), False
        self.folder = Path(tempfile.mkdtemp(prefix="grading-")).resolve()
        try:
            readable = _readable()
            identity = _identity([*readable, sys.executable], self.folder)
            if identity == "nobody":
                os.chown(self.folder, lockdown.NOBODY, lockdown.NOBODY)
            self._start()
            lock = dict(folder=str(self.folder), readable=readable, listable=_listable(), identity=identity)
            lock |= dict(memory=limits.memory, file_size=limits.file_size, seconds=int(limits.total + limits.start))
            reply, _ = self.ask("start", seconds=limits.start, lock=lock, preload=limits.preload)
            self.layers = tuple(layer for layer in reply["layers"] if isinstance(layer, str))
            self._sees_files = watch.open_and_deleted(self._process.pid) is not None
        except (Lost, Refused) as error:
            self.close()
            if time.monotonic() >= deadline:
                raise
            raise GraderError(f"The worker could not be started: it {error}.") from error
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        request, self._requests = os.pipe()
        self._replies, reply = os.pipe()
        command = [sys.executable, "-I", "-X", "utf8", "-c", BOOT, json.dumps(_search_path())]
        try:
            self._process = subprocess.Popen(
                [*command, str(request), str(reply)],
                pass_fds=(request, reply),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=self.folder,
                env=_environment(self.folder),
                start_new_session=True,
                umask=0o077,
            )
        finally:
            os.close(request)
            os.close(reply)
        os.set_blocking(self._requests, False)
        os.set_blocking(self._replies, False)

    def ask(self, do: str, *, seconds: float, payload: tuple[bytes, ...] = (), **header) -> tuple[dict, bytes]:
        """Send one request and return the reply's header and payload; `Lost` when there is none that can be used."""
        self._reader.expected = secrets.token_bytes(16)
        until = min(time.monotonic() + seconds, self.deadline)
        try:
            data = pack(self._reader.expected, {"do": do, **header}, list(payload))
            self._send(data, until)
            reply, content = self._receive(until)
        except Forged as error:
            raise Lost("wrote a forged reply to the grader's pipe") from error
        except (WireError, OSError) as error:
            if isinstance(error, BrokenPipeError):
                raise Lost(self._ending()) from error
            raise Lost("wrote to the grader's pipe what is no reply") from error
        except _Late as error:
            late = time.monotonic() >= self.deadline
            raise Lost(
                "had used up the time for the whole notebook" if late else f"took longer than {seconds:g} s"
            ) from error
        if "failed" in reply:
            raise Refused(reply["failed"])
        return reply, content

    def _send(self, data: bytes, until: float) -> None:
        view = memoryview(data)
        while view:
            if select.select([], [self._requests], [], self._wait(until))[1]:
                view = view[os.write(self._requests, view[: 2**16]) :]

    def _receive(self, until: float) -> tuple[dict, bytes]:
        while True:
            frame = self._reader.frame()
            if frame is not None:
                return frame[1:]
            if not select.select([self._replies], [], [], self._wait(until))[0]:
                continue
            data = os.read(self._replies, min(self._reader.wanted(), 2**20))
            if not data:
                raise Lost(self._ending())
            self._reader.feed(data)

    def _wait(self, until: float) -> float:
        """Seconds to wait for the pipe. Every wait passes here: a worker that trickles bytes is watched, and late."""
        now = time.monotonic()
        if now >= until:
            raise _Late
        if now >= self._watched + WATCH:
            self._watch()
            self._watched = time.monotonic()
        return min(until - now, WATCH)

    def _watch(self) -> None:
        """`Lost` when the worker's folder has grown too large, files that it deleted and still has open included."""
        unseen = watch.open_and_deleted(self._process.pid) if self._sees_files else 0
        if unseen is None and self._process.poll() is None:
            raise Lost("hid from the grader which files it has open")
        if not watch.is_small(self.folder, self.limits.disk - (unseen or 0), self.limits.files):
            megabytes = self.limits.disk // 2**20
            raise Lost(f"wrote more than {megabytes} MB or {self.limits.files} files into its folder")

    def _ending(self) -> str:
        """How the process came to its end, or that it only closed the pipe."""
        try:
            code = self._process.wait(0.5)
        except subprocess.TimeoutExpired:
            return "closed the grader's pipe"
        if code >= 0:
            return "ended the Python process"
        return f"was ended by the system ({_signal(-code)}: too much memory or time, or a crash)"

    def close(self) -> None:
        """End the worker and everything that it started, and remove its folder."""
        with _undisturbed():
            process = getattr(self, "_process", None)
            if process is not None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            for name in ("_requests", "_replies"):
                with suppress(OSError, AttributeError):
                    os.close(getattr(self, name))
                    delattr(self, name)
            for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):  # which know no depth at which to give up
                subprocess.run([*command, "--", str(self.folder)], capture_output=True)


@contextmanager
def _undisturbed():
    """Signals that ask for the grader's end wait until this is done."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGHUP, signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _signal(number: int) -> str:
    """The signal's name; real-time signals have none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class GraderError(RuntimeError):
    """The grader itself does not work here, whatever the submission holds."""


class Refused(Exception):
    """The worker lives and says that it could not do what was asked; the message is the submission's word."""


class _Late(Exception):
    pass


def _environment(folder: Path) -> dict[str, str]:
    """Nothing of the grader's own environment."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TQDM_DISABLE"), "1")
    places = dict.fromkeys(("HOME", "TMPDIR", "MPLCONFIGDIR", "XDG_CACHE_HOME"), str(folder))
    fixed = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "MPLBACKEND": "Agg", "PYTHONHASHSEED": "0"}
    return {**threads, **places, **fixed, "CUDA_VISIBLE_DEVICES": ""}


def _libraries() -> list[str]:
    """The folders of sys.path that hold Python itself or installed packages; others may hold anything."""
    roots = {Path(prefix).resolve() for prefix in (sys.prefix, sys.base_prefix, sys.exec_prefix)}
    user = site.getusersitepackages() if site.ENABLE_USER_SITE else None
    found = []
    for entry in sys.path:
        path = Path(entry).resolve()
        inside = any(path.is_relative_to(root) for root in roots)
        if entry and (inside or str(path) == user or path.name in ("site-packages", "dist-packages")):
            found.append(str(path))
    return found


def _search_path() -> list[str]:
    """sys.path of the worker. The folder of the course comes last: in a checkout it holds more than the packages."""
    return [*_libraries(), *dict.fromkeys(str(package.parent) for package in (GRADER, *PACKAGES))]


def _readable() -> list[str]:
    """What the worker may read: Python, the installed packages, and the course's without what grades."""
    prefixes = (str(Path(prefix).resolve()) for prefix in (sys.prefix, sys.base_prefix) if prefix != "/usr")
    places = dict.fromkeys([*prefixes, *_libraries(), *map(str, PACKAGES)])
    return [part for place in places for part in _without(Path(place), GRADER)]


def _without(place: Path, hidden: Path) -> list[str]:
    """`place`, or if `hidden` lies in it, all that lies in it but that: an installed course is among libraries."""
    if place == hidden:
        return []
    if not hidden.is_relative_to(place):
        return [str(place)]
    return [part for inside in sorted(place.iterdir()) for part in _without(inside.resolve(), hidden)]


def _listable() -> list[str]:
    """The folders that are not readable as a whole since the grader lies in them; import looks into them."""
    roots = {Path(place) for place in (*_libraries(), sys.prefix, sys.base_prefix)}
    return [str(folder) for folder in GRADER.parents if any(folder.is_relative_to(root.resolve()) for root in roots)]


def _identity(needed: list[str], folder: Path) -> str:
    """For `lockdown.lock`: root becomes nobody where nobody can read what is `needed`, else sheds its rights."""
    if os.geteuid() != 0:
        return "keep"
    if all(_is_public(Path(path)) for path in needed) and _is_public(folder.parent):
        return "nobody"
    if lockdown.landlock_version() == 0:
        raise GraderError(
            "This system has no Landlock, and others cannot read this Python, so root's rights cannot be shed: grade "
            "as an ordinary user."
        )
    return "uncapped"


def _is_public(path: Path) -> bool:
    """Whether everybody may read the file or folder and enter the folders above it."""
    path = path.resolve()
    with suppress(OSError):
        readable = stat.S_IROTH | (stat.S_IXOTH if path.is_dir() else 0)
        open_above = all(parent.stat().st_mode & stat.S_IXOTH for parent in path.parents)
        return open_above and path.stat().st_mode & readable == readable
    return False


def hide_memory() -> None:
    """Deny this user's other processes a look into this one's memory, where Landlock does not do so already."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
