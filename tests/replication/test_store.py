"""The store: results come back bit for bit, and neither a kill nor a second process harms it."""

import errno
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import time

import pytest

from course_replication import Store, card
from course_replication import store as store_module
from course_replication.lines import HASH, line_of
from course_replication.runs import Run
from course_replication.store import NEEDED, RESULTS

WRITER = """
import sys
from course_replication import Run, Store
store, name = Store(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
for place in range(int(sys.argv[3])):
    for run in (Run(f"{name}{place}"), Run(f"shared{place}")):
        result = {"id": run.id, **run.config, "config_hash": run.config_hash, "seed": 0, "metrics": {"by": len(name)}}
        if store.add(result | {"padding": "x" * 5000}):
            print(run.measurement, flush=True)
"""
REPLACER = """
import sys
from itertools import count
import course_lib.storage  # which takes longer than to replace a result
from course_replication import Store
store = Store(sys.argv[1])
results = [each for each in store.results().values() if each["measurement"] != "bystander"]
print("ready", flush=True)
for version in count(int(sys.argv[2])):
    for result in results:
        assert store.replace(result | {"metrics": {"version": version}})
        print(result["id"], version, flush=True)
"""


def start(*arguments):
    return subprocess.Popen([sys.executable, "-c", *map(str, arguments)], stdout=subprocess.PIPE, text=True)


def names(store):
    """The measurements whose results are stored, which in these tests tell runs apart."""
    return [each["measurement"] for each in store.results().values()]


def test_a_result_comes_back_bit_for_bit(store, result):
    assert store.results() == {}
    a, b = result("a"), result("b", metrics={"value": 5e-324, "yes": True})
    assert store.add(a) and store.add(b)
    assert Store(store.path).results() == {a["id"]: a, b["id"]: b}
    assert store.results()[b["id"]]["metrics"]["yes"] is True


def test_nobody_changes_what_others_read(store, result):
    store.add(result("a"))
    (found,) = store.results().values()
    found["metrics"]["value"] = 9
    assert [*store.results().values()] == [result("a")]


def test_the_first_result_of_a_run_stays(store, result):
    assert store.add(result("a"))
    assert not store.add(result("a", metrics={"value": 9}))
    assert store.path.read_bytes().count(b"\n") == 1 and [*store.results().values()] == [result("a")]


@pytest.mark.parametrize("length", [1, 20, -1])
def test_what_a_kill_left_of_a_line_is_not_read_and_cut_off(store, result, length):
    """-1: all of the line but its end, which would parse."""
    store.add(result("a"))
    whole = store.path.read_bytes()
    torn = (line_of(result("b")) + b"\n")[:length]
    store.path.write_bytes(whole + torn)
    said = re.escape(f"store: line 2 of {store.path} is cut off; that run is run again.")
    with pytest.warns(UserWarning, match=f"^{said}$"):
        assert names(store) == ["a"]
    assert store.path.read_bytes() == whole + torn
    assert len(store.faults()) == 1 and re.match(said, store.faults()[0]) and store.faults(cut_off=False) == []
    assert store.add(result("c"))
    assert names(store) == ["a", "c"] and store.path.read_bytes().startswith(whole) and not store.faults()


def test_results_of_one_scale(store, result):
    assert store.add(result("a", scale="small")) and store.add(result("b", scale="full"))
    assert names(store) == ["a", "b"]
    assert [each["measurement"] for each in store.results("full").values()] == ["b"]
    assert store.results("exact") == {}
    with pytest.raises(ValueError, match="scale: got 'tiny'; expected one of exact, small, full, or None"):
        store.results("tiny")


def test_a_file_that_is_only_a_torn_line(store, result):
    store.path.write_bytes(b'{"id": "a"')
    with pytest.warns(UserWarning, match="line 1 of .* is cut off"):
        assert store.results() == {}
    assert store.add(result("a")) and names(store) == ["a"]


@pytest.mark.parametrize("changes", [{"metrics": {"value": float("nan")}}, {"seconds": float("inf")}])
def test_what_json_cannot_hold_is_refused(store, result, changes):
    with pytest.raises(ValueError):
        store.add(result(**changes))
    assert store.results() == {}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 1}, "its id is 'a/full/"),
        ({"settings": {"steps": 1}}, "its config_hash is '"),
        ({"metrics": {"value": "high"}}, "its metric 'value' is 'high', neither a finite number nor an answer"),
        ({"metrics": [1.0]}, r"its metrics is \[1.0\], which is no dict"),
        ({"seed": True}, "its seed is True, which is no int"),
    ],
)
def test_what_is_no_result_is_refused(store, result, changes, message):
    with pytest.raises(ValueError, match=f"^result: {message}"):
        store.add(result(**changes))
    assert not store.path.exists()


@pytest.mark.parametrize("key", NEEDED)
def test_a_result_without_a_key_is_refused(store, result, key):
    incomplete = result()
    del incomplete[key]
    with pytest.raises(ValueError, match=f"it lacks {key}"):
        store.add(incomplete)


# ---- replacing


def test_a_new_result_takes_the_place_of_the_old_one(store, result):
    for name in "abc":
        store.add(result(name))
    before = store.path.read_bytes().split(b"\n")
    before[0] = before[0].replace(b": ", b":  ") + b"\r"  # as nobody here writes it, and the same result
    store.path.write_bytes(b"\n".join(before))
    new = result("b", metrics={"value": 1, "more": 2})
    assert store.replace(new) and names(store) == ["a", "b", "c"] and store.results()[new["id"]] == new
    after = store.path.read_bytes().split(b"\n")
    assert [after[0], *after[2:]] == [before[0], *before[2:]] and after[1] != before[1]


def test_what_is_not_stored_is_not_replaced(store, result):
    store.add(result("a"))
    before = store.path.read_bytes()
    assert not store.replace(result("b")) and store.path.read_bytes() == before
    with pytest.raises(ValueError, match="it lacks seed"):
        store.replace({key: value for key, value in result("a").items() if key != "seed"})
    assert store.path.read_bytes() == before


def test_replacing_cuts_off_what_a_kill_has_left(store, result):
    store.add(result("a"))
    store.path.write_bytes(store.path.read_bytes() + b'{"id": "b')
    assert store.replace(result("a", metrics={"value": 1})) and not store.faults() and names(store) == ["a"]


def test_a_full_disk_leaves_the_old_result(store, result, monkeypatch):
    store.add(result("a"))
    before = store.path.read_bytes()

    def full(file):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("course_lib.storage.os.fsync", full)
    with pytest.raises(OSError, match="cannot write"):
        store.replace(result("a", metrics={"value": 1}))
    assert store.path.read_bytes() == before and not [*store.path.parent.glob(".*.partial")]


# ---- faults


def shipped():
    return RESULTS.read_bytes().split(b"\n")[:-1]


def test_the_course_comes_with_a_sound_store():
    assert Store(RESULTS).faults() == [] and len(Store(RESULTS).results()) == len(shipped())


def changed(**changes):
    """A line → the line with other values, and the hash that it had."""
    return lambda line: json.dumps(json.loads(line) | changes).encode()


def without(key):
    return lambda line: json.dumps({name: value for name, value in json.loads(line).items() if name != key}).encode()


def rehashed(**changes):
    """The same with the hash that goes with them, written as no `Store` would."""

    def change(line):
        content = {key: value for key, value in json.loads(line).items() if key != HASH} | changes
        text = json.dumps(content, sort_keys=True)
        return json.dumps(content | {HASH: hashlib.sha256(text.encode()).hexdigest()[:16]}).encode()

    return change


def metric(value):
    """The first metric is what that text says."""
    return lambda line: re.sub(rb'("metrics": {".*?": )[^,}]+', rb"\g<1>" + value, line, count=1)


def text(line):
    return lambda _: line


CHANGED = "it has been changed"
NO_NUMBER = "neither a finite number nor an answer"
PLANTED = {
    "an altered metric": (metric(b"0.123"), CHANGED),
    "a metric more": (lambda line: line.replace(b'"metrics": {', b'"metrics": {"more": 1, '), CHANGED),
    "other settings": (changed(settings={"steps": 10**6}), "its config_hash is"),
    "other settings and their hash": (rehashed(settings={"steps": 10**6}), "its config_hash is"),
    "another measurement": (rehashed(measurement="counts.nothing"), "its config_hash is"),
    "another scale": (
        lambda line: rehashed(scale="small" if b'"scale": "full"' in line else "full")(line),
        "its config_hash is",
    ),
    "no scale": (rehashed(scale="quick"), "its scale is 'quick', none of exact, small, full"),
    "another seed": (rehashed(seed=77), "its id is"),
    "another id": (rehashed(id="counts.squares/exact/0/0"), "its id is 'counts.squares/exact/0/0'"),
    "another hash of the configuration": (rehashed(config_hash="0"), "its config_hash is '0'"),
    "another commit": (changed(commit="0" * 40), CHANGED),
    "other versions": (changed(versions={"torch": "3"}), CHANGED),
    "other seconds": (changed(seconds=1e-3), CHANGED),
    "another hash": (changed(content_hash="0" * 16), f"its content_hash is '{'0' * 16}'"),
    "a hash that is none": (changed(content_hash=[0]), r"its content_hash is \[0\]"),
    "no hash": (without(HASH), "it lacks content_hash"),
    **{f"no {key}": (without(key), f"it lacks {key}") for key in NEEDED},
    "NaN": (metric(b"NaN"), "it holds NaN, which is no number"),
    "infinity": (metric(b"-Infinity"), "it holds -Infinity, which is no number"),
    "infinity in digits": (metric(b"1e999"), f"is inf, {NO_NUMBER}"),
    "an integer beyond floats": (metric(b"9" * 400), NO_NUMBER),
    "an integer beyond Python": (metric(b"9" * 5000), "5000 digits"),
    "NaN elsewhere": (lambda line: line.replace(b'"seconds": ', b'"seconds": NaN, "was": '), "it holds NaN"),
    "infinity elsewhere": (
        lambda line: line.replace(b'"seconds": ', b'"seconds": 1e999, "was": '),
        "it holds a number that",
    ),
    "a metric in words": (rehashed(metrics={"rank": "high"}), f"its metric 'rank' is 'high', {NO_NUMBER}"),
    "a metric of none": (rehashed(metrics={"rank": None}), f"its metric 'rank' is None, {NO_NUMBER}"),
    "a metric of several": (rehashed(metrics={"rank": [1, 2]}), rf"is \[1, 2\], {NO_NUMBER}"),
    "metrics that are none": (rehashed(metrics=3), "its metrics is 3, which is no dict"),
    "a seed with a point": (rehashed(seed=0.0), "its seed is 0.0, which is no int"),
    "half a line": (lambda line: line[: len(line) // 2], "it is not JSON"),
    "two results in a line": (lambda line: line + line, "it is not JSON"),
    "rubbish": (text(b"rubbish"), "it is not JSON"),
    "a list": (text(b"[1]"), "it is JSON, but no object"),
    "null": (text(b"null"), "it is JSON, but no object"),
    "another object": (text(b'{"id": "b"}'), "it lacks measurement, settings, scale, config_hash, seed, metrics"),
    "brackets": (text(b"[" * 10**5), "its brackets are nested too deep"),
    "a marker of a merge": (text(b"<<<<<<< HEAD"), "it is a marker that a merge has left"),
    "its middle": (text(b"======="), "it is a marker that a merge has left"),
    "its end": (text(b">>>>>>> other"), "it is a marker that a merge has left"),
    "nothing": (text(b""), "it is empty"),
    "blanks": (text(b" \t\r"), "it is empty"),
    "a byte order mark": (lambda line: b"\xef\xbb\xbf" + line, "it begins with a byte order mark"),
    "another encoding": (lambda line: line.decode().encode("utf-16"), "its byte 1 is not UTF-8"),
    "a byte that is not UTF-8": (lambda line: line.replace(b"x86", b"x\xe4"), r"its byte \d+ is not UTF-8"),
}


@pytest.mark.parametrize("index", [0, 200, -1])
@pytest.mark.parametrize("name", PLANTED)
def test_a_fault_is_named_with_its_line(store, name, index):
    (plant, why), lines = PLANTED[name], shipped()
    place, whole = index % len(lines) + 1, lines[index]
    lines[index] = plant(whole)
    assert lines[index] != whole
    store.path.write_bytes(b"\n".join([*lines, b""]))
    with pytest.raises(ValueError) as error:
        store.results()
    said = str(error.value)
    assert said.startswith(f"store: line {place} of {store.path} is not a result: ") and re.search(why, said)
    assert len(said.splitlines()) == 1 and len(said) < 500 and store.faults() == [said]


def test_all_faults_are_named_at_once(store, result):
    lines = shipped()
    lines[6], lines[1], lines[99] = b"", PLANTED["an altered metric"][0](lines[1]), lines[2]
    store.path.write_bytes(b"\n".join([*lines, b'{"id": "cut']))
    said = store.faults()
    assert [re.search(r"line (\d+) of", each)[1] for each in said] == ["2", "7", "100", f"{len(lines) + 1}"]
    assert said[2].endswith("is not a result: its run has one in line 3 already.") and "is cut off" in said[3]
    before = store.path.read_bytes()
    for write in (store.results, lambda: store.add(result()), lambda: store.replace(result())):
        with pytest.raises(ValueError, match=f"^{re.escape(said[0])} Nor are 2 lines after it.$"):
            write()
    assert store.path.read_bytes() == before


def test_a_card_names_a_fault(store):
    store.path.write_bytes(b"\n".join([*shipped(), b"rubbish", b""]))
    with pytest.raises(ValueError, match=f"store: line {len(shipped()) + 1} of .* is not a result: it is not JSON"):
        card("distances/table-4.2", store=store.path)


# ---- several processes, and kills


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
    assert sorted(names(store)) == sorted(expected) and not store.faults()


def test_one_process_adds_and_another_replaces(store, result):
    for name in "abc":
        store.add(result(name))
    replacer = start(REPLACER, store.path, 0)
    assert replacer.stdout.readline() == "ready\n"
    writer = start(WRITER, store.path, "added", 40)
    added = {line.strip() for line in writer.communicate()[0].splitlines()} - {"ready"}
    replacer.kill()
    told = replacer.communicate()[0].split("\n")[:-1]
    assert len(added) == 80 and set(names(store)) == {*"abc", *added} and not store.faults()
    assert told and names(store)[:3] == [*"abc"]


def kill_writer(store, moment):
    """Kill a process that adds results one after the other; none that it had added is lost, and the file is sound."""
    known = set(names(store))
    writer = start(WRITER, store.path, f"at-{moment}-", 10**6)
    assert writer.stdout.readline() == "ready\n"
    time.sleep(moment)
    writer.kill()
    told = {line.strip() for line in writer.communicate()[0].split("\n")[:-1]}
    found = set(names(store))
    assert known | told <= found and len(found - known - told) <= 1  # the last may have been added but not told
    return len(told)


@pytest.mark.parametrize("times", [3, pytest.param(20, marks=pytest.mark.stress)])
def test_a_kill_loses_nothing(store, result, times):
    moments = random.Random(times)
    assert sum(kill_writer(store, moments.uniform(0, 0.5)) for _ in range(times)) > 0
    assert store.add(result("after")) and not store.faults()


@pytest.mark.parametrize("times", [3, pytest.param(30, marks=pytest.mark.stress)])
def test_a_kill_while_replacing_loses_nothing(store, result, times):
    """Each run has the result that was told last, or one after it, and what is not replaced is not touched."""
    moments, latest, told = random.Random(times), {}, []
    for name in ("a", "b", "bystander", "c"):
        store.add(result(name, metrics={"version": -1}, padding="x" * 10**5))
    others = [line for line in store.path.read_bytes().split(b"\n") if b"bystander" in line]
    for turn in range(times):
        replacer = start(REPLACER, store.path, turn * 10**6)
        assert replacer.stdout.readline() == "ready\n"
        time.sleep(moments.uniform(0, 0.5))
        replacer.kill()
        told = [line.split() for line in replacer.communicate()[0].split("\n")[:-1]] or told
        latest |= {run: int(version) for run, version in told}
        found = {run: each["metrics"]["version"] for run, each in store.results().items()}
        assert names(store) == ["a", "b", "bystander", "c"] and not store.faults()
        assert all(found[run] >= version for run, version in latest.items())
        assert [line for line in store.path.read_bytes().split(b"\n") if b"bystander" in line] == others
    assert told


def test_scratch_is_one_folder_beside_the_store(store):
    scratch = store.scratch(Run("cheap_measurements:draw").id)
    assert scratch.parent.parent == store.path.parent and scratch != store.scratch(
        Run("cheap_measurements:draw", seed=1).id
    )
