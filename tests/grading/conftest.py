import json
import tempfile

import pytest

from course_lib.grading.answers import number
from course_lib.grading.exercise import Plain
from course_lib.grading.sandbox import Limits


@pytest.fixture
def quick():
    """Short limits, and a worker that starts at once since torch is imported by those who need it."""
    return Limits(cell=1.5, call=1.5, total=12, memory=2**29, disk=8 * 2**20, file_size=2**22, files=200, preload=())


@pytest.fixture
def plain():
    """Three exercises: an honest submission sets a = 1 and b = 2; only an attack could set prize = 3."""

    def exercise(place, name, right):
        facts = dict(title=name, objective="to count", answer=name, points=1, hints=("It is a number.",))
        return Plain(id=f"99.{place}", fault=number(right, ()), **facts)

    return [exercise(1, "a", 1), exercise(2, "b", 2), exercise(3, "prize", 3)]


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Where the workers' folders are made, to see whether they are removed."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


@pytest.fixture
def notebook(tmp_path):
    """Write a notebook with these code cells and return its path."""

    def write(*sources, name="some_02_vae.ipynb"):
        cells = [{"cell_type": "code", "source": source, "outputs": [], "metadata": {}} for source in sources]
        path = tmp_path / name
        path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
        return path

    return write
