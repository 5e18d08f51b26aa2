"""The study of common assumptions: what is asked of its table by routes of its own, its controls, and its plans."""

import warnings

import numpy as np
import pandas
import pytest
import torch
from scipy.stats import f_oneway, spearmanr
from sklearn.ensemble import GradientBoostingClassifier

from course_lib.data import ColorDSprites, DSprites
from course_lib.frameworks import BetaVAE
from course_lib.metrics import trees
from course_lib.models import DiagonalGaussian, mlp_vae
from course_replication import Context, load_claims
from course_replication.arms import arm_named
from course_replication.measurements import study, study_findings, training
from course_replication.measurements.few_sprites import KEPT, ColourFewSprites, FewSprites
from course_replication.plans import metrics_of, parts_of
from course_replication.verdicts import verdict_of

CLAIMS = {claim.id: claim for claim in load_claims() if claim.chapter == "09_common_assumptions"}
PLANNED = [name for name, claim in CLAIMS.items() if parts_of(claim, "small")]
SCALES = [(scale, name) for name, claim in CLAIMS.items() for scale in ("small", "full") if parts_of(claim, scale)]
TINY = {"steps": 3, "log_every": 3, "hidden": [4], "latents": 3, "seeds": 1,
        "trees": {"points": 60, "seeds": 1, "untrained": 6}}  # fmt: skip
PUBLISHED = {
    "beta-vae": [1, 4, 16], "annealed-vae": [100, 50, 5], "factor-vae": [10, 30, 100], "beta-tcvae": [1, 4, 10],
    "dip-vae-i": [1, 5, 50], "dip-vae-ii": [1, 5, 50],
}  # fmt: skip
METHODS = ("beta-vae", "annealed-vae", "factor-vae")


def made_up(seed: int = 0, methods=METHODS, **effect) -> pandas.DataFrame:
    """A table of models whose numbers are noise, with an effect of the method on some."""
    draw, rows = np.random.default_rng(seed), {}
    names = (*study_findings.SCORES, *study_findings.UNLABELLED, "left", "trees", "efficiency",
             "total-correlation-sampled", "total-correlation-active")  # fmt: skip
    for method in methods:
        for strength in study.STRENGTHS:
            for own in range(4):
                shift = {name: size * methods.index(method) for name, size in effect.items()}
                rows[method, strength, own] = {name: draw.random() + shift.get(name, 0) for name in names}
    return study.as_table(rows)


def test_a_share_is_that_of_an_analysis_of_variance():
    table = made_up(mig=0.3)
    groups = [own["mig"].to_numpy() for _, own in table.groupby("method")]
    between, within = len(groups) - 1, len(table) - len(groups)
    f = f_oneway(*groups).statistic
    assert study_findings.share(table["mig"], table["method"]) == pytest.approx(f * between / (f * between + within))


def test_a_share_by_lot_is_what_is_said_on_paper():
    table, draw = made_up(), np.random.default_rng(0)
    shares = [study_findings.share(table["mig"], draw.permutation(table["method"])) for _ in range(2000)]
    assert np.mean(shares) == pytest.approx(2 / 35, abs=0.005)


def test_parts_of_the_variance_add_up():
    found = study_findings.findings(made_up(mig=0.3, dci=0.3), 0)
    parts = [found[f"variance-share/{name}"] for name in ("method", "strength", "seed")]
    assert sum(parts) == pytest.approx(1) and min(parts) >= 0
    assert found["variance-share/rest"] == pytest.approx(parts[1] + parts[2])


def test_ranks_are_spearmans_and_skip_what_is_not_known():
    table = made_up()
    table["mig"], table.loc[::3, "dci"] = table["mig"].round(1), np.nan
    both = table[["mig", "dci"]].dropna()
    assert study_findings.rank(table, "mig", "dci") == pytest.approx(spearmanr(both["mig"], both["dci"]).statistic)
    assert study_findings.rank(table.assign(mig=1.0), "mig", "dci") == 0


def test_correlations_by_strength_leave_out_the_annealed_vae():
    table = made_up()
    table.loc[table["method"] == "annealed-vae", "total-correlation"] = 1000.0
    found = study_findings.findings(table, 0)
    own = table[table["method"] != "annealed-vae"]
    expected = [own[(own["method"] == name) & (own["strength"] == "high")]["total-correlation"].median()
                for name in ("beta-vae", "factor-vae")]  # fmt: skip
    assert found["mean/strength-high"] == pytest.approx(np.mean(expected))


def test_spreads_and_seeds_of_a_made_up_study():
    table = made_up(**{"factor-vae-score": 10.0})
    found = study_findings.findings(table, 0)
    assert found["spread/between-methods"] == pytest.approx(10 * np.std([0, 1, 2]), rel=0.05)
    assert found["spread/within-methods"] == pytest.approx(12**-0.5, rel=0.2)
    own = table[table["method"] == "factor-vae"].groupby("strength")["factor-vae-score"]
    assert found["best-seed/worst-strength"] == own.max()[own.mean().idxmin()]


def test_no_recipe_where_methods_take_turns_and_one_where_a_method_is_best():
    effect = dict.fromkeys(study_findings.SCORES, 10.0)
    alike = study_findings.across_datasets({"a": made_up(0, **effect), "b": made_up(1, **effect)})
    turned = study_findings.across_datasets({"a": made_up(0, **effect), "b": made_up(1, METHODS[::-1], **effect)})
    assert not alike["no-method-best-on-all-datasets-and-scores"]
    assert turned["no-method-best-on-all-datasets-and-scores"] and turned["settings"] == 12
    assert alike["rank-correlation/dsprites-and-color-dsprites"] > 0.8 > 0
    assert turned["rank-correlation/dsprites-and-color-dsprites"] < -0.8
    assert abs(alike["rank-correlation/seeds"]) < 0.3


def test_exchanged_numbers_have_lost_their_models_and_each_other():
    table = made_up(mig=10.0, sap=10.0)
    table.loc[::2, "dci"] = np.nan
    mixed = study.exchanged(table, 0)
    assert sorted(mixed["mig"]) == sorted(table["mig"]) and (mixed["method"] == table["method"]).all()
    assert (mixed["dci"].isna() == table["dci"].isna()).all()
    assert study_findings.rank(table, "mig", "sap") > 0.8 > 0.5 > abs(study_findings.rank(mixed, "mig", "sap"))


def test_sprites_in_colour_are_those_of_the_library():
    """The same rule as ColorDSprites: the sprite's grey times one of 128 levels in each channel."""
    data, grey = ColourFewSprites(), FewSprites()
    index = torch.tensor([0, 700, 2303])
    images, sprites = data.images(index).double(), grey.images(index).double()
    levels = (images.amax((2, 3)) * 255 / sprites.amax((2, 3))).round()
    assert ((levels >= 127) & (levels <= 255)).all() and len(levels.unique()) > 6
    torch.testing.assert_close(images, sprites * levels[:, :, None, None] / 255, atol=1.0, rtol=0)
    assert data.space == grey.space and ColorDSprites.space == DSprites.space and len(KEPT) == 5


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """What tiny runs of both studies, of three methods in place of six, and of both together, measure."""
    context, found, known = Context(0, torch.device("cpu"), tmp_path_factory.mktemp("study")), {}, []
    for name in ("study", "study-in-colour"):
        settings = arm_named("small", name).settings | TINY
        settings["methods"] = {method: settings["methods"][method] for method in METHODS}
        settings["trees"] = settings["trees"] if name == "study" else {"points": 0, "seeds": 0, "untrained": 0}
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            patch.setattr(study, "SAMPLES", {"num_samples": 300, "num_test": 100})
            patch.setattr(trees, "_model", lambda seed: GradientBoostingClassifier(n_estimators=2, random_state=seed))
            warnings.filterwarnings("ignore", ".*too few")
            found[name] = study.scores(context, **settings)
        known.append(study.table_of(found[name]))
    return found | {"both": study_findings.across_datasets(dict(enumerate(known)))}


@pytest.mark.parametrize(("scale", "name"), SCALES)
def test_runs_measure_all_that_claims_ask_for(measured, scale, name):
    """A study in colour stands for all without trees."""
    (part,) = parts_of(CLAIMS[name], scale)
    kind = "both" if part.measurement == "study.across" else "study"
    kind = "study-in-colour" if kind == "study" and not part.settings["trees"]["points"] else kind
    assert {*metrics_of(CLAIMS[name])} <= measured[kind].keys()
    if kind != "both":
        controls = {key.split("/", 2)[1] for key in measured[kind] if key.startswith("control/")}
        assert controls == {"shuffled", "untrained"}


def test_every_claim_of_the_issue_is_planned_at_scale_small():
    wanted = {f"assumptions/figure-{name}" for name in ("1", "2", "3-left", "3-right", "4", "5", "6")}
    assert wanted | {"assumptions/no-recipe"} <= {*PLANNED}


def test_every_claim_of_a_study_is_planned_at_the_papers_size_too():
    assert {name for scale, name in SCALES if scale == "full"} == {*PLANNED}
    for name in PLANNED:
        parts = parts_of(CLAIMS[name], "full")
        for settings in parts[0].settings.get("trainings", [parts[0].settings]):
            assert settings["network"] == "conv" and settings["steps"] == 300_000 / 5
            assert {key: [*each["strengths"].values()][0] for key, each in settings["methods"].items()} == PUBLISHED


def test_strengths_at_the_papers_size_are_the_weakest_the_third_and_the_strongest():
    """Of the six of the published study (disentanglement_lib, unsupervised_study_v1), for the annealed VAE from the
    largest capacity on."""
    six = {
        "beta-vae": [1, 2, 4, 6, 8, 16], "annealed-vae": [100, 75, 50, 25, 10, 5],
        "factor-vae": [10, 20, 30, 40, 50, 100], "beta-tcvae": [1, 2, 4, 6, 8, 10],
        "dip-vae-i": [1, 2, 5, 10, 20, 50], "dip-vae-ii": [1, 2, 5, 10, 20, 50],
    }  # fmt: skip
    assert {name: [values[0], values[2], values[-1]] for name, values in six.items()} == PUBLISHED


def test_what_is_known_of_a_large_dataset_rests_on_some_of_its_images(monkeypatch):
    """The scores with labels are those of all images; numbers without labels nearly so."""
    data = FewSprites()
    framework = BetaVAE(mlp_vae(data, 3, hidden=(8,), seed=1), reconstruction="bce", reduction="sum")
    for name in ("SAMPLES", "MANY_SAMPLES"):
        monkeypatch.setattr(study, name, {"num_samples": 800, "num_test": 200})
    whole = study.scored(framework, data)
    for module in (study, training):
        monkeypatch.setattr(module, "IMAGES", 1200)
    part = study.scored(framework, data)
    assert part.keys() == whole.keys() and part["kl"] != whole["kl"]
    for name, value in whole.items():
        assert part[name] == pytest.approx(value, rel=0.1, abs=0.02), name
    assert part["mig"] == pytest.approx(whole["mig"], abs=1e-6)


def test_convolutional_networks_are_trained_in_turn_and_no_model_twice(tmp_path, monkeypatch):
    context, trained = Context(1, torch.device("cpu"), tmp_path), []
    real = study.train

    def noted(own, framework, data, checkpoint, fitting):
        trained.append((own.seed, checkpoint.stem))
        if len(trained) == 2:
            raise KeyboardInterrupt
        return real(own, framework, data, checkpoint, fitting)

    settings = arm_named("small", "study").settings | TINY
    settings |= {"network": "conv", "trees": {"points": 0, "seeds": 0, "untrained": 0}}
    settings["methods"] = {"factor-vae": settings["methods"]["factor-vae"]}
    monkeypatch.setattr(study, "train", noted)
    monkeypatch.setattr(study, "SAMPLES", {"num_samples": 800, "num_test": 200})
    del settings["hidden"]
    with pytest.raises(KeyboardInterrupt):
        study.scores(context, **settings)
    found = study.scores(context, **settings)
    labels = [f"FewSprites-factor-vae-{strength}-101" for strength in study.STRENGTHS]
    assert trained == [(101, labels[place]) for place in (0, 1, 1, 2)]
    assert {f"of/mig/factor-vae/{strength}/101" for strength in study.STRENGTHS} <= found.keys()
    assert "control/untrained/variance-share/method" in found


def test_what_is_left_of_every_study_is_known(measured):
    """Of a study, and of two that are compared: no verdict rests on models that have not learnt."""
    found = {}
    for name in ("assumptions/figure-5", "assumptions/transfer-color"):
        (part,) = parts_of(CLAIMS[name], "small")
        for run in part.runs():
            found[run.id] = {"metrics": measured["both" if "trainings" in part.settings else "study"]}
    for name in ("study", "study-in-colour"):
        (part,) = parts_of(CLAIMS["assumptions/figure-2" if name == "study" else "assumptions/figure-1"], "small")
        found |= {run.id: {"metrics": measured[name]} for run in part.runs()}
    for name, arms in (("assumptions/figure-5", 1), ("assumptions/transfer-color", 2)):
        verdict = verdict_of(CLAIMS[name], found, "small")
        assert len(verdict.learnt) == arms and not any(arm.left is None for arm in verdict.learnt)
        assert verdict.verdict == "inconclusive" and "counts as not learnt" in verdict.why


def test_networks_of_one_seed_start_alike_whatever_the_method():
    settings = dict(arm_named("small", "study").settings)
    networks = {"latents": 3, "hidden": (4,)}
    common = {name: settings[name] for name in ("reconstruction", "reduction")}
    models = [study._framework(FewSprites(), 7, method, place, networks, common)
              for method in settings["methods"].values() for place in range(3)]  # fmt: skip
    first = models[0].model.state_dict()
    assert all(torch.equal(value, first[name]) for each in models for name, value in each.model.state_dict().items())
    assert len({(type(each).__name__, *map(str, each.arguments.values())) for each in models}) == 18


def test_total_correlations_of_made_up_posteriors():
    draw = torch.Generator().manual_seed(0)
    mean = torch.randn(2304, 3, generator=draw)
    mean[:, 1] = 0.01 * (mean[:, 0] + 0.1 * mean[:, 1])  # switched off, and still correlated with the first
    found = study.dependences(DiagonalGaussian(mean, torch.zeros_like(mean)))
    assert found["total-correlation"] == pytest.approx(-np.log(1 - 1 / 1.01) / 2, abs=0.1)
    assert found["total-correlation-sampled"] < 0.01 and found["total-correlation-active"] < 0.01
    assert found["active"] == 2
