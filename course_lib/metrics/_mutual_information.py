"""The matrix of mutual information between latents and factors."""

import numpy as np

from course_lib.metrics.information import BINS, check_bins, entropy, information_matrix, smallest_sample
from course_lib.metrics.samples import as_samples, draw_samples, warn_if_few
from course_lib.metrics.score import Score, latents_by_factors, with_factors, with_twin


def from_samples(latents, factors, *, bins: int = BINS, names=None) -> Score:
    """The matrix for latents (n, D) and factors, integers (n, F); see `mutual_information`."""
    check_bins(bins)
    samples = as_samples(latents, factors, names)
    warn_if_few(len(samples.latents), smallest_sample(samples.factors, bins), "mutual information")
    information = information_matrix(samples.latents, samples.factors, bins)
    shares = {
        name: float(column.max() / entropy(factor))
        for name, column, factor in zip(samples.names, information.T, samples.factors.T, strict=True)
        if (factor != factor[0]).any()
    }
    headline = float(np.mean(list(shares.values())))
    settings = {"n": len(samples.latents), "bins": bins}
    matrix = latents_by_factors(information, samples.names)
    values = with_factors({"mean": headline}, shares)
    return Score("mutual information", headline, values, settings, matrix, "mutual information (nats)")


@with_twin(from_samples)
def mutual_information(encode, data=None, seed: int = 0, *, num_samples: int = 10_000, bins: int = BINS) -> Score:
    r"""How much does each latent know about each factor? A matrix, latents × factors, in nats.

    .. math:: I(z_j; v_k) = H(z_j) + H(v_k) - H(z_j, v_k)

    of latents in `bins` bins of equal width. The headline, from 0 to 1, is how much of a factor's entropy its best
    latent has, averaged over the factors: unlike the MIG, it does not mind that other latents have it too.

    encode : images uint8 (B, C, H, W) → latents (B, D), or `Encodings`, which bring their own data.
    values : "mean" (the headline) and the share of each factor. matrix: the mutual information.

    Even an independent latent has about (bins − 1)(f − 1) / (2n) nats. Source: Chen et al., 2018, Section 4.
    Chapter 04.
    """
    samples = draw_samples(encode, data, num_samples, seed)
    return from_samples(samples.latents, samples.factors, bins=bins, names=samples.names).with_settings(seed=seed)
