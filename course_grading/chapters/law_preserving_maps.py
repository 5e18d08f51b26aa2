"""What chapter 8's functions are called with, what is right, and the mistakes that people make in them.

A reference takes another way than the task suggests: columns one by one, torch.distributions.
"""

import torch
from torch import Tensor
from torch.distributions import Normal
from torch.special import ndtr, ndtri

from course_grading.exercise import Wrong

NEAR_AN_END = 3e-8  # in float64 the quantile of a code so near to 0 or 1 is still right to eight digits
STANDARD = Normal(torch.tensor(0.0, dtype=torch.float64), torch.tensor(1.0, dtype=torch.float64))


def _uniform(generator: torch.Generator, *shape: int) -> Tensor:
    return torch.rand(*shape, generator=generator, dtype=torch.float64)


def orthogonal(dim: int, generator: torch.Generator) -> Tensor:
    """An orthogonal matrix (dim, dim) without symmetry, so that it differs from its transpose."""
    return torch.linalg.qr(torch.randn(dim, dim, generator=generator, dtype=torch.float64))[0]


# 08.2 -----------------------------------------------------------------------------------------------------------------


def codes(generator: torch.Generator) -> list[list[Tensor]]:
    """Uniform codes and an orthogonal matrix: typical, one code, square, many latents, codes near 0 and 1."""
    shapes = ((6, 3), (1, 2), (4, 4), (5, 12))
    drawn = [0.02 + 0.96 * _uniform(generator, n, dim) for n, dim in shapes]
    drawn.append(torch.tensor([[NEAR_AN_END, 0.3], [0.6, 1 - NEAR_AN_END], [1e-4, 0.99]], dtype=torch.float64))
    return [[z.requires_grad_(), orthogonal(z.shape[1], generator)] for z in drawn]


def entangled(z: Tensor, matrix: Tensor) -> Tensor:
    scores = torch.einsum("ij,bj->bi", matrix, STANDARD.icdf(z))
    return STANDARD.cdf(scores)


def _ranks(values, shift=0.5, count=0):
    """The shares of each column below its values: (ranks from 0 on + shift) / (n + count)."""
    return (values.argsort(0).argsort(0) + shift).double() / (len(values) + count)


def _clamped(bound):
    return lambda z, matrix: ndtr(ndtri(z.clamp(bound, 1 - bound)) @ matrix.T)


def _standardised(z, matrix):
    return ndtr((z - 0.5) * 12**0.5 @ matrix.T)


ENTANGLED_WRONG = (
    Wrong(
        lambda z, a: ndtr(ndtri(z) @ a),
        "the matrix was transposed: codes stand in rows, and a row times Aᵀ is A times the column. (Aᵀ would keep the "
        "law as well; it is another map.)",
    ),
    Wrong(
        lambda z, a: z @ a.T,
        "the uniform codes themselves were turned, and leave the square: make each coordinate Gaussian first.",
    ),
    Wrong(
        lambda z, a: (z - 0.5) @ a.T + 0.5,
        "the square was turned about its centre, and its corners stick out: make each coordinate Gaussian first.",
    ),
    Wrong(
        lambda z, a: ndtri(z) @ a.T,
        "the way back is missing: this is the mixed Gaussian. Apply Φ to each coordinate.",
    ),
    Wrong(
        lambda z, a: torch.logit(z) @ a.T,
        "the way back is missing, and the logit makes a coordinate logistic, not Gaussian.",
    ),
    Wrong(
        lambda z, a: torch.sigmoid(torch.logit(z) @ a.T),
        "the logit and the sigmoid stand where Φ⁻¹ and Φ belong: independent logistic coordinates do not stay "
        "independent when they are turned.",
    ),
    Wrong(
        _standardised,
        "the codes were standardised instead of made Gaussian: mean 0 and variance 1 are two numbers of a law, not "
        "all of it.",
    ),
    Wrong(
        lambda z, a: ndtri(ndtr(z) @ a.T),
        "Φ and Φ⁻¹ are exchanged: a code between 0 and 1 is a probability already, so Φ⁻¹ comes first.",
    ),
    Wrong(
        lambda z, a: STANDARD.log_prob(ndtri(z) @ a.T).exp(),
        "the density stands where the distribution function belongs, in the last step.",
    ),
    *(
        Wrong(
            lambda z, a, shift=shift, count=count: _ranks((z - 0.5) @ a.T, shift, count),
            "these are ranks of the turned square: every marginal is right, the joint law is not, and a code's image "
            "depends on the other codes of the batch.",
        )
        for shift, count in ((0.5, 0), (1, 1), (1, 0), (0, 0))
    ),
    *(
        Wrong(
            _clamped(bound),
            "the codes were clamped: all that lie beyond the bound go to the same place, so the map is no bijection, "
            "and there its derivative is zero. Inside (0, 1) Φ⁻¹ needs no clamp.",
        )
        for bound in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
    ),
    Wrong(
        lambda z, a: ndtr(ndtri(z) @ a.T).detach(),
        "the values are right, but they are detached: then the Jacobian, of which the theorem speaks, is lost.",
    ),
    Wrong(
        lambda z, a: z + 0 * a.sum(),
        "nothing was mixed: this is z itself.",
    ),
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


def _coupled(own, shared=None):
    """Φ of (ε₁, shared(r) ε₁ + own(r) ε₂)."""

    def made(noise, r):
        mixed = (r if shared is None else shared(r)) * noise[:, 0] + own(r) * noise[:, 1]
        return ndtr(torch.stack([noise[:, 0], mixed], dim=1))

    return made


def _both_ways(noise, r):
    own = (1 - r * r) ** 0.5
    return ndtr(torch.stack([own * noise[:, 0] + r * noise[:, 1], r * noise[:, 0] + own * noise[:, 1]], dim=1))


def _mixed_uniforms(own):
    """Mixed after Φ."""

    def made(noise, r):
        first, second = ndtr(noise).unbind(1)
        return torch.stack([first, r * first + own(r) * second], dim=1)

    return made


def _first_changed(noise, r):
    return coupled(noise.flip(1), r).flip(1)


MIXED_TOO_LATE = "the uniform numbers were mixed: a sum of uniforms is not uniform. Mix the Gaussians, then apply Φ."


COUPLED_WRONG = (
    Wrong(
        _coupled(lambda r: 1 - r),
        "the second coordinate has the variance r² + (1 − r)², not 1, so its marginal is not uniform: the weight of "
        "its own noise is √(1 − r²).",
    ),
    Wrong(
        _coupled(lambda r: 1.0),
        "the second coordinate has the variance 1 + r², not 1, so its marginal is not uniform.",
    ),
    Wrong(
        _coupled(lambda r: (1 - abs(r)) ** 0.5),
        "√(1 − r) stands where √(1 − r²) belongs: variances add up, and r enters squared.",
    ),
    Wrong(
        _coupled(lambda r: 1 - r * r),
        "the root is missing: the noise's *variance* is 1 − r², its weight √(1 − r²).",
    ),
    Wrong(
        _coupled(lambda r: (1 - r * r) ** 0.5, lambda r: -r),
        "the sign of the correlation is turned round.",
    ),
    Wrong(
        _coupled(lambda r: 0.0, lambda r: 1.0),
        "the second coordinate copies the first: that is a correlation of 1, whatever was asked.",
    ),
    Wrong(
        _coupled(lambda r: 1.0, lambda r: 0.0),
        "the two are independent: this is the prior itself. The correlation is not used.",
    ),
    Wrong(
        _both_ways,
        "both coordinates were mixed, and the correlation became 2r√(1 − r²): leave the first one alone.",
    ),
    Wrong(_mixed_uniforms(lambda r: 1 - r), MIXED_TOO_LATE),
    Wrong(_mixed_uniforms(lambda r: (1 - r * r) ** 0.5), MIXED_TOO_LATE),
    Wrong(_first_changed, "the first coordinate was changed and the second left alone: it is to be the other way."),
    Wrong(
        lambda e, r: _first_changed(e, r).flip(1),
        "ε₁ and ε₂ are exchanged: the first coordinate of the code is Φ(ε₁).",
    ),
    *(
        Wrong(
            lambda e, r, shift=shift, count=count: _ranks(ndtri(coupled(e, r)), shift, count),
            "these are ranks: uniform, but a code depends on the other codes of the batch, and for a single code "
            "nothing is left of it. Each Gaussian has a known law, so Φ makes it uniform.",
        )
        for shift, count in ((0.5, 0), (1, 1), (1, 0), (0, 0))
    ),
    Wrong(
        lambda e, r: torch.stack([e[:, 0], r * e[:, 0] + (1 - r * r) ** 0.5 * e[:, 1]], dim=1),
        "these are Gaussian coordinates, correlated as they should be; uniform marginals are asked for: apply Φ.",
    ),
)
