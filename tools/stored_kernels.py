"""Train a run's kernel again and store it: `python tools/stored_kernels.py square_kernels.learnt/full/b224c3d7f696/0`.

Runs keep scores and no weights. The kernel is stored, in half precision and with its run, if along a factor it scores
what the run has noted, to four digits: 28,800 steps on another processor differ in the sixth.
"""

import math
import sys

import torch

from course_replication.measurements.stored_kernels import kernel_path, repeated, store_kernel
from course_replication.measurements.tables import enumerated
from course_replication.store import Store


def make(run: str) -> None:
    """Store the kernel of the run of that id; SystemExit if it is another one this time."""
    result = Store().results()[run]
    torch.set_num_threads(1)  # as in the run: sums depend on it
    kernel, noted = repeated(result), result["metrics"]
    for name, found in zip(("linear", "rank"), enumerated(8, kernel), strict=True):
        if not math.isclose(found, noted[f"factors/{name}"], rel_tol=1e-4):
            raise SystemExit(f"{run}: its {name} correlation was {noted[f'factors/{name}']}, and is {found} now.")
    store_kernel(kernel_path(result["settings"]["radius"], result["scale"]), kernel, result)


if __name__ == "__main__":
    for chosen in sys.argv[1:]:
        make(chosen)
