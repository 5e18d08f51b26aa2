"""Reconstruction terms: how far a decoded image is from the observed one, element by element.

Each class is a likelihood. It maps the decoder's raw output and the standardised images, both (B, C, H, W), to the loss
of every element (same shape), and the raw output to pixels in [0, 1] for showing.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits


class SquaredError:
    """(x − x̂)² on standardised images.

    Up to a constant this is the negative log-likelihood of a Gaussian with variance ½ around the decoder's output.
    """

    def __init__(self, model: nn.Module):
        self.model = model

    def __call__(self, decoded: Tensor, images: Tensor) -> Tensor:
        return (images - decoded).square()

    def pixels(self, decoded: Tensor) -> Tensor:
        return unstandardise(decoded, self.model).clamp(0, 1)


class BinaryCrossEntropy:
    """−x log p − (1 − x) log(1 − p) in nats, with p = sigmoid(x̂) and x mapped back to [0, 1].

    A Bernoulli likelihood: exact for binary images such as dSprites; for grey values, a loss whose minimum is not zero.
    """

    def __init__(self, model: nn.Module):
        self.model = model

    def __call__(self, decoded: Tensor, images: Tensor) -> Tensor:
        target = unstandardise(images, self.model).clamp(0, 1)  # the way back can overshoot by a rounding error
        return binary_cross_entropy_with_logits(decoded, target, reduction="none")

    def pixels(self, decoded: Tensor) -> Tensor:
        return torch.sigmoid(decoded)


LIKELIHOODS = {"mse": SquaredError, "bce": BinaryCrossEntropy}


def unstandardise(images: Tensor, model: nn.Module) -> Tensor:
    """Standardised images (..., C, H, W) → the [0, 1] scale, by the model's pixel statistics."""
    return images * model.pixel_std.view(-1, 1, 1) + model.pixel_mean.view(-1, 1, 1)
