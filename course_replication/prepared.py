"""What chapters show beside what they train: models and scores of the same code and seeds, made before.

So a chapter that tells of many trainings runs one of them in a minute. `tools/prepared.py` makes the files, from the
chapter's own cells. Nothing of it is evidence for a claim.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a model's card, or a table, needs no PyTorch
    import pandas

    from course_lib.frameworks import Framework

PREPARED = Path(__file__).parent / "artefacts" / "prepared"


def prepared_model(name: str) -> "Framework":
    """The trained framework of that name, its weights in float32, on the CPU; a ValueError names those there are."""
    from course_lib.frameworks import load_framework

    return load_framework(_file(name, ".safetensors"))


def prepared_table(name: str) -> "pandas.DataFrame":
    """The table of that name, every number to its last digit; a ValueError names those there are."""
    import pandas

    return pandas.read_csv(_file(name, ".csv"))


def _file(name: str, kind: str) -> Path:
    found = sorted(path.stem for path in PREPARED.glob(f"*{kind}"))
    if name not in found:
        raise ValueError(f"name: got {name!r}; expected one of {', '.join(found)}.")
    return PREPARED / f"{name}{kind}"
