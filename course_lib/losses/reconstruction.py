"""Reconstruction terms: how far a decoded image is from the observed one, element by element.

Each maps the decoder's raw output and the standardised images, both (B, C, H, W), to the loss of every element (same
shape), and the raw output to pixels in [0, 1] for showing. `log_normaliser` is what has to be added to minus the loss
of an element to make it a log-probability (of a standardised pixel), or None where the loss is no likelihood.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy, binary_cross_entropy_with_logits

from course_lib.arguments import check_choice
from course_lib.losses.blur import blur, box_kernel, gaussian_kernel


class Reconstruction(nn.Module):
    """What all share: the pixel statistics of the model, which lead from standardised images back to [0, 1].

    Chapter 02.
    """

    log_normaliser: float | None = None

    def __init__(self, model: nn.Module):
        super().__init__()
        self._model = (model,)  # in a tuple it is no submodule, whose weights would be listed and saved twice

    @property
    def model(self) -> nn.Module:
        return self._model[0]

    def forward(self, decoded: Tensor, images: Tensor) -> Tensor:
        raise NotImplementedError

    def pixels(self, decoded: Tensor) -> Tensor:
        """The decoder's raw output → pixels in [0, 1]."""
        return unstandardise(decoded, self.model).clamp(0, 1)

    def distance(self, first: Tensor, second: Tensor) -> Tensor:
        """The loss between two standardised images, as if the one had been decoded: element by element.

        This is the thesis' perceived distance (Eq. 3.3).
        """
        return self(second, first)


class SquaredError(Reconstruction):
    """(x − x̂)² on standardised images.

    Up to a constant this is the negative log-likelihood of a Gaussian with variance ½ around the decoder's output.
    Chapter 02.
    """

    log_normaliser = -0.5 * math.log(math.pi)

    def forward(self, decoded: Tensor, images: Tensor) -> Tensor:
        return (images - decoded).square()


class BinaryCrossEntropy(Reconstruction):
    """−x log p − (1 − x) log(1 − p) in nats, with p = sigmoid(x̂) and x mapped back to [0, 1].

    A Bernoulli likelihood: exact for binary images such as dSprites; for grey values, a loss whose minimum is not zero.
    Chapter 02.
    """

    log_normaliser = 0.0

    def forward(self, decoded: Tensor, images: Tensor) -> Tensor:
        target = unstandardise(images, self.model).clamp(0, 1)  # the way back can overshoot by a rounding error
        return binary_cross_entropy_with_logits(decoded, target, reduction="none")

    def pixels(self, decoded: Tensor) -> Tensor:
        return torch.sigmoid(decoded)

    def distance(self, first: Tensor, second: Tensor) -> Tensor:
        probability, target = (unstandardise(images, self.model).clamp(0, 1) for images in (second, first))
        with torch.autocast(first.device.type, enabled=False):  # which refuses this function
            return binary_cross_entropy(probability, target, reduction="none")


class BlurredSquaredError(SquaredError):
    """(x − x̂)² + (h(x) − h(x̂))², where h blurs each channel with one kernel: Eqs 3.8 and 6.3 of the thesis.

    The kernel (`losses.blur`) carries the weight α of the second term: it is √α times one that sums to 1. A blur is
    linear, so one of the difference is enough. A kernel that `kept` says is saved with the model. Chapter 16.
    """

    log_normaliser = None

    def __init__(self, model: nn.Module, kernel: Tensor, kept: bool = True):
        super().__init__(model)
        self.register_buffer("kernel", kernel, persistent=kept)

    def forward(self, decoded: Tensor, images: Tensor) -> Tensor:
        difference = images - decoded
        return difference.square() + blur(difference, self.kernel).square()


BLURS = {"mse-box": box_kernel, "mse-gaussian": gaussian_kernel}
RECONSTRUCTIONS = ("mse", "bce", *BLURS)


def reconstruction_loss(model: nn.Module, reconstruction: str | Tensor) -> Reconstruction:
    """The loss of that name ("mse", "bce", "mse-box" or "mse-gaussian"), or the blurred MSE with the kernel given.

    Chapter 16.
    """
    if not isinstance(reconstruction, str):
        return BlurredSquaredError(model, check_kernel(reconstruction).clone())
    check_choice(RECONSTRUCTIONS, reconstruction=reconstruction)
    if reconstruction in BLURS:
        return BlurredSquaredError(model, overlap_kernel_for(model.shape, reconstruction=reconstruction), kept=False)
    return {"mse": SquaredError, "bce": BinaryCrossEntropy}[reconstruction](model)


def overlap_kernel(loss: str, side: int) -> Tensor:
    """The kernel of "mse-box" or "mse-gaussian" for images of an even `side`, weight included: float32 (side − 1,).

    Its radius is side/2 − 1, so that squares on opposite sides of the image meet, and the weight α of the blurred term
    is the number of weights of the two-dimensional kernel: 31 and 63² at 64 pixels (Section 3.4.1 of the thesis).
    """
    kernel = BLURS[loss](max(side // 2 - 1, 0))
    return kernel * len(kernel) ** 0.5  # whose outer product with itself is √α = (side − 1) times the plain one


def overlap_kernel_for(shape: Sequence[int], **named: str) -> Tensor:
    """`overlap_kernel` for images of `shape` (C, H, W), with the loss under the name of its argument.

    Raises a ValueError, which names that argument, unless the images are square and of an even side.
    """
    ((argument, loss),) = named.items()
    height, width = shape[-2:]
    if height != width or height % 2:
        raise ValueError(f"{argument}: got {loss!r} for {height}×{width} pixels; allowed are equal, even sides.")
    return overlap_kernel(loss, width)


def check_kernel(kernel: Tensor) -> Tensor:
    """The kernel as float32, without gradient; a ValueError unless it is real, with one or two axes of odd length."""
    if not isinstance(kernel, Tensor):
        raise ValueError(
            f"reconstruction: got {type(kernel).__name__}; allowed are {', '.join(map(repr, RECONSTRUCTIONS))}, or a "
            "kernel tensor."
        )
    fits = kernel.ndim in (1, 2) and all(side % 2 for side in kernel.shape)
    if not fits or kernel.is_complex() or not kernel.isfinite().all():
        raise ValueError(
            f"reconstruction: got a kernel of shape {tuple(kernel.shape)}, {kernel.dtype}; allowed are "
            "finite, real ones (k,) or (k, l) with odd sides."
        )
    return kernel.detach().float()


def unstandardise(images: Tensor, model: nn.Module) -> Tensor:
    """Standardised images (..., C, H, W) → the [0, 1] scale, by the model's pixel statistics. Chapter 02."""
    return images * model.pixel_std.view(-1, 1, 1) + model.pixel_mean.view(-1, 1, 1)
