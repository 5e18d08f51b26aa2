"""The learnt kernel: its distances and penalty by brute force, and that training makes distances rank like factors."""

from contextlib import nullcontext

import pytest
import torch
from scipy.stats import spearmanr
from torch.nn.functional import conv2d

from course_lib.data import XYSquares
from course_lib.distances import correlation_table, perceived_distance
from course_lib.frameworks import BetaVAE, load_framework
from course_lib.losses import LearntKernel
from course_lib.losses.learnt_kernel import symmetrised
from course_lib.models import mlp_vae
from course_lib.sampling import factor_distance
from course_lib.training import fit_kernel

DATA = XYSquares(2, 2, squares=2, image_size=16)


def batch():
    draws = torch.Generator().manual_seed(0)
    index = torch.randint(len(DATA), (40,), generator=draws)
    first, second = torch.randint(40, (2, 200), generator=draws)
    return index, DATA.images(index).float() / 255, first, second


def test_distances_equal_the_direct_convolution_pair_by_pair():
    _, images, first, second = batch()
    learnt = LearntKernel(3, noise=0.5)
    square = learnt.weights.detach().abs().expand(2, 1, -1, -1)
    blurred = conv2d(images, square, padding=3, groups=2)
    expected = [((v[first] - v[second]) ** 2).mean((1, 2, 3)) for v in (images, blurred)]
    torch.testing.assert_close(learnt.distances(images, first, second), sum(expected), rtol=1e-4, atol=1e-5)


def test_the_objective_is_minus_spearman_plus_asymmetry():
    """With soft ranks the correlation differs a little from SciPy's; the penalty is written out."""
    index, images, first, second = batch()
    learnt = LearntKernel(5, symmetry=2.0, noise=0.5)
    truth = factor_distance(DATA.space, index[first], index[second])
    terms = learnt.loss(images, first, second, truth)
    hard = spearmanr(learnt.distances(images, first, second).detach(), truth).statistic
    assert terms["correlation"].item() == pytest.approx(-hard, abs=0.03)
    kernel = learnt.weights.detach().abs()
    views = [kernel.rot90(k) for k in range(4)] + [kernel.flip(0), kernel.flip(1), kernel.T, kernel.rot90(2).T]
    mean = sum(views) / 8
    expected = 2.0 * ((kernel - mean) ** 2).sum() / (kernel**2).sum()
    torch.testing.assert_close(terms["asymmetry"].detach(), expected)
    assert terms["correlation"].requires_grad and all(p.grad is None for p in learnt.parameters())


def test_symmetrised_is_a_projection_on_symmetric_kernels():
    kernel = torch.rand(7, 7, generator=torch.Generator().manual_seed(0))
    once = symmetrised(kernel)
    for view in (once.rot90(1), once.flip(0), once.flip(1), once.T):
        torch.testing.assert_close(view, once)
    torch.testing.assert_close(symmetrised(once), once)
    assert once.sum() == pytest.approx(kernel.sum().item())


def test_without_noise_it_starts_as_the_box_of_the_thesis():
    pairs = (torch.arange(50), torch.arange(50, 100))
    start = perceived_distance(DATA, loss=LearntKernel(7, noise=0.0).kernel)(*pairs)
    torch.testing.assert_close(start, perceived_distance(DATA, loss="mse-box")(*pairs), rtol=1e-5, atol=1e-8)


def test_training_passes_the_hand_made_blur_and_stays_non_negative():
    """150 steps on the small grid: random pairs rank better than with the box, which ranks better than plain MSE."""
    learnt = LearntKernel(15)
    history = fit_kernel(learnt, DATA, steps=150, batch_size=256, pairs=1024, learning_rate=1e-2)
    rank = {}
    for name, loss in (("mse", "mse"), ("box", "mse-box"), ("learnt", learnt.kernel)):
        draws = torch.Generator().manual_seed(1)
        table = correlation_table(perceived_distance(DATA, loss=loss), DATA.space, draws, n=5000)
        rank[name] = table.loc["random", "rank"]
    assert rank["mse"] < 0.45 < 0.9 < rank["box"] < rank["learnt"] - 0.02 and rank["learnt"] > 0.97
    assert (learnt.kernel >= 0).all() and learnt.weights.grad is None
    frame = history.to_frame()
    assert history.steps == 150 and frame.correlation.iloc[-1] < frame.correlation.iloc[0]
    assert list(frame) == ["loss", "correlation", "asymmetry", "seconds"]


def test_training_depends_on_its_seed_alone():
    kernels = []
    for global_seed, seed in ((0, 1), (1, 1), (1, 2)):
        torch.manual_seed(global_seed)
        learnt = LearntKernel(3)
        fit_kernel(learnt, DATA, steps=3, batch_size=32, pairs=64, seed=seed)
        kernels.append(learnt.kernel.detach())
    assert torch.equal(kernels[0], kernels[1]) and not torch.equal(kernels[1], kernels[2])


def test_training_looks_at_no_context_that_surrounds_it():
    kernels = []
    for context in (nullcontext(), torch.no_grad(), torch.autocast("cpu", torch.bfloat16)):
        learnt = LearntKernel(3)
        with context:
            fit_kernel(learnt, DATA, steps=3, batch_size=32, pairs=64)
        kernels.append(learnt.kernel.detach())
    assert torch.equal(kernels[0], kernels[1]) and torch.equal(kernels[0], kernels[2])


def test_a_framework_takes_the_kernel_and_keeps_it(tmp_path):
    learnt = LearntKernel(3)
    framework = BetaVAE(mlp_vae(DATA, 3), reconstruction=learnt.kernel)
    framework.save(tmp_path / "model")
    restored = load_framework(tmp_path / "model").likelihood.kernel
    assert torch.equal(restored, learnt.kernel.detach()) and not restored.requires_grad


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: LearntKernel(-1), "radius: got -1"),
        (lambda: LearntKernel(3, symmetry=-1), "symmetry: got -1"),
        (lambda: LearntKernel(3, noise="a"), "noise: got 'a'"),
        (lambda: fit_kernel(LearntKernel(3), DATA, steps=-1), "steps: got -1"),
        (lambda: fit_kernel(LearntKernel(3), DATA, steps=1, pairs=1), "pairs: got 1"),
        (lambda: fit_kernel(LearntKernel(3), DATA, steps=1, learning_rate=0), "learning_rate: got 0"),
        (lambda: fit_kernel(LearntKernel(3), DATA, steps=1, by="l2"), "by: got 'l2'"),
        (lambda: fit_kernel(torch.nn.Linear(1, 1), DATA, steps=1), "kernel: got Linear"),
    ],
)
def test_errors_name_the_argument(call, words):
    with pytest.raises(ValueError, match=words):
        call()
