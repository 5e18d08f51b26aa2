"""Images per second of every dataset at batch 256, random indices, 2 threads: uint8, then standardised. Run by hand."""

from statistics import median
from time import perf_counter

import torch

from course_lib.data import (
    ColorDSprites,
    DSprites,
    DSpritesImageNet,
    MixingDesk,
    NoisyDSprites,
    ScreamDSprites,
    Shapes3D,
    XYObject,
    XYObjectShades,
    XYSquares,
)

BATCH, REPEATS = 256, 50


def rate(draw, index):
    """Images per second: the median over REPEATS calls, after one that fills the caches."""
    draw(index)
    seconds = []
    for _ in range(REPEATS):
        start = perf_counter()
        draw(index)
        seconds.append(perf_counter() - start)
    return len(index) / median(seconds)


def main():
    torch.set_num_threads(2)
    print(f"{'dataset':<90}{'uint8/s':>12}{'float32/s':>12}")
    squares = (XYSquares(), XYSquares(2, 2, squares=2, image_size=16), MixingDesk(), XYObject(), XYObjectShades())
    photographs = (ScreamDSprites(), DSpritesImageNet("foreground", 0.5), DSpritesImageNet("background", 0.5))
    for data in (*squares, Shapes3D(), DSprites(), ColorDSprites(), NoisyDSprites(), *photographs):
        index = torch.randint(len(data), (BATCH,), generator=torch.Generator().manual_seed(0))
        print(f"{data!r:<90}{rate(data.images, index):>12,.0f}{rate(data.observations, index):>12,.0f}")


if __name__ == "__main__":
    main()
