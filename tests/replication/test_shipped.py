"""The trained models that come with the course are what their cards say."""

import pytest
import torch

import shipped_models
from course_lib import frameworks
from course_lib.data import DSprites
from course_lib.storage import write_tensors
from course_replication import Store, shipped_data, shipped_model, shipped_model_card
from course_replication.shipped import MODELS, recipes
from course_replication.subgrid import Subgrid

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
    if "told" in stored["scores"]:
        assert found["told"] == pytest.approx(stored["scores"]["told"], abs=0.02)
        assert min(found["told"]) >= 0.9 > max(stored["untrained"]["told"])  # the recipe's rule


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


KEEPS = {"scale": [5, 1], "position_x": [3, 9, 27]}


def test_a_subgrid_has_the_images_of_the_whole():
    full = DSprites()
    subgrid = Subgrid(full, KEEPS)
    assert subgrid.space.sizes == (3, 2, 40, 3, 32) and len(subgrid) == 23_040
    here = subgrid.space.index([[2, 0, 7, 1, 30], [1, 1, 39, 2, 0]])
    there = full.space.index([[2, 5, 7, 9, 30], [1, 1, 39, 27, 0]])
    assert torch.equal(subgrid.images(here), full.images(there)) and torch.equal(subgrid.in_full(here), there)
    small = Subgrid(full, {"orientation": [0], "position_x": [15], "position_y": [15]})
    pixels = small.images(torch.arange(18)).double() / 255
    assert small.mean == pytest.approx((pixels.mean().item(),))
    assert small.std == pytest.approx((pixels.flatten(1).std(1).mean().item(),))


@pytest.mark.parametrize(
    ("keeps", "message"),
    [
        ({"size": [0]}, "keeps: got the factor 'size'; allowed are shape, scale"),
        ({"scale": []}, r"keeps: got \[\] for scale; allowed are different values from 0 to 5"),
        ({"scale": [1, 1]}, r"keeps: got \[1, 1\] for scale"),
        ({"shape": [0, 3]}, r"keeps: got \[0, 3\] for shape; allowed are different values from 0 to 2"),
    ],
)
def test_a_subgrid_that_cannot_be_is_named(keeps, message):
    with pytest.raises(ValueError, match=message):
        Subgrid(DSprites(), keeps)


def test_a_shape_is_told_when_it_comes_back_clearly():
    data = Subgrid(DSprites(), {"scale": [5], "position_x": [15], "position_y": [15]})
    index = torch.arange(0, 120, 3)  # 14 squares, 13 ellipses, 13 hearts
    images, shape = data.images(index) / 255, data.space.factors(index)[:, 0]

    def ask(decoded):
        return shipped_models.told(decoded, data, index, "shape", "orientation")

    assert ask(images) == [1, 1, 1]
    assert ask(images.roll(1, 0))[2] == pytest.approx(12 / 13, abs=1e-4)  # turned by another angle it is still a heart
    disc = data.images(torch.arange(40, 80)).float().mean(0, keepdim=True) / 255  # an ellipse at all angles at once
    assert ask(disc.expand_as(images)) == [0, 0, 0]
    others = images.clone()
    others[shape == 2] = data.images(index[shape == 2] - 80) / 255
    assert ask(others) == [1, 1, 0]


BY_RUN = sorted(name for name, recipe in recipes().items() if "run" in recipe)


@pytest.mark.parametrize("name", BY_RUN)
def test_a_model_of_a_run_says_what_its_run_says(name):
    card = shipped_model_card(name)
    run = Store().results("full")[card["run"]]
    assert card["provenance"] | {key: run[key] for key in ("commit", "device", "versions")} == card["provenance"]
    batch = 32 if "Triplet" in card["framework"] else 64
    assert (card["seed"], card["steps"], card["batch_size"]) == (run["seed"], 11_520, batch)
    of_triplets = {"margin", "sampler"} if "Triplet" in card["framework"] else set()
    assert {"beta", *of_triplets} <= card["settings"].keys() and card["settings"]["spacing"] == 8
    # weights in half precision leave and know what those of the run did; the card has what pictures leave, which are
    # cut off at black and white, and the run what the decoder leaves
    framework, data = shipped_model(name), shipped_data(name)
    index = torch.randint(len(data), (2_000,), generator=torch.Generator().manual_seed(0))
    observed = framework.standardise(data.images(index))
    with torch.no_grad():
        parts = [framework.model.decode(framework.posterior(part).mean) for part in observed.split(250)]
    left = float((torch.cat(parts) - observed).square().mean() / (observed - observed.mean(0)).square().mean())
    assert left == pytest.approx(run["metrics"]["left"], abs=0.01)
    assert left - 0.02 < card["provenance"]["scores"]["left"] <= left
    assert card["provenance"]["scores"]["mig"] == pytest.approx(run["metrics"]["mig"], abs=0.03)


def test_weights_that_are_not_those_of_the_run_are_refused(monkeypatch, tmp_path):
    name, place = BY_RUN[0], tmp_path / "checkpoint.safetensors"
    recipe, data = recipes()[name], shipped_data(name)
    with pytest.raises(SystemExit, match="name its last checkpoint with --weights"):
        shipped_models.restore(recipe, data, None)
    untrained = shipped_models.untrained(recipe, data)
    write_tensors(place, untrained.state_dict(), {"steps": 10_000})
    with pytest.raises(SystemExit, match="holds 10000 steps of 11520"):
        shipped_models.restore(recipe, data, place)
    write_tensors(place, untrained.state_dict(), {"steps": 11_520})
    noted = Store().results()[recipe["run"]]["metrics"]
    for factor, refused in ((1 + 1e-8, False), (1 + 1e-5, True)):
        scores = {"left": noted["left"] * factor}
        monkeypatch.setattr(shipped_models, "sampled_model_scores", lambda *ignored, scores=scores: scores)
        if refused:
            with pytest.raises(
                SystemExit, match=f"is not what {recipe['run']} left: found and stored differ in .'left'"
            ):
                shipped_models.restore(recipe, data, place)
        else:
            assert isinstance(shipped_models.restore(recipe, data, place), getattr(frameworks, recipe["framework"]))
