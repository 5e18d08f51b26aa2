"""The mutual information gap."""

import numpy as np

from course_lib.metrics.information import BINS, check_bins, entropy, information_matrix, smallest_sample
from course_lib.metrics.samples import as_samples, draw_samples, warn_if_few
from course_lib.metrics.score import Score, latents_by_factors, with_factors, with_twin


def from_samples(latents, factors, *, bins: int = BINS, names=None) -> Score:
    """The MIG of latents (n, D) for factors, integers (n, F); see `mig`."""
    check_bins(bins)
    samples = as_samples(latents, factors, names)
    warn_if_few(len(samples.latents), smallest_sample(samples.factors, bins), "MIG")
    information = information_matrix(samples.latents, samples.factors, bins)
    gaps = {}
    for name, column, factor in zip(samples.names, information.T, samples.factors.T, strict=True):
        if (factor != factor[0]).any():
            second, first = np.sort(np.append(column, 0.0))[-2:]  # the 0 stands in for a second latent if D = 1
            gaps[name] = float((first - second) / entropy(factor))
    headline = float(np.mean(list(gaps.values())))
    return Score(
        "MIG",
        headline,
        with_factors({"mig": headline}, gaps),
        {"n": len(samples.latents), "bins": bins},
        latents_by_factors(information, samples.names),
        "mutual information (nats)",
    )


@with_twin(from_samples)
def mig(encode, data=None, seed: int = 0, *, num_samples: int = 10_000, bins: int = BINS) -> Score:
    r"""Is each factor in one latent only? From 0 to 1; higher is better.

    .. math:: \frac{1}{F} \sum_k \frac{1}{H(v_k)} \Big( I(z_{j_k}; v_k) - \max_{j \ne j_k} I(z_j; v_k) \Big)

    where j_k is the latent with the most information on factor k. Information and entropy are in nats, of latents in
    `bins` bins of equal width. Factors that do not vary are left out; a missing second latent has no information.

    encode : images uint8 (B, C, H, W) → latents (B, D), or `Encodings`, which bring their own data.
    values : "mig" and the gap of each factor. matrix: mutual information, latents × factors.

    Source: Chen et al., Isolating sources of disentanglement in VAEs, 2018, Eq. 6; bins as in Locatello et al.,
    Challenging common assumptions, 2019, Appendix C. Chapter 04.
    """
    samples = draw_samples(encode, data, num_samples, seed)
    return from_samples(samples.latents, samples.factors, bins=bins, names=samples.names).with_settings(seed=seed)
