"""Tensors and a JSON configuration in one safetensors file, written so that a crash never leaves half a file."""

import json
import os
from contextlib import suppress
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

TRAINING = "training/"  # prefix of the tensors that only a resumed training needs


def write_tensors(path: str | Path, tensors: dict[str, Tensor], config: dict) -> None:
    """Write atomically: the file at `path` is the old one until the new one is whole and on the disk.

    Raises OSError naming the path when it cannot be written; an older file there stays as it was.
    """
    path = Path(path)
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    content = save(tensors, metadata={"config": json.dumps(config)})
    partial = path.with_name(f".{path.name}.partial")
    try:
        with open(partial, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink()
        kept = "; the file that was there is untouched" if path.is_file() else ""
        raise OSError(error.errno, f"path: cannot write {path}: {error.strerror}{kept}") from error


def read_tensors(path: str | Path) -> tuple[dict[str, Tensor], dict]:
    """The tensors and the configuration in `path`; a ValueError when it is not a file that `write_tensors` wrote."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"path: there is no file {path}.")
    try:
        with safe_open(path, framework="pt") as file:
            config = json.loads((file.metadata() or {})["config"])
            return {name: file.get_tensor(name) for name in file.keys()}, config
    except (SafetensorError, KeyError, json.JSONDecodeError) as error:
        raise ValueError(f"path: {path} is not a file written by course_lib, or it is damaged ({error}).") from error
