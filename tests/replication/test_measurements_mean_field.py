"""Measurements of mean-field inference: each answers False when a model or its inference is replaced by a wrong one."""

import numpy as np
import pytest

from course_lib.theory import LinearGaussian, SparseFit
from course_replication.measurements import mean_field


def fails(found, *answers):
    return all(not found[answer] for answer in answers)


class Exact(LinearGaussian):
    """Its bound is tight whatever the rotation, as with a posterior that is not diagonal."""

    def free_energy(self, moments=None, beta=1.0):
        return self.log_likelihood(moments)


class Looser(LinearGaussian):
    """Rotations change the law, and the bound is a nat too low."""

    def rotate(self, degrees):
        return Looser(self.weights * (1 + degrees / 100), self.noise)

    def free_energy(self, moments=None, beta=1.0):
        return super().free_energy(moments, beta) - 1

    def posterior(self, beta=1.0):
        return super().posterior(1 / beta)


@pytest.mark.parametrize(
    ("planted", "answers"),
    [
        (Exact, ("free-energy-lower-in-between", "elbo-falls-with-rotation-when-unequal")),
        (
            Looser,
            (
                "likelihood-constant-under-rotation",
                "free-energy-equals-likelihood-at-multiples-of-90-degrees",
                "elbo-unchanged-when-equal",
            ),
        ),
    ],
)
def test_rotations(context, monkeypatch, planted, answers):
    assert all(value for name, value in mean_field.rotations(context).items() if not name.startswith("free-energy/"))
    monkeypatch.setattr(mean_field, "LinearGaussian", planted)
    assert fails(mean_field.rotations(context), *answers)


def test_pruning(context, monkeypatch):
    found = mean_field.pruning(context)
    assert found["likelihood-constant"] and found["free-energy-highest-at-0"] and found["bound-tight-at-0"]
    monkeypatch.setattr(mean_field, "LinearGaussian", Exact)
    assert fails(mean_field.pruning(context), "free-energy-highest-at-0")
    monkeypatch.setattr(mean_field, "LinearGaussian", Looser)
    assert fails(mean_field.pruning(context), "bound-tight-at-0")
    monkeypatch.setattr(mean_field, "LinearGaussian", lambda weights, noise: LinearGaussian(np.square(weights), noise))
    assert fails(mean_field.pruning(context), "likelihood-constant")


def test_weighting(context, monkeypatch):
    found = mean_field.weighting(context)
    assert found["amplitude/beta-1"] > found["amplitude/beta-5"] and found["amplitude-falls-in-every-model"]
    assert found["same-optimal-angle-for-every-beta"] and found["posterior-wider-with-beta"]
    monkeypatch.setattr(mean_field, "LinearGaussian", Looser)
    assert fails(mean_field.weighting(context), "same-optimal-angle-for-every-beta", "posterior-wider-with-beta")


def test_the_gap(context, monkeypatch):
    found = mean_field.gap(context)
    assert found["bound-equals-likelihood-minus-gap"] and found["bound-as-by-sampling"]
    assert found["of-equal-likelihoods-the-factorised-posterior-wins"]
    with monkeypatch.context() as elsewhere:  # turned to where the posterior does not factorise
        elsewhere.setattr(mean_field.np.linalg, "eigh", lambda precision: (None, np.linalg.qr(precision)[0]))
        assert fails(mean_field.gap(context), "of-equal-likelihoods-the-factorised-posterior-wins")
    monkeypatch.setattr(mean_field, "LinearGaussian", Looser)
    assert fails(mean_field.gap(context), "bound-equals-likelihood-minus-gap", "bound-as-by-sampling")


def test_replicated_data(context, monkeypatch):
    assert mean_field.replicated(context)["same-optimum-as-replicated-data"]
    monkeypatch.setattr(mean_field, "LinearGaussian", Looser)
    assert fails(mean_field.replicated(context), "same-optimum-as-replicated-data")


def test_isotropic_posteriors(context, monkeypatch):
    found = mean_field.isotropic(context)
    assert found["kl-of-rotated-isotropic-posteriors-equal"] and not found["kl-when-unequal-equal"]
    monkeypatch.setattr(mean_field, "kl_to_standard_normal", lambda posterior: posterior.mean.abs())
    assert fails(mean_field.isotropic(context), "kl-of-rotated-isotropic-posteriors-equal")


def sparse_with(context, monkeypatch, by_beta):
    """The answers when fitting gives these directions, or None for the truth, at each β."""

    def planted(x, weights, noise, *, beta, degrees_of_freedom, steps):
        degrees, lengths = by_beta[beta]
        return SparseFit(lengths * np.stack([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))]), -1.0, 0.0)

    monkeypatch.setattr(mean_field, "fit_sparse", planted)
    return mean_field.sparse(context, num_points=10, datasets=1, steps=1)


ALL = np.ones(3)
TWO = np.array([1.0, 1.0, 0.01])


def test_the_figure_as_the_paper_has_it(context, monkeypatch):
    """Three components that have moved apart at β = 1, and two at a right angle at β = 5."""
    found = sparse_with(context, monkeypatch, {1.0: ([0, 70, 110], ALL * [1, 1, 0.5]), 5.0: ([10, 100, 50], TWO)})
    answers = [name for name, value in found.items() if isinstance(value, bool)]
    assert len(answers) == 5 + 3 * 3 and all(found[name] for name in answers) and found["settings"] == 3
    assert found["bias/spread/beta-5"] == pytest.approx((10 + 40 + 20) / 3)
    assert found["angle/spread/beta-5"] == pytest.approx(90) and found["kept/spread/beta-5"] == 2


def test_other_fits_give_other_answers(context, monkeypatch):
    found = sparse_with(context, monkeypatch, {1.0: ([0, 10, 20], ALL), 5.0: ([10, 80, 50], ALL)})
    answers = ("more-orthogonal-than-the-truth", "beta-5-keeps-two", "beta-5-keeps-two/noisy")
    assert found["vi-keeps-three"] and fails(found, *answers, "vi-more-orthogonal-than-the-truth", "beta-5-orthogonal")
    assert fails(found, "two-at-a-right-angle-by-beta-5-alone/spread")
    found = sparse_with(context, monkeypatch, {1.0: ([0, 90, 20], TWO), 5.0: ([10, 80, 50], 0 * ALL)})
    assert fails(found, "vi-keeps-three", "beta-5-keeps-two") and found["bias/spread/beta-5"] == 90


def test_two_components_at_either_beta_are_not_the_work_of_beta(context, monkeypatch):
    found = sparse_with(context, monkeypatch, {1.0: ([0, 90, 50], TWO), 5.0: ([10, 100, 50], TWO)})
    assert found["beta-5-keeps-two"] and found["beta-5-orthogonal"]
    assert fails(found, *(f"two-at-a-right-angle-by-beta-5-alone/{name}" for name in mean_field.SPARSE))


def test_the_real_fit_straightens_components(context):
    """A few points and steps: what is measured on the way is there."""
    found = mean_field.sparse(context, num_points=15, datasets=1, steps=5)
    assert found["gain/spread/beta-1"] > 0 and found["kept/spread/truth"] == 3
    assert found["overlap/spread/truth"] == pytest.approx(0.25) and found["angle/narrow/truth"] == pytest.approx(45)
