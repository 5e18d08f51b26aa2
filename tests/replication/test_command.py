"""`python -m course_lib replicate`: the order of its list, and what is said of runs whose data file is not there."""

import argparse
import re

import pytest

from course_replication import Run, command, load_claims, plans, workers
from course_replication.claims import GROUPS, claims_named
from course_replication.store import RESULTS, Store
from course_replication.verdicts import VERDICTS
from course_replication.workers import Outcome, run_missing

FILES = """
from course_lib.data.files import RemoteFile, fetch

NOWHERE = RemoteFile("pictures.npz", "http://127.0.0.1:9/pictures.npz", "md5:" + "0" * 32)

def needs(context):
    return {"size": fetch(NOWHERE).stat().st_size}
"""


@pytest.fixture
def needs(cheap, tmp_path, monkeypatch):
    """A run that needs a file which nobody serves, and the folder where that file is looked for."""
    (cheap / "file_measurements.py").write_text(FILES, encoding="utf-8")
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("COURSE_DATA", str(folder))
    return Run("file_measurements:needs"), folder


def test_a_missing_file_is_no_failure(needs, store):
    run, folder = needs
    outcome = run_missing([run, Run("cheap_measurements:draw")], store)
    assert outcome.failed == {} and outcome.left == [run.id] and len(outcome.done) == 1
    message = outcome.unavailable[run.id]
    assert "http://127.0.0.1:9/pictures.npz" in message and f"save it as\n  {folder / 'pictures.npz'}" in message


def test_a_damaged_file_is_one(needs, store):
    run, folder = needs
    (folder / "pictures.npz").write_bytes(b"something else")
    outcome = run_missing([run], store)
    assert outcome.unavailable == {} and "is damaged" in outcome.failed[run.id]


def test_the_report_names_each_file_once():
    message = "DataFileError: a.npz can neither be read nor downloaded.\nsave it as\n  a.npz"
    outcome = Outcome(done=["x"], failed={"y": "ValueError: no"}, left=["y", "t.a/1", "t.a/2", "t.b/3"])
    outcome.unavailable = {name: message for name in ("t.a/1", "t.a/2", "t.b/3")} | {"t.c/4": "DataFileError: b.npz"}
    said = command.report(outcome)
    assert said.count("a.npz can neither") == 1 and said.startswith("3 runs need a file (t.a, t.b): a.npz can neither")
    assert "1 run needs a file (t.c): b.npz" in said
    assert said.endswith("1 run added, 1 failed, 4 need a file, 4 to be run.")


def asked(store, **changes):
    """What the parser makes of `replicate distances/table-5.2 --store …`."""
    named = {"claims": ["distances/table-5.2"], "list": False, "scale": "small", "budget": None, "device": "cpu"}
    named |= {"workers": 1, "store": store.path, "dirty": False, "on": "local", "slurm": [], "address": None}
    return argparse.Namespace(**named | changes)


@pytest.mark.parametrize("listed", [True, False])
def test_faults_of_the_store_are_all_named(capsys, store, listed):
    lines = RESULTS.read_bytes().split(b"\n")[:-1]
    lines[3], lines[8] = b"<<<<<<< HEAD", lines[8].replace(b'"metrics": {', b'"metrics": {"more": NaN, ')
    store.path.write_bytes(b"\n".join([*lines, b'{"id": "cut']))
    assert command.run(asked(store, list=listed)) == 2
    out, said = capsys.readouterr()
    assert out == "" and re.findall(r"^store: line (\d+) of", said, re.MULTILINE) == [
        "4",
        "9",
        *[str(len(lines) + 1)] * listed,
    ]


def test_a_line_that_is_cut_off_is_listed_and_run_again(capsys, store):
    store.path.write_bytes(b'{"id": "cut')
    assert command.run(asked(store, list=True)) == 2 and "line 1" in capsys.readouterr().err
    with pytest.warns(UserWarning, match="is cut off; that run is run again"):
        assert command.run(asked(store)) == 0
    assert "1 run added" in capsys.readouterr().out and store.faults() == []


def test_a_failure_that_another_part_makes_up_for_is_none(monkeypatch, capsys, store):
    """Two parts may return a metric, and both are run again: only one has to return it."""
    answers = iter([{"a": {"mig"}, "b": {"mig"}}, {"b": {"mig"}}])
    monkeypatch.setattr(plans, "lacking", lambda *_: next(answers))
    monkeypatch.setattr(workers, "run_missing", lambda *_, **__: Outcome(failed={"a": "no", "b": "no", "c": "no"}))
    assert command.run(asked(store)) == 1 and capsys.readouterr().err == "b: no\nc: no\n"


@pytest.mark.parametrize(
    ("outcome", "status"),
    [(Outcome(unavailable={"a": "DataFileError: b"}), 0), (Outcome(failed={"a": "b"}), 1), (Outcome(), 0)],
)
def test_only_failures_are_an_exit_status(monkeypatch, capsys, store, outcome, status):
    monkeypatch.setattr(workers, "run_missing", lambda *_, **__: outcome)
    found = command.run(asked(store))
    assert found == status and "to be run" in capsys.readouterr().out


def test_the_list_begins_with_what_failed_and_ends_with_what_is_not_run():
    listed = command.listing(load_claims(), Store(RESULTS).results(), "small")
    papers = re.split(r"\n\n(?=\w+: )", listed)[1:]
    assert [paper.split(":")[0] for paper in papers] == [*GROUPS]
    for paper in papers:
        head, *lines = paper.split("\n\n")[0].splitlines()
        words = [re.match(rf"  ({'|'.join(VERDICTS)}) ", line)[1] for line in lines]
        assert [*dict.fromkeys(words)] == [word for word in command.LISTED if word in words]
        assert head.split(": ")[1] == ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
    assert sorted(VERDICTS) == sorted(command.LISTED)


def test_a_listed_claim_says_how_many_runs_are_done():
    (claim,) = claims_named(["distances/table-4.2"])
    done, not_done = (command.listing([claim], results, "full") for results in (Store(RESULTS).results(), {}))
    assert re.search(r"^  match +2/2  distances/table-4\.2  Correlations", done, re.MULTILINE)
    assert re.search(r"^  not run +0/2  distances/table-4\.2 .* \(2 of 2 runs are missing\)$", not_done, re.MULTILINE)
