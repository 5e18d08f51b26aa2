"""A store that is fresh, and measurements that cost nothing, in a module that worker processes can import."""

import os
import sys
from functools import partial

import pytest
import torch

from course_lib import metrics
from course_replication import Context, Run, Store
from course_replication.measurements import total_correlation, trained_scores, training

CHEAP = '''
import pathlib, time

def draw(context, scale=1.0, seconds=0.0):
    time.sleep(seconds)
    return {"value": scale * context.generator.initial_seed(), "yes": True}

def note(context, log, seconds=0.0):
    """Writes down that it ran, so that a test can count."""
    time.sleep(seconds)
    with pathlib.Path(log).open("a") as file:
        file.write(f"{context.seed}\\n")
    return {"value": context.seed}

def grown(context, file):
    """Returns what the file says, and writes down that it ran."""
    import json
    note(context, file + ".log")
    return json.loads(pathlib.Path(file).read_text())

def interrupted(context):
    """Goes on from where it was: fails once, leaving a checkpoint."""
    if not context.scratch.exists():
        context.scratch.mkdir(parents=True)
        raise RuntimeError("stopped half-way")
    return {"value": context.seed}

def halted(context, seconds=0.0):
    """Works, leaves a checkpoint, works on, and fails; from the checkpoint on it needs no time."""
    if not context.scratch.exists():
        time.sleep(seconds)
        context.scratch.mkdir(parents=True)
        (context.scratch / "checkpoint").write_text("half-way")
        time.sleep(seconds / 2)
        raise RuntimeError("stopped after its checkpoint")
    return {"value": context.seed}

def broken(context):
    raise ValueError("nothing to see")

def undefined(context):
    return {"value": float("nan")}

def gone(context):
    import os
    os._exit(7)
'''

FEW = {"SHARED_PAIRS": 20, "WATCHED_PAIRS": 20, "WATCHED_TRAVERSALS": 2, "TRAVERSALS": 2, "IMAGES": 30, "BATCH": 16}
SAMPLES = {"distance_correlation": 20, "linearity_ratio": 2, "axis_alignment_ratio": 2, "mig": 30}


@pytest.fixture(scope="session")
def made_cheap():
    """Patches trainings at the paper's size: a handful of images is scored, every second step is watched, no trees."""

    def patched(patch):
        patch.setattr(training, "dci_score", lambda table, seed, points: {"dci": points / 100} if points else {})
        for name, value in FEW.items():
            patch.setattr(trained_scores, name, value)
        patch.setattr(training, "IMAGES", FEW["IMAGES"])
        for name in ("CODES", "WATCHED", "IMAGES", "EVALUATED"):
            patch.setattr(total_correlation, name, 20)
        for score, n in SAMPLES.items():
            patch.setattr(metrics, score, partial(getattr(metrics, score), num_samples=n))

    return patched


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results.jsonl")


@pytest.fixture
def cheap(tmp_path, monkeypatch):
    """The folder of the module `cheap_measurements`, which this process and its workers can import."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "cheap_measurements.py").write_text(CHEAP, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
    yield folder
    sys.modules.pop("cheap_measurements", None)


@pytest.fixture
def result():
    """(name, **changes) → the result of a run of that measurement."""

    def make(name="a", scale="full", **changes):
        run = Run(name, scale=scale)
        found = {"id": run.id, **run.config, "config_hash": run.config_hash, "seed": 0}
        return found | {"metrics": {"value": 0.1 + 0.2}} | changes

    return make


@pytest.fixture
def context(tmp_path):
    """What a measurement gets, with seed 0."""
    return Context(0, torch.device("cpu"), tmp_path / "scratch")
