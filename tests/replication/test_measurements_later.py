"""Measurements of later papers' claims: parts of them by other routes, and what cheap runs return."""

import itertools

import numpy as np
import pytest
import torch
from scipy.spatial.distance import directed_hausdorff

from course_replication import Context, load_claims
from course_replication.comparisons import renamed
from course_replication.measurements import later_codes, later_supports
from course_replication.plans import metrics_of, planned
from course_replication.runs import measurement_of

CLAIMS = {claim.id: claim for claim in load_claims() if claim.paper == "after"}
FIT = {"steps": 2, "batch_size": 4}
CHEAP = {
    "later_codes.components": {"images": 40, "hidden": [4], **FIT},
    "later_codes.quantised": {"hidden": [4], "latents": 2, "values": 2, **FIT},
    "later_codes.readable": {"values": 3, "points": 120},
    "later_codes.turned": {"points": 3},
    "later_supports.criteria": {"points": 30},
    "later_supports.recombined": {"networks": 1, "width": 4, "steps": 4, "batch_size": 4},
    "later_supports.unseen": {"width": 4, "steps": 4, "batch_size": 4},
}


@pytest.fixture
def context(tmp_path):
    return Context(0, torch.device("cpu"), tmp_path / "partial")


@pytest.mark.filterwarnings("ignore:.*samples are too few", "ignore:.*converge", "ignore:.*constant")
@pytest.mark.parametrize("name", CLAIMS)
def test_a_cheap_run_returns_what_the_claim_asks_for(context, name):
    found = {}
    for part in planned(CLAIMS[name]):
        measured = measurement_of(part.measurement)(context, **part.settings | CHEAP[part.measurement])
        found |= {renamed(part.name, metric): value for metric, value in measured.items()}
    assert {*metrics_of(CLAIMS[name])} <= found.keys()
    if CLAIMS[name].kind == "trained":
        asked = [metric for metric in metrics_of(CLAIMS[name]) if f"control/untrained/{metric}" not in found]
        assert asked == [] and any(metric.startswith("left/") for metric in found)


def test_a_matching_is_the_best_of_all_pairings():
    codes, factors = np.random.default_rng(0).normal(size=(2, 30, 3))
    both = np.abs(np.corrcoef(codes.T, factors.T)[:3, 3:])
    best = max(sum(both[i, k] for k, i in enumerate(order)) / 3 for order in itertools.permutations(range(3)))
    assert later_codes.matching(codes, factors) == pytest.approx(best)


def test_the_gap_of_a_support_is_a_hausdorff_distance():
    codes = torch.rand(25, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    scaled = (codes - codes.amin(0)) / (codes.amax(0) - codes.amin(0))
    every = np.array([*itertools.product(*scaled.T.tolist())])
    assert later_supports.missing(codes) == pytest.approx(directed_hausdorff(every, scaled.numpy())[0], abs=1e-6)
    lattice = torch.cartesian_prod(torch.arange(4.0), torch.arange(5.0))
    assert later_supports.missing(lattice) == pytest.approx(0, abs=1e-6)


def test_balls_add_and_bumps_multiply():
    a, b, c, d = (torch.tensor([each]) for each in ([0.1, 0.2], [0.1, 0.9], [0.7, 0.2], [0.7, 0.9]))
    balls, bumps = later_supports.two_balls, later_supports.bumps
    assert torch.allclose(balls(b) + balls(c) - balls(a), balls(d), atol=1e-6)
    assert torch.allclose(bumps(b) * bumps(c), bumps(a) * bumps(d), atol=1e-6)
    assert not torch.allclose(bumps(b) + bumps(c) - bumps(a), bumps(d), atol=0.1)


def test_the_pattern_adds_its_derivative_squared():
    """In closed form: (2π t a)² · 256 along the mixture, beside what the balls have."""
    place, both = torch.tensor([0.3, 0.6]), (0.5**0.5, 0.5**0.5)
    products = [
        (lambda slopes: slopes.T @ slopes)(torch.func.jacrev(later_codes.faintly(amount, 6, both))(place).double())
        for amount in (0.0, 0.02)
    ]
    expected = (2 * torch.pi * 6 * 0.02) ** 2 * 256 / 2
    assert torch.allclose(products[1] - products[0], torch.full((2, 2), expected, dtype=torch.float64), rtol=0.02)


def test_unseen_combinations_are_the_upper_quarter():
    seen, unseen = later_supports.lattice(24)
    assert len(unseen) == 144 and len(seen) == 24**2 - 144
    assert (unseen > 0.5).all() and not (seen > 0.5).all(1).any()
