"""Entropies and mutual information of discrete variables, in nats."""

import numpy as np

from course_lib.arguments import check_integers

BINS = 20  # of the literature (Locatello et al., 2019, Appendix C)
MOST_BINS = 2**53  # beyond, float64 knows no place in them


def check_bins(bins: int) -> None:
    """Raise a ValueError unless `bins` is an integer from 2 to 2⁵³."""
    check_integers(2, bins=bins)
    if bins > MOST_BINS:
        raise ValueError(f"bins: got {bins}; allowed are integers from 2 to {MOST_BINS}.")


def discretise(latents: np.ndarray, bins: int = BINS) -> np.ndarray:
    """Each column of (n, D) in `bins` bins of equal width from its smallest to its largest value: int64 (n, D).

    A constant column falls into one bin.
    """
    low, width = latents.min(0), np.ptp(latents, axis=0)
    place = (latents - low) / np.where(width > 0, width, 1) * bins
    return np.minimum(place.astype(np.int64), bins - 1)


def entropy(values: np.ndarray) -> float:
    """The entropy of a sample of integers (n,), in nats."""
    counts = np.unique(values, return_counts=True)[1]
    shares = counts / len(values)
    return float(-(shares * np.log(shares)).sum())


def mutual_information_of(first: np.ndarray, second: np.ndarray) -> float:
    """The mutual information of two samples of integers (n,), in nats: H(first) + H(second) − H(both).

    The plug-in estimate: at independence its expectation is about (k − 1)(l − 1) / (2n) nats above 0, for k and l
    different values.
    """
    first, second = (np.unique(values, return_inverse=True)[1] for values in (first, second))  # no product overflows
    joint = first * (second.max() + 1) + second
    return max(entropy(first) + entropy(second) - entropy(joint), 0.0)


def information_matrix(latents: np.ndarray, factors: np.ndarray, bins: int = BINS) -> np.ndarray:
    """The mutual information of each binned latent and each factor, (n, D) and (n, F) → float64 (D, F), in nats."""
    codes = discretise(latents, bins)
    values = [mutual_information_of(code, factor) for code in codes.T for factor in factors.T]
    return np.array(values).reshape(latents.shape[1], factors.shape[1])


def smallest_sample(factors: np.ndarray, bins: int = BINS, share: float = 0.05) -> float:
    """The n from which the plug-in estimate's bias is at most `share` of the entropy of every factor (n, F)."""
    sizes = [
        (bins - 1) * (len(np.unique(factor)) - 1) / (2 * share * entropy(factor))
        for factor in factors.T
        if (factor != factor[0]).any()
    ]
    return max(sizes, default=0)
