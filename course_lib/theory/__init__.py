"""Constructions that are proved rather than trained."""

from course_lib.theory.impossibility import Entangler
from course_lib.theory.linear_vi import (
    FactorFit,
    LinearGaussian,
    SparseFit,
    fit_factors,
    fit_sparse,
    student_log_density,
)
from course_lib.theory.lp_nested import LpNested
from course_lib.theory.marginal_likelihood import importance_weighted_bound
from course_lib.theory.subspace_diffusion import ManifoldSplit, connection_laplacian, split_manifold

__all__ = [
    "Entangler", "FactorFit", "LinearGaussian", "LpNested", "ManifoldSplit", "SparseFit", "connection_laplacian",
    "fit_factors", "fit_sparse", "importance_weighted_bound", "split_manifold", "student_log_density",
]  # fmt: skip
