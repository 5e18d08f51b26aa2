"""The store: results come back bit for bit, and neither a kill nor a second process harms it."""

import json
import os
import random
import subprocess
import sys
import time

import pytest

from course_replication import Store
from course_replication import store as store_module
from course_replication.runs import Run

WRITER = """
import sys
from course_replication import Store
store, name = Store(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
for place in range(int(sys.argv[3])):
    for run in (f"{name}{place}", f"shared{place}"):
        result = {"id": run, "config_hash": "0", "scale": "full", "seed": 0, "metrics": {"by": len(name)}}
        if store.add(result | {"padding": "x" * 5000}):
            print(run, flush=True)
"""


def start(*arguments):
    return subprocess.Popen([sys.executable, "-c", *map(str, arguments)], stdout=subprocess.PIPE, text=True)


def test_a_result_comes_back_bit_for_bit(store, result):
    assert store.results() == {}
    assert store.add(result("a")) and store.add(result("b", metrics={"value": 5e-324, "yes": True}))
    assert Store(store.path).results() == {"a": result("a"), "b": result("b", metrics={"value": 5e-324, "yes": True})}
    assert store.results()["b"]["metrics"]["yes"] is True


def test_the_first_result_of_a_run_stays(store, result):
    assert store.add(result("a"))
    assert not store.add(result("a", metrics={"value": 9}))
    assert store.path.read_bytes().count(b"\n") == 1 and store.results()["a"] == result("a")


@pytest.mark.parametrize("length", [1, 20, -1])
def test_what_a_kill_left_of_a_line_is_not_read_and_cut_off(store, result, length):
    """-1: all of the line but its end, which would parse."""
    store.add(result("a"))
    whole = store.path.read_bytes()
    torn = (json.dumps(result("b")) + "\n").encode()[:length]
    store.path.write_bytes(whole + torn)
    assert [*store.results()] == ["a"] and store.path.read_bytes() == whole + torn
    assert store.add(result("c"))
    assert [*store.results()] == ["a", "c"] and store.path.read_bytes().startswith(whole)


def test_a_file_that_is_only_a_torn_line(store, result):
    store.path.write_bytes(b'{"id": "a"')
    assert store.results() == {} and store.add(result("a"))
    assert store.results() == {"a": result("a")}


@pytest.mark.parametrize("line", ["rubbish", "[1]", '{"id": "b"}', ""])
def test_a_line_that_no_kill_leaves_is_an_error_with_its_place(store, result, line):
    store.add(result("a"))
    with store.path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(ValueError, match="store: line 2 of .* is not a result"):
        store.results()


@pytest.mark.parametrize("changes", [{"metrics": {"value": float("nan")}}, {"metrics": {"value": float("inf")}}])
def test_what_json_cannot_hold_is_refused(store, result, changes):
    with pytest.raises(ValueError):
        store.add(result(**changes))
    assert store.results() == {}


def test_a_result_without_a_key_is_refused(store, result):
    incomplete = result()
    del incomplete["seed"]
    with pytest.raises(ValueError, match="without seed"):
        store.add(incomplete)


def test_a_full_disk_leaves_the_file_as_it_was(store, result, monkeypatch):
    store.add(result("a"))
    before, write = store.path.read_bytes(), os.write
    monkeypatch.setattr(store_module.os, "write", lambda file, line: write(file, line[:10]))
    with pytest.raises(OSError):
        store.add(result("b"))
    monkeypatch.undo()
    assert store.path.read_bytes() == before and store.add(result("b"))


def test_a_place_that_cannot_be_written(tmp_path, result):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="store: cannot write"):
        Store(tmp_path / "file" / "results.jsonl").add(result())


def test_a_claim_excludes_and_ends(store):
    with store.claimed("a") as mine, Store(store.path).claimed("a") as again, store.claimed("b") as other:
        assert mine and other and not again
    with store.claimed("a") as mine:
        assert mine


def test_a_claim_ends_with_its_process(store):
    code = """
import sys, time
from course_replication import Store
with Store(sys.argv[1]).claimed("a") as mine:
    print(mine, flush=True)
    time.sleep(600)
"""
    other = start(code, store.path)
    assert other.stdout.readline() == "True\n"
    with store.claimed("a") as mine:
        assert not mine
    store.results()  # reading must not release anybody's lock
    with store.claimed("a") as mine:
        assert not mine
    other.kill()
    other.communicate()
    with store.claimed("a") as mine:
        assert mine


def test_two_processes_neither_duplicate_nor_clobber(store):
    writers = [start(WRITER, store.path, name, 40) for name in ("left", "right")]
    added = [line.strip() for writer in writers for line in writer.communicate()[0].splitlines() if line != "ready"]
    expected = {f"{name}{place}" for name in ("left", "right", "shared") for place in range(40)}
    assert sorted(added) == sorted(expected), "each was added by one of them"
    lines = store.path.read_text(encoding="utf-8").splitlines()
    assert sorted(json.loads(line)["id"] for line in lines) == sorted(expected)


def kill_writer(store, moment):
    """Kill a process that adds results one after the other; none that it had added is lost, and the file is sound."""
    known = set(store.results())
    writer = start(WRITER, store.path, f"at-{moment}-", 10**6)
    assert writer.stdout.readline() == "ready\n"
    time.sleep(moment)
    writer.kill()
    told = {line.strip() for line in writer.communicate()[0].split("\n")[:-1]}
    found = set(store.results())
    assert known | told <= found and len(found - known - told) <= 1  # the last may have been added but not told
    return len(told)


@pytest.mark.parametrize("times", [3, pytest.param(20, marks=pytest.mark.stress)])
def test_a_kill_loses_nothing(store, result, times):
    moments = random.Random(times)
    assert sum(kill_writer(store, moments.uniform(0, 0.5)) for _ in range(times)) > 0
    assert store.add(result("after"))
    assert all(json.loads(line) for line in store.path.read_text(encoding="utf-8").splitlines())


def test_scratch_is_one_folder_beside_the_store(store):
    scratch = store.scratch(Run("cheap_measurements:draw").id)
    assert scratch.parent.parent == store.path.parent and scratch != store.scratch(
        Run("cheap_measurements:draw", seed=1).id
    )
