"""The chapters of the course, written or to come, as book/chapters.yml lists them."""

from functools import cache
from pathlib import Path

import yaml

import notebook_io

CHAPTERS = notebook_io.ROOT / "book" / "chapters.yml"
CORE = "core"  # the third word of a chapter's entry that is on the core path


def parts(path: Path = CHAPTERS) -> list[dict]:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@cache
def titles() -> dict[str, str]:
    """Name → title, in order: "02_vae" → "The variational auto-encoder"."""
    return {name: entry[0] for part in parts() for name, entry in part["chapters"].items()}


def core_path() -> list[str]:
    """The names of the chapters on the core path, in order, written or not."""
    return [name for part in parts() for name, entry in part["chapters"].items() if CORE in entry[2:]]
