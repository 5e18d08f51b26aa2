"""The adversaries' terms: cross-entropy by hand, and the slope of critics whose gradient has a closed form."""

import math

import pytest
import torch
from scipy.stats import kstest
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits

from course_lib.losses import discrimination, gradient_penalty


def generator():
    return torch.Generator().manual_seed(0)


def test_discrimination_is_a_balanced_cross_entropy():
    first, second = (torch.randn(n, generator=generator(), dtype=torch.float64).requires_grad_() for n in (5, 7))
    weights = torch.tensor([0.1] * 5 + [0.1 * 5 / 7] * 7, dtype=torch.float64)  # both classes count the same
    classes = torch.tensor([1.0] * 5 + [0.0] * 7, dtype=torch.float64)
    expected = binary_cross_entropy_with_logits(torch.cat([first, second]), classes, weights, reduction="sum")
    found = discrimination(first, second)
    torch.testing.assert_close(found, expected)
    ours, theirs = (torch.autograd.grad(value, (first, second)) for value in (found, expected))
    torch.testing.assert_close(ours, theirs)
    assert discrimination(torch.zeros(3), torch.zeros(3)).item() == pytest.approx(math.log(2))


def test_discrimination_stays_finite_where_probabilities_do_not():
    assert discrimination(torch.tensor([-1e4]), torch.tensor([1e4])).item() == pytest.approx(1e4)
    assert discrimination(torch.tensor([1e4]), torch.tensor([-1e4])).item() == 0


def test_the_penalty_of_a_quadratic_critic_with_gradients():
    """f(x) = a·x + ½ xᵀMx has the gradient a + Mx; its penalty, and how that moves a and M, by hand."""
    a = torch.randn(6, generator=generator()).requires_grad_()
    m = torch.randn(6, 6, generator=generator())
    m = (m + m.T).requires_grad_()
    first, second = torch.randn(2, 5, 2, 3, 1, generator=generator())

    def critic(images):
        x = images.flatten(1)
        return x @ a + 0.5 * ((x @ m) * x).sum(1)

    found = gradient_penalty(critic, first, second, generator())
    alpha = torch.rand(5, 1, 1, 1, generator=generator())
    x = (alpha * first + (1 - alpha) * second).flatten(1)
    expected = (((a + x @ m).square().sum(1).sqrt() - 1) ** 2).mean()
    torch.testing.assert_close(found, expected)
    ours, theirs = (torch.autograd.grad(value, (a, m)) for value in (found, expected))
    torch.testing.assert_close(ours[0], theirs[0], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(ours[1] + ours[1].T, theirs[1] + theirs[1].T, rtol=1e-4, atol=1e-4)  # M is symmetric


def test_places_are_uniform_between_the_two_samples_one_for_each_pair():
    """The faults: α ~ N(0, 1), which leaves the segment, one α for all, and one for each pixel."""
    seen = []

    def critic(images):
        seen.append(images.detach())
        return images.flatten(1).sum(1)

    gradient_penalty(critic, torch.ones(5000, 2, 3, 3), torch.zeros(5000, 2, 3, 3), generator())
    shares = seen[0].flatten(1)
    assert torch.equal(shares, shares[:, :1].expand_as(shares))
    assert kstest(shares[:, 0].numpy(), "uniform").pvalue > 1e-3


def test_a_critic_without_slope_has_a_penalty_of_1_and_finite_gradients():
    """The fault: the square root of a sum of squares, whose gradient at 0 is NaN."""
    layer = nn.Linear(4, 1)
    nn.init.zeros_(layer.weight)

    def critic(images):
        return layer(images).squeeze(1)

    penalty = gradient_penalty(critic, torch.ones(3, 4), torch.zeros(3, 4), generator())
    penalty.backward()
    assert penalty.item() == 1 and (layer.weight.grad == 0).all()
    x = torch.ones(3, 4, requires_grad=True)
    (slope,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    naive = (slope.square().sum(1).sqrt() - 1).square().mean()
    assert torch.autograd.grad(naive, layer.weight)[0].isnan().all()


def test_the_penalty_bounds_the_critic():
    """f(x) = ax, samples 3 apart: critic plus penalty is least at a = 1 + 3 / 2η. With the other sign, nowhere."""
    a = torch.tensor(0.5, requires_grad=True)
    near, far, draws = torch.zeros(8, 1), torch.full((8, 1), 3.0), generator()

    def critic(x):
        return (a * x).squeeze(1)

    for _ in range(200):
        loss = critic(near).mean() - critic(far).mean() + 10 * gradient_penalty(critic, far, near, draws)
        (slope,) = torch.autograd.grad(loss, a)
        with torch.no_grad():
            a -= 0.02 * slope
    assert a.item() == pytest.approx(1 + 3 / 20, abs=1e-3)


def test_the_penalty_moves_neither_sample():
    first, second = torch.ones(3, 4, requires_grad=True), torch.zeros(3, 4, requires_grad=True)
    weight = torch.ones(4, requires_grad=True)
    penalty = gradient_penalty(lambda x: (x.square() * weight).sum(1), first, second, generator())
    found = torch.autograd.grad(penalty, (first, second, weight), allow_unused=True)
    assert found[0] is None and found[1] is None and found[2] is not None
