"""Datasets: each a grid of ground-truth factors and a function from grid index to image."""

from course_lib.data.dsprites import DSprites
from course_lib.data.grid import GridDataset, standardise
from course_lib.data.xysquares import XYSquares

__all__ = ["DSprites", "GridDataset", "XYSquares", "standardise"]
