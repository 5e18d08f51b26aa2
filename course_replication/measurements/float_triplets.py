"""Triplets ordered in floating-point numbers, as the thesis' own code ordered them (Section 5.2.4)."""

import torch
from torch import Tensor

from course_lib.distances import Distance
from course_lib.frameworks import AdaTripletVAE


class FloatTripletVAE(AdaTripletVAE):
    """An Ada-TVAE whose triplets are ordered, and ties seen, by sums of quotients in floating-point numbers."""

    def sample(self, space, batch_size: int, generator: torch.Generator) -> Tensor:
        sizes, _ = space.constants(generator.device)

        def distance(first: Tensor, second: Tensor) -> Tensor:
            gaps = (space.factors(first) - space.factors(second)).abs() / (sizes - 1)
            return sum(gaps.unbind(-1))  # one after the other, for rounding depends on the order

        return triplets_by(distance, len(space), batch_size, generator)


def triplets_by(distance: Distance, size: int, n: int, generator: torch.Generator) -> Tensor:
    """n triplets (3, n) of indices below `size`, the second strictly nearer by `distance`; ties are drawn again.

    Nothing waits for the device. At least half of the triplets have to be untied, as they are on a grid of factors.
    """
    anchor, first, second = torch.randint(size, (3, 2 * n + 64), generator=generator, device=generator.device)
    near, far = distance(anchor, first), distance(anchor, second)
    untied_first = (near == far).to(torch.uint8).argsort(stable=True)[:n]
    positive, negative = torch.where(near > far, second, first), torch.where(near > far, first, second)
    return torch.stack([anchor, positive, negative])[:, untied_first]
