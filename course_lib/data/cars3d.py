"""Cars3D: car models seen from all around (Reed et al., 2015), from the published archive."""

import io
import tarfile
from pathlib import Path, PurePosixPath

import torch
from scipy.io import loadmat
from torch import Tensor

from course_lib.data.files import RemoteFile, fetch
from course_lib.data.grid import GridDataset
from course_lib.data.stored import IMAGE, Table, resize
from course_lib.factors import FactorSpace

FILE = RemoteFile(
    name="nips2015-analogy-data.tar.gz",
    url="http://www.scottreed.info/files/nips2015-analogy-data.tar.gz",
    hash="md5:4e866a7919c1beedf53964e6f7a23686",
)


class Cars3D(GridDataset):
    """183 car models on white from 4 elevations and 24 azimuths: 17,568 images, RGB, 128×128 resized to 64×64.

    The factors are elevation, azimuth and type, the type in the order of the archive's own list. All images are read
    and resized once (see `course_lib.data.stored.resize`) and then held in memory, 216 MB.

    Parameters
    ----------
    root : the folder of data files; see `course_lib.data.files.fetch`, which also says what is raised when the archive
        is not there and cannot be downloaded.

    Chapter 14.
    """

    shape = (3, IMAGE, IMAGE)
    # The thesis, Table A.2.
    mean = (0.897667614997663, 0.889165802006751, 0.885147515814868)
    std = (0.225031955315030, 0.239946127898126, 0.247921063196844)
    source = f"the published file {FILE.name}, resized to 64×64"
    licence = "not stated"
    citation = "Reed, Zhang, Zhang and Lee, Deep visual analogy-making, 2015"

    def __init__(self, root: str | Path | None = None):
        images = read_cars3d(fetch(FILE, root))
        self.space = FactorSpace(("elevation", "azimuth", "type"), images.shape[:3])
        self._look_up = Table(images.flatten(0, 2))

    def render(self, index: Tensor) -> Tensor:
        return self._look_up(index)


def read_cars3d(path: str | Path) -> Tensor:
    """The archive at `path` as uint8 (elevation, azimuth, type, 3, 64, 64).

    data/cars/list.txt names the types, one a line; data/cars/<name>.mat (MATLAB 5) holds one as `im`, uint8
    (128, 128, 3, azimuth, elevation). The order of the files in the archive is another, and means nothing.
    """
    with tarfile.open(path, "r:gz") as archive:
        lists = (read(archive, member).decode() for member in archive if car_file(member) == "list.txt")
        names = next(lists, "").split()
    types, images = {f"{name}.mat": place for place, name in enumerate(names)}, None
    missing = set(types)
    with tarfile.open(path, "r:gz") as archive:
        for member in archive:
            if car_file(member) not in missing:
                continue
            views = read_views(read(archive, member), f"{path}: {member.name}")
            if images is None:
                images = views.new_empty(*views.shape[:2], len(types), *views.shape[2:])
            images[:, :, types[car_file(member)]] = views
            missing.remove(car_file(member))
    if images is None or missing:
        raise ValueError(
            f"{path}: list.txt, in the folder cars, names {', '.join(sorted(missing)) or 'nothing'}; the archive does "
            "not hold this."
        )
    return images


def read_views(content: bytes, origin: str) -> Tensor:
    """One .mat file as uint8 (elevation, azimuth, 3, 64, 64); ValueError naming `origin` if it is not one of cars."""
    views = loadmat(io.BytesIO(content), variable_names=["im"]).get("im")
    if views is None or views.dtype != "uint8" or views.ndim != 5 or views.shape[2] != 3:
        raise ValueError(f"{origin}: holds no uint8 array `im` (height, width, 3, azimuth, elevation).")
    views = torch.from_numpy(views).permute(4, 3, 2, 0, 1)
    return resize(views.flatten(0, 1).contiguous()).unflatten(0, views.shape[:2])


def car_file(member: tarfile.TarInfo) -> str | None:
    """The name of a file in the archive's folder of cars; None elsewhere."""
    path = PurePosixPath(member.name)
    return path.name if path.parent.name == "cars" else None


def read(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    """The content of a file in the archive."""
    return archive.extractfile(member).read()
