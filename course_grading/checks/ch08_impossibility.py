"""Chapter 8, impossibility: a mirror, maps that keep a law, who notices, a visible rotation, axes from pairs.

A reference takes another way than the task suggests: reflected unit vectors, torch.distributions, powers of complex
numbers. That the entries of 08.4 are so, and the priors of 08.5 what they are said to be, is tested.
"""

import math

import numpy as np
import torch
from scipy.stats import ks_2samp
from torch import Tensor
from torch.distributions import MultivariateNormal, Normal
from torch.special import ndtr, ndtri

from course_grading.answers import keyed, real, tensor, word, words
from course_grading.exercise import Function, Plain, Unfit, either
from course_lib.theory import Entangler

STANDARD = Normal(torch.tensor(0.0, dtype=torch.float64), torch.tensor(1.0, dtype=torch.float64))

# 08.1 -----------------------------------------------------------------------------------------------------------------


def mirrors(generator: torch.Generator) -> list[list]:
    """α and the number of latents: a typical one, the smallest, one near each end of α, and random ones."""
    drawn = [[0.02 + 0.46 * _uniform(generator, 1).item(), dim] for dim in (3, 6)]
    return [[0.2, 4], [0.25, 2], [0.01, 3], [0.49, 9], *drawn]


def _uniform(generator: torch.Generator, *shape: int) -> Tensor:
    return torch.rand(*shape, generator=generator, dtype=torch.float64)


def mirror(alpha: float, dim: int) -> Tensor:
    """The images of the unit vectors: each less twice its part along v."""
    v = _normal_of(alpha, dim)
    columns = [unit - 2 * (v @ unit) * v for unit in torch.eye(dim, dtype=torch.float64)]
    return torch.stack(columns, dim=1)


def _normal_of(alpha, dim) -> Tensor:
    return torch.tensor([alpha] + [(1 - alpha) / (dim - 1)] * (dim - 1), dtype=torch.float64).sqrt()


def _made(v: Tensor, *, diagonal: float = 2, others: float = 2) -> Tensor:
    """1 − diagonal · v_i² on the diagonal, −others · v_i v_j beside it."""
    products = torch.outer(v, v)
    return torch.where(torch.eye(len(v), dtype=torch.bool), 1 - diagonal * products, -others * products)


def _columns_scaled(alpha, dim):
    printed = _made(_normal_of(alpha, dim), others=1)
    return printed / printed.norm(dim=0)


def _made_orthogonal(alpha, dim):
    """Gram and Schmidt on the printed columns, as torch.linalg.qr does it."""
    return torch.linalg.qr(_made(_normal_of(alpha, dim), others=1))[0]


def _turned_pair(alpha, dim):
    """The mirror of the first two coordinates, and the others as they were."""
    matrix = torch.eye(dim, dtype=torch.float64)
    matrix[:2, :2] = _made(torch.tensor([alpha, 1 - alpha], dtype=torch.float64).sqrt())
    return matrix


MIRROR_MISTAKES = {
    "the planted fault is still there. A column of an orthogonal matrix has length 1: multiply I − 2vvᵀ out and "
    "compare with what stands beside the diagonal.":
        lambda a, d: _made(_normal_of(a, d), others=1),
    "this is I − vvᵀ, which flattens everything onto the mirror: a reflection goes as far again, 2vvᵀ.":
        lambda a, d: _made(_normal_of(a, d), diagonal=1, others=1),
    "α stands at another coordinate: the first one has v₁ = √α, all others √((1 − α)/(D − 1)).":
        either(lambda a, d: _made(_normal_of(a, d).flip(0)), lambda a, d: _made(_normal_of(a, d).roll(1))),
    "the diagonal was changed, and it was right: 1 − 2v_i².": lambda a, d: _made(_normal_of(a, d), diagonal=1),
    "every sign is turned round: this is 2vvᵀ − I, which keeps v and reverses all else. It is orthogonal, and not the"
    " matrix of the proof.":
        lambda a, d: -_made(_normal_of(a, d)),
    "what stands beside the diagonal has the wrong sign: it is minus twice the product.":
        lambda a, d: _made(_normal_of(a, d), others=-2),
    "the products beside the diagonal are doubled twice.": lambda a, d: _made(_normal_of(a, d), others=4),
    "every column has length 1 now, because it was divided by its length; but two columns are not perpendicular. Mend"
    " the entries instead.":
        _columns_scaled,
    "this was made orthogonal afterwards, by a procedure: some orthogonal matrix, but not I − 2vvᵀ. Mend the entries.":
        either(_made_orthogonal, lambda a, d: -_made_orthogonal(a, d)),
    "only two latents are mixed: the matrix is orthogonal, but its zeros leave the other latents alone.": _turned_pair,
    "the roots were lost: v_1 is √α, so that v has length 1.": lambda a, d: _made(_normal_of(a, d).square()),
    "v is too long: the share 1 − α is divided among the D − 1 other entries.":
        lambda a, d: _made(torch.tensor([a] + [1 - a] * (d - 1), dtype=torch.float64).sqrt()),
    "v is too short: 1 − α is divided among D − 1 entries, not D.":
        lambda a, d: _made(torch.tensor([a] + [(1 - a) / d] * (d - 1), dtype=torch.float64).sqrt()),
}  # fmt: skip

MIRROR_RIGHT = (
    lambda a, d: torch.from_numpy(Entangler.normal(d, a).matrix),
    lambda a, d: torch.eye(d, dtype=torch.float64) - 2 * torch.outer(_normal_of(a, d), _normal_of(a, d)),
    lambda a, d: torch.from_numpy(np.eye(d)).addr(_normal_of(a, d), _normal_of(a, d), alpha=-2).requires_grad_(),
)

# 08.2 -----------------------------------------------------------------------------------------------------------------

NEAR_AN_END = 3e-8  # in float64 the quantile of a code so near to 0 or 1 is still right to eight digits


def codes(generator: torch.Generator) -> list[list[Tensor]]:
    """Uniform codes and an orthogonal matrix: typical, one code, square, many latents, codes near 0 and 1."""
    shapes = ((6, 3), (1, 2), (4, 4), (5, 12))
    drawn = [0.02 + 0.96 * _uniform(generator, n, dim) for n, dim in shapes]
    drawn.append(torch.tensor([[NEAR_AN_END, 0.3], [0.6, 1 - NEAR_AN_END], [1e-4, 0.99]], dtype=torch.float64))
    return [[z.requires_grad_(), orthogonal(z.shape[1], generator)] for z in drawn]


def orthogonal(dim: int, generator: torch.Generator) -> Tensor:
    """An orthogonal matrix (dim, dim) without symmetry, so that it differs from its transpose."""
    return torch.linalg.qr(torch.randn(dim, dim, generator=generator, dtype=torch.float64))[0]


def entangled(z: Tensor, matrix: Tensor) -> Tensor:
    scores = torch.einsum("ij,bj->bi", matrix, STANDARD.icdf(z))
    return STANDARD.cdf(scores)


def _ranked(made):
    """The ranks of each column of what is made, as shares of its length, in the four ways that people write."""

    def ranks(shift, count):
        return lambda z, given: (made(z, given).argsort(0).argsort(0) + shift).double() / (len(z) + count)

    return either(ranks(0.5, 0), ranks(1, 1), ranks(1, 0), ranks(0, 0))


def _clamped(bound):
    return lambda z, matrix: ndtr(ndtri(z.clamp(bound, 1 - bound)) @ matrix.T)


ENTANGLED_MISTAKES = {
    "the matrix was transposed: codes stand in rows, and a row times Aᵀ is A times the column. (Aᵀ would keep the law"
    " as well; it is another map.)":
        lambda z, a: ndtr(ndtri(z) @ a),
    "the uniform codes themselves were turned, and leave the square: make each coordinate Gaussian first.":
        lambda z, a: z @ a.T,
    "the square was turned about its centre, and its corners stick out: make each coordinate Gaussian first.":
        lambda z, a: (z - 0.5) @ a.T + 0.5,
    "the way back is missing: this is the mixed Gaussian. Apply Φ to each coordinate.": lambda z, a: ndtri(z) @ a.T,
    "the way back is missing, and the logit makes a coordinate logistic, not Gaussian.":
        lambda z, a: torch.logit(z) @ a.T,
    "the logit and the sigmoid stand where Φ⁻¹ and Φ belong: independent logistic coordinates do not stay independent"
    " when they are turned.":
        lambda z, a: torch.sigmoid(torch.logit(z) @ a.T),
    "the codes were standardised instead of made Gaussian: mean 0 and variance 1 are two numbers of a law, not all of"
    " it.":
        lambda z, a: ndtr((z - 0.5) * 12**0.5 @ a.T),
    "Φ and Φ⁻¹ are exchanged: a code between 0 and 1 is a probability already, so Φ⁻¹ comes first.":
        lambda z, a: ndtri(ndtr(z) @ a.T),
    "the density stands where the distribution function belongs, in the last step.":
        lambda z, a: STANDARD.log_prob(ndtri(z) @ a.T).exp(),
    "these are ranks of the turned square: every marginal is right, the joint law is not, and a code's image depends "
    "on the other codes of the batch.":
        _ranked(lambda z, a: (z - 0.5) @ a.T),
    "the codes were clamped: all that lie beyond the bound go to the same place, so the map is no bijection, and there "
    "its derivative is zero. Inside (0, 1) Φ⁻¹ needs no clamp.":
        either(*map(_clamped, (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7))),
    "the values are right, but they are detached: then the Jacobian, of which the theorem speaks, is lost.":
        lambda z, a: ndtr(ndtri(z) @ a.T).detach(),
    "nothing was mixed: this is z itself.": lambda z, a: z + 0 * a.sum(),
}  # fmt: skip

ENTANGLED_RIGHT = (
    lambda z, a: ndtr(torch.nn.functional.linear(ndtri(z), a)),
    lambda z, a: ndtr(a @ ndtri(z).T).T,
    lambda z, a: torch.stack([ndtr((a * ndtri(code)).sum(1)) for code in z]),
)

# 08.3 -----------------------------------------------------------------------------------------------------------------


def noises(generator: torch.Generator) -> list[list]:
    """Standard normal pairs and a correlation: typical, negative, one pair, none, nearly 1."""
    sizes = {0.6: 5, -0.8: 4, 0.3: 1, 0.0: 3, 0.99: 2}
    return [[torch.randn(n, 2, generator=generator, dtype=torch.float64), r] for r, n in sizes.items()]


def coupled(noise: Tensor, correlation: float) -> Tensor:
    """By the Cholesky factor of the covariance."""
    covariance = torch.tensor([[1.0, correlation], [correlation, 1.0]], dtype=torch.float64)
    return STANDARD.cdf(noise @ torch.linalg.cholesky(covariance).T)


def _rest(r):
    return (1 - r * r) ** 0.5


def _mixed(own, shared=lambda r: r, before=lambda noise: noise, after=ndtr):
    """After (ε₁, shared(r) ε₁ + own(r) ε₂), of what was made of the noise before."""

    def made(noise, r):
        first, second = before(noise).unbind(1)
        return after(torch.stack([first, shared(r) * first + own(r) * second], dim=1))

    return made


def _both_ways(noise, r):
    return ndtr(_rest(r) * noise + r * noise.flip(1))


def _first_changed(noise, r):
    return coupled(noise.flip(1), r).flip(1)


COUPLED_MISTAKES = {
    "the second coordinate has the variance r² + (1 − r)², not 1, so its marginal is not uniform: the weight of its "
    "own noise is √(1 − r²).":
        _mixed(lambda r: 1 - r),
    "the second coordinate has the variance 1 + r², not 1, so its marginal is not uniform.": _mixed(lambda r: 1.0),
    "√(1 − r) stands where √(1 − r²) belongs: variances add up, and r enters squared.":
        _mixed(lambda r: (1 - abs(r))**0.5),
    "the root is missing: the noise's *variance* is 1 − r², its weight √(1 − r²).": _mixed(lambda r: 1 - r * r),
    "the sign of the correlation is turned round.": _mixed(_rest, lambda r: -r),
    "the second coordinate copies the first: that is a correlation of 1, whatever was asked.":
        _mixed(lambda r: 0.0, lambda r: 1.0),
    "the two are independent: this is the prior itself. The correlation is not used.":
        _mixed(lambda r: 1.0, lambda r: 0.0),
    "both coordinates were mixed, and the correlation became 2r√(1 − r²): leave the first one alone.": _both_ways,
    "the uniform numbers were mixed: a sum of uniforms is not uniform. Mix the Gaussians, then apply Φ.":
        either(*(_mixed(own, before=ndtr, after=lambda mixed: mixed) for own in (lambda r: 1 - r, _rest))),
    "the first coordinate was changed and the second left alone: it is to be the other way.": _first_changed,
    "ε₁ and ε₂ are exchanged: the first coordinate of the code is Φ(ε₁).": lambda e, r: _first_changed(e, r).flip(1),
    "these are ranks: uniform, but a code depends on the other codes of the batch, and for a single code nothing is "
    "left of it. Each Gaussian has a known law, so Φ makes it uniform.":
        _ranked(_mixed(_rest, after=lambda mixed: mixed)),
    "these are Gaussian coordinates, correlated as they should be; uniform marginals are asked for: apply Φ.":
        _mixed(_rest, after=lambda mixed: mixed),
}  # fmt: skip

COUPLED_RIGHT = (
    _mixed(_rest),
    _mixed(lambda r: math.sin(math.acos(r)), after=lambda mixed: (1 + torch.erf(mixed / math.sqrt(2))) / 2),
    lambda e, r: STANDARD.cdf(
        e @ MultivariateNormal(e.new_zeros(2), torch.tensor([[1, r], [r, 1]], dtype=torch.float64)).scale_tril.T
    ),
)

# 08.4 -----------------------------------------------------------------------------------------------------------------

WITNESSES = {
    "histogram of each latent": "stays",
    "total correlation": "stays",
    "log p(x)": "stays",
    "ELBO, posterior moved along": "stays",
    "ELBO, diagonal posterior": "changes",
    "linear probe, normal prior": "stays",
    "linear probe, uniform prior": "changes",
    "large network's probe, uniform prior": "stays",
    "MIG": "changes",
}
WITNESSES_MISTAKES = {
    "histogram of each latent: the joint law stays, so each marginal does.": "changes",
    "total correlation: each new latent is a function of both old ones, and still the new ones are independent of "
    "each other.":
        "changes",
    "log p(x): substitute z' = f(z) in the integral over the codes.": "changes",
    "ELBO, posterior moved along: f relabels the codes in the reconstruction and in the KL alike.": "changes",
    "ELBO, diagonal posterior: a diagonal Gaussian with unequal variances, turned, is diagonal no more, and the "
    "encoder may not answer with it.":
        "stays",
    "linear probe, normal prior: there f is a matrix, and the probe can learn its inverse.": "changes",
    "linear probe, uniform prior: there f bends, and a linear function cannot bend it back.": "stays",
    "large network's probe, uniform prior: f is a bijection, so the code holds what it held; a network can undo the "
    "bend.":
        "changes",
    "MIG: it looks at single latents and knows the factors. Each latent now tells of both.": "stays",
}  # fmt: skip

# 08.5 -----------------------------------------------------------------------------------------------------------------

CODES, VISIBLE = 20_000, 1e-4  # codes that are drawn; the p-value below which a rotation counts as seen


def _disc(draws, shape):
    angle, radius = draws.uniform(0, 2 * math.pi, shape[0]), 2 * draws.random(shape[0]) ** 0.5
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


PRIORS = {  # all with the covariance I
    "normal": lambda draws, shape: draws.standard_normal(shape),
    "uniform": lambda draws, shape: draws.uniform(-(3**0.5), 3**0.5, shape),
    "laplace": lambda draws, shape: draws.laplace(0, 0.5**0.5, shape),
    "disc": _disc,
}
HIDDEN_BY = {
    "normal": "The normal prior is the one with independent latents that no rotation changes: nobody can see it.",
    "disc": "The disc is round: its density depends on the radius alone, so no rotation changes it, although it is not "
    "normal and its latents are not even independent. Independence *and* roundness is what only the normal has.",
}


def rotation_fault(choice) -> str | None:
    """What is wrong with the choice of a prior and an angle, or None."""
    given = keyed(choice, ("prior", "degrees"))
    prior, degrees = word(given["prior"], tuple(PRIORS), "prior"), real(given["degrees"], "degrees")
    if not abs(degrees) <= 360:
        return f"degrees: got {degrees:g}; allowed are numbers from -360 to 360."
    p = p_value(prior, degrees)
    if p < VISIBLE:
        return None
    if prior in HIDDEN_BY:
        return HIDDEN_BY[prior]
    if degrees % 180 == 0:
        return "By 0° nothing moves, and by 180° both latents change their sign, which this prior does not see."
    if degrees % 90 == 0:
        return "A quarter turn exchanges the latents (and flips one): they have the same law, so nothing shows."
    return (
        f"In principle it shows, but too little: p = {p:.1g} with {CODES:,} codes. Which angle is farthest from every "
        "quarter turn?"
    )


def p_value(prior: str, degrees: float) -> float:
    """Whether single coordinates of turned codes have the law of the prior's: the smaller of two p-values."""
    draws, angle = np.random.default_rng(0), math.radians(degrees)
    codes, others = (PRIORS[prior](draws, (CODES, 2)) for _ in range(2))
    turned = codes @ np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
    return min(ks_2samp(*pair).pvalue for pair in zip(turned.T, others.T, strict=True))


def _choice(prior, degrees) -> dict:
    return {"prior": prior, "degrees": degrees}


ROTATION_MISTAKES = {
    "the one with independent latents that no rotation changes": _choice("normal", 45),
    "depends on the radius alone": _choice("disc", 45),
    "A quarter turn exchanges the latents": _choice("uniform", 90),
    "both latents change their sign": _choice("laplace", 180),
    "In principle it shows, but too little": either(_choice("uniform", 1), _choice("laplace", 5e-324)),
    "allowed are numbers from -360 to 360": either(_choice("uniform", 405), _choice("uniform", -1e300)),
    "degrees: got nan; expected a finite number.": _choice("uniform", math.nan),
    "prior: got 'gaussian'; expected one of 'normal'": _choice("gaussian", 45),
}

# 08.6 -----------------------------------------------------------------------------------------------------------------


def turned_pairs(generator: torch.Generator) -> list[list[Tensor]]:
    """Codes of pairs that differ in one of two uniform factors, turned by an angle and a little inexact.

    In some of them either factor differs as often, where the directions of twice the angle cancel; not in the first.
    No angle is near a whole one, which would hide that somebody rounds.
    """
    angles = {17.4: 10, 63.5: 2, 45.4: 3, 88.4: 3, 2.4: 2}
    return [turned(angle, 4_000, generator, noise=0.01, every=every) for angle, every in angles.items()]


def turned(degrees: float, n: int, generator: torch.Generator, noise: float = 0.0, every: int = 2) -> list[Tensor]:
    """Codes (n, 2) of the two images of n pairs, with normal noise of that width.

    every : of so many pairs one differs in the second factor and the others in the first, all by as much; with 2,
        nothing tells the factors apart. The least difference is 0.1, so that noise hides no direction.
    """
    place = torch.arange(n)
    which = (place % every == 0).long()
    apart = 2 - 1.9 * _uniform(generator, n).sqrt()[place // every]  # as far as two numbers on (−1, 1) are apart
    low = (2 - apart) * _uniform(generator, n) - 1
    ends = torch.stack([low, low + apart])
    ends = torch.where(_uniform(generator, n) < 0.5, ends, ends.flip(0))
    factors = [2 * _uniform(generator, n, 2) - 1] * 2
    pair = [codes.index_put((place, which), end) for codes, end in zip(factors, ends, strict=True)]
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    rotation = torch.tensor([[cos, sin], [-sin, cos]], dtype=torch.float64)  # of rows
    return [codes @ rotation + noise * torch.randn(n, 2, generator=generator, dtype=torch.float64) for codes in pair]


def axes_angle(first: Tensor, second: Tensor) -> Tensor:
    """The fourth power of a complex number does not see quarter turns; a quarter of its argument is the angle."""
    return _of_power(second - first, 4)


def _of_power(steps: Tensor, power: int) -> Tensor:
    powers = torch.view_as_complex(steps.contiguous()) ** power
    return torch.rad2deg(powers.sum().angle() / power) % 90


def _of_directions(steps: Tensor, power: int) -> Tensor:
    """The same with every step of one length: an average of directions, as the hints suggest it."""
    multiple = torch.deg2rad(power * _angles(steps))
    return torch.rad2deg(torch.atan2(multiple.sin().mean(), multiple.cos().mean()) / power) % 90


def _angles(steps: Tensor) -> Tensor:
    return torch.rad2deg(torch.atan2(steps[:, 1], steps[:, 0]))


def _folded(angle: Tensor) -> Tensor:
    return torch.minimum(angle, 90 - angle)


def _signed(angle: Tensor) -> Tensor:
    """From −45 to 45 degrees, as an arc tangent divided by 4 gives it."""
    return torch.where(angle > 45, angle - 90, angle)


def _principal(points: Tensor) -> Tensor:
    _, vectors = torch.linalg.eigh(torch.cov(points.T))
    return _angles(vectors[:, 1:].T)[0] % 90


AXES_MISTAKES = {
    "the angle is right up to quarter turns; expected from 0 to below 90: take the remainder by 90 last.":
        either(lambda a, b: axes_angle(a, b) - 90, lambda a, b: _signed(axes_angle(a, b)),
               lambda a, b: axes_angle(a, b) + 90),
    "these are the principal axes of the cloud. Both factors vary equally, so it has none: the axes are in the pairs.":
        lambda a, b: _principal(torch.cat([a, b])),
    "this is in radians; degrees are asked for.": lambda a, b: torch.deg2rad(axes_angle(a, b)),
    "27° and 63° are different turns. min(a, 90 − a) says how far a code is from the nearest axis, as the chapter's "
    "`skew` does, and not by how much it was turned.":
        either(lambda a, b: _folded(axes_angle(a, b)), lambda a, b: _folded(_angles(b - a).remainder(90)).mean()),
    "the remainders by 90 were averaged as plain numbers: near the seam, where 89.9 and 0.1 are neighbours, they "
    "average to 45. Average directions: of four times the angle, which quarter turns do not change.":
        lambda a, b: _angles(b - a).remainder(90).mean(),
    "only the first pair was used. Every code is a little off; over all pairs the errors cancel.":
        lambda a, b: _angles((b - a)[:1]).remainder(90).squeeze(),
    "this is four times the angle: divide by 4 in the end.": lambda a, b: axes_angle(a, b) * 4 % 360,
    "atan gives θ for one factor and θ − 90 for the other, and their average is neither: multiply the angles by 4 "
    "before they are averaged.":
        lambda a, b: torch.rad2deg(torch.atan((b - a)[:, 1] / (b - a)[:, 0])).mean(),
    "the angle was measured from the second latent's axis: atan2 takes the second coordinate first.":
        lambda a, b: 90 - axes_angle(a, b),
    "the directions of all pairs were averaged, and they point four ways: θ, θ + 90, θ + 180, θ + 270. What do these "
    "have in common?":
        lambda a, b: _angles(b - a).mean(),
    "twice the angle makes half turns of quarter turns, and these cancel where both factors differ as often (for the "
    "differences' principal axes, too). Four times the angle makes whole turns of them.":
        either(
            lambda a, b: _of_power(b - a, 2), lambda a, b: _of_directions(b - a, 2), lambda a, b: _principal(b - a)
        ),
    "different directions were averaged, and their average is none of them: θ, θ + 90, θ + 180 and θ + 270 have to be "
    "made one and the same first. Multiply the angles by 4.":
        either(lambda a, b: _angles(b - a).mean() % 90, lambda a, b: (_angles(b - a) % 180).mean()),
    "absolute values fold the directions: one that points down and right at −27° becomes 27°, not 63°.":
        lambda a, b: _angles((b - a).abs()).mean(),
    "the differences were averaged before the angle was taken: they point in all four directions, and cancel.":
        lambda a, b: _angles((b - a).mean(0, keepdim=True))[0] % 90,
    "these are the directions of the codes themselves. What a pair shares shows only in its difference.":
        either(
            lambda a, b: _angles(a).remainder(90).mean(), lambda a, b: _of_power(a, 4), lambda a, b: _of_power(b, 4)
        ),
}  # fmt: skip


def _searched(first, second):
    """The angle at which the differences, turned back, lie nearest to an axis."""
    directions, nearest = _angles(second - first), torch.tensor(45.0)
    for step in (1, 0.1):  # within 45 degrees, and then within 4.5
        angles = nearest + torch.arange(-45 * step, 45 * step, step, dtype=torch.float64)
        misses = torch.sin(torch.deg2rad(2 * (directions - angles.unsqueeze(1)))).square().mean(1)
        nearest = angles[misses.argmin()]
    return nearest % 90


AXES_RIGHT = (
    _searched,
    lambda a, b: _of_directions(b - a, 4),
    lambda a, b: torch.tensor(np.degrees(np.angle(np.mean(np.exp(4j * np.radians(_angles(b - a).numpy())))) / 4) % 90),
)

# 08.7 -----------------------------------------------------------------------------------------------------------------

VALUES = 4  # of each of two discrete latents
PLACES = ("first", "second")


def table_fault(answer) -> str | None:
    """Whether a table maps the 16 codes onto themselves so that both new latents depend on both old ones."""
    table = tensor(answer, (VALUES, VALUES, 2), "the two old latents, and the two new ones").double()
    if not torch.equal(table, table.round()):
        raise Unfit("some entries are no whole numbers; allowed are 0, 1, 2 and 3.")
    outside = table[(table < 0) | (table >= VALUES)]
    if len(outside):
        return f"got the value {outside[0]:g}; allowed are 0, 1, 2 and 3: what goes beyond 3 has to come round again."
    codes = table.long()
    return _law_fault(codes) or _apart_fault(codes)


def _law_fault(codes: Tensor) -> str | None:
    """The first property: each of the 16 codes comes once."""
    first, second = codes.flatten(0, 1).T
    counts = torch.bincount(VALUES * first + second, minlength=VALUES**2)
    if (counts == 1).all():
        return None
    for place, latent in zip(PLACES, (first, second), strict=True):
        if (torch.bincount(latent, minlength=VALUES) != VALUES).any():
            return f"the {place} new latent is not uniform: some of its values come more often than others."
    often, never = (divmod(int(counts.eq(count).nonzero()[0]), VALUES) for count in (int(counts.max()), 0))
    return (
        f"each new latent by itself is uniform, the pair is not: {often} comes {int(counts.max())} times and {never} "
        "never. That is the impostor, right marginals and a wrong law."
    )


def _apart_fault(codes: Tensor) -> str | None:
    """The second property: whatever the one old latent is, every new one changes with the other."""
    for new, name in enumerate(PLACES):
        for old, moved in enumerate(PLACES):
            values = codes[..., new].movedim(old, 0)  # (moved, held)
            still = (values == values[0]).all(0)
            if still.all():
                return f"the law is kept, but the {name} new latent does not depend on the {moved} old one."
            if still.any():
                held = int(still.nonzero()[0])
                return (
                    f"the law is kept, but where the {PLACES[1 - old]} old latent is {held}, the {name} new one does "
                    f"not change with the {moved} old one."
                )
    return None


def _table(first, second) -> Tensor:
    i, j = torch.meshgrid(torch.arange(VALUES), torch.arange(VALUES), indexing="ij")
    return torch.stack([first(i, j), second(i, j)], dim=2)


def _still_at_zero() -> Tensor:
    """A map that keeps the law, whose first new latent changes with the second old one except where the first is 0."""
    places = torch.arange(VALUES)
    first = torch.stack([0 * places, *((places + row) % (VALUES - 1) + 1 for row in range(VALUES - 1))])
    flat = first.flatten()
    second = torch.stack([(flat[:place] == flat[place]).sum() for place in range(len(flat))])
    return torch.stack([first, second.view_as(first)], dim=2)


TABLE_MISTAKES = {
    "the first new latent does not depend on the second old one":
        either(_table(lambda i, j: i, lambda i, j: j), _table(lambda i, j: i, lambda i, j: (i + j) % 4)),
    "the first new latent does not depend on the first old one": _table(lambda i, j: j, lambda i, j: i),
    "the second new latent does not depend on the first old one": _table(lambda i, j: (i + j) % 4, lambda i, j: j),
    "That is the impostor, right marginals and a wrong law.":
        either(
            _table(lambda i, j: (i + j) % 4, lambda i, j: (i - j) % 4),
            _table(lambda i, j: (i + j) % 4, lambda i, j: (i + j) % 4),
        ),
    "the first new latent is not uniform":
        either(_table(lambda i, j: i * j % 4, lambda i, j: (i + j) % 4), 0 * _table(lambda i, j: i, lambda i, j: j)),
    "what goes beyond 3 has to come round again": _table(lambda i, j: i + j, lambda i, j: i + 2 * j),
    "where the first old latent is 0, the first new one does not change with the second old one":
        _still_at_zero(),
    "some entries are no whole numbers": _table(lambda i, j: (i + j) / 2, lambda i, j: (i - j) / 2),
    "expected a tensor of shape (4, 4, 2)": _table(lambda i, j: i, lambda i, j: j).flatten(0, 1),
}  # fmt: skip

TABLE_RIGHT = (
    _table(lambda i, j: (i + j) % 4, lambda i, j: (2 * i + j) % 4).numpy(),
    _table(lambda i, j: (i + 2 * j) % 4, lambda i, j: (i + 3 * j) % 4).tolist(),
    _table(lambda i, j: i ^ j, lambda i, j: (2 * i % 4) ^ (3 * (i // 2)) ^ j).double(),
)

# ----------------------------------------------------------------------------------------------------------------------

EXERCISES = {
    "08.1": Function(
        reference=mirror,
        cases=mirrors,
        mistakes=MIRROR_MISTAKES,
        also_right=MIRROR_RIGHT,
        praise="right: orthogonal, and no zero.",
    ),
    "08.2": Function(reference=entangled, cases=codes, mistakes=ENTANGLED_MISTAKES, also_right=ENTANGLED_RIGHT),
    "08.3": Function(
        reference=coupled,
        cases=noises,
        mistakes=COUPLED_MISTAKES,
        also_right=COUPLED_RIGHT,
        praise="right. Now run the next cell: no test of one coordinate sees it, the test of both does.",
    ),
    "08.4": words(
        WITNESSES,
        ("stays", "changes"),
        WITNESSES_MISTAKES,
        praise="right: what notices has been told the factors and cannot undo f, or is not free to move along with it.",
    ),
    "08.5": Plain(
        fault=rotation_fault,
        mistakes=ROTATION_MISTAKES,
        also_right=(
            _choice("Laplace", torch.tensor(225)),
            _choice(" uniform", torch.tensor([-30.0], requires_grad=True)),
            _choice("laplace", np.float32(45)),
        ),
        praise="right: with a linear decoder this prior's axes can be found from pictures alone, up to order and sign.",
    ),
    "08.6": Function(
        reference=axes_angle,
        cases=turned_pairs,
        mistakes=AXES_MISTAKES,
        also_right=AXES_RIGHT,
        tolerance=(0.0, 0.2),
        praise="right: pairs give away what no number of single pictures can.",
    ),
    "08.7": Plain(
        fault=table_fault,
        mistakes=TABLE_MISTAKES,
        also_right=TABLE_RIGHT,
        praise="right: neither pictures nor independence tell these codes from the old ones. No Gaussian was needed.",
    ),
}
