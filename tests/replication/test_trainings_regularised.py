"""What regularisation does to a VAE: each measure against known posteriors, decodings and distances."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import norm

from course_lib.data import XYSquares
from course_lib.distances import ground_truth_distance
from course_lib.frameworks import BetaVAE
from course_lib.models import DiagonalGaussian, mlp_vae
from course_replication import load_claims
from course_replication.comparisons import renamed
from course_replication.measurements import regularised, trained_scores
from course_replication.plans import deviations_of, metrics_of, parts_of

DATA = XYSquares(1, 2, squares=2, image_size=16)
ALL = torch.arange(len(DATA))
CLAIM = next(claim for claim in load_claims() if claim.id == "distances/figure-3.1")


@pytest.fixture
def tiny(monkeypatch):
    """Settings of a training of a few steps, scored on few samples."""
    monkeypatch.setattr(trained_scores, "TRAVERSALS", 20)
    monkeypatch.setattr(regularised, "PAIRS", 400)
    return parts_of(CLAIM, "small")[0].settings | {"steps": 3, "batch_size": 16}


def test_the_coefficient_is_the_integral():
    axis = np.linspace(-30, 30, 200_001)
    cases = [(0.0, 1.0, 0.0, 1.0), (0.0, 0.3, 1.0, 0.5), (-1.0, 2.0, 2.5, 0.2)]
    by_integral = [
        (np.sqrt(norm.pdf(axis, a, s) * norm.pdf(axis, b, t)).sum() * (axis[1] - axis[0])) for a, s, b, t in cases
    ]
    first, second = (
        DiagonalGaussian(torch.tensor(means)[None], 2 * torch.tensor(deviations).log()[None])
        for means, deviations in (zip(*[case[part : part + 2] for case in cases], strict=True) for part in (0, 2))
    )
    assert regularised.bhattacharyya(first, second).item() == pytest.approx(math.prod(by_integral), rel=1e-5)
    assert regularised.bhattacharyya(first, first).item() == pytest.approx(1)


def test_mistakes_of_known_decodings():
    images = torch.eye(6).view(6, 1, 2, 3)
    assert regularised.mistakes(images, images) == 0
    assert regularised.mistakes(images.roll(1, 0), images) == 1
    assert regularised.mistakes(0.6 * images + 0.4 * images.roll(1, 0), images) == 0
    twice = torch.cat([images, images])
    assert regularised.mistakes(twice.roll(6, 0), twice) == 0, "of two equal images either is right"


def test_neighbours_are_one_step_apart_along_the_factor():
    for place, factor in enumerate(DATA.space.names):
        first, second = regularised.neighbours(DATA, factor, torch.Generator().manual_seed(0))
        steps = (DATA.space.factors(first) - DATA.space.factors(second)).abs()
        assert len(first) > 1000 and (steps == (torch.arange(4) == place)).all()


def test_matrices_of_distances_agree_with_themselves_and_not_with_their_opposite():
    truth = ground_truth_distance(DATA.space)
    agreement = {
        name: trained_scores.matrix_agreement(truth, distance, DATA, 0)
        for name, distance in {
            "same": lambda a, b: 3 * truth(a, b) ** 2,
            "opposite": lambda a, b: 50 - truth(a, b),
            "equal": lambda a, b: torch.ones(len(a), dtype=torch.float64),
        }.items()
    }
    assert agreement == pytest.approx({"same": 1, "opposite": -1, "equal": 0})


def test_controls_are_the_network_before_its_training(context, tiny):
    still, trained = (regularised.overlap(context, **tiny | {"steps": steps}) for steps in (0, 3))
    control = {name.removeprefix("control/untrained/"): value for name, value in trained.items() if "control" in name}
    assert control == {name: still[name] for name in control} and trained["data-rank"] != control["data-rank"]
    assert control["overlap"] > 0.5 and control["mistakes"] > 0.9


def test_sharp_codes_overlap_less_and_are_mistaken_less(monkeypatch):
    framework = BetaVAE(mlp_vae(DATA, 4, hidden=(8,)), reconstruction="mse")
    factors = DATA.space.factors(ALL).float()
    found = {}
    for deviation in (0.05, 2.0):
        posterior = DiagonalGaussian(factors, torch.full_like(factors, 2 * math.log(deviation)))
        monkeypatch.setattr(framework, "posterior", lambda images, posterior=posterior: posterior)
        monkeypatch.setattr(framework.model, "decode", _drawn)
        found[deviation] = regularised._measured(framework, DATA, 0)
    assert found[0.05]["overlap"] < 1e-6 and found[0.05]["mistakes"] == 0
    assert found[2.0]["overlap"] == pytest.approx(math.exp(-1 / 32), rel=1e-3) and found[2.0]["mistakes"] > 0.9


def _drawn(latents):
    """The standardised images of the factors nearest to the latents."""
    places = latents.round().long().clamp(0, 7)
    return DATA.observations(DATA.space.index(places))


def test_the_plan_measures_what_the_claim_asks_for_and_says_what_is_smaller(context, tiny):
    found, parts = regularised.overlap(context, **tiny), parts_of(CLAIM, "small")
    assert {*metrics_of(CLAIM)} <= {renamed(part.name, name) for part in parts for name in found}
    betas = [part.settings["beta"] for part in parts]
    assert betas[0] > 100 * betas[1] and len({part.run(0).id for part in parts}) == 2
    assert all((part.scale, part.seeds) == ("small", 5) for part in parts)
    assert len({note for part in parts for note in deviations_of(CLAIM, part)}) == 6
    assert {part.settings["spacing"] for part in parts} == {1}
