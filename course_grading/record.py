"""What of a class is graded: a line for each submission, written as it comes, so that a run can be taken up again."""

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path

import torch

from course_grading.facts import FACTS
from course_grading.results import Report, Result
from course_grading.sandbox import GRADER, PACKAGES, Limits


def setting(chapter: str, hidden: list[Path], limits: Limits) -> str:
    """A digest of what decides the points beside the submission: the course's code, hidden checks, limits, torch.

    limits : as they were asked for, before a slow computer is given more time.
    """
    sources = [path for package in (GRADER, *PACKAGES) for path in sorted(package.rglob("*.py"))] + [FACTS]
    digest = hashlib.sha256(f"{chapter} {limits} {torch.__version__}".encode())
    for path in [*sources, *hidden]:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


class Record:
    """The file of lines. A submission counts as graded while its path, its content and the setting are the same."""

    def __init__(self, path: Path, setting: str):
        self._path, self._setting, self._reports = path, setting, {}
        text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        self._torn = bool(text) and not text.endswith("\n")
        for line in text.splitlines():
            with suppress(ValueError, KeyError, TypeError):  # a line that an interruption tore, or that is no report
                content = json.loads(line)
                self._reports[content["key"]] = _report(content["report"])

    def find(self, name: str, content: bytes) -> Report | None:
        return self._reports.get(self._key(name, content))

    def add(self, name: str, content: bytes, report: Report) -> None:
        line = json.dumps({"key": self._key(name, content), "report": report.to_json()}, ensure_ascii=False) + "\n"
        with self._path.open("a", encoding="utf-8") as file:
            file.write("\n" * self._torn + line)
            file.flush()
            os.fsync(file.fileno())
        self._torn = False

    def _key(self, name: str, content: bytes) -> str:
        text = f"{self._setting} {hashlib.sha256(content).hexdigest()} {name}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _report(content: dict) -> Report:
    results = [Result(**each) for each in content["exercises"]]
    return Report(content["submission"], results, content["notes"], tuple(content["protections"]))
