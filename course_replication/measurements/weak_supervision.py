"""Claims about VAEs that see pairs, beside one that sees single images: groups of networks, trained and scored alike.

A run trains a group of networks for each method, since the claims speak of how far seeds scatter. Networks of one place
start from the same weights in all methods.
"""

from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean, stdev

import torch
from torch import Tensor

from course_lib import metrics
from course_lib.data import GridDataset
from course_lib.frameworks import AdaGVAE, AdaMLVAE, BetaVAE, Framework
from course_lib.losses import shared_latents
from course_lib.models import DiagonalGaussian, conv_vae, mlp_vae
from course_lib.training import fit_many
from course_replication.measurements.training import (
    CHECKPOINT_EVERY,
    OF_DATA,
    OF_FIT,
    Exchanged,
    Scores,
    dataset,
    encodings,
    report,
    take,
    train,
)
from course_replication.runs import Context

FIRST_SEED = 100  # of networks; β was chosen with one below it
IMAGES = 2000  # drawn for what a reconstruction leaves


class OneDirectionAdaGVAE(AdaGVAE):
    """Ada-GVAE as it was first published: δ is the divergence of the first posterior from the second, one direction.

    Source: Locatello et al. 2020; the thesis, Appendix A.2.2.
    """

    def shared(self, first: DiagonalGaussian, second: DiagonalGaussian) -> Tensor:
        log_ratio = first.log_variance - second.log_variance
        gap = (first.mean - second.mean).square() * (-second.log_variance).exp()
        return shared_latents(0.5 * (log_ratio.exp() - 1 - log_ratio + gap))


FRAMEWORKS = {kind.__name__: kind for kind in (AdaGVAE, AdaMLVAE, BetaVAE, OneDirectionAdaGVAE)}


def compared(
    context: Context,
    *,
    data: str,
    methods: Mapping[str, Mapping],
    networks: int,
    network: str,
    latents: int,
    **settings,
) -> Scores:
    """Train `networks` networks with each method: "mig/NAME", the mean of their MIG, and "mig-spread/NAME", its
    standard deviation over them; "left/NAME", the mean share of the pixels' variance that reconstructions leave.
    What was stopped goes on from the checkpoints in the scratch folder.

    methods : name → {framework, and what is its own of arguments and of `fit`}; where a method sees pairs, a batch
        counts pairs.
    network : "mlp" with layers of `hidden`, trained side by side, or "conv", one after the other.
    settings : of `fit`, of the dataset, and what all frameworks get.

    "control/untrained/…" is of the networks before the first step, "control/shuffled/…" of the trained ones when images
    have exchanged their representations.
    """
    fitting, source = take(settings, OF_FIT), dataset(data, **take(settings, OF_DATA))
    hidden = tuple(settings.pop("hidden", ()))
    seeds = range(FIRST_SEED + context.seed * networks, FIRST_SEED + (context.seed + 1) * networks)
    found = {}
    for name, method in methods.items():
        own = dict(method)
        kind, batch = FRAMEWORKS[own.pop("framework")], take(own, OF_FIT)
        models = [_network(source, network, latents, hidden, seed) for seed in seeds]
        group = [kind(model, **settings, **own).to(context.device) for model in models]
        before = _scored(group, source, seeds, name)
        _train(context, name, network, group, source, seeds, fitting | batch)
        after = _scored(group, source, seeds, name)
        found |= report(after, before, _scored(group, source, seeds, name, shuffled=True))
    return found


def _network(data: GridDataset, network: str, latents: int, hidden: tuple[int, ...], seed: int):
    if network == "conv":
        return conv_vae(data, latents, seed=seed)
    return mlp_vae(data, latents, hidden=hidden, seed=seed)


def _train(
    context: Context, name: str, network: str, group: list[Framework], data, seeds: range, fitting: Mapping
) -> None:
    """Each network of the group from its checkpoint, or all of them from their common one, where there is one."""
    if network == "mlp":
        context.scratch.mkdir(parents=True, exist_ok=True)
        kept = dict(checkpoint=context.scratch / f"{name}.safetensors", checkpoint_every=CHECKPOINT_EVERY)
        fit_many(group, data, seed=[*seeds], device=str(context.device), **kept, **fitting)
        return
    for seed, framework in zip(seeds, group, strict=True):
        own = replace(context, seed=seed)
        train(own, framework, data, context.scratch / f"{name}-{seed}.safetensors", fitting)


def _scored(group: list[Framework], data: GridDataset, seeds: range, name: str, shuffled: bool = False) -> Scores:
    """Mean and spread of the MIG of a group, and what its reconstructions leave; of shuffled codes the MIG alone."""
    migs = []
    for seed, framework in zip(seeds, group, strict=True):
        table = encodings(framework, data)
        if shuffled:
            places = torch.randperm(len(data), generator=torch.Generator().manual_seed(seed))
            table = Exchanged(table, places)
        migs.append(float(metrics.mig(table, seed=seed)))
    found = {f"mig/{name}": fmean(migs), f"mig-spread/{name}": stdev(migs)}
    return found if shuffled else found | {f"left/{name}": fmean(_left(framework, data) for framework in group)}


@torch.no_grad()
def _left(framework: Framework, data: GridDataset) -> float:
    """The share of the pixels' variance that reconstructions leave, of `IMAGES` images at most."""
    index = torch.randperm(len(data), generator=torch.Generator().manual_seed(0))[:IMAGES]
    images = framework.standardise(data.images(index))
    decoded = framework.model.decode(framework.model.encode(images).mean)
    return ((decoded - images).square().sum() / (images - images.mean(0)).square().sum()).item()
