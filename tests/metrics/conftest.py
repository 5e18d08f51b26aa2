"""Grids and representations of them that are known exactly."""

import numpy as np
import pytest
import torch

from course_lib import metrics
from course_lib.data import XYSquares
from course_lib.data.grid import GridDataset
from course_lib.factors import FactorSpace
from course_lib.metrics import Encodings

FEWER = {  # samples, for tests of what does not depend on their number
    "beta_vae_score": dict(num_samples=600, num_test=300),
    "distance_correlation": dict(num_samples=1000),
    "dci": dict(num_samples=500, num_test=100, jobs=1),
    "downstream_trees": dict(num_samples=500, num_test=100, jobs=1),
    "dci_es": dict(num_samples=1200, num_test=400),
    "infomec": dict(num_samples=2000, num_test=500),
    "modularity": dict(num_samples=2000, num_test=500),
    "sap": dict(num_samples=2000, num_test=500),
}


class TinyGrid(GridDataset):
    """A grid of any sizes whose images are the factor values themselves, (1, 1, F)."""

    mean, std, source, licence, citation = (0.0,), (1.0,), "made up", "none", "none"

    def __init__(self, *sizes):
        self.space = FactorSpace([f"f{place}" for place in range(len(sizes))], sizes)
        self.shape, self.options = (1, 1, len(sizes)), {"sizes": sizes}

    def render(self, index):
        return self.space.factors(index).to(torch.uint8).view(len(index), 1, 1, -1)


def _factors(data):
    return data.space.factors(torch.arange(len(data))).double()


@pytest.fixture(scope="session")
def tiny_grid():
    return TinyGrid


@pytest.fixture(scope="session")
def quick():
    """(name of a score, table, …) → the score, from few samples."""
    return lambda name, table, **options: getattr(metrics, name)(table, **FEWER.get(name, {}) | options)


@pytest.fixture(scope="session")
def factors_of():
    """data → the factors of all its points, float64 (N, F)."""
    return _factors


@pytest.fixture(scope="session")
def small():
    """XYSquares with two squares: 4 factors of 8 values, 4096 images of 16 × 16."""
    return XYSquares(2, 2, squares=2, image_size=16)


@pytest.fixture(scope="session")
def rotation():
    """The fixed orthogonal matrix (6, 6) of the reference values."""
    return torch.tensor(np.linalg.qr(np.random.RandomState(0).randn(6, 6))[0])


@pytest.fixture(scope="session")
def reference(rotation):
    """The two representations of XYSquares whose scores are known: its factors / 8, and these rotated."""
    data = XYSquares()
    latents = _factors(data) / 8
    return {
        "identity": Encodings.from_table(latents, data),
        "rotated": Encodings.from_table(latents @ rotation, data),
    }


@pytest.fixture(scope="session")
def known(small):
    """Representations of `small` by name: latents float64 (4096, D)."""
    factors = _factors(small) / 8
    noise = torch.randn(len(small), 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    angle = torch.tensor(np.linalg.qr(np.random.RandomState(4).randn(4, 4))[0])
    return {
        "identity": factors,
        "zeros": torch.zeros_like(factors),
        "noise": noise,
        "duplicated": torch.cat([factors, factors], 1),
        "merged": torch.cat([factors[:, :1] + 8 * factors[:, 1:2], factors[:, 2:]], 1),  # one latent for two factors
        "missed": factors[:, :3],
        "rotated": factors @ angle,
    }


@pytest.fixture(scope="session")
def tables(small, known):
    """The tables of the known representations."""
    return {name: Encodings.from_table(latents, small) for name, latents in known.items()}
