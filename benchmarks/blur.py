"""Where one dense matrix blurs images more quickly than Fourier transforms: python benchmarks/blur.py

Batches of 256 images of one channel, a two-dimensional kernel that reaches all over them, forward and backward; the
two run in turn, and the ratio is the median over the turns.
"""

import time

import torch
from turns import medians_and_ratio

from course_lib.losses.blur import DENSE, dense_blur, fourier_blur

TURNS = 7
SIDES = (8, 16, 24, 32, 48, 64)


def milliseconds(blurred, images, kernel) -> float:
    kernel = kernel.clone().requires_grad_()
    started = time.perf_counter()
    blurred(images, kernel).square().sum().backward()
    return (time.perf_counter() - started) * 1000


def main():
    print(f"{torch.get_num_threads()} threads, on the CPU, medians of {TURNS} turns; {DENSE} pixels or fewer: dense")
    generator = torch.Generator().manual_seed(0)
    for side in SIDES:
        images = torch.rand(256, 1, side, side, generator=generator)
        kernel = torch.rand(side - 1 | 1, side - 1 | 1, generator=generator)
        for blurred in (dense_blur, fourier_blur):
            milliseconds(blurred, images, kernel)  # the first call pays for what is made once
        turns = [tuple(milliseconds(each, images, kernel) for each in (dense_blur, fourier_blur)) for _ in range(TURNS)]
        dense, fourier, ratio = medians_and_ratio(turns)
        print(f"{side:2} pixels a side: dense {dense:.1f} ms, Fourier {fourier:.1f} ms ({ratio:.2f}×)")


if __name__ == "__main__":
    main()
