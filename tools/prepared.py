"""Make what chapters do not train while they are read: `python tools/prepared.py 07_infogan 09_common_assumptions`.

The chapter's own cells are executed, up to the last that is needed, and train everything (`LIVE=all`); what they leave
in the names below is written into course_replication/artefacts/prepared.
"""

import os
import sys
from pathlib import Path

import notebook_io
from course_replication.prepared import PREPARED

CHAPTERS = Path(__file__).parents[1] / "chapters"
LAST = {  # the cell up to which a chapter is executed
    "05_total_correlation": "live-tc",
    "07_infogan": "train",
    "09_common_assumptions": "score",
    "11_structured_priors": "eight-more",
    "19_adaptive_triplets": "later",
    "23_capstone": "six",
}
TABLES = {  # what the chapter calls a table, and its file
    "05_total_correlation": {"tc": "beta-tcvae-of-ten"},
    "09_common_assumptions": {"live": "study-of-ninety"},
    "11_structured_priors": {"later": "priors-of-eight-more"},
    "19_adaptive_triplets": {"mended": "split-then-weighted"},
    "23_capstone": {"six": "six-desks"},
}


def make(chapter: str) -> None:
    """Execute the chapter's cells and store what they made."""
    names: dict = {}
    for cell in notebook_io.code_cells(notebook_io.read(CHAPTERS / f"{chapter}.ipynb")):
        exec(compile(cell.source, cell.id, "exec"), names)
        if cell.id == LAST[chapter]:
            break
    PREPARED.mkdir(exist_ok=True)
    if chapter == "07_infogan":
        for name, file in names["FILES"].items():
            names["found"][name].save(PREPARED / f"{file}.safetensors")
    else:
        for name, file in TABLES[chapter].items():
            table = names[name].drop(columns="seconds", errors="ignore")  # which are of one computer
            table.to_csv(PREPARED / f"{file}.csv", index=False)


if __name__ == "__main__":
    os.environ["LIVE"] = "all"
    os.chdir(CHAPTERS)
    for chapter in sys.argv[1:]:
        make(chapter)
