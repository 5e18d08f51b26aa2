"""Running what is missing: by workers here or elsewhere, within a budget, so that nothing finished is lost."""

import json
import time
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from tqdm.auto import tqdm

from course_lib.arguments import check_integers, check_numbers
from course_lib.training.progress import is_quiet
from course_replication.executors import Executor
from course_replication.executors.local import Processes
from course_replication.jobs import job_of
from course_replication.runs import Run, check_committed, chosen_device, is_missing, keep, lacks_gpu
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
    executor: Executor | None = None,
) -> Outcome:
    """Run, in their order, those of the runs that have no result yet.

    budget : seconds after which no run goes on; what is then unfinished is left, to be run the next time.
    device : of trainings, "auto", "cpu" or "cuda"; with "auto" and without a GPU, those at the papers' size are not
        started. workers : how many runs are at work at a time.
    asked : id → metrics that the result lacks, as `plans.lacking` finds them: such a run is run again, and its new
        result takes the place of the old one. It has failed if it does not return them.
    dirty : whether code that is not committed may add to the results that the course comes with.
    executor : what executes them, see `executors`; otherwise processes of this machine.

    A run that fails, or whose worker is lost, does not stop the others. Results are stored by this process alone, each
    as it comes. Several programs may run on one store: each run is one program's alone.
    """
    deadline = float("inf") if budget is None else time.monotonic() + check_numbers(0, budget=budget)[0]
    check_integers(1, workers=workers)
    executor, asked = executor or Processes(), asked or {}
    if device != "cuda" or not executor.elsewhere:
        chosen_device(device)
    waiting = _unfinished(runs, store, asked)
    outcome = Outcome(withheld=[run.id for run in waiting if not executor.elsewhere and lacks_gpu(run, device)])
    todo = deque(run for run in waiting if run.id not in outcome.withheld)
    if todo:
        check_committed(store, dirty)
    begun: dict[str, ExitStack] = {}  # id of a run → its claim
    # Claims end last: when nobody is at the runs any more.
    with tqdm(total=len(todo), unit="run", disable=is_quiet()) as bar, ExitStack() as claims, executor:
        while todo or begun:
            outcome.out_of_time = time.monotonic() >= deadline
            while todo and len(begun) < workers and not outcome.out_of_time:
                run, claim = todo.popleft(), claims.enter_context(ExitStack())
                if claim.enter_context(store.claimed(run.id)) and _unfinished([run], store, asked):
                    begun[run.id] = claim
                    executor.start(run.id, job_of(run, store, device, dirty=dirty))
                else:  # another program is at it, or has done it
                    claim.close()
                    bar.update()
            seconds = None if budget is None else max(deadline - time.monotonic(), 0)
            answers = executor.finished(seconds) if begun else {}
            if outcome.out_of_time and not answers:
                break
            for name, answer in answers.items():
                with begun.pop(name):
                    _note(name, json.loads(answer), store, asked.get(name, ()), dirty, outcome)
                bar.update()
        outcome.out_of_time = bool(todo or begun)
    outcome.left = [run.id for run in _unfinished(waiting, store, asked)]
    return outcome


def _unfinished(runs: Iterable[Run], store: Store, asked: Mapping[str, Collection[str]]) -> list[Run]:
    results = store.results()
    return [run for run in runs if is_missing(results, run, asked.get(run.id, ()))]


def _note(name: str, answer: dict, store: Store, asked: Collection[str], dirty: bool, outcome: Outcome) -> None:
    """Store the result that the answer of `jobs.answer` holds, or note what it says instead."""
    if "withheld" in answer:
        outcome.withheld.append(name)
    elif "result" not in answer:
        (outcome.unavailable if "unavailable" in answer else outcome.failed)[name] = next(iter(answer.values()))
    else:
        try:
            if keep(store, answer["result"], asked, dirty=dirty):
                outcome.done.append(name)
        except (ValueError, OSError) as error:  # NaN, metrics that are lacking, a disk that is full
            outcome.failed[name] = f"{type(error).__name__}: {error}"
