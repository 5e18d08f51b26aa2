"""The BetaVAE score."""

from sklearn.linear_model import LogisticRegression

from course_lib.arguments import MOST, check_integers
from course_lib.metrics.classifiers import accuracies
from course_lib.metrics.encodings import as_table
from course_lib.metrics.fixed_factor import mean_differences, varying_factors
from course_lib.metrics.samples import generator, warn_if_few, warn_if_single
from course_lib.metrics.scale import cap, centre
from course_lib.metrics.score import Score


def beta_vae_score(
    encode, data=None, seed: int = 0, *, num_samples: int = 10_000, num_test: int = 5_000, batch_size: int = 64
) -> Score:
    r"""Does the difference of two representations tell which factor their images share? An accuracy; higher is better.

    Draw a factor k; draw pairs of images that agree in factor k; let a linear classifier predict k from

    .. math:: \frac{1}{L} \sum_{l=1}^{L} |z_l - z'_l|

    with L = `batch_size` pairs. It learns from `num_samples` such points and is tested on `num_test` others. Chance is
    1/F. A blind spot: all factors but one are enough for a score of 1, the last being whatever none of them is.

    encode : images uint8 (B, C, H, W) → latents (B, D), or `Encodings`, which bring their own data: the score asks for
        2·L·(num_samples + num_test) representations, far more than most datasets have images.
    values : "test" (the headline) and "train".

    Factors with one value are left out. The classifier's penalty hurts latents on a scale far below 1: six factors from
    0 to 7/8 score 1, but a hundredth of them scores .51, and a thousandth .17, which is chance. Beyond 2¹⁰ the penalty
    is next to nothing, and larger latents are brought to that scale. Source: Higgins et al., β-VAE, 2017, Section 3;
    sizes and the logistic regression (scikit-learn's, multinomial, C = 1) as in Locatello et al., 2019, Appendix C.
    Chapter 04.
    """
    check_integers(1, MOST, num_samples=num_samples, num_test=num_test, batch_size=batch_size)
    table, draws = as_table(encode, data), generator(seed)
    factors = varying_factors(table.space)
    warn_if_few(num_samples, 100 * len(factors), "BetaVAE")
    warn_if_single(factors, "BetaVAE")
    points, labels = mean_differences(table, factors, num_samples + num_test, batch_size, draws)
    model = LogisticRegression(max_iter=1000)
    learnt, tested = cap(*centre(points[:num_samples], points[num_samples:]))
    train, test = accuracies(model, learnt, labels[:num_samples], tested, labels[num_samples:])
    settings = {"train": num_samples, "test": num_test, "pairs": batch_size, "seed": seed}
    return Score("BetaVAE score", test, {"test": test, "train": train}, settings)
