"""README says how many claims the scorecard has, in round words: they may not drift from the list."""

import re
from pathlib import Path

from course_replication import load_claims

README = Path(__file__).parents[2] / "README.md"


def test_the_readme_counts_the_claims():
    (said,) = re.findall(r"\bsome (\d+) claims\b", README.read_text(encoding="utf-8"))
    assert abs(int(said) - len(load_claims())) <= 10
