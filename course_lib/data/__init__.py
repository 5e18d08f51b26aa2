"""Datasets: each a grid of ground-truth factors and a function from grid index to image."""

from course_lib.data.cars3d import Cars3D
from course_lib.data.dsprites import DSprites
from course_lib.data.files import DataFileError
from course_lib.data.grid import GridDataset, check_data, standardise
from course_lib.data.mixing_desk import Fader, MixingDesk
from course_lib.data.mnist import MNIST
from course_lib.data.mpi3d import MPI3D
from course_lib.data.overlays import ColorDSprites, DSpritesImageNet, NoisyDSprites, ScreamDSprites
from course_lib.data.shapes3d import Shapes3D
from course_lib.data.smallnorb import SmallNORB
from course_lib.data.xyobject import XYObject, XYObjectShades
from course_lib.data.xysquares import XYSquares

__all__ = [
    "Cars3D",
    "ColorDSprites",
    "DataFileError",
    "DSprites",
    "DSpritesImageNet",
    "Fader",
    "GridDataset",
    "MNIST",
    "MPI3D",
    "MixingDesk",
    "NoisyDSprites",
    "ScreamDSprites",
    "Shapes3D",
    "SmallNORB",
    "XYObject",
    "XYObjectShades",
    "XYSquares",
    "check_data",
    "standardise",
]
