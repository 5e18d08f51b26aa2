"""Claims about constructions: the map of the impossibility theorem, and the two ratios of clouds in the plane."""

import math

import numpy as np
import torch
from scipy.stats import expon, laplace, norm, uniform

from course_lib import metrics
from course_lib.data import XYSquares
from course_lib.metrics import Encodings
from course_lib.theory import Entangler
from course_replication.runs import Context

ALPHAS = (0.05, 0.25, 0.45)
PRIORS = {
    "uniform": [uniform()] * 2,
    "normal": [norm()] * 3,
    "mixed": [uniform(-1, 2), norm(3, 2), expon(), laplace()],
}
CLOSE = 1e-6  # relative rounding that quantiles of quantiles may bring
SHAPES, ANGLES = ((1.0, 0.0), (1.0, 0.1), (1.0, 0.5), (3.0, 2.0)), range(0, 91, 5)  # variances; degrees


def impossibility(context: Context, num_points: int) -> dict[str, bool]:
    """Theorem 1 for several priors and α, at random points of each prior.

    The law is kept if, at every point, density times volume is: Σ log p(f(z)) + log |det J| = Σ log p(z).
    """
    draws = np.random.default_rng(context.seed)
    kept, mixing, undone, images = [], [], [], {}
    for name, prior in PRIORS.items():
        z = np.stack([law.rvs(num_points, random_state=draws) for law in prior], axis=1)
        for alpha in ALPHAS:
            entangler = Entangler(prior, alpha)
            image, jacobian = entangler(z), entangler.jacobian(z)
            volume = np.linalg.slogdet(jacobian)[1]
            kept.append(
                np.allclose(_log_density(prior, image) + volume, _log_density(prior, z), rtol=CLOSE, atol=CLOSE)
            )
            mixing.append((jacobian != 0).all() and np.isfinite(jacobian).all())
            undone.append(np.allclose(entangler.inverse(image), z, rtol=CLOSE, atol=CLOSE))
            images[name, alpha] = image
    apart = [
        np.abs(images[name, ALPHAS[0]] - images[name, alpha]).max() > 0.01 for name, alpha in images if alpha > 0.05
    ]
    return {
        "same-joint-law": all(kept),
        "no-zero-partial-derivative": all(mixing),
        "bijection": all(undone),
        "one-map-for-each-alpha": all(apart),
        "settings": len(kept),
    }


def reflection(context: Context) -> dict[str, bool]:
    """The matrix of Theorem 1's proof, for 2 to 50 latents and several α."""
    matrices = [Entangler.normal(dim, alpha).matrix for dim in range(2, 51) for alpha in ALPHAS]
    return {
        "orthogonal": all(np.allclose(matrix @ matrix.T, np.eye(len(matrix)), atol=1e-13) for matrix in matrices),
        "no-zero-entry": all(np.abs(matrix).min() > 1e-4 for matrix in matrices),
        "settings": len(matrices),
    }


def plane_ratios(context: Context) -> dict[str, bool | float]:
    """Linearity and axis alignment of clouds in the plane against their closed forms, Figure 4.3."""
    found = {(shape, angle): _ratios(shape, angle) for shape in SHAPES for angle in ANGLES}
    linear = {key: ratios[0] for key, ratios in found.items()}
    axis = {key: ratios[1] for key, ratios in found.items()}
    closed = {(shape, angle): (shape[0] - shape[1]) / sum(shape) for shape, angle in found}
    turned = {key: abs(math.cos(2 * math.radians(key[1]))) * closed[key] for key in found}
    return {
        "linearity-is-the-difference-over-the-sum-of-variances": _equal(linear, closed),
        "axis-alignment-is-that-times-the-cosine-of-twice-the-angle": _equal(axis, turned),
        "equal-at-0-degrees": all(abs(axis[shape, 0] - linear[shape, 0]) < 1e-9 for shape in SHAPES),
        "axis-alignment-0-at-45-degrees": all(axis[shape, 45] < 1e-9 for shape in SHAPES),
        "linearity-the-same-at-every-angle": _equal(linear, {key: linear[key[0], 0] for key in linear}),
        "axis-alignment-at-most-linearity": all(axis[key] <= linear[key] + 1e-12 for key in found),
        "worst-angle": min(ANGLES, key=lambda angle: sum(axis[shape, angle] for shape in SHAPES)),
        "settings": len({shape for shape, _ in found}),
    }


def _ratios(variances: tuple[float, float], degrees: float) -> tuple[float, float]:
    """The library's linearity and axis-alignment ratio of eight points on an ellipse, turned by an angle.

    The points are the traversals along x of a grid of two factors, the same for each y.
    """
    data = XYSquares(2, 2, squares=1, image_size=16)
    turn = 2 * math.pi / 8 * data.space.factors(torch.arange(len(data)))[:, 0].double()
    points = torch.stack([turn.cos(), turn.sin()], 1) * torch.tensor(variances, dtype=torch.float64).sqrt()
    angle = math.radians(degrees)
    rotation = [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
    table = Encodings.from_table(points @ torch.tensor(rotation, dtype=torch.float64), data)
    scores = (metrics.linearity_ratio, metrics.axis_alignment_ratio)
    return tuple(score(table, num_samples=100).values["x_R"] for score in scores)


def _equal(found: dict, expected: dict) -> bool:
    return all(abs(found[key] - expected[key]) < 1e-9 for key in found)


def _log_density(prior: list, points: np.ndarray) -> np.ndarray:
    return sum(law.logpdf(column) for law, column in zip(prior, points.T, strict=True))
