"""3D Shapes for one core: thinned out to 14,000 images, and averaged down from 64×64 to 16×16 pixels."""

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d

from course_lib.data import GridDataset, Shapes3D
from course_lib.factors import FactorSpace

BLOCK = 4  # pixels of 3D Shapes, each way, that become one
KEPT = (*[range(0, 10, 2)] * 3, (0, 2, 5, 7), range(4), range(1, 15, 2))


class SmallShapes(GridDataset):
    """Every second hue and angle of 3D Shapes, half of its scales, all of its shapes."""

    source = "3D Shapes, thinned out and averaged down"
    licence, citation = Shapes3D.licence, Shapes3D.citation

    def __init__(self):
        full = Shapes3D()
        index = full.space.index(torch.cartesian_prod(*map(torch.tensor, map(list, KEPT))))
        self.space = FactorSpace(full.space.names, [len(values) for values in KEPT])
        blocks = [avg_pool2d(full.images(part).float(), BLOCK) for part in index.split(500)]
        self._pixels = torch.cat(blocks).round().to(torch.uint8)
        self.shape, unit = tuple(self._pixels.shape[1:]), self._pixels / 255
        self.mean = tuple(unit.mean((0, 2, 3)).tolist())
        self.std = tuple(unit.flatten(2).std(2).mean(0).tolist())

    def render(self, index: Tensor) -> Tensor:
        return self._pixels.to(index.device)[index]
