"""Entropies and mutual information of discrete variables, in nats."""

import numpy as np

from course_lib.arguments import check_integers

BINS = 20  # of the literature (Locatello et al., 2019, Appendix C)
MOST_BINS = 2**53  # beyond, float64 knows no place in them
MOST_CELLS = 2**20  # of a joint table that is held


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
    return _entropy_of(np.unique(values, return_counts=True)[1])


def information_matrix(latents: np.ndarray, factors: np.ndarray, bins: int = BINS) -> np.ndarray:
    """The mutual information of each binned latent and each factor, (n, D) and (n, F) → float64 (D, F), in nats."""
    return information_of(discretise(latents, bins), factors)


def information_of(codes: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """The mutual information H(c) + H(v) − H(c, v) of each column of codes (n, D), whose values are the bins, and each
    factor (n, F): float64 (D, F), in nats.

    The plug-in estimate: at independence its expectation is about (k − 1)(l − 1) / (2n) nats above 0, for k and l
    different values.
    """
    rows, columns = (list(map(_ranked, table.T)) for table in (codes, factors))
    found = [_information(code, factor) for code in rows for factor in columns]
    return np.array(found).reshape(codes.shape[1], factors.shape[1])


def _ranked(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each value's place among the different ones, in order (n,), and how often each of those occurs: no product of
    such places overflows."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return places, counts


def _information(first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray]) -> float:
    (rows, row_counts), (columns, column_counts) = first, second
    joint = rows * len(column_counts) + columns
    if len(row_counts) * len(column_counts) > MOST_CELLS + len(joint):
        counts = np.unique(joint, return_counts=True)[1]
    else:  # counting needs no sorting
        counts = np.bincount(joint)
    both = _entropy_of(counts[counts > 0])
    return max(_entropy_of(row_counts) + _entropy_of(column_counts) - both, 0.0)


def _entropy_of(counts: np.ndarray) -> float:
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def smallest_sample(factors: np.ndarray, bins: int = BINS, share: float = 0.05) -> float:
    """The n from which the plug-in estimate's bias is at most `share` of the entropy of every factor (n, F)."""
    sizes = [
        (bins - 1) * (len(np.unique(factor)) - 1) / (2 * share * entropy(factor))
        for factor in factors.T
        if (factor != factor[0]).any()
    ]
    return max(sizes, default=0)
