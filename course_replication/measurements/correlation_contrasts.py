"""What takes several trainings of `total_correlation.scores`: the best of some, two discriminators, equal errors, other
networks, and more latents; and trainings of which something else is measured."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean

import numpy as np
import torch
from torch import Tensor

from course_lib import metrics
from course_lib.data import GridDataset
from course_lib.frameworks import Framework
from course_lib.models import DiagonalGaussian
from course_replication.measurements.total_correlation import (
    IMAGES,
    Scores,
    framework_of,
    log_densities,
    reconstructed,
    scores,
)
from course_replication.measurements.trained_scores import ACTIVE
from course_replication.measurements.training import OF_DATA, OF_FIT, dataset, encodings, report, take, train
from course_replication.runs import Context

SCORED = ("factor-vae-score", "beta-vae-score", "mig")
CONTROLS = ("", "control/untrained/", "control/shuffled/")
_UNTRAINED = "control/untrained/left"


def best(context: Context, *, of: int, **settings) -> Scores:
    """Train the same framework with `of` seeds that no other run has: "factor-vae-score-max" is the largest of theirs,
    and so is each score's; "left" is their mean. Controls are the largest of the controls.

    settings : of `total_correlation.scores`.
    """
    found = [_train(context, f"{place}", context.seed * of + place, settings) for place in range(of)]
    largest = {
        f"{control}{name}-max": max(each[f"{control}{name}"] for each in found)
        for control in CONTROLS
        for name in SCORED
    }
    return largest | _left({"": fmean(each["left"] for each in found)}, fmean(each[_UNTRAINED] for each in found))


def discriminators(context: Context, *, sizes: Mapping[str, Sequence[int]], **settings) -> Scores:
    """Train a FactorVAE with each discriminator: "factor-vae-score/NAME", and how far apart the scores of two are, in
    either direction, "factor-vae-score-gap/discriminator-size".

    sizes : name → widths of the discriminator's layers.
    """
    found = {
        name: _train(context, name, context.seed, {**settings, "hidden": [*widths]}) for name, widths in sizes.items()
    }
    reported = {
        f"{control}{score}/{name}": each[f"{control}{score}"]
        for name, each in found.items()
        for control in CONTROLS
        for score in SCORED
    }
    for control in CONTROLS:
        values = [each[f"{control}factor-vae-score"] for each in found.values()]
        reported[f"{control}factor-vae-score-gap/discriminator-size"] = max(values) - min(values)
    untrained = fmean(each[_UNTRAINED] for each in found.values())
    return reported | _left({f"/{name}": each["left"] for name, each in found.items()}, untrained)


def equal_reconstruction(context: Context, *, betas: Sequence[float], **settings) -> Scores:
    """Train the framework of the settings and β-VAEs at several β, and compare scores at one reconstruction error.

    The β-VAE's score is read off the line through its scores over its errors, at the framework's own error:
    "factor-vae-score/beta-vae" beside "factor-vae-score/batch-estimate", and their distance
    "factor-vae-score-gap/batch-estimate-and-beta-vae". "inside" says whether that error lies between the β-VAEs' own.
    """
    ours = _train(context, "ours", context.seed, settings)
    shared = {key: value for key, value in settings.items() if key not in ("framework", "beta", "estimator")}
    theirs = [
        _train(context, f"beta-{beta:g}", context.seed, {**shared, "framework": "BetaVAE", "beta": beta})
        for beta in betas
    ]
    theirs.sort(key=lambda each: each["reconstruction"])
    errors, paid = [each["reconstruction"] for each in theirs], ours["reconstruction"]
    found = {"inside": errors[0] <= paid <= errors[-1], "reconstruction/batch-estimate": paid}
    for control in CONTROLS:
        name = f"{control}factor-vae-score"
        read = float(np.interp(paid, errors, [each[name] for each in theirs]))
        found |= {f"{name}/batch-estimate": ours[name], f"{name}/beta-vae": read}
        found[f"{name}-gap/batch-estimate-and-beta-vae"] = abs(ours[name] - read)
    left = {"/batch-estimate": ours["left"], "/beta-vae": max(each["left"] for each in theirs)}
    return found | _left(left, ours[_UNTRAINED])


def gaps(context: Context, *, changes: Mapping[str, Sequence[Mapping]], **settings) -> Scores:
    """How far apart the scores of trainings are: "factor-vae-score-gap/NAME" is the largest less the smallest of the
    training of the settings and those with each of the changes, "factor-vae-score-gain/NAME" the largest with a change
    less that of the settings; controls are those of the same networks.

    settings : of `total_correlation.scores`. changes : name → for each further training, what of the settings is
    another. "left" is the largest share of the pixels' variance that one of all trainings leaves.
    """
    return compared(context, scores, changes, settings)


def compared(context: Context, train: Callable[..., Scores], changes, settings: Mapping) -> Scores:
    """The gaps and gains of `gaps`, of trainings that `train` carries out."""
    base = train(replace(context, scratch=context.scratch / "base"), **settings)
    found, every = {}, [base]
    for name, each in changes.items():
        others = [
            train(replace(context, scratch=context.scratch / f"{name}-{place}"), **{**settings, **change})
            for place, change in enumerate(each)
        ]
        every += others
        for control in CONTROLS:
            for score in SCORED:
                own, *changed = (one[f"{control}{score}"] for one in (base, *others))
                found[f"{control}{score}-gap/{name}"] = max(own, *changed) - min(own, *changed)
                found[f"{control}{score}-gain/{name}"] = max(changed) - own
    return found | _left({"": max(each["left"] for each in every)}, fmean(each[_UNTRAINED] for each in every))


def pruned(context: Context, *, sizes: Sequence[int], **settings) -> Scores:
    """Train the framework of the settings with each number of latents: "active-latents/latents-10" is how many of them
    are in use, those whose mean varies over the images by more than ACTIVE; "latents/10" is 10; and
    "active-latents-gap/latents-10-and-20" how many more or fewer the second network uses than the first.

    sizes : two numbers of latents, in the place of that in the settings of `total_correlation.scores`.
    """
    found, used = {f"latents/{size}": size for size in sizes}, {"": [], CONTROLS[1]: []}
    settings = {name: value for name, value in settings.items() if name not in ("latents", "particles")}
    fitting, data = take(settings, OF_FIT), dataset(**take(settings, OF_DATA))
    index = torch.randperm(len(data), generator=torch.Generator().manual_seed(context.seed))[:IMAGES]
    for size in sizes:
        framework = framework_of(data, context.seed, latents=size, **settings).to(context.device)
        for control in (CONTROLS[1], ""):  # before the training and after it
            if not control:
                train(context, framework, data, context.scratch / f"{size}.safetensors", fitting)
            used[control].append(_active(framework, data, index))
            found[f"{control}active-latents/latents-{size}"] = used[control][-1]
            left = f"{control}left" if control else f"left/latents-{size}"
            found[left] = reconstructed(framework, data, index)["left"]
    name = f"active-latents-gap/latents-{'-and-'.join(map(str, sizes))}"
    return found | {f"{control}{name}": abs(one - other) for control, (one, other) in used.items()}


def batch_mixture(context: Context, *, batch: int, **settings) -> Scores:
    """Train a VAE; the total correlation in nats as the mixture of a batch's own posteriors gives it, for codes of its
    images, "total-correlation/batch/own", and of as many others, "…/fresh". Kim and Mnih 2018, Appendix D.

    settings : of `total_correlation.scores`.
    """
    return _measure_twice(context, settings, partial(_by_a_batch, size=batch))


def axes(context: Context, **settings) -> Scores:
    """Train one framework; "axis-alignment/FACTOR" says how far traversals of a factor move one latent only.

    settings : of `total_correlation.scores`.
    """
    return _measure_twice(context, settings, _by_factor)


def _measure_twice(
    context: Context, settings: Mapping, measure: Callable[[Framework, GridDataset, int], Scores]
) -> Scores:
    """Train the framework of the settings, and measure it and its untrained twin."""
    settings = {name: value for name, value in settings.items() if name != "particles"}
    fitting, data = take(settings, OF_FIT), dataset(**take(settings, OF_DATA))
    untrained, framework = (framework_of(data, context.seed, **settings).to(context.device) for _ in range(2))
    train(context, framework, data, context.scratch / "model.safetensors", fitting)
    before, after = (measure(each, data, context.seed) for each in (untrained, framework))
    return report(after, before, {})


def _by_factor(framework: Framework, data: GridDataset, seed: int) -> Scores:
    ratios = metrics.axis_alignment_ratio(encodings(framework, data), seed=seed).values
    index = torch.randperm(len(data), generator=torch.Generator().manual_seed(seed))[:IMAGES]
    found = {f"axis-alignment/{name}": ratio for name, ratio in ratios.items() if name in data.space.names}
    return found | {"left": float(reconstructed(framework, data, index)["left"])}


@torch.no_grad()
def _by_a_batch(framework: Framework, data: GridDataset, seed: int, size: int) -> Scores:
    order = torch.randperm(len(data), generator=torch.Generator().manual_seed(seed))[: 2 * size]
    device = framework.model.pixel_mean.device
    parts = zip(*(framework.posterior(data.images(part.to(device))) for part in order.split(512)), strict=True)
    posterior = DiagonalGaussian(*map(torch.cat, parts))
    latents = posterior.rsample(torch.Generator(device).manual_seed(seed)).double()
    mixture, found = posterior.at(torch.arange(min(size, len(order)), device=device)), {}
    for name, own in (("own", latents[:size]), ("fresh", latents[size:])):
        joint, marginals = log_densities(own, mixture)
        found[f"total-correlation/batch/{name}"] = float((joint - marginals.sum(1)).mean())
    return found | {"left": float(reconstructed(framework, data, order[:IMAGES])["left"])}


@torch.no_grad()
def _active(framework: Framework, data: GridDataset, index: Tensor) -> int:
    """How many latents' means vary over the images by more than ACTIVE."""
    parts = index.to(framework.model.pixel_mean.device).split(512)
    means = torch.cat([framework.encode(data.images(part)) for part in parts])
    return int((means.var(0) > ACTIVE).sum())


def _train(context: Context, name: str, seed: int, settings: Mapping) -> Scores:
    return scores(replace(context, scratch=context.scratch / name, seed=seed), **settings)


def _left(shares: Mapping[str, float], untrained: float) -> Scores:
    """The shares of the pixels' variance that trainings leave, by their ending; and that without training."""
    return {f"left{ending}": share for ending, share in shares.items()} | {_UNTRAINED: untrained}
