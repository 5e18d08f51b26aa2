"""The VAE that penalises total correlation through a density estimate."""

from torch import Tensor

from course_lib.arguments import check_choice, check_instance, check_integers, check_numbers
from course_lib.frameworks.framework import Framework, Step, check_views
from course_lib.losses import ESTIMATORS, aggregate_log_densities, kl_to_standard_normal, standard_normal_log_density
from course_lib.models import VAE


class BetaTCVAE(Framework):
    r"""The β-TCVAE: the KL term taken apart into three, and one of them weighted.

    .. math:: \mathcal{L} = \mathbb{E}_{q(z|x)}[-\log p(x|z)] + I_q(x; z) +
        \beta \, \mathrm{KL}(q(z) \| \textstyle\prod_j q(z_j)) + \sum_j \mathrm{KL}(q(z_j) \| p(z_j))

    Terms: `reconstruction`, `mutual_information`, `total_correlation` (already times β), `dimension_wise_kl`. The first
    of the latent terms is computed as the closed-form KL less the other two (once each), so that the sum is
    rec + KL + (β − 1)·TC to the digit, and with β = 1 the VAE.

    Parameters
    ----------
    model : the encoder and decoder.
    beta : weight of the total correlation, at least 0.
    estimator : of log q(z) from a batch: "mws" (minibatch-weighted, the paper's), "mss" (minibatch-stratified) or
        "batch" (the batch taken for the whole dataset). "mws" is biased by tens of nats: its total correlation is far
        too large and its dimension-wise KL negative, though the gradients serve. "mss" is nearly unbiased.
    dataset_size : N in the first two; None takes the size of the data that the model was built for.
    reconstruction, reduction : as in `BetaVAE`.

    Source: Chen et al. 2018, Isolating sources of disentanglement in VAEs, Eqs 2 and 4, Appendix C. Chapter 05.
    """

    def __init__(
        self,
        model: VAE,
        beta: float = 6.0,
        *,
        estimator: str = "mws",
        dataset_size: int | None = None,
        reconstruction: str | Tensor = "mse",
        reduction: str = "sum",
    ):
        (beta,) = check_numbers(0, beta=beta)
        check_choice(ESTIMATORS, estimator=estimator)
        check_instance(VAE, "a VAE, such as conv_vae(data)", model=model)
        if dataset_size is not None or model.dataset_size == 0:  # 0: of a model that was built without data
            (dataset_size,) = check_integers(1, dataset_size=dataset_size)
        super().__init__(
            model,
            beta=beta,
            estimator=estimator,
            dataset_size=dataset_size,
            reconstruction=reconstruction,
            reduction=reduction,
        )

    def loss(self, views: Tensor, step: Step) -> dict[str, Tensor]:
        (images,) = check_views(views, 1)
        posterior = self.model.encode(images)
        latents = posterior.rsample(step.generator)
        size = self.model.dataset_size if self.dataset_size is None else self.dataset_size
        joint, marginals = aggregate_log_densities(latents, posterior, self.estimator, size)
        total_correlation = joint - marginals.sum(1)
        dimension_wise = (marginals - standard_normal_log_density(latents)).sum(1)
        kl = kl_to_standard_normal(posterior).sum(1)
        return {
            "reconstruction": self.reduce(self.likelihood(self.model.decode(latents), images)),
            "mutual_information": self.reduce_latents(kl - total_correlation - dimension_wise),
            "total_correlation": self.beta * self.reduce_latents(total_correlation),
            "dimension_wise_kl": self.reduce_latents(dimension_wise),
        }
