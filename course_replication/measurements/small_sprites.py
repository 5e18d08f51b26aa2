"""dSprites for one core: thinned out to 9,216 images, and averaged down from 64×64 to 16×16 pixels."""

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d

from course_lib.data import DSprites, GridDataset
from course_lib.factors import FactorSpace

BLOCK = 4  # pixels of dSprites, each way, that become one
# Of 40 angles the last shows the same images as the first.
KEPT = (range(3), range(6), range(0, 39, 5), range(0, 32, 4), range(0, 32, 4))


class SmallSprites(GridDataset):
    """All shapes and scales of dSprites, every fifth angle, every fourth column and row, in grey."""

    source = "dSprites, thinned out and averaged down"
    licence, citation = DSprites.licence, DSprites.citation

    def __init__(self):
        full = DSprites()
        index = full.space.index(torch.cartesian_prod(*map(torch.tensor, map(list, KEPT))))
        self.space = FactorSpace(full.space.names, [len(values) for values in KEPT])
        blocks = [avg_pool2d(full.images(part).float(), BLOCK) for part in index.split(1024)]
        self._pixels = torch.cat(blocks).round().to(torch.uint8)
        self.shape, unit = tuple(self._pixels.shape[1:]), self._pixels / 255
        self.mean, self.std = (unit.mean().item(),), (unit.flatten(1).std(1).mean().item(),)

    def render(self, index: Tensor) -> Tensor:
        return self._pixels.to(index.device)[index]
