"""The trained kernels that the course comes with: each in one safetensors file, with the run that it came from."""

from pathlib import Path

from torch import Tensor

from course_lib.arguments import check_choice
from course_lib.losses import LearntKernel
from course_lib.storage import read_tensors, write_tensors
from course_replication.measurements.kernels import trained_kernel
from course_replication.measurements.square_kernels import SquaresKernel
from course_replication.store import RESULTS

STORED = ("small", "full")  # scales of runs that have left a kernel of either radius


def kernel_path(radius: int, scale: str = "small") -> Path:
    check_choice(STORED, scale=scale)
    return RESULTS.with_name(f"kernel-{radius}{'-full' if scale == 'full' else ''}.safetensors")


def store_kernel(path: str | Path, kernel: Tensor, result: dict) -> None:
    """Write a kernel in half precision, beside it the run, its settings, its scores and what it ran with.

    result : of the run of `kernels.learnt` or `square_kernels.learnt` that trained it, as the store has it.
    """
    kept = ("id", "settings", "seed", "metrics", "device", "versions", "commit")
    write_tensors(path, {"kernel": kernel.half()}, {name: result[name] for name in kept})


def load_kernel(radius: int, scale: str = "small") -> tuple[Tensor, dict]:
    """The kernel of that radius, 31 or 63, float32 (2·radius + 1, 2·radius + 1), and what `store_kernel` says of it.

    scale : "small" for 600 steps of small batches, "full" for those of the thesis, 28,800 of 512 images.

    It is the `reconstruction` of a framework for images of 64×64 and the `loss` of `distances.perceived_distance`.
    Raises FileNotFoundError for a radius of which there is none, ValueError for another scale.
    """
    tensors, config = read_tensors(kernel_path(radius, scale))
    return tensors["kernel"].float(), config


def repeated(config: dict) -> Tensor:
    """The kernel of a stored one's settings and seed, trained again."""
    kind = SquaresKernel if config["id"].startswith("square_kernels.") else LearntKernel
    return trained_kernel(config["seed"], kind=kind, **config["settings"])
