"""The β-TCVAE whose prior has subspaces."""

from torch import Tensor

from course_lib.arguments import check_choice, check_integers
from course_lib.frameworks.isa_vae import ISAVAE
from course_lib.losses import ESTIMATORS, aggregate_log_densities
from course_lib.models import VAE, DiagonalGaussian


class ISATCVAE(ISAVAE):
    r"""ISA-TCVAE: the terms of `BetaTCVAE`, with the prior of `ISAVAE`.

    .. math:: \mathcal{L} = \mathbb{E}_{q(z|x)}\Bigl[-\log p(x|z) + \log \frac{q(z|x)}{q(z)} +
        \beta \log \frac{q(z)}{\prod_j q(z_j)} + \log \frac{\prod_j q(z_j)}{p_{ISA}(z)}\Bigr]

    Terms: `reconstruction`, `mutual_information`, `total_correlation` (already times β), `dimension_wise_kl`: the last
    one, which is a sum over latents only if the prior is a product over them. All are estimated from one sample each,
    so the sum is that of `ISAVAE` at β = 1 plus (β − 1)·TC.

    Parameters
    ----------
    model : the encoder and decoder.
    beta : weight of the total correlation, at least 0.
    estimator, dataset_size : of log q(z), as in `BetaTCVAE`.
    isa : every other argument of `ISAVAE`, by name.

    Source: named in Appendix A.5 of Stühmer, Turner and Nowozin 2020, which does not define it; the decomposition is
    Eq. 2 of Chen et al. 2018. Chapter 11.
    """

    def __init__(
        self, model: VAE, beta: float = 6.0, *, estimator: str = "mws", dataset_size: int | None = None, **isa
    ):
        check_choice(ESTIMATORS, estimator=estimator)
        super().__init__(model, beta, **isa)
        if dataset_size is not None or model.dataset_size == 0:  # 0: of a model that was built without data
            (dataset_size,) = check_integers(1, dataset_size=dataset_size)
        self.keep(estimator=estimator, dataset_size=dataset_size)

    def divergences(self, posterior: DiagonalGaussian, latents: Tensor) -> dict[str, Tensor]:
        size = self.model.dataset_size if self.dataset_size is None else self.dataset_size
        joint, marginals = aggregate_log_densities(latents, posterior, self.estimator, size)
        independent = marginals.sum(1)
        return {
            "mutual_information": self.reduce_latents(posterior.log_density(latents).sum(1) - joint),
            "total_correlation": self.beta * self.reduce_latents(joint - independent),
            "dimension_wise_kl": self.reduce_latents(independent - self.log_prior(latents)),
        }
