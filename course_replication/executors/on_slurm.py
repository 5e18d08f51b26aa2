"""Jobs of Slurm, by submitit: one for each run, as many at a time as there are workers.

submitit keeps what it is given, and the answer, as pickles in a folder that all machines see; here both are text.
"""

import re
import shutil
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from course_replication.executors import imported
from course_replication.jobs import answer, lost
from course_replication.store import Store

SHARED = {"timeout_min": int, "mem_gb": float, "cpus_per_task": int, "gpus_per_node": int}  # not Slurm's alone
TEXTS = ("partition", "account", "qos", "constraint", "gres", "nodelist", "exclude", "comment", "setup")
OPTIONS = SHARED | dict.fromkeys(TEXTS, str)  # key → type of its value
TIMEOUT = 240  # minutes that a job may take unless it is said; submitit's own 5 would end most trainings
PAUSE = 1  # seconds between two looks at the jobs


class SlurmJobs:
    """One job of Slurm for each run. Its files lie in a folder beside the store, and go when it has answered.

    options : "KEY=VALUE" with the keys of `OPTIONS`; setup is a line of shell that comes first. cluster : submitit's
    name of it, also "local": processes of this machine, as tests use them.
    """

    elsewhere = True

    def __init__(self, store: Store, options: Iterable[str] = (), cluster: str = "slurm"):
        self._submitit, self._parameters = imported("submitit"), parameters(options)
        if cluster == "slurm" and shutil.which("sbatch") is None:
            raise ValueError("on: got 'slurm', but there is no sbatch here: start it where jobs are submitted.")
        self._folder, self._cluster = store.path.with_name(store.path.name + ".slurm"), cluster
        self._jobs, self._refused, self._accepted = {}, {}, False

    def __enter__(self) -> "SlurmJobs":
        return self

    def __exit__(self, *_) -> None:
        for job in self._jobs.values():
            job.cancel(check=False)

    def start(self, name: str, job: str) -> None:
        short = re.sub(r"[^\w.-]", "-", name)
        self._clear(self._folder / short)
        executor = self._submitit.AutoExecutor(self._folder / short, cluster=self._cluster)
        # A singleton waits for jobs of its name, such as one that is being cancelled.
        executor.update_parameters(name=short, slurm_dependency="singleton", **self._parameters)
        try:
            self._jobs[name] = executor.submit(_answer, job)
        except RuntimeError as error:
            if not self._accepted:  # nor will the others be
                raise ValueError(f"slurm: the first job was refused: {error}") from error
            self._refused[name] = lost(f"Slurm refused the job: {error}")
        self._accepted = True

    def finished(self, seconds: float | None) -> dict[str, str]:
        end = float("inf") if seconds is None else time.monotonic() + seconds
        while True:
            ended = [name for name, job in self._jobs.items() if job.done() or job.state == "PREEMPTED"]
            answers = self._refused | {name: self._answer_of(self._jobs.pop(name)) for name in ended}
            self._refused = {}
            if answers or time.monotonic() >= end:
                return answers
            time.sleep(max(min(PAUSE, end - time.monotonic()), 0))

    def _answer_of(self, job) -> str:
        try:
            if not job.done():
                raise self._submitit.core.utils.UncompletedJobError("pre-empted")
            text = job.result()
        except self._submitit.core.utils.UncompletedJobError as error:
            job.cancel(check=False)  # Slurm may be about to start it again
            how = "its time was over" if "timed-out" in str(error) else job.state.lower()
            return lost(f"job {job.job_id}, {how}; its log is {job.paths.stderr}")
        shutil.rmtree(job.paths.folder, ignore_errors=True)
        return text

    def _clear(self, folder: Path) -> None:
        """Cancel and forget the job of a command that was killed: its run is claimed by this one now."""
        left = [file.name.removesuffix("_submitted.pkl") for file in folder.glob("*_submitted.pkl")]
        if left and self._cluster == "slurm":
            subprocess.run(["scancel", f"--name={folder.name}", *left], capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)


def parameters(options: Iterable[str]) -> dict:
    """What submitit calls the options "KEY=VALUE". A ValueError says which are allowed."""
    found = {"timeout_min": TIMEOUT}
    for option in options:
        key, _, value = option.partition("=")
        try:
            value = OPTIONS[key](value)
            if not value:
                raise ValueError
        except (KeyError, ValueError):
            kinds = {str: "a text", int: "an integer", float: "a number"}
            allowed = ", ".join(f"{name} ({kinds[kind]})" for name, kind in OPTIONS.items())
            raise ValueError(f"slurm: got {option!r}; expected KEY=VALUE with one of {allowed}.") from None
        key = key if key in SHARED else f"slurm_{key}"
        found[key] = [value] if key == "slurm_setup" else value
    return found


def _answer(job: str) -> str:
    """In the job: submitit ends it by an exception when its time is over, which is no fault of the run."""
    from submitit.core.utils import UncompletedJobError

    return answer(job, raised=(UncompletedJobError,))
