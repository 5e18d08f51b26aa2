"""Frameworks: one file per method, each the objective of one paper and nothing else."""

from course_lib.frameworks.beta_vae import BetaVAE
from course_lib.frameworks.framework import Framework, Step, load_framework

__all__ = ["BetaVAE", "Framework", "Step", "load_framework"]
