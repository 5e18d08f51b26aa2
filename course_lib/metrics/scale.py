"""Scales on which squares neither overflow nor vanish, and at which solvers still find the optimum.

Latents are multiplied by powers of two only, which rounds nothing: a score that no scale changes keeps its value to the
bit.
"""

import numpy as np

FLAT = 10  # power of two: with latents as large as 2**10, a penalty C = 1 on the weights is a millionth of that at 1


def powers(values: np.ndarray, axis: int | tuple[int, ...] = 0) -> np.ndarray:
    """The smallest power of two above the largest magnitude along `axis`: int32, 0 where there are zeros only."""
    return np.frexp(np.abs(values).max(axis, initial=0))[1]


def unit(latents: np.ndarray) -> np.ndarray:
    """Latents (n, D), the largest magnitude of each brought to [½, 1)."""
    return np.ldexp(latents, -powers(latents))


def cap(latents: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Latents (n, D) and others of the same representation, each latent that exceeds 2**10 in the first brought there.

    For a classifier whose penalty on the weights is next to nothing there: it stays next to nothing, and the solvers,
    which go astray from about 10⁶, still converge.
    """
    excess = np.maximum(powers(latents) - FLAT, 0)
    return np.ldexp(latents, -excess), np.ldexp(others, -excess)


def lift(latents: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Latents (n, D) and others, multiplied alike so that the largest of all is not below 2**−10 in the first.

    The weights of a penalised classifier then point where they do on any smaller scale, but are not lost in rounding.
    """
    lacking = max(-FLAT - int(powers(latents, (0, 1))), 0) if latents.any() else 0
    return np.ldexp(latents, lacking), np.ldexp(others, lacking)


def centre(latents: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Latents (n, D) and others, less the mean of the first: to a classifier with a free offset it is all the same."""
    mean = latents.mean(0)
    return latents - mean, others - mean


def standardised(latents: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Latents (n, D) with mean 0 and variance 1, and others of the same representation by the same map.

    Nine digits are kept, so that what a solver finds does not hang on the rounding that another scale brings.
    """
    power = powers(latents)
    latents, others = np.ldexp(latents, -power), np.ldexp(others, -power)
    mean, deviation = latents.mean(0), latents.std(0)
    deviation = np.where(deviation > 0, deviation, 1)
    return np.round((latents - mean) / deviation, 9), np.round((others - mean) / deviation, 9)
