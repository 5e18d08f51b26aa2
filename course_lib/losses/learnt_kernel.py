"""A reconstruction loss that is learnt: a blur kernel whose distances between images rank like those of the factors."""

import torch
from torch import Tensor, nn

from course_lib.arguments import check_integers, check_numbers, check_seed
from course_lib.data import GridDataset
from course_lib.losses.blur import blur
from course_lib.losses.soft_rank import spearman


class LearntKernel(nn.Module):
    r"""A square kernel h, the same for every channel and nowhere negative, to be trained by its own objective.

    .. math:: d_h(x, x') = \mathrm{MSE}(x, x') + \mathrm{MSE}(h * x, h * x'), \qquad
        \mathcal{L} = -\rho(d_{gt}, d_h) + \lambda \, \frac{\|h - \bar h\|^2}{\|h\|^2}

    ρ is Spearman's rank correlation over pairs of a batch, with soft ranks; h̄ averages h over the eight symmetries of
    the square. The weight α of the thesis is the kernel's own scale. It starts as the box of Section 3.4.1 with noise.

    Parameters
    ----------
    radius : the kernel has 2·radius + 1 pixels a side.
    symmetry : λ, at least 0.
    noise : how far the first weights stray from the box, relative to them.
    seed : of that noise.

    `kernel` is the trained kernel, which `reconstruction` of every framework takes and `distances.perceived_distance`
    too. Source: the thesis, Eqs 6.1 to 6.3 and Section 6.1.3. Chapter 20.
    """

    def __init__(self, radius: int, *, symmetry: float = 1.0, noise: float = 0.1, seed: int = 0):
        super().__init__()
        (radius,) = check_integers(0, radius=radius)
        self.symmetry, noise = check_numbers(0, symmetry=symmetry, noise=noise)
        side = 2 * radius + 1
        generator = torch.Generator().manual_seed(check_seed(seed))
        strayed = 1 + noise * torch.randn(side, side, generator=generator, dtype=torch.float32, device="cpu")
        self.weights = nn.Parameter(strayed / side)  # √α = side times 1/side²

    @property
    def kernel(self) -> Tensor:
        """h, (2·radius + 1, 2·radius + 1): the absolute values of the weights."""
        return self.weights.abs()

    def distances(self, images: Tensor, first: Tensor, second: Tensor) -> Tensor:
        """d_h of the images at places `first` and `second` (n,) of a batch (B, C, H, W): (n,).

        All distances come from one matrix of inner products, so images are blurred once and not pair by pair.
        """
        return sum(squared_distances(view)[first, second] for view in (images, blur(images, self.kernel)))

    def distances_in(self, data: GridDataset, index: Tensor, first: Tensor, second: Tensor) -> Tensor:
        """The same of a dataset's images at `index` (B,), on [0, 1] as perceived distances are."""
        return self.distances(data.images(index).float() / 255, first, second)

    def loss(self, images: Tensor, first: Tensor, second: Tensor, truth: Tensor) -> dict[str, Tensor]:
        """The terms `correlation` (−ρ) and `asymmetry` (times λ) for pairs of a batch with true distances (n,)."""
        return self.terms(self.distances(images, first, second), truth)

    def terms(self, distances: Tensor, truth: Tensor) -> dict[str, Tensor]:
        """The same of pairs' distances d_h (n,), wherever they come from."""
        kernel = self.kernel
        asymmetry = (kernel - symmetrised(kernel)).square().sum() / kernel.square().sum()
        return {
            "correlation": -spearman(distances, truth),
            "asymmetry": self.symmetry * asymmetry,
        }


def symmetrised(kernel: Tensor) -> Tensor:
    """A square kernel averaged over the eight symmetries of the square."""
    turned = torch.stack([kernel.rot90(quarter) for quarter in range(4)])
    return torch.cat([turned, turned.transpose(1, 2)]).mean(0)


def squared_distances(images: Tensor) -> Tensor:
    """The mean squared difference of every two images (B, C, H, W): (B, B), never negative."""
    flat = images.flatten(1) - images.flatten(1).mean(0)  # centred, so that the differences below lose fewer digits
    with torch.autocast(images.device.type, enabled=False):
        inner = flat @ flat.T / flat.shape[1]
    squares = inner.diagonal()
    return (squares.unsqueeze(0) + squares.unsqueeze(1) - 2 * inner).relu()
