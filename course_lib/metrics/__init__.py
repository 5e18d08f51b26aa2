"""Scores of a representation, one file each: `metrics.mig(encode, data, seed=0)` returns a `Score`.

`encode` maps uint8 images (B, C, H, W) to latents (B, D), or is an `Encodings`, with which many scores encode each
image once. Higher is better unless a score says otherwise. Scores that look at single images have a twin on arrays:
`metrics.mig.from_samples(latents, factors)`.
"""

from course_lib.metrics._axis_alignment_ratio import axis_alignment_ratio, axis_orientation_ratio
from course_lib.metrics._beta_vae_score import beta_vae_score
from course_lib.metrics._dci import dci
from course_lib.metrics._dci_es import dci_es
from course_lib.metrics._distance_correlation import distance_correlation
from course_lib.metrics._downstream import downstream_logistic, downstream_trees
from course_lib.metrics._evaluate import DEFAULT_SCORES, SCORES, Evaluation, evaluate
from course_lib.metrics._factor_vae_score import factor_vae_score
from course_lib.metrics._gaussian_total_correlation import gaussian_total_correlation
from course_lib.metrics._infomec import infomec
from course_lib.metrics._irs import irs
from course_lib.metrics._linearity_ratio import linearity_ratio
from course_lib.metrics._mig import mig
from course_lib.metrics._modularity import modularity
from course_lib.metrics._mutual_information import mutual_information
from course_lib.metrics._sap import sap
from course_lib.metrics._wasserstein_correlation import wasserstein_correlation
from course_lib.metrics.encodings import Encodings
from course_lib.metrics.score import Score, geometric_mean

__all__ = [
    "DEFAULT_SCORES", "SCORES", "Encodings", "Evaluation", "Score", "axis_alignment_ratio", "axis_orientation_ratio",
    "beta_vae_score", "dci", "dci_es", "distance_correlation", "downstream_logistic", "downstream_trees", "evaluate",
    "factor_vae_score", "gaussian_total_correlation", "geometric_mean", "infomec", "irs", "linearity_ratio", "mig",
    "modularity", "mutual_information", "sap", "wasserstein_correlation",
]  # fmt: skip
