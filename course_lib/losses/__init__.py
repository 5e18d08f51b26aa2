"""Terms that the frameworks share. All are minimised; all are in nats where they are logarithms of probabilities."""

from course_lib.losses.adversarial import discrimination, gradient_penalty
from course_lib.losses.kl import kl_to_standard_normal, standard_normal_log_density, symmetric_kl
from course_lib.losses.learnt_kernel import LearntKernel
from course_lib.losses.reconstruction import (
    RECONSTRUCTIONS,
    BinaryCrossEntropy,
    BlurredSquaredError,
    Reconstruction,
    SquaredError,
    reconstruction_loss,
    unstandardise,
)
from course_lib.losses.soft_rank import hard_rank, soft_rank, spearman
from course_lib.losses.total_correlation import ESTIMATORS, aggregate_log_densities, permuted_latents
from course_lib.losses.triplet import norm_distance, shared_latents, triplet_loss

__all__ = [
    "ESTIMATORS",
    "RECONSTRUCTIONS",
    "BinaryCrossEntropy",
    "BlurredSquaredError",
    "LearntKernel",
    "Reconstruction",
    "SquaredError",
    "aggregate_log_densities",
    "discrimination",
    "gradient_penalty",
    "hard_rank",
    "kl_to_standard_normal",
    "norm_distance",
    "permuted_latents",
    "reconstruction_loss",
    "shared_latents",
    "soft_rank",
    "spearman",
    "standard_normal_log_density",
    "symmetric_kl",
    "triplet_loss",
    "unstandardise",
]
