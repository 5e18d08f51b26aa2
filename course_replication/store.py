"""Results of runs: one JSON line for each finished run, in a file that no kill damages and that processes share."""

import errno
import os
import warnings
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from course_replication.lines import NEEDED, SCALES, line_of, result_in
from course_replication.locks import locked

__all__ = ["NEEDED", "RESULTS", "Store"]
RESULTS = Path(__file__).with_name("artefacts") / "results.jsonl"


class Store:
    """The results in the file at `path`; by default those that the course comes with.

    A result is a dict with at least the keys `NEEDED`, as `runs.execute` makes it. Whatever happens to a process, the
    file holds the results that it had finished: a line is written whole and flushed to the disk before `add` returns,
    and what a kill may have left of one is not read, and cut off before the next. Each line carries a hash of all that
    it says, so that a line which nobody stored like this is found. Processes that share the file may not write it in
    other ways meanwhile. Beside the file lies a lock file, and partial work of runs in a folder.
    """

    def __init__(self, path: str | Path = RESULTS):
        self.path = Path(os.path.realpath(path))

    def results(self, scale: str | None = None) -> dict[str, dict]:
        """Results by the id of the run, in the order in which they came.

        scale : "exact", "small" or "full", for those of that scale alone.

        Raises ValueError for another scale, and with the place of the first line that is not a result; warns of a last
        line that is cut off, which is what a kill leaves: its run counts as not done.
        """
        if scale not in (None, *SCALES):
            raise ValueError(f"scale: got {scale!r}; expected one of {', '.join(SCALES)}, or None for all.")
        found, cut_off = self._sound()
        if cut_off:
            warnings.warn(cut_off, stacklevel=1)  # of this place, so that it is said once
        return {run: each for run, each in found.items() if scale in (None, each["scale"])}

    def faults(self, *, cut_off: bool = True) -> list[str]:
        """A sentence with its place for each line that is not a result. cut_off : the last one, if a kill has cut it
        off, is one."""
        _, faults, tail = self._read()
        return faults + [tail] * bool(tail and cut_off)

    def claimed(self, run: str) -> AbstractContextManager[bool]:
        """Whether the run of that id is this process's until the context ends; False if another is at work on it."""
        return self._locked(run, wait=False)

    def add(self, result: dict) -> bool:
        """Append a result and say whether it was new: the first result of a run stays.

        Raises ValueError for what is no result (NaN is none), and OSError when it cannot be written; the file is then
        as before.
        """
        line = line_of(result) + b"\n"
        with self._locked("", wait=True):
            if result["id"] in self._sound()[0]:
                return False
            file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                _append(file, line, _repair(file))
            finally:
                os.close(file)
            _flush_folder(self.path.parent)
        return True

    def replace(self, result: dict) -> bool:
        """Put a result in the place of the one of the same run, and say whether there was one; raises as `add` does.

        All other lines stay, byte for byte. Whoever reads finds the old result or the new one, also after a kill.
        """
        from course_lib.storage import replace_file  # here: it takes torch, and reading does not need it

        new = line_of(result)
        with self._locked("", wait=True):
            places = [*self._sound()[0]]
            if result["id"] not in places:
                return False
            lines = self._content().split(b"\n")[:-1]
            lines[places.index(result["id"])] = new
            with replace_file(self.path) as file:
                file.write(b"\n".join([*lines, b""]))
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

    def _content(self) -> bytes:
        with suppress(FileNotFoundError):
            return self.path.read_bytes()
        return b""

    def _sound(self) -> tuple[dict[str, dict], str]:
        """The results, and what is to be said of a last line that is cut off; raises if another line is no result."""
        found, faults, cut_off = self._read()
        if faults:
            others = f" Nor are {len(faults) - 1} lines after it." if faults[1:] else ""
            raise ValueError(faults[0] + others)
        return found, cut_off

    def _read(self) -> tuple[dict[str, dict], list[str], str]:
        """Results, a sentence for each line that is none, and one for a last line that is cut off."""
        *lines, rest = self._content().split(b"\n")
        found, faults, places = {}, [], {}
        for place, line in enumerate(lines, 1):
            try:
                result = result_in(line)
                first = places.setdefault(result["id"], place)
                if first != place:
                    raise ValueError(f"its run has one in line {first} already")
            except ValueError as error:
                faults.append(f"store: line {place} of {self.path} is not a result: {error}.")
            else:
                found[result["id"]] = result
        cut_off = f"store: line {len(lines) + 1} of {self.path} is cut off; that run is run again." if rest else ""
        return found, faults, cut_off


def _repair(file: int) -> int:
    """Cut off what a kill left of a line, and return the length of the file."""
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
