"""Tensors and a JSON configuration in one safetensors file, written so that a crash never leaves half a file."""

import json
import os
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

TRAINING = "training/"  # prefix of the tensors that only a resumed training needs


def write_tensors(path: str | Path, tensors: dict[str, Tensor], config: dict) -> None:
    """Write atomically: the file at `path` is the old one until the new one is whole and on the disk.

    A symbolic link is followed. Several writers may share a path: each file is whole, and the last one stays. Raises
    OSError naming the path when it cannot be written; an older file there stays as it was.
    """
    path = Path(os.path.realpath(path))
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    content = save(tensors, metadata={"config": json.dumps(config)})
    partial = None
    try:
        with NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name[:100]}.", suffix=".partial", delete=False
        ) as file:
            partial = file.name
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(partial, path.stat().st_mode if path.exists() else 0o666 & ~_umask())
        os.replace(partial, path)
    except OSError as error:
        with suppress(OSError, TypeError):
            os.unlink(partial)
        kept = "; the file that was there is untouched" if path.is_file() else ""
        raise OSError(error.errno, f"path: cannot write {path}: {error.strerror}{kept}") from error


def _umask() -> int:
    """The process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read_tensors(path: str | Path) -> tuple[dict[str, Tensor], dict]:
    """The tensors and the configuration in `path`; a ValueError when it is not a file that `write_tensors` wrote."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"path: {path} is {'not a regular file' if path.exists() else 'not there'}.")
    content = path.read_bytes()  # at once: another process may replace the file meanwhile
    try:
        tensors = load(content)
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        return tensors, json.loads(header["__metadata__"]["config"])
    except (SafetensorError, KeyError, json.JSONDecodeError) as error:
        raise ValueError(f"path: {path} is not a file written by course_lib, or it is damaged ({error}).") from error
