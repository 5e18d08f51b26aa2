"""Runs: what makes one the same, in which order they come, and what budgets, kills and failures leave behind."""

import json
import random
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from course_lib.__main__ import main
from course_replication import Run, load_claims, runs
from course_replication.claims import Claim, Expectation
from course_replication.command import seconds
from course_replication.parts import Part
from course_replication.plans import deviations_of, lacking, queue, runs_of
from course_replication.runs import attempt, execute
from course_replication.store import RESULTS, Store
from course_replication.workers import run_missing

CLAIMS = {claim.id: claim for claim in load_claims()}
DRAW = "cheap_measurements:draw"


def claim(name="isa/a", **changes):
    expects = Expectation("direction", order=("value > 0",))
    fields = dict(paper="isa", locator="", title="", statement="", kind="trained", chapter="", scale="small")
    return Claim(id=name, **fields | dict(expects=expects, importance=1) | changes)


# ---- what a run is


def test_the_configuration_is_in_the_hash_and_the_seed_in_the_id():
    run = Run(DRAW, {"a": 1, "b": 2}, seed=3)
    assert run.config_hash == Run(DRAW, {"b": 2, "a": 1}, seed=4).config_hash
    others = [Run(DRAW, {"a": 1, "b": 3}), Run("x:y", {"a": 1, "b": 2}), replace(run, scale="small")]
    assert len({run.config_hash, *(other.config_hash for other in others)}) == 4
    assert run.id == f"{DRAW}/exact/{run.config_hash}/3"


@pytest.mark.parametrize("wrong", [{"seed": 0.5}, {"seed": -1}, {"scale": "quick"}])
def test_a_run_has_an_integer_seed_and_a_scale(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Run(DRAW, **wrong)


def test_a_result_says_what_it_takes_to_repeat_it(cheap):
    run = Run(DRAW, {"scale": 0.1}, seed=3)
    found = execute(run)
    assert json.loads(json.dumps(found)) == found
    assert found["metrics"] == {"value": 0.1 * 3, "yes": True}
    assert (found["id"], found["config_hash"], found["seed"], found["scale"]) == (run.id, run.config_hash, 3, "exact")
    assert found["settings"] == {"scale": 0.1} and found["seconds"] >= 0 and found["device"]["threads"] == 1
    assert found["versions"]["torch"] == torch.__version__ and "commit" in found


def test_measuring_leaves_the_number_of_threads_alone(cheap):
    threads = torch.get_num_threads()
    execute(Run(DRAW))
    assert torch.get_num_threads() == threads


# ---- which runs, in which order


def test_the_important_come_first_and_what_is_shared_once():
    plans = {"isa/a": (Part("m:a"), Part("m:b")), "isa/b": (Part("m:c"), Part("m:b", name="x/{}"))}
    runs = queue([claim("isa/a", importance=2), claim("isa/b", importance=1)], "small", plans)
    assert [run.measurement for run in runs] == ["m:c", "m:b", "m:a"]


def test_seeds_come_round_by_round():
    plans = {"isa/a": (Part("m:a", seeds=2), Part("m:b", seeds=3))}
    runs = runs_of(claim(), "small", plans)
    assert [(run.measurement, run.seed) for run in runs] == [("m:a", 0), ("m:b", 0), ("m:a", 1), ("m:b", 1), ("m:b", 2)]


def test_quick_and_full_are_different_runs_and_what_needs_no_training_is_the_same():
    plans = {"isa/a": (Part("m:a", scale="small"), Part("m:a", scale="full"), Part("m:b"))}
    small, full = (set(runs_of(claim(), scale, plans)) for scale in ("small", "full"))
    assert {run.scale for run in small if run.measurement == "m:a"} == {"small"}
    assert small & full == {Run("m:b")} and len(small) == len(full) == 2


def stored(part, *metrics):
    """The results of a part's seeds, each with the metrics of that name."""
    found = zip(part.runs(), metrics, strict=False)
    return {run.id: {"id": run.id, "metrics": dict.fromkeys(names.split(), 1.0)} for run, names in found}


def asking(*order):
    return claim(expects=Expectation("direction", order=order))


def test_what_a_claim_asks_for_and_its_run_lacks():
    part = Part("m:a", name="{}/box", seeds=3)
    results, plans = stored(part, "mig", "mig rank", "rank"), {"isa/a": (part,)}
    first, second, third = (run.id for run in part.runs())
    assert lacking([asking("mig/box > 0.5")], results, "full", plans) == {third: {"mig"}}
    assert lacking([asking("mig/box > rank/box")], results, "full", plans) == {first: {"rank"}, third: {"mig"}}
    assert lacking([asking("dci/box > 1")], results, "full", plans) == {each: {"dci"} for each in results}
    assert lacking([asking("mig/mse > 1", "box > 1")], results, "full", plans) == {}, "not of this part"
    assert lacking([asking("dci/box > 1")], {}, "full", plans) == {}


def test_a_metric_is_asked_of_the_part_that_returns_it_or_is_named_like_it():
    sweep, one, two = Part("m:a"), Part("m:b", name="{}/box", seeds=2), Part("m:c", name="{}/box")
    plans, asked = {"isa/a": (sweep, one, two)}, [asking("mig/box > 0.5")]
    assert lacking(asked, stored(sweep, "mig/box") | stored(one, "rank") | stored(two, "rank"), "full", plans) == {}
    results = stored(sweep, "rank") | stored(one, "mig", "rank") | stored(two, "rank")
    assert lacking(asked, results, "full", plans) == {one.run(1).id: {"mig"}}
    results = stored(sweep, "rank") | stored(one, "rank") | stored(two, "rank")
    assert lacking(asked, results, "full", plans) == {one.run(0).id: {"mig"}, two.run(0).id: {"mig"}}
    assert lacking(asked, stored(sweep, "rank") | stored(one, "rank"), "full", plans) == {}, "the third may return it"


def test_no_stored_result_lacks_what_a_claim_asks_for():
    for scale in ("small", "full"):
        assert lacking(CLAIMS.values(), Store(RESULTS).results(), scale) == {}


def test_deviations_are_found_and_told():
    part = Part("m:a", {"steps": 100, "beta": 4, "batch": 64}, deviations=("on a smaller grid",))
    asked = claim(settings={"steps": 57_600, "beta": [1, 4], "batch": 64, "optimiser": "Adam"})
    assert deviations_of(asked, part) == ("steps: 100 in place of 57,600", "on a smaller grid")
    longer = replace(part, settings={"steps": 3840, "beta": 2, "batch": 64}, deviations=("on a smaller grid", "alone"))
    shorter = replace(part, settings={"steps": 50})
    assert deviations_of(asked, part, longer, shorter, part) == (
        "steps: 100, 3,840 and 50 in place of 57,600", "beta: 2 in place of [1, 4]", "on a smaller grid", "alone",
    )  # fmt: skip


# ---- running them


def test_what_is_done_is_not_done_again(cheap, store, tmp_path):
    log = tmp_path / "log"
    runs = [Run("cheap_measurements:note", {"log": str(log)}, seed) for seed in range(4)]
    attempt(store, runs[1])
    outcome = run_missing(runs, store, workers=2)
    assert sorted(outcome.done) == sorted(run.id for run in runs if run.seed != 1) and not outcome.left
    again = run_missing(runs, store)
    assert not again.done and not again.failed and not again.out_of_time
    assert sorted(log.read_text().split()) == ["0", "1", "2", "3"]


def test_a_failure_stops_nothing_and_is_told(cheap, store):
    names = ["cheap_measurements:broken", "cheap_measurements:undefined", "cheap_measurements:gone", DRAW]
    runs = [Run(name) for name in names]
    outcome = run_missing(runs, store)
    assert outcome.done == [runs[3].id] and outcome.left == [run.id for run in runs[:3]]
    assert "nothing to see" in outcome.failed[runs[0].id] and "ValueError" in outcome.failed[runs[1].id]
    assert "exit code 7); the same command runs it again" in outcome.failed[runs[2].id]
    assert [*store.results()] == [runs[3].id]


def test_a_budget_is_kept(cheap, store):
    """A worker starts and does the first within it; five seconds are enough where the computer is not busy."""
    runs = [Run(DRAW, {"seconds": 0}), Run(DRAW, {"seconds": 600})]
    for budget in (5, 20, 60):
        started = time.monotonic()
        outcome = run_missing(runs, store, budget=budget)
        assert time.monotonic() - started < budget + 10 and outcome.out_of_time
        if outcome.done:
            break
    assert outcome.done == [runs[0].id] and outcome.left == [runs[1].id]
    with store.claimed(runs[1].id) as mine:
        assert mine, "the process that was at it is gone"


def test_no_budget_at_all(cheap, store):
    outcome = run_missing([Run(DRAW)], store, budget=0)
    assert outcome.out_of_time and outcome.left == [Run(DRAW).id]


def test_a_run_that_another_process_is_at_is_left_to_it(cheap, store):
    with store.claimed(Run(DRAW).id):
        outcome = run_missing([Run(DRAW), Run(DRAW, seed=1)], store)
    assert outcome.done == [Run(DRAW, seed=1).id] and outcome.left == [Run(DRAW).id] and not outcome.failed


def test_scratch_outlives_a_failure_and_is_removed_with_success(cheap, store):
    run = Run("cheap_measurements:interrupted")
    with pytest.raises(RuntimeError):
        attempt(store, run)
    assert store.scratch(run.id).is_dir()
    assert attempt(store, run) and not store.scratch(run.id).exists()
    assert not [*store.scratch(run.id).parent.iterdir()]


def test_seconds_of_a_resumed_run_are_those_up_to_its_checkpoint_and_from_there(cheap, store):
    run = Run("cheap_measurements:halted", {"seconds": 1.5})
    with pytest.raises(RuntimeError):
        attempt(store, run)
    time.sleep(0.5)  # while nothing runs
    assert attempt(store, run) and 1.49 < store.results()[run.id]["seconds"] < 2.25


def test_seconds_without_a_checkpoint_are_those_of_the_last_attempt(cheap, store):
    run = Run("cheap_measurements:interrupted")
    with pytest.raises(RuntimeError):
        attempt(store, run)
    time.sleep(1)
    assert attempt(store, run) and store.results()[run.id]["seconds"] < 1


# ---- measurements that have grown


@pytest.fixture
def grown(cheap, store, tmp_path):
    """A run that has a result, and a function that changes what its measurement returns."""
    file = tmp_path / "returned.json"
    run = Run("cheap_measurements:grown", {"file": str(file)})

    def returns(**metrics):
        file.write_text(json.dumps(metrics), encoding="utf-8")

    returns(value=1)
    for each in (Run(DRAW), run, Run(DRAW, seed=1)):
        assert attempt(store, each)
    return run, returns


def times_run(run):
    return len(Path(f"{run.settings['file']}.log").read_text(encoding="utf-8").split())


def test_a_run_whose_metric_is_missing_is_run_again(grown, store):
    run, returns = grown
    before = store.path.read_bytes().split(b"\n")
    returns(value=2, more=3)
    asked = lacking([asking("more > 1")], store.results(), "full", {"isa/a": (Part(run.measurement, run.settings),)})
    assert asked == {run.id: {"more"}} and not run_missing([run], store).done
    outcome = run_missing([run, Run(DRAW)], store, asked=asked)
    assert outcome.done == [run.id] and not outcome.failed and not outcome.left
    assert store.results()[run.id]["metrics"] == {"value": 2, "more": 3}
    after = store.path.read_bytes().split(b"\n")
    assert [after[0], *after[2:]] == [before[0], *before[2:]] and not store.faults()
    assert not run_missing([run], store, asked=asked).done and times_run(run) == 2


def test_what_lacks_it_again_has_failed_and_keeps_its_result(grown, store):
    run, returns = grown
    before = store.path.read_bytes()
    returns(value=2)
    outcome = run_missing([run], store, asked={run.id: ["more"]})
    assert outcome.failed == {run.id: f"ValueError: metrics: {run.measurement} does not return more, as a claim asks."}
    assert outcome.left == [run.id] and not outcome.done and times_run(run) == 2
    assert store.path.read_bytes() == before


def test_what_returns_some_of_it_is_stored_and_has_failed(grown, store):
    run, returns = grown
    returns(value=2, more=3)
    outcome = run_missing([run], store, asked={run.id: ["more", "most"]})
    assert "does not return most," in outcome.failed[run.id] and outcome.left == [run.id]
    assert store.results()[run.id]["metrics"] == {"value": 2, "more": 3}


def test_a_run_again_gets_only_what_the_same_code_has_made(grown, store, monkeypatch):
    run, seen = grown[0], []
    codes = iter(["a" * 40, "b" * 40, "a" * 40 + "+"])
    for result, code in zip(store.results().values(), codes, strict=True):
        store.replace(result | {"commit": code})
    monkeypatch.setattr(runs, "commit", lambda: "a" * 40)
    monkeypatch.setattr(runs, "execute", lambda run, device, scratch, known: seen.append(known) or known[Run(DRAW).id])
    with pytest.raises(ValueError, match="does not return more"):
        attempt(store, run, asked=["more"])
    assert [*seen[0]] == [Run(DRAW).id]


# ---- code that is not committed


def test_only_committed_code_adds_to_the_courses_results(cheap, store, monkeypatch):
    monkeypatch.setattr(runs, "commit", lambda: "a" * 40 + "+")
    before = RESULTS.read_bytes()
    with pytest.raises(ValueError, match="code: .* differs from the last commit, and only committed code"):
        run_missing([Run(DRAW)], Store(), budget=0)
    with pytest.raises(ValueError, match="code: "):
        attempt(Store(), Run(DRAW))
    assert RESULTS.read_bytes() == before
    runs.check_committed(Store(), dirty=True)
    assert not run_missing([], Store()).left and attempt(store, Run(DRAW)), "another store"
    for clean in ("a" * 40, None):
        monkeypatch.setattr(runs, "commit", lambda clean=clean: clean)
        runs.check_committed(Store())


def test_what_changed_code_has_made_does_not_count():
    assert runs.counts({"commit": "a" * 40}) and runs.counts({"commit": None}) and runs.counts({})
    assert not runs.counts({"commit": "a" * 40 + "+"})
    assert all(map(runs.counts, Store().results().values()))


def test_what_does_not_count_is_run_again(cheap, store, monkeypatch):
    run = Run(DRAW)
    monkeypatch.setattr(runs, "commit", lambda: "a" * 40 + "+")
    assert attempt(store, run) and not attempt(store, run), "a second would not count either"
    monkeypatch.setattr(runs, "commit", lambda: "a" * 40)
    assert attempt(store, run) and not attempt(store, run)
    assert len(store.results()) == 1 and store.results()[run.id]["commit"] == "a" * 40


def test_the_commit_says_whether_code_differs(tmp_path, monkeypatch):
    """Results that are added change no code."""

    def git(*arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        return subprocess.check_output(["git", "-C", tmp_path, *identity, *arguments], text=True).strip()

    files = ["course_lib/__init__.py", "course_replication/__init__.py", "course_replication/artefacts/results.jsonl"]
    for name in (*files, "course_replication/artefacts/kernel.safetensors"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setattr("course_lib.__file__", str(tmp_path / files[0]))
    monkeypatch.setattr(runs, "__file__", str(tmp_path / files[1]))
    git("init", "-q")
    assert runs.commit.__wrapped__() is None, "nothing is committed"
    git("add", ".")
    git("commit", "-qm", "all")
    head = git("rev-parse", "HEAD")
    for name, mark in [(files[2], ""), ("README.md", ""), (files[0], "+")]:
        (tmp_path / name).write_text("changed", encoding="utf-8")
        assert runs.commit.__wrapped__() == head + mark
    git("checkout", "-q", files[0])
    assert runs.commit.__wrapped__() == head
    (tmp_path / "course_replication/artefacts/kernel.safetensors").write_text("changed", encoding="utf-8")
    assert runs.commit.__wrapped__() == head + "+"


# ---- kills


PROGRAM = """
import sys
from course_replication import Run, Store
from course_replication.workers import run_missing
if __name__ == "__main__":
    runs = [Run("cheap_measurements:note", {"log": sys.argv[2], "seconds": 0.05}, seed) for seed in range(40)]
    print("ready", flush=True)
    run_missing(runs, Store(sys.argv[1]), asked={run.id: ["value"] for run in runs})
"""


@pytest.mark.parametrize("old", [0, 40])
@pytest.mark.parametrize("times", [2, pytest.param(20, marks=pytest.mark.stress)])
def test_kills_lose_no_finished_run(cheap, store, tmp_path, times, old):
    """A worker ends with its parent; what it was at is either stored or run again, and counted once.

    old : how many of the runs have a result that lacks a metric, so that each is replaced.
    """
    program, log = tmp_path / "program.py", tmp_path / "log"
    program.write_text(PROGRAM, encoding="utf-8")
    for run in (Run("cheap_measurements:note", {"log": str(log), "seconds": 0.05}, seed) for seed in range(old)):
        result = {"id": run.id, **run.config, "config_hash": run.config_hash, "seed": run.seed}
        store.add(result | {"metrics": {"before": run.seed}})

    def finished():
        results = store.results()
        assert len(results) >= old and not store.faults()
        return {name for name, result in results.items() if "value" in result["metrics"]}

    moments, seen = random.Random(times), set()
    for _ in range(times):
        running = subprocess.Popen([sys.executable, program, store.path, log], stdout=subprocess.PIPE)
        assert running.stdout.readline() == b"ready\n"
        time.sleep(moments.uniform(2, 4.5))
        running.kill()
        running.communicate()
        found = finished()
        assert seen <= found
        seen = found
    subprocess.run([sys.executable, program, store.path, log], check=True)
    assert len(finished()) == 40 and store.path.read_bytes().count(b"\n") == 40
    assert sorted(result["seed"] for result in store.results().values()) == [*range(40)]


def test_a_worker_ends_with_its_parent(cheap, store, tmp_path):
    """In the middle of a run of ten minutes, which somebody else can then have."""
    program, log = tmp_path / "program.py", tmp_path / "log"
    program.write_text(PROGRAM.replace("0.05", "600"), encoding="utf-8")
    running = subprocess.Popen([sys.executable, program, store.path, log], stdout=subprocess.PIPE)
    first = Run("cheap_measurements:note", {"log": str(log), "seconds": 600}, 0)

    def taken():
        with store.claimed(first.id) as mine:
            return not mine

    assert eventually(taken), "a worker is at it"
    running.kill()
    running.communicate()
    assert eventually(lambda: not taken())


def eventually(condition, seconds=60):
    """Whether the condition holds before so many seconds have passed."""
    end = time.monotonic() + seconds
    while not (held := condition()) and time.monotonic() < end:
        time.sleep(0.1)
    return held


# ---- the results that the course comes with


@pytest.mark.parametrize("name", ["distances/table-5.2", "distances/figure-4.3", "assumptions/theorem-1"])
def test_a_deleted_result_comes_back_bit_for_bit(tmp_path, name):
    (run,) = runs_of(CLAIMS[name], "full")
    lines = RESULTS.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line)["id"] != run.id]
    assert len(kept) == len(lines) - 1
    store = Store(tmp_path / "results.jsonl")
    store.path.write_text("".join(kept), encoding="utf-8")
    assert attempt(store, run)
    before, after = (place.results()[run.id]["metrics"] for place in (Store(RESULTS), store))
    assert json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True)


def test_no_stored_result_is_of_another_plan():
    planned = {run.id for each in CLAIMS.values() for scale in ("small", "full") for run in runs_of(each, scale)}
    assert set(Store(RESULTS).results()) <= planned


# ---- the command


@pytest.mark.parametrize(("text", "expected"), [("90", 90), ("90s", 90), ("10m", 600), ("1.5h", 5400)])
def test_budgets_are_read(text, expected):
    assert seconds(text) == expected


def command(*arguments):
    done = [sys.executable, "-m", "course_lib", "replicate", *map(str, arguments)]
    return subprocess.run(done, capture_output=True, text=True)


@pytest.mark.skipif(not runs.counts({"commit": runs.commit()}), reason="what changed code makes does not count")
def test_the_command_runs_and_lists(store):
    done = command("distances/table-5.2", "distances/figure-3.8", "--store", store.path)
    assert done.returncode == 0 and done.stdout.count("  1/1  ") == 2 and "2 runs added" in done.stdout
    listed = command("--list", "--store", store.path)
    assert f"{len(CLAIMS) - 2 - 19} not run, 19 out of reach" in listed.stdout
    assert all(name in listed.stdout for name in CLAIMS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["distances/table-9"], "claim: got 'distances/table-9'; expected an id such as"),
        (["distances/table-5.2", "--workers", "0"], "workers: got 0"),
        (["--budget", "soon"], "allowed are times such as 90s"),
    ],
)
def test_arguments_that_make_no_sense(store, arguments, message, capsys):
    try:
        status = main(["replicate", *arguments, "--store", str(store.path)])
    except SystemExit as ended:  # what argparse does
        status = ended.code
    assert status == 2 and message in capsys.readouterr().err
