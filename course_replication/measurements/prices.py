"""What a price on the divergence, or a target for it, does to a VAE: β-VAEs at several β, and a capacity that grows.

The networks of one seed are trained side by side where they are small and fully connected, one after the other where
they are not. Settings are those of `training.scores`, but for `betas` and `gammas`, dicts of names and values in place
of `beta` and `gamma`; `hidden` lists the widths of a fully connected network.
"""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from course_lib import metrics
from course_lib.data import GridDataset
from course_lib.frameworks import Framework
from course_lib.losses import kl_to_standard_normal
from course_lib.sampling import factor_pairs
from course_lib.training import fit_many
from course_replication.measurements.trained_scores import BATCH, IMAGES
from course_replication.measurements.training import (
    NETWORKS,
    OF_DATA,
    OF_FIT,
    DrawnOn,
    Exchanged,
    Scores,
    dataset,
    encodings,
    framework_around,
    report,
    take,
    train,
)
from course_replication.runs import Context

PAIRS = 500  # along each factor, whose distance before and after the model is compared
RECORDS = 100  # of a training with a capacity
LIT, BESIDE = 0.1, (0.05, 0.2)  # the share of a factor's distance that comes back when it is learnt; other bars


def at_betas(context: Context, *, betas: Mapping[str, float], **settings) -> Scores:
    """Train a β-VAE with each β, from the same weights on the same batches, and score each: "mig/NAME".

    "reconstruction" is the loss that is trained, through the mean representation, by the framework's own reduction;
    "left" the share of the pixels' variance that reconstructions leave; "kl" in nats. Controls as in `training.scores`.
    """
    fitting, data = take(settings, OF_FIT), dataset(**take(settings, OF_DATA))
    build = {name: {"beta": value, **settings} for name, value in betas.items()}
    frameworks = {name: framework_with(data, context.seed, **each) for name, each in build.items()}
    drawn = DrawnOn(data, context.device)
    before = {name: _scored(each.to(context.device), drawn, context) for name, each in frameworks.items()}
    _train(context, frameworks, data, fitting)
    found = {}
    for name, framework in frameworks.items():
        after, shuffled = (_scored(framework, drawn, context, mixed) for mixed in (False, True))
        scores = report(after, before[name], shuffled)
        found |= {f"{score}/{name}": value for score, value in scores.items()}
    return found


def annealed(context: Context, *, gammas: Mapping[str, float], capacity: float, **settings) -> Scores:
    """Train an AnnealedVAE with each γ, from the same weights on the same batches, while C rises from 0 to `capacity`.

    Of the first: "capacity-learnt/FACTOR" and "step-learnt/FACTOR", the target C and the step at which the share of
    the distances along the factor that comes back is first above `LIT` (the last of them where it never is);
    "step-learnt/FACTOR/0.2" the same of another bar, so that an order does not hang on ours; and "share/FACTOR", that
    share in the end. Of each: "kl-off-target/NAME", |KL − C| in nats, averaged over the training.
    """
    fitting, data = take(settings, OF_FIT), dataset(**take(settings, OF_DATA))
    steps = fitting["steps"]
    fitting |= {"log_every": max(steps // RECORDS, 1)}
    settings |= {"capacity": capacity, "steps": steps}
    frameworks = {
        name: framework_with(data, context.seed, gamma=value, **settings).to(context.device)
        for name, value in gammas.items()
    }
    (first, *_), watch = frameworks, watcher(data, context.seed)
    untrained, left = watch(frameworks[first], 0), left_of(frameworks[first], data, context.seed)
    records = _train(context, frameworks, data, fitting, [watch])
    found = {}
    for prefix, rows in (("", records[first]), ("control/untrained/", [untrained | {"step": steps}])):
        found |= {prefix + name: value for name, value in _lit(rows, data.space.names, steps, capacity).items()}
    for name, rows in records.items():
        targets = [(row["step"], capacity * min(row["step"] / steps, 1)) for row in rows]
        for prefix, kls in (("", [row["kl"] for row in rows]), ("control/untrained/", [untrained["kl"]] * len(rows))):
            off = [abs(kl - target) for kl, (_, target) in zip(kls, targets, strict=True)]
            found[f"{prefix}kl-off-target/{name}"] = sum(off) / len(off)
        found[f"left/{name}"] = left_of(frameworks[name], data, context.seed)
        found[f"control/untrained/left/{name}"] = left
    return found


def framework_with(data: GridDataset, seed: int, *, network: str, latents: int, hidden: Sequence[int] = (), **settings):
    """The framework that settings describe, not trained yet; `hidden` are the widths of a network's layers if given."""
    width = {"hidden": tuple(hidden)} if hidden else {}
    return framework_around(NETWORKS[network](data, latents, seed=seed, **width), **settings)


def watcher(data: GridDataset, seed: int) -> Callable[[Framework, int], dict[str, float]]:
    """A callback of `fit`: of each factor the share of the squared distance between two images that comes back, and
    "kl", the mean KL of these images in nats."""
    draws = torch.Generator().manual_seed(seed)
    pairs = {name: factor_pairs(data.space, name, PAIRS, draws) for name in data.space.names}
    pairs = {name: [data.images(side) for side in sides] for name, sides in pairs.items()}
    every = torch.cat([first for first, _ in pairs.values()])

    def watch(framework: Framework, step: int) -> dict[str, float]:
        found = {"kl": kl_to_standard_normal(framework.posterior(every)).sum(1).mean().item()}
        for name, sides in pairs.items():
            first, second = (framework.reconstruct(side).cpu() for side in sides)
            apart = (sides[0] / 255 - sides[1] / 255).square().sum()
            found[name] = ((first - second).square().sum() / apart).item()
        return found

    return watch


@torch.no_grad()
def left_of(framework: Framework, data: GridDataset, seed: int) -> float:
    """The share of the pixels' variance that reconstructions through the mean leave; the mean image leaves 1.

    Of all images or, where there are more than `IMAGES`, of so many drawn with the seed.
    """
    parts = _parts(data, seed)
    images = torch.cat(parts).cpu() / 255
    back = torch.cat([framework.reconstruct(part).cpu() for part in parts])
    return ((back - images).square().mean() / (images - images.mean(0)).square().mean()).item()


def _parts(data: GridDataset, seed: int) -> list[Tensor]:
    """All images, or `IMAGES` of them, in parts."""
    index = torch.arange(len(data))
    if len(data) > IMAGES:
        index = torch.randperm(len(data), generator=torch.Generator().manual_seed(seed))[:IMAGES]
    return [data.images(part) for part in index.split(BATCH)]


@torch.no_grad()
def _scored(framework: Framework, data: GridDataset, context: Context, mixed: bool = False) -> Scores:
    """The scores of a framework; `mixed`: those of its table when images have exchanged their representations."""
    seed, table = context.seed, encodings(framework, data)
    if mixed:
        table = Exchanged(table, torch.randperm(len(data), generator=torch.Generator().manual_seed(seed)))
    found = {
        "mig": float(metrics.mig(table, seed=seed)),
        "factor-vae-score": float(metrics.factor_vae_score(table, seed=seed)),
        "beta-vae-score": float(metrics.beta_vae_score(table, seed=seed)),
    }
    if mixed:
        return found
    errors, nats = [], []
    for part in _parts(data, seed):
        observed, posterior = framework.standardise(part), framework.posterior(part)
        decoded = framework.model.decode(posterior.mean)
        errors.append(float(framework.reduce(framework.likelihood(decoded, observed))) * len(part))
        nats.append(kl_to_standard_normal(posterior).sum(1))
    nats = torch.cat(nats)
    return found | {
        "reconstruction": sum(errors) / len(nats),
        "kl": nats.mean().item(),
        "left": left_of(framework, data, seed),
    }


def _train(
    context: Context, frameworks: Mapping[str, Framework], data: GridDataset, fitting: dict, callbacks: Sequence = ()
) -> dict[str, list[dict]]:
    """Train the frameworks, and the records of each: all at once on a CPU, one after the other on a GPU."""
    context.scratch.mkdir(parents=True, exist_ok=True)
    kept = {name: context.scratch / f"{name}.safetensors" for name in (*frameworks, "all")}
    if context.device.type == "cpu" and all(each.model.config["architecture"] == "mlp" for each in frameworks.values()):
        histories = fit_many(
            [*frameworks.values()], data, seed=context.seed, device="cpu", checkpoint=kept["all"], callbacks=callbacks,
            **fitting,
        )  # fmt: skip
    else:
        histories = [train(context, each, data, kept[name], fitting, callbacks) for name, each in frameworks.items()]
    return {name: history.records for name, history in zip(frameworks, histories, strict=True)}


def _lit(rows: Sequence[Mapping], factors: Sequence[str], steps: int, capacity: float) -> Scores:
    """When each factor is learnt, by step and by target, and how much of it comes back in the end."""
    found = {}
    for factor in factors:
        for name, bar in {"": LIT, **{f"/{bar}": bar for bar in BESIDE}}.items():
            step = next((row["step"] for row in rows if row[factor] > bar), steps)
            found[f"step-learnt/{factor}{name}"] = float(step)
            found[f"capacity-learnt/{factor}{name}"] = capacity * step / steps
        found[f"share/{factor}"] = rows[-1][factor]
    return found
