"""Scores of single images, against scikit-learn, scipy and loops on the same arrays."""

from itertools import product

import numpy as np
import pytest
import torch
from scipy.linalg import sqrtm
from scipy.stats import entropy, pearsonr
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mutual_info_score, roc_auc_score
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC

from course_lib import metrics

N, TEST = 3000, 1000


@pytest.fixture(scope="module")
def arrays():
    """Four latents that mix three factors of 3, 4 and 2 values: (3000, 4) and (3000, 3)."""
    draws = np.random.default_rng(0)
    factors = np.stack([draws.integers(0, size, N) for size in (3, 4, 2)], 1)
    mixing = np.array([[1, 0, 0.1], [0.4, 1, 0], [0, 0.5, 2], [0.1, 0.1, 0.1]])
    return factors @ mixing.T + 0.3 * draws.normal(size=(N, 4)), factors


def shuffled(arrays, seed=0):
    """The arrays in the order in which a score that learns takes their rows: it is tested on the last ones."""
    order = torch.randperm(len(arrays[0]), generator=torch.Generator().manual_seed(seed)).numpy()
    return [array[order] for array in arrays]


def information(latents, factors):
    codes = [np.digitize(latent, np.histogram_bin_edges(latent, 20)[1:-1]) for latent in latents.T]
    return np.array([[mutual_info_score(code, factor) for factor in factors.T] for code in codes])


def test_mig(arrays):
    latents, factors = arrays
    matrix = information(latents, factors)
    ordered = np.sort(matrix, axis=0)
    gaps = (ordered[-1] - ordered[-2]) / [entropy(np.bincount(factor)) for factor in factors.T]
    score = metrics.mig.from_samples(latents, factors, names=["a", "b", "c"])
    assert float(score) == pytest.approx(gaps.mean()) and score.values["b"] == pytest.approx(gaps[1])
    np.testing.assert_allclose(score.matrix, matrix, atol=1e-12)
    np.testing.assert_allclose(metrics.mutual_information.from_samples(latents, factors).matrix, matrix, atol=1e-12)


def test_the_encoding_form_is_the_twin_on_what_it_draws(tables):
    """Both forms give the same number when the twin gets the points that the seed draws."""
    table = tables["rotated"]
    index = torch.randint(4096, (10_000,), generator=torch.Generator().manual_seed(4))
    latents, factors = table(index), table.space.factors(index)
    for score in (metrics.mig, metrics.irs, metrics.mutual_information):
        assert score(table, seed=4).values == score.from_samples(latents, factors, names=table.space.names).values


def test_modularity_and_explicitness(arrays):
    latents, factors = shuffled(arrays)
    matrix = information(latents[:-TEST], factors[:-TEST])
    template = np.zeros_like(matrix)
    template[np.arange(4), matrix.argmax(1)] = matrix.max(1)
    deviation = ((matrix - template) ** 2).sum(1) / (matrix.max(1) ** 2 * 2)
    areas = []
    for factor in factors.T:
        labels = [factor == value for value in np.unique(factor)]
        fits = [LogisticRegression().fit(latents[:-TEST], label[:-TEST]) for label in labels]
        areas.append(
            np.mean(
                [
                    roc_auc_score(label[-TEST:], fit.predict_proba(latents[-TEST:])[:, 1])
                    for label, fit in zip(labels, fits, strict=True)
                ]
            )
        )
    values = metrics.modularity.from_samples(*arrays, num_test=TEST).values
    assert values["modularity"] == pytest.approx((1 - deviation).mean())
    close = dict(abs=2e-4)  # the solver stops where it is near enough, and that depends on where zero lies
    assert values["auc"] == pytest.approx(np.mean(areas), **close) and values["explicitness"] == 2 * values["auc"] - 1
    assert values["explicitness_factor 2"] == pytest.approx(2 * areas[2] - 1, **close)


def test_modularity_alone_is_the_same_number(arrays, tables):
    """Leaving explicitness out changes nothing else: not the points, not the matrix."""
    with_it = metrics.modularity.from_samples(*arrays, num_test=TEST)
    alone = metrics.modularity.from_samples(*arrays, num_test=TEST, explicitness=False)
    assert alone.values == {"modularity": with_it.values["modularity"]} and alone.matrix.equals(with_it.matrix)
    drawn = metrics.modularity(tables["rotated"], num_samples=2000, explicitness=False)
    assert float(drawn) == float(metrics.modularity(tables["rotated"], num_samples=2000))
    with pytest.raises(ValueError, match=r"explicitness: got 'no'; allowed are True, False\."):
        metrics.modularity(tables["rotated"], explicitness="no")


def test_sap(arrays):
    latents, factors = shuffled(arrays)
    accuracy = np.empty((4, 3))
    for j in range(4):
        for k in range(3):
            model = LinearSVC(C=0.01, class_weight="balanced", max_iter=10_000)
            model.fit(latents[:-TEST, [j]], factors[:-TEST, k])
            accuracy[j, k] = model.score(latents[-TEST:, [j]], factors[-TEST:, k])
    ordered = np.sort(accuracy, axis=0)
    score = metrics.sap.from_samples(*arrays, num_test=TEST)
    np.testing.assert_allclose(score.matrix, accuracy, atol=2e-3)
    assert float(score) == pytest.approx((ordered[-1] - ordered[-2]).mean(), abs=3e-3)
    squared = np.sort([[pearsonr(latent, factor)[0] ** 2 for factor in factors.T] for latent in latents.T], axis=0)
    assert score.values["continuous"] == pytest.approx((squared[-1] - squared[-2]).mean())


def test_irs(arrays):
    latents, factors = arrays
    matrix = np.empty((4, 3))
    for j, latent in enumerate(latents.T):
        for k, factor in enumerate(factors.T):
            groups = [latent[factor == value] for value in range(factor.max() + 1)]
            deviation = np.mean([np.quantile(abs(group - group.mean()), 0.99) for group in groups])
            matrix[j, k] = 1 - deviation / abs(latent - latent.mean()).max()
    weights = abs(latents - latents.mean(0)).max(0)
    score = metrics.irs.from_samples(latents, factors)
    np.testing.assert_allclose(score.matrix, matrix)
    assert float(score) == pytest.approx(np.average(matrix.max(1), weights=weights))
    assert score.values["z3"] == pytest.approx(matrix[3].max())


def test_irs_is_one_less_the_worst_that_the_other_factors_do():
    """With every point of the grid once and no quantile: Suter et al.'s EMPIDA, intervention by intervention."""
    sizes = (4, 3, 5)
    grid = list(product(*map(range, sizes)))
    latents = {point: np.array([point[0] + 0.4 * point[1], np.sin(point[2]) - 0.2 * point[0]]) for point in grid}
    table = np.stack(list(latents.values()))
    empida = np.empty((2, 3))
    for j, k in product(range(2), range(3)):
        worst = []
        for value in range(sizes[k]):  # do(v_k = value), and then every intervention on the others
            reached = [latents[point][j] for point in grid if point[k] == value]
            worst.append(max(abs(sum(reached) / len(reached) - one) for one in reached))
        empida[j, k] = sum(worst) / sizes[k]
    farthest = [max(abs(one - table[:, j].mean()) for one in table[:, j]) for j in range(2)]
    robustness = [1 - min(empida[j]) / farthest[j] for j in range(2)]
    score = metrics.irs.from_samples(np.tile(table, (10, 1)), np.tile(grid, (10, 1)), quantile=1)
    np.testing.assert_allclose(score.matrix, 1 - empida / np.array(farthest)[:, None], atol=1e-12)
    assert float(score) == pytest.approx(np.dot(robustness, farthest) / sum(farthest)) and 0.3 < float(score) < 0.9


def test_irs_of_a_latent_that_no_factor_explains_is_0():
    """At each value nearly all points lie at one end, and three of a hundred at the other: further than from 5."""
    factor = np.repeat([0, 1], 100)
    latent = 10.0 * ((np.arange(200) % 100 < 3) ^ factor)
    with pytest.warns(UserWarning, match="Only one factor varies"):
        score = metrics.irs.from_samples(latent[:, None], factor[:, None])
    assert score.matrix.loc["z0", "factor 0"] == pytest.approx(1 - 9.7 / 5)
    assert float(score) == score.values["z0"] == 0.0


def test_dci(arrays):
    given = [array[:900] for array in arrays]
    latents, factors = shuffled(given, seed=7)
    models = [GradientBoostingClassifier(random_state=7).fit(latents[:600], factor[:600]) for factor in factors.T]
    importance = np.stack([model.feature_importances_ for model in models], 1).clip(min=0)  # some round to −1e-16
    rows, columns = importance.sum(1) / importance.sum(), importance.sum(0) / importance.sum()
    score = metrics.dci.from_samples(*given, seed=7, levels=None, jobs=1)
    np.testing.assert_allclose(score.matrix, importance, atol=2e-3)
    assert score.values["disentanglement"] == pytest.approx(rows @ (1 - entropy(importance, base=3, axis=1)), abs=2e-3)
    assert score.values["completeness"] == pytest.approx(columns @ (1 - entropy(importance, base=4, axis=0)), abs=2e-3)
    accuracy = np.mean(
        [model.score(latents[600:], factor[600:]) for model, factor in zip(models, factors.T, strict=True)]
    )
    assert score.values["informativeness"] == pytest.approx(accuracy, abs=0.01)


def test_downstream_logistic(arrays):
    points, values = shuffled(arrays)
    latents, factors = scale(points[:-TEST]), values[:-TEST]
    test = (points[-TEST:] - points[:-TEST].mean(0)) / points[:-TEST].std(0)
    accuracy = [
        LogisticRegression().fit(latents, f).score(test, t) for f, t in zip(factors.T, values[-TEST:].T, strict=True)
    ]
    score = metrics.downstream_logistic.from_samples(*arrays, num_test=TEST)
    assert float(score) == pytest.approx(np.mean(accuracy), abs=2e-3)
    assert score.values["efficiency"] == score.values["accuracy_few"] / score.values["accuracy"]
    assert 0.6 < score.values["efficiency"] < 1


@pytest.mark.slow
def test_downstream_trees(arrays):
    given = [array[:900] for array in arrays]
    latents, factors = shuffled(given)
    score = metrics.downstream_trees.from_samples(*given, num_test=300, levels=None)
    dci = metrics.dci.from_samples(*given, num_test=300, levels=None)
    assert float(score) == dci.values["informativeness"]  # the same trees on the same points
    few = [
        GradientBoostingClassifier(random_state=0).fit(latents[:100], factor[:100]).score(latents[600:], factor[600:])
        for factor in factors.T
    ]
    assert score.values["accuracy_few"] == pytest.approx(np.mean(few), abs=0.02)


def gaussians(sigma, n=2000):
    """n points whose covariance (normalised by n) is sigma exactly."""
    points = np.random.default_rng(3).normal(size=(n, len(sigma)))
    points -= points.mean(0)
    return points @ np.linalg.inv(np.linalg.cholesky(points.T @ points / n)).T @ np.linalg.cholesky(sigma).T


SIGMA = np.array([[2.0, 0.9, -0.3], [0.9, 1.0, 0.2], [-0.3, 0.2, 0.5]])


def test_gaussian_total_correlation():
    latents = gaussians(SIGMA)
    expected = 0.5 * (np.log(np.diag(SIGMA)).sum() - np.linalg.slogdet(SIGMA)[1])
    assert float(metrics.gaussian_total_correlation.from_samples(latents)) == pytest.approx(expected)
    scaled = latents * [1e-6, 1, 1e6] + 5  # it is information: no scale and no shift matters
    assert float(metrics.gaussian_total_correlation.from_samples(scaled)) == pytest.approx(expected, rel=1e-6)
    dead = np.concatenate([latents, np.ones((len(latents), 2))], 1)
    assert float(metrics.gaussian_total_correlation.from_samples(dead)) == pytest.approx(expected)
    double = np.concatenate([latents, latents[:, :1] + latents[:, 1:2]], 1)
    assert float(metrics.gaussian_total_correlation.from_samples(double)) == float("inf")


def test_wasserstein_correlation():
    diagonal = np.diag(np.diag(SIGMA))
    root = sqrtm(diagonal)
    expected = np.trace(SIGMA + diagonal - 2 * sqrtm(root @ SIGMA @ root).real)
    score = metrics.wasserstein_correlation.from_samples(gaussians(SIGMA))
    assert float(score) == pytest.approx(expected) and score.values["normalised"] == pytest.approx(expected / 3.5)
    pair = gaussians(np.array([[1.0]]))[:, [0, 0]]
    assert float(metrics.wasserstein_correlation.from_samples(pair)) == pytest.approx(4 - 2 * np.sqrt(2))


def test_the_sampled_representation_adds_the_variance_of_the_posterior(small):
    """Cov[z] = Cov[μ] + E[diag σ²]: noise drowns the correlation of the means."""
    means, variance = gaussians(SIGMA, 40_000), np.array([0.5, 4.0, 0.1])
    noisy = SIGMA + np.diag(variance)
    for score, key, expected in (
        (
            metrics.gaussian_total_correlation,
            "sampled_total_correlation",
            0.5 * (np.log(np.diag(noisy)).sum() - np.linalg.slogdet(noisy)[1]),
        ),
        (
            metrics.wasserstein_correlation,
            "sampled_wasserstein",
            2 * np.trace(noisy - sqrtm(np.sqrt(np.diag(noisy)) * noisy * np.sqrt(np.diag(noisy))[:, None]).real),
        ),
    ):
        result = score.from_samples(means, log_variance=np.log(variance) * np.ones_like(means))
        assert result.values[key] == pytest.approx(expected, rel=0.06) and result.values[key] < float(result)


def test_a_posterior_gives_both_representations(small):
    def posterior(images):
        mean = images.flatten(1)[:, 4:200:40].float() / 255
        return mean, mean * 0 - 30

    score = metrics.gaussian_total_correlation(lambda images: posterior(images)[0], small, posterior=posterior)
    assert list(score.values) == ["total_correlation", "sampled_total_correlation"]
    assert score.values["sampled_total_correlation"] == pytest.approx(float(score), rel=1e-3)
