"""Build the wheel from a copy of the sources: setuptools would leave a build folder beside them, and use it again."""

import shutil
import subprocess
import sys
from pathlib import Path

import notebook_io

SOURCES = ("pyproject.toml", "README.md", "LICENSE")


def build(folder: Path, root: Path = notebook_io.ROOT) -> Path:
    """Build the wheel of `root` into `folder`, without a network; return its path."""
    source = folder / "source"
    for name in notebook_io.PACKAGES:
        shutil.copytree(root / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in SOURCES:
        shutil.copy(root / name, source)
    _pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(source))
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel: Path, target: Path) -> Path:
    """Unpack the wheel into `target`, a folder for PYTHONPATH, without its dependencies."""
    _pip("install", "--no-deps", "--no-index", "--target", str(target), str(wheel))
    return target


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"pip {arguments[0]} failed:\n{done.stdout}{done.stderr}")
