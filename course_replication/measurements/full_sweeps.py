"""What takes several trainings at the paper's size: averages and maxima over β, the largest β, and what they cannot
pass, the rank of the images' own distances."""

from statistics import fmean

from course_lib.distances import correlation_table, perceived_distance
from course_lib.metrics import geometric_mean
from course_replication.measurements.full_size import dataset, training
from course_replication.measurements.trainings import Scores
from course_replication.runs import Context

NAMES = {"BetaVAE": "beta-vae", "AdaGVAE": "ada-gvae"}
LEFT = 0.5  # of the pixels' variance, at most, where a VAE reconstructs
SWEPT = (
    "rank", "rank-distinct", "rank-global", "data-rank", "data-rank-distinct", "linearity", "axis-alignment", "mig",
    "dci", "reconstruction", "kl", "active-latents",
)  # fmt: skip
CONTROLS = ("", "control/untrained/", "control/shuffled/")


def sweep(context: Context, *, frameworks: list[str], betas: list[float], **settings) -> Scores:
    """Train each framework with each β on one dataset, and summarise each score over β.

    frameworks, betas : in the place of `framework` and `beta` of the settings of `full_size.training`.

    "mig/dsprites/beta-vae" is the mean over β and "mig-max/dsprites/beta-vae" the largest value; "mig/dsprites" and
    "mig-max/dsprites" are the same over all trainings, "mig-gap/dsprites" how far apart two frameworks' means are, and
    "beta-best/dsprites" the largest β with which every framework reconstructs. "mig/dsprites/beta-vae/beta-0.001" is
    one training's.
    """
    place, found, means = settings["data"].lower(), {}, {}
    tried = {
        kind: {beta: training(context, framework=kind, beta=beta, **settings) for beta in betas} for kind in frameworks
    }
    for kind, by_beta in tried.items():
        where = f"/{place}/{NAMES[kind]}"
        means[kind] = summary([*by_beta.values()], "")
        found |= summary([*by_beta.values()], where)
        for beta, scores in by_beta.items():
            found |= {f"{name}{where}/beta-{beta:g}": scores[name] for name in SWEPT if name in scores}
    found |= summary([scores for by_beta in tried.values() for scores in by_beta.values()], f"/{place}")
    if len(frameworks) == 2:
        first, second = means.values()
        found |= {f"{name}-gap/{place}": abs(first[name] - second[name]) for name in SWEPT if name in first}
    good = [beta for beta in betas if all(by_beta[beta]["left"] < LEFT for by_beta in tried.values())]
    return found | {f"beta-best/{place}": max(good, default=0.0)}


def summary(trainings: list[Scores], where: str) -> Scores:
    """The mean, "mig…", and the largest value, "mig-max…", of each score of several trainings and of its controls."""
    found = {}
    for name in (control + score for control in CONTROLS for score in SWEPT):
        values = [scores[name] for scores in trainings if name in scores]
        found |= {f"{name}{where}": fmean(values), f"{name}-max{where}": max(values)} if values else {}
    return found


def largest_beta(context: Context, *, betas: list[float], **settings) -> Scores:
    """The largest β with which a framework reconstructs, "beta-best": it leaves less than half of the variance.

    settings : of `full_size.training`, without `beta`. 0 where none of the `betas` is small enough.

    "left/beta-0.1" is what is left with each β, from the largest down to the best; "control/untrained/…" the same
    before the first step.
    """
    found, best = {}, 0.0
    for beta in sorted(betas, reverse=True):
        scores = training(context, beta=beta, **settings)
        for control in ("", "control/untrained/"):
            found[f"{control}left/beta-{beta:g}"] = scores[f"{control}left"]
        if scores["left"] < LEFT:
            best = beta
            break
    return found | {"beta-best": best}


def perceived(context: Context, *, pairs: int, loss: str, **options) -> Scores:
    """What the distances of images alone reach: "perceived-rank", by the protocol of "rank"; nothing is trained.

    options : `data` and what else `full_size.dataset` takes.
    """
    data = dataset(**options)
    table = correlation_table(perceived_distance(data, loss=loss), data.space, context.generator, n=pairs)
    return {"perceived-rank": geometric_mean(table["rank"].drop("random"))}
