"""dSprites made small, for trainings that a CPU can carry: few values of each factor, at a quarter of the side."""

import torch

from course_lib.data import ColorDSprites, DSprites, DSpritesImageNet
from course_lib.data.noise import uniform_integers
from course_lib.factors import FactorSpace
from course_replication.measurements.in_memory import InMemory, thinned

# Of the 6 scales, 40 orientations and 32 places of each axis. The orientations are 0°, 28°, 55° and 83°: within a
# quarter turn, so that no two images are the same.
KEPT = ((0, 1, 2), (0, 3, 5), (0, 3, 6, 9), *[(0, 4, 9, 13, 18, 22, 27, 31)] * 2)


class FewSprites(InMemory):
    """2,304 images of dSprites, averaged down to 16×16: each pixel the mean of 4×4."""

    space = FactorSpace(DSprites.space.names, tuple(map(len, KEPT)))
    source, licence, citation = DSprites.source, DSprites.licence, DSprites.citation

    def __init__(self):
        super().__init__(thinned(DSprites(), KEPT), torch.float64)


class ColourFewSprites(InMemory):
    """`FewSprites`, each in a colour of its own on black: sprite × U(0.5, 1) per channel, as in `ColorDSprites`."""

    space = FewSprites.space
    source, licence, citation = ColorDSprites.source, ColorDSprites.licence, ColorDSprites.citation

    def __init__(self):
        colours = 128 + uniform_integers(0, torch.arange(len(self.space)), (128, 128, 128))
        coloured = thinned(DSprites(), KEPT).float() * colours.view(-1, 3, 1, 1) / 255
        super().__init__(coloured.round().to(torch.uint8), torch.float64)


class FewSpritesImageNet(InMemory):
    """`FewSprites` with photographs behind the sprite or in its place, as in `DSpritesImageNet`, in grey.

    place : "background" or "foreground". visibility : of the photographs, in per cent; at 0 these are `FewSprites`.
    """

    space = FewSprites.space
    source, licence = "dSprites over photographs that scikit-learn ships", FewSprites.licence
    citation = DSpritesImageNet.citation

    def __init__(self, place: str = "background", visibility: float = 100):
        self.options = dict(place=place, visibility=visibility)
        coloured = thinned(DSpritesImageNet(place, visibility / 100), KEPT).float()
        super().__init__(coloured.mean(1, keepdim=True).round().to(torch.uint8), torch.float64)
