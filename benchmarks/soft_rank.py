"""Soft ranks, forward and backward, against the plain way, a sigmoid of every pair: python benchmarks/soft_rank.py

The two run in turn, A B A B …, and the ratio is the median over the turns: single times depend on what else the
computer is doing.
"""

import time

import torch
from turns import medians_and_ratio

from course_lib.losses.soft_rank import soft_rank

TURNS = 15
SIZES = (64, 512, 4096)


def pairwise(values):
    """1 + Σ_j sigmoid(θ_i − θ_j) over all other j: O(n²) in time and memory."""
    return 0.5 + torch.sigmoid(values.unsqueeze(-1) - values).sum(-1)


def milliseconds(rank, values) -> float:
    values = values.clone().requires_grad_()
    started = time.perf_counter()
    rank(values).square().sum().backward()
    return (time.perf_counter() - started) * 1000


def main():
    print(f"{torch.get_num_threads()} threads, float32, on the CPU, medians of {TURNS} turns")
    for size in SIZES:
        values = torch.randn(size, generator=torch.Generator().manual_seed(0))
        for rank in (soft_rank, pairwise):
            milliseconds(rank, values)  # the first call pays for what is made once
        turns = [(milliseconds(soft_rank, values), milliseconds(pairwise, values)) for _ in range(TURNS)]
        ours, plain, ratio = medians_and_ratio(turns)
        print(f"n = {size:4}: soft_rank {ours:.2f} ms, pairwise sigmoids {plain:.2f} ms ({ratio:.2f}×)")


if __name__ == "__main__":
    main()
