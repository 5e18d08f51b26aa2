"""Chapter 11, structured priors: draws, what angles cost, a sampled divergence, factor analysis, who decides."""

import math
from functools import partial

import numpy as np
import torch
from torch import Tensor
from torch.distributions import Normal

from course_grading.answers import numbers, words
from course_grading.exercise import Function, either

# 11.1 -----------------------------------------------------------------------------------------------------------------


def trees(generator: torch.Generator) -> list[list]:
    """Blocks of several numbers and sizes, exponents that differ, a share of 0, one block, blocks of one latent."""
    cases = []
    for n, blocks, size, outer, scale in (
        (5, 3, 2, 2.1, 2.0),
        (4, 2, 3, 0.8, 0.5),
        (3, 1, 4, 4.0, 3.0),
        (3, 4, 1, 1.3, 1.7),
    ):
        energy = 0.3 + 3 * torch.rand(n, generator=generator, dtype=torch.float64)
        shares, inside = (
            -torch.rand(shape, generator=generator, dtype=torch.float64).log()
            for shape in ((n, blocks), (n, blocks, size))
        )
        inside[0, 0, 0] *= outer > 1.0 or size == 1  # a share of 0, where the outer exponent is below 1
        shares, inside = shares / shares.sum(1, keepdim=True), inside / inside.sum(2, keepdim=True)
        signs = 2.0 * torch.randint(2, (n, blocks * size), generator=generator).double() - 1
        inner = 0.7 + 3 * torch.rand(blocks, generator=generator, dtype=torch.float64)
        cases.append([energy, shares, inside, signs, outer, inner, scale])
    return cases


def nested_draws(energy, shares, inside, signs, outer, inner, scale) -> Tensor:
    found = torch.empty(signs.shape, dtype=torch.float64)
    size = inside.shape[2]
    for row in range(len(energy)):
        for block, p in enumerate(inner.tolist()):
            radius = math.exp(math.log(scale * float(energy[row] * shares[row, block])) / outer)
            for latent in range(size):
                place = block * size + latent
                found[row, place] = signs[row, place] * radius * float(inside[row, block, latent]) ** (1 / p)
    return found


def _draws(energy, shares, inside, signs, outer, inner, scale, *, root=None, own=None, flip=True, order=(0, 1, 2)):
    """The draws with other radii, other exponents within blocks, without signs, or with the axes in another order."""
    radii = (
        (scale * energy[:, None] * shares) ** (1 / outer)
        if root is None
        else root(energy[:, None], shares, outer, scale)
    )
    power = inside ** (1 / inner)[:, None] if own is None else own(inside, inner[:, None], outer)
    found = (radii[:, :, None] * power).permute(order).reshape(signs.shape)
    return found * signs if flip else found


DRAWS_MISTAKES = {
    "the scale stands outside the root: what is gamma is f(z)^p₀ / s, so it belongs to the energy.":
        partial(_draws, root=lambda e, t, p, s: s * (e * t) ** (1 / p)),
    "the scale is missing.": partial(_draws, root=lambda e, t, p, s: (e * t) ** (1 / p)),
    "the scale divides: f(z)^p₀ is s times the energy.":
        partial(_draws, root=lambda e, t, p, s: (e * t / s) ** (1 / p)),
    "a block's share stands outside the root: it is a share of f^p₀, and not of f.":
        partial(_draws, root=lambda e, t, p, s: (s * e) ** (1 / p) * t),
    "the shares within a block have no root: they are shares of v^p, and not of v.":
        partial(_draws, own=lambda i, p, q: i),
    "within a block the outer exponent's root was taken: each block has its own.":
        partial(_draws, own=lambda i, p, q: i ** (1 / q)),
    "within all blocks the first one's exponent was taken.": partial(_draws, own=lambda i, p, q: i ** (1 / p[:1])),
    "powers were taken for roots: shares are raised to 1/p.": partial(_draws, own=lambda i, p, q: i**p),
    "the signs are missing.": partial(_draws, flip=False),
    "latents stand in the wrong order: first all of one block, then the next.": partial(_draws, order=(0, 2, 1)),
    "the energy has no root: the radius is a root of it.":
        partial(_draws, root=lambda e, t, p, s: s * e * t ** (1 / p)),
}  # fmt: skip


def _draws_by_logarithms(energy, shares, inside, signs, outer, inner, scale):
    radii = (math.log(scale) + energy.log()[:, None] + shares.log()) / outer
    return signs * (radii[:, :, None] + inside.log() / inner[None, :, None]).exp().reshape(len(energy), -1)


def _draws_by_numpy(energy, shares, inside, signs, outer, inner, scale):
    energy, shares, inside, signs, inner = (part.numpy() for part in (energy, shares, inside, signs, inner))
    radii = np.power(scale * energy[:, None] * shares, 1 / outer)
    return torch.from_numpy((radii[..., None] * np.power(inside, 1 / inner[:, None])).reshape(len(energy), -1) * signs)


def _draws_by_blocks(energy, shares, inside, signs, outer, inner, scale):
    parts = [
        (scale * energy * shares[:, i]).pow(1 / outer)[:, None] * inside[:, i].pow(1 / inner[i].item())
        for i in range(shares.shape[1])
    ]
    return torch.cat(parts, dim=1) * signs


# 11.2 -----------------------------------------------------------------------------------------------------------------


def clouds(generator: torch.Generator) -> list[list]:
    """Clouds without mirror symmetry, heavy and light tails, unlike widths, angles beyond 90° and below 0."""
    cases = []
    for n, p, scale, angles in (
        (40, 4.0, 2.0, [0, 20, 45, 100]), (30, 1.2, 0.7, [-30, 0, 15.5]), (25, 8.0, 5.0, [10, 80, 200, 35, 60]),
        (6, 3.0, 1.3, [45, 0]),
    ):  # fmt: skip
        points = torch.rand(n, 2, generator=generator, dtype=torch.float64) * torch.tensor([2.4, 1.1]).double() - 0.4
        points[: n // 3, 1] += points[: n // 3, 0]
        cases.append([points, p, scale, angles])
    return cases


def _turned(points: Tensor, degrees: float) -> Tensor:
    turned = torch.view_as_complex(points.contiguous()) * complex(np.exp(1j * math.radians(degrees)))
    return torch.view_as_real(turned)


def _cost(z, p, scale):
    return z.abs().pow(p).sum(1).mean() / scale


def _angles(points, p, scale, angles, *, turn=_turned, cost=_cost) -> Tensor:
    return torch.stack([cost(turn(points, float(degrees)), p, scale) for degrees in angles])


def angle_costs(points, p, scale, angles) -> Tensor:
    return _angles(points, p, scale, angles)


def _in_radians(points, degrees):
    return _turned(points, math.degrees(degrees))


ANGLE_MISTAKES = {
    "the cloud was turned clockwise.": partial(_angles, turn=lambda x, a: _turned(x, -a)),
    "the angles are degrees: they were taken for radians.": partial(_angles, turn=_in_radians),
    "the scale is missing.": partial(_angles, cost=lambda z, p, s: _cost(z, p, 1)),
    "the scale multiplies: the energy is divided by s.": partial(_angles, cost=lambda z, p, s: _cost(z, p, 1) * s),
    "this is the sum over points: their mean is asked for.":
        partial(_angles, cost=lambda z, p, s: len(z) * _cost(z, p, s)),
    "only the first latent was counted.": partial(_angles, cost=lambda z, p, s: z[:, 0].abs().pow(p).mean() / s),
    "this is the mean over latents: their costs add up.": partial(_angles, cost=lambda z, p, s: _cost(z, p, s) / 2),
    "squares were taken, which no turn changes: the exponent is p.":
        partial(_angles, cost=lambda z, p, s: _cost(z, 2, s)),
    "the p-th root was taken: the energy is the power itself.":
        partial(_angles, cost=lambda z, p, s: z.abs().pow(p).sum(1).pow(1 / p).mean() / s),
    "this is the density's gain and not its cost: the sign is turned.":
        partial(_angles, cost=lambda z, p, s: -_cost(z, p, s)),
    "the cheapest angle was subtracted: the cost of each is asked for.":
        lambda *given: angle_costs(*given) - angle_costs(*given).min(),
    "the points were divided by their length: what a far one costs counts as well.":
        lambda x, p, s, a: _angles(x / x.norm(dim=1, keepdim=True), p, s, a),
}  # fmt: skip


def _angles_by_matrices(points, p, scale, angles):
    radians = torch.deg2rad(torch.tensor(angles, dtype=torch.float64))
    turn = torch.stack([radians.cos(), -radians.sin(), radians.sin(), radians.cos()], 1).view(-1, 2, 2)
    return torch.einsum("aij,nj->ani", turn, points).abs().pow(p).sum(2).mean(1) / scale


def _angles_by_numpy(points, p, scale, angles):
    x, y = points.numpy().T
    radians = np.deg2rad(np.asarray(angles, dtype=float))[:, None]
    both = (
        np.abs(np.cos(radians) * x - np.sin(radians) * y) ** p + np.abs(np.sin(radians) * x + np.cos(radians) * y) ** p
    )
    return torch.from_numpy(both.mean(1) / scale)


def _angles_by_polar(points, p, scale, angles):
    radius, angle = points.norm(dim=1), torch.atan2(points[:, 1], points[:, 0])
    costs = []
    for degrees in angles:
        turned = angle + math.radians(degrees)
        costs.append((radius**p * (turned.cos().abs() ** p + turned.sin().abs() ** p)).mean() / scale)
    return torch.stack(costs)


# 11.3 -----------------------------------------------------------------------------------------------------------------


def codes(generator: torch.Generator) -> list[list]:
    """Posteriors wide and narrow, one block, many, blocks of one latent; exponents alike and unlike."""
    cases, kinds = (
        [],
        ((5, 3, 2, 2.1, 2.9, 2.0), (4, 1, 4, 1.2, 3.0, 0.6), (3, 4, 1, 3.0, 1.4, 2.5), (6, 2, 3, 8.0, 1.7, 2.0)),
    )
    for n, blocks, size, outer, inner, scale in kinds:
        mean, noise = torch.randn(2, n, blocks * size, generator=generator, dtype=torch.float64)
        log_variance = -1.2 + 0.8 * torch.rand(n, blocks * size, generator=generator, dtype=torch.float64)
        parts = [mean + (log_variance / 2).exp() * noise, mean, log_variance]
        cases.append([*(part.requires_grad_() for part in parts), size, outer, inner, scale])
    return cases


def _log_normaliser(size, outer, inner, scale):
    """Of one block, as the volume of a ball: ∫ exp(−v^p₀/s) dV(v), where V(v) = v^k (2 Γ(1 + 1/p))^k / Γ(1 + k/p)."""
    ball = size * math.log(2 * math.gamma(1 + 1 / inner)) - math.lgamma(1 + size / inner)
    return ball + math.lgamma(1 + size / outer) + size / outer * math.log(scale)


def _posterior(z, m, v):
    return Normal(m, (v / 2).exp()).log_prob(z).sum(1)


def _energy(z, size, outer, inner, scale):
    return sum(part.abs().pow(inner).sum(1) ** (outer / inner) for part in z.split(size, 1)) / scale


def _divergence(z, mean, log_variance, size, outer, inner, scale, *, posterior=_posterior, energy=_energy, times=1):
    blocks = z.shape[1] // size
    return posterior(z, mean, log_variance) + energy(z, size, outer, inner, scale) + times * blocks * _log_normaliser(
        size, outer, inner, scale
    )  # fmt: skip


def _raised(z, size, outer, inner, scale, *, to):
    """The energy with another exponent of the power sums."""
    return sum(part.abs().pow(inner).sum(1) ** to(outer, inner) for part in z.split(size, 1)) / scale


def sampled_divergence(z, mean, log_variance, size, outer, inner, scale) -> Tensor:
    return _divergence(z, mean, log_variance, size, outer, inner, scale)


def _whole_energy(z, size, outer, inner, scale):
    return z.abs().pow(inner).sum(1).pow(outer / inner) / scale


MEND_MISTAKES = {
    "both faults are still there: the log-variance is read as log σ, and the energy has the exponent p₀.":
        partial(_divergence, posterior=lambda z, m, v: Normal(m, v.exp()).log_prob(z).sum(1),
                energy=partial(_raised, to=lambda a, b: a)),
    "the log-variance is still read as log σ: σ is the exponential of half of it.":
        partial(_divergence, posterior=lambda z, m, v: Normal(m, v.exp()).log_prob(z).sum(1)),
    "the energy still has the exponent p₀: the power sum is v^p already, so it is p₀/p.":
        partial(_divergence, energy=partial(_raised, to=lambda a, b: a)),
    "the square is divided by σ² and the logarithm is that of σ²: half of the log-variance belongs there.":
        partial(_divergence, posterior=lambda z, m, v: _posterior(z, m, v) - v.sum(1) / 2),
    "the square is divided by σ: by σ² it has to be.":
        partial(_divergence, posterior=lambda z, m, v: _posterior(z, m, v)
                + ((z - m) ** 2 * ((-v).exp() - (-v / 2).exp())).sum(1) / 2),
    "the exponent is turned over: p₀/p, and not p/p₀.":
        partial(_divergence, energy=partial(_raised, to=lambda a, b: b / a)),
    "the root 1/p was taken without the power p₀.":
        partial(_divergence, energy=partial(_raised, to=lambda a, b: 1 / b)),
    "all latents were put into one block.": partial(_divergence, energy=_whole_energy),
    "the scale was lost: the energy is divided by it.":
        partial(_divergence, energy=lambda z, k, a, b, s: _energy(z, k, a, b, 1)),
    "the normaliser was lost.":
        lambda z, m, v, k, a, b, s: _divergence(z, m, v, k, a, b, s, times=0),
    "the sign of the energy is turned: −log p(z) has + f(z)^p₀/s.":
        partial(_divergence, energy=lambda *given: -_energy(*given)),
    "the mean over images was taken: one number for each is asked for.":
        lambda *given: sampled_divergence(*given).mean().expand(len(given[0])),
}  # fmt: skip


def _divergence_by_hand(z, m, v, size, outer, inner, scale):
    log_q = -0.5 * ((z - m) ** 2 * (-v).exp() + v + math.log(2 * math.pi))
    sums = z.abs().pow(inner).reshape(len(z), -1, size).sum(2)
    log_p = -(sums.log() * outer / inner).exp().sum(1) / scale - z.shape[1] // size * _log_normaliser(
        size, outer, inner, scale
    )
    return log_q.sum(1) - log_p


def _divergence_by_norms(z, m, v, size, outer, inner, scale):
    radii = torch.linalg.vector_norm(z.unflatten(1, (-1, size)), inner, dim=2)
    constant = radii.shape[1] * _log_normaliser(size, outer, inner, scale)
    return _posterior(z, m, v) + radii.pow(outer).sum(1) / scale + constant


def _divergence_by_rows(z, m, v, size, outer, inner, scale):
    return torch.stack(
        [
            sampled_divergence(*(part[None] for part in row), size, outer, inner, scale)[0]
            for row in zip(z, m, v, strict=True)
        ]
    )


# 11.4 -----------------------------------------------------------------------------------------------------------------

PAPER = {
    "longest": math.sqrt(4.1 - 0.2),
    "kept": 3.0,
    "gap": math.log(26) - math.log(41 * 11) / 2,
    "alone": 11.0,
}
PAPER_MISTAKES = {
    "longest: this is the length at β = 1: at 2 the waterline stands at .2.": 2.0,
    "longest: this is the square of the length.": 3.9,
    "longest: the eigenvalue holds the noise, of which β d is taken away.": math.sqrt(4.1),
    "longest: pixel noise was taken away twice: once by hand, and once by β.": math.sqrt(3.8),
    "kept: the likelihood leaves four, and the gap no more; but .15 lies below β d = .2.": 4.0,
    "kept: five latents, and four dimensions at most.": 5.0,
    "kept: .6 is above the waterline of .2.": 2.0,
    "gap: the ½ is missing.": 2 * math.log(26) - math.log(451),
    "gap: the prior's precision, the I in Λ, is missing.": math.log(25) - math.log(400) / 2,
    "gap: the noise is missing: Λ = I + WᵀW/d.": math.log(3.5) - math.log(10) / 2,
    "gap: at right angles there is none; the columns were turned.": 0.0,
    "gap: nothing is below 0 here: the diagonal's logarithms are the larger ones.": math.log(451) / 2 - math.log(26),
    "alone: this is where nothing is left.": 41.0,
    "alone: that is λ₂ itself: β d has to reach it.": 1.1,
    "alone: the noise is in the eigenvalue already.": 10.0,
    "alone: this is where the third goes.": 6.0,
}

# 11.5 -----------------------------------------------------------------------------------------------------------------

AXES = {
    "plain": "any", "weighted": "upright", "strict": "any", "light": "upright", "heavy": "corner", "disc": "any",
    "block": "any", "diamond": "upright", "taxed": "upright",
}  # fmt: skip
AXES_MISTAKES = {
    "plain: factors of equal weight leave the gap at 0 at every angle, and the normal law has no angle.":
        either("upright", "corner"),
    "weighted: where factors matter unequally the gap opens with the angle, and closes at their own axes.":
        either("any", "corner"),
    "strict: β shortens and prunes, and turns nothing: the tie stays a tie.": either("upright", "corner"),
    "light: above 2 the prior is nearer to uniform, and the square's own latents are.": either("any", "corner"),
    "heavy: turned by 45°, a square has triangles for marginals, which a heavy tail likes.": either("any", "upright"),
    "disc: the prior has a preference, but a disc looks the same from all sides.": either("upright", "corner"),
    "block: within a block of inner exponent 2 the prior counts the distance from the origin alone.":
        either("upright", "corner"),
    "diamond: it is a square on its corner already, which a heavy tail likes as it stands.": either("any", "corner"),
    "taxed: the prior has no say, but upright the two latents are independent, and turned they are not.":
        either("any", "corner"),
}  # fmt: skip

# ----------------------------------------------------------------------------------------------------------------------

EXERCISES = {
    "11.1": Function(
        reference=nested_draws, cases=trees, mistakes=DRAWS_MISTAKES,
        also_right=(_draws_by_logarithms, _draws_by_numpy, _draws_by_blocks),
    ),
    "11.2": Function(
        reference=angle_costs, cases=clouds, mistakes=ANGLE_MISTAKES,
        also_right=(_angles_by_matrices, _angles_by_numpy, _angles_by_polar),
    ),
    "11.3": Function(
        reference=sampled_divergence, cases=codes, mistakes=MEND_MISTAKES,
        also_right=(_divergence_by_hand, _divergence_by_norms, _divergence_by_rows),
    ),
    "11.4": numbers(PAPER, PAPER_MISTAKES, tolerance=0.006, praise="right: a waterline, and one gap."),
    "11.5": words(
        AXES, ("upright", "corner", "any"), AXES_MISTAKES, praise="right: the prior has a say, and so has the cloud."
    ),
}  # fmt: skip
