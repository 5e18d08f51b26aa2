"""Lp-nested laws with independent subspaces: the prior of ISA-VAE."""

import math
from collections.abc import Iterable, Sequence
from copy import copy
from functools import cache

import numpy as np
import torch
from torch import Tensor

from course_lib.arguments import check_instance, check_integers, check_numbers, check_seed, float_array


class LpNested:
    r"""Latents in subspaces V_1 … V_l that are independent of each other, with dependence inside of each.

    .. math:: f(z) = \Bigl(\sum_i v_i^{p_0}\Bigr)^{1/p_0}, \qquad
        v_i = \Bigl(\sum_{j \in V_i} |z_j|^{p_i}\Bigr)^{1/p_i}, \qquad \rho(z) = \frac{\psi(f(z))}{S_f(f(z))}

    .. math:: \psi(v) = \frac{p_0 \, v^{n-1}}{\Gamma(n/p_0) \, s^{n/p_0}} e^{-v^{p_0} / s}, \qquad
        S_f(R) = R^{n-1} 2^n \prod_i \frac{1}{p_i^{\ell_i - 1}}
        \frac{\prod_k \Gamma(n_{i,k} / p_i)}{\Gamma(n_i / p_i)}

    ψ is the law of the radius f(z) and S_f(R) the surface of the nested sphere. The product runs over the root (of
    exponent p_0) and the subspaces; n_{i,k} counts the leaves under the k-th of the ℓ_i children of node i, and n_i all
    leaves under it. A rotation across subspaces changes the law, unless all exponents are 2: then it is N(0, s/2 · I).

    Parameters
    ----------
    layout : the size of each subspace, such as (4, 4, 4, 4, 4).
    outer : p_0, above 0.
    inner : p_1 … p_l, above 0, one for all or one each; a tensor stays as it is, so that it may be learnt.
    scale : s, above 0. The default makes the law standard normal when all exponents are 2.

    Raises ValueError when an argument is not as above. Densities are in nats.

    Source: Stühmer, Turner and Nowozin, Independent subspace analysis for unsupervised learning of disentangled
    representations, 2020, Eqs 6 to 11 and Algorithm 1, after Sinz and Bethge 2010. Chapter 11.
    """

    def __init__(
        self,
        layout: Sequence[int],
        outer: float = 2.1,
        inner: float | Sequence[float] | Tensor = 2.2,
        scale: float = 2.0,
    ):
        check_instance(Iterable, "a list of sizes, one per subspace", layout=layout)
        self.layout = check_integers(1, **{f"layout[{place}]": size for place, size in enumerate(layout)})
        if not self.layout:
            raise ValueError("layout: got no subspace at all; allowed are one or more sizes.")
        self.outer, self.scale = check_numbers(0, above=True, outer=outer, scale=scale)
        inner = inner if isinstance(inner, Tensor) else torch.from_numpy(float_array(inner, "inner"))
        if inner.shape not in ((), (len(self.layout),)) or not (inner.isfinite() & (inner > 0)).all():
            raise ValueError(
                f"inner: got {inner!r} for the layout {self.layout}; allowed are a number above 0, or one per subspace."
            )
        self.inner = inner.expand(len(self.layout))
        self.dim = sum(self.layout)

    def with_inner(self, inner: Tensor) -> "LpNested":
        """This law with other inner exponents (l,), which are not looked at: a captured training step may call it."""
        law = copy(self)
        law.inner = inner
        return law

    def radii(self, z: Tensor) -> Tensor:
        """v_i of each subspace: (n, D) → (n, l)."""
        check_instance(Tensor, f"a tensor (n, {self.dim})", z=z)
        if z.ndim != 2 or z.shape[1] != self.dim:
            raise ValueError(f"z: got shape {tuple(z.shape)}; allowed is (n, {self.dim}).")
        inner = self.inner.to(z.device)
        sums = [part.abs().pow(p).sum(1) for part, p in zip(z.split(self.layout, dim=1), inner, strict=True)]
        sums = torch.stack(sums, 1)
        smallest = torch.finfo(sums.dtype).tiny  # the logarithm of 0 would have no gradient, and none is wanted
        return torch.where(sums == 0, 0.0, sums.clamp(min=smallest).log().div(inner).exp())  # NaN stays NaN

    def norm(self, z: Tensor) -> Tensor:
        """f(z), (n, D) → (n,)."""
        return self.radii(z).pow(self.outer).sum(1).pow(1 / self.outer)

    def log_density(self, z: Tensor) -> Tensor:
        """log ρ(z), (n, D) → (n,), differentiable in z and in the inner exponents."""
        return -self.radii(z).pow(self.outer).sum(1) / self.scale - self.log_normaliser().to(z.device)

    def log_normaliser(self) -> Tensor:
        """The logarithm of the integral of exp(−f(z)^p_0 / s): 0-d. The powers of f in ψ and S_f cancel."""
        leaves = _leaves(self.layout, self.inner.dtype, self.inner.device)
        radial = (
            math.lgamma(self.dim / self.outer) + self.dim / self.outer * math.log(self.scale) - math.log(self.outer)
        )
        root = (leaves / self.outer).lgamma().sum() - math.lgamma(self.dim / self.outer)
        root = root - (len(self.layout) - 1) * math.log(self.outer)
        inside = leaves * (1 / self.inner).lgamma() - (leaves / self.inner).lgamma() - (leaves - 1) * self.inner.log()
        return radial + self.dim * math.log(2) + root + inside.sum()

    def sample(self, n: int, seed: int = 0) -> Tensor:
        """n points of the law: float64 (n, D). Algorithm 1: shares down the tree, a radius, signs."""
        check_integers(1, n=n)
        draws = np.random.default_rng(check_seed(seed))
        inner = self.inner.detach().tolist()
        radius = (self.scale * draws.gamma(self.dim / self.outer, size=n)) ** (1 / self.outer)
        shares = draws.dirichlet([size / self.outer for size in self.layout], size=n)
        radii = radius[:, None] * shares ** (1 / self.outer)  # of the subspaces
        parts = [
            radii[:, [place]] * draws.dirichlet([1 / p] * size, size=n) ** (1 / p)
            for place, (size, p) in enumerate(zip(self.layout, inner, strict=True))
        ]
        signs = draws.choice([-1.0, 1.0], size=(n, self.dim))
        return torch.from_numpy(np.concatenate(parts, axis=1) * signs)


@cache  # on a GPU, a constant made anew would have to cross over in every step
def _leaves(layout: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.tensor(layout, dtype=dtype, device=device)
