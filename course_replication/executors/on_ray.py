"""Tasks of Ray: on this machine, or on a cluster that is running."""

import os

from course_replication.executors import imported
from course_replication.jobs import answer, lost, wants_gpu


class RayTasks:
    """One task of Ray for each run, which takes one core, and a GPU if it is a training and the cluster has one.

    address : of a cluster, as `ray.init` takes it. Otherwise Ray is started here, with a core for each worker.
    """

    elsewhere = True

    def __init__(self, address: str | None = None, workers: int = 1):
        self._ray, self._address, self._workers = imported("ray"), address, workers
        self._names = {}

    def __enter__(self) -> "RayTasks":
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # or Ray would tell its makers
        own = {} if self._address else {"num_cpus": self._workers, "include_dashboard": False}
        try:
            self._ray.init(self._address or "local", log_to_driver=False, logging_level="ERROR", **own)
        except Exception as error:  # Ray raises that very class where it does not start in time
            raise ValueError(f"on: Ray cannot be {'reached' if self._address else 'started'}: {error}") from error
        self._gpus = self._ray.cluster_resources().get("GPU", 0)
        return self

    def __exit__(self, *_) -> None:
        for task in self._names:
            self._ray.cancel(task, force=True)
        self._ray.shutdown()

    def start(self, name: str, job: str) -> None:
        remote = self._ray.remote(max_retries=0, num_gpus=int(self._gpus > 0 and wants_gpu(job)))(answer)
        self._names[remote.options(name=name).remote(job)] = name

    def finished(self, seconds: float | None) -> dict[str, str]:
        ended, _ = self._ray.wait([*self._names], timeout=seconds)
        return {self._names.pop(task): self._answer_of(task) for task in ended}

    def _answer_of(self, task) -> str:
        try:
            return self._ray.get(task)
        except self._ray.exceptions.RayError as error:
            return lost(f"{type(error).__name__}: {str(error).strip().splitlines()[0].rstrip('.')}")
