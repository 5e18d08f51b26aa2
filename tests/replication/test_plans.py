"""What is run for claims: all that they ask for, settings as printed or said, nothing started without a GPU."""

import inspect
import re
from dataclasses import replace

import pytest
import torch

import course_lib.data
from course_lib.data.overlays import SpriteOverlay
from course_lib.data.published import Redrawn
from course_replication import Context, Run, Store, command, load_claims
from course_replication.arms import SETTINGS
from course_replication.comparisons import renamed
from course_replication.measurements import combined, kernels, largest_beta, square_kernels, training
from course_replication.measurements.stored_kernels import load_kernel
from course_replication.plans import deviations_of, metrics_of, parts_of, planned, queue, runs_of
from course_replication.runs import attempt, lacks_gpu, measurement_of
from course_replication.strict_yaml import load_strictly
from course_replication.verdicts import best_verdict, verdict_of
from course_replication.workers import run_missing

CLAIMS = {claim.id: claim for claim in load_claims()}
TINY = {"steps": 2, "batch_size": 4, "log_every": 1}
SQUARES = {"data": "XYSquares", "spacing": 8}
SIZES = ("layers-6-width-1000", "layers-2-width-100")
CHEAP = {
    **dict.fromkeys(["kernels.learnt", "square_kernels.learnt"], {"steps": 1, "batch_size": 8, "pairs": 16}),
    "perceived_ranks.by_geometric_mean": {"num_pairs": 20},
    "prices.at_betas": {"data": "SmallSprites", "network": "mlp", "hidden": [8], **TINY},
    "prices.annealed": {"data": "SmallSprites", "network": "mlp", "hidden": [8], "steps": 4, "batch_size": 4},
    "total_correlation.scores": {
        "data": "FewSprites", "network": "small-mlp", "steps": 20, "batch_size": 4, "log_every": 1, "particles": 2,
    },
    "gans.digits": {"data": "Digits", "network": "small-mlp", "steps": 20, "batch_size": 4},
    "scale.by_steps": {
        "data": "SmallSprites", "network": "mlp", "hidden": [8], "levels": [1, 2], "steps": 2, "batch_size": 4,
        "log_every": 1,
    },
    "gans.sprites": {"data": "FewSprites", "network": "small-mlp", "steps": 2, "batch_size": 4},
    "weak_supervision.compared": {
        "data": "FewSprites", "network": "mlp", "latents": 2, "hidden": [4], "networks": 2, "steps": 2, "log_every": 1,
    },
}  # fmt: skip
SPRITES = CHEAP["total_correlation.scores"] | {"particles": 0}
CHEAP |= {
    **{
        f"prior_trainings.{name}": {"data": "FewSprites", "network": "mlp-64", "models": 4} | TINY
        for name in ("advantage", "compared")
    },
    "correlation_contrasts.best": SPRITES,
    "correlation_contrasts.discriminators": SPRITES | {"sizes": {name: [4] for name in SIZES}},
    "correlation_contrasts.equal_reconstruction": SPRITES | {"betas": [1.0, 4.0]},
}
CHEAP |= {
    "gans.gaps": CHEAP["gans.sprites"],
    "correlation_contrasts.gaps": SPRITES,
    "correlation_contrasts.pruned": SPRITES,
    "correlation_contrasts.batch_mixture": SPRITES | {"batch": 20},
    "correlation_contrasts.axes": SPRITES | {"data": "SmallShapes"},
}
CHEAP |= {
    "later_codes.components": {"images": 40, "hidden": [4], "steps": 2, "batch_size": 4},
    "later_codes.quantised": {"hidden": [4], "latents": 2, "values": 2, "steps": 2, "batch_size": 4},
    "later_supports.recombined": {"networks": 1, "width": 4, "steps": 4, "batch_size": 4},
    "later_supports.unseen": {"width": 4, "steps": 4, "batch_size": 4},
}
MARGINS, LEARNT = "distances/section-5.3.3-margins", "distances/figure-6.4"
PARTS = {name: planned(claim) for name, claim in CLAIMS.items()}
FULL = [(name, part) for name, parts in PARTS.items() for part in parts if part.scale == "full"]
SMALL = [(name, part) for name, parts in PARTS.items() for part in parts if part.scale == "small"]
TRAINED = ("training.scores", "combined.gaps", "combined.slopes", "combined.ranges", "combined.means")
OF_FILES = {"Cars3D", "MNIST"}  # datasets that need a published file
# full claims whose trainings need no GPU: fewer steps of small batches, in runs that all of them share
BY_PROCESSOR = {
    f"distances/{place}"
    for place in (
        "figure-5.4-xysquares",
        "section-5.4",
        "figure-5.2",
        "figure-5.6",
        "figure-3.11",
        "figure-3.11-beta",
        "section-3.4.1-subset",
        "figure-3.12",
        "figure-6.4",
        "figure-6.4-beta-vae",
        "figure-5.1-xysquares",
        "figure-5.5-xysquares",
        "section-5.4.6-threshold",
        "section-3.5-order",
    )
} | {"assumptions/burgess-figure-3"}
needs_no_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="is about machines without a GPU")


# Claims whose runs can be tried in no time: all full ones but the studies, which have tests of their own, and those
# small ones that rest on `training.scores`.
PLANNED = [
    ("full", name) for name in dict.fromkeys(name for name, part in FULL if not part.measurement.startswith("study."))
]
PLANNED += [
    ("small", name)
    for name in dict.fromkeys(name for name, _ in SMALL)
    if all(part.measurement in TRAINED for part in PARTS[name] if part.scale == "small")
]


@pytest.fixture(scope="module")
def measured(tmp_path_factory, made_cheap):
    """A part → the names of what a run of it measures, from trainings of two steps, one for each framework."""
    known, real = {}, training.scores
    context = Context(0, torch.device("cpu"), tmp_path_factory.mktemp("partial"))

    def trained(_, **settings):
        key = settings["network"], settings["framework"], bool(settings["dci"]), settings["data"] == "SmallShapes"
        if key not in known:
            data = SQUARES if settings["network"] == "conv" and "image_size" not in settings else {}
            watched = {"watch_every": 2 if settings["watch_every"] else 0}
            known[key] = real(context, **settings | data | TINY | watched)
        return known[key]

    def names(part):
        kernel = part.measurement.endswith("kernels.learnt")
        if kernel and part.measurement in known:
            return known[part.measurement]
        key = (
            part.measurement,
            part.settings.get("framework"),
            *part.settings.get("gammas", part.settings.get("betas", ())),
            *part.settings.get("changes", ()),
        )
        if part.measurement in CHEAP and key in known:
            return known[key]
        own = replace(context, scratch=context.scratch / str(len(known)))
        settings = part.settings | CHEAP.get(part.measurement, {})
        if "changes" in settings:
            settings["changes"] = {
                name: [
                    {key: value for key, value in each.items() if key not in ("steps", "network")}
                    for each in own_changes
                ]
                for name, own_changes in settings["changes"].items()
            }
        found = measurement_of(part.measurement)(own, **settings)
        if part.measurement in CHEAP:
            known[key] = found
        return known.setdefault(part.measurement, found) if kernel else found

    with pytest.MonkeyPatch.context() as patch:
        made_cheap(patch)
        for module in (kernels, square_kernels):
            patch.setattr(module, "PAIRS", 32)
        for module in (training, combined):
            patch.setattr(module, "scores", trained)
        patch.setattr(largest_beta, "train", lambda *given, **options: None)
        patch.setattr(largest_beta, "left_over", lambda framework, data, seed: framework.beta)
        yield names


@pytest.mark.filterwarnings("ignore:.*samples are too few", "ignore:An input array is constant")
@pytest.mark.parametrize(("scale", "name"), PLANNED)
def test_planned_runs_measure_all_that_the_claim_asks_for(measured, scale, name):
    claim = CLAIMS[name]
    asked = {*metrics_of(claim)}
    found = [{renamed(part.name, metric) for metric in measured(part)} for part in parts_of(claim, scale)]
    assert asked <= set().union(*found)
    assert all(asked & each for each in found), "no part that the claim does not need"


def test_every_part_is_full_and_trains_where_there_is_a_gpu():
    alone = {"perceived_ranks.by_geometric_mean", "kernels.handmade", "square_kernels.learnt"}
    for name, part in FULL:
        assert part.scale == "full" and part.seeds == 5, name
        assert part.device == ("cpu" if part.measurement in alone or name in BY_PROCESSOR else "auto")


def settings_of(part):
    """Those of the trainings that a part consists of."""
    own = part.settings
    return own.get("trainings") or [own]


def values_of(parts, key):
    """The values of a setting, or of a grid of it, in all trainings of some parts."""
    found = {each[key] for part in parts for each in settings_of(part) if key in each}
    return found.union(*(part.settings.get(f"{key}s", ()) for part in parts))


WORDS = {
    "beta": "β", "latents": "latents", "spacing": "spacing", "learning_rate": "learning rate", "radius": "radi",
    "reconstruction": "Gaussian|for MSE", "visibility": "visibility", "num_triplets": "triplets", "gamma": "γ",
    "information_weight": "λ", "noise": "noise",
}  # fmt: skip


@pytest.mark.parametrize("name", dict.fromkeys(name for name, _ in FULL))
def test_what_of_a_grid_is_not_trained_is_said(name):
    """Every printed grid of which a plan takes a part, and every dataset that is left out."""
    claim, parts = CLAIMS[name], parts_of(CLAIMS[name], "full")
    said = "; ".join(note for part in parts for note in deviations_of(claim, part))
    for key, printed in claim.settings.items():
        if key == "capacity":  # from where to where it rises: no grid
            continue
        values = values_of(parts, key)
        if isinstance(printed, list) and values and not values >= {*printed}:
            word = (
                "Table A.5"
                if claim.settings.get("table", "").startswith("A.5") and key != "num_triplets"
                else WORDS[key]
            )
            assert re.search(word, said), (key, values, said)
    lacking = {*claim.data} - values_of(parts, "data") if values_of(parts, "data") else ()
    assert not lacking or "alone" in said or all(each in said for each in lacking), (lacking, said)


def test_the_parts_of_a_combination_depart_as_single_trainings_do():
    assert any("Table A.5" in note for note in deviations_of(CLAIMS[MARGINS], parts_of(CLAIMS[MARGINS], "full")[0]))
    last = parts_of(CLAIMS[LEARNT], "full")[-1]
    (note,) = (each for each in deviations_of(CLAIMS[LEARNT], last) if "learnt kernel" in each)
    assert note.endswith("the first of five seeds") and load_kernel(31, "full")[1]["seed"] == 0


SMALLER = {
    "section-5.3.3-margins": "3,000", "figure-5.3-full": "3,000", "figure-4.4-frameworks-xysquares": "2,000 and 4,000",
}  # fmt: skip


@pytest.mark.parametrize("name", SMALLER)
def test_what_the_trainings_of_a_combination_depart_in_is_said_once(name):
    """Their settings are nested in those of the part, one for each training."""
    claim = CLAIMS[f"distances/{name}"]
    (part,) = parts_of(claim, "small")
    said = deviations_of(claim, part)
    expected = [f"steps: {SMALLER[name]} in place of 57,600", "latents: 7 in place of 25"]
    assert sorted(each for each in said if each.startswith(("steps: ", "latents: "))) == sorted(expected)
    assert said.count("batch size: 128 in place of 256") == 1


def test_every_run_on_images_that_are_drawn_again_says_so():
    classes = {each for each in vars(course_lib.data).values() if isinstance(each, type)}
    redrawn = {each.__name__ for each in classes if issubclass(each, (Redrawn, SpriteOverlay))}
    listed = {name for names in load_strictly(SETTINGS.read_text("utf-8"))["redrawn"].values() for name in names}
    assert redrawn <= listed and {"FewSprites", "SmallSprites", "SmallShapes"} <= listed
    said = 0
    for claim in load_claims():
        for part in planned(claim):
            for name, note in (("DSprites", "dSprites is drawn again"), ("Shapes3D", "3D Shapes is drawn again")):
                if f"'data': '{name}'" in str(part.settings):
                    assert any(note in each for each in part.deviations), claim.id
                    said += 1
    assert said > 100
    (part,) = parts_of(CLAIMS["distances/figure-3.4"], "small")  # no setting of it says so: its claim does
    assert sum("is drawn again" in each for each in part.deviations) == 2
    assert not any("is drawn again" in each for each in planned(CLAIMS["isa/section-4"])[0].deviations)


@pytest.mark.parametrize(
    ("name", "said"), [("figure-3.1", "2,000 steps and 7 latents"), ("figure-3.5", "2,000 steps and 10")]
)
def test_where_the_thesis_prints_no_steps_the_card_says_so(name, said):
    """Its Tables A.3 and A.4 are of other figures."""
    claim = CLAIMS[f"distances/{name}"]
    found = [note for part in parts_of(claim, "small") for note in deviations_of(claim, part)]
    assert sum(said in note and "none are printed" in note for note in found) == 1


def test_steps_are_a_fifth_of_the_printed_ones_and_all_else_is_as_printed_or_said():
    """A value that a claim prints is that of its trainings, a list is one of which they take some; or as many steps.

    The β-VAEs that methods with triplets are held against are those of Figure 4.4, as in the thesis.
    """
    seen = 0
    for name, part in FULL:
        printed, said = CLAIMS[name].settings, deviations_of(CLAIMS[name], part)
        compared = [57_600] if part.measurement == "combined.sweep" else []  # of Figure 4.4
        for settings in settings_of(part):
            if "steps" in settings and "steps" in printed:
                whole = settings["steps"] == printed["steps"]
                few = name in BY_PROCESSOR and settings["steps"] == 11_520
                assert whole or few or settings["steps"] * 5 in (printed["steps"], *compared), name
                seen += 1
            for key in settings.keys() & printed.keys() - {"steps", "reconstruction", "batch_size"}:
                given, allowed = settings[key], printed[key]
                fits = given == allowed or given in (allowed if isinstance(allowed, list) else [allowed])
                assert fits or any(each.startswith(f"{key.replace('_', ' ')}: ") for each in said), (name, key)
            if "steps" in settings and "batch_size" in printed:
                as_printed = settings["batch_size"] == printed["batch_size"]
                assert as_printed or any(each.startswith("batch size: ") for each in said), name
        if "steps" in part.settings or "trainings" in part.settings:
            whole = part.settings.get("steps") == printed.get("steps")
            assert "steps" not in printed or whole or any("steps" in each for each in said), name
    assert seen > 100


def test_every_planned_dataset_can_be_made():
    options = {
        tuple(sorted((key, settings[key]) for key in training.OF_DATA if key in settings))
        for _, part in FULL
        for settings in settings_of(part)
        if "data" in settings
    }
    names = {dict(each)["data"] for each in options}
    assert {"XYSquares", "DSprites", "Shapes3D", "XYObject", "ColorDSprites"} <= names
    assert {name for name in names if not hasattr(course_lib.data, name)} == set()
    for each in options:
        if dict(each)["data"] in OF_FILES:
            continue
        data = training.dataset(**dict(each))
        assert data.capturable and data.shape[1:] == (64, 64)


def test_base_trainings_are_shared():
    hashes = {part.run(0).id for _, part in FULL}
    assert len(hashes) < len(FULL) / 1.5


def test_the_kernel_of_figure_6_4_is_the_stored_one():
    runs = {part.settings["kernel"] for part in parts_of(CLAIMS[LEARNT], "full") if "kernel" in part.settings}
    assert runs == {load_kernel(31, "full")[1]["id"]}


def test_every_run_has_a_measurement_that_takes_its_settings():
    """What the field `test` of a claim once said by hand."""
    for name, parts in PARTS.items():
        for part in parts:
            signature = inspect.signature(measurement_of(part.measurement))
            signature.bind(None, **part.settings)
            assert part.seeds >= (1 if part.scale == "exact" else 5), name


def test_small_runs_have_five_seeds_and_say_what_is_smaller():
    trained = [
        (name, part) for name, part in SMALL if not part.measurement.startswith(("kernels.", "perceived_ranks."))
    ]
    for name, part in trained:
        assert (part.seeds, part.device) == (5, "cpu")
        said = "; ".join(deviations_of(CLAIMS[name], part))
        assert re.search("(8×8|16×16|24×24) pixels", said) and "fully connected" in said, (name, said)
    hashes = {part.run(0).config_hash for _, part in trained}
    assert len(hashes) < len(trained) / 1.8, "what several claims need is one configuration"


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ({"tiny": [{"measurement": "a.b"}]}, "got 'tiny'; expected measurement, arm"),
        ({"small": [{"arm": "beta-vae", "setings": {}}]}, "got \\['setings'\\]; expected"),
        ({"small": [{"arm": "beta-vaes"}]}, "arm: got 'beta-vaes'; expected one of scale small: squares, vae"),
        ({"small": [{"arm": "beta-vae", "deviations": ["no-such"]}]}, "deviation: got 'no-such'; expected a text"),
    ],
)
def test_runs_that_do_not_fit_are_named(runs, said):
    with pytest.raises(ValueError, match=f"claim distances/figure-3.11, runs: .*{said}"):
        planned(replace(CLAIMS["distances/figure-3.11"], runs=runs))


def deviations_in(entry):
    """All that stands in lists of that name, however deep they stand."""
    if isinstance(entry, dict):
        own = entry.get("deviations", [])
        return {*own}.union(*(deviations_in(value) for key, value in entry.items() if key != "deviations"))
    return set().union(*map(deviations_in, entry)) if isinstance(entry, list) else set()


def test_every_deviation_of_the_settings_is_one_of_some_run():
    settings = load_strictly(SETTINGS.read_text(encoding="utf-8"))
    used = deviations_in(settings["arms"]).union(*(deviations_in(claim.runs) for claim in CLAIMS.values()))
    assert set(settings["deviations"]) <= used.union(settings["redrawn"])


def test_a_claim_without_quick_runs_says_so():
    claim = CLAIMS["distances/figure-3.7"]
    assert "no runs are planned at scale small" in verdict_of(claim, {}, "small").why
    assert best_verdict(claim, {}).why == "15 of 15 runs are missing"
    assert best_verdict(CLAIMS["distances/figure-3.11"], {}).scale == "small"


# ---- without a GPU


@needs_no_gpu
def test_trainings_wait_for_a_gpu_and_the_rest_is_run(cheap, store):
    waiting, other = Run("cheap_measurements:draw", device="auto"), Run("cheap_measurements:draw", seed=1)
    outcome = run_missing([waiting, other], store)
    assert (outcome.done, outcome.withheld, outcome.left) == ([other.id], [waiting.id], [waiting.id])
    said = command.report(outcome)
    assert said.startswith("1 run needs a GPU, and torch finds none: --device cpu runs them all the same")
    assert "1 run added" in said and said.endswith("1 to be run.")
    assert attempt(store, waiting, "cpu") and not run_missing([waiting], store).withheld, "asked for, and stored"


@needs_no_gpu
def test_full_trainings_are_the_ones_that_wait():
    runs = queue([CLAIMS[name] for name in ("distances/section-4.3-bound", "distances/figure-5.4")], "full")
    waiting = {run.measurement for run in runs if lacks_gpu(run, "auto")}
    assert waiting == {"combined.sweep", "training.scores"} and not any(lacks_gpu(run, "cpu") for run in runs)
    small = [run for claim in CLAIMS.values() for run in runs_of(claim, "small")]
    assert not any(lacks_gpu(run, "auto") for run in small)


def test_the_quick_list_counts_full_runs_too(store):
    claim = CLAIMS["distances/figure-3.11"]
    first = runs_of(claim, "full")[0].id
    listed = command.listing([claim], {first: {"id": first, "metrics": {}}}, "small")
    assert re.search(r"^  not run +0/10  distances/figure-3\.11 .*  \[full 1/10\]  \(", listed, re.MULTILINE)
    assert "[full" not in command.listing([claim], {}, "full")
    assert "[full" not in command.listing([CLAIMS["distances/table-4.2"]], Store(store.path).results(), "small")
