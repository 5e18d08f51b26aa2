"""Trainings whose total correlation is known: FactorVAE, the β-TCVAE and the β-VAE, and all that is claimed of them.

The dataset is small enough (or the device fast enough) that q(z), the mixture of the posteriors of all images, can be
computed, and with it the true total correlation.
"""

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np
import pandas
import torch
from torch import Tensor

import course_lib.frameworks
from course_lib import metrics
from course_lib.data import GridDataset
from course_lib.frameworks import AAE, BetaTCVAE, FactorVAE, Framework, Step
from course_lib.losses import kl_to_standard_normal, permuted_latents, standard_normal_log_density
from course_lib.metrics import Encodings
from course_lib.models import DiagonalGaussian, mlp_vae
from course_lib.theory import importance_weighted_bound
from course_replication.measurements.training import (
    NETWORKS,
    OF_DATA,
    OF_FIT,
    Exchanged,
    dataset,
    encodings,
    report,
    take,
    train,
)
from course_replication.runs import Context

Scores = dict[str, float]
SIZES = NETWORKS | {
    "small-mlp": partial(mlp_vae, hidden=(128, 128)),
    "mlp-64": partial(mlp_vae, hidden=(64, 64)),
}
LOOKS = 10  # times that the total correlation is looked at on the way, the last at the end
CODES, WATCHED = 1000, 200  # codes that estimate it, at the end and on the way
CELLS = 2**25  # densities that are held at a time
IMAGES = 10_000  # that stand for all of a large dataset where images are decoded
EVALUATED = 200  # images whose likelihood is estimated


class WeightedTCVAE(BetaTCVAE):
    """The β-TCVAE with a weight on each of its three terms: α on the information, β, and ω on the marginals."""

    def __init__(self, model, *, alpha: float = 1.0, omega: float = 1.0, **arguments):
        super().__init__(model, **arguments)
        self.keep(alpha=alpha, omega=omega)

    def loss(self, views: Tensor, step: Step) -> dict[str, Tensor]:
        weights = {"mutual_information": self.alpha, "dimension_wise_kl": self.omega}
        return {name: weights.get(name, 1.0) * term for name, term in super().loss(views, step).items()}


def scores(context: Context, **settings) -> Scores:
    """Train one framework and measure it; "control/untrained/…" is the same before the first step, and
    "control/shuffled/…" are the scores of the trained one when the images have exchanged their representations.

    settings : `data`, a dataset as in `training.scores`; `network`, also "small-mlp"; `latents`,
        `framework`, `steps`, `batch_size`, `learning_rate` and `log_every` as there; `particles`, where a likelihood
        is asked for. All else goes to the framework.

    "total-correlation" (also "…/true" and "…/late") is that of q(z) at the end, "…/early" after a tenth of the steps.
    Of a FactorVAE, "…/discriminator" is what its discriminator takes for it, and "…/smallest-gap" how far that lies
    below the true one in the least of ten looks. "information" and "marginal-kl" (of a latent, on average) are the
    other parts of the KL; "left" is the share of the pixels' variance that reconstructions leave, "reconstruction" what
    is paid for them.
    """
    settings, seed = dict(settings), context.seed
    fitting, particles = take(settings, OF_FIT), settings.pop("particles", 0)
    data = dataset(**take(settings, OF_DATA))
    untrained, framework = (framework_of(data, seed, **settings).to(context.device) for _ in range(2))
    before = measured(untrained, data, seed, particles)
    watch = watched(data, seed, fitting["steps"] // LOOKS)
    history = train(context, framework, data, context.scratch / "model.safetensors", fitting, [watch])
    after = measured(framework, data, seed, particles)
    records = history.to_frame()
    after |= on_the_way(records) | {"no-divergence": stable(records), "settings": 1}
    before |= on_the_way(pandas.DataFrame([total_correlation(untrained, data, seed, WATCHED)]))
    order = torch.randperm(len(data), generator=torch.Generator().manual_seed(seed))
    return report(after, before, code_scores(Exchanged(encodings(framework, data), order), seed))


def framework_of(data: GridDataset, seed: int, *, network: str, latents: int, framework: str, **settings) -> Framework:
    """The framework that settings describe, its networks not trained yet."""
    kind = WeightedTCVAE if framework == WeightedTCVAE.__name__ else getattr(course_lib.frameworks, framework)
    own = {"seed": seed} if issubclass(kind, FactorVAE | AAE) else {}  # of the discriminator
    model = SIZES[network](data, latents, seed=seed)
    return kind(model, **own, **settings)


def measured(framework: Framework, data: GridDataset, seed: int, particles: int) -> Scores:
    """Everything that is measured of a framework, but for what happened on the way."""
    found = total_correlation(framework, data, seed, CODES) | code_scores(encodings(framework, data), seed)
    found["total-correlation/true"] = found["total-correlation/late"] = found["total-correlation"]
    index = torch.randperm(len(data), generator=torch.Generator().manual_seed(seed))[:IMAGES]
    found |= reconstructed(framework, data, index)
    if particles:
        images = framework.standardise(data.images(index[:EVALUATED]))
        found["log-likelihood"] = importance_weighted_bound(framework, images, particles=particles, seed=seed).mean()
    return {name: float(value) for name, value in found.items()}


@torch.no_grad()
def total_correlation(framework: Framework, data: GridDataset, seed: int, codes: int) -> Scores:
    """The parts of the KL from that many codes, the density of q(z) being that of all images, and the discriminator."""
    posterior = _posterior(framework, data)
    draws = torch.Generator(posterior.mean.device).manual_seed(seed)
    own, others = torch.randint(len(data), (2, codes), generator=draws, device=draws.device)
    latents, second = (posterior.at(index).rsample(draws) for index in (own, others))
    joint, marginals = log_densities(latents.double(), posterior)
    correlation = (joint - marginals.sum(1)).mean()
    dimension_wise = (marginals - standard_normal_log_density(latents.double())).sum(1).mean()
    kl = kl_to_standard_normal(posterior).double().sum(1).mean()
    found = {
        "total-correlation": correlation,
        "marginal-kl": dimension_wise / latents.shape[1],
        "information": kl - correlation - dimension_wise,
    }
    if isinstance(framework, FactorVAE):
        joint, independent = (framework.discriminator(z) for z in (latents, permuted_latents(second, draws)))
        found["total-correlation/discriminator"] = joint.mean()
        found["discriminator-accuracy"] = ((joint > 0).double().mean() + (independent < 0).double().mean()) / 2
    return {name: value.item() for name, value in found.items()}


def log_densities(latents: Tensor, mixture: DiagonalGaussian) -> tuple[Tensor, Tensor]:
    """log q(z) (n,) and log q(z_j) (n, D) of latents (n, D) under the equal mixture of Gaussians (m, D), in nats."""
    mixture, joint, marginals = DiagonalGaussian(*(part.double() for part in mixture)), [], []
    for part in latents.split(max(1, CELLS // mixture.mean.numel())):
        densities = mixture.log_density(part.unsqueeze(1))  # (n, m, D)
        joint.append(densities.sum(2).logsumexp(1))
        marginals.append(densities.logsumexp(1))
    size = math.log(len(mixture.mean))
    return torch.cat(joint) - size, torch.cat(marginals) - size


def code_scores(table: Encodings, seed: int) -> Scores:
    """The scores of a representation that claims ask for, and what its best latent knows of each factor, as a share."""
    gap, space = metrics.mig(table, seed=seed), table.space
    found = {
        "factor-vae-score": float(metrics.factor_vae_score(table, seed=seed)),
        "beta-vae-score": float(metrics.beta_vae_score(table, seed=seed)),
        "mig": float(gap),
    }
    best = gap.matrix.max()
    return found | {
        f"mutual-information/{name}": best[name] / math.log(size)
        for name, size in zip(space.names, space.sizes, strict=True)
    }


def watched(data: GridDataset, seed: int, every: int) -> Callable[[Framework, int], Scores | None]:
    """A callback of `fit` that looks at the total correlation every so many steps."""

    def watch(framework: Framework, step: int) -> Scores | None:
        return None if step % every else total_correlation(framework, data, seed, WATCHED)

    return watch


def on_the_way(records: pandas.DataFrame) -> Scores:
    """The total correlation at the first look, and by how much it was underestimated where that was least so."""
    looks = records.dropna(subset="total-correlation")
    found = {"total-correlation/early": looks["total-correlation"].iloc[0]}
    if "total-correlation/discriminator" in looks:
        gaps = looks["total-correlation"] - looks["total-correlation/discriminator"]
        found["total-correlation/smallest-gap"] = gaps.min()
    return found


def stable(records: pandas.DataFrame) -> bool:
    """Whether in no tenth of the training the reconstruction loss is, on average, more than a tenth above that of the
    tenth before. (A term that is not finite stops a training, so that it has no result.)"""
    tenths = [part.mean() for part in np.array_split(records["reconstruction"].to_numpy(), 10)]
    return all(after < 1.1 * before for before, after in pairwise(tenths))


def _posterior(framework: Framework, data: GridDataset) -> DiagonalGaussian:
    """q(z|x) of all images."""
    device = framework.model.pixel_mean.device
    parts = torch.arange(len(data), device=device).split(1024)
    columns = zip(*(framework.posterior(data.images(part)) for part in parts), strict=True)
    return DiagonalGaussian(*map(torch.cat, columns))


@torch.no_grad()
def reconstructed(framework: Framework, data: GridDataset, index: Tensor) -> Scores:
    paid = error = square = total = 0.0
    for part in index.to(framework.model.pixel_mean.device).split(512):
        images = data.images(part)
        observed, pixels = framework.standardise(images), images.double() / 255
        decoded = framework.model.decode(framework.encode(observed))
        paid += framework.likelihood(decoded, observed).double().sum()
        error += (framework.likelihood.pixels(decoded) - pixels).square().sum()
        square, total = square + pixels.square().sum(), total + pixels.sum(0)
    left = error / (square - total.square().sum() / len(index))
    return {"reconstruction": paid / len(index), "left": left}
