"""What a reviewer would say of each paper, from summaries.yml: judgements, which no result can compute."""

import re
from dataclasses import dataclass, fields
from pathlib import Path

from course_replication.claims import GROUPS
from course_replication.strict_yaml import load_strictly

SUMMARIES = Path(__file__).with_name("summaries.yml")
MOST = 3  # sentences


@dataclass(frozen=True)
class Summary:
    """In one to three sentences each.

    scope : what the paper is about. easy, hard : to replicate. unprinted : what a replication needs and does not get.
    """

    scope: str
    easy: str
    hard: str
    unprinted: str


def load_summaries(path: str | Path = SUMMARIES) -> dict[str, Summary]:
    """Paper → its summary, in the order of `GROUPS`. A ValueError names the first paper and field that is amiss."""
    entries = load_strictly(Path(path).read_text(encoding="utf-8"))
    wanted = [each.name for each in fields(Summary)]
    for paper in [*GROUPS, *entries]:
        entry = entries.get(paper) if paper in GROUPS else None
        if not isinstance(entry, dict) or sorted(entry) != sorted(wanted):
            raise ValueError(f"summary of {paper}: expected one of {', '.join(GROUPS)} with {', '.join(wanted)}.")
        for name, text in entry.items():
            if not 1 <= len(re.findall(r"[.?!](?= |$)", " ".join(str(text).split()))) <= MOST:
                raise ValueError(f"summary of {paper}, {name}: got {text!r}; expected 1 to {MOST} sentences.")
    return {paper: Summary(**{name: " ".join(entries[paper][name].split()) for name in wanted}) for paper in GROUPS}
