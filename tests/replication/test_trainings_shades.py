"""One set of images under two sets of factors: which trainings there are, and scores of known representations."""

from dataclasses import replace

import pytest
import torch

from course_lib.data import XYObject, XYObjectShades
from course_lib.frameworks import AdaGVAE, BetaVAE
from course_lib.metrics import Encodings
from course_lib.models import mlp_vae
from course_lib.training import fit
from course_replication import load_claims
from course_replication.comparisons import renamed
from course_replication.measurements import shades
from course_replication.plans import deviations_of, metrics_of, parts_of

CLAIM = next(claim for claim in load_claims() if claim.id == "distances/figure-7.3")
SMALL = {"image_size": 8, "positions": 3, "spacing": 1, "sizes": [2, 4]}
SETS = {name: kind(**SMALL) for name, kind in shades.SETS.items()}
TINY = SMALL | {"steps": 3, "batch_size": 16}


@pytest.fixture(autouse=True)
def no_trees(monkeypatch):
    """DCI takes longest, and `trained_scores` has its tests."""
    monkeypatch.setattr(shades, "dci_score", lambda table, seed, points: {"dci": float(points)} if points else {})
    shades._untrained.cache_clear()
    yield
    shades._untrained.cache_clear()


def settings(framework):
    (part,) = (part for part in parts_of(CLAIM, "small") if part.settings["framework"] == framework)
    return part.settings | TINY


@pytest.mark.parametrize(("kind", "same"), [(BetaVAE, True), (AdaGVAE, False)])
def test_one_training_serves_both_sets_if_no_factor_is_seen(kind, same):
    weights = []
    for data in (XYObject(**SMALL), XYObjectShades(**SMALL)):
        framework = kind(mlp_vae(data, 3, hidden=(8,)), reduction="mean")
        fit(framework, data, steps=3, batch_size=16, seed=1, device="cpu")
        weights.append(torch.cat([weight.flatten() for weight in framework.parameters()]))
    assert torch.equal(*weights) == same


@pytest.mark.parametrize(("framework", "trainings"), [("BetaVAE", ["xyobject"]), ("AdaGVAE", ["xyobject", "shades"])])
def test_trainings_scores_and_controls(context, monkeypatch, framework, trainings):
    seen, right = [], shades.train
    monkeypatch.setattr(shades, "train", lambda *given: seen.append(given[3].stem) or right(*given))
    found = shades.training(context, **settings(framework))
    assert seen == trainings
    label = shades.METHODS[framework]
    names = {f"{score}/{label}/{name}" for score in ("mig", "dci") for name in shades.SETS}
    left = {f"left/{label}/{name}" for name in shades.SETS}
    shuffled = {f"control/shuffled/mig/{label}/{name}" for name in shades.SETS}
    assert found.keys() == names | left | shuffled | {f"control/untrained/{name}" for name in names}
    assert (found[f"left/{label}/shades"] == found[f"left/{label}/xyobject"]) == (framework == "BetaVAE")
    assert shades.training(context, **settings(framework)) == found


def test_controls_are_the_network_before_its_training(context):
    still = shades.training(context, **settings("AdaGVAE") | {"steps": 0})
    for name in ("mig/ada-gvae/xyobject", "mig/ada-gvae/shades"):
        assert still[name] == still[f"control/untrained/{name}"]
    assert still["mig/ada-gvae/xyobject"] != still["mig/ada-gvae/shades"]


def test_the_colours_two_factors_score_by_their_own_set_and_mixed_places_by_none():
    everything = torch.arange(len(SETS["shades"]))
    factors = SETS["shades"].space.factors(everything).double()
    tables = {name: Encodings.from_table(factors, data) for name, data in SETS.items()}
    scores = {name: shades._scores(table, 0, 0)["mig"] for name, table in tables.items()}
    assert scores["shades"] > 0.95 and scores["xyobject"] < 0.9
    places = torch.randperm(len(everything), generator=torch.Generator().manual_seed(0))
    mixed = shades._scores(Encodings.from_table(factors[places], SETS["shades"]), 0, 0)
    assert mixed["mig"] < 0.1


def test_the_plan_measures_what_the_claim_asks_for_and_says_what_is_smaller(context):
    parts, found = parts_of(CLAIM, "small"), []
    for part in parts:
        apart = replace(context, scratch=context.scratch / part.settings["framework"])
        found.append({renamed(part.name, name) for name in shades.training(apart, **part.settings | TINY)})
    assert {*metrics_of(CLAIM)} <= set().union(*found) and all({*metrics_of(CLAIM)} & each for each in found)
    for part in parts:
        assert (part.scale, part.seeds) == ("small", 5) and any(
            "XYObject of 16×16" in note for note in deviations_of(CLAIM, part)
        )
        data = XYObject(**{name: part.settings[name] for name in shades.OPTIONS})
        assert data.shape == (3, 16, 16) and len(data) == 4608
        assert part.settings["dci"] >= 100 * max(data.space.sizes), "as many points as DCI asks for"
