"""Photographs for sprites to be drawn on: those that scikit-learn ships, a painting, and Tiny ImageNet.

JPEG is decoded by Pillow, which comes with matplotlib; what is drawn on the pixels is exact, but another build of its
JPEG library may decode a pixel one level brighter or darker.
"""

from pathlib import Path
from zipfile import ZipFile

import numpy as np
import torch
from PIL import Image
from PIL.Image import DecompressionBombError
from torch import Tensor

from course_lib.data.arrays import unpack
from course_lib.data.files import RemoteFile
from course_lib.storage import check_path

PATCH = 64  # side of a patch in pixels
REDUCTION = 3  # at a third of their size, a patch of the shipped photographs has nearly the contrast of Tiny ImageNet
TINY_IMAGENET = RemoteFile(
    name="tiny-imagenet-200.zip",
    url="http://cs231n.stanford.edu/tiny-imagenet-200.zip",
    hash="md5:90528d7ca1a48142e341f4ef8d21d0de",
)
SHIPPED = "crops of the photographs china.jpg and flower.jpg that scikit-learn ships (CC BY 2.0)"


def shipped_photographs() -> Tensor:
    """china.jpg and flower.jpg of scikit-learn, each 3×3 block of pixels averaged: uint8 (2, 3, 142, 213)."""
    from sklearn.datasets import load_sample_image  # here, as it takes a second that few programs need to spend

    photographs = torch.stack([torch.tensor(load_sample_image(name)) for name in ("china.jpg", "flower.jpg")])
    blocks = photographs.permute(0, 3, 1, 2).unfold(2, REDUCTION, REDUCTION).unfold(3, REDUCTION, REDUCTION)
    total, pixels = blocks.sum((4, 5)), REDUCTION**2
    return ((total + pixels // 2) // pixels).to(torch.uint8)


def reduce_picture(path: str | Path) -> Tensor:
    """The picture in a file, reduced to at most 350 pixels across and 274 down: uint8 (1, 3, H, W).

    That is how disentanglement_lib prepares The Scream (disentanglement_lib/data/ground_truth/dsprites.py). Raises
    FileNotFoundError if there is no such file, ValueError if it holds no picture or no patch fits into it.
    """
    if not Path(check_path(path, "painting")).is_file():
        raise FileNotFoundError(f"painting: {path} is {'not a file' if Path(path).exists() else 'not there'}.")
    try:
        return _reduced(path)
    except (OSError, DecompressionBombError) as error:
        if getattr(error, "errno", None) is not None:  # the system's own, of a file that may not be read for instance
            raise
        raise ValueError(f"painting: {path} is no picture that can be read ({error}).") from error


def _reduced(path: str | Path) -> Tensor:
    with Image.open(path) as picture:
        picture.thumbnail((350, 274))
        pixels = torch.tensor(np.array(picture.convert("RGB"))).permute(2, 0, 1).unsqueeze(0).contiguous()
    if min(pixels.shape[2:]) <= PATCH:
        raise ValueError(
            f"painting: {path} is {picture.width}×{picture.height}, at most 350×274 being used; both sides must have "
            f"more than {PATCH} pixels."
        )
    return pixels


def tiny_imagenet(archive: str | Path) -> np.ndarray:
    """The training images of tiny-imagenet-200.zip: uint8 (100000, 64, 64, 3), unpacked once beside it and then mapped.

    They are in the order of their paths in the archive as strings, so by class and then …_0.JPEG, …_1.JPEG, …_10.JPEG:
    the order of torchvision's ImageFolder, with which the authors of the thesis read them (github.com/nmichlo/disent,
    `ImageNetTinyData`). Grey images become RGB. Raises ValueError naming `archive` if it has no such images, and what
    `unpack` raises when the 1.2 GB cannot be written.
    """
    with ZipFile(archive) as file:
        names = sorted(name for name in file.namelist() if "/train/" in name and name.endswith(".JPEG"))
        if not names:
            raise ValueError(f"archive: {archive} has no images tiny-imagenet-200/train/<class>/images/*.JPEG.")
        images = (decode_image(file, name) for name in names)
        return unpack(Path(archive).with_suffix(".train.npy"), (len(names), PATCH, PATCH, 3), images)


def decode_image(archive: ZipFile, name: str) -> np.ndarray:
    """The image `name` in RGB: uint8 (64, 64, 3)."""
    with archive.open(name) as stored, Image.open(stored) as image:
        return np.asarray(image.convert("RGB"))


def corners(photographs: Tensor) -> tuple[int, int, int]:
    """How many photographs there are, and how many rows and columns for the upper left corner of a patch.

    As in disentanglement_lib, one less each than would fit: its draw excludes the upper end.
    """
    return len(photographs), photographs.shape[2] - PATCH, photographs.shape[3] - PATCH


def patches(photographs: Tensor, corner: Tensor) -> Tensor:
    """The 64×64 patches at `corner`, int64 (B, 3) of photograph, row and column: uint8 (B, 3, 64, 64)."""
    windows = photographs.unfold(2, PATCH, 1).unfold(3, PATCH, 1).permute(0, 2, 3, 1, 4, 5)  # a view, nothing is copied
    return windows[corner.unbind(1)]
