"""What the tests of frameworks share: a small dataset, a step with a known seed, and gradients as one vector."""

import pytest
import torch

from course_lib.data import XYSquares
from course_lib.frameworks import Step

DATA = XYSquares(2, 2, squares=2, image_size=16)


@pytest.fixture(scope="session")
def data():
    return DATA


@pytest.fixture(scope="session")
def batch():
    """batch(views): standardised images (views, 8, C, H, W)."""
    index = torch.randperm(len(DATA), generator=torch.Generator().manual_seed(0))

    def batch(views=1, size=8):
        return DATA.observations(index[: views * size]).view(views, size, *DATA.shape)

    return batch


@pytest.fixture(scope="session")
def at():
    """at(step): a Step of 100, with its own freshly seeded generator."""

    def at(index=0, player="model", seed=0, total=100):
        return Step(torch.tensor(index), total, torch.Generator().manual_seed(seed), player)

    return at


@pytest.fixture(scope="session")
def noise():
    """noise(shape): what a posterior of that shape adds first in a step of `at`, drawn independently of it."""

    def noise(*shape, seed=0):
        return torch.empty(shape).normal_(generator=torch.Generator().manual_seed(seed))

    return noise


@pytest.fixture(scope="session")
def gradient():
    """gradient(loss, module): d loss / d weights in one vector, zeros where a weight has no part in it."""

    def gradient(loss, module):
        weights = list(module.parameters())
        parts = torch.autograd.grad(loss, weights, allow_unused=True, retain_graph=True)
        pairs = zip(parts, weights, strict=True)
        return torch.cat([(torch.zeros_like(w) if part is None else part).flatten() for part, w in pairs])

    return gradient
