"""MNIST: handwritten digits (LeCun, Cortes and Burges, 1998), from the published files."""

import gzip
from math import prod
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from course_lib.arguments import check_choice
from course_lib.data.files import RemoteFile, fetch
from course_lib.data.grid import GridDataset
from course_lib.data.stored import Table, moments
from course_lib.factors import FactorSpace

URL = "https://ossci-datasets.s3.amazonaws.com/mnist/"
MARGIN = 2  # pixels of background added on each side


def published(name: str, size: int, digest: str) -> RemoteFile:
    """A file of the mirror, which has the bytes of the original page."""
    return RemoteFile(f"mnist/{name}", f"{URL}{name}", f"md5:{digest}", size)


# Of either split: the images and the labels.
FILES = {
    "train": (
        published("train-images-idx3-ubyte.gz", 9912422, "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
        published("train-labels-idx1-ubyte.gz", 28881, "d53e105ee54ea40749a09fcbcd1e9432"),
    ),
    "test": (
        published("t10k-images-idx3-ubyte.gz", 1648877, "9fb629c4189551a2d022fa330f9573f3"),
        published("t10k-labels-idx1-ubyte.gz", 4542, "ec29112dd5afa0611ce80d1b7f02629c"),
    ),
}


class MNIST(GridDataset):
    """Handwritten digits, white on black, 28×28 with 2 pixels of black added on each side: grey, 32×32.

    There are no ground-truth factors: the grid has the single factor "example", which counts the images in the order of
    the file. The images are held in memory, 61 MB at most; the mean and std are computed from them on loading, so those
    of the two splits differ a little.

    Parameters
    ----------
    split : "train" (60,000 images) or "test" (10,000).
    root : the folder of data files; see `course_lib.data.files.fetch`, which also says what is raised when a file is
        not there and cannot be downloaded.

    Attributes
    ----------
    labels : the digit of each image, int64 (N,).

    Raises ValueError for another `split`.
    """

    shape = (1, 28 + 2 * MARGIN, 28 + 2 * MARGIN)
    source = "the published files of MNIST, padded to 32×32"
    licence = "CC BY-SA 3.0, as those who redistribute it state; the authors' page states none"
    citation = "LeCun, Bottou, Bengio and Haffner, Gradient-based learning applied to document recognition, 1998"

    def __init__(self, split: str = "train", root: str | Path | None = None):
        check_choice(tuple(FILES), split=split)
        self.options = dict(split=split)
        images, self.labels = read_mnist(*(fetch(file, root) for file in FILES[split]))
        self.space = FactorSpace(("example",), (len(images),))
        self._look_up = Table(images)
        self.mean, self.std = moments(self._look_up, len(images))

    def render(self, index: Tensor) -> Tensor:
        return self._look_up(index)


def read_mnist(images: str | Path, labels: str | Path) -> tuple[Tensor, Tensor]:
    """The padded images, uint8 (N, 1, 32, 32), and the labels, int64 (N,), from the paths of two gzipped idx files."""
    pixels, digits = read_idx(images, ndim=3), read_idx(labels, ndim=1)
    if pixels.shape[1:] != (28, 28) or len(pixels) != len(digits):
        raise ValueError(f"{images}: holds {pixels.shape}, expected ({len(digits)}, 28, 28), one image per label.")
    padded = torch.nn.functional.pad(torch.from_numpy(pixels), (MARGIN,) * 4)
    return padded.unsqueeze(1), torch.from_numpy(digits).to(torch.int64)


def read_idx(path: str | Path, ndim: int) -> np.ndarray:
    """A gzipped idx file of bytes: 0, 0, 8 (the type), number of axes; the sizes, big-endian uint32; the data.

    Raises ValueError naming `path` if it does not begin in this way or does not hold as much as it says.
    """
    with gzip.open(path, "rb") as file:
        content = bytearray(file.read())  # an array over bytes could not be written to, which torch warns of
    if content[:4] != bytes([0, 0, 8, ndim]):
        raise ValueError(f"{path}: begins with {content[:4].hex()}; an idx file of bytes begins with 000008{ndim:02x}.")
    start = 4 + 4 * ndim
    shape = np.frombuffer(content[4:start], ">u4").tolist()
    if len(content) != start + prod(shape):
        raise ValueError(f"{path}: holds {len(content) - start:,} bytes of data; {prod(shape):,} are announced.")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)
