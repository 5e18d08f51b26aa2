"""Constructions that are proved rather than trained."""

from course_lib.theory.impossibility import Entangler
from course_lib.theory.marginal_likelihood import importance_weighted_bound

__all__ = ["Entangler", "importance_weighted_bound"]
