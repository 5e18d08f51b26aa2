"""Terms that the frameworks share. All are minimised; all are in nats where they are logarithms of probabilities."""

from course_lib.losses.kl import kl_to_standard_normal
from course_lib.losses.reconstruction import LIKELIHOODS, BinaryCrossEntropy, SquaredError, unstandardise

__all__ = ["LIKELIHOODS", "BinaryCrossEntropy", "SquaredError", "kl_to_standard_normal", "unstandardise"]
