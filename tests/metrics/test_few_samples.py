"""Too few samples warn and name the smallest sensible number; wrong arguments name themselves."""

import inspect
import re
import warnings

import numpy as np
import pytest

from course_lib import metrics

SAMPLED = sorted(set(metrics.SCORES))


@pytest.mark.parametrize("name", SAMPLED)
def test_too_few_samples_warn_and_enough_do_not(tables, tiny_grid, factors_of, name):
    score, table = getattr(metrics, name), tables["identity"]
    if name in {"dci", "downstream_trees"}:  # they take long where there are many values
        table = metrics.Encodings.from_table(factors_of(tiny_grid(3, 3)), tiny_grid(3, 3))
    options = {"num_few": 20} if "downstream" in name else {}
    with pytest.warns(UserWarning, match=r"^40 samples are too few for the .* use at least [\d,]+") as caught:
        score(table, num_samples=40, **options)
    message = str(caught[0].message)
    smallest = int(re.search(r"at least ([\d,]+)", message)[1].replace(",", ""))
    assert 100 <= smallest <= 2000
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score(table, num_samples=int(1.1 * smallest), **options)  # the entropy it rests on is sampled too


def test_the_warning_comes_from_the_callers_line(tables):
    with pytest.warns(UserWarning) as caught:
        metrics.linearity_ratio(tables["identity"], num_samples=3)
        metrics.mig(tables["identity"], num_samples=30)
    assert {warning.filename for warning in caught} == {__file__}


LATENTS, FACTORS = np.random.default_rng(0).normal(size=(900, 3)), np.arange(1800).reshape(900, 2) % 3


@pytest.mark.parametrize("name", ["mig", "dci", "sap", "modularity", "irs", "mutual_information", "infomec", "dci_es"])
def test_twins_name_wrong_arrays(name):
    twin = getattr(metrics, name).from_samples
    for latents, factors, words in (
        (None, FACTORS, "latents: got None"),
        (LATENTS[0], FACTORS, r"latents: got shape \(3,\); allowed are latents \(n, D\)"),
        (LATENTS * np.nan, FACTORS, "latents: got NaN or infinite latents for 900 of 900"),
        (LATENTS, FACTORS[1:], r"factors: got shape \(899, 2\); for latents \(900, 3\), \(900, F\) fits"),
        (LATENTS, FACTORS[:, 0], r"factors: got shape \(900,\)"),
        (LATENTS, FACTORS / 2, "factors: got dtype torch.float64; allowed are integers"),
        (LATENTS, FACTORS * 0, "factors: got constant ones only"),
    ):
        with pytest.raises(ValueError, match=words):
            twin(latents, factors)
    with pytest.raises(ValueError, match=r"names: got \('x',\); 2 factors need as many different names"):
        twin(LATENTS, FACTORS, names=["x"])
    with pytest.raises(ValueError, match="names: got 5; allowed is one name per factor"):
        twin(LATENTS, FACTORS, names=5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda t: metrics.mig(t, num_samples=0), "num_samples: got 0; allowed are integers from 1"),
        (lambda t: metrics.mig(t, bins=1), "bins: got 1"),
        (lambda t: metrics.irs(t, quantile=0), "quantile: got 0; allowed are finite numbers above 0 to 1"),
        (lambda t: metrics.sap(t, num_test=0), "num_test: got 0"),
        (lambda t: metrics.infomec(t, active=-0.1), "active: got -0.1; allowed are finite numbers from 0 to 1"),
        (lambda t: metrics.infomec(t, bins=1), "bins: got 1"),
        (lambda t: metrics.dci_es(t, num_test=0), "num_test: got 0"),
        (lambda t: metrics.dci(t, levels=1), "levels: got 1"),
        (lambda t: metrics.dci(t, jobs=0), "jobs: got 0"),
        (lambda t: metrics.factor_vae_score(t, batch_size=1), "batch_size: got 1"),
        (lambda t: metrics.distance_correlation(t, by="l2"), "by: got 'l2'"),
        (lambda t: metrics.distance_correlation(t, loss="l1"), "loss: got 'l1'"),
        (lambda t: metrics.downstream_logistic(t, num_few=20_000), "num_few: got 20000; allowed are at most the 10000"),
        (lambda t: metrics.sap.from_samples(LATENTS, FACTORS, num_test=900), "num_test: got 900 of 900 points"),
        (lambda t: metrics.evaluate(t, scores=["mig", "MIG"]), "scores: got 'MIG'; allowed are beta_vae_score, "),
    ],
)
def test_wrong_arguments_are_named(tables, call, words):
    with pytest.raises(ValueError, match=words):
        call(tables["identity"])


COUNTS = [
    (name, argument)
    for name, score in sorted(metrics.SCORES.items())
    for argument in ("num_samples", "num_test")
    if argument in inspect.signature(score).parameters
]


@pytest.mark.parametrize(("name", "argument"), COUNTS)
def test_more_points_than_memory_holds_are_refused_by_name(tables, name, argument):
    with pytest.raises(
        ValueError, match=rf"{argument}: got 4611686018427387904; allowed are integers from \d to 100,000,"
    ):
        metrics.SCORES[name](tables["identity"], **{argument: 2**62})
