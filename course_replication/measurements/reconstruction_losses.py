"""Claims about reconstruction losses on images: cross-entropy on grey values, a blur alone, a kernel turned around."""

from collections.abc import Iterator

import numpy as np
import torch
from scipy.linalg import toeplitz
from scipy.signal import convolve2d, correlate2d, fftconvolve
from scipy.special import xlogy

from course_lib.data import DSprites, Shapes3D, XYObject, XYSquares
from course_lib.losses.blur import blur, box_kernel, gaussian_kernel
from course_lib.losses.reconstruction import reconstruction_loss
from course_lib.models import mlp_vae
from course_replication.runs import Context

ROUNDING = 1e-9
BINARY, GREY = ("dsprites", "xysquares"), ("shapes3d", "xyobject")
# Side of the image, radius of the box: that of Section 3.4.1 at three sizes, none, and one that covers all.
BOXES = {"16": (16, 7), "32": (32, 15), "64": (64, 31), "no-blur": (64, 0), "widest": (64, 63)}
STEPS = 1000  # of gradient descent


def grey_levels(context: Context, num_images: int) -> dict[str, bool | float]:
    """The cross-entropy of images with themselves, and what a Bernoulli and a Gaussian likelihood add up to.

    Over the values that a pixel may take, p^x (1 − p)^(1 − x) sums to 1 if they are 0 and 1; from 0 to 1 it integrates
    to (2p − 1) / (log p − log(1 − p)). The best constant for grey pixels is looked for on a grid.
    """
    found, still, off = {}, [], []
    datasets = {"dsprites": DSprites(), "xysquares": XYSquares(), "shapes3d": Shapes3D(), "xyobject": XYObject()}
    for name, data in datasets.items():
        index = torch.randint(len(data), (num_images,), generator=context.generator)
        pixels = data.images(index).double().numpy() / 255
        found[f"cross-entropy-with-itself/{name}"] = -(xlogy(pixels, pixels) + xlogy(1 - pixels, 1 - pixels)).mean()
        images = data.observations(index)
        ours = reconstruction_loss(mlp_vae(data, 2), "bce").distance(images, images).double().mean().item()
        off.append(abs(ours - found[f"cross-entropy-with-itself/{name}"]))
        guesses, mean = np.linspace(0.001, 0.999, 999), pixels.mean()
        still.append(abs(guesses[(xlogy(mean, guesses) + xlogy(1 - mean, 1 - guesses)).argmax()] - mean))
    p, x = np.array([0.01, 0.1, 0.3, 0.45])[:, None], np.linspace(0, 1, 20_001)
    mass = np.trapezoid(p**x * (1 - p) ** (1 - x), x)
    closed = ((2 * p - 1) / (np.log(p) - np.log(1 - p)))[:, 0]
    real = np.linspace(-8, 8, 20_001)
    return found | {
        "binary-images-are-at-0": all(abs(found[f"cross-entropy-with-itself/{name}"]) < ROUNDING for name in BINARY),
        "grey-images-are-not": all(found[f"cross-entropy-with-itself/{name}"] > 1e-3 for name in GREY),
        "bernoulli-adds-up-to-1-on-0-and-1": np.allclose(p**0 * (1 - p) + p * (1 - p) ** 0, 1),
        "and-to-less-on-grey-values": bool((mass < 0.9).all() and np.allclose(mass, closed, atol=1e-6)),
        "gaussian-adds-up-to-1": np.allclose(np.trapezoid(np.exp(-((real - p) ** 2)) / np.pi**0.5, real), 1),
        "minimum-at-the-mean-all-the-same": max(still) <= 0.0005 + ROUNDING,
        "library-as-by-hand": max(off) < 1e-4,
        "settings": len(datasets),
        "largest-mass-on-grey-values": mass.max(),
    }


def blur_alone(context: Context) -> dict[str, bool | float]:
    """How much of an image's pixels gradient descent leaves, on the blurred error alone and with the plain one added.

    The decoder is the image itself, so the loss is quadratic: along each eigenvector the error shrinks by 1 − λ/λ_max
    in a step. The images are XYSquares of that size, 10 of them, and what is left is relative to their squares.
    """
    found = {}
    for name, (side, radius) in BOXES.items():
        weights = toeplitz(np.arange(side) <= radius) / (2 * radius + 1)  # what each pixel adds to each other
        values, vectors = np.linalg.eigh(weights)
        blurred = (2 * radius + 1) ** 2 * np.outer(values, values) ** 2
        data = XYSquares(side // 8, side // 8, squares=2, image_size=side)
        index = torch.randint(len(data), (10,), generator=context.generator)
        images = data.images(index).double().numpy() / 255
        energy = np.square(vectors.T @ images @ vectors).sum((0, 1))
        for loss, rates in (("alone", blurred), ("both", 1 + blurred)):
            left = energy * (1 - rates / rates.max()) ** (2 * STEPS)
            found[f"left/{loss}/{name}"] = left.sum() / energy.sum()
            found[f"condition/{loss}/{name}"] = rates.max() / max(rates.min(), np.finfo(float).tiny)
        found[f"rank/{name}"] = np.linalg.matrix_rank(weights)
    return found | {"settings": sum(radius > 0 for _, radius in BOXES.values())}


def turned_kernel(context: Context, num_pairs: int) -> dict[str, bool | float]:
    """Blurs by Fourier transforms against sums, and distances by a kernel against those by the kernel turned by 180°.

    A product of transforms is a convolution, which turns the kernel; the blur of a network does not. On the whole plane
    both give the same squared distance; an image cuts off what is blurred beyond its edge.
    """
    direct, library, plane, cut = [], [], {}, {}
    for name, kernel, difference in _differences(context, num_pairs):
        turned = kernel[::-1, ::-1]
        by_sums = correlate2d(difference, kernel, mode="same")
        scale = np.abs(by_sums).max()
        direct.append(np.abs(fftconvolve(difference, turned, mode="same") - by_sums).max() / scale)
        ours = blur(torch.from_numpy(difference.copy()), torch.from_numpy(kernel.copy())).numpy()
        library.append(np.abs(ours - by_sums).max() / scale)
        for mode, kept in (("full", plane), ("same", cut)):
            distances = [np.square(convolve2d(difference, each, mode=mode)).sum() for each in (kernel, turned)]
            kept.setdefault(name, []).append(abs(distances[0] / distances[1] - 1))
    return {
        "fourier-transforms-as-by-sums": max(direct) < ROUNDING,
        "library-as-by-sums": max(library) < 1e-6,
        "symmetric-kernels-do-not-care": max(max(cut[name]) for name in ("box", "gaussian")) < ROUNDING,
        "distances-on-the-plane-do-not-care": max(map(max, plane.values())) < ROUNDING,
        "distances-in-the-image-do": min(max(cut[name]) for name in cut if name.startswith("random")) > 1e-3,
        "settings": len(cut),
    } | {f"largest-relative-difference/{name}": max(values) for name, values in cut.items()}


def _differences(context: Context, num_pairs: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Kernels by name, each with differences of images, of one channel: of XYSquares and its edge, of 16 pixels."""
    data, draws = XYSquares(2, 2, squares=1, image_size=16), np.random.default_rng(context.seed)
    kernels = {f"random-{radius}": draws.uniform(size=(2 * radius + 1,) * 2) for radius in (1, 3, 7)}
    for name, line in {"box": box_kernel(7), "gaussian": gaussian_kernel(7)}.items():
        kernels[name] = np.outer(line.double().numpy(), line.double().numpy())
    for name, kernel in kernels.items():
        for pair in torch.randint(len(data), (num_pairs, 2), generator=context.generator):
            first, second = data.images(pair).double().numpy()[:, 0] / 255
            if (first != second).any():
                yield name, kernel, first - second
