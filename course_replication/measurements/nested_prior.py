"""Claims about Lp-nested laws: their density, their sampler, and what a rotation does to them."""

import math

import numpy as np
import torch
from scipy.special import betainc, betaincinv, gamma, gammainc, gammaincinv
from scipy.stats import chi, kstest, laplace, norm, rv_histogram
from torch import Tensor

from course_lib.losses import kl_to_standard_normal
from course_lib.models import DiagonalGaussian
from course_lib.theory import Entangler, LpNested
from course_replication.runs import Context

# Laws in two and three dimensions: layout, outer exponent, inner exponents.
LAWS = (
    ((2,), 2.1, [2.2]),
    ((2,), 1.0, [3.0]),
    ((1, 1), 1.5, [2.0, 2.0]),
    ((2,), 4.0, [1.2]),
    ((2, 1), 2.1, [1.9, 2.2]),
)
DEVIATIONS = 5  # how many standard errors a sample's moment may be off
CLOSE = 1e-9


def total_mass(context: Context) -> dict[str, bool | float]:
    """The integrals of densities over the positive orthant, times the number of orthants."""
    masses = []
    for layout, outer, inner in LAWS:
        law = LpNested(layout, outer, inner)
        points, weights = _orthant(law.dim)
        masses.append((law.log_density(points).exp() @ weights).item() * 2**law.dim)
    return {
        "integrates-to-1": max(abs(mass - 1) for mass in masses) < 1e-4,
        "largest-difference": max(abs(mass - 1) for mass in masses),
        "settings": len(masses),
    }


def contours(context: Context) -> dict[str, bool]:
    """Equation 6 for exponents 1, 2 and 9: where f = 1 crosses the diagonals of two planes, and f written out."""
    z, crossings, same = torch.randn(100, 3, generator=context.generator, dtype=torch.float64), [], []
    for outer in (1.0, 2.0, 9.0):
        for inner in (1.0, 2.0, 9.0):
            law = LpNested((1, 2), outer, inner)
            diagonals = law.norm(torch.tensor([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]], dtype=torch.float64))
            crossings.append(np.allclose(diagonals, [2 ** (1 / outer), 2 ** (1 / inner)], rtol=CLOSE))
            first, second, third = z.abs().T
            written = (first**outer + (second**inner + third**inner) ** (outer / inner)) ** (1 / outer)
            same.append(torch.allclose(law.norm(z), written, rtol=CLOSE))
    return {"contours-by-exponents": all(crossings) and all(same), "settings": len(crossings)}


def exponential_power(context: Context) -> dict[str, bool | float]:
    """One latent: densities against SciPy's, and the fourth moment over the squared variance, integrated."""
    z = np.linspace(-60, 60, 240_001)
    kappas = np.array([1.0, 0.5, 0.0, -0.3, -0.6])
    kurtosis, closed = [], []
    for p in 2 / (1 + kappas):
        density = np.exp(_one(p, 2.0).log_density(torch.from_numpy(z)[:, None]).numpy())
        kurtosis.append((density @ z**4) / (density @ z**2) ** 2 / (z[1] - z[0]))
        closed.append(gamma(5 / p) * gamma(1 / p) / gamma(3 / p) ** 2)
    points = torch.linspace(-5, 5, 101, dtype=torch.float64)[:, None]
    normal, peaked = _one(2.0, 2.0).log_density(points), _one(1.0, 1.0).log_density(points)
    return {
        "normal-at-p-2": np.allclose(normal, norm.logpdf(points[:, 0]), atol=CLOSE),
        "laplace-at-p-1": np.allclose(peaked, laplace.logpdf(points[:, 0]), atol=CLOSE),
        "kurtosis-falls-with-p": bool((np.diff(kurtosis) < 0).all() and kurtosis[1] > 3 > kurtosis[3]),
        "kurtosis-as-in-closed-form": np.allclose(kurtosis, closed, rtol=1e-4),
        "settings": len(kurtosis),
    } | {f"kurtosis/kappa-{kappa:g}": value for kappa, value in zip(kappas, kurtosis, strict=True)}


def square(context: Context) -> dict[str, bool | float]:
    """The mean log-density of places spread evenly over a square of variance 1, turned by 0° to 45° (Figure 3).

    Two independent latents, heavy-tailed (p = 1) and light-tailed (p = 4), each scaled to variance 1. In closed form
    only the mean of |z_1|^p + |z_2|^p changes. Other exponents are tried at 0° and 45°, some of them nearly normal.
    """
    side = torch.linspace(-1, 1, 801, dtype=torch.float64)[1::2] * math.sqrt(3)  # middles of 400 cells
    places, found, off = torch.cartesian_prod(side, side), {}, []
    sums = {"heavy": (1.0, 3**0.5, 2 * 2**0.5 / 3**0.5), "light": (4.0, 18 / 5, 24 / 5)}  # p, at 0°, at 45°
    for name, (p, straight, diagonal) in sums.items():
        scale = (gamma(1 / p) / gamma(3 / p)) ** (p / 2)  # of exp(−|z|^p / s) with variance 1
        law = LpNested((1, 1), p, p, scale)
        for degrees in (0, 15, 30, 45):
            found[f"log-density/{name}/{degrees}-degrees"] = law.log_density(places @ _turn(degrees)).mean().item()
        fall = found[f"log-density/{name}/45-degrees"] - found[f"log-density/{name}/0-degrees"]
        off.append(abs(fall - (straight - diagonal) / scale))
    gains = {p: _gain_of_the_diagonal(p, places) for p in (0.5, 1.0, 1.5, 1.9, 2.0, 2.1, 3.0, 4.0, 10.0)}
    heavy, light = ([gain for p, gain in gains.items() if wanted(p)] for wanted in ((2.0).__gt__, (2.0).__lt__))
    return found | {
        "as-in-closed-form": max(off) < 1e-4,
        "heavy-tails-favour-the-diagonals": min(heavy) > 1e-4,
        "light-tails-favour-the-axes": max(light) < -1e-4,
        "the-normal-law-favours-neither": abs(gains[2.0]) < CLOSE,
        "settings": min(len(heavy), len(light)),
    }


def factorises(context: Context) -> dict[str, bool]:
    """Whether log ρ(a, b) + log ρ(c, d) = log ρ(a, d) + log ρ(c, b), as it is when the coordinates are independent.

    The p-generalised normal has the outer exponent p; with another outer exponent the law is still a function of the
    ℓp norm alone.
    """
    crossed = {}
    for p in (1.0, 1.5, 2.0, 4.0):
        for outer in (p, 0.7 * p, 1.5 * p):
            crossed[p, outer] = _crossed(LpNested((2,), outer, p), [0], [1], context.generator)
    return {
        "generalised-normal-factorises": all(value < CLOSE for (p, outer), value in crossed.items() if p == outer),
        "another-radial-law-does-not": all(value > 0.01 for (p, outer), value in crossed.items() if p != outer),
        "settings": sum(p == outer for p, outer in crossed),
    }


def subspaces(context: Context, num_points: int) -> dict[str, bool | float]:
    """Independence across subspaces and dependence within, by densities; the radius of a sample at exponent 2.

    Of subspaces of 2 and 3 latents, of 2 and 2 with heavy tails, and of one beside three. "p-value" is the first.
    """
    across, within, p_values, radial = [], [], [], []
    for layout, outer, inner in (((2, 3), 2.1, [1.3, 3.0]), ((2, 2), 0.9, [3.0, 1.2]), ((1, 3), 4.0, [2.0, 1.5])):
        law, second, n = LpNested(layout, outer, inner), layout[0], sum(layout)
        across.append(_crossed(law, [*range(second)], [*range(second, n)], context.generator))
        pairs = [(low, low + 1) for low, size in ((0, second), (second, layout[1])) if size > 1]
        within += [_crossed(law, [one], [other], context.generator) for one, other in pairs]
        radius = LpNested(layout, 2.0, 2.0).sample(num_points, context.seed).norm(dim=1)
        p_values.append(kstest(radius.numpy(), chi(n).cdf).pvalue)
        v = np.linspace(0.01, 6, 600)
        psi = 2 * v ** (n - 1) / (gamma(n / 2) * 2 ** (n / 2)) * np.exp(-(v**2) / 2)  # p_0 = s = 2
        radial.append(np.allclose(psi, chi(n).pdf(v), atol=CLOSE))
    return {
        "subspaces-independent": max(across) < CLOSE < 0.01 < min(within),
        "chi-at-exponent-2": min(p_values) > 1e-3 and all(radial),
        "p-value": p_values[0],
        "settings": len(across),
    }


def divergence(context: Context, num_points: int) -> dict[str, bool | float]:
    """The KL of Gaussian posteriors by sampling: at exponents 2 against the closed form, else against its integral.

    The integral is over the plane, for the two-dimensional ones of `LAWS`.
    """
    draws, law, off = context.generator, LpNested((2, 2), 2.0, 2.0), []
    for _ in range(20):
        posterior = DiagonalGaussian(*torch.randn(2, 1, 4, generator=draws, dtype=torch.float64))
        off.append(_sampled_less(kl_to_standard_normal(posterior).sum(), posterior, law, num_points, draws))
    integrated = []
    for law in (LpNested(*each) for each in LAWS if sum(each[0]) == 2):
        for _ in range(5):
            posterior = DiagonalGaussian(*torch.randn(2, 1, 2, generator=draws, dtype=torch.float64))
            integrated.append(_sampled_less(_integrated(posterior, law), posterior, law, num_points, draws))
    return {
        "unbiased-against-the-closed-form-at-exponent-2": max(map(abs, off)) < DEVIATIONS,
        "unbiased-against-the-integral-at-other-exponents": max(map(abs, integrated)) < DEVIATIONS,
        "largest-difference-in-standard-errors": max(map(abs, off)),
        "settings": len(off) + len(integrated),
    }


def _sampled_less(
    exact: Tensor, posterior: DiagonalGaussian, law: LpNested, num_points: int, draws: torch.Generator
) -> float:
    """The KL by that many samples of one posterior, (1, D), less the exact one, in standard errors."""
    many = DiagonalGaussian(*(each.expand(num_points, -1) for each in (posterior.mean, posterior.log_variance)))
    z = many.rsample(draws)
    terms = many.log_density(z).sum(1) - law.log_density(z)
    return ((terms.mean() - exact) / (terms.std() / num_points**0.5)).item()


def _integrated(posterior: DiagonalGaussian, law: LpNested) -> Tensor:
    """∫ q (log q − log p) over all four quadrants, of one posterior (1, 2)."""
    points, weights = _orthant(2)
    total = torch.zeros((), dtype=torch.float64)
    for signs in torch.cartesian_prod(*[torch.tensor([-1.0, 1.0], dtype=torch.float64)] * 2):
        z = signs * points
        logarithm = posterior.log_density(z).sum(1)
        total += (weights * logarithm.exp()) @ (logarithm - law.log_density(z))
    return total


def sampler(context: Context, num_points: int) -> dict[str, bool | float]:
    """Moments of samples against integrals, in standard errors; at exponents 2, samples against the normal law."""
    off = []
    for layout, outer, inner in LAWS:
        law = LpNested(layout, outer, inner)
        points, weights = _orthant(law.dim)
        density = law.log_density(points).exp() * weights * 2**law.dim
        sample = law.sample(num_points, context.seed)
        for moment in (_absolute, _squared, _fourth, _joint):
            drawn = moment(sample)
            off.append((drawn.mean() - density @ moment(points)).item() / (drawn.std().item() / num_points**0.5))
        off.append((sample.mean(0) / (sample.std(0) / num_points**0.5)).abs().max().item())
    layouts, p_values, correlations = ((2, 2), (1, 3), (4,)), [], []
    for layout in layouts:
        normal = LpNested(layout, 2.0, 2.0).sample(num_points, context.seed)
        p_values += [kstest(column, norm.cdf).pvalue for column in normal.T.numpy()]
        correlations.append((torch.corrcoef(normal.square().T) - torch.eye(4)).abs().max().item())
    return {
        "moments-as-by-integration": max(map(abs, off)) < DEVIATIONS,
        "normal-at-exponent-2": min(p_values) > 1e-3 and max(correlations) < DEVIATIONS / num_points**0.5,
        "largest-difference-in-standard-errors": max(map(abs, off)),
        "smallest-p-value": min(p_values),
        "settings": min(len(LAWS), len(layouts)),
    }


def rotations(context: Context) -> dict[str, bool | float]:
    """Log-densities of points before and after a rotation across two subspaces: the prior's and the normal's.

    By 45° first, then by other angles and for other exponents. "another-map" is no rotation: each subspace's latents
    are carried to the normal law, turned there by 45° across subspaces, and carried back. Density times volume is kept.
    """
    z = torch.randn(1000, 4, generator=context.generator, dtype=torch.float64)
    exponents = {"nested": LpNested((2, 2)), "heavy": LpNested((2, 2), 2.1, [1.9, 1.9])}
    exponents["unlike"] = LpNested((2, 2), 1.0, [3.0, 1.5])
    moved, normal = {}, []
    for degrees in (45, 10, 90, 135):
        turn = torch.eye(4, dtype=torch.float64)
        turn[1:3, 1:3] = _turn(degrees)
        for name, law in exponents.items():
            moved[name, degrees] = (law.log_density(z @ turn) - law.log_density(z)).abs().max().item()
        law = LpNested((2, 2), 2.0, 2.0)
        normal.append((law.log_density(z @ turn) - law.log_density(z)).abs().max().item())
    kept = [_carried_across(z.numpy(), *pair) for pair in ((2.1, 2.2), (2.1, 1.9), (1.0, 3.0))]
    return {
        "density-changes-under-rotation": min(moved.values()) > 0.01,
        "normal-density-does-not": max(normal) < CLOSE,
        "no-other-map-keeps-the-law": not any(off < 1e-4 and mixed > 0.1 for off, mixed in kept),
        "largest-change/nested": moved["nested", 45],
        "largest-change-of-the-law-by-another-map": max(off for off, _ in kept),
        "settings": min(len(moved), len(normal), len(kept)),
    }


def entangled(context: Context, num_points: int) -> dict[str, bool | float]:
    """Theorem 1's map, built from the marginals of a prior: what it does to a nested and to a factorised one.

    By the mean of |z_1 z_2|, which a map that keeps the law leaves as it is, in standard errors. The marginals are
    those of a second sample, in narrow bins. "transported" is another map for the nested prior: it carries it to the
    normal law by radius and angle, reflects it there, and carries it back. "nested-2" and "nested-3" have other
    exponents.
    """
    off, turned = {}, _transported_and_reflected
    laws = {"nested": LpNested((2,), 1.0, 3.0), "factorised": LpNested((1, 1), 1.5, 1.5)}
    laws |= {"nested-2": LpNested((2,), 4.0, 1.2), "nested-3": LpNested((2,), 1.5, 9.0)}
    for name, law in laws.items():
        sample, other = (law.sample(num_points, seed).numpy() for seed in (context.seed, context.seed + 1))
        edge = np.abs(np.concatenate([sample, other])).max() + 1e-6
        bins = np.histogram(np.concatenate([other, -other]).ravel(), bins=np.linspace(-edge, edge, 2001))
        counts = bins[0] + 1e-3  # so that the density is positive throughout
        marginal = rv_histogram((counts, bins[1]), density=False)()
        off[name] = _moved(sample, Entangler([marginal] * 2, 0.25)(sample))
        if name == "nested":
            off["transported"] = _moved(sample, turned(sample, 1.0, 3.0))
            mixed = np.abs(turned(sample, 1.0, 3.0) - sample).mean(0).min()
    return {
        "construction-changes-the-law-of-a-nested-prior": all(
            abs(value) > 2 * DEVIATIONS for name, value in off.items() if name.startswith("nested")
        ),
        "construction-keeps-a-factorised-prior": abs(off["factorised"]) < DEVIATIONS,
        "another-map-keeps-the-nested-prior": abs(off["transported"]) < DEVIATIONS and mixed > 0.1,
        "settings": sum(name.startswith("nested") for name in laws),
    } | {f"difference/{name}": value for name, value in off.items()}


def _moved(before: np.ndarray, after: np.ndarray) -> float:
    """The change of the mean of |z_1 z_2|, in standard errors of two independent samples."""
    before, after = np.abs(before).prod(1), np.abs(after).prod(1)
    return (after.mean() - before.mean()) / ((before.var() + after.var()) / len(before)) ** 0.5


def _transported_and_reflected(z: np.ndarray, outer: float, inner: float) -> np.ndarray:
    """A nested law's points (n, 2) → the normal law, reflected by Theorem 1's matrix, → the nested law.

    f(z)^p0 / 2 has a gamma law and |z_1|^p / v^p, which is independent of it, a beta law; the normal law is the case
    of exponents 2.
    """
    there = _carried(z, (outer, inner), (2.0, 2.0)) @ Entangler.normal(2, 0.25).matrix
    return _carried(there, (2.0, 2.0), (outer, inner))


def _carried(z: np.ndarray, source: tuple[float, float], target: tuple[float, float]) -> np.ndarray:
    (outer, inner), (new_outer, new_inner) = source, target
    powers = np.abs(z) ** inner
    radius = powers.sum(1) ** (outer / inner) / 2
    share = powers[:, 0] / powers.sum(1)
    radius = gammaincinv(2 / new_outer, gammainc(2 / outer, radius))
    share = betaincinv(1 / new_inner, 1 / new_inner, betainc(1 / inner, 1 / inner, share))
    parts = np.stack([share, 1 - share], axis=1) ** (1 / new_inner)
    return np.sign(z) * parts * ((2 * radius) ** (1 / new_outer))[:, None]


def _carried_across(z: np.ndarray, outer: float, inner: float) -> tuple[float, float]:
    """A map that mixes two subspaces of two latents: how far it is from keeping the law, and how far points move.

    Both subspaces to the normal law, the second latent of each turned by 45° with the other, and back. The volume is
    that of a Jacobian by differences.
    """
    turn = np.eye(4)
    turn[np.ix_((1, 3), (1, 3))] = _turn(45).numpy()

    def mapped(points: np.ndarray) -> np.ndarray:
        there = [_carried(points[:, low : low + 2], (outer, inner), (2.0, 2.0)) for low in (0, 2)]
        there = np.concatenate(there, axis=1) @ turn
        return np.concatenate([_carried(there[:, low : low + 2], (2.0, 2.0), (outer, inner)) for low in (0, 2)], axis=1)

    law, image, step = LpNested((2, 2), outer, [inner, inner]), mapped(z), 1e-5
    slopes = [(mapped(z + step * axis) - mapped(z - step * axis)) / (2 * step) for axis in np.eye(4)]
    volume = np.linalg.slogdet(np.stack(slopes, axis=2))[1]
    before, after = (law.log_density(torch.from_numpy(points)).numpy() for points in (z, image))
    inside = np.minimum(np.abs(z), np.abs(image)).min(1) > 0.05  # where differences are exact: not across an axis
    return float(np.abs(after + volume - before)[inside].max()), float(np.abs(image - z).mean(0).max())


def _gain_of_the_diagonal(p: float, places: Tensor) -> float:
    """By how much the mean log-density of a square is higher at 45° than at 0°, for exponent p and variance 1."""
    law = LpNested((1, 1), p, p, (gamma(1 / p) / gamma(3 / p)) ** (p / 2))
    straight, diagonal = (law.log_density(places @ _turn(degrees)).mean().item() for degrees in (0, 45))
    return diagonal - straight


def _one(p: float, scale: float) -> LpNested:
    """One latent with density ∝ exp(−|z|^p / s)."""
    return LpNested((1,), p, p, scale)


def _turn(degrees: float) -> Tensor:
    angle = math.radians(degrees)
    rows = [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
    return torch.tensor(rows, dtype=torch.float64)


def _orthant(dim: int) -> tuple[Tensor, Tensor]:
    """Points (n, D) and weights (n,) of a Gauss–Legendre rule over the positive orthant, denser near its faces."""
    count = {2: 200, 3: 60}[dim]
    nodes, weights = np.polynomial.legendre.leggauss(count)
    place = 0.5 * (nodes + 1)
    axis, slope = 40 * place**3, 60 * place**2  # z = 40 t³ and ½ dz/dt
    grid = np.stack(np.meshgrid(*[axis] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    product = np.array(1.0)
    for _ in range(dim):
        product = np.multiply.outer(product, weights * slope)
    return torch.from_numpy(grid), torch.from_numpy(product.ravel())


def _crossed(law: LpNested, first: list[int], second: list[int], generator: torch.Generator) -> float:
    """The largest |log ρ(a, b) + log ρ(c, d) − log ρ(a, d) − log ρ(c, b)|, a and c at `first`, b and d at `second`."""
    one, other = torch.randn(2, 200, law.dim, generator=generator, dtype=torch.float64)
    other[:, [place for place in range(law.dim) if place not in first + second]] = one[
        :, [place for place in range(law.dim) if place not in first + second]
    ]
    mixed, reverse = one.clone(), other.clone()
    mixed[:, second], reverse[:, second] = other[:, second], one[:, second]
    density = [law.log_density(z) for z in (one, other, mixed, reverse)]
    return (density[0] + density[1] - density[2] - density[3]).abs().max().item()


def _absolute(z: Tensor) -> Tensor:
    return z[:, 0].abs()


def _squared(z: Tensor) -> Tensor:
    return z[:, 0].square()


def _fourth(z: Tensor) -> Tensor:
    return z[:, 0] ** 4


def _joint(z: Tensor) -> Tensor:
    return (z[:, 0] * z[:, 1]).square()
