"""Groups of networks that see pairs: one direction of the divergence, groups that start alike, spreads, controls."""

import json
from dataclasses import replace
from statistics import fmean, stdev

import pytest
import torch

from course_lib.data import DSpritesImageNet, XYSquares
from course_lib.losses import shared_latents
from course_lib.models import DiagonalGaussian, mlp_vae
from course_lib.training import fit, fit_many
from course_replication import load_claims
from course_replication.measurements import training, weak_supervision
from course_replication.measurements.few_sprites import KEPT, FewSprites, FewSpritesImageNet
from course_replication.measurements.weak_supervision import OneDirectionAdaGVAE
from course_replication.plans import metrics_of, parts_of

SMALL = {"data": "XYSquares", "spacing": 1, "square_size": 2, "squares": 1, "image_size": 10}
TINY = SMALL | {
    "networks": 3, "network": "mlp", "hidden": [8], "latents": 2, "reconstruction": "mse", "reduction": "mean",
    "beta": 0.1, "steps": 3, "batch_size": 8, "learning_rate": 0.01, "log_every": 3,
}  # fmt: skip
METHODS = {"beta-vae": {"framework": "BetaVAE"}, "ada-gvae": {"framework": "AdaGVAE", "batch_size": 4}}


def test_one_direction_is_that_of_torch_and_depends_on_the_order():
    draws = torch.Generator().manual_seed(0)
    mean, log_variance = torch.randn(2, 2, 200, 4, generator=draws)
    first, second = map(DiagonalGaussian, mean, log_variance)
    framework = OneDirectionAdaGVAE(mlp_vae(XYSquares(1, 2, squares=1, image_size=10), 4, hidden=()))
    normal = [torch.distributions.Normal(each.mean, each.std) for each in (first, second)]
    expected = shared_latents(torch.distributions.kl_divergence(*normal))
    assert torch.equal(framework.shared(first, second), expected)
    assert not torch.equal(framework.shared(second, first), expected)


@pytest.mark.filterwarnings("ignore:.*samples are too few")
def test_a_group_is_summed_up_and_starts_alike(context, monkeypatch):
    seen, real = [], weak_supervision.metrics.mig

    def counted(*given, **named):
        seen.append(real(*given, **named))
        return seen[-1]

    monkeypatch.setattr(weak_supervision.metrics, "mig", counted)
    found = weak_supervision.compared(context, methods=METHODS, **TINY)
    values = [float(each) for each in seen]
    assert found["control/untrained/mig/beta-vae"] == pytest.approx(fmean(values[:3]))
    assert found["mig/beta-vae"] == pytest.approx(fmean(values[3:6]))
    assert found["mig-spread/beta-vae"] == pytest.approx(stdev(values[3:6]))
    assert found["control/shuffled/mig/beta-vae"] == pytest.approx(fmean(values[6:9]))
    for name in ("mig", "mig-spread", "left"):
        assert found[f"control/untrained/{name}/beta-vae"] == found[f"control/untrained/{name}/ada-gvae"]
    assert found["left/beta-vae"] != found["left/ada-gvae"]


def test_reconstructions_get_better_with_training(context):
    found = weak_supervision.compared(context, methods=METHODS, **TINY | {"steps": 300, "networks": 2, "beta": 0.001})
    assert found["left/beta-vae"] < 0.9 < found["control/untrained/left/beta-vae"]


@pytest.mark.parametrize("network", ["mlp", "conv"])
def test_a_stopped_group_goes_on_from_its_checkpoints_to_the_bit(context, monkeypatch, tmp_path, network):
    """Stopped in the second training (of a group that is trained at once: after its checkpoint)."""
    settings = TINY | {"networks": 2, "network": network, "steps": 4, "log_every": 1, "image_size": 16, "spacing": 2}
    settings |= {"methods": {"ada-gvae": METHODS["ada-gvae"]}} | ({"hidden": []} if network == "conv" else {})
    whole = weak_supervision.compared(replace(context, scratch=tmp_path / "whole"), **settings)
    steps, stopped = [], []

    def killed(real):
        def fitted(*given, callbacks=(), **named):
            def count(framework, step):
                steps.append(step)
                if not stopped and len(steps) == 7:
                    stopped.append(step)
                    raise KeyboardInterrupt

            return real(*given, callbacks=[*callbacks, count], **named)

        return fitted

    for module in (training, weak_supervision):
        monkeypatch.setattr(module, "CHECKPOINT_EVERY", 2)
    monkeypatch.setattr(training, "fit", killed(fit))
    monkeypatch.setattr(weak_supervision, "fit_many", killed(fit_many))
    with pytest.raises(KeyboardInterrupt):
        weak_supervision.compared(context, **settings)
    assert json.dumps(weak_supervision.compared(context, **settings)) == json.dumps(whole)
    # two networks at each step, or the first one's four steps and then three of the second's
    expected = [1, 1, 2, 2, 3, 3, 4, 3, 3, 4, 4] if network == "mlp" else [1, 2, 3, 4, 1, 2, 3, 3, 4]
    assert steps == expected, "they went on after the checkpoint of step 2"


@pytest.mark.parametrize("name", ["distances/section-2.3.3-ada", "distances/section-a.2.2"])
def test_the_plans_measure_what_the_claims_ask_for(name):
    (claim,) = (claim for claim in load_claims() if claim.id == name)
    for scale in ("small", "full"):
        (part,) = parts_of(claim, scale)
        assert {each.split("/")[1] for each in metrics_of(claim)} <= {*part.settings["methods"]}
        assert all(each["framework"] in weak_supervision.FRAMEWORKS for each in part.settings["methods"].values())


def test_photographs_of_few_sprites_are_those_of_the_library():
    """Behind the sprite or in its place, as in DSpritesImageNet; at visibility 0 nothing but the sprites."""
    plain, index = FewSprites(), torch.arange(0, 2304, 7)
    sprite = plain.images(index).double() / 255
    for place in ("background", "foreground"):
        assert torch.equal(FewSpritesImageNet(place, 0).images(index), plain.images(index))
        seen = FewSpritesImageNet(place, 100).images(index).double() / 255
        white, black = seen[sprite == 1], seen[sprite == 0]
        same, other = (white, black) if place == "background" else (black, white)
        assert same.unique().tolist() == [float(place == "background")] and other.std() > 0.1
    photo = DSpritesImageNet("background", 1.0)
    full = photo.images(photo.space.index(torch.cartesian_prod(*map(torch.tensor, KEPT))[:5])).float()
    greys = full.unflatten(3, (16, 4)).unflatten(2, (16, 4)).mean((1, 3, 5))
    ours = FewSpritesImageNet("background", 100).images(torch.arange(5))[:, 0].float()
    torch.testing.assert_close(ours, greys, atol=1.01, rtol=0)
