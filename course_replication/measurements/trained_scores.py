"""What is measured of a trained framework: its table of representations, its reconstructions, and the way there."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas
import torch
from torch import Tensor

from course_lib import metrics
from course_lib.data import GridDataset
from course_lib.distances import Distance, correlations, round_distances
from course_lib.frameworks import AdaTripletVAE, Framework
from course_lib.losses import kl_to_standard_normal, norm_distance, shared_latents
from course_lib.metrics import Encodings
from course_lib.sampling import random_pairs, traversals

ACTIVE = 0.01  # variance of a latent's mean over the images above which it is in use (Burda et al. 2016)
ALIGNED, BELOW = 0.9, (0.7, 0.8)  # axis alignment at which a representation counts as aligned, and lower ones
SPIKE, WINDOW = 1.2, 20  # how far above the median of so many records before it a loss is a spike
TRAVERSALS = 100  # along each factor, for matrices of distances
SHARED_PAIRS = 10_000  # anywhere on the grid, whose shared latents are counted
WATCHED_PAIRS, WATCHED_TRAVERSALS = 1000, 300  # along each factor, for scores on the way
IMAGES, BATCH = 10_000, 512  # that stand for all of a large dataset, and how many are decoded at a time


def table_scores(table: Encodings, seed: int, loss: str) -> dict[str, float]:
    """Scores of a representation alone; `loss` is the perceived distance of "data-rank"."""
    distances = metrics.distance_correlation(table, seed=seed, loss=loss)
    linear, axis = metrics.linearity_ratio(table, seed=seed), metrics.axis_alignment_ratio(table, seed=seed)
    found = {
        "rank": float(distances),
        "rank-distinct": distances.values["distinct_factors"],
        "rank-global": distances.values["global"],
        "data-rank": distances.values["data"],
        "data-rank-distinct": distances.values["distinct_data"],
        "linearity": float(linear),
        "axis-alignment": float(axis),
        "mig": float(metrics.mig(table, seed=seed)),
        "matrix-rank/means": matrix_rank(of_latents(table), table.data, seed),
        "latent-distance-variation": variation(of_latents(table), table.data, seed),
    }
    for name in table.space.names:
        found[f"rank/{name}"] = distances.values[name]
        found[f"rank-distinct/{name}"] = distances.values[f"distinct_{name}"]
    return found


def dci_score(table: Encodings, seed: int, points: int) -> dict[str, float]:
    """DCI disentanglement, its trees fitted to that many points; nothing for 0 points, for it takes longest."""
    if not points:
        return {}
    return {"dci": float(metrics.dci(table, seed=seed, num_samples=points, num_test=points // 2, jobs=1))}


def model_scores(framework: Framework, data: GridDataset, seed: int) -> dict[str, float]:
    """What it takes the networks to know: over all images, through the mean representation.

    "reconstruction" is the mean squared error of standardised pixels, whatever loss was trained (1 is that of the
    mean image); "shared-share" the share of latents that an Ada-TVAE at the end of its schedule takes as shared.
    """
    images = data.images(torch.arange(len(data)))
    observed, posterior = framework.standardise(images), framework.posterior(images)
    with torch.no_grad():
        decoded = framework.model.decode(posterior.mean)
    kl = kl_to_standard_normal(posterior).mean(0)
    found = {
        "reconstruction": (decoded - observed).square().mean(),
        "kl": kl.sum(),
        "active-latents": (posterior.mean.var(0) > ACTIVE).sum(),
        "matrix-rank/reconstructions": matrix_rank(of_reconstructions(framework, decoded), data, seed),
    }
    found |= _shared_share(framework, data, posterior.mean.__getitem__, seed)
    return {name: float(value) for name, value in found.items()}


@torch.no_grad()
def sampled_model_scores(framework: Framework, table: Encodings, seed: int) -> dict[str, float]:
    """What `model_scores` measures, of data that is too much to decode: from `IMAGES` of the images.

    "left" is the share of these pixels' variance that reconstructions leave; `table` holds the framework's means.
    """
    index = torch.randperm(len(table), generator=torch.Generator().manual_seed(seed))[:IMAGES]
    error = square = kl = total = 0.0
    for part in index.split(BATCH):
        observed = framework.standardise(table.data.images(part))
        posterior = framework.posterior(observed)
        error += (framework.model.decode(posterior.mean) - observed).double().square().sum()
        kl += kl_to_standard_normal(posterior).double().sum()
        total, square = total + observed.double().sum(0), square + observed.double().square().sum()
    pixels = len(index) * total.numel()
    found = {
        "reconstruction": error / pixels,
        "left": error / (square - total.square().sum() / len(index)),
        "kl": kl / len(index),
        "active-latents": (table(index).var(0) > ACTIVE).sum(),
        "matrix-rank/reconstructions": matrix_rank(of_decoded(framework, table), table.data, seed),
    }
    found |= _shared_share(framework, table.data, table, seed)
    return {name: float(value) for name, value in found.items()}


def _shared_share(framework: Framework, data: GridDataset, means: Callable[[Tensor], Tensor], seed: int) -> dict:
    """The "shared-share" of an Ada-TVAE, whose means (n, D) at indices (n,) are given; nothing of the others."""
    if not isinstance(framework, AdaTripletVAE):
        return {}
    strength = framework.strength if isinstance(framework.strength, float) else framework.strength[1]
    first, second = random_pairs(data.space, SHARED_PAIRS, torch.Generator().manual_seed(seed))
    gaps = (means(first) - means(second)).abs()
    return {"shared-share": shared_latents(gaps, strength).double().mean()}


def of_latents(table: Encodings) -> Distance:
    """The ℓ2 distance of representations, as in Figure 3.11."""
    return lambda first, second: norm_distance(table(first).double(), table(second).double(), 2)


def of_reconstructions(framework: Framework, decoded: Tensor) -> Distance:
    """The loss that the framework trains between the reconstructions (N, C, H, W) of all images."""
    return lambda first, second: (
        framework.likelihood.distance(decoded[first], decoded[second]).flatten(1).mean(1).double()
    )


def of_decoded(framework: Framework, table: Encodings) -> Distance:
    """The same where the images are too many to decode them all: each call decodes what it asks for, once."""

    @torch.no_grad()
    def distance(first: Tensor, second: Tensor) -> Tensor:
        index, places = torch.stack([first, second]).unique(return_inverse=True)
        device = framework.model.pixel_mean.device
        decoded = torch.cat([framework.model.decode(table(part).float().to(device)) for part in index.split(BATCH)])
        apart = of_reconstructions(framework, decoded)
        return torch.cat([apart(*ends).cpu() for ends in places.split(BATCH, 1)])

    return distance


def matrix_rank(distance: Distance, data: GridDataset, seed: int) -> float:
    """Spearman's correlation of the mean distances between two places on a traversal with how far apart they are.

    Averaged over factors; distances of a point to itself are left out.
    """
    found = []
    for gaps, distances in _along_traversals(distance, data, seed):
        found.append(correlations(gaps, round_distances(distances.mean(0)))[1])
    return float(np.mean(found))


def matrix_agreement(first: Distance, second: Distance, data: GridDataset, seed: int) -> float:
    """Spearman's correlation of two matrices of mean distances along traversals, averaged over factors.

    Distances of a point to itself are left out; a matrix of equal distances has correlation 0 with any.
    """
    matrices = zip(*(_along_traversals(distance, data, seed) for distance in (first, second)), strict=True)
    found = [correlations(*(round_distances(distances.mean(0)) for _, distances in pair))[1] for pair in matrices]
    return float(np.mean(found))


def variation(distance: Distance, data: GridDataset, seed: int) -> float:
    """The coefficient of variation of the distances between distinct points of one traversal, averaged over traversals.

    0 where all points of a traversal are equally far from each other, as XYSquares are by their pixels.
    """
    parts = [distances for _, distances in _along_traversals(distance, data, seed)]
    shares = torch.cat([(part.std(1) / part.mean(1)).nan_to_num(0.0) for part in parts])
    return float(shares.mean())


def watched(data: GridDataset, seed: int, every: int) -> Callable[[Framework, int], dict[str, float] | None]:
    """A callback of `fit` that scores the framework, on fewer samples, every so many steps."""

    def watch(framework: Framework, step: int) -> dict[str, float] | None:
        if step % every:
            return None
        table = Encodings(framework.encode, data)
        return {
            "rank": float(metrics.distance_correlation(table, seed=seed, num_samples=WATCHED_PAIRS, loss=None)),
            "linearity": float(metrics.linearity_ratio(table, seed=seed, num_samples=WATCHED_TRAVERSALS)),
            "axis-alignment": float(metrics.axis_alignment_ratio(table, seed=seed, num_samples=WATCHED_TRAVERSALS)),
        }

    return watch


def report(after: dict[str, float], untrained: Mapping[str, float], shuffled: Mapping[str, float]) -> dict[str, float]:
    """The scores of a training with those of its controls, "control/untrained/…" and "control/shuffled/…"."""
    return {
        **after,
        **{f"control/untrained/{name}": value for name, value in untrained.items()},
        **{f"control/shuffled/{name}": value for name, value in shuffled.items()},
    }


def trajectory_scores(records: pandas.DataFrame, steps: int) -> dict[str, float]:
    """Peaks of what was watched, how far the axis alignment fell from its own, and how restless the loss was.

    "steps-to-aligned" is the step at which axis alignment is first seen above `ALIGNED`; `steps` where it never is;
    "steps-to-aligned/0.8" the same of a lower bar, so that an order does not hang on ours.
    "reconstruction-spikes" are per 100 records, after the first tenth of the training.
    """
    if "axis-alignment" not in records:
        return {}
    watch = records[["rank", "linearity", "axis-alignment"]].dropna()
    found = {f"{name}-peak": watch[name].max() for name in watch}
    found["axis-alignment-fall"] = watch["axis-alignment"].max() - watch["axis-alignment"].iloc[-1]
    for name, bar in {"": ALIGNED, **{f"/{bar}": bar for bar in BELOW}}.items():
        aligned = watch.index[watch["axis-alignment"] > bar]
        found[f"steps-to-aligned{name}"] = aligned[0] if len(aligned) else steps
    loss = records["reconstruction"]
    usual = loss.rolling(WINDOW).median().shift(1)
    late = records.index > steps / 10
    found["reconstruction-spikes"] = 100 * float((loss > SPIKE * usual)[late].mean())
    return {name: float(value) for name, value in found.items()}


def _along_traversals(distance: Distance, data: GridDataset, seed: int):
    """For each factor, how far apart any two of its places are (p,), and their distances on traversals (n, p)."""
    for factor, size in zip(data.space.names, data.space.sizes, strict=True):
        points = traversals(data.space, factor, TRAVERSALS, torch.Generator().manual_seed(seed))
        row, column = torch.triu_indices(size, size, 1)
        yield column - row, distance(points[:, row].flatten(), points[:, column].flatten()).view(TRAVERSALS, -1)
