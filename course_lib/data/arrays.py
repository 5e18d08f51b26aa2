"""Arrays in files that are too large to be held in memory: read in blocks, or mapped."""

import struct
import zipfile
from collections.abc import Iterable, Iterator
from math import prod
from pathlib import Path

import numpy as np

from course_lib.storage import replace_file

BLOCK = 1024  # items that are read at a time


class NpzArray:
    """One array of a .npz archive, of which only the header has been read.

    No pickle is ever loaded, so the other arrays of the archive may be anything.

    Attributes
    ----------
    shape, dtype : of the array.
    stored : whether its bytes lie in the archive as they are, not compressed, so that `mapped` can be used.
    """

    def __init__(self, path: str | Path, key: str):
        self.path, self.member = Path(path), f"{key}.npy"
        with zipfile.ZipFile(self.path) as archive:
            if self.member not in archive.namelist():
                raise ValueError(f"{path}: there is no array {key!r}, only {', '.join(archive.namelist())}.")
            info = archive.getinfo(self.member)
            with archive.open(info) as stream:
                version = np.lib.format.read_magic(stream)
                read = {(1, 0): np.lib.format.read_array_header_1_0}.get(version, np.lib.format.read_array_header_2_0)
                self.shape, fortran_order, self.dtype = read(stream)
                self._header = stream.tell()
        if fortran_order or self.dtype.hasobject:
            raise ValueError(f"{path}: {key!r} is not an array of numbers in C order.")
        self.stored = info.compress_type == zipfile.ZIP_STORED
        self._start = info.header_offset

    def blocks(self, item: int) -> Iterator[np.ndarray]:
        """The array from front to back, as blocks (≤ BLOCK, *item shape); the last `item` axes are one item."""
        shape = self.shape[-item:]
        size = BLOCK * prod(shape) * self.dtype.itemsize
        with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as stream:
            stream.read(self._header)
            while block := stream.read(size):
                yield np.frombuffer(block, self.dtype).reshape(-1, *shape)

    def mapped(self) -> np.ndarray:
        """The array, read-only, mapped from the file: what is looked at is read, and nothing is held."""
        with open(self.path, "rb") as file:
            # The entry has a header of its own: 30 bytes, the last four of them the lengths of two fields that follow.
            file.seek(self._start + 26)
            entry = 30 + sum(struct.unpack("<HH", file.read(4)))
        offset = self._start + entry + self._header
        return np.memmap(self.path, self.dtype, mode="r", offset=offset, shape=self.shape)


def unpack(target: Path, shape: tuple[int, ...], blocks: Iterable[np.ndarray]) -> np.ndarray:
    """uint8 `blocks` that make up an array of `shape`, written once to the .npy file `target` and then mapped.

    For compressed files, in which looking up single images would take seconds. Raises OSError naming `target` when it
    cannot be written (it takes as many bytes as the array has elements), ValueError when a file is there that does not
    fit.
    """
    if not target.exists():
        try:
            with replace_file(target) as file:
                header = dict(descr="|u1", fortran_order=False, shape=shape)
                np.lib.format.write_array_header_1_0(file, header)
                for block in blocks:
                    file.write(np.ascontiguousarray(block, dtype=np.uint8))
        except OSError as error:
            raise OSError(error.errno, f"unpacking {prod(shape):,} bytes of images: {error.strerror}") from error
    try:
        images = np.load(target, mmap_mode="r", allow_pickle=False)
    except (EOFError, ValueError) as error:
        raise ValueError(f"{target}: is no array ({error}). Delete it, and it will be unpacked again.") from error
    if images.shape != shape or images.dtype != np.uint8:
        raise ValueError(
            f"{target}: holds {images.dtype} {images.shape}, not uint8 {shape}. It was left as it was; delete it, and "
            "it will be unpacked again."
        )
    return images
