"""Chapter 7's exercises beyond what is tested for all chapters: their examples, and what they have of the library."""

import math

import pytest
import torch

from course_grading.checks import ch07_infogan as ch07
from course_lib.losses import gradient_penalty
from course_lib.models import mlp_gan
from course_replication.measurements import gans


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_the_example_of_the_bound():
    joint = torch.tensor([[0.5, 0], [0.25, 0.25]], dtype=torch.float64)
    answers = torch.tensor([[0.5, 0], [0.5, 1]], dtype=torch.float64)
    assert ch07.told(joint, answers).tolist() == pytest.approx([0.2158, 0.1733], abs=5e-5)


def test_the_bound_lies_below_and_touches_at_the_posterior():
    for joint, answers in ch07.worlds(generator()):
        information, bound = ch07.told(joint, answers)
        assert bound < information and joint.sum() == pytest.approx(1)
        torch.testing.assert_close(answers.sum(0), torch.ones(joint.shape[1], dtype=torch.float64))
        torch.testing.assert_close(*ch07.told(joint, joint / joint.sum(0)))


def test_some_bounds_are_negative_and_secrets_are_never_alike():
    found = [ch07.told(*case) for case in ch07.worlds(generator())]
    assert any(bound < 0 for _, bound in found)
    assert all(joint.sum(1).std() > 0.01 for joint, _ in ch07.worlds(generator()))


def test_the_example_of_the_reader_and_the_librarys():
    example = ch07.log_probability(torch.zeros(1, 4), torch.ones(1, 1), torch.tensor([0]))
    assert example.item() == pytest.approx(-2.1121, abs=5e-5)
    model = mlp_gan(gans.Digits(), variance="learnt")
    latents = model.sample(7, generator())
    images = model.draw(latents)
    codes = model.judge(images)[1]
    statistics = torch.cat([*codes.continuous, codes.logits[0]], 1)
    ours = ch07.log_probability(statistics, latents[:, :2], latents[:, 2:12].argmax(1))
    torch.testing.assert_close(ours, codes.log_probability(latents[:, :12]))


def test_the_example_of_the_critic_and_the_librarys_penalty():
    one = [torch.tensor([value]) for value in (2.0, 1.0)]
    assert ch07.critic_loss(*one, torch.full((1, 1, 1, 1), 3.0), 10.0).item() == pytest.approx(39)
    weights = torch.randn(1, 2, 3, generator=generator())
    real, drawn = torch.rand(2, 5, 1, 2, 3, generator=generator())
    expected = gradient_penalty(lambda x: (x.square() * weights).sum((1, 2, 3)), real, drawn, generator(1))
    share = torch.empty(5).uniform_(generator=generator(1)).view(-1, 1, 1, 1)
    slopes = 2 * weights * (share * real + (1 - share) * drawn)
    torch.testing.assert_close(ch07.critic_loss(torch.zeros(5), torch.zeros(5), slopes, 1.0), expected)


def test_a_planted_fault_shows_only_where_the_slope_is_0():
    for on_data, on_drawn, slopes, eta in ch07.critics(generator()):
        assert slopes[0].abs().max() == 0 < slopes[1:].abs().min()
        rooted = ch07._critic(on_data, on_drawn, slopes, eta, lengths=ch07._lengths)
        torch.testing.assert_close(rooted, ch07.critic_loss(on_data, on_drawn, slopes, eta))
        (gradient,) = torch.autograd.grad(rooted, slopes)
        assert gradient[0].isnan().all() and gradient[1:].isfinite().all()


def test_what_codes_pay_by_quadrature():
    c = torch.linspace(-1, 1, 200_001, dtype=torch.float64)

    def reward(error, sigma):
        square = torch.tensor(error, dtype=torch.float64) ** 2 if error is not None else c.square()
        return (-0.5 * math.log(2 * math.pi) - math.log(sigma) - square / (2 * sigma**2)).mean().item()

    root = 3**-0.5
    assert ch07.WORTH["fixed"] == pytest.approx(4 * (reward(0.0, 1) - reward(None, 1)), abs=1e-5)
    assert ch07.WORTH["bound"] == pytest.approx(math.log(3) + 4 * (math.log(2) + reward(0.0, 1)))
    assert ch07.WORTH["learnt"] == pytest.approx(4 * (reward(0.01, 0.01) - reward(None, root)), abs=1e-4)
    even = ch07.WORTH["break-even"]
    assert reward(even, even) - reward(None, root) == pytest.approx(ch07.WORTH["category"], abs=1e-5)


def test_the_examples_of_the_probe():
    logits = torch.zeros(2, 2, dtype=torch.float64)
    for labels, expected in (([0, 1], 0.0), ([0, 0], -0.6931)):
        value = ch07.information_of_probe(logits, torch.tensor(labels)).item()
        assert value == pytest.approx(expected, abs=5e-5)


def test_one_class_never_occurs_and_one_probe_is_worse_than_none():
    cases = ch07.probes(generator())
    assert all(labels.max() < logits.shape[1] - 1 for logits, labels in cases)
    assert min(ch07.information_of_probe(*case) for case in cases) < -1


def test_what_is_paid_by_enumeration():
    """Sixteen secrets, a grid of four by four in place of the square; an image is a pair of what the generator sees."""
    secrets = torch.cartesian_prod(torch.arange(4), torch.arange(4))
    mirrored = torch.stack([3 - secrets[:, 0], secrets[:, 1]], 1)

    def paid(*ways):
        """The information, where dice choose one of the ways to draw."""
        images = torch.cat([4 * way[:, 0] + way[:, 1] for way in ways])
        joint = torch.zeros(16, 16, dtype=torch.float64)
        joint.index_put_((torch.arange(16).repeat(len(ways)), images), torch.tensor(1.0).double(), accumulate=True)
        joint = joint / joint.sum()
        return ch07.told(joint, joint / joint.sum(0))[1].item()

    cut = torch.stack([(secrets[:, 0] + 1) % 4, secrets[:, 1]], 1)
    dealt = secrets[torch.randperm(16, generator=generator())]
    merged = secrets.where(secrets != 3, torch.tensor(2))
    found = {"rename": paid(dealt), "mirror": paid(mirrored), "cut": paid(cut), "one image": paid(secrets)}
    found |= {"deal": paid(dealt), "merge": paid(merged), "toss": paid(secrets, mirrored)}
    for name, value in found.items():
        assert ch07.PAY[name] == ("stays" if value == pytest.approx(math.log(16)) else "falls"), name


def test_words_in_any_case(judged):
    assert judged("07.6", {name: word.upper() for name, word in reversed(ch07.PAY.items())}).passed
