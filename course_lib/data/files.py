"""Published files: found in a folder or downloaded into it, and never used before their hash is checked."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

FOLDER = "COURSE_DATA"  # the environment variable that names the folder of data files

# Files whose hash was found right in this process. Whoever changes a file changes its size, time or inode too, so the
# entry no longer fits and the file is hashed again; an unchanged one of several gigabytes is hashed once.
verified = set()


@dataclass(frozen=True)
class RemoteFile:
    """A file that can be downloaded.

    Attributes
    ----------
    name : where it lies inside the folder of data files; subfolders are separated by "/".
    url : where it is published.
    hash : the algorithm and the digest of the published file, such as "sha256:0a0f…" or "md5:4e86…".
    size : in bytes; None when it is not known.
    """

    name: str
    url: str
    hash: str
    size: int | None = None

    def __str__(self) -> str:
        size = "not known" if self.size is None else f"{self.size:,} bytes"
        return f"  URL:  {self.url}\n  size: {size}\n  hash: {self.hash}"


class DataFileError(OSError):
    """A data file cannot be had, or is not the published one; the message says what to put where."""


def fetch(file: RemoteFile, root: str | Path | None = None) -> Path:
    """The path of `file`, downloaded if it is not there, with the right hash.

    Parameters
    ----------
    root : the folder of data files. None takes the one in the environment variable COURSE_DATA, or else a folder of
        this user's cache. Files put there by hand are used like downloaded ones.

    A download appears under its name only when it is whole and its hash is right. A file that is there with another
    hash is left as it is. Raises DataFileError, with the URL, size and hash and the path where the file belongs, when
    the file cannot be downloaded, read or written, or is damaged; ValueError for a `root` that is no path.
    """
    path = data_folder(root) / file.name
    try:
        if not path.exists():
            download(file, path)
        elif fingerprint(file, path) not in verified:
            check(file, path)
        verified.add(fingerprint(file, path))
    except DataFileError:
        raise
    except Exception as error:  # the network, pooch and the operating system have no base class in common
        raise DataFileError(
            f"{file.name} can neither be read nor downloaded ({type(error).__name__}: {error}).\n{file}\n"
            f"Download it by hand, save it as\n  {path}\n"
            f"and try again; a folder that has it can be named by the argument root or the variable {FOLDER}."
        ) from error
    return path


def data_folder(root: str | Path | None = None) -> Path:
    """The folder of data files that `root` stands for, absolute; it need not exist. See `fetch`."""
    if root is None:
        root = os.environ.get(FOLDER)
    elif not isinstance(root, str | os.PathLike):
        raise ValueError(f"root: got {root!r}; allowed are the path of a folder and None.")
    if not root:
        import pooch

        root = pooch.os_cache("course_lib")
    return Path(root).expanduser().absolute()


def download(file: RemoteFile, path: Path) -> None:
    """Download to a temporary name beside `path`, check the hash, and only then give it its name."""
    import pooch

    pooch.retrieve(file.url, known_hash=file.hash, fname=path.name, path=path.parent)


def check(file: RemoteFile, path: Path) -> None:
    """Raise DataFileError unless the file at `path` has the size and the hash of the published one."""
    size, found = path.stat().st_size, None
    if file.size in (None, size):
        algorithm = file.hash.partition(":")[0]
        with open(path, "rb") as stream:
            found = f"{algorithm}:{hashlib.file_digest(stream, algorithm).hexdigest()}"
    if found != file.hash:
        raise DataFileError(
            f"{path}\nis not the published file, or is damaged: it has {size:,} bytes"
            f"{'' if found is None else f' and the hash {found}'}. Published is\n{file}\n"
            "It was left as it was. Move it away or delete it, and try again."
        )


def fingerprint(file: RemoteFile, path: Path) -> tuple:
    """Changes whenever the content of the file may have changed, and with the hash that was asked for."""
    status = path.stat()
    return file.hash, path, status.st_size, status.st_mtime_ns, status.st_ino
