"""What students read of an exercise: it stands with the solution in its notebook, and `make exercises` copies it.

The copy, facts.json, is what an installed course reads, since the solutions do not come with it.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FACTS = Path(__file__).with_name("facts.json")


@dataclass(frozen=True)
class Facts:
    """Title, objective, the name of the answer's variable, points, difficulty (1 to 3), minutes, and two hints."""

    title: str
    objective: str
    answer: str
    points: int
    difficulty: int
    minutes: int
    hints: tuple[str, ...]


@cache
def facts() -> dict[str, Facts]:
    """Exercise → its facts, in the order of the notebooks."""
    entries = json.loads(FACTS.read_text(encoding="utf-8"))
    return {exercise: Facts(**entry | {"hints": tuple(entry["hints"])}) for exercise, entry in entries.items()}
