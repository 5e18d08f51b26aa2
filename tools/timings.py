"""Measure how long each notebook of the book takes: `make timings`, on an idle computer; it writes book/timings.json.

Each notebook is executed from top to bottom in a fresh kernel with one thread, as `make chapters` does, and nothing is
stored but the seconds. `make reference` makes the page book/timings.md from them and from what there is to read.
"""

import datetime
import json
import os
import platform
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


def measure(path: Path) -> dict:
    """Execute the notebook elsewhere; its seconds and the number of its code cells. RuntimeError when it has faults."""
    notebook = notebook_io.read(path)
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        faults = chapters.execute(notebook, Path(folder))
        seconds = time.perf_counter() - began
    if faults:
        raise RuntimeError(f"{path.name}: {faults[0]}")
    return {"seconds": round(seconds, 1), "code_cells": len(notebook_io.code_cells(notebook))}


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
        f"of the data, training and figures. Measured on {record['date']}, on one core of: {record['processor']}; "
        f"{versions}. No notebook has been timed on a graphics card yet."
    )
    return HEAD + "\n".join(lines) + f"\n\n{studied}\n\n{computed}\n"


def main() -> int:
    os.environ.update(TQDM_DISABLE="1", OMP_NUM_THREADS="1")
    record = {
        "date": datetime.date.today().isoformat(), "processor": processor(), "torch": torch.__version__.split("+")[0],
        "python": platform.python_version(), "notebooks": {},
    }  # fmt: skip
    for path in notebook_io.executed():
        record["notebooks"][path.stem] = measure(path)
        print(path.stem, record["notebooks"][path.stem], flush=True)
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
