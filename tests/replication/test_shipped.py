"""The trained models that come with the course are what their cards say."""

import pytest
import torch

import shipped_models
from course_lib import frameworks
from course_replication import shipped_data, shipped_model, shipped_model_card
from course_replication.shipped import MODELS, recipes

STORED = sorted(path.stem for path in MODELS.glob("*.safetensors"))


def test_every_stored_model_has_a_recipe_and_takes_little_room():
    assert set(STORED) <= set(recipes()) and len(STORED) >= 2
    assert all(path.stat().st_size < 1.6e6 for path in MODELS.iterdir())


@pytest.mark.parametrize("name", STORED)
def test_the_card_tells_where_the_model_comes_from(name):
    card = shipped_model_card(name)
    assert len(card["provenance"]["commit"]) == 40 and card["provenance"]["versions"]["torch"]
    assert card["name"] == name and card["steps"] == recipes()[name]["steps"]


@pytest.mark.parametrize("name", STORED)
def test_its_scores_come_out_again(name):
    stored = shipped_model_card(name)["provenance"]
    framework, data = shipped_model(name), shipped_data(name)
    assert isinstance(framework, getattr(frameworks, recipes()[name]["framework"])) and not framework.training
    found = shipped_models.scores(framework, data, recipes()[name])
    assert found["left"] == pytest.approx(stored["scores"]["left"], abs=0.005)
    assert found["mig"] == pytest.approx(stored["scores"]["mig"], abs=0.02)
    assert found["left"] < 0.5 < stored["untrained"]["left"]


@pytest.mark.parametrize("name", STORED)
def test_weights_are_half_precision_and_finite(name):
    weights = shipped_model(name).state_dict()
    assert weights["model.dataset_size"] == len(shipped_data(name))
    for weight in weights.values():
        if weight.is_floating_point():
            assert torch.equal(weight, weight.half().float()) and weight.isfinite().all()


def test_unknown_and_untrained_models_are_named():
    for ask in (shipped_model, shipped_model_card, shipped_data):
        with pytest.raises(ValueError, match="name: got 'heart'; expected one of shapes3d-entangled"):
            ask("heart")


def test_a_recipe_without_weights_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr("course_replication.shipped.MODELS", tmp_path)
    with pytest.raises(ValueError, match=r"no weights yet: python tools/shipped_models\.py shapes3d-entangled"):
        shipped_model("shapes3d-entangled")
