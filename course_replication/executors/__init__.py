"""Where runs are executed: by processes of this machine, by jobs of Slurm, by tasks of Ray.

All of them take a job as text and return its answer as text, and all execute it by `jobs.answer`. Whoever started a
job stores its result: no worker does.
"""

from collections.abc import Iterable
from importlib import import_module
from types import ModuleType
from typing import Protocol

from course_replication.store import Store

PLACES = ("local", "slurm", "ray")


class Executor(Protocol):
    """A context: once it ends, nothing that was started in it goes on.

    elsewhere : whether jobs may get to machines other than this one, which may have a GPU where this one has none.
    """

    elsewhere: bool

    def __enter__(self) -> "Executor": ...

    def __exit__(self, *_) -> None: ...

    def start(self, name: str, job: str) -> None:
        """Start a job of `jobs.job_of` under the id of its run."""

    def finished(self, seconds: float | None) -> dict[str, str]:
        """The answers of jobs that have ended, by name, once there is one; none if there is none after `seconds`."""


def executor_on(
    place: str, store: Store, *, workers: int = 1, slurm: Iterable[str] = (), address: str | None = None
) -> Executor:
    """The executor of that name, one of `PLACES`.

    workers : how many jobs will be started at a time. slurm : options "KEY=VALUE" of Slurm's jobs. address : of a Ray
    cluster that is running; otherwise Ray is started on this machine. A ValueError says what does not fit.
    """
    if place not in PLACES:
        raise ValueError(f"on: got {place!r}; expected one of {', '.join(PLACES)}.")
    if slurm and place != "slurm":
        raise ValueError(f"slurm: got {', '.join(slurm)}; options of Slurm are allowed with --on slurm alone.")
    if address and place != "ray":
        raise ValueError(f"address: got {address!r}; an address is allowed with --on ray alone.")
    if place == "slurm":
        from course_replication.executors.on_slurm import SlurmJobs

        return SlurmJobs(store, slurm)
    if place == "ray":
        from course_replication.executors.on_ray import RayTasks

        return RayTasks(address, workers)
    from course_replication.executors.local import Processes

    return Processes()


def imported(package: str) -> ModuleType:
    """The package that the extra `cluster` brings; a ValueError says how to get it."""
    try:
        return import_module(package)
    except ImportError as error:
        raise ValueError(
            f"on: needs the package {package}, which cannot be imported ({error}): install {package}, or the course "
            "with its extra, pip install 'course-lib[cluster]'; in a checkout, pip install -e '.[cluster]'."
        ) from error
