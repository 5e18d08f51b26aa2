"""dSprites with something else in the picture: colours, noise, a painting, photographs. All 64×64 in RGB.

Whatever is added belongs to the index: seed and index give every random number (`course_lib.data.noise`), and all
arithmetic on pixels is in integers, so one index is one image whatever the batch, the device or the process. The
originals of the first three drew anew each time an image was asked for; there was no dataset to reproduce.
"""

from abc import abstractmethod
from math import prod
from numbers import Integral, Real
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from course_lib.arguments import check_choice, check_seed
from course_lib.data.dsprites import DSprites
from course_lib.data.files import fetch
from course_lib.data.noise import SEEDS, uniform_bytes, uniform_integers
from course_lib.data.on_devices import OnDevices
from course_lib.data.photographs import (
    SHIPPED,
    TINY_IMAGENET,
    corners,
    patches,
    reduce_picture,
    shipped_photographs,
    tiny_imagenet,
)
from course_lib.data.stored import MappedTable, Measured, moments

LOCATELLO = (
    "Locatello, Bauer, Lucic, Rätsch, Gelly, Schölkopf and Bachem, Challenging common assumptions in the unsupervised "
    "learning of disentangled representations, 2019"
)
PHOTOGRAPHS = {
    "shipped": (SHIPPED, "photographs CC BY 2.0"),
    "real": ("Tiny ImageNet", "photographs under ImageNet's terms: non-commercial research and education"),
}
STRIDE = 89  # of the sample that moments are measured on: without a divisor in common with any factor of dSprites


class SpriteOverlay(Measured):
    """What the overlays share: the grid of dSprites, its sprites, and moments measured on every 89th image.

    The moments depend on the options, so they are measured when first asked for, which takes about a second.
    """

    space = DSprites.space
    shape = (3, *DSprites.shape[1:])

    def __init__(self, seed: int = 0):
        self._seed, self._sprites = check_seed(seed, SEEDS), DSprites()
        self.options = dict(seed=self._seed)

    @abstractmethod
    def overlay(self, index: Tensor, sprite: Tensor) -> Tensor:
        """uint8 (B, 3, 64, 64), given the sprites: uint8 (B, 1, 64, 64) of 0 and 255."""

    def render(self, index: Tensor) -> Tensor:
        return self.overlay(index, self._sprites.render(index))

    def measure(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        return moments(lambda place: self.render(STRIDE * place), -(-len(self) // STRIDE))


class ColorDSprites(SpriteOverlay):
    """The sprite in a random colour on black: sprite × U(0.5, 1) per channel (Locatello et al., 2019).

    Each channel of the colour is one of the 128 bytes from 128 to 255, all equally likely.

    Parameters
    ----------
    seed : 0 to 2³² − 1; another seed gives every index another colour.

    Chapter 09.
    """

    # Expected values over the colours, which do not depend on the sprites; a seed differs from them by some 1e-5.
    mean, std = ((191.5 / 255 * moment,) * 3 for (moment,) in (DSprites.mean, DSprites.std))
    source = f"sprites {DSprites.source}, colours drawn by index"
    licence = DSprites.licence
    citation = f"{DSprites.citation}; {LOCATELLO}"

    def overlay(self, index: Tensor, sprite: Tensor) -> Tensor:
        colour = (128 + uniform_integers(self._seed, index, (128, 128, 128))).to(torch.uint8)
        return sprite & colour.view(-1, 3, 1, 1)


class NoisyDSprites(SpriteOverlay):
    """The white sprite on noise: min(sprite + U(0, 1), 1) per pixel and channel (Locatello et al., 2019).

    The noise is uniform on the bytes 0 to 255.

    Parameters
    ----------
    seed : 0 to 2³² − 1; another seed gives every index other noise.

    Chapter 09.
    """

    # Measured on all 737,280 images at seed 0; another seed differs by some 1e-5.
    mean = (0.521244370049121, 0.521243519109059, 0.521239021441256)
    std = (0.300761601440396, 0.300763419767520, 0.300760132945837)
    source = f"sprites {DSprites.source}, noise drawn by index"
    licence = DSprites.licence
    citation = f"{DSprites.citation}; {LOCATELLO}"

    def overlay(self, index: Tensor, sprite: Tensor) -> Tensor:
        return uniform_bytes(self._seed, index, prod(self.shape)).view(-1, *self.shape) | sprite


class ScreamDSprites(SpriteOverlay):
    """A patch of a picture, tinted, with the sprite as its negative (Locatello et al., 2019).

    The background is the mean of a random 64×64 patch and a random colour, (patch + colour) // 2 in bytes; under the
    sprite it is inverted, 255 − background. disentanglement_lib does the same with floats
    (`ScreamDSprites` in disentanglement_lib/data/ground_truth/dsprites.py).

    Parameters
    ----------
    seed : 0 to 2³² − 1; another seed gives every index another patch and another colour.
    painting : a file with The Scream, for which no hash is published, so that it cannot be fetched and checked
        (disentanglement_lib takes upload.wikimedia.org/wikipedia/commons/f/f4/The_Scream.jpg). None takes the
        photographs that scikit-learn ships.

    Raises ValueError for a seed out of range, a file without a picture and a picture with a side of 64 pixels or less,
    FileNotFoundError if there is no file `painting`. Chapter 09.
    """

    licence = f"{DSprites.licence}; photographs CC BY 2.0"
    citation = f"{DSprites.citation}; {LOCATELLO}"

    def __init__(self, seed: int = 0, painting: str | Path | None = None):
        super().__init__(seed)
        self._pictures = OnDevices(shipped_photographs() if painting is None else reduce_picture(painting))
        self.options |= dict(painting=None if painting is None else str(painting))
        self.source = f"sprites {DSprites.source} over {SHIPPED}, in place of The Scream"
        if painting is not None:
            self.source = f"sprites {DSprites.source} over crops of the picture {Path(painting).name}"
            self.licence = f"{DSprites.licence}; picture {Path(painting).name} under its own licence"

    def overlay(self, index: Tensor, sprite: Tensor) -> Tensor:
        (pictures,) = self._pictures(index.device)
        drawn = uniform_integers(self._seed, index, (*corners(pictures), 256, 256, 256))
        patch, colour = patches(pictures, drawn[:, :3]), drawn[:, 3:].to(torch.uint8).view(-1, 3, 1, 1)
        # The mean of two bytes without a carry into a ninth bit; with 255, exclusive or is the negative.
        return ((patch & colour) + ((patch ^ colour) >> 1)) ^ sprite


class DSpritesImageNet(SpriteOverlay):
    """Photographs in place of the sprite or of the background (thesis, Section 7.3): noise that hides the factors.

    Parameters
    ----------
    kind : "foreground": r · photo + (1 − r) · 255 where the sprite is, black elsewhere; "background": r · photo where
        the sprite is not, the sprite white. Fractions of a grey level are cut off, as in the authors' code
        (github.com/nmichlo/disent, `DSpritesImagenetData`).
    visibility : r, a fraction from 0 to 1 (the thesis gives percentages: 0, 25, 50, 75, 100). At 0 the images are those
        of dSprites in three equal channels.
    seed : 0 to 2³² − 1; another seed gives every index another photograph. 42 is the authors'.
    source : "shipped" takes 64×64 crops of the photographs that scikit-learn ships, at a third of their size; "real"
        the training images of Tiny ImageNet, image PCG64(seed).choice(100000, 737280)[index], the authors' choice.
    root : of "real", the folder of data files; see `course_lib.data.files.fetch`, which also says what is raised when
        the archive is not there and cannot be downloaded. Its images are decoded once, into 1.2 GB beside it.

    Raises ValueError for another `kind`, `visibility`, `seed` or `source`. Chapter 21.
    """

    citation = (
        f"{DSprites.citation}; Michlo, Disentanglement using VAEs resembles distance learning and requires overlapping "
        "data, master's dissertation, 2022, Section 7.3"
    )

    def __init__(
        self,
        kind: str = "background",
        visibility: float = 1.0,
        seed: int = 42,
        source: str = "shipped",
        root: str | Path | None = None,
    ):
        check_choice(("foreground", "background"), kind=kind)
        check_choice(tuple(PHOTOGRAPHS), source=source)
        if isinstance(visibility, bool) or not isinstance(visibility, Real) or not 0 <= visibility <= 1:
            raise ValueError(
                f"visibility: got {visibility!r}; allowed are fractions from 0 to 1 (a percentage divided by 100)."
            )
        visibility = int(visibility) if isinstance(visibility, Integral) else float(visibility)
        super().__init__(seed)
        self.options = dict(kind=kind, visibility=visibility, seed=self._seed, source=source)
        phrase, licence = PHOTOGRAPHS[source]
        self.source, self.licence = f"sprites {DSprites.source} over {phrase}", f"{DSprites.licence}; {licence}"
        self._photographs = Crops(seed) if source == "shipped" else TinyImageNet(seed, len(self), root)
        self._foreground, self._faded = kind == "foreground", OnDevices(fade_levels(kind, visibility))
        self.capturable = source == "shipped"

    def overlay(self, index: Tensor, sprite: Tensor) -> Tensor:
        (levels,) = self._faded(index.device)
        photo = self._photographs(index)
        photo = levels.index_select(0, photo.flatten().int()).view_as(photo)
        return photo & sprite if self._foreground else photo | sprite


class Crops:
    """A crop of the shipped photographs for each index: int64 (B,) → uint8 (B, 3, 64, 64)."""

    def __init__(self, seed: int):
        self._seed, self._photographs = seed, OnDevices(shipped_photographs())

    def __call__(self, index: Tensor) -> Tensor:
        (photographs,) = self._photographs(index.device)
        return patches(photographs, uniform_integers(self._seed, index, corners(photographs)))


class TinyImageNet:
    """An image of Tiny ImageNet for each index below `count`: int64 (B,) → uint8 (B, 3, 64, 64)."""

    def __init__(self, seed: int, count: int, root: str | Path | None):
        images = tiny_imagenet(fetch(TINY_IMAGENET, root))
        self._look_up = MappedTable(images)
        chosen = np.random.Generator(np.random.PCG64(seed)).choice(len(images), count)
        self._choice = OnDevices(torch.from_numpy(chosen))

    def __call__(self, index: Tensor) -> Tensor:
        (choice,) = self._choice(index.device)
        return self._look_up(choice[index])


def fade_levels(kind: str, visibility: float) -> Tensor:
    """What each grey level of a photograph becomes: uint8 (256,). A table, so that no device has to round."""
    white = 255 if kind == "foreground" else 0
    return torch.tensor([int(white - visibility * (white - level)) for level in range(256)], dtype=torch.uint8)
