"""What the worker has on the disk, which its limits on the size of one file do not bound."""

import os
import stat
from contextlib import suppress
from pathlib import Path


def is_small(folder: Path, most_bytes: int, most_files: int) -> bool:
    """Whether the folder holds at most so many bytes and files; one that cannot be looked through does not."""
    size, count, waiting = 0, 0, [str(folder)]
    try:
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    count += 1
                    with suppress(FileNotFoundError):
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    if size > most_bytes or count > most_files:
                        return False
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return size <= most_bytes


def open_and_deleted(process: int) -> int | None:
    """Bytes of the files that the process has open and nobody can find any more; None where that cannot be seen."""
    files: dict[tuple[int, int], int] = {}
    try:
        with os.scandir(f"/proc/{process}/fd") as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # closed in between
                    found = entry.stat()
                    if stat.S_ISREG(found.st_mode) and found.st_nlink == 0:
                        files[found.st_dev, found.st_ino] = found.st_blocks * 512
    except FileNotFoundError:
        return 0 if os.path.isdir("/proc/self/fd") else None
    except OSError:
        return None
    return sum(files.values())
