"""dSprites made small, for trainings that a CPU can carry: few values of each factor, at a quarter of the side."""

import torch
from torch import Tensor

from course_lib.data import ColorDSprites, DSprites, GridDataset
from course_lib.data.noise import uniform_integers
from course_lib.factors import FactorSpace

# Of the 6 scales, 40 orientations and 32 places of each axis. The orientations are 0°, 28°, 55° and 83°: within a
# quarter turn, so that no two images are the same.
KEPT = ((0, 1, 2), (0, 3, 5), (0, 3, 6, 9), *[(0, 4, 9, 13, 18, 22, 27, 31)] * 2)
SIDE = 16


class FewSprites(GridDataset):
    """2,304 images of dSprites, averaged down to 16×16: each pixel the mean of 4×4."""

    space = FactorSpace(DSprites.space.names, tuple(map(len, KEPT)))
    shape = (1, SIDE, SIDE)
    source, licence, citation = DSprites.source, DSprites.licence, DSprites.citation

    def __init__(self):
        self._images = torch.cat([self._drawn(part) for part in torch.arange(len(self)).split(256)])
        pixels = self._images.flatten(1).double() / 255
        self.mean, self.std = (pixels.mean().item(),), (pixels.std(1).mean().item(),)

    def render(self, index: Tensor) -> Tensor:
        return self._images.to(index.device)[index]

    def _drawn(self, index: Tensor) -> Tensor:
        factors = self.space.factors(index)
        places = [torch.tensor(kept)[column] for kept, column in zip(KEPT, factors.unbind(1), strict=True)]
        large, data = DSprites(), DSprites.space
        images = large.images(data.index(torch.stack(places, 1))).float()
        return torch.nn.functional.avg_pool2d(images, 4).round().to(torch.uint8)


class ColourFewSprites(GridDataset):
    """`FewSprites`, each in a colour of its own on black: sprite × U(0.5, 1) per channel, as in `ColorDSprites`."""

    space, shape = FewSprites.space, (3, SIDE, SIDE)
    source, licence, citation = ColorDSprites.source, ColorDSprites.licence, ColorDSprites.citation

    def __init__(self):
        index, sprites = torch.arange(len(self.space)), FewSprites()
        colours = 128 + uniform_integers(0, index, (128, 128, 128))
        self._images = (sprites.render(index).float() * colours.view(-1, 3, 1, 1) / 255).round().to(torch.uint8)
        pixels = self._images.flatten(2).double() / 255
        self.mean, self.std = tuple(pixels.mean((0, 2)).tolist()), tuple(pixels.std(2).mean(0).tolist())

    def render(self, index: Tensor) -> Tensor:
        return self._images.to(index.device)[index]
