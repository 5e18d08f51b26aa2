"""How the distances of the images alone follow those of factors, with nothing trained: what a VAE cannot pass."""

from course_lib.distances import correlation_table, perceived_distance
from course_lib.metrics import geometric_mean
from course_replication.measurements.training import Scores, dataset
from course_replication.runs import Context


def by_mean(context: Context, *, num_pairs: int, **options) -> Scores:
    """Spearman's correlation of pixel distances with those of factors, "perceived-rank", a mean over factors.

    options : of `training.dataset`. num_pairs : along each factor, drawn with replacement as in Table 4.2;
        "perceived-rank-distinct" is without pairs of a point and itself.
    """
    data, found = dataset(**options), {}
    for name, self_pairs in {"perceived-rank": True, "perceived-rank-distinct": False}.items():
        distance, draws = perceived_distance(data), context.generator
        table = correlation_table(distance, data.space, draws, n=num_pairs, self_pairs=self_pairs)
        found[name] = table["rank"].drop(index="random").mean()
    return found


def by_geometric_mean(context: Context, *, num_pairs: int, loss: str, **options) -> Scores:
    """The same by the protocol of "rank", a geometric mean over factors, for any loss."""
    data = dataset(**options)
    table = correlation_table(perceived_distance(data, loss=loss), data.space, context.generator, n=num_pairs)
    return {"perceived-rank": geometric_mean(table["rank"].drop("random"))}
