"""The FactorVAE score."""

import numpy as np
import torch

from course_lib.arguments import MOST, check_integers
from course_lib.metrics.encodings import Encodings, as_table, settle
from course_lib.metrics.fixed_factor import CHUNK, draw_factors, points_with_fixed_factor, varying_factors
from course_lib.metrics.samples import generator, warn_if_few, warn_if_single
from course_lib.metrics.scale import powers
from course_lib.metrics.score import Score, latents_by_factors
from course_lib.sampling import singles

SPREAD_SAMPLES = 10_000  # for the standard deviation of each latent over the whole dataset
PRUNED_BELOW = 0.05


def factor_vae_score(
    encode, data=None, seed: int = 0, *, num_samples: int = 1600, num_test: int = 800, batch_size: int = 64
) -> Score:
    r"""Does the latent that varies least tell which factor was held fixed? An accuracy; higher is better.

    Draw a factor k, then `batch_size` images that agree in it. One vote is the pair of k and

    .. math:: d = \arg\min_j \mathrm{Var}[z_j] / s_j^2

    with s_j the standard deviation of latent j over the dataset. Of `num_samples` votes, the most frequent k for each d
    makes a classifier, which is tested on `num_test` other votes. Chance is 1/F.

    Latents with s_j < 0.05 · min(1, max s) are left out: they have collapsed to the prior, or are constant. (The 1 is
    the prior's standard deviation: one latent on a large scale must not remove the others.) If all latents are
    constant, the score is 0.

    encode : images uint8 (B, C, H, W) → latents (B, D), or `Encodings`, which bring their own data.
    values : "test" (the headline) and "train". matrix: the share of votes for each latent, latents × factors.

    Factors with one value are left out. Source: Kim and Mnih, Disentangling by factorising, 2018, Section 4 and
    Appendix B (which calls this accuracy an error rate, and measures it on the votes that made the classifier).
    Chapter 04.
    """
    check_integers(1, MOST, num_samples=num_samples, num_test=num_test)
    check_integers(2, MOST, batch_size=batch_size)
    table, draws = as_table(encode, data), generator(seed)
    factors = varying_factors(table.space)
    warn_if_few(num_samples, 100 * len(factors), "FactorVAE")
    warn_if_single(factors, "FactorVAE")
    spread = settle(table(singles(table.space, SPREAD_SAMPLES, draws))).numpy()
    power = powers(spread)
    scaled = np.where(np.ptp(spread, axis=0) > 0, np.ldexp(spread, -power).std(0), 0)
    deviation = np.ldexp(scaled, power)
    kept = (deviation > 0) & (deviation >= PRUNED_BELOW * min(1, deviation.max()))
    votes = [_votes(table, factors, n, batch_size, (scaled, power), kept, draws) for n in (num_samples, num_test)]
    answers = votes[0].argmax(1)  # the majority's factor for each latent
    train, test = (float(counts[range(len(counts)), answers].sum() / max(counts.sum(), 1)) for counts in votes)
    settings = {"train": num_samples, "test": num_test, "images": batch_size, "latents": int(kept.sum()), "seed": seed}
    names = [table.space.names[place] for place in factors]
    matrix = latents_by_factors(votes[0] / num_samples, names)
    return Score("FactorVAE score", test, {"test": test, "train": train}, settings, matrix, "share of votes")


def _votes(table: Encodings, factors, n: int, batch_size: int, spread, kept, draws) -> np.ndarray:
    """How many of n votes fell on each latent and factor: int64 (D, F). `spread`: deviations over 2**power, power."""
    deviation, power = spread
    votes = np.zeros((len(kept), len(factors)), dtype=np.int64)
    fixed = draw_factors(factors, n, draws)
    for part in fixed.split(max(CHUNK // batch_size, 1)):
        latents = table(points_with_fixed_factor(table.space, part, batch_size, draws)).double().numpy()
        if kept.any():
            ratio = np.ldexp(latents, -power)[:, :, kept].var(1) / deviation[kept] ** 2
            column = torch.searchsorted(factors, part).numpy()
            np.add.at(votes, (np.flatnonzero(kept)[ratio.argmin(1)], column), 1)
    return votes
