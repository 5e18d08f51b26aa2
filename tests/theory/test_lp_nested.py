"""Lp-nested laws: integrals, moments, the normal law as a special case, and the ways in which others went wrong."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import gennorm, kstest, norm
from torch.autograd import gradcheck

from course_lib.theory import LpNested


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize(
    ("layout", "outer", "inner"), [((2,), 2.1, 2.2), ((2,), 1.0, 3.0), ((1, 1), 1.5, 4.0), ((2,), 4.0, 1.2)]
)
def test_the_density_integrates_to_1_in_the_plane(layout, outer, inner, scale):
    law = LpNested(layout, outer, inner, scale)
    nodes, weights = np.polynomial.legendre.leggauss(300)
    axis, slope = 5 * (nodes + 1) ** 3, 15 * (nodes + 1) ** 2  # from 0 to 40, densely near 0
    grid = torch.from_numpy(np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2))
    quarter = law.log_density(grid).exp().numpy() @ np.outer(weights * slope, weights * slope).ravel()
    assert 4 * quarter == pytest.approx(1, abs=1e-6)


def test_with_all_exponents_2_and_scale_2_it_is_standard_normal():
    law = LpNested((4,) * 5, 2.0, 2.0)
    z = torch.randn(50, 20, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    expected = torch.from_numpy(norm.logpdf(z.numpy()).sum(1))
    torch.testing.assert_close(law.log_density(z), expected, rtol=1e-12, atol=1e-12)
    wider = LpNested((4,) * 5, 2.0, 2.0, scale=1.0)  # the scale of the papers' Eq. 5 would give variance ½
    expected = torch.from_numpy(norm.logpdf(z.numpy(), scale=0.5**0.5).sum(1))
    torch.testing.assert_close(wider.log_density(z), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 4.0])
def test_with_one_exponent_the_latents_are_independent_and_generalised_normal(p):
    law, single = LpNested((2, 1), p, p, 1.0), gennorm(p)
    z = torch.randn(50, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    expected = torch.from_numpy(single.logpdf(z.numpy()).sum(1))
    torch.testing.assert_close(law.log_density(z), expected, rtol=1e-12, atol=1e-12)
    for column in law.sample(5000, seed=1).T.numpy():
        assert kstest(column, single.cdf).pvalue > 1e-3


def test_subspaces_have_densities_of_their_own():
    """The joint log-density is the sum of those of the subspaces, each with its own inner exponent."""
    z = torch.randn(50, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    joint = LpNested((2, 3), 2.1, [1.3, 3.0]).log_density(z)
    parts = LpNested((2,), 2.1, 1.3).log_density(z[:, :2]) + LpNested((3,), 2.1, 3.0).log_density(z[:, 2:])
    torch.testing.assert_close(joint, parts, rtol=1e-12, atol=1e-12)


def test_samples_have_the_moments_of_the_density():
    """E v_i^p0 is s n_i / p0 (a gamma law); within a subspace the shares of |z|^p are alike; signs are even."""
    law = LpNested((2, 3), 2.1, [1.3, 3.0])
    sample = law.sample(100_000, seed=0)
    powers = law.radii(sample).pow(2.1).mean(0)
    torch.testing.assert_close(powers, 2 / 2.1 * torch.tensor([2.0, 3.0]).double(), rtol=0.02, atol=0)
    shares = sample[:, 2:].abs().pow(3) / law.radii(sample)[:, 1:].pow(3)
    torch.testing.assert_close(shares.mean(0), torch.full((3,), 1 / 3).double(), rtol=0.02, atol=0)
    assert sample.mean(0).abs().max() < 0.02 and (sample > 0).double().mean().item() == pytest.approx(0.5, abs=0.005)
    assert np.array_equal(sample, law.sample(100_000, seed=0)) and not np.array_equal(
        sample, law.sample(100_000, seed=1)
    )


def test_the_layout_of_the_paper():
    law = LpNested((4,) * 5)
    assert (law.dim, law.outer, law.inner.tolist(), law.scale) == (20, 2.1, [2.2] * 5, 2.0)


def test_densities_are_differentiable_in_latents_and_exponents():
    z = torch.tensor([[0.3, -1.2, 0.7], [0.0, 0.0, 1.0]], dtype=torch.float64)
    inner = torch.tensor([1.9, 2.0], dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda p: LpNested((2, 1), 2.1, p).log_density(z[:1]), inner)
    moved = z.clone().requires_grad_()
    LpNested((2, 1), 2.1, inner).log_density(moved).sum().backward()
    assert moved.grad.isfinite().all() and inner.grad.isfinite().all()


def test_a_subspace_at_0_adds_nothing():
    """Whatever the exponent: a floor under the logarithm would show at 9."""
    law = LpNested((1, 2), 1.0, 9.0)
    assert law.norm(torch.tensor([[0.0, 1.0, 1.0]], dtype=torch.float64)).item() == pytest.approx(2 ** (1 / 9))
    assert law.norm(torch.zeros(1, 3, dtype=torch.float64)).item() == 0


def test_single_precision_stays_single_and_agrees():
    z = torch.randn(20, 4, generator=torch.Generator().manual_seed(0))
    law = LpNested((2, 2), inner=torch.tensor(2.2))
    found = law.log_density(z)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), LpNested((2, 2)).log_density(z.double()), rtol=1e-5, atol=1e-5)


def test_the_normaliser_of_one_latent_by_hand():
    """∫ exp(−|z|/s) = 2s."""
    assert LpNested((1,), 1.0, 1.0, 3.0).log_normaliser().item() == pytest.approx(math.log(6))


def test_other_exponents_make_another_law_and_leave_this_one():
    z = torch.randn(20, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    law, other = LpNested((2, 2), 2.1, 2.2), torch.tensor([1.5, 3.0], dtype=torch.float64)
    expected = LpNested((2, 2), 2.1, [1.5, 3.0])
    assert torch.equal(law.with_inner(other).log_density(z), expected.log_density(z))
    assert law.inner.tolist() == [2.2, 2.2]


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("layout", lambda: LpNested(())),
        ("layout", lambda: LpNested(4)),
        ("layout", lambda: LpNested((2, 0))),
        ("layout", lambda: LpNested((2, 1.5))),
        ("outer", lambda: LpNested((2,), 0)),
        ("scale", lambda: LpNested((2,), scale=-1.0)),
        ("inner", lambda: LpNested((2,), inner=[1.0, 2.0])),
        ("inner", lambda: LpNested((2,), inner=0.0)),
        ("inner", lambda: LpNested((2,), inner=float("nan"))),
        ("z", lambda: LpNested((2,)).log_density(torch.zeros(3, 3))),
        ("n", lambda: LpNested((2,)).sample(0)),
        ("seed", lambda: LpNested((2,)).sample(3, seed=-1)),
    ],
)
def test_errors_name_the_argument(argument, call):
    with pytest.raises(ValueError, match=rf"^{argument}(\[\d\])?: got .*allowed"):
        call()


def test_what_is_no_number_has_no_density():
    densities = LpNested((2, 2)).log_density(torch.tensor([[torch.nan, 0, 0, 0], [0.0, 0, 0, 0]]))
    assert densities.isnan().tolist() == [True, False]
    with pytest.raises(ValueError, match="z: got .*allowed is a tensor"):
        LpNested((2, 2)).log_density([[0.0] * 4])
