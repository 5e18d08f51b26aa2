"""The linearity ratio."""

from course_lib.metrics.score import Score, with_twin
from course_lib.metrics.traversals import principal_variances, ratio_from_samples, ratio_score


def from_samples(latents, factors, *, names=None) -> Score:
    """The ratio of latents (n, D) for factors, integers (n, F), over all whole traversals there are; see the score.

    A whole traversal is rows that agree in all factors but one and take each of its values; of rows with the same
    factors the first counts. Raises ValueError when a factor has no whole traversal.
    """
    return ratio_from_samples("linearity ratio", principal_variances, latents, factors, names)


@with_twin(from_samples)
def linearity_ratio(encode, data=None, seed: int = 0, *, num_samples: int = 1000) -> Score:
    r"""Do the representations of a factor's traversal lie on a straight line? From 0 to 1; higher is better.

    .. math:: \tilde s_i = E\Big[\frac{\max_k \lambda_k}{\sum_j \lambda_j}\Big], \qquad
        s_i = \frac{\tilde s_i - 1/D}{1 - 1/D}, \qquad s = \Big(\prod_i s_i\Big)^{1/F}

    λ are the variances along the principal components of one traversal; the mean is over `num_samples` random
    traversals of each factor. It depends on D by definition: constant latents raise it.

    encode : images uint8 (B, C, H, W) → latents (B, D), or `Encodings`, which bring their own data.
    values : "factors" (the headline) and the ratio of each factor.

    A traversal that does not move has ratio 0; one that moves in D = 1 has ratio 1; factors with one value are left
    out. Source: the thesis, Eqs. 4.7 to 4.9. Chapter 17.
    """
    return ratio_score("linearity ratio", principal_variances, encode, data, seed, num_samples)
