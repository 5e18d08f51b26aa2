"""Terms of networks that compete: telling two laws apart, and how steep a critic is."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.linalg import vector_norm
from torch.nn.functional import softplus


def discrimination(first: Tensor, second: Tensor) -> Tensor:
    """The cross-entropy of a classifier of two classes, equally likely: 0-d, in nats, ln 2 when it cannot tell.

    first, second : its logits log D / (1 − D), any shape, for samples of the first class and of the second.

    Where it is smallest, the logit is the logarithm of the ratio of the two densities. Chapter 05.
    """
    # −log D = softplus(−logit) and −log(1 − D) = softplus(logit)
    return 0.5 * (softplus(-first).mean() + softplus(second).mean())


def gradient_penalty(
    critic: Callable[[Tensor], Tensor], first: Tensor, second: Tensor, generator: torch.Generator
) -> Tensor:
    r"""How far the slope of a critic is from 1 between two samples of the same size (B, ...): 0-d, never negative.

    .. math:: \mathbb{E}\bigl[(\|\nabla_{\hat x} f(\hat x)\|_2 - 1)^2\bigr], \qquad
        \hat x = \alpha x + (1 - \alpha) x', \quad \alpha \sim U(0, 1) \text{ for each sample}

    critic maps (B, ...) to (B,), each sample by itself. Where its slope is 0, the penalty is 1 and has no gradient.

    Source: Gulrajani et al. 2017, Improved training of Wasserstein GANs, Algorithm 1; a critic that is to be as large
    as can be has it subtracted, where Eq. 16 of Kim and Mnih 2018 adds it. Chapter 07.
    """
    share = torch.empty_like(first.flatten(1)[:, 0]).uniform_(generator=generator)
    share = share.view(-1, *[1] * (first.ndim - 1))
    between = (share * first + (1 - share) * second).detach().requires_grad_()
    (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return (vector_norm(slope.flatten(1).float(), dim=1) - 1).square().mean()
