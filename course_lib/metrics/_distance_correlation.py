"""The ground-truth distance correlation."""

import numpy as np
import pandas
import torch
from torch import Tensor

from course_lib.arguments import MOST, check_integers
from course_lib.distances import correlations, ground_truth_distance, perceived_distance, round_distances
from course_lib.metrics.encodings import Encodings, as_table, rounding
from course_lib.metrics.grids import grid_rows, whole_traversals
from course_lib.metrics.samples import generator, require_variation, warn_if_few
from course_lib.metrics.score import Score, geometric_mean, with_factors, with_twin
from course_lib.sampling import factor_pairs, random_pairs

SMALLEST = 1000  # pairs: a correlation near 0 is then known to about .03
DRAWN = 5000  # pairs whose images are compared, at most: drawing them takes most of the time
GLOBAL = "global"  # the row of pairs anywhere
COLUMNS = ("published", "distinct", "data", "distinct_data")
WHOLE = 2**20  # pairs of a factor that a table gives, at most
ANYWHERE = 10_000  # pairs anywhere in a table


def from_samples(latents, factors, *, seed: int = 0, names=None) -> Score:
    """The correlations of latents (n, D) and factors, integers (n, F), without those with images; see the score.

    The pairs along a factor are all pairs, a point with itself included, in each whole traversal (see
    `linearity_ratio.from_samples`), or in as many, evenly spaced, as have 2²⁰ pairs. 10,000 pairs anywhere are drawn
    from `seed`: first all first ends, then all second ones. The distance of factors is the sum of |y − y'| as the table
    counts. Raises ValueError when a factor has no whole traversal.
    """
    rows, draws = grid_rows(latents, factors, names), generator(seed)
    offsets = torch.from_numpy(rows.factors.astype(np.uint64) - rows.factors.min(0).astype(np.uint64)).double()
    pairs = [_all_pairs(whole_traversals(rows, name, "distance correlation")) for name in rows.varying]
    pairs.append(torch.randint(len(rows.factors), (2, ANYWHERE), generator=draws))
    table = []
    for first, second in pairs:
        latent = _latent_distance(torch.stack([rows.latents[first], rows.latents[second]]))
        truth, distinct = (offsets[first] - offsets[second]).abs().sum(1), first != second
        table.append([_rank(truth, latent), _rank(truth[distinct], latent[distinct])])
    sizes = {name: len(np.unique(rows.factors[:, place])) for name, place in rows.varying.items()}
    return _score(table, sizes, {"pairs": ANYWHERE, "by": "l1", "loss": None, "seed": seed})


def _all_pairs(traversals: Tensor) -> Tensor:
    """All ordered pairs, a point with itself included, of each traversal (m, f), or of evenly spaced ones: (2, n)."""
    m, f = traversals.shape
    chosen = min(m, max(WHOLE // f**2, 1))
    points = traversals[torch.arange(chosen) * m // chosen]
    first, second = torch.cartesian_prod(torch.arange(f), torch.arange(f)).T
    return torch.stack([points[:, first].flatten(), points[:, second].flatten()])


@with_twin(from_samples)
def distance_correlation(
    encode, data=None, seed: int = 0, *, num_samples: int = 10_000, by: str = "l1", loss: str | None = "mse"
) -> Score:
    r"""Do distances between latents follow the distances between factors? From −1 to 1; higher is better.

    .. math:: \rho_i = \mathrm{Spearman}\big(\|y - y'\|_1, \|z - z'\|_1\big) \text{ along factor } i, \qquad
        \Big( \prod_i \max(\rho_i, 0) \Big)^{1/F}

    Pairs lie on random traversals along a factor, `num_samples` for each. The headline is the geometric mean over the
    factors. It follows the published protocol, in which the two points of a pair are drawn with replacement: a share
    1/f of the pairs are a point and itself, at distance 0 in any representation, which alone raises the correlation.
    Without those pairs the same sample gives the "distinct" values: read both, and beside an untrained encoder's.

    encode : images uint8 (B, C, H, W) → latents (B, D), or `Encodings`, which bring their own data.
    by : the distance of factors, as in `sampling.factor_distance`.
    loss : the reconstruction loss that is the distance of images (`distances.perceived_distance`), for the correlation
        of latent and perceived distances ("data"), of the first 5,000 pairs at most; None leaves it out.
    values : "factors" (the headline), "global" (pairs anywhere, both ends drawn independently), the names of the
        factors; "data", "global_data" and "data_" before each name; "distinct_" before each of these but the global
        ones. A factor of two values has one distance between distinct points: it is left out of "distinct_factors" and
        "distinct_data", which are 0 if no factor is left.
    matrix : the correlations, factors (and "global") × protocol.

    Constant latents or distances have correlation 0; distances that differ by less than a millionth of the largest are
    equal; factors with one value are left out. Source: the thesis, Eqs. 4.1, 4.2, 4.3 and, for the data, 4.10.
    Chapter 17.
    """
    check_integers(2, MOST, num_samples=num_samples)
    warn_if_few(num_samples, SMALLEST, "distance correlation")
    table, draws = as_table(encode, data), generator(seed)
    space = table.space
    varying = {name: size for name, size in zip(space.names, space.sizes, strict=True) if size > 1}
    require_variation(list(varying))
    pairs = [factor_pairs(space, name, num_samples, draws, distinct=False) for name in varying]
    pairs.append(random_pairs(space, num_samples, draws))
    rows = [_correlations(table, *ends, by, loss) for ends in pairs]
    return _score(rows, varying, {"pairs": num_samples, "by": by, "loss": loss, "seed": seed})


def _score(rows: list[list[float]], varying: dict[str, int], settings: dict) -> Score:
    """The score from one row of correlations for each factor that varies, name → number of values, and for pairs
    anywhere."""
    labels = [name + " (factor)" * (name == GLOBAL) for name in varying]
    matrix = pandas.DataFrame(rows, index=[*labels, GLOBAL], columns=COLUMNS[: len(rows[0])]).dropna(axis=1, how="all")
    matrix = matrix.rename_axis("factor").rename_axis("protocol", axis=1)
    values = _name_values(matrix, dict(zip(labels, varying.values(), strict=True)))
    return Score("distance correlation", values["factors"], values, settings, matrix, "Spearman's rank correlation")


def _correlations(table: Encodings, first: Tensor, second: Tensor, by: str, loss: str | None) -> list[float]:
    """The four columns of the matrix for one set of pairs."""
    truth = ground_truth_distance(table.space, by=by)(first, second)
    ends = torch.stack([table(first), table(second)])
    latent = _latent_distance(ends)
    distinct = first != second
    row = [_rank(truth, latent), _rank(truth[distinct], latent[distinct])]
    if loss is None:
        return [*row, float("nan"), float("nan")]
    first, second, latent, distinct = (values[:DRAWN] for values in (first, second, latent, distinct))
    perceived = round_distances(perceived_distance(table.data, loss=loss)(first, second))
    return [*row, _rank(perceived, latent), _rank(perceived[distinct], latent[distinct])]


def _latent_distance(ends: Tensor) -> Tensor:
    """The rounded ℓ1 distances of pairs of representations (2, n, D): float64 (n,)."""
    difference = (ends[0].double() - ends[1].double()).abs()
    return round_distances(torch.where(difference <= rounding(ends), 0.0, difference).sum(1))


def _rank(first: Tensor, second: Tensor) -> float:
    return correlations(first, second)[1] if len(first) > 1 else 0.0


def _name_values(matrix: pandas.DataFrame, varying: dict[str, int]) -> dict[str, float]:
    factors = list(varying)
    several = [name for name in factors if varying[name] > 2]
    values = {
        "factors": geometric_mean(matrix.loc[factors, "published"]),
        "global": matrix.loc[GLOBAL, "published"],
        "distinct_factors": geometric_mean(matrix.loc[several, "distinct"]),
    }
    if "data" in matrix:
        values["data"] = geometric_mean(matrix.loc[factors, "data"])
        values["global_data"] = matrix.loc[GLOBAL, "data"]
        values["distinct_data"] = geometric_mean(matrix.loc[several, "distinct_data"])
    for column in matrix:
        prefix = {"published": "", "distinct": "distinct_", "data": "data_", "distinct_data": "distinct_data_"}[column]
        values = with_factors(values, {prefix + name: matrix.loc[name, column] for name in factors})
    return {name: float(value) for name, value in values.items()}
