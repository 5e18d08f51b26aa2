"""Claims about the laws of latents: tails without a fourth moment, and exponents that make a nested law factorise."""

from math import gamma

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm, t

from course_replication.runs import Context

# Layouts of two levels with the outer exponent and those of the subspaces.
EQUAL = [((2,), 2.1, (2.1,)), ((1, 2), 1.3, (1.3, 1.3)), ((2, 1), 4.0, (4.0, 4.0)), ((1, 1, 1), 2.1, (2.1, 2.1, 2.1))]
DIFFERENT = [((2,), 2.1, (2.2,)), ((1, 2), 2.1, (2.2, 2.2)), ((2, 1), 2.1, (1.9, 1.9)), ((2, 1), 1.0, (3.0, 3.0))]
SINGLES = [((1, 1), 2.1, (2.2, 1.9)), ((1, 1, 1), 1.5, (4.0, 1.0, 2.0))]  # subspaces of one latent


def heavy_tails(context: Context) -> dict[str, bool | float]:
    """The fourth moment of Student's t up to a bound, as the bound grows a thousandfold, and how far t is from normal.

    A tail of ν + 1 makes it grow like the bound to the power 4 − ν, without an end from ν = 4 down.
    """
    freedoms, found = (3.0, 3.5, 4.0, 4.5, 6.0, 2.1, 3.9, 20.0), {}
    for freedom in freedoms:
        inner, outer = (_fourth_moment(freedom, bound) for bound in (1e4, 1e7))
        found[f"growth/nu-{freedom:g}"] = outer / inner
    apart = [np.abs(t(freedom).pdf(GRID) - norm.pdf(GRID)).max() for freedom in (3.5, 10, 100, 1000)]
    closed = 3 * 6.0**2 / ((6 - 2) * (6 - 4))  # of ν = 6
    below, above = ([nu for nu in freedoms if wanted(nu)] for wanted in ((4.0).__gt__, (4.0).__lt__))
    return found | {
        "no-fourth-moment-at-3.5": found["growth/nu-3.5"] > 10,
        "no-fourth-moment-below-4": all(found[f"growth/nu-{nu:g}"] > 1.9 for nu in below),  # 10³ to the 4 − ν
        "nor-at-4": found["growth/nu-4"] > 1.3,
        "one-above-4": all(found[f"growth/nu-{nu:g}"] < 1.1 for nu in above)
        and abs(_fourth_moment(6.0, 1e7) / closed - 1) < 1e-3,
        "settings": min(len(below), len(above)),
        "variance-all-the-same": abs(_moment(2, 3.5, 1e9) / (3.5 / 1.5) - 1) < 1e-3,
        "normal-in-the-limit": bool((np.diff(apart) < 0).all() and apart[-1] < 1e-3),
    }


def equal_exponents(context: Context) -> dict[str, bool | float]:
    """The mutual information of latents under nested laws whose exponents are all equal, or are not.

    Densities exp(−f(z)^p₀ / 2), summed over a grid of the whole space and over its lines; the information is that of
    all latents, and 0 if they are independent. Subspaces of one latent have no exponent that matters.
    """
    found = {
        kind: [_total_correlation(*law) for law in laws]
        for kind, laws in {"equal": EQUAL, "different": DIFFERENT, "singles": SINGLES}.items()
    }
    return {
        "factorises-if-all-are-equal": max(found["equal"]) < 1e-9,
        "factorises-if-they-differ": max(found["different"]) < 1e-9,
        "dependent-if-they-differ": min(found["different"]) > 1e-6,
        "subspaces-of-one-latent-factorise": max(found["singles"]) < 1e-9,
        "settings": min(len(EQUAL), len(DIFFERENT)),
        "information/2.1-and-2.2": found["different"][0],
        "information/2.1-and-1.9": found["different"][2],
        "information/1-and-3": found["different"][3],
    }


GRID = np.linspace(-6, 6, 1201)


def _fourth_moment(freedom: float, bound: float) -> float:
    return _moment(4, freedom, bound)


def _moment(order: int, freedom: float, bound: float) -> float:
    """E x^order of Student's t, cut off at ±bound: integrated over log x, which no tail is too long for."""
    constant = gamma((freedom + 1) / 2) / (gamma(freedom / 2) * (freedom * np.pi) ** 0.5)

    def integrand(u: float) -> float:
        x = np.exp(u)
        return x ** (order + 1) * (1 + x * x / freedom) ** (-(freedom + 1) / 2)

    return 2 * constant * quad(integrand, -30, np.log(bound), limit=500)[0]


def _total_correlation(layout: tuple[int, ...], outer: float, inner: tuple[float, ...]) -> float:
    """KL of the law from the product of its marginals, in nats, on a grid on which both are sums.

    The marginals are those of the grid, so a law that factorises gives 0 to rounding, however coarse the grid is.
    """
    dim = sum(layout)
    axis = np.linspace(-7, 7, 401 if dim == 2 else 121)
    places = np.stack(np.meshgrid(*[np.abs(axis)] * dim, indexing="ij"))
    ends = np.cumsum([0, *layout])
    powers = sum(
        (places[low:high] ** p).sum(0) ** (outer / p) for low, high, p in zip(ends, ends[1:], inner, strict=False)
    )
    density = np.exp(-powers / 2)
    density /= density.sum()
    product = np.ones_like(density)
    for place in range(dim):
        others = tuple(other for other in range(dim) if other != place)
        product = product * density.sum(others, keepdims=True)
    held = density > 0
    return float((density[held] * np.log(density[held] / product[held])).sum())
