"""What the two scores of a fitted Gaussian share: its covariance, of the mean and of the sampled representation."""

from collections.abc import Callable

import numpy as np
import torch

from course_lib.arguments import MOST, check_integers
from course_lib.metrics.encodings import LARGEST, as_table, finite_latents, settle
from course_lib.metrics.samples import generator, warn_if_few
from course_lib.metrics.scale import powers
from course_lib.metrics.score import Score
from course_lib.sampling import singles

Measure = Callable[[np.ndarray], dict[str, float]]
BATCH = 512  # images at a time


def covariance(latents: np.ndarray, power: int | np.ndarray) -> np.ndarray:
    """The covariance (D, D) of the columns of (n, D), normalised by n, of each divided by 2**power."""
    scaled = np.ldexp(latents - latents.mean(0), -power)
    return np.einsum("ni,nj->ij", scaled, scaled) / len(latents)


def spread(latents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The columns of (n, D) that vary, and for each the power of two above its largest distance from its mean."""
    live = latents[:, np.ptp(latents, axis=0) > 0]
    return live, powers(live - live.mean(0))


def correlation(sigma: np.ndarray) -> np.ndarray:
    """The correlation matrix of a covariance matrix."""
    deviation = np.sqrt(np.diag(sigma))
    return sigma / deviation / deviation[:, None]


def gaussian_score(name: str, measure: Measure, latents, log_variance=None, *, seed: int = 0) -> Score:
    """The score with values `measure(latents)` and, if there is a log-variance (n, D), "sampled_" ones as well.

    Sampled latents are mean + exp(log_variance / 2) · ε.
    """
    latents = settle(finite_latents(latents, None, "latents"))
    warn_if_few(len(latents), 100 * latents.shape[1], name)
    values = measure(latents.numpy())
    headline = next(iter(values.values()))
    if log_variance is not None:
        log_variance = finite_latents(log_variance, len(latents), "log_variance").double()
        if log_variance.shape != latents.shape:
            raise ValueError(
                f"log_variance: got shape {tuple(log_variance.shape)}; the latents are {tuple(latents.shape)}."
            )
        noise = torch.randn(latents.shape, generator=generator(seed), dtype=torch.float64)
        sampled = latents + (log_variance / 2).exp() * noise
        if not (sampled.abs() <= LARGEST).all():
            raise ValueError(f"log_variance: got up to {log_variance.max():g}; samples must stay below {LARGEST:g}.")
        values |= {f"sampled_{key}": value for key, value in measure(sampled.numpy()).items()}
    return Score(name, headline, values, {"n": len(latents), "seed": seed})


def draw_gaussians(encode, data, num_samples: int, seed: int, posterior) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Means and log-variances (n, D) at random images, the latter None without `posterior`."""
    check_integers(1, MOST, num_samples=num_samples)
    if posterior is not None and not callable(posterior):
        raise ValueError(f"posterior: got {posterior!r}; allowed is a function, such as framework.posterior, or None.")
    table = as_table(encode, data)
    index = singles(table.space, num_samples, generator(seed))
    if posterior is None:
        return table(index), None
    with torch.no_grad():
        parts = [posterior(table.data.images(part.to(table.device))) for part in index.split(BATCH)]
    if not all(isinstance(part, tuple | list) and len(part) == 2 for part in parts):
        raise ValueError(
            f"posterior: got {type(parts[0]).__name__}; allowed is a pair (mean, log-variance), (B, D) each."
        )
    return tuple(torch.cat([torch.as_tensor(part[side]).cpu() for part in parts]) for side in (0, 1))
