"""MPI3D: a robot arm holding an object, simulated and photographed (Gondal et al., 2019), from the published files."""

from pathlib import Path

import numpy as np
from torch import Tensor

from course_lib.arguments import check_choice
from course_lib.data.arrays import NpzArray, unpack
from course_lib.data.files import RemoteFile, fetch
from course_lib.data.stored import IMAGE, MappedTable, Measured, moments
from course_lib.factors import FactorSpace

URL = "https://huggingface.co/datasets/waleedgondal/mpi3d/resolve/main/"
FILES = {
    kind: RemoteFile(f"mpi3d_{kind}.npz", f"{URL}mpi3d_{kind}.npz", f"md5:{digest}")
    for kind, digest in [
        ("toy", "55889cb7c7dfc655d6e0277beee88868"),
        ("realistic", "59a6225b88b635365f70c91b3e52f70f"),
        ("real", "0f33f609918fb5c97996692f91129802"),
    ]
}


class MPI3D(Measured):
    """An object held by a robot arm before one of three backgrounds: 1,036,800 images, RGB, 64×64.

    The factors are object_color (white, green, red, blue, brown, olive), object_shape (6), object_size (small, large),
    camera_height (3), background_color (3), and the arm's horizontal_axis and vertical_axis (40 each), which the
    competition's code called the first and the second degree of freedom.

    The images, 12.7 GB, stay in the file and are read as they are asked for. If the file is compressed, they are
    unpacked once, beside it, which needs as much room again. The mean and std are computed from all images when they
    are first asked for, which takes minutes; then they are kept.

    Parameters
    ----------
    kind : "toy" (simple rendering), "realistic" (physically based rendering) or "real" (photographs).
    root : the folder of data files; see `course_lib.data.files.fetch`, which also says what is raised when the file is
        not there and cannot be downloaded.

    Raises ValueError for another `kind`.
    """

    space = FactorSpace(
        (
            "object_color",
            "object_shape",
            "object_size",
            "camera_height",
            "background_color",
            "horizontal_axis",
            "vertical_axis",
        ),
        (6, 6, 2, 3, 3, 40, 40),
    )
    shape = (3, IMAGE, IMAGE)
    capturable = False
    licence = "CC BY 4.0"
    citation = (
        "Gondal et al., On the transfer of inductive bias from simulation to the real world: a new disentanglement "
        "dataset, 2019"
    )

    def __init__(self, kind: str, root: str | Path | None = None):
        check_choice(tuple(FILES), kind=kind)
        self.options = dict(kind=kind)
        self.source = f"the published file {FILES[kind].name}"
        path = fetch(FILES[kind], root)
        images = read_mpi3d(path)
        if len(images) != len(self.space):
            raise ValueError(f"{path}: holds {len(images):,} images; the grid has {len(self.space):,}.")
        self._look_up = MappedTable(images)

    def render(self, index: Tensor) -> Tensor:
        return self._look_up(index)

    def measure(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        return moments(self._look_up, len(self.space))


def read_mpi3d(path: str | Path) -> np.ndarray:
    """The images in the order of the grid, uint8 (N, 64, 64, 3), mapped; see `MPI3D` for a compressed file.

    Raises ValueError naming `path` if there is no such array `images` in it.
    """
    array, path = NpzArray(path, "images"), Path(path)
    if array.dtype != np.uint8 or array.shape[-3:] != (IMAGE, IMAGE, 3):
        raise ValueError(f"{path}: `images` is {array.dtype} {array.shape}; expected uint8 (…, 64, 64, 3).")
    if array.stored:
        images = array.mapped()
    else:
        images = unpack(path.with_suffix(".images.npy"), array.shape, array.blocks(item=3))
    return images.reshape(-1, IMAGE, IMAGE, 3)
