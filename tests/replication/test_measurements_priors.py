"""Groups of models that differ in their prior: what is read off their tables, and one run of few steps."""

import json
from dataclasses import replace

import numpy as np
import pandas
import pytest
import torch

from course_lib.data import XYSquares
from course_lib.frameworks import ISATCVAE, ISAVAE, Step
from course_lib.models import mlp_vae
from course_replication import Context, Store, best_verdict, load_claims
from course_replication.measurements import prior_trainings
from course_replication.plans import metrics_of, parts_of

CLAIMS = ("isa/figure-5a", "isa/figure-5b", "isa/figure-16", "isa/section-4-layout", "isa/appendix-a.5")
LEARNT = next(claim for claim in load_claims() if claim.id == "isa/figure-6")
PLANNED = {claim.id: claim for claim in load_claims() if claim.id in CLAIMS}


def table(**columns):
    """Rows of two methods at two β, two models each, whose mean errors and scores are given."""
    rows = [
        {"method": method, "beta": beta, "place": place, "mig": score + (place - 0.5) / 50, "reconstruction": error}
        | {"reconstruction/heart": error / 2, "left": 0.1, "active-latents": 3 + place}
        for method, points in columns.items()
        for beta, (error, score) in zip(("beta-1", "beta-high"), points, strict=True)
        for place in (0, 1, 0, 1)
    ]
    return pandas.DataFrame(rows)


def test_scores_are_compared_where_both_have_errors():
    found = prior_trainings.equal_errors(table(first=[(10, 0.1), (20, 0.3)], second=[(12, 0.2), (16, 0.2)]))
    assert found["inside"] and found["mig-at-equal-reconstruction/second"] == pytest.approx(0.2)
    assert found["mig-at-equal-reconstruction/first"] == pytest.approx(0.18), "at 14, the middle of 12 and 16"
    assert not prior_trainings.equal_errors(table(first=[(1, 0.1), (2, 0.3)], second=[(3, 0.2), (4, 0.2)]))["inside"]


def test_what_is_found_of_a_group():
    found = prior_trainings.findings(table(first=[(10, 0.1), (20, 0.3)], second=[(12, 0.2), (16, 0.2)]))
    assert found["mig-mean/first/beta-high"] == pytest.approx(0.3)
    assert found["mig-max/first/beta-1"] == pytest.approx(0.11) and found["mig-median/first/beta-1"] == pytest.approx(
        0.1
    )
    assert found["reconstruction/heart/second/beta-high"] == 8 and found["active-latents/second/beta-1"] == 3.5


def test_the_coefficient_of_known_laws():
    draws = np.random.default_rng(0)
    assert prior_trainings.bimodality(draws.random(100_000)) == pytest.approx(5 / 9, abs=0.01)
    assert prior_trainings.bimodality(draws.normal(size=100_000)) == pytest.approx(1 / 3, abs=0.01)
    assert prior_trainings.bimodality(np.repeat([0.1, 0.4], 5000)) == pytest.approx(1, abs=0.01)


def test_at_a_beta_of_1_penalising_the_total_correlation_changes_nothing():
    """Which is why those models are not trained twice."""
    data = XYSquares(1, 2, squares=1, image_size=10)
    model, images = mlp_vae(data, 4, hidden=(8,)), data.images(torch.arange(16))[None]
    both = [
        kind(model, 1.0, layout=[2, 2], **more)
        for kind, more in ((ISAVAE, {}), (ISATCVAE, {"estimator": "mss", "dataset_size": 64}))
    ]
    images = both[0].standardise(images[0])[None]
    losses = [
        sum(each.loss(images, Step(torch.tensor(0), 1, torch.Generator().manual_seed(0))).values()) for each in both
    ]
    torch.testing.assert_close(*losses)


def test_a_run_of_few_steps(tmp_path):
    part = next(part for part in parts_of(PLANNED["isa/figure-5a"], "small") if part.scale == "small")
    few = {"steps": 2, "models": 4, "batch_size": 4, "log_every": 1}
    methods = {name: part.settings["methods"][name] for name in ("beta-vae", "beta-tcvae", "isa-vae")}
    context = Context(0, torch.device("cpu"), tmp_path)
    found = prior_trainings.compared(context, **part.settings | few | {"methods": methods})
    assert all({*metrics_of(claim)} <= found.keys() for claim in PLANNED.values())
    assert found["of/mig/beta-tcvae/beta-1/3"] == found["of/mig/beta-vae/beta-1/3"]
    assert found["of/mig/beta-tcvae/beta-high/3"] != found["of/mig/beta-vae/beta-high/3"]
    untrained = {value for name, value in found.items() if name.startswith("control/untrained/mig-mean/")}
    assert len(untrained) == 1, "all start from the same networks"
    assert found["control/shuffled/mig-mean/isa-vae/beta-1"] < 0.05 and found["latents"] == 10


def few_steps(**changes):
    part = next(part for part in parts_of(LEARNT, "small") if part.scale == "small")
    return part.settings | {"steps": 4, "models": 4, "batch_size": 4, "log_every": 1} | changes


def test_learnt_exponents_leave_2_and_have_an_advantage(context):
    found = prior_trainings.advantage(context, **few_steps())
    assert {*metrics_of(LEARNT)} <= found.keys()
    for control in ("", "control/untrained/", "control/shuffled/"):
        for beta in ("beta-1", "beta-high"):
            first, second = (found[f"{control}mig-mean/{name}/{beta}"] for name in ("isa-vae", "beta-vae"))
            assert found[f"{control}mig-advantage/{beta}"] == first - second
    assert found["exponent/beta-vae/beta-1"] == 2 != found["exponent/isa-vae/beta-1"]


def test_images_without_a_shape_have_no_hearts(context):
    data = {"data": "XYSquares", "spacing": 2, "square_size": 2, "squares": 2, "image_size": 16}
    found = prior_trainings.advantage(context, **few_steps(**data))
    assert "reconstruction/beta-vae/beta-1" in found and not any("heart" in name for name in found)


def test_a_stopped_comparison_goes_on_from_its_checkpoints_to_the_bit(context, monkeypatch, tmp_path):
    whole = prior_trainings.advantage(replace(context, scratch=tmp_path / "whole"), **few_steps())
    steps, real = [], prior_trainings.fit_many

    def killed(*given, **named):
        def count(framework, step):
            steps.append(step)
            if len(steps) == 60:  # of 8 networks: in step 4 of the second method
                raise KeyboardInterrupt

        return real(*given, callbacks=[count], **named)

    monkeypatch.setattr(prior_trainings, "CHECKPOINT_EVERY", 3)
    monkeypatch.setattr(prior_trainings, "fit_many", killed)
    with pytest.raises(KeyboardInterrupt):
        prior_trainings.advantage(context, **few_steps())
    assert json.dumps(prior_trainings.advantage(context, **few_steps())) == json.dumps(whole)
    assert steps[56:] == [4] * 4 + [4] * 8, "the first method is not trained again, the second goes on after step 3"


def test_the_plans_for_learnt_exponents_start_at_2_beside_the_normal_prior():
    for scale in ("small", "full"):
        (part,) = parts_of(LEARNT, scale)
        plain, learnt = part.settings["methods"].values()
        assert (plain["outer"], plain["inner"]) == (2.0, 2.0) and "learnt" not in plain
        assert (learnt["outer"], learnt["inner"], learnt["learnt"]) == (2.1, 2.0, True)
        assert {each["framework"] for each in (plain, learnt)} == {"ISAVAE"}, "both divergences are sampled"
        assert part.seeds == 5 and part.settings["betas"][0] == 1.0


def test_the_normal_priors_of_both_figures_are_the_same_models():
    """Networks of one seed train alike in groups of four (Figure 6) and of eight (Figure 5a), but for rounding."""
    results, singles = Store().results(), []
    for claim, size in ((LEARNT, 4), (PLANNED["isa/figure-5a"], 8)):
        (part,) = (part for part in parts_of(claim, "small") if part.scale == "small")
        found = {}
        for run in part.runs():
            for name, value in results[run.id]["metrics"].items():
                if name.startswith("of/mig/beta-vae/"):
                    *_, beta, place = name.split("/")
                    found[beta, size * run.seed + int(place)] = value
        singles.append(found)
    assert len(singles[0]) == 40
    for key, value in singles[0].items():
        assert value == pytest.approx(singles[1][key], abs=0.006), "networks of other seeds differ by .05"


def test_what_is_found_of_learnt_exponents():
    (part,) = (part for part in parts_of(LEARNT, "small") if part.scale == "small")
    results = Store().results()
    ends = [round(results[run.id]["metrics"]["exponent/isa-vae/beta-1"], 1) for run in part.runs()]
    assert "end at 2.5 to 2.7, on average" in " ".join(LEARNT.finding.split()) and (min(ends), max(ends)) == (2.5, 2.7)
    verdict = best_verdict(LEARNT, results)
    assert not any(step.holds or step.reversed for step in verdict.orders) and verdict.n == 5
