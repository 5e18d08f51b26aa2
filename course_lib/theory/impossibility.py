"""Why unsupervised disentanglement is impossible without assumptions: the map in the proof of Theorem 1."""

import math
from collections.abc import Sequence
from numbers import Real

import numpy as np
from scipy.special import ndtr, ndtri_exp
from scipy.stats import norm, rv_continuous, uniform

from course_lib.arguments import check_integers, float_array

PRIORS = "a sequence of at least 2 frozen continuous distributions of scipy.stats"


class Entangler:
    r"""A bijection that mixes every latent into every other and leaves their joint law as it was.

    .. math:: f = g^{-1} \circ h^{-1} \circ A \circ h \circ g, \qquad A = I - 2 v v^\top, \qquad
        v_1 = \sqrt{\alpha}, \quad v_i = \sqrt{(1 - \alpha) / (d - 1)}

    g applies the cumulative distribution function of each latent, h the quantiles of the standard normal, so h∘g turns
    the factorised prior into N(0, I), which the reflection A does not change. Whoever sees only f(z), or images made
    from it, cannot tell it from z, although each ∂f_i/∂z_j ≠ 0.

    Parameters
    ----------
    prior : the law of each latent: d ≥ 2 frozen continuous distributions of scipy.stats, not necessarily the same,
        each with a density that is positive throughout its support.
    alpha : in (0, ½), one map for each. Every entry of A is then other than 0, for every d: A_11 = 1 − 2α vanishes at
        ½, the rest of its row at 0, and A_ii = 1 − 2(1 − α)/(d − 1) only at ½ (d = 2) or 0 (d = 3).

    Attributes: `matrix` is A, (d, d); `angle` is how far A turns the first axis, cos⁻¹(1 − 2α), from 0 to π/2 radians.

    Calls take points (n, d), arrays or CPU tensors, and return float64 arrays. They raise ValueError when the shape is
    another or a point lies outside the support; the constructor, when `prior` or `alpha` are not as above. Where the
    image is more than about 37 standard deviations away, on the scale of h∘g, its probability is 0 in float64 and the
    image infinite.

    Source: Locatello et al. 2019, Theorem 1 and Appendix A. There A_ij = −v_i v_j for i ≠ j, which lacks a factor 2
    and is not orthogonal. Chapter 08.
    """

    def __init__(self, prior: Sequence, alpha: float = 0.25):
        if not isinstance(prior, Sequence) or len(prior) < 2 or not all(map(_is_continuous, prior)):
            raise ValueError(f"prior: got {prior!r}; allowed is {PRIORS}.")
        if not isinstance(alpha, Real) or not 0 < alpha < 0.5:
            raise ValueError(f"alpha: got {alpha!r}; allowed are numbers between 0 and 0.5, where A would have zeros.")
        self.prior, self.alpha = tuple(prior), float(alpha)
        dim = len(prior)
        v = np.sqrt([self.alpha] + [(1 - self.alpha) / (dim - 1)] * (dim - 1))
        self.matrix = np.eye(dim) - 2 * np.outer(v, v)
        self.angle = math.acos(1 - 2 * self.alpha)

    @classmethod
    def normal(cls, dim: int, alpha: float = 0.25) -> "Entangler":
        """For the prior of most VAEs, N(0, I) in `dim` dimensions: here f is A itself, a reflection."""
        return cls([norm()] * check_integers(2, dim=dim)[0], alpha)

    @classmethod
    def uniform(cls, dim: int, alpha: float = 0.25) -> "Entangler":
        """For `dim` factors that are uniform on [0, 1]."""
        return cls([uniform()] * check_integers(2, dim=dim)[0], alpha)

    def __call__(self, z) -> np.ndarray:
        """f(z), (n, d) → (n, d)."""
        return self._from_normal(self._to_normal(self._check(z)) @ self.matrix)

    def inverse(self, z) -> np.ndarray:
        """f⁻¹(z), (n, d) → (n, d). A reflection undoes itself, so f⁻¹ = f."""
        return self(z)

    def jacobian(self, z) -> np.ndarray:
        """∂f_i/∂z_j at each point, (n, d) → (n, d, d), in closed form.

        It is A_ij s'_j(z_j) / s'_i(f_i), where s = h∘g has the derivative s'_j = p_j / φ(s_j): p_j is the density of
        latent j and φ that of the standard normal.
        """
        z = self._check(z)
        log_slope, log_slope_there = self._log_slope(z), self._log_slope(self(z))
        return self.matrix * np.exp(log_slope[:, None, :] - log_slope_there[:, :, None])

    def _to_normal(self, z: np.ndarray) -> np.ndarray:
        """h∘g, coordinate by coordinate. Above the median by the upper tail, as 1 − cdf would round to 0 there."""
        columns = []
        for law, column in zip(self.prior, z.T, strict=True):
            upper = column > law.median()
            log_tail = np.where(upper, law.logsf(column), law.logcdf(column))
            columns.append(np.where(upper, -1, 1) * ndtri_exp(log_tail))
        return np.stack(columns, axis=1)

    def _from_normal(self, scores: np.ndarray) -> np.ndarray:
        """Its inverse, g⁻¹∘h⁻¹, again by the nearer tail."""
        tails = ndtr(-np.abs(scores))
        columns = zip(self.prior, scores.T, tails.T, strict=True)
        return np.stack([np.where(score > 0, law.isf(tail), law.ppf(tail)) for law, score, tail in columns], axis=1)

    def _log_slope(self, z: np.ndarray) -> np.ndarray:
        log_density = np.stack([law.logpdf(column) for law, column in zip(self.prior, z.T, strict=True)], axis=1)
        return log_density - norm.logpdf(self._to_normal(z))

    def _check(self, z) -> np.ndarray:
        z = float_array(z, "z")
        if z.ndim != 2 or z.shape[1] != len(self.prior):
            raise ValueError(f"z: got shape {z.shape}; allowed is (n, {len(self.prior)}).")
        for place, (law, column) in enumerate(zip(self.prior, z.T, strict=True)):
            low, high = law.support()
            outside = column[~((low < column) & (column < high))]
            if outside.size:
                raise ValueError(f"z: got {outside[0]} in column {place}; allowed are numbers in ({low}, {high}).")
        return z


def _is_continuous(law) -> bool:
    return isinstance(getattr(law, "dist", None), rv_continuous)
