"""Measure how long each notebook of the book takes: `make timings`, or one: `make timings CHAPTER=02_vae`.

Each notebook is executed from top to bottom in a fresh kernel with one thread, as `make chapters` does, and nothing is
stored but the seconds, in book/timings.json: those of the processor, which other work on the computer hardly changes,
and those by the clock. `make reference` makes the page book/timings.md from them and from what there is to read.
"""

import argparse
import datetime
import json
import os
import platform
import resource
import sys
import tempfile
import time
from pathlib import Path

import torch

import chapters
import notebook_io
import study_time

RECORD = notebook_io.ROOT / "book" / "timings.json"
PAGE = notebook_io.ROOT / "book" / "timings.md"
HEAD = """<!-- Made from the notebooks and timings.json by `make reference`; `make timings` measures. -->
# How long it takes

"""


def processor() -> str:
    """What the processor calls itself, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def used() -> float:
    """Seconds of the processor that this process has used, and those that it has started and that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)


def measure(path: Path) -> dict:
    """Execute the notebook elsewhere; RuntimeError when it has faults.

    Returns what is stored of it: "seconds" of the processor, of the kernel and all that it starts; "clock", the seconds
    that went by meanwhile, which are more on a busy computer; the number of its "code_cells"; and the "date".
    """
    notebook = notebook_io.read(path)
    with tempfile.TemporaryDirectory() as folder:
        began, before = time.perf_counter(), used()
        faults = chapters.execute(notebook, Path(folder))
        clock, seconds = time.perf_counter() - began, used() - before
    if faults:
        raise RuntimeError(f"{path.name}: {faults[0]}")
    times = {"seconds": round(seconds, 1), "clock": round(clock, 1)}
    return times | {
        "code_cells": len(notebook_io.code_cells(notebook)), "date": datetime.date.today().isoformat()
    }  # fmt: skip


def _row(path: Path, record: dict) -> str:
    """A notebook's line: its time to read, for its exercises, and to compute."""
    link = Path(os.path.relpath(path, PAGE.parent)).as_posix()
    notebook = notebook_io.read(path)
    title = notebook.cells[0].source.splitlines()[0].removeprefix("# ")
    core, everything = map(study_time.in_fives, study_time.reading(notebook))
    practise = study_time.exercises(path.stem[:2])
    studied = f"{core} min | {everything} min | {f'{study_time.in_fives(practise)} min' if practise else '–'}"
    if path.parent == PAGE.parent:  # a page to look things up in
        studied = "– | – | –"
    found = record["notebooks"].get(path.stem)
    computes = f"{found['seconds']:.0f} s" if found else "not measured"
    return f"| [{title}]({link}) | {studied} | {computes} |"


def page() -> str:
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    lines = ["| Notebook | core | all | exercises | computes |", "|---|---|---|---|---|"]
    lines += [_row(path, record) for path in notebook_io.executed()]
    studied = f"**To study**, by one rule for all chapters. {study_time.RULE} All are rounded to five minutes."
    versions = f"PyTorch {record['torch']}, Python {record['python']}"
    computed = (
        "**To compute**: each notebook from top to bottom, in a fresh kernel with one thread: the imports, the drawing "
        f"of the data, training and figures. Measured {_when(record)}, on one core of: {record['processor']}; "
        f"{versions}. {_which(record['notebooks'])}No notebook has been timed on a graphics card yet."
    )
    return HEAD + "\n".join(lines) + f"\n\n{studied}\n\n{computed}\n"


def _when(record: dict) -> str:
    """The day of all measurements, or the first and the last."""
    days = sorted({each.get("date", record["date"]) for each in record["notebooks"].values()})
    return f"on {days[0]}" if len(days) == 1 else f"from {days[0]} to {days[-1]}"


def _which(notebooks: dict) -> str:
    """Which seconds are meant; records without "clock" are older, and hold those by the clock of an idle computer."""
    if not any("clock" in each for each in notebooks.values()):
        return ""
    old = sorted(name[:2] if name[:2].isdigit() else name for name, each in notebooks.items() if "clock" not in each)
    said = "The seconds are those that the processor worked"
    return f"{said}; of {', '.join(old)} those by the clock, with nothing else running. " if old else f"{said}. "


def setting() -> dict:
    """What all measurements of one record share."""
    return {
        "processor": processor(), "torch": torch.__version__.split("+")[0], "python": platform.python_version(),
    }  # fmt: skip


def to_measure(names: list[str], record: dict) -> list[Path]:
    """The notebooks of these names, or all; a ValueError for others, and for some where the others were elsewhere."""
    known = {path.stem: path for path in notebook_io.executed()}
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"CHAPTER: got {', '.join(unknown)}; allowed are {', '.join(known)}.")
    here, there = setting(), {name: record.get(name) for name in setting()}
    if names and here != there:
        raise ValueError(f"CHAPTER: here is {here}, the others were measured with {there}; measure all: make timings.")
    return [known[name] for name in names or known]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chapter", nargs="*", help="names such as 02_vae or datasets; without any, all in order")
    names = parser.parse_args(arguments).chapter
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    try:
        paths = to_measure(names, record)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    os.environ.update(TQDM_DISABLE="1", OMP_NUM_THREADS="1")
    if not names:
        record = {"date": datetime.date.today().isoformat(), **setting(), "notebooks": {}}
    for path in paths:
        record["notebooks"][path.stem] = measure(path)
        print(path.stem, record["notebooks"][path.stem], flush=True)
    order = [path.stem for path in notebook_io.executed()]
    record["notebooks"] = {name: record["notebooks"][name] for name in order if name in record["notebooks"]}
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
