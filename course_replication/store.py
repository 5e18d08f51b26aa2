"""Results of runs: one JSON line for each finished run, in a file that no kill damages and that processes share."""

import errno
import json
import os
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from course_replication.locks import locked

RESULTS = Path(__file__).with_name("artefacts") / "results.jsonl"
NEEDED = ("id", "config_hash", "scale", "seed", "metrics")  # of a result, whatever else it says


class Store:
    """The results in the file at `path`; by default those that the course comes with.

    A result is a dict with at least the keys `NEEDED`, as `runs.execute` makes it. Whatever happens to a process, the
    file holds the results that it had finished: a line is written whole and flushed to the disk before `add` returns,
    and what a kill may have left of one is not read, and cut off before the next. Processes that share the file may
    not write it in other ways meanwhile. Beside the file lies a lock file, and partial work of runs in a folder.
    """

    def __init__(self, path: str | Path = RESULTS):
        self.path = Path(os.path.realpath(path))

    def results(self) -> dict[str, dict]:
        """Results by the id of the run, in the order in which they came; of two with one id, the first."""
        with suppress(FileNotFoundError):
            return self._parsed(self.path.read_bytes())
        return {}

    def claimed(self, run: str) -> AbstractContextManager[bool]:
        """Whether the run of that id is this process's until the context ends; False if another is at work on it."""
        return self._locked(run, wait=False)

    def add(self, result: dict) -> bool:
        """Append a result and say whether it was new: the first result of a run stays.

        Raises ValueError for a result that lacks a key or holds what JSON cannot (NaN is no result), and OSError when
        it cannot be written; the file is then as before.
        """
        line = (json.dumps(_checked(result), allow_nan=False) + "\n").encode()
        with self._locked("", wait=True):
            if result["id"] in self.results():
                return False
            file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                _append(file, line, _repaired(file))
            finally:
                os.close(file)
            _flush_folder(self.path.parent)
        return True

    def scratch(self, run: str) -> Path:
        """A folder for what a run that takes long keeps for going on after a kill."""
        return self.path.with_name(self.path.name + ".partial") / run.replace("/", "-").replace(":", "-")

    def _locked(self, name: str, *, wait: bool) -> AbstractContextManager[bool]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OSError(error.errno, f"store: cannot write {self.path}: {error.strerror}") from error
        return locked(self.path.with_name(self.path.name + ".lock"), name, wait=wait)

    def _parsed(self, content: bytes) -> dict[str, dict]:
        lines = content[: content.rfind(b"\n") + 1].splitlines()  # less what a kill has left of a last line
        found: dict[str, dict] = {}
        for place, line in enumerate(lines, 1):
            try:
                result = _checked(json.loads(line))
            except ValueError as error:
                raise ValueError(f"store: line {place} of {self.path} is not a result ({error}).") from error
            found.setdefault(result["id"], result)
        return found


def _checked(result) -> dict:
    missing = [key for key in NEEDED if not isinstance(result, dict) or key not in result]
    if missing:
        raise ValueError(f"result: got one without {', '.join(missing)}; allowed are those with {', '.join(NEEDED)}")
    return result


def _repaired(file: int) -> int:
    """The length of the file after what a kill left of a line has been cut off."""
    with os.fdopen(os.dup(file), "rb") as reader:
        reader.seek(0)
        whole = reader.read().rfind(b"\n") + 1
    os.ftruncate(file, whole)
    return whole


def _append(file: int, line: bytes, length: int) -> None:
    """Write the line in one go and wait until it is on the disk; a full disk leaves the file at its old `length`."""
    try:
        if os.write(file, line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(file)
    except OSError:
        os.ftruncate(file, length)
        raise


def _flush_folder(folder: Path) -> None:
    """The folder's entry of a new file reaches the disk as well."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
