"""The largest β with which a β-VAE still reconstructs, for each reconstruction loss: the note of Table A.6.

A VAE reconstructs if it leaves less than half of the pixels' variance, whichever loss it has trained. All β are tried
with the same weights before the first step, the same images and the same noise.
"""

import torch
from torch import Tensor

from course_lib.data import GridDataset
from course_lib.frameworks import BetaVAE, Framework
from course_lib.models import mlp_vae
from course_replication.measurements import part_three
from course_replication.measurements.kernels import small_kernel
from course_replication.measurements.small_grid import GRID, fitted, grid
from course_replication.measurements.trainings import taken
from course_replication.parts import Part
from course_replication.runs import Context

LEFT = 0.5  # of the pixels' variance: a VAE that reconstructs leaves less
BETAS = [1.0, 0.316, 0.1, 0.0316, 0.01, 0.00316, 0.001]  # in half decades, as the thesis prints them


def scan(context: Context, *, reconstruction: str, kernel_steps: int = 0, **settings) -> dict[str, float]:
    """The largest β that reconstructs the small grid with one loss, "beta-best"; 0 where none does.

    settings : of a β-VAE, called as those of `small_grid.training`, but that `beta` is a list.

    "left/beta-0.1" is the share of the pixels' variance that the VAE with that β leaves, for each β from the largest of
    the list down to the best; "control/untrained/…" the same of the network before its first step.
    """
    data = grid(**taken(settings, GRID))
    loss = small_kernel(data, context.seed, kernel_steps) if reconstruction == "learnt" else reconstruction
    left = left_by_beta(context, data, loss, **settings)
    untrained = left_over(_vae(data, context.seed, settings["latents"], 0.0, loss), data)
    return {
        "beta-best": max((beta for beta, share in left.items() if share < LEFT), default=0.0),
        **{f"left/beta-{beta:g}": share for beta, share in left.items()},
        **{f"control/untrained/left/beta-{beta:g}": untrained for beta in left},
    }


def left_by_beta(
    context: Context, data: GridDataset, loss: str | Tensor, *, beta: list[float], latents: int, **fitting
) -> dict[float, float]:
    """What β-VAEs leave of the pixels' variance, for each β from the largest down to the first that reconstructs."""
    left = {}
    for weight in sorted(beta, reverse=True):
        framework = _vae(data, context.seed, latents, weight, loss)
        fitted(context, framework, data, context.scratch / f"beta-{weight:g}.safetensors", fitting)
        left[weight] = left_over(framework.to("cpu"), data)
        if left[weight] < LEFT:
            break
    return left


def left_over(framework: Framework, data: GridDataset) -> float:
    """The mean squared error of all images' reconstructions, as a share of that of the mean image, which leaves 1."""
    images = data.images(torch.arange(len(data)))
    observed, latents = framework.standardise(images), framework.encode(images)
    with torch.no_grad():
        error = (framework.model.decode(latents) - observed).square().mean()
    return float(error / (observed - observed.mean(0)).square().mean())


def _vae(data: GridDataset, seed: int, latents: int, beta: float, loss: str | Tensor) -> BetaVAE:
    return BetaVAE(mlp_vae(data, latents, seed=seed), beta, reconstruction=loss, reduction="mean")


LOSSES = ("mse", "mse-gaussian", "mse-box", "learnt")
SETTINGS = {
    "beta": BETAS, "steps": 2000, "batch_size": 128, "learning_rate": 0.001, "latents": 7, "spacing": 2,
}  # fmt: skip
_GAUSSIAN = "a Gaussian blur of radius 7 and weight 225, for 16 pixels, in place of 31 and 3969 for 64"
_NOTES = {"mse": (), "mse-gaussian": (_GAUSSIAN,), "mse-box": (part_three.BOX,), "learnt": (part_three.KERNEL,)}
_RULE = (
    f"the best β is the largest with which the VAE leaves less than {LEFT:g} of the pixels' variance, in place of what "
    "was found by eye; β-VAEs only"
)


def _part(loss: str) -> Part:
    settings = SETTINGS | {"reconstruction": loss} | ({"kernel_steps": 1000} if loss == "learnt" else {})
    notes = (part_three.GRID, part_three.NETWORK, *_NOTES[loss], _RULE)
    return Part("largest_beta.scan", settings, f"{{}}/{loss}", part_three.SEEDS, "quick", deviations=notes)


PLANS = {"distances/table-a.6-beta": tuple(map(_part, LOSSES))}
