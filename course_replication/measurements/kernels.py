"""Learnt reconstruction losses: kernels trained on XYSquares of 64×64, as in Chapter 6 of the thesis."""

import torch
from torch import Tensor

from course_lib.data import XYSquares
from course_lib.distances import correlations, ground_truth_distance, perceived_distance
from course_lib.losses import LearntKernel
from course_lib.losses.blur import blur, box_kernel, gaussian_kernel
from course_lib.sampling import random_pairs, singles
from course_lib.training import fit_kernel
from course_replication.measurements.tables import enumerated
from course_replication.measurements.trained_scores import report
from course_replication.runs import Context

PAIRS = 5_000  # anywhere on the grid, within batches of 32 points as in Table 6.1
SHOWN = 64  # images whose spectra are looked at
BLURRED = 1 / 8  # cycles per pixel up to which a frequency is low: that of the grid
KERNELS = {"box": box_kernel, "gaussian": gaussian_kernel}


def learnt(context: Context, **settings) -> dict[str, float]:
    """Train a kernel on XYSquares and correlate its distances with those of the factors, as Table 6.1 does.

    settings : `radius`, `symmetry` and all of `fit_kernel`. "control/untrained/…" is the kernel before the first step,
    the box with noise.
    """
    before = LearntKernel(settings["radius"], symmetry=settings["symmetry"], seed=context.seed).kernel.detach()
    found = kernel_scores(trained_kernel(context.seed, device=context.device, **settings), context.generator)
    return report(found, kernel_scores(before, context.generator), {})


def handmade(context: Context, kernel: str, radius: int) -> dict[str, float]:
    """The same of a kernel that nobody trained, "box" or "gaussian", its weight as in Section 3.4.1.

    A box of radius 0 leaves images as they are.
    """
    weights = KERNELS[kernel](radius)
    return kernel_scores(weights * len(weights) ** 0.5, context.generator)


def trained_kernel(
    seed: int, *, radius: int, symmetry: float, device: str | torch.device = "cpu", kind: type = LearntKernel, **fitting
) -> Tensor:
    """The kernel (2·radius + 1, 2·radius + 1) on the CPU, trained on the device as one of that kind."""
    kernel = kind(radius, symmetry=symmetry, seed=seed).to(device)
    fit_kernel(kernel, XYSquares(), seed=seed, **fitting)
    return kernel.kernel.detach().cpu()


def kernel_scores(kernel: Tensor, generator: torch.Generator) -> dict[str, float]:
    """Correlations along factors and at random, and what the kernel's and the blurred images' spectra look like."""
    data = XYSquares()
    pairs = random_pairs(data.space, PAIRS, generator, batch_size=32)
    anywhere = correlations(ground_truth_distance(data.space)(*pairs), perceived_distance(data, loss=kernel)(*pairs))
    return scores_from(kernel, anywhere, generator)


def scores_from(kernel: Tensor, anywhere: tuple[float, float], generator: torch.Generator) -> dict[str, float]:
    """`kernel_scores`, its correlations of pairs anywhere, linear and rank, being known."""
    data = XYSquares()
    along = enumerated(data.options["spacing"], kernel)
    images = data.images(singles(data.space, SHOWN, generator)).float() / 255
    return {
        "factors/linear": along[0],
        "factors/rank": along[1],
        "random/linear": anywhere[0],
        "random/rank": anywhere[1],
        "power-at-the-grid": power_at_the_grid(kernel, data.options["spacing"]),
        "low-frequency-share": low_frequency_share(blur(images, kernel)),
    }


def power_at_the_grid(kernel: Tensor, spacing: int) -> float:
    """The share of the kernel's power, its mean aside, at the frequencies of a grid of that spacing.

    Those are the multiples of 1/spacing along either axis, of which one is not 0. An impulse has the same power at all.
    """
    square = torch.outer(kernel, kernel) if kernel.ndim == 1 else kernel
    side = spacing * -(-len(square) // spacing)  # so that the grid's frequencies are among the transform's
    power = torch.fft.fft2(square.double(), (side, side)).abs().square()
    power[0, 0] = 0
    return float(power[:: side // spacing, :: side // spacing].sum() / power.sum())


def low_frequency_share(images: Tensor) -> float:
    """The share of the power of images (B, C, H, W), their means aside, at up to `BLURRED` cycles per pixel."""
    power = torch.fft.fft2((images - images.mean((2, 3), keepdim=True)).double()).abs().square()
    rows, columns = (torch.fft.fftfreq(size, dtype=torch.float64) for size in images.shape[-2:])
    low = torch.hypot(rows.unsqueeze(1), columns) <= BLURRED
    return float(power[..., low].sum() / power.sum())


def small_kernel(data: XYSquares, seed: int, steps: int) -> Tensor:
    """The kernel for the small grid, of the radius that its box blur has, with the thesis' other settings."""
    kernel = LearntKernel(data.shape[-1] // 2 - 1, seed=seed)
    fit_kernel(kernel, data, steps=steps, seed=seed)
    return kernel.kernel.detach()
