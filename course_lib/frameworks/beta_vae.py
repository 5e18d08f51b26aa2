"""The VAE and the β-VAE."""

from torch import Tensor

from course_lib.arguments import check_numbers
from course_lib.frameworks.framework import Framework, Step, check_views
from course_lib.losses import kl_to_standard_normal
from course_lib.models import VAE


class BetaVAE(Framework):
    r"""The β-VAE; with β = 1, the VAE.

    .. math:: \mathcal{L} = \mathbb{E}_{q(z|x)}[-\log p(x|z)] + \beta \, \mathrm{KL}(q(z|x) \,\|\, \mathcal{N}(0, I))

    Terms: `reconstruction`, `kl` (already times β).

    Parameters
    ----------
    model : the encoder and decoder.
    beta : weight of the KL term, at least 0. Its size has no meaning without `reduction`.
    reconstruction : "mse" on standardised images, or "bce" on images in [0, 1]. "mse-box" and "mse-gaussian" add the
        squared error of the blurred images, (x − x̂)² + α (h(x) − h(x̂))², with a kernel of side/2 − 1 pixels radius and
        α the number of its weights. A kernel tensor of your own, (k,) or (k, l) with odd sides, takes the place of
        √α h: its scale is the weight.
    reduction : "sum" (the papers) or "mean" (the thesis).

    Source: Kingma and Welling 2014; Higgins et al. 2017, Eq. 4. Chapter 03.
    """

    def __init__(self, model: VAE, beta: float = 1.0, *, reconstruction: str | Tensor = "mse", reduction: str = "sum"):
        (beta,) = check_numbers(0, beta=beta)
        super().__init__(model, beta=beta, reconstruction=reconstruction, reduction=reduction)

    def loss(self, views: Tensor, step: Step) -> dict[str, Tensor]:
        (images,) = check_views(views, 1)
        posterior = self.model.encode(images)
        decoded = self.model.decode(posterior.rsample(step.generator))
        return {
            "reconstruction": self.reduce(self.likelihood(decoded, images)),
            "kl": self.beta * self.reduce(kl_to_standard_normal(posterior)),
        }
