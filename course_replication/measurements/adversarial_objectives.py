"""Claims about discriminators and critics: FactorVAE's updates, and the objectives of InfoGAN as they are printed."""

import numpy as np
import torch
from scipy.optimize import minimize_scalar

from course_lib.data import XYSquares
from course_lib.frameworks import FactorVAE
from course_lib.frameworks.framework import Step
from course_lib.models import mlp_vae
from course_replication.runs import Context

TOLERANCE = 1e-4  # relative, of gradients in float32
PENALTY = 10.0  # η, as printed
# Laws of real and of generated inputs over four values: apart, overlapping, equal.
LAWS = {
    "apart": ([0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]),
    "overlapping": ([0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]),
    "equal": ([0.25] * 4, [0.25] * 4),
}


def updates(context: Context) -> dict[str, bool | float]:
    """The gradients of both players of `FactorVAE` against Algorithm 2, written out in probabilities.

    For γ of 0, 1 and 40 and batches of 2 and 64, by the same samples. D and 1 − D are a softmax over two logits,
    and their logarithms are differentiated.
    """
    data, found = XYSquares(2, 2, squares=1, image_size=16), {"model": [], "discriminator": [], "leaks": []}
    for gamma in (0.0, 1.0, 40.0):
        for batch in (2, 64):
            framework = FactorVAE(mlp_vae(data, 4, seed=1), gamma, hidden=(32, 32), seed=2)
            index = torch.randint(len(data), (2, batch), generator=context.generator)
            views = torch.stack([data.observations(part) for part in index])
            model, players = list(framework.model.parameters()), list(framework.discriminator.parameters())
            printed = _model_objective(framework, views[0], gamma)
            loss = sum(framework.loss(views, _step("model")).values())
            found["model"].append(_apart(loss, -printed, model))
            loss = sum(framework.loss(views, _step("discriminator")).values())
            found["discriminator"].append(_apart(loss, -_discriminator_objective(framework, views), players))
            leaked = torch.autograd.grad(loss, model, allow_unused=True) if loss.requires_grad else [None]
            found["leaks"].append(any(gradient is not None and gradient.abs().max() > 0 for gradient in leaked))
    return {
        "model-steps-as-printed": max(found["model"]) < TOLERANCE,
        "discriminator-steps-as-printed": max(found["discriminator"]) < TOLERANCE,
        "discriminator-never-moves-the-encoder": not any(found["leaks"]),
        "largest-relative-difference": max(found["model"] + found["discriminator"]),
        "settings": len(found["model"]),
    }


def printed_gan(context: Context) -> dict[str, bool | float]:
    """Equation 15 with log-probabilities for D, and the objective of the original GAN, over all discriminators.

    Each input has a probability of its own, on a grid that comes near 0 and 1, so the maximum is taken input by input.
    """
    grid = np.geomspace(1e-12, 0.5, 2001)
    grid = np.concatenate([grid, 1 - grid[::-1]])
    found, same = {}, []
    for name, laws in LAWS.items():
        real, generated = (np.array(law)[:, None] for law in laws)
        original = real * np.log(grid) + generated * np.log1p(-grid)
        printed = real * np.log(grid) - generated * np.log(grid)
        found[f"highest/original/{name}"] = original.max(1).sum()
        found[f"highest/printed/{name}"] = printed.max(1).sum()
        best = [grid[values.argmax(1)] for values in (original, printed)]
        same.append(np.allclose(*best, atol=1e-3))
        mixture = (real + generated)[:, 0] / 2
        jensen = sum(
            0.5 * np.sum(law[law > 0] * np.log(law[law > 0] / mixture[law > 0]))
            for law in (real[:, 0], generated[:, 0])
        )
        found[f"closed-form/{name}"] = 2 * jensen - 2 * np.log(2)
    return found | {
        "same-best-discriminator": all(same),
        "original-as-in-closed-form": all(
            abs(found[f"highest/original/{name}"] - found[f"closed-form/{name}"]) < 1e-3 for name in LAWS
        ),
        "printed-objective-is-bounded": found["highest/printed/overlapping"] < 5,
        "settings": len(same),
    }


def printed_penalty(context: Context) -> dict[str, bool | float]:
    """Equation 16 for linear critics a·x, whose gradient has norm |a|: its maximum, with either sign of the penalty.

    Real and generated inputs are `gap` apart in the mean. With the penalty subtracted the maximum is at
    a = 1 + gap / 2η, which a search confirms; with it added the objective is larger the larger a is.
    """
    ends, off = [], []
    for gap in (0.0, 0.5, 3.0):
        values = [gap * slope + PENALTY * (abs(slope) - 1) ** 2 for slope in (10.0, 100.0, 1000.0)]
        ends.append(values[0] < values[1] < values[2])
        search = minimize_scalar(
            lambda a, gap=gap: PENALTY * (abs(a) - 1) ** 2 - gap * a, bounds=(0.1, 20), method="bounded"
        )
        off.append(abs(search.x - 1 - gap / (2 * PENALTY)))
    return {
        "printed-sign-has-a-maximum": not any(ends),
        "the-other-sign-has-one-near-norm-1": max(off) < 1e-4,
        "largest-difference": max(off),
        "settings": len(ends),
    }


def _step(player: str) -> Step:
    return Step(torch.tensor(0), 1, torch.Generator().manual_seed(7), player)


def _model_objective(framework: FactorVAE, images: torch.Tensor, gamma: float) -> torch.Tensor:
    """The mean of log p(x|z) − KL − γ log(D / (1 − D)), the discriminator's first logit against a second of 0."""
    posterior = framework.model.encode(images)
    z = posterior.rsample(_step("model").generator)
    likelihood = -(framework.model.decode(z) - images).square().sum((1, 2, 3))  # but for a constant
    divergence = 0.5 * (posterior.mean**2 + posterior.log_variance.exp() - 1 - posterior.log_variance).sum(1)
    joint, independent = _probabilities(framework, z)
    return (likelihood - divergence - gamma * (joint.log() - independent.log())).mean()


def _discriminator_objective(framework: FactorVAE, views: torch.Tensor) -> torch.Tensor:
    """1/2m of the sum of log D over codes of the batch and of log(1 − D) over permuted codes of the second."""
    draws = _step("discriminator").generator
    with torch.no_grad():
        first, second = (framework.model.encode(images).rsample(draws) for images in views)
        order = torch.rand(second.shape, generator=draws, device=second.device).argsort(0)
        permuted = second.gather(0, order)
    return (_probabilities(framework, first)[0].log() + _probabilities(framework, permuted)[1].log()).sum() / (
        2 * len(first)
    )


def _probabilities(framework: FactorVAE, z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    logit = framework.discriminator(z).flatten()
    return torch.stack([logit, torch.zeros_like(logit)], 1).softmax(1).unbind(1)


def _apart(loss: torch.Tensor, printed: torch.Tensor, parameters: list) -> float:
    """How far the gradients of two scalars are apart, relative to the larger of all entries."""
    pairs = [torch.autograd.grad(value, parameters, retain_graph=True) for value in (loss, printed)]
    ours, theirs = (torch.cat([gradient.flatten() for gradient in gradients]) for gradients in pairs)
    return ((ours - theirs).abs().max() / theirs.abs().max()).item()
