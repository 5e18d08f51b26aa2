"""Runs on a cluster: by submitit's local executor, which has Slurm's interface, and by a Ray that starts here."""

import importlib.util
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from course_replication import Run, Store, command, executors, load_claims
from course_replication.executors import executor_on, on_slurm
from course_replication.executors.local import Processes
from course_replication.executors.on_ray import RayTasks
from course_replication.executors.on_slurm import SlurmJobs, parameters
from course_replication.jobs import answer, job_of
from course_replication.plans import queue
from course_replication.workers import run_missing

DRAW, ENDED = "cheap_measurements:draw", "cluster_measurements:ended"
MORE = '''
import os, pathlib, signal, time

def ended(context, how):
    """The first time, the worker's process gets a signal; what it has left is there the second time."""
    if not context.scratch.exists():
        context.scratch.mkdir(parents=True)
        os.kill(os.getpid(), getattr(signal, how))
        time.sleep(20)
    return {"value": context.seed}

def builds(context):
    """On the result of another run, which it finds among those that are stored."""
    return {"value": sum(each["metrics"]["value"] for each in context.known.values())}
'''
needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed: pip install 'course-lib[cluster]' brings it"
)


@pytest.fixture
def more(cheap, monkeypatch):
    """Measurements that end their worker; and submitit waits neither for slow file systems nor for long."""
    (cheap / "cluster_measurements.py").write_text(MORE, encoding="utf-8")
    monkeypatch.setattr("submitit.Job._results_timeout_s", 0)
    monkeypatch.setattr(on_slurm, "PAUSE", 0.1)


def jobs(store, *options):
    """Jobs of Slurm, as this machine can have them."""
    return SlurmJobs(store, options, cluster="local")


def ended(how, seed=0):
    return Run(ENDED, {"how": how}, seed)


def contents(folder):
    return {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")}


# ---- what travels


def test_every_planned_run_travels_as_text(store):
    runs = {run for scale in ("small", "full") for run in queue(load_claims(), scale)}
    for run in runs:
        travelled = Run(**json.loads(job_of(run, store))["run"])
        assert asdict(travelled) == asdict(run) and travelled.id == run.id
    assert len(runs) > 500


def test_a_worker_reads_the_store_and_writes_nothing(more, store):
    first = Run(DRAW, {"scale": 0.1}, 3)
    run_missing([first], store)
    before = contents(store.path.parent)
    found = json.loads(answer(job_of(Run("cluster_measurements:builds"), store)))["result"]
    assert found["metrics"] == {"value": 0.1 * 3} and found["versions"] and found["device"]["threads"] == 1
    failed = json.loads(answer(job_of(Run("cheap_measurements:broken"), store)))
    assert failed == {"error": "ValueError: nothing to see"}
    assert contents(store.path.parent) == before


def test_submitit_is_given_text_alone(more, store):
    with jobs(store) as executor:
        executor.start("a/b:c", job_of(Run(DRAW), store))
        (job,) = executor._jobs.values()
        job.wait()
        given = job.submission()
        assert (given.function, given.kwargs) == (on_slurm._answer, {}) and [*map(type, given.args)] == [str]
        assert type(job.result()) is str and executor.finished(None).keys() == {"a/b:c"}
    assert not any(store.path.parent.glob("*.slurm/*")), "what has answered leaves no pickle"


# ---- numbers, kills, time


@pytest.fixture
def runs():
    """Two real ones that take a moment."""
    claims = {claim.id: claim for claim in load_claims()}
    return [run for name in ("distances/table-5.2", "distances/figure-3.8") for run in queue([claims[name]], "small")]


def numbers(store):
    """Everything in the results but how long it took."""
    return {name: {**result, "seconds": None} for name, result in store.results().items()}


@pytest.mark.parametrize("on", ["slurm", pytest.param("ray", marks=needs_ray)])
def test_numbers_are_those_of_the_local_runner(more, store, tmp_path, runs, on, capsys):
    """And a worker that is killed costs its own run, which this machine can make up for."""
    here = Store(tmp_path / "here" / "results.jsonl")
    assert len(run_missing(runs, here).done) == len(runs) == 2
    killed = ended("SIGKILL")
    capsys.readouterr()
    executor = jobs(store) if on == "slurm" else RayTasks(workers=2)
    outcome = run_missing([killed, *runs], store, workers=2, executor=executor)
    assert "3/3 [" in capsys.readouterr().err, "one line of progress"
    assert outcome.left == [killed.id] == [*outcome.failed] and sorted(outcome.done) == sorted(numbers(here))
    assert "its worker was lost (" in outcome.failed[killed.id]
    assert "the same command runs it again, from its last checkpoint" in outcome.failed[killed.id]
    assert store.scratch(killed.id).is_dir()
    assert json.dumps({name: numbers(store)[name] for name in numbers(here)}) == json.dumps(numbers(here))
    again = run_missing([killed, *runs], store)
    assert again.done == [killed.id] and not again.left and not store.scratch(killed.id).exists()


def test_a_job_whose_time_is_over_is_said(more, store):
    """Slurm sends the signal shortly before."""
    outcome = run_missing([ended("SIGUSR2")], store, executor=jobs(store, "timeout_min=1"))
    said = outcome.failed[ended("SIGUSR2").id]
    assert re.match(r"its worker was lost \(job \d+, its time was over; its log is ", said)
    log = said.split("its log is ")[1].split(")")[0]
    assert "timed-out" in Path(log).with_suffix(".out").read_text(encoding="utf-8")


def test_a_job_that_is_preempted_comes_again(more, store):
    """The same signal, long before the time is over: submitit puts the job back into the queue."""
    assert run_missing([ended("SIGUSR2")], store, executor=jobs(store, "timeout_min=600")).done


def test_a_budget_ends_jobs(more, store):
    """By SIGINT, which a job would ignore if the tests do, as what a shell starts in the background does."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    long = Run(DRAW, {"seconds": 120})
    executor = jobs(store)
    started = time.monotonic()
    outcome = run_missing([long, Run(DRAW)], store, budget=20, executor=executor)
    signal.signal(signal.SIGINT, before)
    assert outcome.out_of_time and outcome.left == [long.id, Run(DRAW).id] and not outcome.failed
    (job,) = executor._jobs.values()
    job.wait()
    assert time.monotonic() - started < 60


def test_results_that_came_outlive_the_submitter(more, store, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        f"""
from course_replication import Run, Store
from course_replication.executors.on_slurm import SlurmJobs
from course_replication.workers import run_missing
store = Store({str(store.path)!r})
runs = [Run({DRAW!r}), Run({ENDED!r}, {{"how": "SIGCONT"}})]
run_missing(runs, store, executor=SlurmJobs(store, cluster="local"))
""",
        encoding="utf-8",
    )
    running = subprocess.Popen([sys.executable, program])
    while not store.scratch(ended("SIGCONT").id).exists():
        time.sleep(0.1)
    running.send_signal(signal.SIGKILL)
    running.wait()
    runs = [Run(DRAW), ended("SIGCONT")]  # which takes long the first time, and then goes on from there
    assert [*store.results()] == [runs[0].id]
    with store.claimed(runs[1].id) as mine:
        assert mine
        assert not run_missing(runs, Store(store.path), executor=jobs(store)).done, "another has claimed it"
    assert run_missing(runs, store, executor=jobs(store)).done == [runs[1].id]
    assert [*store.results()] == [run.id for run in runs] and not store.faults()


class Elsewhere:
    """Another machine, which is this process."""

    elsewhere = True

    def __init__(self):
        self.jobs = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def start(self, name, job):
        self.jobs[name] = job

    def finished(self, seconds):
        return {name: answer(self.jobs.pop(name)) for name in [*self.jobs]}


def test_a_training_waits_for_a_gpu_there(cheap, store, monkeypatch):
    """The machine that submits has none, and that says nothing of the one that trains."""
    training, executor = Run(DRAW, device="auto"), Elsewhere()
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    outcome = run_missing([training], store, executor=executor)
    assert outcome.withheld == outcome.left == [training.id] and not outcome.failed
    assert "there is no GPU" in run_missing([training], store, device="cuda", executor=executor).failed[training.id]
    assert run_missing([training], store, device="cpu", executor=executor).done == [training.id]


# ---- options


def test_options_of_slurm():
    given = [
        "partition=gpu",
        "timeout_min=30",
        "mem_gb=2.5",
        "gpus_per_node=1",
        "account=a=b",
        "setup=ml cuda",
    ]
    assert parameters(given) == {
        "timeout_min": 30,
        "mem_gb": 2.5,
        "gpus_per_node": 1,
        "slurm_partition": "gpu",
        "slurm_account": "a=b",
        "slurm_setup": ["ml cuda"],
    }
    assert parameters([]) == {"timeout_min": on_slurm.TIMEOUT}


@pytest.mark.parametrize("wrong", ["time=3:00:00", "partition", "partition=", "mem_gb=much", "timeout_min=1.5"])
def test_options_that_make_no_sense_are_told(wrong):
    with pytest.raises(ValueError, match=f"slurm: got '{wrong}'; expected KEY=VALUE with one of timeout_min .an integ"):
        parameters([wrong])


def test_options_reach_the_script_of_the_job(store, tmp_path, monkeypatch):
    """A machine whose sbatch notes the script and takes the first job only; cancelled jobs are noted too."""
    tools = {
        "sbatch": f'[ -e {tmp_path}/script ] && {{ echo "too many jobs" >&2; exit 1; }}\n'
        f'cp "$1" {tmp_path}/script; echo "Submitted batch job 7"',
        "scancel": f'echo "$@" >> {tmp_path}/cancelled',
        "srun": "",
        "sacct": "",
    }
    for name, text in tools.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    runs = [Run(DRAW, seed=seed) for seed in range(2)]
    executor = executor_on("slurm", store, slurm=["partition=gpu", "timeout_min=30", "setup=module load cuda"])
    outcome = run_missing(runs, store, workers=2, budget=2, executor=executor)
    script = (tmp_path / "script").read_text(encoding="utf-8").splitlines()
    name = store.scratch(runs[0].id).name
    wanted = ("partition=gpu", "time=30", "dependency=singleton", f"job-name={name}")
    assert {f"#SBATCH --{each}" for each in wanted} <= {*script} and "module load cuda" in script
    assert outcome.out_of_time and [*outcome.failed] == [runs[1].id] and "too many" in outcome.failed[runs[1].id]
    assert (tmp_path / "cancelled").read_text(encoding="utf-8") == "7\n"
    with pytest.raises(ValueError, match="slurm: the first job was refused: too many jobs"):
        run_missing(runs, store, executor=executor_on("slurm", store))
    left = (tmp_path / "cancelled").read_text(encoding="utf-8")
    assert left == f"7\n--name={name} 7\n", "the job of a command that is gone"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--slurm", "partition=gpu"], "slurm: got partition=gpu; options of Slurm are allowed with --on slurm alone"),
        (["--address", "auto"], "address: got 'auto'; an address is allowed with --on ray alone"),
        (["--on", "moon"], "invalid choice: 'moon'"),
        (["--on", "slurm"], "on: got 'slurm', but there is no sbatch here"),
    ],
)
def test_arguments_that_make_no_sense(store, capsys, monkeypatch, arguments, message):
    from course_lib.__main__ import main

    monkeypatch.setenv("PATH", "")
    try:
        status = main(["replicate", "distances/table-5.2", "--store", str(store.path), *arguments])
    except SystemExit as ended:
        status = ended.code
    assert status == 2 and message in capsys.readouterr().err and not store.path.exists()


@pytest.mark.parametrize(("on", "package"), [("slurm", "submitit"), ("ray", "ray")])
def test_a_package_that_is_missing_is_named(store, monkeypatch, on, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ValueError, match=rf"on: needs the package {package}, .*pip install 'course-lib\[cluster\]'"):
        executor_on(on, store)


def test_the_command_goes_through_the_executor(store, monkeypatch, capsys):
    from course_lib.__main__ import main

    asked = []
    monkeypatch.setattr(
        executors, "executor_on", lambda *given, **options: asked.append((given, options)) or Elsewhere()
    )
    given = ["--on", "slurm", "--slurm", "timeout_min=9", "--slurm", "qos=low", "--workers", "3"]
    assert main(["replicate", "distances/table-5.2", "--store", str(store.path), *given]) == 0
    assert "1 run added, 0 failed" in capsys.readouterr().out and len(store.results()) == 1
    (((on, where), options),) = asked
    assert (on, where.path) == ("slurm", store.path)
    assert options == {"workers": 3, "slurm": ["timeout_min=9", "qos=low"], "address": None}


def test_processes_of_this_machine_are_the_default(store):
    assert isinstance(executor_on("local", store), Processes)
    with pytest.raises(ValueError, match="on: got 'moon'; expected one of local, slurm, ray"):
        executor_on("moon", store)


# ---- the page

PAGE = (Path(__file__).parents[2] / "book" / "clusters.md").read_text(encoding="utf-8")


def test_the_pages_commands_are_understood():
    from course_lib.__main__ import parser

    lines = [line.split()[1:] for line in PAGE.splitlines() if line.startswith(".venv/bin/course replicate ")]
    asked = [parser([command]).parse_args(shlex.split(" ".join(line))) for line in lines]
    assert [each.on for each in asked] == ["local", "slurm", "ray"] and {each.scale for each in asked} == {"full"}
    assert parameters(asked[1].slurm)["timeout_min"] == 480
    (hours,) = re.findall(r"--time=(\d+):00:00", PAGE)
    assert 0 < int(hours) * 3600 - asked[0].budget <= 1800, "the job ends after the budget"
    assert "`--workers` says" in PAGE and asked[0].workers == int(re.search(r"--cpus-per-task=(\d+)", PAGE)[1]) == 4


def test_the_page_names_every_option_of_slurm():
    table = PAGE.split("| key | what it says |")[1].split("\n\n")[0]
    keys = re.findall(r"`(\w+)`", table.replace("`sbatch`", ""))
    assert sorted(keys) == sorted(on_slurm.OPTIONS) and f"otherwise {on_slurm.TIMEOUT} |" in table


def test_the_page_names_the_folders_and_the_version_that_was_tried(store):
    names = [store.path.name, store.scratch("a").parent.name, jobs(store)._folder.name]
    assert re.findall(r"^- `([\w.]+)/?`", PAGE, re.MULTILINE) == names
    constraints = (Path(__file__).parents[2] / "constraints.txt").read_text(encoding="utf-8")
    assert f"submitit=={re.search(r'with submitit ([0-9.]+):', PAGE)[1]}\n" in constraints
