"""The trained kernels that the course comes with: each in one safetensors file, with the run that it came from."""

from pathlib import Path

from torch import Tensor

from course_lib.storage import read_tensors, write_tensors
from course_replication.measurements.kernels import trained_kernel
from course_replication.store import RESULTS


def kernel_path(radius: int) -> Path:
    return RESULTS.with_name(f"kernel-{radius}.safetensors")


def store_kernel(path: str | Path, kernel: Tensor, result: dict) -> None:
    """Write a kernel in half precision, beside it the run, its settings, its scores and what it ran with.

    result : of the run of `kernels.learnt` that trained it, as the store has it.
    """
    kept = ("id", "settings", "seed", "metrics", "device", "versions", "commit")
    write_tensors(path, {"kernel": kernel.half()}, {name: result[name] for name in kept})


def load_kernel(radius: int) -> tuple[Tensor, dict]:
    """The kernel of that radius, 31 or 63, float32 (2·radius + 1, 2·radius + 1), and what `store_kernel` says of it.

    It is the `reconstruction` of a framework for images of 64×64 and the `loss` of `distances.perceived_distance`.
    Raises FileNotFoundError for a radius of which there is none.
    """
    tensors, config = read_tensors(kernel_path(radius))
    return tensors["kernel"].float(), config


def repeated(config: dict) -> Tensor:
    """The kernel of a stored one's settings and seed, trained again."""
    return trained_kernel(config["seed"], **config["settings"])
