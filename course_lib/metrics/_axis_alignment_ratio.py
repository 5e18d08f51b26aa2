"""The axis-alignment ratio, and the axis-orientation ratio that is derived from it."""

from course_lib.metrics._linearity_ratio import linearity_ratio
from course_lib.metrics.encodings import as_table
from course_lib.metrics.score import Score, with_factors, with_twin
from course_lib.metrics.traversals import ratio_from_samples, ratio_score, variances


def from_samples(latents, factors, *, names=None) -> Score:
    """The ratio of latents (n, D) for factors, integers (n, F), over all whole traversals there are.

    As `linearity_ratio.from_samples`.
    """
    return ratio_from_samples("axis-alignment ratio", variances, latents, factors, names)


@with_twin(from_samples)
def axis_alignment_ratio(encode, data=None, seed: int = 0, *, num_samples: int = 1000) -> Score:
    r"""Does a factor's traversal move one latent only? From 0 to 1; higher is better; at most the linearity ratio.

    .. math:: \tilde s_i = E\Big[\frac{\max_k \mathrm{Var}[z_k]}{\sum_j \mathrm{Var}[z_j]}\Big], \qquad
        s_i = \frac{\tilde s_i - 1/D}{1 - 1/D}, \qquad s = \Big(\prod_i s_i\Big)^{1/F}

    The variances are over one traversal, the mean is over `num_samples` random traversals of each factor. It depends on
    D by definition: constant latents raise it.

    encode : images uint8 (B, C, H, W) → latents (B, D), or `Encodings`, which bring their own data.
    values : "factors" (the headline) and the ratio of each factor.

    A traversal that does not move has ratio 0; one that moves in D = 1 has ratio 1; factors with one value are left
    out. Source: the thesis, Eqs. 4.4 to 4.6. Chapter 17.
    """
    return ratio_score("axis-alignment ratio", variances, encode, data, seed, num_samples)


def orientation_from_samples(latents, factors, *, names=None) -> Score:
    """The quotient of the two ratios of latents (n, D) for factors, integers (n, F)."""
    axis = from_samples(latents, factors, names=names)
    return _quotient(axis, linearity_ratio.from_samples(latents, factors, names=names))


@with_twin(orientation_from_samples)
def axis_orientation_ratio(encode, data=None, seed: int = 0, *, num_samples: int = 1000) -> Score:
    """How far is a factor's direction along an axis, whether or not it is straight? From 0 to 1; higher is better.

    The axis-alignment ratio divided by the linearity ratio, both over the same traversals; 0 if the latter is 0.

    encode : images uint8 (B, C, H, W) → latents (B, D), or `Encodings`, which bring their own data.
    values : "factors" (the headline), "axis_alignment", "linearity", and the quotient of each factor.

    Source: the thesis, Eq. A.1. Chapter 17.
    """
    table = as_table(encode, data)
    axis = axis_alignment_ratio(table, seed=seed, num_samples=num_samples)
    return _quotient(axis, linearity_ratio(table, seed=seed, num_samples=num_samples))


def _quotient(axis: Score, linear: Score) -> Score:
    ratios = zip(axis.values.items(), linear.values.values(), strict=True)
    (_, headline), *named = [(name, one / other if other > 0 else 0.0) for (name, one), other in ratios]
    values = {"factors": headline, "axis_alignment": float(axis), "linearity": float(linear)}
    return Score("axis-orientation ratio", headline, with_factors(values, dict(named)), axis.settings)
