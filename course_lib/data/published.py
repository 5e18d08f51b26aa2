"""The published files of the datasets that course_lib otherwise draws: dSprites and 3D Shapes."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from course_lib.arguments import check_choice
from course_lib.data.arrays import BLOCK, NpzArray, unpack
from course_lib.data.files import RemoteFile, fetch
from course_lib.data.grid import GridDataset
from course_lib.data.stored import IMAGE, MappedTable, PackedTable, grid_order

DSPRITES = RemoteFile(
    name="dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz",
    url="https://raw.githubusercontent.com/google-deepmind/dsprites-dataset/master/"
    "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz",
    hash="md5:7da33b31b13a06f4b04a70402ce90c2e",
)
SHAPES3D = RemoteFile(
    name="3dshapes.h5",
    url="https://storage.googleapis.com/3d-shapes/3dshapes.h5",
    hash="sha256:0a0f6ed98baff276a50f3a081a7434d788da63cb135a98189b2a5b5769be1785",
    size=267_573_662,
)


@dataclass(frozen=True)
class Published:
    """What a dataset takes from its published file in place of its renderer; see `GridDataset` for the attributes.

    look_up : int64 (B,) → uint8 (B, C, H, W), on the device of the index.
    """

    look_up: Callable[[Tensor], Tensor]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    source: str
    licence: str = "Apache-2.0"


class Redrawn(GridDataset):
    """A dataset that is drawn unless its published file is asked for. Subclasses write `draw` and name `published`.

    Parameters
    ----------
    source : "rendered" draws the images; "real" reads those of the published file.
    root : of "real", the folder of data files; see `course_lib.data.files.fetch`, which also says what is raised when
        the file is not there and cannot be downloaded.

    Raises ValueError for another `source`.
    """

    def __init__(self, source: str = "rendered", root: str | Path | None = None):
        check_choice(("rendered", "real"), source=source)
        self.options, self._look_up = dict(source=source), None
        if source == "real":
            real = self.published(self.space.sizes, root)
            self._look_up, self.mean, self.std = real.look_up, real.mean, real.std
            self.source, self.licence = real.source, real.licence
        self.capturable = not isinstance(self._look_up, MappedTable)

    @staticmethod
    @abstractmethod
    def published(sizes: tuple[int, ...], root: str | Path | None) -> Published:
        """What stands in the published file, for a grid of these sizes."""

    @abstractmethod
    def draw(self, index: Tensor) -> Tensor:
        """uint8 (B, C, H, W), like `render`."""

    def render(self, index: Tensor) -> Tensor:
        return self.draw(index) if self._look_up is None else self._look_up(index)


def dsprites(sizes: tuple[int, ...], root: str | Path | None = None) -> Published:
    """dSprites from its .npz, held in memory at eight pixels to a byte, 377 MB instead of 3 GB; see `fetch`."""
    packed = torch.from_numpy(read_dsprites(fetch(DSPRITES, root), sizes))
    return Published(
        PackedTable(packed, (1, IMAGE, IMAGE)),
        mean=(0.042494423521890,),  # the thesis, Table A.2
        std=(0.195166458806261,),
        source=f"the published file {DSPRITES.name}",
    )


def shapes3d(sizes: tuple[int, ...], root: str | Path | None = None) -> Published:
    """3D Shapes from its .h5, unpacked once into a file of 5.9 GB beside it, which is then mapped; see `fetch`."""
    return Published(
        MappedTable(read_shapes3d(fetch(SHAPES3D, root), sizes)),
        mean=(0.502584966788819, 0.578759756608967, 0.603449973185958),  # the thesis, Table A.2
        std=(0.294081404355556, 0.344397908751721, 0.366168598152475),
        source=f"the published file {SHAPES3D.name}",
    )


def read_dsprites(path: str | Path, sizes: tuple[int, ...]) -> np.ndarray:
    """The white pixels in the order of a grid of `sizes`, uint8 (N, 512), as numpy.packbits packs them.

    `imgs` is uint8 (N, 64, 64) of 0 and 1; `latents_classes` holds the factors behind a column for the colour, which is
    always white. `metadata`, which is a pickle, is not touched. Raises ValueError naming `path` if the images are not
    in the order of the grid.
    """
    with np.load(path, allow_pickle=False) as file:
        check_order(file["latents_classes"][:, 1:], sizes, path)
    images = NpzArray(path, "imgs")
    if images.dtype != np.uint8 or images.shape != (np.prod(sizes), IMAGE, IMAGE):
        raise ValueError(f"{path}: `imgs` is {images.dtype} {images.shape}; expected uint8 (N, 64, 64), N by grid.")
    packed, filled = np.empty((images.shape[0], IMAGE * IMAGE // 8), np.uint8), 0
    for block in images.blocks(item=2):
        packed[filled : filled + len(block)] = np.packbits(block.reshape(len(block), -1), axis=1)
        filled += len(block)
    return packed


def read_shapes3d(path: str | Path, sizes: tuple[int, ...]) -> np.ndarray:
    """The images in the order of a grid of `sizes`, uint8 (N, 64, 64, 3), mapped from a file that is unpacked once.

    `images` is uint8 (N, 64, 64, 3) and `labels` the factors (N, 6) as float64. Raises ImportError without h5py, and
    ValueError naming `path` if the file is not like this or the images are not in the order of the grid.
    """
    try:
        import h5py
    except ImportError as error:
        raise ImportError(f"reading {path} needs the package h5py: install h5py, or course_lib[data].") from error
    with h5py.File(path, "r") as file:
        check_order(file["labels"][:], sizes, path)
        images = file["images"]
        if images.dtype != np.uint8 or images.shape != (np.prod(sizes), IMAGE, IMAGE, 3):
            raise ValueError(f"{path}: `images` is {images.dtype} {images.shape}; expected uint8 (N, 64, 64, 3).")
        return unpack(Path(path).with_suffix(".images.npy"), images.shape, rows(images))


def rows(images) -> Iterator[np.ndarray]:
    """An HDF5 dataset from front to back, in blocks that no compressed chunk straddles: each is unpacked once."""
    height = images.chunks[0] if images.chunks else 1
    step = height * -(-BLOCK // height)
    for start in range(0, len(images), step):
        yield images[start : start + step]


def check_order(factors: np.ndarray, sizes: tuple[int, ...], path: str | Path) -> None:
    """Raise ValueError unless the rows of factor values (N, F) list the grid of `sizes` in C order."""
    found, order = grid_order(factors, path)
    if found != tuple(sizes) or (order != np.arange(len(order))).any():
        raise ValueError(
            f"{path}: the factors take {' × '.join(map(str, found))} values"
            f"{', in another order than that of the grid' if found == tuple(sizes) else ''}; expected "
            f"{' × '.join(map(str, sizes))}, the last factor varying fastest."
        )
