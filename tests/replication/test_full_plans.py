"""The plans at the paper's size: all that claims ask for, the thesis' settings, and nothing started without a GPU."""

import re

import pytest
import torch

from course_replication import Context, Run, Store, command, load_claims
from course_replication.measurements import full_parts, full_plans, full_size, full_sweeps, kernels
from course_replication.measurements.stored_kernels import load_kernel
from course_replication.parts import Part
from course_replication.plans import deviations_of, joined, parts_of, queue, runs_of
from course_replication.runs import attempt, lacks_gpu, measurement_of
from course_replication.verdicts import _metrics, _renamed, best_verdict, verdict_of
from course_replication.workers import run_missing

CLAIMS = {claim.id: claim for claim in load_claims()}
TINY = {"steps": 2, "batch_size": 4}
CHEAP = {"kernels.learnt": {"steps": 1, "batch_size": 8, "pairs": 16}, "full_sweeps.perceived": {"pairs": 20}}
MARGINS, LEARNT = "distances/section-5.3.3-margins", "distances/figure-6.4"
FULL = [(name, part) for name, parts in full_plans.PLANS.items() for part in parts]
needs_no_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="is about machines without a GPU")


@pytest.fixture(scope="module")
def measured(tmp_path_factory, made_cheap):
    """A part → the names of what a run of it measures, from trainings of two steps, one for each framework."""
    known, real = {}, full_size.training
    context = Context(0, torch.device("cpu"), tmp_path_factory.mktemp("partial"))

    def trained(_, **settings):
        key = settings["framework"], bool(settings["dci"])
        if key not in known:
            known[key] = real(context, **settings | full_parts.data_of("XYSquares") | TINY)
        return known[key]

    def names(part):
        if part.measurement == "kernels.learnt" and part.measurement in known:
            return known[part.measurement]
        found = measurement_of(part.measurement)(context, **part.settings | CHEAP.get(part.measurement, {}))
        return known.setdefault(part.measurement, found) if part.measurement == "kernels.learnt" else found

    with pytest.MonkeyPatch.context() as patch:
        made_cheap(patch)
        patch.setattr(kernels, "PAIRS", 32)
        for module in (full_size, full_sweeps):
            patch.setattr(module, "training", trained)
        yield names


@pytest.mark.filterwarnings("ignore:.*samples are too few", "ignore:An input array is constant")
@pytest.mark.parametrize("name", full_plans.PLANS)
def test_planned_runs_measure_all_that_the_claim_asks_for(measured, name):
    claim = CLAIMS[name]
    asked = {*_metrics(claim)}
    found = [{_renamed(part.name, metric) for metric in measured(part)} for part in parts_of(claim, "full")]
    assert asked <= set().union(*found)
    assert all(asked & each for each in found), "no part that the claim does not need"


def test_every_part_is_full_and_trains_where_there_is_a_gpu():
    alone = {"full_sweeps.perceived", "kernels.handmade"}
    for name, part in FULL:
        assert part.scale == "full" and part.seeds == 5, name
        assert part.device == ("cpu" if part.measurement in alone else "auto")


def settings_of(part):
    """Those of the trainings that a part consists of."""
    own = part.settings
    return own.get("trainings") or [own[name] for name in ("first", "second") if name in own] or [own]


def taken(parts, key):
    """The values of a setting, or of a grid of it, in all trainings of some parts."""
    found = {each[key] for part in parts for each in settings_of(part) if key in each}
    return found.union(*(part.settings.get(f"{key}s", ()) for part in parts))


WORDS = {
    "beta": "β", "latents": "latents", "spacing": "spacing", "learning_rate": "learning rate", "radius": "radi",
    "reconstruction": "Gaussian|for MSE", "visibility": "visibility", "num_triplets": "triplets",
}  # fmt: skip


@pytest.mark.parametrize("name", full_plans.PLANS)
def test_what_of_a_grid_is_not_trained_is_said(name):
    """Every printed grid of which a plan takes a part, and every dataset that is left out."""
    claim, parts = CLAIMS[name], full_plans.PLANS[name]
    said = "; ".join(note for part in parts for note in deviations_of(claim, part))
    for key, printed in claim.settings.items():
        values = taken(parts, key)
        if isinstance(printed, list) and values and not values >= {*printed}:
            word = "Table A.5" if claim.settings["table"].startswith("A.5") and key != "num_triplets" else WORDS[key]
            assert re.search(word, said), (key, values, said)
    lacking = {*claim.data} - taken(parts, "data") if taken(parts, "data") else ()
    assert not lacking or "alone" in said or all(each in said for each in lacking), (lacking, said)


def test_the_parts_of_a_combination_depart_as_single_trainings_do():
    assert full_parts.DEFAULTS in deviations_of(CLAIMS[MARGINS], full_plans.PLANS[MARGINS][0])
    (note,) = (each for each in deviations_of(CLAIMS[LEARNT], full_plans.PLANS[LEARNT][-1]) if "learnt kernel" in each)
    assert f"{load_kernel(31)[1]['settings']['steps']} steps" in note, "which are fewer than printed"
    again = full_parts.noted(full_plans.PLANS[MARGINS], "more")
    assert again[0].deviations[-1] == "more" and again[0].runs() == full_plans.PLANS[MARGINS][0].runs()


def test_steps_are_a_fifth_of_the_printed_ones_and_all_else_is_as_printed_or_said():
    """A value that a claim prints is that of its trainings, a list is one of which they take some.

    The β-VAEs that methods with triplets are held against are those of Figure 4.4, as in the thesis.
    """
    seen = 0
    for name, part in FULL:
        printed, said = CLAIMS[name].settings, deviations_of(CLAIMS[name], part)
        compared = [full_parts.PRINTED["4.3"]] if part.measurement == "full_sweeps.sweep" else []
        for settings in settings_of(part):
            if "steps" in settings and "steps" in printed:
                assert settings["steps"] * full_parts.SHARE in (printed["steps"], *compared), name
                seen += 1
            for key in settings.keys() & printed.keys() - {"steps", "reconstruction", "batch_size"}:
                given, allowed = settings[key], printed[key]
                fits = given == allowed or given in (allowed if isinstance(allowed, list) else [allowed])
                assert fits or any(each.startswith(f"{key}: ") for each in said), (name, key)
            if "steps" in settings:
                assert settings["batch_size"] == printed["batch_size"], name
        if "steps" in part.settings or "trainings" in part.settings:
            assert "steps" not in printed or any("steps" in each for each in said)
    assert seen > 100


def test_every_planned_dataset_can_be_made():
    options = {
        tuple(sorted((key, settings[key]) for key in full_size.DATA if key in settings))
        for _, part in FULL
        for settings in settings_of(part)
        if "data" in settings
    }
    assert {"XYSquares", "DSprites", "Shapes3D", "XYObject"} <= {dict(each)["data"] for each in options}
    for each in options:
        data = full_size.dataset(**dict(each))
        assert data.capturable and data.shape[1:] == (64, 64)


def test_base_trainings_are_shared():
    hashes = {part.run(0).id for _, part in FULL}
    assert len(hashes) < len(FULL) / 1.5


def test_the_kernel_of_figure_6_4_is_the_stored_one():
    runs = {part.settings["kernel"] for part in full_plans.PLANS["distances/figure-6.4"] if "kernel" in part.settings}
    assert runs == {load_kernel(31)[1]["id"]}


def test_the_two_scales_of_a_claim_may_stand_in_two_plans():
    quick, full, other = Part("m:a", scale="quick"), Part("m:a", scale="full"), Part("m:b", scale="full")
    assert joined([{"isa/a": (quick,)}, {"isa/a": (full,)}]) == {"isa/a": (quick, full)}
    with pytest.raises(ValueError, match="isa/a stands in two"):
        joined([{"isa/a": (quick, full)}, {"isa/a": (other,)}])


def test_a_claim_without_quick_runs_says_so():
    claim = CLAIMS["distances/figure-3.7"]
    assert "no runs are planned at scale quick" in verdict_of(claim, {}, "quick").why
    assert best_verdict(claim, {}).why == "15 of 15 runs are missing"
    assert best_verdict(CLAIMS["distances/figure-3.11"], {}).scale == "quick"


# ---- without a GPU


@needs_no_gpu
def test_trainings_wait_for_a_gpu_and_the_rest_is_run(cheap, store):
    training, other = Run("cheap_measurements:draw", device="auto"), Run("cheap_measurements:draw", seed=1)
    outcome = run_missing([training, other], store)
    assert (outcome.done, outcome.withheld, outcome.left) == ([other.id], [training.id], [training.id])
    said = command.report(outcome)
    assert said.startswith("1 run needs a GPU, and torch finds none: --device cpu runs them all the same")
    assert "1 run added" in said and said.endswith("1 to be run.")
    assert attempt(store, training, "cpu") and not run_missing([training], store).withheld, "asked for, and stored"


@needs_no_gpu
def test_full_trainings_are_the_ones_that_wait():
    runs = queue([CLAIMS[name] for name in ("distances/section-4.3-bound", "distances/figure-3.11")], "full")
    waiting = {run.measurement for run in runs if lacks_gpu(run, "auto")}
    assert waiting == {"full_sweeps.sweep", "full_size.training"} and not any(lacks_gpu(run, "cpu") for run in runs)
    quick = [run for claim in CLAIMS.values() for run in runs_of(claim, "quick")]
    assert not any(lacks_gpu(run, "auto") for run in quick)


def test_the_quick_list_counts_full_runs_too(store):
    claim = CLAIMS["distances/figure-3.11"]
    first = runs_of(claim, "full")[0].id
    listed = command.listing([claim], {first: {"id": first, "metrics": {}}}, "quick")
    assert re.search(r"^  not run +0/10  distances/figure-3\.11 .*  \[full 1/10\]  \(", listed, re.MULTILINE)
    assert "[full" not in command.listing([claim], {}, "full")
    assert "[full" not in command.listing([CLAIMS["distances/table-4.2"]], Store(store.path).results(), "quick")
