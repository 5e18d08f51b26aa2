"""The VAE whose prior has subspaces."""

from collections.abc import Iterator, Sequence

from torch import Tensor, nn

from course_lib.arguments import check_choice, check_numbers
from course_lib.frameworks.framework import Framework, Step, check_views
from course_lib.models import VAE, DiagonalGaussian
from course_lib.theory.lp_nested import LpNested

SUBSPACE = 4  # latents of a subspace, as in the paper


class ISAVAE(Framework):
    r"""ISA-VAE: a β-VAE whose prior is an Lp-nested law with independent subspaces, which rotations do change.

    .. math:: \mathcal{L} = \mathbb{E}_{q(z|x)}\bigl[-\log p(x|z) + \beta \, (\log q(z|x) - \log p_{ISA}(z))\bigr]

    .. math:: \log p_{ISA}(z) = -\frac{1}{s} \sum_i \Bigl(\sum_{j \in V_i} |z_j|^{p_i}\Bigr)^{p_0 / p_i} - \log C

    The KL has no closed form and is estimated from the one sample that is decoded, so single values may be negative.
    Terms: `reconstruction`, `kl` (already times β). `prior` is the law as it is now, a `theory.LpNested`.

    Parameters
    ----------
    model : the encoder and decoder.
    beta : weight of the KL term, at least 0.
    layout : the size of each subspace V_i, adding up to the latents; None cuts them into fours, the last being what is
        left.
    outer : p_0, above 0.
    inner : p_1 … p_l, above 0, one for all or one each; None takes 2.2, or 2 as the start of those that are learnt.
    learnt : whether the inner exponents are trained with the model, each by its logarithm, so that it stays above 0.
    scale : s, above 0. With 2 all exponents at 2 make the prior N(0, I); with 1 its variances would be ½.
    reconstruction, reduction : as in `BetaVAE`.

    Source: Stühmer, Turner and Nowozin, Independent subspace analysis for unsupervised learning of disentangled
    representations, 2020, Eqs 7 to 12 and Section 4. Chapter 11.
    """

    def __init__(
        self,
        model: VAE,
        beta: float = 1.0,
        *,
        layout: Sequence[int] | None = None,
        outer: float = 2.1,
        inner: float | Sequence[float] | None = None,
        learnt: bool = False,
        scale: float = 2.0,
        reconstruction: str | Tensor = "mse",
        reduction: str = "sum",
    ):
        (beta,) = check_numbers(0, beta=beta)
        check_choice((False, True), learnt=learnt)
        super().__init__(model, beta=beta, reconstruction=reconstruction, reduction=reduction)
        if layout is None:
            whole, left = divmod(model.latent_dim, SUBSPACE)
            layout = [SUBSPACE] * whole + [left] * (left > 0)
        if inner is None:
            inner = 2.0 if learnt else 2.2
        law = LpNested(layout, outer, inner, scale)
        if law.dim != model.latent_dim:
            raise ValueError(f"layout: got {layout!r}; allowed are sizes that add up to {model.latent_dim} latents.")
        self.keep(layout=[*law.layout], outer=law.outer, inner=law.inner.tolist())
        self.keep(learnt=bool(learnt), scale=law.scale)
        self._law, start = law, law.inner.log().float()
        if learnt:
            self.log_exponents = nn.Parameter(start)
        else:
            self.register_buffer("log_exponents", start)

    @property
    def prior(self) -> LpNested:
        """p_ISA(z), its exponents as they are now."""
        return self._law.with_inner(self.log_exponents.exp())

    def parameters_of(self, player: str) -> Iterator[nn.Parameter]:
        yield from super().parameters_of(player)
        if self.learnt:
            yield self.log_exponents

    def log_prior(self, latents: Tensor) -> Tensor:
        return self.prior.log_density(latents)

    def loss(self, views: Tensor, step: Step) -> dict[str, Tensor]:
        (images,) = check_views(views, 1)
        posterior = self.model.encode(images)
        latents = posterior.rsample(step.generator)
        return {
            "reconstruction": self.reduce(self.likelihood(self.model.decode(latents), images)),
            **self.divergences(posterior, latents),
        }

    def divergences(self, posterior: DiagonalGaussian, latents: Tensor) -> dict[str, Tensor]:
        """The terms that hold the posterior against the prior."""
        kl = posterior.log_density(latents).sum(1) - self.log_prior(latents)
        return {"kl": self.beta * self.reduce_latents(kl)}
