"""A step of a learnt kernel on XYSquares, from its images and from places of squares: python benchmarks/kernels.py

Both take the same batches, to the same loss. They run in turn, and the ratio is the median over the turns.
"""

import time

import torch
from quiet import hide_progress_bars
from turns import medians_and_ratio

from course_lib.data import XYSquares
from course_lib.losses import LearntKernel
from course_lib.training import fit_kernel
from course_replication.measurements.square_kernels import SquaresKernel

TURNS, STEPS = 5, 3
DATA = XYSquares()


def milliseconds(kind, radius: int, seed: int) -> float:
    kernel = kind(radius)
    started = time.perf_counter()
    fit_kernel(kernel, DATA, steps=STEPS, seed=seed)
    return (time.perf_counter() - started) * 1000 / STEPS


def main():
    hide_progress_bars()
    print(f"{torch.get_num_threads()} threads, on the CPU, 512 images and 4,096 pairs a step, medians of {TURNS} turns")
    for radius in (31, 63):
        for kind in (SquaresKernel, LearntKernel):
            milliseconds(kind, radius, 0)  # the first call pays for what is made once
        turns = [tuple(milliseconds(kind, radius, i) for kind in (SquaresKernel, LearntKernel)) for i in range(TURNS)]
        places, images, ratio = medians_and_ratio(turns)
        print(f"radius {radius}: images {images:,.0f} ms, places {places:.1f} ms ({ratio:.0f}×)")


if __name__ == "__main__":
    main()
