"""Locks on names that the processes of one machine share; the system releases those of a process that dies."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

NAMES = 2**62  # bytes of the lock file that names are spread over; none of them is ever written
_held: set[tuple[str, str]] = set()  # by this process, against which the system's locks do not guard


@contextmanager
def locked(path: str | Path, name: str, *, wait: bool) -> Iterator[bool]:
    """Hold the lock `name` of the lock file at `path`; yields whether it is held, which is sure if `wait`.

    A lock is a range of one byte of the file (POSIX, so not on Windows). Within one process the same name is never
    held twice: a second attempt yields False, or raises RuntimeError if it would have to wait for itself.
    """
    import fcntl  # here: Windows lacks it, and reading results does not need it

    path = os.path.realpath(path)
    if (path, name) in _held:
        if wait:
            raise RuntimeError(f"name: this process holds the lock {name!r} of {path} already.")
        yield False
        return
    file, place = _lock_file(path), int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % NAMES
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB), 1, place)
    except (BlockingIOError, PermissionError):  # which of them depends on the system
        yield False
        return
    _held.add((path, name))
    try:
        yield True
    finally:
        _held.remove((path, name))
        fcntl.lockf(file, fcntl.LOCK_UN, 1, place)


@cache  # and never closed: to close any descriptor of the file would release every lock that the process has on it
def _lock_file(path: str) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise OSError(error.errno, f"store: cannot write {path}: {error.strerror}") from error
