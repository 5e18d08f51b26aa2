"""The largest β with which a β-VAE still reconstructs, for each reconstruction loss: the note of Table A.6.

A VAE reconstructs if it leaves less than half of the pixels' variance, whichever loss it has trained. All β are tried
with the same weights before the first step, the same images and the same noise.
"""

from functools import partial

import torch

from course_lib.data import GridDataset
from course_lib.frameworks import Framework
from course_replication.measurements.trained_scores import IMAGES, sampled_model_scores
from course_replication.measurements.training import (
    OF_DATA,
    OF_FIT,
    dataset,
    encodings,
    framework_of,
    take,
    train,
    with_kernel,
)
from course_replication.runs import Context

LEFT = 0.5  # of the pixels' variance: a VAE that reconstructs leaves less


def scan(context: Context, *, betas: list[float], **settings) -> dict[str, float]:
    """The largest β with which a framework reconstructs, "beta-best"; 0 where none does.

    settings : of `training.scores`, without `beta`, `dci` and `watch_every`.

    "left/beta-0.1" is the share of the pixels' variance that is left with that β, for each β from the largest down to
    the best; "control/untrained/…" the same of the network before its first step.
    """
    fitting, data = take(settings, OF_FIT), dataset(**take(settings, OF_DATA))
    framework_with = partial(framework_of, data, context.seed, **with_kernel(data, context.seed, settings))
    untrained, left = left_over(framework_with(beta=max(betas)), data, context.seed), {}
    for beta in sorted(betas, reverse=True):
        framework = framework_with(beta=beta)
        train(context, framework, data, context.scratch / f"beta-{beta:g}.safetensors", fitting)
        left[beta] = left_over(framework.to("cpu"), data, context.seed)
        if left[beta] < LEFT:
            break
    return {
        "beta-best": max((beta for beta, share in left.items() if share < LEFT), default=0.0),
        **{f"left/beta-{beta:g}": share for beta, share in left.items()},
        **{f"control/untrained/left/beta-{beta:g}": untrained for beta in left},
    }


def left_over(framework: Framework, data: GridDataset, seed: int = 0) -> float:
    """The mean squared error of reconstructions, as a share of that of the mean image, which leaves 1.

    Of all images, or where they are too many to be decoded at once, of a sample drawn with the seed.
    """
    if len(data) > IMAGES:
        return sampled_model_scores(framework, encodings(framework, data), seed)["left"]
    images = data.images(torch.arange(len(data)))
    observed, latents = framework.standardise(images), framework.encode(images)
    with torch.no_grad():
        error = (framework.model.decode(latents) - observed).square().mean()
    return float(error / (observed - observed.mean(0)).square().mean())
