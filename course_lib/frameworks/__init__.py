"""Frameworks: one file per method, each the objective of one paper and nothing else."""

from course_lib.frameworks.aae import AAE
from course_lib.frameworks.ada_gvae import AdaGVAE
from course_lib.frameworks.ada_ml_vae import AdaMLVAE
from course_lib.frameworks.ada_triplet_vae import SCHEDULES, AdaTripletVAE
from course_lib.frameworks.annealed_vae import AnnealedVAE
from course_lib.frameworks.beta_tcvae import BetaTCVAE
from course_lib.frameworks.beta_vae import BetaVAE
from course_lib.frameworks.dip_vae import DIPVAE
from course_lib.frameworks.factor_vae import FactorVAE
from course_lib.frameworks.factor_vae_to_prior import FactorVAEToPrior
from course_lib.frameworks.framework import Framework, Step, load_framework
from course_lib.frameworks.info_gan import InfoGAN
from course_lib.frameworks.info_wgan_gp import InfoWGAN_GP
from course_lib.frameworks.isa_tcvae import ISATCVAE
from course_lib.frameworks.isa_vae import ISAVAE
from course_lib.frameworks.qlae import QLAE
from course_lib.frameworks.triplet_vae import TripletVAE

__all__ = [
    "AAE",
    "QLAE",
    "SCHEDULES",
    "AdaGVAE",
    "AdaMLVAE",
    "AdaTripletVAE",
    "AnnealedVAE",
    "BetaTCVAE",
    "BetaVAE",
    "DIPVAE",
    "FactorVAE",
    "FactorVAEToPrior",
    "Framework",
    "ISATCVAE",
    "ISAVAE",
    "InfoGAN",
    "InfoWGAN_GP",
    "Step",
    "TripletVAE",
    "load_framework",
]
