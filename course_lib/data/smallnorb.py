"""SmallNORB: photographs of toys (LeCun et al., 2004), from the published files."""

import gzip
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import BinaryIO

import numpy as np
import torch
from torch import Tensor

from course_lib.arguments import check_choice
from course_lib.data.arrays import BLOCK
from course_lib.data.files import RemoteFile, fetch
from course_lib.data.grid import GridDataset
from course_lib.data.stored import IMAGE, Table, grid_order, moments, resize
from course_lib.factors import FactorSpace

URL = "https://cs.nyu.edu/~ylclab/data/norb-v1.0-small/"
TRAIN, TEST = "smallnorb-5x46789x9x18x6x2x96x96-training", "smallnorb-5x01235x9x18x6x2x96x96-testing"
TYPES = {0x1E3D4C55: "<u1", 0x1E3D4C54: "<i4"}  # first number of a file → type of its numbers


def published(name: str, size: int, digest: str) -> RemoteFile:
    """A file of the dataset's page; the hash is that of the compressed file."""
    return RemoteFile(f"smallnorb/{name}.mat.gz", f"{URL}{name}.mat.gz", f"sha256:{digest}", size)


# Of either split: the images, their categories, and the other factors.
FILES = {
    "train": (
        published(f"{TRAIN}-dat", 131896188, "5ffd6272a07d32695ee1082a26a41a93a37aab8c28da047f8c34ed348d214873"),
        published(f"{TRAIN}-cat", 348, "2784e542c1922060691090952b6cd6278879a216c90f81476f0f00256d42cdaa"),
        published(f"{TRAIN}-info", 71052, "de7eb932ebe7a4ee16217fead60660d0eb3d23632c2f4d1c51f88c501c17bf32"),
    ),
    "test": (
        published(f"{TEST}-dat", 130799817, "cf7104eed3e51174d2f65b66d1e5878b9da233b886f161b0d88f4510ba2c7474"),
        published(f"{TEST}-cat", 347, "ecaf6d5bb8c3bc5eab9cf0258f6d2198dd474e016e374836fc097f2e5ff509ff"),
        published(f"{TEST}-info", 10428, "16adf314226327ee006d1a44db8cfef52773c06c829951d5653a9f6f310248a2"),
    ),
}


class SmallNORB(GridDataset):
    """50 toys of 5 categories under 6 lights, photographed from all around: grey, 96×96 resized to 64×64.

    The factors are category (animal, human, plane, truck, car), instance (10 toys each), elevation (9, 30° to 70° above
    the table), azimuth (18, in steps of 20°; each toy has its own zero) and lighting (6). Of the two cameras, the first
    is used. The images are read, resized (see `course_lib.data.stored.resize`) and sorted by factor once, and then
    held in memory, 199 MB.

    Parameters
    ----------
    split : "both" (48,600 images), or "train" or "test" alone (24,300 each), which hold 5 instances of each category:
        4, 6, 7, 8, 9 and 0, 1, 2, 3, 5, counted from 0 here.
    root : the folder of data files; see `course_lib.data.files.fetch`, which also says what is raised when a file is
        not there and cannot be downloaded.

    Raises ValueError for another `split`.

    The mean and std of the thesis (Table A.2), 0.752091840108860 and 0.095638790168273, are taken for those of "train",
    the split that its code read; the others' are computed on loading. The course had no copy of the files: these two
    numbers stand as they are printed and were not checked against the images, and reading was tested on small files in
    the published format. Whoever has the files can compare `moments`.
    """

    shape = (1, IMAGE, IMAGE)
    source = "the published files of SmallNORB, first camera, resized to 64×64"
    licence = "provided for research purposes; it cannot be sold"
    citation = (
        "LeCun, Huang and Bottou, Learning methods for generic object recognition with invariance to pose and "
        "lighting, 2004"
    )

    def __init__(self, split: str = "both", root: str | Path | None = None):
        check_choice(("both", *FILES), split=split)
        self.options = dict(split=split)
        splits = list(FILES) if split == "both" else [split]
        images, sizes = read_smallnorb([[fetch(file, root) for file in FILES[name]] for name in splits])
        self.space = FactorSpace(("category", "instance", "elevation", "azimuth", "lighting"), sizes)
        self._look_up = Table(images)
        if split == "train":
            self.mean, self.std = (0.752091840108860,), (0.095638790168273,)
        else:
            self.mean, self.std = moments(self._look_up, len(self.space))

    def render(self, index: Tensor) -> Tensor:
        return self._look_up(index)


def read_smallnorb(splits) -> tuple[Tensor, tuple[int, ...]]:
    """The images in the order of the grid, uint8 (N, 1, 64, 64), and the sizes of the five factors.

    Each of `splits` is the paths of three gzipped files: dat (N, 2 cameras, height, width), cat (N,) and info (N, 4:
    instance, elevation, azimuth, lighting; the azimuth counts tens of degrees and so is even). Raises ValueError naming
    a path if a file is not in this format, or if the rows do not make up a grid.
    """
    factors = np.concatenate([np.column_stack([read_matrix(cat), read_matrix(info)]) for _, cat, info in splits])
    sizes, order = grid_order(factors, splits[0][1])
    place = torch.empty(len(order), dtype=torch.int64)
    place[torch.from_numpy(order)] = torch.arange(len(order))  # of each row, in the grid
    images, filled = torch.empty(len(order), 1, IMAGE, IMAGE, dtype=torch.uint8), 0
    for dat, _, _ in splits:
        for block in first_camera(dat):
            images[place[filled : filled + len(block)]] = block
            filled += len(block)
    if filled != len(order):
        raise ValueError(f"{splits[0][0]}: {filled:,} images for {len(order):,} rows of factors.")
    return images, sizes


def first_camera(path: str | Path) -> Iterator[Tensor]:
    """The images of camera 0 in a dat file, resized, as blocks uint8 (≤ BLOCK, 1, 64, 64)."""
    with gzip.open(path, "rb") as file:
        dtype, (count, cameras, height, width) = read_header(file, path, ndim=4)
        for rows in torch.arange(count).split(BLOCK):
            content = file.read(len(rows) * cameras * height * width)
            pairs = np.frombuffer(content, dtype).reshape(-1, cameras, height, width)
            yield resize(torch.from_numpy(pairs[:, :1].copy()))


def read_matrix(path: str | Path) -> np.ndarray:
    """A whole file; small ones."""
    with gzip.open(path, "rb") as file:
        dtype, shape = read_header(file, path)
        return np.frombuffer(file.read(prod(shape) * np.dtype(dtype).itemsize), dtype).reshape(shape)


def read_header(file: BinaryIO, path: str | Path, ndim: int | None = None) -> tuple[str, tuple[int, ...]]:
    """The type and the shape: int32 magic, int32 number of axes, at least three int32 sizes, all little-endian."""
    magic, axes = np.frombuffer(file.read(8), "<i4").tolist()
    if magic not in TYPES or ndim not in (None, axes):
        raise ValueError(
            f"{path}: begins with {magic:#010x} and {axes} axes; a file of SmallNORB begins with "
            f"{' or '.join(f'{known:#010x}' for known in TYPES)}{'' if ndim is None else f' and {ndim} axes'}."
        )
    return TYPES[magic], tuple(np.frombuffer(file.read(4 * max(3, axes)), "<i4")[:axes].tolist())
