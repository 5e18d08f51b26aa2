"""Trainings at the paper's size, with a few steps on a CPU: all scores, resumed to the bit, kept in half precision."""

import json
import math
from dataclasses import replace

import pytest
import torch

from course_lib.data import DSprites, XYSquares
from course_lib.distances import perceived_distance
from course_lib.frameworks import AdaTripletVAE
from course_lib.metrics import Encodings
from course_lib.models import conv_vae
from course_lib.training import fit
from course_replication import Run, Store
from course_replication.arms import arm_named
from course_replication.measurements import combined, largest_beta, perceived_ranks, trained_scores, training
from course_replication.runs import attempt

TINY = {"steps": 3, "batch_size": 4, "log_every": 1}
pytestmark = pytest.mark.filterwarnings("ignore:.*samples are too few", "ignore:An input array is constant")


def arm(*names, **changes):
    return arm_named("full", names).settings | changes


@pytest.fixture(autouse=True)
def cheap_scores(made_cheap, monkeypatch):
    made_cheap(monkeypatch)


# ---- a training


@pytest.mark.parametrize(
    "settings",
    [arm("ada-tvae", watch_every=2), arm("vae", "scored", "weak-pairs", data="XYObject", beta=0.0001, dci=12)],
)
def test_every_score_is_finite_and_has_its_controls(context, settings):
    found = training.scores(context, **settings | TINY)
    assert all(math.isfinite(value) for value in found.values())
    names = {"rank", "rank-distinct", "rank-global", "data-rank", "linearity", "axis-alignment", "mig"}
    of_model = {"reconstruction", "left", "kl", "active-latents", "matrix-rank/reconstructions"}
    asked = names | of_model | {f"control/untrained/{name}" for name in names | of_model}
    asked |= {f"control/shuffled/{name}" for name in names} | {"matrix-rank/means", "latent-distance-variation"}
    asked |= {"axis-alignment-peak", "steps-to-aligned", "shared-share"} if "schedule" in settings else {"dci"}
    assert asked <= {*found}


def test_a_training_goes_on_from_its_checkpoint(context, monkeypatch, tmp_path):
    settings = arm("ada-tvae", watch_every=2) | TINY
    whole = training.scores(replace(context, scratch=tmp_path / "whole"), **settings)
    monkeypatch.setattr(training, "CHECKPOINT_EVERY", 2)
    steps = []

    def killed(*arguments, callbacks, **others):
        def count(framework, step):
            steps.append(step)
            if steps == [1, 2, 3]:
                raise KeyboardInterrupt

        return fit(*arguments, callbacks=[*callbacks, count], **others)

    monkeypatch.setattr(training, "fit", killed)
    with pytest.raises(KeyboardInterrupt):
        training.scores(context, **settings)
    resumed = training.scores(context, **settings)
    assert steps == [1, 2, 3, 3], "it went on after the checkpoint of step 2"
    assert json.dumps(whole) == json.dumps(resumed)


def test_an_interrupted_sweep_goes_on_from_the_trainings_that_it_finished(context, monkeypatch):
    """Their scores too, to the bit; a kill while they are written leaves nothing of them."""
    trained, settings = [], {"frameworks": ["BetaVAE", "AdaGVAE"], "betas": [0.001, 0.01], "data": "XYSquares"}

    def third_is_killed(_, checkpoint, each):
        trained.append((each["framework"], each["beta"]))
        if len(trained) == 3:
            checkpoint.with_suffix(".partial").write_text("{")
            raise KeyboardInterrupt
        return {"mig": each["beta"] / 3, "left": 1.0}

    monkeypatch.setattr(training, "_train_and_score", third_is_killed)
    with pytest.raises(KeyboardInterrupt):
        combined.sweep(context, **settings)
    resumed = combined.sweep(context, **settings)
    every = [(kind, beta) for kind in settings["frameworks"] for beta in settings["betas"]]
    assert trained == every[:3] + every[2:], "the third again, and then the last"
    assert resumed["mig/xysquares/beta-vae/beta-0.001"] == 0.001 / 3
    combined.sweep(replace(context, seed=1), **settings)
    assert len(trained) == 9, "nothing is taken from another seed"


def test_each_kind_of_device_has_a_checkpoint_of_its_own(context, monkeypatch):
    """`fit` refuses one of another kind, and a run that was begun on a CPU may go on where there is a GPU."""
    paths = []
    monkeypatch.setattr(training, "_train_and_score", lambda _, path, settings: {"mig": paths.append(path) or 0.0})
    for device in ("cpu", "cuda", "cpu"):
        training.scores(replace(context, device=torch.device(device)), a=1)
    assert len(paths) == 2 and paths[0] != paths[1], "the third is the first's, kept"


def test_what_is_stored_is_not_trained_again(context, monkeypatch):
    settings = arm("beta-vae") | TINY
    stored = {Run("training.scores", settings, 0, "full").id: {"metrics": {"rank": 0.5}}}
    monkeypatch.setattr(training, "fit", None)
    known = replace(context, known=stored)
    assert training.scores(known, **settings) == {"rank": 0.5}
    assert combined.ranges(known, [settings, settings]) == {"rank-gap": 0}
    with pytest.raises(TypeError):
        training.scores(replace(known, seed=1), **settings)


def test_a_result_is_stored_with_what_combines_it(context, store, monkeypatch):
    """Through the store: the second run finds the first one's training there."""
    settings = arm("beta-vae") | TINY
    monkeypatch.setattr(training, "_train_and_score", lambda *_: {"rank": 0.25})
    assert attempt(store, Run("training.scores", settings, scale="full"))
    monkeypatch.setattr(training, "_train_and_score", None)
    run = Run("combined.means", {"trainings": [settings]}, scale="full")
    assert attempt(store, run) and Store(store.path).results()[run.id]["metrics"] == {"rank": 0.25}


# ---- what scores rest on


def test_images_are_drawn_on_one_device_by_an_instance_of_its_own(monkeypatch):
    data = training.DrawnOn(XYSquares(), torch.device("cpu"))
    index = torch.arange(5) * 1000
    assert torch.equal(data.images(index), XYSquares().images(index)) and repr(data) == repr(XYSquares())
    assert torch.equal(perceived_distance(data)(index, index + 1), perceived_distance(XYSquares())(index, index + 1))
    assert data.space == XYSquares().space and data.mean == XYSquares().mean
    monkeypatch.setattr(XYSquares, "render", lambda self, index: index)
    moved = training.DrawnOn(XYSquares(), torch.device("meta"))
    assert moved.render(index).device.type == "meta", "wherever the index is"


def test_no_dataset_is_scored_that_a_step_was_captured_with(context, monkeypatch):
    drawn, fitted = [], []

    class Noted(training.DrawnOn):
        def __init__(self, data, device):
            drawn.append(data)
            super().__init__(data, device)

    def noting(framework, data, **others):
        fitted.append(data)
        return fit(framework, data, **others)

    monkeypatch.setattr(training, "DrawnOn", Noted)
    monkeypatch.setattr(training, "fit", noting)
    training.scores(context, **arm("beta-vae") | TINY)
    assert drawn and len(fitted) == 1 and not isinstance(fitted[0], training.DrawnOn)


def test_datasets_by_name():
    assert training.dataset("XYSquares", spacing=3).options["spacing"] == 3
    assert isinstance(training.dataset("DSprites"), DSprites)
    faded = training.dataset("DSpritesImageNet", place="foreground", visibility=25)
    assert (faded.options["kind"], faded.options["visibility"]) == ("foreground", 0.25)
    with pytest.raises(TypeError, match="spacing"):
        training.dataset("DSprites", spacing=8)


def test_a_sample_agrees_with_all_images(monkeypatch):
    """On a grid that is small enough for both: of all its images, the sampled scores are those of all."""
    data = XYSquares(2, 2, squares=2, image_size=16)
    framework = AdaTripletVAE(conv_vae(data, 4, seed=1))
    monkeypatch.setattr(trained_scores, "IMAGES", len(data))
    monkeypatch.setattr(trained_scores, "BATCH", 1000)
    table = Encodings(framework.encode, data)
    sampled = trained_scores.sampled_model_scores(framework, table, 3)
    every = trained_scores.model_scores(framework, data, 3)
    assert {name: sampled[name] for name in every} == pytest.approx(every, rel=1e-4, abs=1e-6)
    images = data.observations(torch.arange(len(data)))
    variance = (images - images.mean(0)).square().mean()
    assert sampled["left"] == pytest.approx(float(sampled["reconstruction"] / variance), rel=1e-4)


def test_exchanged_representations():
    data = XYSquares()
    table = Encodings(lambda images: images.float().mean((2, 3)), data)
    places = torch.randperm(len(data), generator=torch.Generator().manual_seed(0))
    index = torch.tensor([[3, 70_000], [5, 3]])
    shuffled = training.Exchanged(table, places)
    assert torch.equal(shuffled(index), table(places[index])) and len(shuffled) == len(data)
    with pytest.raises(ValueError, match="index"):
        shuffled(torch.tensor([len(data)]))


def test_the_learnt_kernel_is_the_stored_one():
    data, settings = XYSquares(), arm("beta-vae", "learnt")
    own = {
        name: value
        for name, value in settings.items()
        if name not in (*training.OF_FIT, *training.OF_DATA, "dci", "watch_every")
    }
    framework = training.framework_of(data, 0, **own)
    assert framework.reconstruction == "kernel" and framework.likelihood.kernel.shape == (63, 63)
    with pytest.raises(ValueError, match="kernel: got 'another'"):
        training.framework_of(data, 0, **own | {"kernel": "another"})


# ---- several trainings


def trainings(monkeypatch, values):
    """Instead of a training: `values(settings)`."""
    fake = lambda context, **settings: values(settings)  # noqa: E731
    monkeypatch.setattr(combined, "scores", fake)


def test_a_sweep_by_hand(context, monkeypatch):
    def values(settings):
        weak = settings["framework"] == "AdaGVAE"
        mig = {0.001: 0.2, 0.01: 0.6, 0.1: 0.1}[settings["beta"]] + (0.1 if weak else 0)
        left = settings["beta"] * (50 if weak else 40)
        return {"mig": mig, "left": left, "other": 1.0, "control/untrained/mig": 0.05}

    trainings(monkeypatch, values)
    settings = {"frameworks": ["BetaVAE", "AdaGVAE"], "betas": [0.001, 0.01, 0.1], "data": "DSprites"}
    found = combined.sweep(context, **settings)
    assert found["mig/dsprites/beta-vae"] == pytest.approx(0.3) and found["mig-max/dsprites/beta-vae"] == 0.6
    assert found["mig/dsprites/ada-gvae/beta-0.1"] == pytest.approx(0.2)
    assert found["mig-max/dsprites"] == pytest.approx(0.7) and found["mig/dsprites"] == pytest.approx(0.35)
    assert found["mig-gap/dsprites"] == pytest.approx(0.1)
    assert found["control/untrained/mig-max/dsprites/ada-gvae"] == 0.05
    assert found["beta-best/dsprites"] == 0.001, "the Ada-GVAE leaves half with 0.01"
    assert not any("other" in name for name in found)


@pytest.mark.parametrize(("factor", "best", "tried"), [(40, 0.01, 2), (400, 0.001, 3), (4, 0.1, 1), (1e4, 0.0, 3)])
def test_the_largest_beta_by_hand(context, monkeypatch, factor, best, tried):
    monkeypatch.setattr(largest_beta, "train", lambda *given, **options: None)
    monkeypatch.setattr(largest_beta, "left_over", lambda framework, data, seed: factor * framework.beta)
    settings = {name: value for name, value in arm("largest-beta").items() if name != "betas"}
    found = largest_beta.scan(context, betas=[0.001, 0.01, 0.1], **settings)
    assert found["beta-best"] == best and len([name for name in found if name.startswith("left/")]) == tried


def test_slopes_are_over_sides_of_eight_pixels(context, monkeypatch):
    trainings(monkeypatch, lambda each: {"mig": each["spacing"]})
    every = [{"data": "XYSquares", "spacing": spacing} for spacing in (8, 4, 1)]
    assert combined.slopes(context, every)["mig-slope"] == pytest.approx(8)


def test_perceived_ranks_are_those_of_the_tables(context):
    found = perceived_ranks.by_geometric_mean(context, num_pairs=500, loss="mse", data="XYSquares", spacing=8)
    assert found["perceived-rank"] == pytest.approx(0.58, abs=0.04)  # Table 4.2
