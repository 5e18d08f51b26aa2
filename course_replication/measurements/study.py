"""The study of "Challenging common assumptions" on fewer models: each method at each strength from several seeds.

A run is a whole study. Its metrics are what is found in it (`study_findings`) and, as "of/…", every number that is
known of every model, which `table_of` puts into a table again. Methods differ in their loss
alone: networks of one seed start from the same weights and see the same batches. Fully connected networks are trained
side by side, convolutional ones one after the other.
"""

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import pandas
import torch
from torch import Tensor

from course_lib import metrics
from course_lib.data import GridDataset
from course_lib.frameworks import BetaVAE, Framework
from course_lib.losses import kl_to_standard_normal
from course_lib.metrics import Encodings
from course_lib.models import VAE, DiagonalGaussian, conv_vae, mlp_vae
from course_lib.storage import replace_file
from course_lib.training import fit_many
from course_replication.lines import SCALES
from course_replication.measurements.study_findings import KEYS, across_datasets, findings
from course_replication.measurements.trained_scores import ACTIVE
from course_replication.measurements.training import (
    IMAGES,
    OF_DATA,
    OF_FIT,
    DrawnOn,
    Scores,
    dataset,
    encodings,
    framework_around,
    some_of,
    take,
    train,
)
from course_replication.runs import Context, Run

STRENGTHS = ("low", "middle", "high")
FEW = 100  # examples of which a downstream classifier learns
DIGITS = 5  # to which the numbers of single models are stored
FIRST_SEED, UNTRAINED = 100, 10_000  # of networks, and of those that are not trained; below them, strengths were tried
SAMPLES = {"num_samples": 2000, "num_test": 1000}  # of scores that learn
MANY_SAMPLES = {"num_samples": 10_000, "num_test": 5000}  # where images are many
BATCH = 512  # images of a large dataset that are decoded at a time


def scores(context: Context, *, data: str, methods: Mapping[str, Mapping], seeds: int, trees: Mapping, **settings):
    """Train and score a study, and what is found in it. "control/untrained/…" is found in networks without training,
    labelled as if they were models, "control/shuffled/…" in the trained ones when they exchange each of their numbers.

    methods : name → {framework, strengths: {argument: three values, the weakest first}, and its other arguments}.
    seeds : how many of each method and strength. trees : of how many `points` trees learn (0: none; they take longest),
    and for how many `seeds` of each method and strength, and how many `untrained` networks. Else as in
    `training.scores`; `network` is "conv", or there are `hidden`, the widths of fully connected ones.
    """
    fitting, source = take(settings, OF_FIT), dataset(data, **take(settings, OF_DATA))
    own = range(FIRST_SEED + context.seed * seeds, FIRST_SEED + (context.seed + 1) * seeds)
    networks, records = take(settings, ("network", "latents", "hidden")), []
    for name, method in methods.items():
        if networks.get("network") == "conv":
            records += _train_in_turn(context, source, name, method, own, trees, fitting, networks, settings)
        else:
            models = partial(train_side_by_side, source, {name: method}, own, fitting, networks, settings)
            records += _keep(context, f"{data}-{name}", partial(_records, models, source, own, trees))
    table = pandas.DataFrame(records)
    blank = _untrained(context, source, methods, networks, settings, trees)
    found = findings(table, context.seed)
    twins = {
        "shuffled": findings(exchanged(table, context.seed), context.seed),
        "untrained": findings(blank, context.seed),
    }
    found |= {f"control/{twin}/{name}": value for twin, each in twins.items() for name, value in each.items()}
    return found | _flat(table)


def across(context: Context, *, trainings: Sequence[Mapping]) -> Scores:
    """What several studies say together, those of the settings of `scores`, one for each dataset."""
    tables = {}
    for settings in trainings:
        runs = [Run("study.scores", dict(settings), context.seed, scale).id for scale in SCALES[1:]]
        stored = next((context.known[run] for run in runs if run in context.known), None)
        tables[settings["data"]] = table_of(stored["metrics"] if stored else scores(context, **settings))
    shuffled = {name: exchanged(table, context.seed) for name, table in tables.items()}
    twin = {f"control/shuffled/{name}": value for name, value in across_datasets(shuffled).items()}
    return across_datasets(tables) | twin


def train_side_by_side(
    data: GridDataset, methods: Mapping[str, Mapping], seeds: Sequence[int], fitting: Mapping, networks: Mapping, common
) -> dict[tuple[str, str, int], Framework]:
    """Train the models of each method side by side, and return them by method, strength and seed."""
    models = {}
    for name, method in methods.items():
        own = {
            (name, strength, seed): _framework(data, seed, method, place, networks, common)
            for place, strength in enumerate(STRENGTHS)
            for seed in seeds
        }
        each = [seed for _, _, seed in own]
        fit_many([*own.values()], data, seed=each, device="cpu", **fitting)
        models |= own
    return models


def _framework(data, seed: int, method: Mapping, place: int, networks: Mapping, common: Mapping) -> Framework:
    """The framework of a method at one of its strengths, not trained yet."""
    rest = {name: value for name, value in method.items() if name != "strengths"}
    ((argument, values),) = method["strengths"].items()
    model = network_of(data, seed, **networks)
    return framework_around(model, **rest, **{argument: values[place]}, **common)


def network_of(data: GridDataset, seed: int, *, latents: int, network: str = "mlp", hidden: Sequence[int] = ()) -> VAE:
    """A network that is not trained yet: "conv", or "mlp" with layers of those widths."""
    return conv_vae(data, latents, seed=seed) if network == "conv" else mlp_vae(data, latents, hidden=hidden, seed=seed)


def _train_in_turn(
    context: Context, data, name: str, method: Mapping, seeds: Sequence[int], trees, fitting, *given
) -> list:
    """Train the models of a method one after the other and return their rows; each is kept as soon as it is scored."""
    records = []
    for place, strength in enumerate(STRENGTHS):
        for seed in seeds:
            label = f"{type(data).__name__}-{name}-{strength}-{seed}"

            def model(place=place, strength=strength, seed=seed, label=label) -> dict:
                framework = _framework(data, seed, method, place, *given)
                checkpoint = context.scratch / f"{label}.safetensors"
                train(replace(context, seed=seed), framework, data, checkpoint, fitting)
                return {(name, strength, seed): framework}

            records += _keep(context, label, partial(_records, model, data, seeds, trees))
    return records


def _records(models: Callable[[], Mapping], data: GridDataset, seeds: Sequence[int], trees: Mapping) -> list[dict]:
    """The rows of a table for models that are trained when they are asked for."""
    points = {seed: trees["points"] if place < trees["seeds"] else 0 for place, seed in enumerate(seeds)}
    rows = {key: scored(model, data, points[key[2]]) for key, model in models().items()}
    return as_table(rows).to_dict("records")


def _keep(context: Context, name: str, make: Callable[[], list[dict]]) -> list[dict]:
    """Keep the records that `make` returns in the scratch folder: a study that was stopped goes on from there."""
    place = context.scratch / f"{name}.json"
    if not place.exists():
        context.scratch.mkdir(parents=True, exist_ok=True)
        with replace_file(place) as file:
            file.write(json.dumps(make()).encode())
    return json.loads(place.read_text())


def _untrained(context: Context, data, methods, networks: Mapping, common: Mapping, trees: Mapping) -> pandas.DataFrame:
    """The table of networks that nobody trained, each with a seed of its own, under the labels of models."""
    labels = [(name, strength, 0) for name in methods for strength in STRENGTHS]
    records = []
    for place, label in enumerate(labels):
        own = UNTRAINED + context.seed * len(labels) + place
        build = partial(network_of, data, own, **networks)
        model = partial(lambda build, label: {label: BetaVAE(build(), **common).to(context.device)}, build, label)
        few = trees | {"seeds": 1 if place < trees["untrained"] else 0}
        records += _keep(context, f"{type(data).__name__}-untrained-{place}", partial(_records, model, data, [0], few))
    return pandas.DataFrame(records)


@torch.no_grad()
def scored(framework: Framework, data: GridDataset, points: int = 0) -> Scores:
    """All that is known of a model: scores with labels, numbers without, and how far trees get from `points` images.

    "reconstruction" (what is paid, through the mean) and "kl" in nats an image, "elbo" less their sum; the
    "total-correlation" of a fitted Gaussian is that of means, "…-sampled" of samples and "…-active" of means of latents
    in use; "left" is the share of the pixels' variance that reconstructions leave. Where images are too many to be
    encoded at once, the numbers without labels rest on `IMAGES` of them.
    """
    model, few = framework.model, len(data) <= IMAGES
    images = some_images(data, model.pixel_mean.device)
    size = len(images) if few else BATCH  # in parts, the last digits would differ
    parts = zip(*(framework.posterior(part) for part in images.split(size)), strict=True)
    posterior, pixels = DiagonalGaussian(*map(torch.cat, parts)), images / 255
    drawn = DrawnOn(data, images.device)
    table = Encodings.from_table(posterior.mean, data) if few else encodings(framework, drawn)
    observed = framework.standardise(images)
    decoded = torch.cat([model.decode(part) for part in posterior.mean.split(size)])
    back = torch.cat([framework.reconstruct(part) for part in images.split(size)])
    paid = framework.reduce(framework.likelihood(decoded, observed))
    nats = kl_to_standard_normal(posterior).sum(1).mean()
    left = (back - pixels).square().mean() / (pixels - pixels.mean(0)).square().mean()
    without = {"reconstruction": paid, "kl": nats, "elbo": -paid - nats, "left": left}
    return {
        **labelled(table),
        **{name: float(value) for name, value in without.items()},
        **dependences(DiagonalGaussian(posterior.mean.cpu(), posterior.log_variance.cpu())),
        **_by_regression(table),
        **(_by_trees(table, points) if points else {}),
    }


def some_images(data: GridDataset, device: torch.device) -> Tensor:
    """All images of a dataset, in their order, or `IMAGES` drawn by lot, where there are more; on the device."""
    return data.images(some_of(data, IMAGES, 0).to(device))


def labelled(table: Encodings) -> Scores:
    """The scores that need the factors, but for DCI, which takes longest."""
    samples = SAMPLES if len(table.data) <= IMAGES else MANY_SAMPLES
    return {
        "mig": float(metrics.mig(table)),
        "sap": float(metrics.sap(table, **samples)),
        "modularity": float(metrics.modularity(table, explicitness=False)),
        "beta-vae-score": float(metrics.beta_vae_score(table, **samples)),
        "factor-vae-score": float(metrics.factor_vae_score(table)),
    }


def dependences(posterior) -> Scores:
    """Total correlations of Gaussians fitted to means, to samples, and to means of the latents in use, in nats."""
    used = posterior.mean.var(0) > ACTIVE
    both = metrics.gaussian_total_correlation.from_samples(posterior.mean, log_variance=posterior.log_variance)
    alone = 0.0
    if used.sum() > 1:
        alone = float(metrics.gaussian_total_correlation.from_samples(posterior.mean[:, used]))
    return {
        "total-correlation": both.values["total_correlation"],
        "total-correlation-sampled": both.values["sampled_total_correlation"],
        "total-correlation-active": alone,
        "active": float(used.sum()),
    }


def _by_regression(table: Encodings) -> Scores:
    """Downstream accuracy of logistic regression from many examples, and that from `FEW` divided by it."""
    samples = SAMPLES if len(table.data) <= IMAGES else MANY_SAMPLES
    score = metrics.downstream_logistic(table, **samples, num_few=FEW)
    return {"logistic": float(score), "logistic-efficiency": score.values["efficiency"]}


def _by_trees(table: Encodings, points: int) -> Scores:
    """DCI and downstream accuracy, from one fit of trees to `points` images, and from `FEW`; others are tested on."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*too few")  # as the claims say among their deviations
        score = metrics.dci(table, num_samples=points, num_test=points, jobs=1)
        few = metrics.downstream_trees(table, num_samples=FEW, num_test=points, num_few=FEW, jobs=1)
    accuracy = score.values["informativeness"]
    return {"dci": float(score), "trees": accuracy, "efficiency": few.values["accuracy"] / accuracy}


def as_table(rows: Mapping[tuple[str, str, int], Scores]) -> pandas.DataFrame:
    """A row for each model, with method, strength and seed in the first columns."""
    return pandas.DataFrame([dict(zip(KEYS, key, strict=True)) | found for key, found in rows.items()])


def exchanged(table: pandas.DataFrame, seed: int) -> pandas.DataFrame:
    """The table in which each number has been exchanged among the models that have it, in an order of its own."""
    draws, mixed = torch.Generator().manual_seed(seed), table.copy()
    for name in table.columns.drop([*KEYS]):
        known = table.index[table[name].notna()]
        order = torch.randperm(len(known), generator=draws).tolist()
        mixed.loc[known, name] = table.loc[known, name].to_numpy()[order]
    return mixed


def _flat(table: pandas.DataFrame) -> Scores:
    """The table as metrics: "of/mig/beta-vae/low/0"."""
    return {
        f"of/{name}/{row['method']}/{row['strength']}/{row['seed']}": round(float(row[name]), DIGITS)
        for row in table.to_dict("records")
        for name in table.columns.drop([*KEYS])
        if row[name] == row[name]  # of models without trees there is nothing
    }


def table_of(found: Mapping[str, float]) -> pandas.DataFrame:
    """The table that the metrics of a run hold, as `as_table` makes it."""
    rows: dict[tuple, dict] = {}
    for name, value in found.items():
        if name.startswith("of/"):
            _, what, method, strength, seed = name.split("/")
            rows.setdefault((method, strength, int(seed)), {})[what] = value
    return as_table(rows)
