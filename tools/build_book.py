"""Build the book as `make book` does, but from a copy: nothing is written beside the sources."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import notebook_io

NOT_SOURCES = (".git", ".venv", "_build", "build", "dist", "*.egg-info", "__pycache__", ".*_cache")


def copy_sources(folder: Path) -> Path:
    """Copy what a clone holds into a new folder; return it."""
    return shutil.copytree(notebook_io.ROOT, folder, ignore=shutil.ignore_patterns(*NOT_SOURCES))


def build(folder: Path) -> subprocess.CompletedProcess:
    """Build the book of a copy into its `_build/html`; a warning is an error, after which the build goes on."""
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", ".", "--config", "_config.yml"]
    command += ["--toc", "book/_toc.yml", "--path-output", ".", "-W", "-n", "--keep-going"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def contents(folder: Path) -> dict[str, str]:
    """The hash of each file of a copy, by its path, without what a build wrote."""
    files = (path for path in folder.rglob("*") if path.is_file() and "_build" not in path.parts)
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
