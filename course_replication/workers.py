"""Running what is missing: over processes, within a budget, so that nothing finished is lost."""

import os
import signal
import threading
import time
import warnings
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path

from tqdm.auto import tqdm

from course_lib.arguments import check_integers, check_numbers
from course_lib.data import DataFileError
from course_lib.training.progress import is_quiet
from course_replication.runs import Run, attempt, check_committed, chosen_device, lacks, lacks_gpu
from course_replication.store import Store


@dataclass
class Outcome:
    """What came of the runs that were missing.

    done : ids of the runs whose results were added or replaced. failed : id → what went wrong.
    unavailable : id → which data file it needs that is not there and cannot be downloaded, and where to put it.
    withheld : ids of the trainings at the papers' size that were not started, as there is no GPU.
    left : ids of the runs that are still without a result, or without a metric that is asked of it; those above, those
        that the budget did not allow, and those that another process is at.
    out_of_time : whether the budget was spent first.
    """

    done: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    unavailable: dict[str, str] = field(default_factory=dict)
    withheld: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    out_of_time: bool = False


def run_missing(
    runs: Iterable[Run],
    store: Store,
    *,
    budget: float | None = None,
    device: str = "auto",
    workers: int = 1,
    asked: Mapping[str, Collection[str]] | None = None,
    dirty: bool = False,
) -> Outcome:
    """Run, in their order, those of the runs that have no result yet.

    budget : seconds after which no run goes on; what is then unfinished is left, to be run the next time.
    device : of trainings, "auto", "cpu" or "cuda"; with "auto" and without a GPU, those at the papers' size are not
        started. workers : processes, each with one run at a time.
    asked : id → metrics that the result lacks, as `plans.lacking` finds them: such a run is run again, and its new
        result takes the place of the old one. It has failed if it does not return them.
    dirty : whether code that is not committed may add to the results that the course comes with.

    A run that fails does not stop the others. Several programs may run on one store: each run is one process's alone.
    """
    deadline = None if budget is None else time.monotonic() + check_numbers(0, budget=budget)[0]
    check_integers(1, workers=workers)
    chosen_device(device)
    asked = asked or {}
    waiting = _unfinished(runs, store, asked)
    outcome = Outcome(withheld=[run.id for run in waiting if lacks_gpu(run, device)])
    started = [run for run in waiting if not lacks_gpu(run, device)]
    if started:
        check_committed(store, dirty)
    pool = _Pool(store.path, device, asked, dirty)
    with tqdm(total=len(started), unit="run", disable=is_quiet()) as bar, pool:
        todo = iter(started)
        for _ in range(min(workers, len(started))):
            pool.start(next(todo, None))
        while pool.busy:
            finished = pool.finished(deadline)
            outcome.out_of_time = not finished
            if not finished:
                break
            for run, added, error, unavailable in finished:
                if error:
                    (outcome.unavailable if unavailable else outcome.failed)[run.id] = error
                elif added:
                    outcome.done.append(run.id)
                bar.update()
                pool.start(next(todo, None))
    outcome.left = [run.id for run in _unfinished(waiting, store, asked)]
    return outcome


def _unfinished(runs: Iterable[Run], store: Store, asked: Mapping[str, Collection[str]]) -> list[Run]:
    known = store.results()
    return [run for run in runs if run.id not in known or lacks(known[run.id], asked.get(run.id, ()))]


class _Pool:
    """Processes that are handed one run at a time, and do not outlive their parent."""

    def __init__(self, *arguments):
        self._context, self._arguments = get_context("spawn"), arguments  # of `_work`, beside the connection
        self._idle: list[tuple[Connection, object]] = []
        self.busy: dict[Connection, tuple[object, Run]] = {}

    def __enter__(self) -> "_Pool":
        return self

    def __exit__(self, *_) -> None:
        processes = [process for _, process in self._idle] + [process for process, _ in self.busy.values()]
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()

    def start(self, run: Run | None) -> None:
        if run is None:
            return
        connection, process = self._idle.pop() if self._idle else self._new()
        self.busy[connection] = (process, run)
        with suppress(ConnectionError):  # a process that has died meanwhile is found out by `finished`
            connection.send(run)

    def finished(self, deadline: float | None) -> list[tuple[Run, bool, str, bool]]:
        """Wait for a run to end; of each that did: the run, and what `_work` says of it. Nothing at the deadline."""
        seconds = None if deadline is None else max(deadline - time.monotonic(), 0)
        ended = []
        for connection in wait([*self.busy], seconds):
            process, run = self.busy.pop(connection)
            try:
                answer = connection.recv()
                self._idle.append((connection, process))
            except (EOFError, ConnectionError):
                process.join()
                answer = False, f"the process was ended from outside (exit code {process.exitcode})", False
            ended.append((run, *answer))
        return ended

    def _new(self) -> tuple[Connection, object]:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs, *self._arguments), daemon=True)
        process.start()
        theirs.close()  # so that the pipe ends when the process does
        return ours, process


def _work(connection: Connection, path: Path, device: str, asked: Mapping[str, Collection[str]], dirty: bool) -> None:
    """Run what comes; the parent alone hears Ctrl-C, and with it this process ends.

    The answer to a run: whether a result was stored, what went wrong, and whether that is only a file that is missing.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    warnings.filterwarnings("ignore", message="store: line")  # the parent has said that it is cut off
    store = Store(path)
    with suppress(EOFError, ConnectionError):
        while True:
            run = connection.recv()
            try:
                answer = attempt(store, run, device, asked.get(run.id, ()), dirty=dirty), "", False
            except Exception as error:  # whatever a measurement raises is a line of the report, not the end
                answer = False, f"{type(error).__name__}: {error}", _is_missing_file(error)
            connection.send(answer)


def _end_with_parent() -> None:
    """However the parent ended, nobody waits for the run: what is stored and its checkpoint are there for the next."""
    parent_process().join()
    os._exit(1)


def _is_missing_file(error: Exception) -> bool:
    """Whether a data file is not there: that has a cause in the network or the system, a damaged file has none."""
    return isinstance(error, DataFileError) and error.__cause__ is not None
