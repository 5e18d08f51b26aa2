"""InfoMEC: values that are known by hand, an independent computation, and what counts as active and as discrete."""

import numpy as np
import pytest
import torch
from scipy.stats import entropy
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, mutual_info_score
from sklearn.preprocessing import OneHotEncoder

from course_lib import metrics


def grid(*sizes, times):
    """Every point of a grid `times` times over, in an order of chance: integers (n, F)."""
    points = np.stack(np.unravel_index(np.arange(np.prod(sizes)), sizes), 1)
    return np.random.default_rng(0).permutation(np.tile(points, (times, 1)))


def scores(latents, factors, **options):
    return metrics.infomec.from_samples(latents, factors, **options).values


def test_a_permutation_of_the_factors_has_everything():
    """Whatever the values are called: a code that permutes them has InfoE too, as each has a variable of its own."""
    factors = grid(4, 3, 5, times=100)
    latents = np.stack([np.array([3.0, 0.0, 7.0, 1.0, 4.0])[factors[:, 2]], -factors[:, 0], factors[:, 1] ** 2.0], 1)
    values = scores(latents, factors)
    assert values["infom"] > 0.99 and values["infoc"] > 0.99 and values["infoe"] > 0.999


def exact(latents, factors):
    """The score of exactly these rows: what the seed sets aside is a copy of the first, put where it will look."""
    rows = np.append(np.arange(len(factors)), 0)
    order = np.argsort(torch.randperm(len(rows), generator=torch.Generator().manual_seed(0)).numpy())
    return metrics.infomec.from_samples(latents[rows][order], factors[rows][order], num_test=1)


CODES = {  # two factors of two values → the latents, and InfoM, InfoC by hand
    "as it is": (lambda a, b: (a, b), 1, 1),
    "sum and difference": (lambda a, b: (a + b, a - b), 0, 0),  # ½ bit on either, each
    "both in one": (lambda a, b: (a + 2 * b,), 0, 1),  # a bit on either: shares ½ and ½; there is no other latent
    "twice": (lambda a, b: (a, a, b, b), 1, 1 / 3),  # shares ½, ½, 0, 0: (½ − ¼) / (1 − ¼)
    "one too much": (lambda a, b: (a, b, a + 2 * b), 2 / 3, 1 / 4),  # M̄ = (1 + 1 + ½) / 3; C̄ = ½
    "a half": (lambda a, b: (a, 0 * b), 1, 1 / 2),  # the other latent is none, and of b nothing is known
    "exclusive or": (lambda a, b: (a ^ b, a), 1 / 2, 1 / 2),  # the first knows nothing: its share is 1/F
}


@pytest.mark.parametrize("code", CODES)
def test_two_bits_by_hand(code):
    latents, infom, infoc = CODES[code]
    factors = grid(2, 2, times=100)
    score = exact(np.stack(latents(*factors.T), 1).astype(float), factors)
    assert score.values["infom"] == pytest.approx(infom, abs=1e-9)
    assert score.values["infoc"] == pytest.approx(infoc, abs=1e-9)


def test_the_matrix_is_information_as_a_share_of_the_factor_s_entropy():
    """a + b has ½ bit on each of two factors of 1 bit; the half in which a factor of four values lies, 1 bit of 2."""
    factors = grid(2, 2, times=100)
    score = exact((factors[:, :1] + factors[:, 1:]).astype(float), factors)
    np.testing.assert_allclose(score.matrix, [[0.5, 0.5]], atol=1e-9)
    uneven = grid(2, 4, times=100)
    score = exact((uneven[:, 1:] // 2).astype(float), uneven)
    np.testing.assert_allclose(score.matrix, [[0.0, 0.5]], atol=1e-9)  # divided by H(v), not by H(z)


def test_infoe_is_0_where_no_linear_reader_sees_anything():
    """a xor b and a: with one variable for each value, b is as likely 0 as 1 whatever the sum of the two says."""
    a, b = grid(2, 2, times=1500).T
    values = scores(np.stack([a ^ b, a], 1).astype(float), np.stack([a, b], 1))
    assert values["infoe_factor 0"] > 0.999 and values["infoe_factor 1"] < 0.005
    assert values["infoe"] == pytest.approx(0.5, abs=0.005)


def test_a_linear_code_is_explicit_and_a_folded_one_is_not():
    """Continuous latents: a linear reader of a rotation loses nothing; of |v − 2|, the side of ±1 and of ±2."""
    factors = grid(5, 5, times=200)
    noise = 1e-3 * np.random.default_rng(1).normal(size=factors.shape)
    angle = np.array([[0.8, 0.6], [-0.6, 0.8]])
    assert scores((factors + noise) @ angle, factors)["infoe"] > 0.99
    folded = scores(np.abs(factors - 2) + noise, factors)["infoe"]
    assert folded == pytest.approx(1 - 0.8 * np.log(2) / np.log(5), abs=0.01)  # a bit, for four values of five


def test_against_scikit_learn():
    draws = np.random.default_rng(3)
    factors = np.stack([draws.integers(0, size, 4000) for size in (3, 4)], 1)
    discrete = (factors[:, 0] + draws.integers(0, 2, 4000)) % 5
    noise = draws.normal(size=(4000, 2))
    latents = np.stack([discrete, factors @ [0.7, 1.0] + 0.4 * noise[:, 0], noise[:, 1]], 1)
    order = torch.randperm(4000, generator=torch.Generator().manual_seed(5)).numpy()
    (train, test), (known, asked) = (np.split(array[order], [3000]) for array in (latents, factors))
    score = metrics.infomec.from_samples(latents, factors, num_test=1000, seed=5)
    codes = [discrete[order][:3000]]
    codes += [np.digitize(z, np.histogram_bin_edges(z, 20)[1:-1]) for z in train.T[1:]]
    share = [[mutual_info_score(c, v) / entropy(np.bincount(v)) for v in known.T] for c in codes]
    np.testing.assert_allclose(score.matrix, share, atol=1e-12)
    share = np.array(share)
    assert score.values["infom"] == pytest.approx(np.mean(share.max(1) / share.sum(1)) * 2 - 1)
    assert score.values["infoc"] == pytest.approx((np.mean(share.max(0) / share.sum(0)) - 1 / 3) * 1.5)
    encoder = OneHotEncoder(sparse_output=False).fit(train[:, :1])
    sides = [np.concatenate([encoder.transform(side[:, :1]), side[:, 1:]], 1) for side in (train, test)]
    for place, (v, w) in enumerate(zip(known.T, asked.T, strict=True)):
        seeing = log_loss(w, LogisticRegression(C=np.inf, max_iter=5000).fit(sides[0], v).predict_proba(sides[1]))
        blind = -np.log((np.bincount(v) / len(v))[w]).mean()
        assert score.values[f"infoe_factor {place}"] == pytest.approx(1 - seeing / blind, abs=1e-3)


def test_narrow_latents_are_left_out_if_they_are_continuous():
    factors = grid(4, 4, times=200)
    noise = np.random.default_rng(2).normal(size=(len(factors), 2))
    wide = 4.0 * factors + 0.1 * noise
    narrow = np.concatenate([wide, 0.01 * noise[:, :1]], 1)
    score, all_of_them = (metrics.infomec.from_samples(narrow, factors, **options) for options in ({}, {"active": 0}))
    assert score.settings["active"] == 2 and all_of_them.settings["active"] == 3
    assert score.values["infom"] == metrics.infomec.from_samples(wide, factors).values["infom"] > 0.95
    assert all_of_them.values["infom"] < 0.8
    coded = np.concatenate([wide, 0.01 * factors[:, :1]], 1)  # as narrow, with four values: a code, and it counts
    assert metrics.infomec.from_samples(coded, factors).settings["active"] == 3


def test_few_values_are_no_bins():
    """Values 1, 2 and 1000 in twenty bins of equal width would be two."""
    factors = grid(3, 2, times=300)
    latents = np.stack([np.array([1.0, 2.0, 1000.0])[factors[:, 0]], factors[:, 1]], 1)
    assert metrics.infomec.from_samples(latents, factors).matrix.iloc[0, 0] == pytest.approx(1)
    with pytest.raises(ValueError, match="active: got 2; allowed are finite numbers from 0 to 1"):
        metrics.infomec.from_samples(latents, factors, active=2)
